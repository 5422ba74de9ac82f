// SPDX-License-Identifier: GPL-2.0
/*
 * Every call, failed at each allocation and at each copy from and to the user in
 * turn, until it meets none of them any more: each failure is told, and leaves
 * everything as it was.
 *
 * By /proc/thread-self/fail-nth, which kernels have that were built to look for
 * faults; on others there is nothing to test.
 */
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "kapf_test.h"

#define FAIL_NTH "/proc/thread-self/fail-nth"
#define DEBUGFS "/sys/kernel/debug"

/* No call comes here with that many; the loader of modules comes near. */
#define MOST 20000

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(fd);
}

/* Fail whatever may sleep, too, and do not fill the log. */
static void set_up_faults(void)
{
	write_file(DEBUGFS "/failslab/ignore-gfp-wait", "N");
	write_file(DEBUGFS "/failslab/verbose", "0");
	write_file(DEBUGFS "/fail_page_alloc/ignore-gfp-wait", "N");
	write_file(DEBUGFS "/fail_page_alloc/ignore-gfp-highmem", "N");
	write_file(DEBUGFS "/fail_page_alloc/min-order", "0");
	write_file(DEBUGFS "/fail_page_alloc/verbose", "0");
	write_file(DEBUGFS "/fail_usercopy/verbose", "0");
}

struct packed {
	char *bytes;
	size_t len;
};

FIXTURE(fault) {
	int control;
	int fd;
	int fail;	/* FAIL_NTH */
	__u32 schema;	/* of a level with 2 seats that queues */
	struct packed image;
	struct packed new_image;
	struct packed return_image;	/* for after @drained */
	struct image drained;	/* "test" is gone, its schema is another's */
	int other;	/* of a step */
	__u64 generation;
	char room[1 << 16];
	unsigned int failures;
};

FIXTURE_SETUP(fault)
{
	struct image image;

	self->fail = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (self->fail < 0)
		SKIP(return, "this kernel does not inject faults");
	if (access(DEBUGFS "/failslab", F_OK))
		SKIP(return, "no faults to set up in %s", DEBUGFS);
	set_up_faults();
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 2, 1, 10);
	self->image.bytes = get_image(self->control, &self->image.len);
	image_init(&image);
	image_queues(&image, "test", 2, 2, 1, 10);
	image_schema(&image, "test", 100, "test", "[]");
	image_queues(&image, "new", 10, 16, 4, 50);
	image_schema(&image, "new", 200, "new", "[]");
	image_schema(&image, "dangling", 201, "none", "[]");
	self->new_image.bytes = image_pack(&image, &self->new_image.len);
	image_free(&image);
	image_init(&self->drained);
	image_queues(&self->drained, "new", 10, 16, 4, 50);
	image_schema(&self->drained, "test", 100, "new", "[]");
	image_schema(&self->drained, "lost", 201, "test", "[]");
	image_init(&image);
	image_queues(&image, "test", 2, 8, 1, 10);
	image_queues(&image, "new", 10, 2, 1, 50);
	image_schema(&image, "test", 100, "exempt", "[]");
	image_schema(&image, "lost", 201, "test", "[]");
	self->return_image.bytes = image_pack(&image, &self->return_image.len);
	image_free(&image);
	self->fd = open_node(SUBMIT_NODE, O_RDWR);
	ASSERT_EQ(0, attach(self->fd, 8, 64));
}

FIXTURE_TEARDOWN(fault)
{
	if (self->control) {
		free(self->image.bytes);
		free(self->new_image.bytes);
		free(self->return_image.bytes);
		image_free(&self->drained);
		close(self->fd);
		close(self->control);
	}
	close(self->fail);
}

static void arm(struct _test_data_fault *self, unsigned int nth)
{
	char text[16];
	int len = sprintf(text, "%u", nth);

	if (pwrite(self->fail, text, len, 0) != len)
		die(FAIL_NTH);
}

