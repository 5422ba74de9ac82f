// SPDX-License-Identifier: GPL-2.0
/*
 * A million calls, good and bad ones by chance, by eight threads in four
 * processes, of which one is killed every now and then.  Some change the mode or
 * the configuration for all, or end the sessions of others.  In the end nothing
 * may be left: no seat, no request, no session.
 *
 * KAPF_STRESS_CALLS and KAPF_STRESS_SEED say how many, and where chance begins.
 */
#include <sys/mman.h>
#include <sys/prctl.h>

#include "kapf_test.h"

#define PROCESSES	4
#define THREADS		2
#define SESSIONS	2	/* of a process */
#define SLOTS		32
#define LABEL_BYTES	40

static const char *const schemas[] = {
	"queue", "fair", "reject", "dangling", "exempt", "catch-all", "extra",
};

/* What all processes share. */
struct shared {
	__u64 calls;
	__u64 kinds[32];	/* calls that succeeded, by kind */
	__u32 ids[ARRAY_SIZE(schemas)];	/* last known */
};

static struct shared *shared;
static int control = -1;

/**
 * struct player - a thread that makes calls
 * @random: state of its chance
 * @fds: of the process
 * @room: for what the kernel writes, ROOM bytes; counts that chance has made too
 *	large lead into the page behind it, which is nobody's
 */
struct player {
	__u64 random;
	int *fds;
	char *room;
};

#define ROOM 65536

static char *make_room(void)
{
	char *room = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED || mprotect(room + ROOM, 4096, PROT_NONE))
		die("mmap");
	return room;
}

static __u32 any(struct player *player, __u32 below)
{
	player->random = player->random * 6364136223846793005ULL +
			 1442695040888963407ULL;
	return (player->random >> 33) % below;
}

static bool one_in(struct player *player, __u32 n)
{
	return !any(player, n);
}

static int any_fd(struct player *player)
{
	return one_in(player, 50) ? control :
				    player->fds[any(player, SESSIONS)];
}

static __u32 any_slot(struct player *player)
{
	return one_in(player, 100) ? any(player, ~0u) : any(player, SLOTS);
}

/* Where there is memory, mostly; else nowhere, or where there is none. */
static __u64 somewhere(struct player *player, void *memory)
{
	if (!one_in(player, 40))
		return (uintptr_t)memory;
	return one_in(player, 2) ? any(player, ~0u) : 0;
}

static __u32 any_schema(struct player *player)
{
	__u32 i = any(player, ARRAY_SIZE(schemas) + 2);

	if (i == ARRAY_SIZE(schemas))
		return ~0u;
	/* Some more for the first, where most requests wait. */
	return __atomic_load_n(&shared->ids[i % ARRAY_SIZE(schemas)],
			       __ATOMIC_RELAXED);
}

static struct kapf_op any_op(struct player *player)
{
	struct kapf_op op = request(any_slot(player), any_schema(player));

	op.flags = any(player, 16);
	op.initial_seats = 1 + any(player, one_in(player, 8) ? 6 : 2);
	op.final_seats = any(player, 3);
	op.flow_hash = any(player, 16);
	op.max_wait = 1 + any(player, 3000000);
	if (one_in(player, 4))
		op.additional_latency = any(player, 3000000);
	op.user_data = player->random;
	if (one_in(player, 60))
		((char *)&op)[any(player, sizeof(op))] ^= 1 << any(player, 8);
	/* Nobody is to wait long. */
	if (op.max_wait > 5000000)
		op.max_wait = 5000000;
	if (!op.max_wait)
		op.flags |= KAPF_OP_NOWAIT;
	return op;
}

/* Each makes a call; 0 or more: it succeeded. */

static int play_admit(struct player *player)
{
	static const char label[LABEL_BYTES] = "stress";
	struct kapf_op op = any_op(player);

	op.label = somewhere(player, (void *)label);
	op.label_len = any(player, sizeof(label) + 1);
	return call(any_fd(player), KAPF_ADMIT, &op);
}

static int play_finish(struct player *player)
{
	return finish(any_fd(player), any_slot(player));
}

static int play_cancel(struct player *player)
{
	return cancel(any_fd(player), any_slot(player));
}

