/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the peers are given to do: the same to all of them, request by request.
 *
 * There are @levels priority levels, all alike: @seats, @queues, @hand and @length
 * (queueLengthLimit); no borrowing.  A flow is a number from 0; its hash, from
 * which the hand is dealt, is random_mix(flow + 1).  All randomness is of random.h,
 * so that the same seed gives the same requests in any language: worker W draws
 * from random_start(seed, W), an open loop's arrivals from random_start(seed, ~0).
 * Additional latency is 0; nothing is refused and nothing times out, or the run is
 * void.
 *
 * CLOSED: each process has @workers workers (threads, goroutines; counted through
 * all processes).  Each of them draws 256 requests, and then makes one after the
 * other, over and over again: it asks for its seats, waits for them, and finishes it
 * at once.  One draw r makes a request:
 *	level	(r & 0xff) % levels
 *	wide	(r >> 8 & 0xff) < wide: @wide_seats seats, otherwise 1
 *	exempt	(r >> 16 & 0xff) < exempt: of the exempt level, which never waits
 *	flow	(r >> 32) % flows
 * All workers begin at once; those that get seats keep them for 20 ms, until every
 * worker has asked: from then on, where there are more workers than seats, a seat
 * that is given back goes to one who waits.  Then requests are counted for so many
 * seconds.  The result is the time, in ns, by finished request.
 *
 * OPEN: requests of 1 seat arrive at their times, whatever became of those before;
 * each is served by one of @workers, who wait for arrivals, and holds its seat for
 * @hold_us, asleep.  The time between arrivals is -log(fraction) / rate, where
 * fraction is random_fraction().  Where @on_ms is set, they arrive only during the
 * first on_ms of each on_ms + off_ms, at a rate that is by so much higher: the
 * clock of the arrivals stands still otherwise.  After its time, each draws its
 * flow: Zipf's distribution over @flows, that is flow k with probability
 * proportional to 1 / (k + 1): the first k of which the cumulative probability is
 * at least random_fraction().  The results are the median and the 99th percentile
 * of the time from when a request should have arrived to its finish.
 *
 * FAIR: flow 0 has @workers, each of the flows 1 to @flows - 2 has @fair_workers:
 * in closed loops, with 1 seat for @hold_us.  The last flow is light: a request each
 * 1 / @rate s from one worker, who is never ahead of that.  It is entitled to all
 * that it asks for, rate * seconds, but to no more than an equal part of all requests
 * that were finished in these seconds, which begin as above; each of the others to
 * an equal part of the rest.  The results are Jain's index, (sum of x)^2 /
 * (n * sum of x^2), over all flows, where x is requests finished / entitled; and the
 * 99th percentile of the light flow's time from when a request should have arrived
 * to when it had its seat, or, where it has not had it by then, to the end.
 *
 * A peer that is a program of its own gets all this as arguments, each of them, in
 * this form and any order:
 *	--kind=closed|open|fair --levels=N --seats=N --queues=N --hand=N --length=N
 *	--flows=N --workers=N --wide=N --wide-seats=N --exempt=N --rate=N
 *	--on-ms=N --off-ms=N --hold-us=N --fair-workers=N --seconds=X --seed=N
 * It runs the workload once, in one process, and prints on stdout, and nothing else
 * there:
 *	CLOSED	ns VALUE
 *	OPEN	p50_ms VALUE
 *		p99_ms VALUE
 *	FAIR	jain VALUE
 *		light_p99_ms VALUE
 * It exits with 0, or, having said why on stderr, with 1.
 */
#ifndef KAPF_BENCH_WORKLOAD_H
#define KAPF_BENCH_WORKLOAD_H

#include <stdint.h>

#include "random.h"

/* Requests that a worker of a closed loop draws; a power of 2. */
#define WORKLOAD_DRAWN 256

/* For as long as that the first requests keep their seats. */
#define WORKLOAD_START_NS 20000000

#define WORKLOAD_ARGUMENTS 18 /* and a NULL */

enum workload_kind {
	WORKLOAD_CLOSED,
	WORKLOAD_OPEN,
	WORKLOAD_FAIR,
};

/**
 * struct workload - see above
 * @name: as typed
 * @kind: how requests come
 * @levels: limited ones
 * @seats: of each level
 * @queues: likewise
 * @hand: queues that a flow may use
 * @length: of a queue
 * @flows: how many
 * @workers: CLOSED: of a process; OPEN: of all; FAIR: of the heavy flow
 * @wide: of 256 requests, how many are wide
 * @wide_seats: of such a one
 * @exempt: of 256 requests, how many are exempt
 * @rate: OPEN: arrivals in a second, in the mean; FAIR: the light flow's
 * @on_ms: OPEN: see above; 0: Poisson arrivals
 * @off_ms: likewise
 * @hold_us: time for which a request has its seat, beside what its calls take
 * @fair_workers: FAIR: of a flow that is neither heavy nor light
 */
struct workload {
	const char *name;
	enum workload_kind kind;
	uint32_t levels;
	uint32_t seats;
	uint32_t queues;
	uint32_t hand;
	uint32_t length;
	uint32_t flows;
	uint32_t workers;
	uint32_t wide;
	uint32_t wide_seats;
	uint32_t exempt;
	uint32_t rate;
	uint32_t on_ms;
	uint32_t off_ms;
	uint32_t hold_us;
	uint32_t fair_workers;
};

/**
 * struct request - one of them
 * @hash: of its flow
 * @level: from 0
 * @seats: that it needs
 * @exempt: of the exempt level: @level and @seats are none of its
 */
struct request {
	uint64_t hash;
	uint32_t level;
	uint16_t seats;
	uint16_t exempt;
};

/**
 * struct arrival - one request of an open loop
 * @ns: when, from the start
 * @flow: of the request
 */
struct arrival {
	uint64_t ns;
	uint32_t flow;
};

extern const struct workload workloads[];

const struct workload *workload_find(const char *name);
struct request workload_request(const struct workload *load, uint32_t flow);
struct request workload_draw(const struct workload *load, uint64_t *random);
uint32_t workload_arrivals(const struct workload *load, uint64_t seed,
			   double seconds, struct arrival *arrivals,
			   uint32_t room);
void workload_arguments(const struct workload *load, double seconds,
			uint64_t seed,
			char *arguments[WORKLOAD_ARGUMENTS + 1]);

#endif /* KAPF_BENCH_WORKLOAD_H */
