/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failures to order, of kernels that were built to look for faults: of the nth
 * thing that a call asks for, be it memory or a copy from or to the user, by
 * /proc/thread-self/fail-nth; or of all pages, once a call has had so many, by
 * /proc/thread-self/make-it-fail.
 */
#ifndef KAPF_TEST_FAULT_H
#define KAPF_TEST_FAULT_H

#include "kapf_test.h"

#define FAIL_NTH "/proc/thread-self/fail-nth"
#define MAKE_IT_FAIL "/proc/thread-self/make-it-fail"
#define DEBUGFS "/sys/kernel/debug"
#define FAIL_PAGES DEBUGFS "/fail_page_alloc"

/* No call comes here with that many; the loader of modules comes near. */
#define MOST 20000

/* Open files: those two, and the control node. */
struct faults {
	int nth;
	int all;
	int control;
};

static inline void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(fd);
}

static inline void write_number(const char *path, unsigned int number)
{
	char text[16];

	sprintf(text, "%u", number);
	write_file(path, text);
}

static inline unsigned int read_number(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[16] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die(path);
	close(fd);
	return atoi(text);
}

/*
 * Fail whatever may sleep, too, and do not fill the log.  False: this kernel does
 * not do it.
 */
static inline bool faults_open(struct faults *faults)
{
	faults->nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	faults->all = open(MAKE_IT_FAIL, O_RDWR | O_CLOEXEC);
	if (faults->nth < 0 || faults->all < 0 ||
	    access(DEBUGFS "/failslab", F_OK))
		return false;
	write_file(DEBUGFS "/failslab/ignore-gfp-wait", "N");
	write_file(DEBUGFS "/failslab/verbose", "0");
	write_file(FAIL_PAGES "/ignore-gfp-wait", "N");
	write_file(FAIL_PAGES "/ignore-gfp-highmem", "N");
	write_file(FAIL_PAGES "/min-order", "0");
	write_file(FAIL_PAGES "/verbose", "0");
	write_file(FAIL_PAGES "/task-filter", "Y");
	write_file(FAIL_PAGES "/probability", "100");
	write_file(DEBUGFS "/fail_usercopy/verbose", "0");
	faults->control = open_node(CONTROL_NODE, O_RDWR);
	return true;
}

static inline void faults_close(struct faults *faults)
{
	close(faults->nth);
	close(faults->all);
	if (faults->control)
		close(faults->control);
}

/* From here on the nth thing of this thread fails, 1 being the next one. */
static inline void fail_nth(struct faults *faults, unsigned int nth)
{
	char text[16];
	int len = sprintf(text, "%u", nth);

	if (pwrite(faults->nth, text, len, 0) != len)
		die(FAIL_NTH);
}

/* How far it still was, 0: it failed.  Asking can be what fails, too. */
static inline int nth_left(struct faults *faults)
{
	char text[16] = "";

	if (pread(faults->nth, text, sizeof(text) - 1, 0) < 0)
		return 1;
	return atoi(text);
}

/* No more: did it? */
static inline bool nth_failed(struct faults *faults)
{
	bool failed = !nth_left(faults);

	while (pwrite(faults->nth, "0", 1, 0) != 1)
		;
	return failed;
}

/*
 * From here on this thread gets no page any more, once it has had one less than
 * @nth.  What it touches has to be there: see mlockall(2).
 */
static inline void fail_pages(struct faults *faults, unsigned int nth)
{
	write_number(FAIL_PAGES "/space", nth);
	write_number(FAIL_PAGES "/times", MOST);
	if (pwrite(faults->all, "1", 1, 0) != 1)
		die(MAKE_IT_FAIL);
}

/* No more: did it ask for one? */
static inline bool pages_failed(struct faults *faults)
{
	if (pwrite(faults->all, "0", 1, 0) != 1)
		die(MAKE_IT_FAIL);
	return read_number(FAIL_PAGES "/times") < MOST;
}

/* Either of them: one thing that fails, or pages that run out. */
static inline void fail_at(struct faults *faults, bool pages, unsigned int nth)
{
	if (pages)
		fail_pages(faults, nth);
	else
		fail_nth(faults, nth);
}