static int play_read(struct player *player)
{
	struct kapf_event events[4];
	int fd = any_fd(player);
	struct pollfd poller = { .fd = fd, .events = POLLIN };

	/* Who loses the race for the last event may sleep till the kill. */
	if (poll(&poller, 1, 0) != 1 || !(poller.revents & POLLIN))
		return -EAGAIN;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return read(fd, (void *)(uintptr_t)somewhere(player, events),
		    any(player, sizeof(events) + 1)) < 0 ? -errno : 0;
}

static int play_write(struct player *player)
{
	char buf[4 * (sizeof(struct kapf_op) + LABEL_BYTES)] = "";
	size_t len = 0, i, nr = any(player, 5);
	struct kapf_op op;

	for (i = 0; i < nr; i++) {
		op = any_op(player);
		if (one_in(player, 3))
			op = (struct kapf_op){
				.opcode = 2 + any(player, 2),
				.slot = any_slot(player),
			};
		else
			op.label_len = any(player, LABEL_BYTES);
		memcpy(buf + len, &op, sizeof(op));
		len += sizeof(op) + ((op.label_len + 7) & ~7u);
		if (len > sizeof(buf))
			len = sizeof(buf);
		if (sizeof(buf) - len < sizeof(op))
			break;
	}
	if (one_in(player, 20))
		len = any(player, sizeof(buf));
	return write(any_fd(player),
		     (void *)(uintptr_t)somewhere(player, buf), len) < 0 ?
		       -errno : 0;
}

static int play_submit(struct player *player)
{
	struct kapf_finish *finished = (void *)player->room;
	struct kapf_op ops[4];
	__u32 cancelled[4];
	struct kapf_submit submit = {
		.size = sizeof(submit),
		.op_size = sizeof(ops[0]),
		.event_size = sizeof(struct kapf_event),
		.nr_finish = any(player, 5),
		.nr_cancel = any(player, 5),
		.nr_ops = any(player, 5),
		.nr_events = any(player, 9),
		.finish = somewhere(player, finished),
		.cancel = somewhere(player, cancelled),
		.ops = somewhere(player, ops),
		.events = somewhere(player, player->room + ROOM -
				    8 * sizeof(struct kapf_event)),
		.timeout = any(player, 2000000),
	};
	size_t i;

	for (i = 0; i < 4; i++) {
		finished[i] = (struct kapf_finish){ .slot = any_slot(player) };
		cancelled[i] = any_slot(player);
		ops[i] = any_op(player);
	}
	submit.min_complete = any(player, submit.nr_events + 1);
	if (one_in(player, 60))
		((char *)&submit)[any(player, 32)] ^= 1 << any(player, 8);
	return call(any_fd(player), KAPF_SUBMIT, &submit);
}

static int play_poll(struct player *player)
{
	struct pollfd poller = {
		.fd = any_fd(player), .events = any(player, 64),
	};

	return poll(&poller, 1, any(player, 3));
}

union look {
	__u32 size;
	struct kapf_get_stats stats;
	struct kapf_get_requests requests;
	struct kapf_get_sessions sessions;
	struct kapf_get_queues queues;
	struct kapf_get_histograms histograms;
	struct kapf_get_config config;
	struct kapf_info info;
};

static const struct {
	unsigned long cmd;
	size_t size;
} looks[] = {
	{ KAPF_GET_STATS, sizeof(struct kapf_get_stats) },
	{ KAPF_GET_REQUESTS, sizeof(struct kapf_get_requests) },
	{ KAPF_GET_SESSIONS, sizeof(struct kapf_get_sessions) },
	{ KAPF_GET_QUEUES, sizeof(struct kapf_get_queues) },
	{ KAPF_GET_HISTOGRAMS, sizeof(struct kapf_get_histograms) },
	{ KAPF_GET_CONFIG, sizeof(struct kapf_get_config) },
	{ KAPF_GET_INFO, sizeof(struct kapf_info) },
};

static union look any_look(struct player *player, unsigned long cmd)
{
	union look look = { };
	__u64 to = somewhere(player, player->room);

