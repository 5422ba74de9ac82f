// SPDX-License-Identifier: GPL-2.0
/*
 * The scenarios by which Kubernetes judges its fair queuing, with their figures:
 * clients, level, how long it takes, and what each client should get
 * (pkg/util/flowcontrol/fairqueuing/queueset/queueset_test.go of
 * k8s.io/apiserver); how far from that it may be is mostly less than there.  Every
 * scenario has to serve every call, unless it is about refusals, and to leave the
 * level idle.
 *
 * Its scenario of an exempt level is not here: that has no queue set, and is the
 * module's.  Nor are its epochs: virtual time wraps.
 */
#include "kselftest_harness.h"

#include <math.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "level.h"
#include "scenario.h"

#define QUARTER	(91 * 86400 * S)

#define CLIENT(hash_, threads_, calls_, exec_, think_, seats_, ...)	\
	{ .hash = (hash_), .threads = (threads_), .calls = (calls_),	\
	  .exec = (exec_), .think = (think_), .seats = (seats_),	\
	  .final_seats = 1, __VA_ARGS__ }

/**
 * struct expectation - what the clients of a scenario should get
 * @unfair: none of them is near its fair share; else all are
 * @margin: how near that is, relative to it
 * @averages: rather than fair shares; 0: fair shares
 */
struct expectation {
	bool unfair;
	double margin;
	double averages[SCENARIO_MAX_CLIENTS];
};

static struct scenario_result result;

static void expect(struct __test_metadata *_metadata,
		   const struct scenario *scenario, u32 span,
		   const struct expectation *expected)
{
	u32 i;

	for (i = 0; i < scenario_nr_clients(scenario); i++) {
		double share = result.fair[span][i];
		double got = result.averages[span][i];

		if (expected->averages[i])
			share = expected->averages[i];
		EXPECT_EQ(expected->unfair,
			  fabs(got - share) > expected->margin * share) {
			TH_LOG("client %u got %.9f of %.9f seats in part %u",
			       i, got, share, span);
		}
	}
}

static void expect_every_call(struct __test_metadata *_metadata,
			      const struct scenario *scenario)
{
	u32 i;

	for (i = 0; i < scenario_nr_clients(scenario); i++) {
		const struct scenario_client *client = &scenario->clients[i];
		u32 wanted = client->threads * client->calls;

		if (client->split)
			wanted = wanted * 3 / 4;
		EXPECT_EQ(wanted, result.executed[i]);
		EXPECT_EQ(0, result.queue_full[i]);
		EXPECT_EQ(0, result.concurrency_limit[i]);
	}
}

static void expect_end(struct __test_metadata *_metadata)
{
	EXPECT_TRUE(result.idle);
	EXPECT_FALSE(result.demand_strayed);
}

static void run(struct __test_metadata *_metadata,
		const struct scenario *scenario,
		const struct expectation *expected)
{
	scenario_run(scenario, &result);
	expect(_metadata, scenario, 0, expected);
	expect_every_call(_metadata, scenario);
	expect_end(_metadata);
}

/* The scale itself: what is a fair share? */
TEST(fair_shares)
{
	static const struct {
		u32 nr;
		double capacity;
		double demands[4];
		double shares[4];
	} facts[] = {
		{ 2, 42, { 0, 0 }, { 0, 0 } },
		{ 2, 42, { 47, 0 }, { 42, 0 } },
		{ 2, 42, { 1, 47 }, { 1, 41 } },
		{ 4, 14, { 3, 7, 9, 1 }, { 3, 5, 5, 1 } },
		{ 4, 21, { 1, 9, 7, 3 }, { 1, 9, 7, 3 } },
	};
	double shares[4];
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(facts); i++) {
		scenario_fair_shares(facts[i].demands, facts[i].nr,
				     facts[i].capacity, shares);
		for (j = 0; j < facts[i].nr; j++)
			EXPECT_EQ(facts[i].shares[j], shares[j]);
	}
}

/*
 * The scale itself: a level with seats for everybody gives each what it wants,
 * which is fair where that many seats are to be shared, but not if there were
 * only two.
 */
static const struct scenario no_restraint = {
	.limit = 7, .ns = 18 * S,
	.clients = {
		CLIENT(1001001001, 5, 15, S, S, 1),
		CLIENT(2002002002, 2, 15, S, S / 2, 1),
	},
};

TEST(no_restraint_without_competition)
{
	struct scenario scenario = no_restraint;

	scenario.capacity = 10;
	run(_metadata, &scenario, &(struct expectation){ .margin = 0.001 });
}

TEST(no_restraint_with_competition)
{
	struct scenario scenario = no_restraint;

	scenario.capacity = 2;
	run(_metadata, &scenario,
	    &(struct expectation){ .unfair = true, .margin = 0.25 });
}

TEST(baseline)
{
	static const struct scenario scenario = {
		.queues = 9, .hand_size = 3, .queue_length_limit = 8,
		.limit = 1, .ns = 20 * S,
		.clients = { CLIENT(1001001001, 1, 21, S, 0, 1) },
	};

	run(_metadata, &scenario, &(struct expectation){ .margin = 0 });
}