static inline bool has_failed(struct faults *faults, bool pages)
{
	return pages ? pages_failed(faults) : nth_failed(faults);
}

/*
 * Bytes of per-CPU memory that are charged to this process's cgroup, or -1: kmemleak
 * does not look for those.
 */
static inline long long percpu_charged(void)
{
	char group[128] = "", path[256], word[64];
	long long value = -1;
	FILE *file = fopen("/proc/self/cgroup", "r");

	if (!file || fscanf(file, "0::%127s", group) != 1)
		die("/proc/self/cgroup");
	fclose(file);
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.stat", group);
	file = fopen(path, "r");
	if (!file)
		return -1;
	while (fscanf(file, "%63s %lld", word, &value) == 2)
		if (!strcmp(word, "percpu"))
			break;
	fclose(file);
	return value;
}

/* Wait until so much of it is charged: the kernel sums it up every few seconds. */
static inline bool await_percpu(long long value)
{
	long long charged = percpu_charged();
	int i;

	for (i = 0; i < 100 && charged != value; i++) {
		sleep_ms(100);
		charged = percpu_charged();
	}
	if (charged != value)
		fprintf(stderr, "# per-CPU memory: %lld bytes, not %lld\n",
			charged, value);
	return charged == value;
}

/**
 * struct state - what must not change with a call that fails
 * @get: how much there is of everything, what drains too; the mode; the generation
 * @image: of the configuration, hashed
 * @level: "test"
 * @requests: in flight
 */
struct state {
	struct kapf_get_stats get;
	__u64 image;
	struct kapf_level_stats level;
	__u64 requests;
};

static inline struct state state_of(int control)
{
	struct state state = {
		.get.size = sizeof(state.get),
		.get.level_size = sizeof(struct kapf_level_stats),
		.get.schema_size = sizeof(struct kapf_schema_stats),
	};
	size_t len, i;
	char *bytes = get_image(control, &len);

	if (call(control, KAPF_GET_STATS, &state.get))
		die("GET_STATS");
	for (i = 0; i < len; i++)
		state.image = state.image * 31 + bytes[i];
	free(bytes);
	state.level = level_stats(control, "test");
	/* Time goes on, and a period may end. */
	state.get.time = 0;
	state.get.fair_frac = 0;
	state.level.current_r = 0;
	state.level.demand_average = 0;
	state.level.demand_stdev = 0;
	state.level.demand_smoothed = 0;
	state.level.demand_high_watermark = 0;
	state.level.target_seats = 0;
	state.requests = requests_known(control);
	return state;
}

static inline bool same_state(int control, const struct state *before)
{
	struct state now = state_of(control);

	return !memcmp(&now, before, sizeof(now));
}

/* How a call can fail. */
enum {
	COPY = 1,	/* by a copy */
	MEMORY = 2,	/* by one allocation */
	PAGES = 4,	/* when there are no pages left */
	/* No failures: it changes something, and tells of it; */
	ANSWERS = 8,
	/* and once it is through, it does not meet again what can fail. */
	ONCE = 16,
};

/* Of the test program */
struct _test_data_fault;

/**
 * struct step - a call to be failed
 * @name: in messages
 * @prepare: what it needs, made without failures; may be NULL
 * @call: the call: 0 or more, or a negative errno
 * @undo: after the call, whether it failed or not; may be NULL
 * @fails: how it has to be seen to fail; PAGES alone: it is failed in no other way
 */
struct step {
	const char *name;
	void (*prepare)(struct _test_data_fault *self);
	int (*call)(struct _test_data_fault *self);
	void (*undo)(struct _test_data_fault *self);
	unsigned int fails;
};

/**
 * struct walk - a step at all its places
 * @self: of the test program
 * @faults: its
 * @step: the step
 * @pages: pages run out, rather than that one thing fails
 * @failures: how often it has failed
 * @seen: how
 */