/* Disarm; true: it had not come to that.  Asking can be what fails, too. */
static bool spared(struct _test_data_fault *self)
{
	char text[16] = "";
	ssize_t len = pread(self->fail, text, sizeof(text) - 1, 0);
	bool spare = len < 0 || atoi(text) > 0;

	while (pwrite(self->fail, "0", 1, 0) != 1)
		;
	return spare;
}

/**
 * struct state - what must not change with a call that fails
 * @get: how much there is of everything, what drains too
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

static struct state state_of(int control)
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
	/* Time goes on. */
	state.get.time = 0;
	state.level.current_r = 0;
	state.requests = requests_known(control);
	return state;
}

static bool same_state(int control, const struct state *before)
{
	struct state now = state_of(control);

	return !memcmp(&now, before, sizeof(now));
}

/**
 * struct step - a call to be failed
 * @name: in messages
 * @prepare: what it needs, made without failures; may be NULL
 * @call: the call: 0 or more, or a negative errno
 * @undo: after the call, whether it failed or not; may be NULL
 * @answers: it changes something, and tells of it
 */
struct step {
	const char *name;
	void (*prepare)(struct _test_data_fault *self);
	int (*call)(struct _test_data_fault *self);
	void (*undo)(struct _test_data_fault *self);
	bool answers;
};

static bool complain(const struct step *step, unsigned int nth, int ret,
		     const char *what)
{
	fprintf(stderr, "# %s, place %u: %d: %s\n", step->name, nth, ret, what);
	return false;
}

/*
 * Fail a step at its first, second, ... place, until it is spared.  A call may do
 * without what failed.  Where what fails is the copy of an answer, what was asked
 * for has been done.
 */
static bool walk(struct _test_data_fault *self, const struct step *step)
{
	unsigned int nth, failures = 0;
	struct state before;
	bool spare = false;
	int ret;

	for (nth = 1; !spare; nth++) {
		if (nth == MOST)
			return complain(step, nth, 0, "no end");
		if (step->prepare)
			step->prepare(self);
		before = state_of(self->control);
		arm(self, nth);
		ret = step->call(self);
		spare = spared(self);
		if (ret < 0 && spare)
			return complain(step, nth, ret, "failed by itself");
		if (ret < 0 && ret != -ENOMEM && ret != -EFAULT)
			return complain(step, nth, ret, "not the error");
		if (ret < 0 && !same_state(self->control, &before) &&
		    !(step->answers && ret == -EFAULT))
			return complain(step, nth, ret, "changed something");
		failures += ret < 0;
		if (step->undo)
			step->undo(self);
	}
	printf("# %s: %u places, %u failures\n", step->name, nth - 2, failures);
	self->failures += failures;
	return true;
}

/* The calls */

static int info(struct _test_data_fault *self)
{
	struct kapf_info info = { .size = sizeof(info) };

	return call(self->fd, KAPF_GET_INFO, &info);
}

static int open_file(struct _test_data_fault *self)
{
	self->other = open(SUBMIT_NODE, O_RDWR | O_CLOEXEC);
	return self->other < 0 ? -errno : 0;
}

static void open_surely(struct _test_data_fault *self)
{
	self->other = open_node(SUBMIT_NODE, O_RDWR);
}

static void close_other(struct _test_data_fault *self)
{
	if (self->other >= 0)
		close(self->other);
}

/* Big enough not to come from what a kernel keeps ready. */
static int attach_other(struct _test_data_fault *self)
{
	return attach(self->other, 512, 300);
}

static int get_config(struct _test_data_fault *self)
{
	struct kapf_get_config get = {
		.size = sizeof(get),
		.image_len = sizeof(self->room),
		.image = (uintptr_t)self->room,
	};

	return call(self->fd, KAPF_GET_CONFIG, &get);
}

static int set_once(struct _test_data_fault *self, const struct packed *image)
{
	struct kapf_set_config set = {
		.size = sizeof(set),
		.image_len = image->len,
		.image = (uintptr_t)image->bytes,
		.generation = self->generation,
	};

	return call(self->control, KAPF_SET_CONFIG, &set);
}

static void know_generation(struct _test_data_fault *self)
{
	self->generation = generation(self->control);
}

