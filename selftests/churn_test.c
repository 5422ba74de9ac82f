// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration changes five times a second, by chance and in every respect,
 * under the full load of 64 threads in eight processes, of four of which one is
 * killed now and then.  Each request is decided on exactly once, what is counted stays
 * consistent, and in the end nothing is left: no seat, no queue, nothing that
 * drains.
 *
 * Who changes has real-time priority, or the 64 would not let him keep time, and
 * waits for nobody: who is killed is buried at a later turn.
 *
 * KAPF_CHURN_SECONDS and KAPF_CHURN_SEED say how long, and where chance begins.
 */
#include "churn.h"

#define LEVELS	10

/* From the beginning of a change to that of the next. */
#define PERIOD	(200 * NSEC_PER_MSEC)

/* Of the processes: the others are to see everything. */
#define MORTALS	4

/* In changes */
#define KILL_EVERY	5
#define COMPARE_EVERY	20

/* Configurations */

static void any_level(struct image *image, const char *name, __u64 *random)
{
	struct kapf_config_level *level;
	__u32 shares = any(random, 20);
	__u32 queues = 1 + any(random, one_in(random, 4) ? 400 : 16);

	if (one_in(random, 4))
		level = image_level(image, name, KAPF_LEVEL_REJECT, shares);
	else
		level = image_queues(image, name, shares, queues,
				     1 + any(random, queues < 4 ? queues : 4),
				     1 + any(random, 20));
	level->lendable_percent = any(random, 101);
	if (one_in(random, 2))
		level->borrowing_limit_percent = any(random, 200);
}

static void any_image(struct image *image, __u64 *random)
{
	char name[32], to[32];
	__u32 i;

	image_init(image);
	for (i = 0; i < LEVELS; i++) {
		snprintf(name, sizeof(name), "level-%u", i);
		if (!one_in(random, 4))
			any_level(image, name, random);
	}
	for (i = 0; i < SCHEMAS; i++) {
		snprintf(name, sizeof(name), "schema-%u", i);
		snprintf(to, sizeof(to), "level-%u", any(random, LEVELS));
		if (one_in(random, 16))
			strcpy(to, "exempt");
		if (!one_in(random, 8))
			image_schema(image, name, 2 + any(random, 9000), to,
				     "[]");
	}
	image->head.max_requests_inflight = 10 + any(random, 300);
	image->head.adjustment_period_ms = 100 + any(random, 400);
}

/* Tell the clients of the schemas; what is gone keeps its id there. */
static void publish(int control)
{
	struct kapf_config_schema *schema;
	char name[32];
	size_t len;
	char *bytes = get_image(control, &len);
	int i;

	for (i = 0; i < SCHEMAS; i++) {
		snprintf(name, sizeof(name), "schema-%u", i);
		schema = find_schema(bytes, name);
		if (schema)
			__atomic_store_n(&shared->schemas[i], schema->id,
					 __ATOMIC_RELAXED);
	}
	free(bytes);
}

/* What is seen of levels and schemas */

#define ROOM 4096

struct view {
	struct kapf_get_stats get;
	struct kapf_level_stats levels[ROOM];
	struct kapf_schema_stats schemas[ROOM];
};

static void look(struct view *view, int control)
{
	view->get = (struct kapf_get_stats){
		.size = sizeof(view->get),
		.level_size = sizeof(view->levels[0]),
		.schema_size = sizeof(view->schemas[0]),
		.nr_levels = ROOM,
		.nr_schemas = ROOM,
		.levels = (uintptr_t)view->levels,
		.schemas = (uintptr_t)view->schemas,
	};
	errno = -call(control, KAPF_GET_STATS, &view->get);
	if (errno)
		die("GET_STATS");
}

static __u32 draining_levels(const struct view *view)
{
	__u32 i, nr = 0;

	for (i = 0; i < view->get.nr_levels; i++)
		nr += view->levels[i].flags == KAPF_STATS_DRAINING;
	return nr;
}

static __u32 draining_schemas(const struct view *view)
{
	__u32 i, nr = 0;

	for (i = 0; i < view->get.nr_schemas; i++)
		nr += view->schemas[i].flags == KAPF_STATS_DRAINING;
	return nr;
}

/* Is what the schemas of a level hold what the level holds? */
static bool level_consistent(const struct view *view,
			     const struct kapf_level_stats *level)
{
	__u64 executing = 0, seats = 0, waiting = 0, waiting_seats = 0;
	__u64 dispatched = 0;
	__u32 i;

	for (i = 0; i < view->get.nr_schemas; i++) {
		const struct kapf_schema_stats *schema = &view->schemas[i];

		if (schema->level != level->id)
			continue;
		executing += schema->executing_requests;
		seats += schema->seats_in_use;
		waiting += schema->waiting_requests;
		waiting_seats += schema->waiting_seats;
		dispatched += schema->dispatched;
	}
	if (executing == level->executing_requests &&
	    seats == level->seats_in_use &&
	    waiting == level->waiting_requests &&
	    waiting_seats == level->waiting_seats &&
	    dispatched <= level->dispatched)
		return true;
	fprintf(stderr, "# %s: %u executing, %llu seats, %u waiting for %llu, %llu dispatched\n",
		level->name, level->executing_requests, level->seats_in_use,
		level->waiting_requests, level->waiting_seats,
		level->dispatched);
	fprintf(stderr, "# its schemas: %llu, %llu, %llu, %llu, %llu\n",
		executing, seats, waiting, waiting_seats, dispatched);
	return false;
}