struct walk {
	struct _test_data_fault *self;
	struct faults *faults;
	const struct step *step;
	bool pages;
	unsigned int failures;
	unsigned int seen;
};

static inline bool complain(const struct walk *walk, unsigned int nth, int ret,
			    const char *what)
{
	fprintf(stderr, "# %s%s, place %u: %d: %s\n", walk->step->name,
		walk->pages ? ", no pages" : "", nth, ret, what);
	return false;
}

/* The call, with a failure; @failed: out: there was one. */
static inline int call_failing(struct walk *walk, unsigned int nth,
			       bool *failed)
{
	int ret;

	fail_at(walk->faults, walk->pages, nth);
	ret = walk->step->call(walk->self);
	*failed = has_failed(walk->faults, walk->pages);
	return ret;
}

/*
 * A call may do without what failed.  Where what fails is the copy of an answer,
 * what was asked for has been done.
 */
static inline bool judge(struct walk *walk, unsigned int nth, int ret,
			 const struct state *before)
{
	if (ret == -EFAULT && !walk->pages)
		walk->seen |= COPY;
	else if (ret == -ENOMEM)
		walk->seen |= walk->pages ? PAGES : MEMORY;
	else
		return complain(walk, nth, ret, "not the error");
	walk->failures++;
	if (!same_state(walk->faults->control, before))
		return (walk->step->fails & ANSWERS && ret == -EFAULT) ||
		       complain(walk, nth, ret, "changed something");
	ret = walk->step->fails & ONCE ? 0 : walk->step->call(walk->self);
	return ret >= 0 || complain(walk, nth, ret, "fails for good");
}

/* True: go on at the next place. */
static inline bool walk_place(struct walk *walk, unsigned int nth, bool *good)
{
	const struct step *step = walk->step;
	struct state before;
	bool failed;
	int ret;

	if (step->prepare)
		step->prepare(walk->self);
	before = state_of(walk->faults->control);
	ret = call_failing(walk, nth, &failed);
	if (nth >= MOST)
		*good = complain(walk, nth, 0, "no end");
	else if (ret < 0 && !failed)
		*good = complain(walk, nth, ret, "failed by itself");
	else if (ret < 0)
		*good = judge(walk, nth, ret, &before);
	if (step->undo)
		step->undo(walk->self);
	return *good && failed;
}

/*
 * Fail a step at its first, second, ... place, until it is spared; pages are many,
 * and of a kind.  Return: was all as it should be, and did it fail as it can?
 */
static inline bool walk_places(struct walk *walk)
{
	unsigned int fails = walk->step->fails &
			     (walk->pages ? PAGES : COPY | MEMORY);
	unsigned int nth = 1, places = 0;
	bool good = true;

	for (; walk_place(walk, nth, &good); places++)
		nth += walk->pages ? 1 + nth / 16 : 1;
	printf("# %s%s: %u places, %u failures\n", walk->step->name,
	       walk->pages ? ", no pages" : "", places, walk->failures);
	if (good && fails & ~walk->seen)
		return complain(walk, nth, walk->seen, "does not fail so");
	return good;
}

static inline bool walk_step(struct _test_data_fault *self,
			     struct faults *faults, const struct step *step)
{
	struct walk one = { .self = self, .faults = faults, .step = step };
	struct walk pages = one;

	pages.pages = true;
	if ((step->fails & (COPY | MEMORY | PAGES)) != PAGES &&
	    !walk_places(&one))
		return false;
	return !(step->fails & PAGES) || walk_places(&pages);
}

/* True: all was as it should be, and nothing is left. */
static inline bool walk_steps(struct _test_data_fault *self,
			      struct faults *faults, const struct step *steps,
			      size_t nr)
{
	long long percpu = percpu_charged();
	bool good = true;
	size_t i;

	/* Nothing that is touched when there are no pages. */
	if (mlockall(MCL_CURRENT))
		die("mlockall");
	for (i = 0; i < nr; i++)
		good &= walk_step(self, faults, &steps[i]);
	return await_percpu(percpu) && good;
}

#endif /* KAPF_TEST_FAULT_H */