static int set_config(struct _test_data_fault *self)
{
	return set_once(self, &self->image);
}

/* A level and schemas that are not there yet */
static int set_new_config(struct _test_data_fault *self)
{
	return set_once(self, &self->new_image);
}

static void set_config_back(struct _test_data_fault *self)
{
	if (set_bytes(self->control, self->image.bytes, self->image.len, NULL))
		die("SET_CONFIG");
	know_generation(self);
}

static int get_stats(struct _test_data_fault *self)
{
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
		.nr_levels = 2,
		.nr_schemas = 2,
		.levels = (uintptr_t)self->room,
		.schemas = (uintptr_t)self->room + sizeof(self->room) / 2,
	};

	return call(self->control, KAPF_GET_STATS, &get);
}

static int get_requests(struct _test_data_fault *self)
{
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(struct kapf_request_info),
		.nr = 8,
		.requests = (uintptr_t)self->room,
	};

	return call(self->control, KAPF_GET_REQUESTS, &get);
}

static int get_own_requests(struct _test_data_fault *self)
{
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(struct kapf_request_info),
		.nr = 8,
		.requests = (uintptr_t)self->room,
	};

	return call(self->fd, KAPF_GET_REQUESTS, &get);
}

static int get_sessions(struct _test_data_fault *self)
{
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(struct kapf_session_info),
		.nr = 4,
		.sessions = (uintptr_t)self->room,
	};

	return call(self->control, KAPF_GET_SESSIONS, &get);
}

static int get_queues(struct _test_data_fault *self)
{
	struct kapf_get_queues get = {
		.size = sizeof(get),
		.queue_size = sizeof(struct kapf_queue_info),
		.nr = 4,
		.queues = (uintptr_t)self->room,
	};

	return call(self->control, KAPF_GET_QUEUES, &get);
}

/* A request with a label */
static struct kapf_op labelled(struct _test_data_fault *self, __u32 slot)
{
	struct kapf_op op = request(slot, self->schema);

	op.flags = KAPF_OP_NOWAIT;
	op.label = (uintptr_t)"alice";
	op.label_len = sizeof("alice");
	return op;
}

static int admit_labelled(struct _test_data_fault *self)
{
	return admit_op(self->fd, labelled(self, 0));
}

static void hold_seats(struct _test_data_fault *self)
{
	__u32 slot;

	for (slot = 4; slot < 6; slot++)
		if (admit(self->fd, slot, self->schema) != KAPF_EXECUTE)
			die("the level is not empty");
}

/* Whatever there is in a slot, to its end; and the slot is free indeed. */
static void empty_slots(struct _test_data_fault *self)
{
	struct kapf_event event;
	__u32 slot;

	for (slot = 0; slot < 8; slot++)
		cancel(self->fd, slot);
	while (read_events(self->fd, &event, 1) > 0)
		;
	for (slot = 0; slot < 8; slot++)
		finish(self->fd, slot);
	if (requests_known(self->control))
		die("a request is left");
	for (slot = 0; slot < 8; slot++)
		if (finish(self->fd, slot) != -ENOENT)
			die("a slot is not free");
}

static void admit_first(struct _test_data_fault *self)
{
	if (admit(self->fd, 0, self->schema) != KAPF_EXECUTE)
		die("the level is not empty");
}

static void queue_one(struct _test_data_fault *self)
{
	hold_seats(self);
	if (KAPF_VERDICT(admit_labelled(self)) != KAPF_QUEUED)
		die("nothing is queued");
}

static void queue_and_grant_one(struct _test_data_fault *self)
{
	queue_one(self);
	if (finish(self->fd, 4))
		die("finish");
}

static int finish_first(struct _test_data_fault *self)
{
	return finish(self->fd, 0);
}

static int finish_holder(struct _test_data_fault *self)
{
	return finish(self->fd, 4);
}

static int cancel_first(struct _test_data_fault *self)
{
	return cancel(self->fd, 0);
}

static int read_one(struct _test_data_fault *self)
{
	struct kapf_event event;
	ssize_t ret = read(self->fd, &event, sizeof(event));

	return ret < 0 ? -errno : 0;
}