FIXTURE(churn) {
	int control;
	__u64 random;
	pid_t pids[PROCESSES];
	struct view *view;
	struct counts killed;	/* of processes that were */
	int dying;		/* which one; -1: none */
	__u64 changes;
	__u64 kills;
	__u64 comparisons;
	__u64 compare_at;	/* so many changes */
	__u64 drained_levels;
	__u64 drained_schemas;
	__u64 first;		/* when the first change began */
	__u64 last;
	__u64 widest;		/* between two, ns */
	__u64 changing;		/* ns */
	__u64 longest;		/* change, ns */
};

/* The processes that it makes are not to have it. */
static void take_priority(struct __test_metadata *_metadata)
{
	struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		TH_LOG("no real-time priority: %s", strerror(errno));
}

FIXTURE_SETUP(churn)
{
	const char *seed = getenv("KAPF_CHURN_SEED");
	int i;

	self->random = seed ? strtoull(seed, NULL, 0) : (__u64)getpid();
	TH_LOG("seed %llu", self->random);
	self->control = open_node(CONTROL_NODE, O_RDWR);
	set_up_bare(self->control);
	self->view = malloc(sizeof(*self->view));
	ASSERT_NE(NULL, self->view);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	self->dying = -1;
	self->compare_at = COMPARE_EVERY;
	for (i = 0; i < PROCESSES; i++)
		self->pids[i] = spawn(i, self->random + 1000 * i);
	take_priority(_metadata);
}

FIXTURE_TEARDOWN(churn)
{
	munmap(shared, sizeof(*shared));
	free(self->view);
	close(self->control);
}

/* A change begins. */
static void keep_time(struct _test_data_churn *self, __u64 begin)
{
	if (!self->changes)
		self->first = begin;
	else if (begin - self->last > self->widest)
		self->widest = begin - self->last;
	self->last = begin;
}

static void change(struct __test_metadata *_metadata,
		   struct _test_data_churn *self)
{
	__u64 took, begin;
	struct image image;

	any_image(&image, &self->random);
	begin = now_ns();
	keep_time(self, begin);
	ASSERT_EQ(0, set_image(self->control, &image, NULL));
	took = now_ns() - begin;
	self->changing += took;
	if (took > self->longest)
		self->longest = took;
	image_free(&image);
	publish(self->control);
	self->changes++;
	look(self->view, self->control);
	self->drained_levels += draining_levels(self->view);
	self->drained_schemas += draining_schemas(self->view);
}

static void add_counts(struct counts *sum, const struct counts *counts)
{
	size_t i;

	for (i = 0; i < sizeof(*sum) / sizeof(__u64); i++)
		((__u64 *)sum)[i] += ((const __u64 *)counts)[i];
}

/* A process that has been killed takes a while to be gone. */
static void kill_one(struct _test_data_churn *self)
{
	self->dying = any(&self->random, MORTALS);
	kill(self->pids[self->dying], SIGKILL);
	self->kills++;
}

static __u64 undecided_requests(const struct counts *counts)
{
	__u64 left = counts->tokens - counts->interrupted;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counts->verdicts); i++)
		left -= counts->verdicts[i];
	return left;
}

/*
 * If it is gone, another one takes its place.  It was waiting for no more requests
 * than its threads can have in flight.
 */
static void bury(struct __test_metadata *_metadata,
		 struct _test_data_churn *self, int options)
{
	int i = self->dying;

	if (i < 0 || !waitpid(self->pids[i], NULL, options))
		return;
	EXPECT_GE(IN_FLIGHT, undecided_requests(&shared->counts[i]));
	add_counts(&self->killed, &shared->counts[i]);
	memset(&shared->counts[i], 0, sizeof(shared->counts[i]));
	self->pids[i] = spawn(i, self->random + self->kills);
	self->dying = -1;
}

static void stop_all(struct _test_data_churn *self)
{
	int i, status;

	for (i = 0; i < PROCESSES; i++)
		kill(self->pids[i], SIGSTOP);
	for (i = 0; i < PROCESSES; i++)
		if (waitpid(self->pids[i], &status, WUNTRACED) < 0 ||
		    !WIFSTOPPED(status))
			die("a process that does not stop");
}

/* Stop all and, when no timer has anything left to do, compare. */
static void compare(struct __test_metadata *_metadata,
		    struct _test_data_churn *self)
{
	struct view *view = self->view;
	__u32 i;