/* One call after the other, of one or two clients: figures are exact. */
TEST(separations)
{
	static const struct {
		u64 think;
		u64 latency;
		u32 final_seats;
		u32 limit;
		u32 clients;
		double average;		/* 0: the fair share */
	} cases[] = {
		{ S, 0, 1, 1, 1, 0 }, { S, 0, 1, 2, 1, 0 },
		{ S, 0, 2, 2, 1, 0 }, { S, 0, 1, 1, 2, 0 },
		{ S, 0, 1, 2, 2, 0 }, { S, 0, 2, 2, 2, 0 },
		{ 0, S, 1, 1, 1, 1.0 / 2 }, { 0, S, 1, 2, 1, 0 },
		{ 0, S, 2, 2, 1, 1.0 / 2 }, { 0, S, 1, 1, 2, 1.0 / 4 },
		{ 0, S, 1, 2, 2, 1.0 / 2 }, { 0, S, 2, 2, 2, 1.0 / 4 },
		{ S, S / 2, 1, 1, 1, 0 }, { S, S / 2, 1, 2, 1, 0 },
		{ S, S / 2, 2, 2, 1, 0 }, { S, S / 2, 1, 1, 2, 1.0 / 3 },
		{ S, S / 2, 1, 2, 2, 0 }, { S, S / 2, 2, 2, 2, 1.0 / 3 },
		{ S / 2, S, 1, 1, 1, 1.0 / 2 }, { S / 2, S, 1, 2, 1, 0 },
		{ S / 2, S, 2, 2, 1, 1.0 / 2 }, { S / 2, S, 1, 1, 2, 1.0 / 4 },
		{ S / 2, S, 1, 2, 2, 1.0 / 2 }, { S / 2, S, 2, 2, 2, 1.0 / 4 },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct expectation expected = {
			.averages = { cases[i].average, cases[i].average },
		};
		/* A multiple of all periods */
		struct scenario scenario = {
			.queues = 9, .hand_size = 3, .queue_length_limit = 8,
			.limit = cases[i].limit, .ns = 24 * S,
		};

		for (j = 0; j < cases[i].clients; j++) {
			struct scenario_client client =
				CLIENT((j + 1) * 1001001001, 1, 25, S,
				       cases[i].think, 1);

			client.final_seats = cases[i].final_seats;
			client.latency = cases[i].latency;
			scenario.clients[j] = client;
		}
		run(_metadata, &scenario, &expected);
	}
}

TEST(uniform_flows_hand_size_1)
{
	static const struct scenario scenario = {
		.queues = 9, .hand_size = 1, .queue_length_limit = 8,
		.limit = 4, .ns = 50 * S,
		.clients = {
			CLIENT(1001001001, 8, 20, S, S - 1, 1),
			CLIENT(2002002002, 8, 20, S, S - 1, 1),
		},
	};

	run(_metadata, &scenario, &(struct expectation){ .margin = 0.001 });
}

TEST(uniform_flows_hand_size_3)
{
	static const struct scenario scenario = {
		.queues = 8, .hand_size = 3, .queue_length_limit = 16,
		.limit = 4, .ns = 60 * S,
		.clients = {
			CLIENT(400900100100, 8, 30, S, S - 1, 1),
			CLIENT(300900200200, 8, 30, S, S - 1, 1),
		},
	};

	run(_metadata, &scenario, &(struct expectation){ .margin = 0.01 });
}

TEST(different_flows_expect_equal)
{
	static const struct scenario scenario = {
		.queues = 9, .hand_size = 1, .queue_length_limit = 8,
		.limit = 4, .ns = 40 * S,
		.clients = {
			CLIENT(1001001001, 8, 20, S, S, 1),
			CLIENT(2002002002, 7, 30, S, S / 2, 1),
		},
	};

	run(_metadata, &scenario, &(struct expectation){ .margin = 0.001 });
}

TEST(different_flows_expect_unequal)
{
	static const struct scenario scenario = {
		.queues = 9, .hand_size = 1, .queue_length_limit = 6,
		.limit = 3, .ns = 20 * S,
		.clients = {
			CLIENT(1001001001, 4, 20, S, S - 1, 1),
			CLIENT(2002002002, 2, 20, S, S - 1, 1),
		},
	};

	run(_metadata, &scenario, &(struct expectation){ .margin = 0.001 });
}

/*
 * Ten years at 2000 seats are more work than virtual time can count: wherever
 * it starts, it wraps, and nothing must depend on where.
 */
TEST(seat_seconds_rollover)
{
	static const u64 half = 1ULL << 63;
	static const u64 starts[] = {
		0, -1ULL, -GUESS, -500 * QUARTER / 10, -half / 2,
		half - 1, half - GUESS, half - 500 * QUARTER / 10, half / 2,
	};
	struct scenario scenario = {
		.queues = 9, .hand_size = 1, .queue_length_limit = 8,
		.limit = 2000, .ns = 40 * QUARTER,
		.clients = {
			CLIENT(1001001001, 8, 20, QUARTER, QUARTER, 500),
			CLIENT(2002002002, 7, 30, QUARTER, QUARTER / 2, 500),
		},
	};
	u64 order = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		scenario.start_r = starts[i];
		run(_metadata, &scenario,
		    &(struct expectation){ .margin = 0.001 });
		if (!i)
			order = result.order;
		EXPECT_EQ(order, result.order);
		EXPECT_GE(result.wraps, 1);
	}
}

