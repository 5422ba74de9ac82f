// SPDX-License-Identifier: GPL-2.0
/*
 * The peers of kapf that need no kapf: they keep what they promise.
 */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "crew.h"
#include "loads.h"
#include "peers/limiter.h"
#include "peers/wire.h"

#define ROUNDS 100 /* of each worker */

/* A word that says that too many seats were out at once. */
#define TOO_MANY 1

static uint64_t seats_out(struct crew *crew, const struct request *request)
{
	return __atomic_add_fetch(&crew->samples[1 + request->level],
				  request->seats, __ATOMIC_SEQ_CST);
}

static void seats_back(struct crew *crew, const struct request *request)
{
	__atomic_sub_fetch(&crew->samples[1 + request->level], request->seats,
			   __ATOMIC_SEQ_CST);
}

/* Counts, in samples, the seats that are out, by level, from the second on. */
static void work_counting(struct crew *crew, uint32_t worker)
{
	uint64_t random = random_start(crew->seed, worker);
	int i;

	crew_wait_for_start(crew);
	for (i = 0; i < ROUNDS; i++) {
		struct request request = workload_draw(crew->load, &random);

		crew_admit(crew, worker, &request);
		if (!request.exempt) {
			if (seats_out(crew, &request) > crew->load->seats)
				crew->samples[0] = TOO_MANY;
			sched_yield();
			seats_back(crew, &request);
		}
		crew_finish(crew, worker, &request);
	}
}

FIXTURE(peer)
{
	const struct peer *peer;
};

FIXTURE_VARIANT(peer)
{
	const struct peer *peer;
};

FIXTURE_VARIANT_ADD(peer, mutex)
{
	.peer = &peer_mutex,
};

FIXTURE_VARIANT_ADD(peer, shm)
{
	.peer = &peer_shm,
};

FIXTURE_VARIANT_ADD(peer, socket)
{
	.peer = &peer_socket,
};

FIXTURE_VARIANT_ADD(peer, sysv)
{
	.peer = &peer_sysv,
};

FIXTURE_SETUP(peer)
{
	self->peer = variant->peer;
}

FIXTURE_TEARDOWN(peer)
{
}

static void count_seats(struct __test_metadata *_metadata,
			const struct peer *peer, const char *name,
			uint32_t processes)
{
	const struct workload *load = workload_find(name);
	struct crew crew = {
		.peer = peer,
		.load = load,
		.processes = processes,
		.workers = processes * load->workers,
		.seed = 1,
		.work = work_counting,
		.nr_samples = load->levels,
	};

	crew_start(&crew);
	crew_stop(&crew);
	EXPECT_EQ(crew.samples[0], 0);
	EXPECT_EQ(crew_finished(&crew, 0, crew.workers), crew.workers * ROUNDS);
	crew_end(&crew);
}

TEST_F(peer, gives_out_no_more_seats_than_there_are)
{
	static const char *const names[] = {
		"saturated", "levels8", "wide", "mix",
	};
	uint32_t processes;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		for (processes = 1; processes <= self->peer->processes;
		     processes++)
			count_seats(_metadata, self->peer, names[i], processes);
}

TEST_F(peer, ends_a_wait_in_time_and_forgets_it)
{
	const struct workload *load = workload_find("saturated");
	const struct request request = workload_request(load, 1);
	struct peer_limits limits = {
		.load = load, .workers = 8, .max_wait_ns = 20000000,
	};
	void *handle = self->peer->open(&limits);
	uint32_t i;

	for (i = 0; i < load->seats; i++)
		EXPECT_EQ(self->peer->admit(handle, i, &request), PEER_EXECUTE);
	EXPECT_EQ(self->peer->admit(handle, i, &request), PEER_TIME_OUT);
	EXPECT_EQ(self->peer->admit(handle, i, &request), PEER_TIME_OUT);
	self->peer->finish(handle, 0, &request);
	EXPECT_EQ(self->peer->admit(handle, i, &request), PEER_EXECUTE);
	EXPECT_EQ(self->peer->admit(handle, 0, &request), PEER_TIME_OUT);
	for (i = 1; i <= load->seats; i++)
		self->peer->finish(handle, i, &request);
	for (i = 0; i < load->seats; i++)
		EXPECT_EQ(self->peer->admit(handle, i, &request), PEER_EXECUTE);
	self->peer->close(handle);
}

TEST_F(peer, returns_the_seats_of_the_killed_or_says_that_it_does_not)
{
	if (self->peer->processes == 1)
		SKIP(return, "one process alone can use it");
	EXPECT_EQ(loads_kill(self->peer), self->peer->returns_seats);
}

/* The share of the flows follows from turns, not from time: a busy machine is fine. */
TEST_F(peer, is_fair_or_says_that_it_is_not)
{
	const struct workload *load = workload_find("fairness");
	struct loads_fair fair = loads_fair(self->peer, load, 0.5);

	EXPECT_EQ(fair.jain > 0.8, self->peer->fair) {
		TH_LOG("Jain's index: %f", fair.jain);
	}
	EXPECT_GT(fair.light_p99_ms, 0);
}