	stop_all(self);
	sleep_ms(MAX_WAIT_MS + MAX_LATENCY_MS + 100);
	look(view, self->control);
	for (i = 0; i < view->get.nr_levels; i++)
		EXPECT_TRUE(level_consistent(view, &view->levels[i]));
	self->comparisons++;
	for (i = 0; i < PROCESSES; i++)
		kill(self->pids[i], SIGCONT);
}

static void report(struct __test_metadata *_metadata,
		   const struct counts *counts, const char *which)
{
	static const char *const names[] = {
		"", "execute", "queue full", "concurrency limit", "time out",
		"cancelled", "reclassify", "",
	};
	int i;

	TH_LOG("%s: %llu requests, %llu while the slot lingered", which,
	       counts->tokens, counts->busy);
	for (i = 1; i < 7; i++)
		TH_LOG("  %-18s%llu", names[i], counts->verdicts[i]);
	TH_LOG("  %-18s%llu", "interrupted", counts->interrupted);
}

/* Whatever drained is gone, and so are all queues. */
static void nothing_is_left(struct __test_metadata *_metadata,
			    struct _test_data_churn *self)
{
	__u64 until = now_ns() + 20 * NSEC_PER_SEC;
	struct kapf_queue_info queue;
	struct kapf_get_queues get = {
		.size = sizeof(get),
		.queue_size = sizeof(queue),
		.nr = 1,
		.queues = (uintptr_t)&queue,
	};
	struct view *view = self->view;
	__u32 i;

	do {
		sleep_ms(50);
		look(view, self->control);
	} while ((view->get.nr_levels > 2 || view->get.nr_schemas > 2) &&
		 now_ns() < until);
	EXPECT_EQ(2, view->get.nr_levels);
	EXPECT_EQ(2, view->get.nr_schemas);
	for (i = 0; i < view->get.nr_levels; i++) {
		EXPECT_EQ(0, view->levels[i].seats_in_use);
		EXPECT_EQ(0, view->levels[i].executing_requests);
		EXPECT_EQ(0, view->levels[i].lingering_requests);
	}
	EXPECT_EQ(0, call(self->control, KAPF_GET_QUEUES, &get));
	EXPECT_EQ(0, get.nr);
}

/* Each request of those who lived was decided on, and all went as it must. */
static void judge(struct __test_metadata *_metadata,
		  const struct _test_data_churn *self)
{
	struct counts sum = { };
	size_t i;

	for (i = 0; i < PROCESSES; i++)
		add_counts(&sum, &shared->counts[i]);
	report(_metadata, &sum, "processes that lived");
	report(_metadata, &self->killed, "processes that were killed");
	TH_LOG("%llu kills, %llu comparisons", self->kills, self->comparisons);
	TH_LOG("seen draining: %llu levels, %llu schemas", self->drained_levels,
	       self->drained_schemas);
	TH_LOG("a change took %llu us on average, %llu at most",
	       self->changing / self->changes / 1000, self->longest / 1000);
	TH_LOG("a change every %llu us on average, %llu at most",
	       (self->last - self->first) / (self->changes - 1) / 1000,
	       self->widest / 1000);
	EXPECT_EQ(0, undecided_requests(&sum));
	add_counts(&sum, &self->killed);
	EXPECT_EQ(0, sum.lost);
	EXPECT_EQ(0, sum.strays);
	EXPECT_EQ(0, sum.errors);
	for (i = KAPF_EXECUTE; i <= KAPF_RECLASSIFY; i++)
		EXPECT_LT(0, sum.verdicts[i]);
	EXPECT_LT(0, self->drained_levels);
	EXPECT_LT(0, self->drained_schemas);
}

/* Sleep until the next change is due; who is late makes up for it. */
static void await_turn(struct _test_data_churn *self)
{
	__u64 at = self->first + self->changes * PERIOD;
	const struct timespec turn = {
		.tv_sec = at / NSEC_PER_SEC,
		.tv_nsec = at % NSEC_PER_SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &turn, NULL) ==
	       EINTR)
		;
}

TEST_F_TIMEOUT(churn, every_request_is_decided_once, 1200)
{
	const char *seconds = getenv("KAPF_CHURN_SECONDS");
	__u64 span = (seconds ? atoi(seconds) : 8) * NSEC_PER_SEC;
	__u64 until = now_ns() + span;
	int i;

	while (self->changes < span / PERIOD && now_ns() < until) {
		change(_metadata, self);
		bury(_metadata, self, WNOHANG);
		if (self->dying < 0 && self->changes >= self->compare_at) {
			compare(_metadata, self);
			self->compare_at += COMPARE_EVERY;
		}
		if (self->dying < 0 && self->changes % KILL_EVERY == 0)
			kill_one(self);
		await_turn(self);
	}
	bury(_metadata, self, 0);
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < PROCESSES; i++)
		EXPECT_EQ(0, reap(self->pids[i]));
	set_up_bare(self->control);
	nothing_is_left(_metadata, self);
	TH_LOG("%llu changes of %llu", self->changes, span / PERIOD);
	judge(_metadata, self);
}

TEST_HARNESS_MAIN