static int write_one(struct _test_data_fault *self)
{
	struct {
		struct kapf_op op;
		char label[8];
	} op = { .op = labelled(self, 0), .label = "alice" };

	op.op.label = 0;
	return write(self->fd, &op, sizeof(op)) < 0 ? -errno : 0;
}

/* Of each kind one, all of which can be taken; what was not taken has not been. */
static int submit(struct _test_data_fault *self)
{
	struct kapf_finish finished = { .slot = 4 };
	struct kapf_op op = labelled(self, 1);
	struct kapf_event events[8];
	__u32 cancelled = 0;
	struct kapf_submit arg = {
		.size = sizeof(arg),
		.op_size = sizeof(op),
		.event_size = sizeof(events[0]),
		.nr_finish = 1,
		.nr_cancel = 1,
		.nr_ops = 1,
		.nr_events = 8,
		.finish = (uintptr_t)&finished,
		.cancel = (uintptr_t)&cancelled,
		.ops = (uintptr_t)&op,
		.events = (uintptr_t)events,
	};

	return call(self->fd, KAPF_SUBMIT, &arg);
}

static void admit_lingering(struct _test_data_fault *self)
{
	struct kapf_op op = request(0, self->schema);

	op.additional_latency = NSEC_PER_MSEC;
	if (KAPF_VERDICT(admit_op(self->fd, op)) != KAPF_EXECUTE)
		die("the level is not empty");
}

/* One that lingers, which is told of, and one that is refused, as well. */
static int submit_told(struct _test_data_fault *self)
{
	struct kapf_finish finished[2] = { { .slot = 0 }, { .slot = 7 } };
	struct kapf_event event;
	struct kapf_submit arg = {
		.size = sizeof(arg),
		.op_size = sizeof(struct kapf_op),
		.event_size = sizeof(event),
		.nr_finish = 2,
		.nr_events = 1,
		.finish = (uintptr_t)finished,
		.events = (uintptr_t)&event,
	};

	return call(self->fd, KAPF_SUBMIT, &arg);
}

static void end_lingering(struct _test_data_fault *self)
{
	finish(self->fd, 0);
	if (!await_lingering(self->control, 0))
		die("seats linger for ever");
	empty_slots(self);
}

/* A level and its schema drain when the call is made. */
static void drain(struct _test_data_fault *self)
{
	set_config_back(self);
	admit_first(self);
	if (set_image(self->control, &self->drained, NULL))
		die("SET_CONFIG");
	know_generation(self);
}

/* It resumes with more queues, another gets fewer, schemas move. */
static int set_return_config(struct _test_data_fault *self)
{
	return set_once(self, &self->return_image);
}

static void undrain(struct _test_data_fault *self)
{
	set_config_back(self);
	empty_slots(self);
	/* Nothing is to be gone later, when it would look like a change. */
	while (state_of(self->control).get.nr_schemas > 3)
		sleep_ms(10);
}

