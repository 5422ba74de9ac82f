// SPDX-License-Identifier: GPL-2.0
/*
 * Workloads, run with one peer.  workload.h says what they are.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "loads.h"

#define PATIENCE_NS (10 * SECOND_NS)

static void work_closed(struct crew *crew, uint32_t worker)
{
	uint64_t random = random_start(crew->seed, worker);
	struct request requests[WORKLOAD_DRAWN];
	uint32_t i;

	for (i = 0; i < WORKLOAD_DRAWN; i++)
		requests[i] = workload_draw(crew->load, &random);
	crew_first(crew, worker, &requests[0]);
	for (i = 1; !crew_stopped(crew); i++) {
		const struct request *request = &requests[i % WORKLOAD_DRAWN];

		crew_admit(crew, worker, request);
		crew_finish(crew, worker, request);
	}
}

/**
 * loads_closed() - run a closed loop
 * @peer: that is used
 * @load: the workload
 * @processes: that use it
 * @seconds: for how long
 * @seed: of the requests
 *
 * Return: ns by request.
 */
double loads_closed(const struct peer *peer, const struct workload *load,
		    uint32_t processes, double seconds, uint64_t seed)
{
	struct crew crew = {
		.peer = peer,
		.load = load,
		.processes = processes,
		.workers = processes * load->workers,
		.seed = seed,
		.work = work_closed,
	};
	uint64_t begin, first, count, end;

	crew_start(&crew);
	begin = bench_now();
	first = crew_finished(&crew, 0, crew.workers);
	/* A busy machine may have no time for any of them just then. */
	do {
		crew_sleep(seconds * SECOND_NS);
		end = bench_now();
		count = crew_finished(&crew, 0, crew.workers) - first;
	} while (!count && end - begin < PATIENCE_NS);
	crew_stop(&crew);
	crew_end(&crew);
	if (!count)
		bench_wrong("no request was finished");
	return (double)(end - begin) / count;
}

