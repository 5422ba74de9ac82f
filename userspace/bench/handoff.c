// SPDX-License-Identifier: GPL-2.0
/*
 * How long it takes from one process that gives a seat back to another one that has
 * waited for it.
 *
 * Two processes on one processor take turns.  The time is from before the call that
 * passes the turn on to after the one in which the other has waited, so that, next
 * to both and the switch, it has the call in which the first begins to wait.  With
 * SCHED_BATCH the one that is woken does not run before the other one waits.  The
 * end of a time slice breaks that: then somebody has turns one after the other until
 * his slice ends, too.  Only turns that are passed on to one who waits are counted.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "handoff.h"
#include "peers/peer.h"

/* Not measured: until both run, and caches are warm. */
#define WARM_UP 200

/*
 * Of the level, all but one held by others: were it the only one, the level would go
 * from idle to full and back each time, through all buckets of its histograms.
 */
#define SEATS 600

/* Turns, waited for or not, after which there is something wrong. */
#define TURNS_MAX (100 * HANDOFF_ROUNDS)

/**
 * struct handoff - what the two share
 * @words: futexes, one each: it is your turn
 * @asks: they wait, or are about to
 * @since: when the last turn was passed on
 * @counts: there was one who asked for it
 * @turns: had so far
 * @done: of those, how many counted
 * @ns: samples
 */
struct handoff {
	uint32_t words[2];
	uint32_t asks[2];
	uint64_t since;
	uint32_t counts;
	uint32_t turns;
	uint32_t done;
	uint64_t ns[HANDOFF_ROUNDS];
};

static void settle(void)
{
	const struct sched_param param = {};

	bench_pin(0);
	if (sched_setscheduler(0, SCHED_BATCH, &param))
		bench_fail("SCHED_BATCH");
}

/* The turn is mine, and is about to be passed on.  Return: whether to go on. */
static bool take_turn(struct handoff *handoff, uint32_t me)
{
	uint64_t ns = bench_now() - handoff->since;

	if (++handoff->turns > TURNS_MAX)
		bench_wrong("the two do not take turns");
	if (handoff->counts && handoff->done < WARM_UP + HANDOFF_ROUNDS) {
		if (handoff->done >= WARM_UP)
			handoff->ns[handoff->done - WARM_UP] = ns;
		handoff->done++;
	}
	handoff->asks[me] = 0;
	handoff->counts = handoff->asks[!me];
	handoff->since = bench_now();
	return handoff->done < WARM_UP + HANDOFF_ROUNDS;
}

static void take_turns_kapf(struct handoff *handoff, uint32_t me, void *handle)
{
	const struct request request = { .hash = me, .seats = 1 };
	bool more = true;

	peer_kapf.attach(handle);
	while (more) {
		handoff->asks[me] = 1;
		if (peer_kapf.admit(handle, me, &request) != PEER_EXECUTE)
			bench_wrong("a request was refused");
		more = take_turn(handoff, me);
		peer_kapf.finish(handle, me, &request);
	}
}

static void take_turns_futex(struct handoff *handoff, uint32_t me, void *handle)
{
	bool more = true;

	(void)handle;
	while (more) {
		uint32_t *mine = &handoff->words[me];
		uint32_t *other = &handoff->words[!me];

		handoff->asks[me] = 1;
		while (!__atomic_load_n(mine, __ATOMIC_ACQUIRE))
			syscall(SYS_futex, mine, FUTEX_WAIT, 0, NULL, NULL, 0);
		__atomic_store_n(mine, 0, __ATOMIC_RELAXED);
		more = take_turn(handoff, me);
		__atomic_store_n(other, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, other, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void run(void (*take_turns)(struct handoff *handoff, uint32_t me,
				   void *handle),
		void *handle, uint64_t ns[HANDOFF_ROUNDS])
{
	struct handoff *handoff = mmap(NULL, sizeof(*handoff),
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[2];
	int i, status;

	if (handoff == MAP_FAILED)
		bench_fail("no memory");
	handoff->words[0] = 1;
	for (i = 0; i < 2; i++) {
		pids[i] = bench_fork();
		if (!pids[i]) {
			settle();
			take_turns(handoff, i, handle);
			_exit(0);
		}
	}
	for (i = 0; i < 2; i++)
		if (waitpid(pids[i], &status, 0) < 0 || status)
			bench_wrong("a process has not ended well");
	for (i = 0; i < HANDOFF_ROUNDS; i++)
		ns[i] = handoff->ns[i];
	munmap(handoff, sizeof(*handoff));
}

/**
 * handoff_kapf() - measure that of kapf, from FINISH to ADMIT
 * @ns: out: samples
 */
void handoff_kapf(uint64_t ns[HANDOFF_ROUNDS])
{
	struct workload load = *workload_find("saturated");
	struct peer_limits limits = {
		.load = &load, .workers = 2, .max_wait_ns = 10 * SECOND_NS,
	};
	struct bench others;
	void *handle;

	load.seats = SEATS;
	handle = peer_kapf.open(&limits);
	bench_attach(&others, SEATS - 1);
	bench_hold(&others, 0, SEATS - 1);
	run(take_turns_kapf, handle, ns);
	bench_close(&others);
	peer_kapf.close(handle);
}

/**
 * handoff_futex() - measure that of a futex, from a wake to the end of a wait
 * @ns: out: samples
 */
void handoff_futex(uint64_t ns[HANDOFF_ROUNDS])
{
	run(take_turns_futex, NULL, ns);
}