TEST(different_widths)
{
	static const struct scenario scenario = {
		.queues = 64, .hand_size = 7, .queue_length_limit = 13,
		.limit = 6, .ns = 20 * S,
		.clients = {
			CLIENT(10010010010010, 13, 10, S, S - 1, 1),
			CLIENT(20020020020020, 7, 10, S, S - 1, 2),
		},
	};

	run(_metadata, &scenario, &(struct expectation){ .margin = 0.09 });
}

TEST(too_wide)
{
	static const struct scenario scenario = {
		.queues = 64, .hand_size = 7, .queue_length_limit = 35,
		.limit = 6, .ns = 400 * S,
		.clients = {
			CLIENT(40040040040040, 15, 21, S, S - 1, 2),
			CLIENT(50050050050050, 15, 21, S, S - 1, 2),
			CLIENT(60060060060060, 15, 21, S, S - 1, 2),
			CLIENT(70070070070070, 15, 21, S, S - 1, 2),
			CLIENT(90090090090090, 15, 21, S, S - 1, 7),
		},
	};

	run(_metadata, &scenario, &(struct expectation){ .margin = 0.3 });
}

/*
 * In the first half the second client cannot use its share, and its queue falls
 * behind.  What it may catch up with in the second half is bounded, but not
 * nothing.
 */
TEST(windup)
{
	static const struct scenario scenario = {
		.queues = 9, .hand_size = 1, .queue_length_limit = 6,
		.limit = 3, .ns = 40 * S,
		.clients = {
			CLIENT(1001001001, 2, 40, S, -1, 1),
			CLIENT(2002002002, 2, 40, S, -1, 1, .split = true),
		},
	};

	run(_metadata, &scenario, &(struct expectation){ .margin = 0.001 });
	expect(_metadata, &scenario, 1,
	       &(struct expectation){ .margin = 0.17 });
	expect(_metadata, &scenario, 1,
	       &(struct expectation){ .unfair = true, .margin = 0.16 });
}

/* Without queues it is luck who gets a seat, and who is refused gives up. */
TEST(different_flows_without_queuing)
{
	static const struct scenario scenario = {
		.limit = 4, .ns = 13 * S,
		.clients = {
			CLIENT(1001001001, 6, 10, S, 57 * MS, 1),
			CLIENT(2002002002, 4, 15, S, 750 * MS, 1),
		},
	};
	u32 i, refused = 0;

	scenario_run(&scenario, &result);
	expect(_metadata, &scenario, 0,
	       &(struct expectation){ .unfair = true, .margin = 0.2 });
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, result.queue_full[i]);
		refused += result.concurrency_limit[i];
	}
	EXPECT_GE(refused, 1);
	expect_end(_metadata);
}

static struct level level;

/*
 * A call waits behind another and is cancelled a second later, by which it
 * leaves its queue at once and is never served.
 */
TEST(context_cancel)
{
	struct kapf_request one = SEATS(1), two = SEATS(1);

	level_start(&level, 11, 1, 11, 1);
	EXPECT_EQ(KAPF_ADMISSION_SEATED, level_arrive(&level, &one, 1, 0));
	EXPECT_EQ(KAPF_ADMISSION_QUEUED, level_arrive(&level, &two, 2, 0));
	EXPECT_EQ(1, level.queues[2].nr_waiting);
	level_cancel(&level, &two, 1 * S);
	EXPECT_EQ(0, level.queues[2].nr_waiting);
	EXPECT_FALSE(kapf_queueset_idle(&level.qs));
	level_finish(&level, &one, 1 * S);
	EXPECT_TRUE(kapf_queueset_idle(&level.qs));
	EXPECT_EQ(0, level.nr_dispatched);
}

/*
 * Unlike in Kubernetes, what the cancelled call kept from seats that were free
 * gets them at once, and not with the next event.
 */
TEST(context_cancel_dispatches)
{
	struct kapf_request one = SEATS(1), wide = SEATS(2), two = SEATS(1);

	level_start(&level, 11, 1, 11, 2);
	EXPECT_EQ(KAPF_ADMISSION_SEATED, level_arrive(&level, &one, 1, 0));
	EXPECT_EQ(KAPF_ADMISSION_QUEUED, level_arrive(&level, &wide, 2, 0));
	EXPECT_EQ(KAPF_ADMISSION_QUEUED, level_arrive(&level, &two, 2, 0));
	EXPECT_EQ(0, level.nr_dispatched);
	level_cancel(&level, &wide, 1 * S);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(&two, level.dispatched[0]);
	EXPECT_EQ(1 * S, two.start);
}

TEST_HARNESS_MAIN