static const struct step steps[] = {
	{ .name = "GET_INFO", .call = info },
	{ .name = "open", .call = open_file, .undo = close_other },
	{ .name = "ATTACH", .prepare = open_surely, .call = attach_other,
	  .undo = close_other, .answers = true },
	{ .name = "GET_CONFIG", .call = get_config },
	{ .name = "SET_CONFIG", .prepare = know_generation, .call = set_config,
	  .answers = true },
	{ .name = "SET_CONFIG, new objects", .prepare = set_config_back,
	  .call = set_new_config, .answers = true },
	{ .name = "SET_CONFIG, back", .prepare = know_generation,
	  .call = set_config, .answers = true },
	{ .name = "SET_CONFIG, draining", .prepare = drain,
	  .call = set_return_config, .undo = undrain, .answers = true },
	{ .name = "GET_STATS", .call = get_stats },
	{ .name = "GET_REQUESTS", .prepare = queue_one, .call = get_requests,
	  .undo = empty_slots },
	{ .name = "GET_REQUESTS, own", .prepare = queue_one,
	  .call = get_own_requests, .undo = empty_slots },
	{ .name = "GET_SESSIONS", .call = get_sessions },
	{ .name = "GET_QUEUES", .call = get_queues },
	{ .name = "ADMIT", .call = admit_labelled, .undo = empty_slots },
	{ .name = "ADMIT, queued", .prepare = hold_seats,
	  .call = admit_labelled, .undo = empty_slots },
	{ .name = "FINISH", .prepare = admit_first, .call = finish_first,
	  .undo = empty_slots },
	{ .name = "FINISH that dispatches", .prepare = queue_one,
	  .call = finish_holder, .undo = empty_slots },
	{ .name = "CANCEL", .prepare = queue_one, .call = cancel_first,
	  .undo = empty_slots },
	{ .name = "read", .prepare = queue_and_grant_one, .call = read_one,
	  .undo = empty_slots },
	{ .name = "write", .call = write_one, .undo = empty_slots },
	{ .name = "write, queued", .prepare = hold_seats, .call = write_one,
	  .undo = empty_slots },
	{ .name = "SUBMIT", .prepare = queue_one, .call = submit,
	  .undo = empty_slots, .answers = true },
	{ .name = "SUBMIT that tells", .prepare = admit_lingering,
	  .call = submit_told, .undo = end_lingering, .answers = true },
};

TEST_F_TIMEOUT(fault, every_call, 600)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		EXPECT_TRUE(walk(self, &steps[i])) {
			empty_slots(self);
		}
	EXPECT_LE(60, self->failures);
}

/* The module's file, in memory */
static void *read_module(size_t *len)
{
	struct utsname name;
	char path[256];
	void *bytes;
	off_t size;
	int fd;

	uname(&name);
	snprintf(path, sizeof(path), "/lib/modules/%s/extra/kapf.ko",
		 name.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	size = lseek(fd, 0, SEEK_END);
	bytes = malloc(size);
	if (!bytes || pread(fd, bytes, size, 0) != size)
		die(path);
	close(fd);
	*len = size;
	return bytes;
}

static int load(const void *module, size_t len, const char *parameters)
{
	return syscall(SYS_init_module, module, len, parameters) ? -errno : 0;
}

static void unload(void)
{
	if (syscall(SYS_delete_module, "kapf", O_NONBLOCK))
		die("delete_module");
}

/* Places at which loading can fail, all told */
static unsigned int places_of(struct _test_data_fault *self, const void *module,
			      size_t len, const char *parameters)
{
	char text[16] = "";

	arm(self, MOST);
	if (load(module, len, parameters) ||
	    pread(self->fail, text, sizeof(text) - 1, 0) < 0 ||
	    pwrite(self->fail, "0", 1, 0) != 1)
		die("init_module");
	unload();
	return MOST - atoi(text);
}

/*
 * Loading fails whole: there is no node, and it can be loaded after that.  What
 * comes before the module's own beginning is the kernel's to get right; the
 * places of two instances come last.
 */
TEST_F_TIMEOUT(fault, loading, 300)
{
	unsigned int nth, all, of_two, failures = 0;
	void *module;
	size_t len;
	int ret;

	module = read_module(&len);
	if (!module)
		SKIP(return, "the module's file is not there");
	close(self->fd);
	close(self->control);
	unload();
	all = places_of(self, module, len, "instances=4");
	of_two = all - places_of(self, module, len, "instances=2");
	ASSERT_LT(10, of_two);
	for (nth = all - of_two; nth <= all; nth++) {
		arm(self, nth);
		ret = load(module, len, "instances=4");
		spared(self);
		failures += !!ret;
		if (!ret)
			unload();
		EXPECT_NE(0, access(SUBMIT_NODE, F_OK));
		EXPECT_NE(0, access(CONTROL_NODE, F_OK));
	}
	EXPECT_LE(10, failures);
	TH_LOG("%u of %u places, %u failures", of_two, all, failures);
	ASSERT_EQ(0, load(module, len, ""));
	free(module);
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->fd = open_node(SUBMIT_NODE, O_RDWR);
}

TEST_HARNESS_MAIN