static void work_open(struct crew *crew, uint32_t worker)
{
	crew_wait_for_start(crew);
	for (;;) {
		struct crew_shared *shared = crew->shared;
		uint32_t i = __atomic_fetch_add(&shared->next, 1,
						__ATOMIC_RELAXED);
		struct request request;
		uint64_t due;

		if (i >= crew->nr_samples)
			break;
		due = shared->start_ns + crew->arrivals[i].ns;
		request = workload_request(crew->load, crew->arrivals[i].flow);
		crew_sleep_until(due);
		crew_admit(crew, worker, &request);
		crew_sleep(crew->load->hold_us * 1000ULL);
		crew_finish(crew, worker, &request);
		crew->samples[i] = bench_now() - due;
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The least of sorted samples that so many percent of them do not exceed. */
static double percentile_ms(const uint64_t *samples, uint32_t nr,
			    uint32_t percent)
{
	uint64_t rank = ((uint64_t)nr * percent + 99) / 100;

	return samples[rank ? rank - 1 : 0] / 1e6;
}

/**
 * loads_open() - run an open loop
 * @peer: that is used, by as many processes as can
 * @load: the workload
 * @seconds: for which requests come
 * @seed: of the requests
 */
struct loads_open loads_open(const struct peer *peer,
			     const struct workload *load, double seconds,
			     uint64_t seed)
{
	uint32_t room = 2 * load->rate * seconds + 1000;
	struct arrival *arrivals = calloc(room, sizeof(*arrivals));
	struct crew crew = {
		.peer = peer,
		.load = load,
		.processes = peer->processes,
		.workers = load->workers,
		.work = work_open,
		.arrivals = arrivals,
	};
	struct loads_open open;

	if (!arrivals)
		bench_fail("no memory for arrivals");
	crew.nr_samples = workload_arrivals(load, seed, seconds, arrivals,
					    room);
	if (!crew.nr_samples || crew.nr_samples == room)
		bench_wrong("too few requests, or too many");
	crew_start(&crew);
	crew_stop(&crew);
	qsort(crew.samples, crew.nr_samples, sizeof(*crew.samples), compare);
	open.p50_ms = percentile_ms(crew.samples, crew.nr_samples, 50);
	open.p99_ms = percentile_ms(crew.samples, crew.nr_samples, 99);
	crew_end(&crew);
	free(arrivals);
	return open;
}

/* The light flow, in one worker, the last. */
static void work_light(struct crew *crew, uint32_t worker)
{
	struct request request = workload_request(crew->load,
						  crew->load->flows - 1);
	uint32_t i;

	crew_wait_for_start(crew);
	for (i = 0; i < crew->nr_samples && !crew_stopped(crew); i++) {
		uint64_t due = crew->shared->start_ns +
			       i * SECOND_NS / crew->load->rate;

		crew_sleep_until(due);
		crew_admit(crew, worker, &request);
		crew->samples[i] = bench_now() - due;
		crew_sleep(crew->load->hold_us * 1000ULL);
		crew_finish(crew, worker, &request);
	}
}

static void work_fair(struct crew *crew, uint32_t worker)
{
	const struct workload *load = crew->load;
	struct request request;
	uint32_t flow = 0;

	if (worker == crew->workers - 1) {
		work_light(crew, worker);
		return;
	}
	if (worker >= load->workers)
		flow = 1 + (worker - load->workers) / load->fair_workers;
	request = workload_request(load, flow);
	crew_first(crew, worker, &request);
	while (!crew_stopped(crew)) {
		crew_admit(crew, worker, &request);
		crew_sleep(load->hold_us * 1000ULL);
		crew_finish(crew, worker, &request);
	}
}

/* Of what the flows have had, by what they are entitled to. */
static double jain(const struct crew *crew)
{
	const struct workload *load = crew->load;
	double all = crew_finished(crew, 0, crew->workers);
	double light = fmin(load->rate * crew->seconds, all / load->flows);
	double sum = 0, squares = 0;
	uint32_t flow, worker = 0;

	if (!all)
		bench_wrong("no request was finished");
	for (flow = 0; flow < load->flows; flow++) {
		double entitled = (all - light) / (load->flows - 1);
		uint32_t nr = load->fair_workers;
		double part;

		if (!flow)
			nr = load->workers;
		if (flow == load->flows - 1) {
			nr = 1;
			entitled = light;
		}
		part = crew_finished(crew, worker, nr) / entitled;
		worker += nr;
		sum += part;
		squares += part * part;
	}
	return sum * sum / (load->flows * squares);
}

/* A request that has not had its seat yet has waited at least to the end. */
static void complete_samples(struct crew *crew, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < crew->nr_samples; i++)
		if (!crew->samples[i])
			crew->samples[i] = end - crew->shared->start_ns -
					   i * SECOND_NS / crew->load->rate;
}

/**
 * loads_fair() - measure fairness
 * @peer: that is used, by as many processes as can
 * @load: the workload
 * @seconds: for how long
 */
struct loads_fair loads_fair(const struct peer *peer,
			     const struct workload *load, double seconds)
{
	struct crew crew = {
		.peer = peer,
		.load = load,
		.processes = peer->processes,
		.workers = load->workers +
			   (load->flows - 2) * load->fair_workers + 1,
		.seconds = seconds,
		.work = work_fair,
		.nr_samples = load->rate * seconds,
	};
	struct loads_fair fair;
	uint64_t end;

	if (!crew.nr_samples)
		bench_wrong("too short for the light flow");
	crew_start(&crew);
	end = crew.shared->start_ns;
	/* As above. */
	do {
		end += seconds * SECOND_NS;
		crew_sleep_until(end);
	} while (!crew_finished(&crew, 0, crew.workers) &&
		 end - crew.shared->start_ns < PATIENCE_NS);
	crew.seconds = (double)(end - crew.shared->start_ns) / SECOND_NS;
	fair.jain = jain(&crew);
	crew_stop(&crew);
	complete_samples(&crew, end);
	qsort(crew.samples, crew.nr_samples, sizeof(*crew.samples), compare);
	fair.light_p99_ms = percentile_ms(crew.samples, crew.nr_samples, 99);
	crew_end(&crew);
	return fair;
}

/* In a process of its own: take all seats of the level.  Return: got them. */
static bool take_seats(const struct peer *peer, void *handle, uint32_t first,
		       uint32_t seats)
{
	const struct request request = { .hash = 1, .seats = 1 };
	uint32_t i;

	if (peer->attach)
		peer->attach(handle);
	for (i = first; i < first + seats; i++)
		if (peer->admit(handle, i, &request) != PEER_EXECUTE)
			return false;
	return true;
}

/**
 * loads_kill() - kill a process that has all seats
 * @peer: that several processes can use
 *
 * Return: whether another process can have them within a second.
 */
bool loads_kill(const struct peer *peer)
{
	const struct workload *load = workload_find("saturated");
	struct peer_limits limits = {
		.load = load,
		.workers = 2 * load->seats,
		.max_wait_ns = SECOND_NS,
	};
	void *handle = peer->open(&limits);
	int status, ready[2];
	pid_t pid;
	char got;

	if (pipe(ready))
		bench_fail("pipe");
	pid = bench_fork();
	if (!pid) {
		got = take_seats(peer, handle, 0, load->seats);
		if (write(ready[1], &got, 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &got, 1) != 1 || !got)
		bench_wrong("the one to be killed has not got the seats");
	close(ready[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pid = bench_fork();
	if (!pid)
		_exit(!take_seats(peer, handle, load->seats, load->seats));
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		bench_wrong("the one after the killed one");
	peer->close(handle);
	return !status;
}