	if (cmd == KAPF_GET_STATS) {
		look.stats.level_size = sizeof(struct kapf_level_stats);
		look.stats.schema_size = sizeof(struct kapf_schema_stats);
		look.stats.nr_levels = any(player, 8);
		look.stats.levels = to;
		look.stats.nr_schemas = any(player, 8);
		look.stats.schemas = somewhere(player, player->room + ROOM / 2);
	} else if (cmd == KAPF_GET_REQUESTS) {
		look.requests.request_size = sizeof(struct kapf_request_info);
		look.requests.label_bytes = 8 * any(player, 8);
		look.requests.nr = any(player, 64);
		look.requests.requests = to;
	} else if (cmd == KAPF_GET_SESSIONS) {
		look.sessions.session_size = sizeof(struct kapf_session_info);
		look.sessions.nr = any(player, 16);
		look.sessions.sessions = to;
	} else if (cmd == KAPF_GET_QUEUES) {
		look.queues.queue_size = sizeof(struct kapf_queue_info);
		look.queues.nr = any(player, 64);
		look.queues.queues = to;
	} else if (cmd == KAPF_GET_HISTOGRAMS) {
		look.histograms.histogram_size =
			sizeof(struct kapf_histogram_info);
		look.histograms.nr = any(player, 200);
		look.histograms.cursor = any(player, 300);
		look.histograms.histograms = to;
	} else if (cmd == KAPF_GET_CONFIG) {
		look.config.image_len = any(player, ROOM);
		look.config.image = to;
	}
	return look;
}

static int play_look(struct player *player)
{
	__u32 i = any(player, ARRAY_SIZE(looks));
	union look look = any_look(player, looks[i].cmd);

	look.size = looks[i].size;
	/* Not in a pointer, which could come to point at something of ours. */
	if (one_in(player, 40))
		((char *)&look)[any(player, 8)] ^= 1 << any(player, 8);
	return call(one_in(player, 4) ? any_fd(player) : control, looks[i].cmd,
		    &look);
}

static int play_set_mode(struct player *player)
{
	if (!one_in(player, 50))
		return -EAGAIN;
	return set_mode(control, one_in(player, 2) ? KAPF_MODE_ENFORCE :
						     any(player, 5));
}

/* A session of anybody's, which may be in the middle of a call. */
static int play_evict(struct player *player)
{
	struct kapf_session_info infos[16];
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(infos[0]),
		.nr = ARRAY_SIZE(infos),
		.sessions = (uintptr_t)infos,
	};
	struct kapf_evict arg = { .size = sizeof(arg) };
	int ret;

	if (!one_in(player, 50))
		return -EAGAIN;
	ret = call(control, KAPF_GET_SESSIONS, &get);
	if (ret || !get.nr)
		return ret ?: -ENOENT;
	arg.session = infos[any(player, get.nr)].session;
	return call(control, KAPF_EVICT, &arg);
}

/* Levels of each kind, and schemas that lead to them, or nowhere. */
static void usual_image(struct image *image)
{
	image_init(image);
	image_queues(image, "queue", 3, 1, 1, 8);
	image_queues(image, "fair", 4, 16, 3, 4);
	image_level(image, "reject", KAPF_LEVEL_REJECT, 3);
	image_schema(image, "queue", 100, "queue", "[]");
	image_schema(image, "fair", 100, "fair", "[]");
	image_schema(image, "reject", 100, "reject", "[]");
	image_schema(image, "dangling", 100, "none", "[]");
}

/* The same but for some of it, which comes and goes. */
static void any_image(struct image *image, struct player *player)
{
	static const char *const levels[] = { "queue", "fair", "none" };
	struct kapf_config_level *level;

	image_init(image);
	image_queues(image, "queue", 1 + any(player, 5), 1 + any(player, 3), 1,
		     1 + any(player, 8));
	level = image_queues(image, "fair", 1 + any(player, 8),
			     4 + any(player, 20), 1 + any(player, 4), 4);
	level->lendable_percent = any(player, 101);
	image_level(image, "reject", KAPF_LEVEL_REJECT, 1 + any(player, 3));
	image_schema(image, "queue", 100, levels[any(player, 3)], "[]");
	image_schema(image, "fair", 100, levels[any(player, 2)], "[]");
	image_schema(image, "reject", 100, "reject", "[]");
	image_schema(image, "dangling", 100, "none", "[]");
	if (one_in(player, 2)) {
		image_queues(image, "extra", 2, 2, 1, 4);
		image_schema(image, "extra", 100, "extra", "[]");
	}
	if (one_in(player, 2))
		image->head.adjustment_period_ms = KAPF_MIN_ADJUSTMENT_PERIOD_MS;
}