TEST(limiter_queues_refuses_and_grants)
{
	const struct workload load = {
		.levels = 2, .seats = 1, .queues = 1, .hand = 1, .length = 1,
	};
	const struct request request = { .level = 1, .seats = 1 };
	struct limiter *limiter = bench_lines(limiter_size(&load, 3));
	uint32_t index;

	limiter_init(limiter, &load, 3);
	EXPECT_EQ(limiter_admit(limiter, 0, &request, 1), LIMITER_SEATED);
	EXPECT_EQ(limiter_admit(limiter, 1, &request, 2), LIMITER_QUEUED);
	EXPECT_EQ(limiter_admit(limiter, 2, &request, 3), LIMITER_REFUSED);
	EXPECT_FALSE(limiter_granted(limiter, &index));
	limiter_finish(limiter, 0, 4);
	EXPECT_TRUE(limiter_granted(limiter, &index));
	EXPECT_EQ(index, 1);
	EXPECT_EQ(limiter_admit(limiter, 0, &request, 5), LIMITER_QUEUED);
	limiter_cancel(limiter, 0, 6);
	limiter_finish(limiter, 1, 7);
	EXPECT_FALSE(limiter_granted(limiter, &index));
	free(limiter);
}

/* Whoever comes after one that died within the lock ends, with a word. */
TEST(shm_ends_when_its_memory_is_in_disorder)
{
	struct peer_limits limits = {
		.load = workload_find("saturated"), .workers = 1,
		.max_wait_ns = SECOND_NS,
	};
	struct request request = workload_request(limits.load, 1);
	void *handle = peer_shm.open(&limits);
	int status;
	pid_t pid;

	pid = bench_fork();
	if (!pid) {
		/* It lies in front. */
		pthread_mutex_lock(handle);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ASSERT_EQ(status, 0);
	pid = bench_fork();
	if (!pid) {
		peer_shm.admit(handle, 0, &request);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), 1);
	peer_shm.close(handle);
}

/**
 * struct bad_packet - what a client must not send
 * @ask: the packet
 * @size: of it
 * @before: an ADMIT, which is answered, comes first
 */
struct bad_packet {
	struct wire_ask ask[2];
	size_t size;
	bool before;
};

static const struct bad_packet bad_packets[] = {
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 1 } }, .size = 1 },
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 1 } },
	  .size = sizeof(struct wire_ask) - 1 },
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 1 } },
	  .size = sizeof(struct wire_ask) + 1 },
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 1 } },
	  .size = 2 * sizeof(struct wire_ask) },
	{ .ask = { { .opcode = 0 } }, .size = sizeof(struct wire_ask) },
	{ .ask = { { .opcode = 99 } }, .size = sizeof(struct wire_ask) },
	{ .ask = { { .opcode = WIRE_FINISH } }, .size = sizeof(struct wire_ask) },
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 0 } },
	  .size = sizeof(struct wire_ask) },
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 5 } },
	  .size = sizeof(struct wire_ask) },
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 1, .level = 1 } },
	  .size = sizeof(struct wire_ask) },
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 1, .level = ~0u } },
	  .size = sizeof(struct wire_ask) },
	{ .ask = { { .opcode = WIRE_ADMIT, .seats = 1 } },
	  .size = sizeof(struct wire_ask), .before = true },
};

TEST(daemon_hangs_up_on_who_breaks_the_rules)
{
	const struct wire_ask admit = { .opcode = WIRE_ADMIT, .seats = 4 };
	const struct workload *load = workload_find("saturated");
	struct peer_limits limits = {
		.load = load, .workers = 8, .max_wait_ns = SECOND_NS,
	};
	const struct request request = { .hash = 1, .seats = load->seats };
	void *handle = peer_socket.open(&limits);
	uint8_t verdict;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_packets); i++) {
		const struct bad_packet *bad = &bad_packets[i];
		int fd = socket_connect(handle);

		if (bad->before) {
			EXPECT_EQ(send(fd, &admit, sizeof(admit), 0),
				  sizeof(admit));
			EXPECT_EQ(recv(fd, &verdict, 1, 0), 1);
			EXPECT_EQ(verdict, PEER_EXECUTE);
		}
		EXPECT_EQ(send(fd, bad->ask, bad->size, 0), bad->size);
		EXPECT_EQ(recv(fd, &verdict, 1, 0), 0) {
			TH_LOG("bad packet %zu", i);
		}
		close(fd);
		/* It goes on for others, with all its seats. */
		EXPECT_EQ(peer_socket.admit(handle, 0, &request), PEER_EXECUTE);
		peer_socket.finish(handle, 0, &request);
	}
	peer_socket.close(handle);
}

TEST(daemon_has_no_more_clients_than_it_has_room_for)
{
	const struct workload *load = workload_find("saturated");
	struct peer_limits limits = {
		.load = load, .workers = 2, .max_wait_ns = SECOND_NS,
	};
	const struct request request = workload_request(load, 1);
	void *handle = peer_socket.open(&limits);
	int fds[2];
	uint8_t byte;

	EXPECT_EQ(peer_socket.admit(handle, 0, &request), PEER_EXECUTE);
	fds[0] = socket_connect(handle);
	fds[1] = socket_connect(handle);
	EXPECT_EQ(recv(fds[1], &byte, 1, 0), 0);
	close(fds[0]);
	close(fds[1]);
	peer_socket.finish(handle, 0, &request);
	EXPECT_EQ(peer_socket.admit(handle, 0, &request), PEER_EXECUTE);
	peer_socket.close(handle);
}

TEST_HARNESS_MAIN
