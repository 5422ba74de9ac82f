/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scenarios: clients whose threads think, ask a priority level for seats, are
 * served, and think again, on a clock of their own.  scenario.c runs them.
 */
#ifndef ENGINE_SCENARIO_H
#define ENGINE_SCENARIO_H

#include <linux/types.h>

#define SCENARIO_MAX_CLIENTS	5
#define SCENARIO_MAX_SPANS	2

/**
 * struct scenario_client - a client, all of whose threads are alike
 * @hash: of its flow
 * @threads: how many
 * @calls: that each makes, one after the other; a thread gives up with its first
 *	call that is refused
 * @exec: ns for which a call is served
 * @think: ns from the end of a call to the next one, which comes before that end
 *	when this is negative
 * @latency: ns for which the seats of a call linger
 * @seats: of a call while it is served
 * @final_seats: while they linger
 * @split: half of the threads sleep through the first half of the scenario, and
 *	make half as many calls
 */
struct scenario_client {
	u64 hash;
	u32 threads;
	u32 calls;
	u64 exec;
	s64 think;
	u64 latency;
	u32 seats;
	u32 final_seats;
	bool split;
};

/**
 * struct scenario - clients and the level that they ask
 * @queues: as kapf_queueset_init(), likewise the following
 * @capacity: seats that clients should share fairly; 0: @limit
 * @start_r: where the virtual time of the level starts
 * @ns: for how long what clients get is measured; after that they are let finish
 * @clients: ends with one without threads, or is full
 */
struct scenario {
	u32 queues;
	u32 hand_size;
	u32 queue_length_limit;
	u32 limit;
	u32 capacity;
	u64 start_r;
	u64 ns;
	struct scenario_client clients[SCENARIO_MAX_CLIENTS];
};

/**
 * struct scenario_result - what clients got
 * @averages: seats that served each client, on average over the scenario, or
 *	over its halves when a client is split
 * @fair: what each would have got if the seats had been shared max-min fairly by
 *	what clients could use
 * @executed: calls that were served
 * @queue_full: calls refused because of that
 * @concurrency_limit: likewise
 * @demand_strayed: at some time the level's seats in use and waiting were not
 *	those of the calls under way
 * @wraps: how often the virtual time came to its end and began anew
 * @idle: so is the level in the end
 * @order: a number that tells one order of dispatch from another
 */
struct scenario_result {
	double averages[SCENARIO_MAX_SPANS][SCENARIO_MAX_CLIENTS];
	double fair[SCENARIO_MAX_SPANS][SCENARIO_MAX_CLIENTS];
	u32 executed[SCENARIO_MAX_CLIENTS];
	u32 queue_full[SCENARIO_MAX_CLIENTS];
	u32 concurrency_limit[SCENARIO_MAX_CLIENTS];
	bool demand_strayed;
	u32 wraps;
	bool idle;
	u64 order;
};

u32 scenario_nr_clients(const struct scenario *scenario);
void scenario_fair_shares(const double *demands, u32 nr, double capacity,
			  double *shares);
void scenario_run(const struct scenario *scenario,
		  struct scenario_result *result);

#endif /* ENGINE_SCENARIO_H */