static void publish(void)
{
	const struct kapf_config_schema *schema;
	size_t len, i;
	char *bytes = get_image(control, &len);

	for (i = 0; i < ARRAY_SIZE(schemas); i++) {
		schema = find_schema(bytes, schemas[i]);
		if (schema)
			__atomic_store_n(&shared->ids[i], schema->id,
					 __ATOMIC_RELAXED);
	}
	free(bytes);
}

static int play_configure(struct player *player)
{
	struct image image;
	int ret;

	if (!one_in(player, 50))
		return -EAGAIN;
	any_image(&image, player);
	ret = set_image(control, &image, NULL);
	image_free(&image);
	if (!ret)
		publish();
	return ret;
}

/* Another session in place of one that others may be using. */
static int play_reopen(struct player *player)
{
	int *fd = &player->fds[any(player, SESSIONS)];
	int fresh, ret;

	if (!one_in(player, 20))
		return -EAGAIN;
	fresh = open(SUBMIT_NODE, O_RDWR | O_CLOEXEC);
	if (fresh < 0)
		return -errno;
	ret = attach(fresh, SLOTS, LABEL_BYTES);
	close(__atomic_exchange_n(fd, fresh, __ATOMIC_RELAXED));
	return ret;
}

/* A child that has the files for a moment, and may not use them. */
static int play_fork(struct player *player)
{
	pid_t child;

	if (!one_in(player, 50))
		return -EAGAIN;
	child = fork();
	if (!child) {
		finish(player->fds[0], 0);
		_exit(0);
	}
	return child < 0 || waitpid(child, NULL, 0) != child ? -errno : 0;
}

static int play_garbage(struct player *player)
{
	char buf[256];
	size_t i;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = one_in(player, 2) ? 0 : any(player, 256);
	if (one_in(player, 2))
		*(__u32 *)buf = any(player, 200);
	return call(any_fd(player), _IO(KAPF_IOC_TYPE, any(player, 64)),
		    (void *)(uintptr_t)somewhere(player, buf));
}

static const struct {
	const char *name;
	int (*play)(struct player *player);
	__u32 weight;
} plays[] = {
	{ "ADMIT", play_admit, 20 },
	{ "FINISH", play_finish, 30 },
	{ "CANCEL", play_cancel, 8 },
	{ "read", play_read, 14 },
	{ "write", play_write, 12 },
	{ "SUBMIT", play_submit, 10 },
	{ "poll", play_poll, 4 },
	{ "GET_*", play_look, 6 },
	{ "open", play_reopen, 2 },
	{ "fork", play_fork, 1 },
	{ "SET_MODE", play_set_mode, 1 },
	{ "EVICT", play_evict, 1 },
	{ "SET_CONFIG", play_configure, 1 },
	{ "garbage", play_garbage, 5 },
};

static void *player_main(void *arg)
{
	struct player *player = arg;
	__u32 total = 0, number;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plays); i++)
		total += plays[i].weight;
	for (;;) {
		number = any(player, total);
		for (i = 0; number >= plays[i].weight; i++)
			number -= plays[i].weight;
		if (plays[i].play(player) >= 0)
			__atomic_fetch_add(&shared->kinds[i], 1,
					   __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static pid_t spawn(__u64 seed)
{
	static int fds[SESSIONS];
	struct player players[THREADS];
	pthread_t threads[THREADS];
	pid_t pid = fork();
	size_t i;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < SESSIONS; i++) {
		fds[i] = open_node(SUBMIT_NODE, O_RDWR);
		attach(fds[i], SLOTS, LABEL_BYTES);
	}
	for (i = 0; i < THREADS; i++) {
		players[i] = (struct player){
			.random = seed + i,
			.fds = fds,
			.room = make_room(),
		};
		if (pthread_create(&threads[i], NULL, player_main, &players[i]))
			_exit(1);
	}
	pthread_join(threads[0], NULL);
	_exit(0);
}

static __u64 number_from(const char *variable, __u64 otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static __u32 requests_in_slots(void)
{
	struct kapf_request_info info;
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(info),
		.nr = 1,
		.requests = (uintptr_t)&info,
	};

	if (call(control, KAPF_GET_REQUESTS, &get))
		die("GET_REQUESTS");
	return get.nr;
}

FIXTURE(stress) {
	pid_t pids[PROCESSES];
};

FIXTURE_SETUP(stress)
{
	struct image image;

	control = open_node(CONTROL_NODE, O_RDWR);
	usual_image(&image);
	set_up(control, &image);
	image_free(&image);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	publish();
}

FIXTURE_TEARDOWN(stress)
{
	munmap(shared, sizeof(*shared));
	close(control);
}

/* Kill one after the other, until there have been so many calls. */
static __u32 play(struct _test_data_stress *self, __u64 calls, __u64 seed)
{
	__u32 kills = 0;
	size_t i;

	for (i = 0; i < PROCESSES; i++)
		self->pids[i] = spawn(seed + 1000 * i);
	while (__atomic_load_n(&shared->calls, __ATOMIC_RELAXED) < calls) {
		sleep_ms(50);
		i = kills++ % PROCESSES;
		kill_and_reap(self->pids[i]);
		self->pids[i] = spawn(seed + 1000 * kills);
	}
	for (i = 0; i < PROCESSES; i++)
		kill_and_reap(self->pids[i]);
	return kills;
}

/* Back to the mode and configuration of the beginning, of which levels are left. */
static bool settle(struct kapf_get_stats *get)
{
	__u64 until = now_ns() + 20 * NSEC_PER_SEC;
	struct image image;

	usual_image(&image);
	errno = -set_mode(control, KAPF_MODE_ENFORCE);
	if (errno)
		die("SET_MODE");
	errno = -set_image(control, &image, NULL);
	if (errno)
		die("SET_CONFIG");
	do {
		sleep_ms(50);
		*get = (struct kapf_get_stats){
			.size = sizeof(*get),
			.level_size = sizeof(struct kapf_level_stats),
			.schema_size = sizeof(struct kapf_schema_stats),
		};
		if (call(control, KAPF_GET_STATS, get))
			die("GET_STATS");
	} while ((get->nr_levels > image.head.nr_levels ||
		  get->nr_schemas > image.head.nr_schemas) && now_ns() < until);
	image_free(&image);
	return now_ns() < until;
}

TEST_F_TIMEOUT(stress, nothing_is_left, 1000)
{
	static const char *const levels[] = {
		"queue", "fair", "reject", "exempt", "catch-all",
	};
	__u64 calls = number_from("KAPF_STRESS_CALLS", 1000000);
	__u64 seed = number_from("KAPF_STRESS_SEED", getpid());
	struct kapf_level_stats stats;
	struct kapf_get_stats get;
	__u64 observed = 0;
	__u32 kills;
	size_t i;

	TH_LOG("seed %llu", seed);
	kills = play(self, calls, seed);
	for (i = 0; i < ARRAY_SIZE(plays); i++) {
		TH_LOG("%-10s %llu", plays[i].name, shared->kinds[i]);
		/* What makes no sense succeeds by chance only. */
		if (plays[i].play != play_garbage)
			EXPECT_LT(0, shared->kinds[i]);
	}
	TH_LOG("%llu calls, %u kills", shared->calls, kills);

	EXPECT_TRUE(settle(&get));
	EXPECT_EQ(0, get.nr_sessions);
	EXPECT_EQ(0, get.passing_requests);
	EXPECT_EQ(0, get.passing_mutating_requests);
	EXPECT_EQ(0, requests_in_slots());
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		stats = level_stats(control, levels[i]);
		EXPECT_EQ(0, stats.seats_in_use);
		EXPECT_EQ(0, stats.executing_requests);
		EXPECT_EQ(0, stats.passing_requests);
		EXPECT_EQ(0, stats.lingering_requests);
		EXPECT_EQ(0, stats.waiting_requests);
		EXPECT_EQ(0, stats.waiting_seats);
		EXPECT_EQ(0, stats.active_queues);
		EXPECT_LT(0, stats.dispatched);
		observed += stats.observed.dispatched;
	}
	EXPECT_LT(0, observed);
	/* Which the kernel looks at, too. */
	set_up_bare(control);
}

TEST_HARNESS_MAIN
