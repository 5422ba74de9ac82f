// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads of the benchmark; workload.h says what they are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "workload.h"

/* As many as Kubernetes gives to its own levels, such as workload-low. */
#define QUEUING .queues = 128, .hand = 6, .length = 50

const struct workload workloads[] = {
	{
		.name = "uncontended",
		.levels = 1,
		.seats = 8,
		.flows = 1,
		.workers = 1,
		QUEUING,
	}, {
		.name = "saturated",
		.levels = 1,
		.seats = 4,
		.flows = 64,
		.workers = 12,
		QUEUING,
	}, {
		.name = "levels8",
		.levels = 8,
		.seats = 2,
		.flows = 64,
		.workers = 24,
		QUEUING,
	}, {
		.name = "wide",
		.levels = 1,
		.seats = 10,
		.flows = 64,
		.workers = 24,
		.wide = 16,
		.wide_seats = 8,
		QUEUING,
	}, {
		.name = "mix",
		.levels = 1,
		.seats = 4,
		.flows = 64,
		.workers = 12,
		.exempt = 128,
		QUEUING,
	}, {
		.name = "poisson",
		.kind = WORKLOAD_OPEN,
		.levels = 1,
		.seats = 4,
		.flows = 64,
		.workers = 64,
		.rate = 800,
		.hold_us = 2000,
		QUEUING,
	}, {
		.name = "onoff",
		.kind = WORKLOAD_OPEN,
		.levels = 1,
		.seats = 4,
		.flows = 64,
		.workers = 64,
		.rate = 800,
		.on_ms = 50,
		.off_ms = 50,
		.hold_us = 2000,
		QUEUING,
	}, {
		.name = "fairness",
		.kind = WORKLOAD_FAIR,
		.levels = 1,
		.seats = 4,
		.flows = 4,
		.workers = 48,
		.rate = 50,
		.hold_us = 2000,
		.fair_workers = 12,
		QUEUING,
	},
	{ }
};

/**
 * workload_find() - the workload of a name
 * @name: as typed
 *
 * Return: it, or NULL.
 */
const struct workload *workload_find(const char *name)
{
	const struct workload *load;

	for (load = workloads; load->name; load++)
		if (!strcmp(load->name, name))
			return load;
	return NULL;
}

/**
 * workload_request() - a request of a flow, of 1 seat
 * @load: the workload
 * @flow: one of its flows
 */
struct request workload_request(const struct workload *load, uint32_t flow)
{
	return (struct request){
		.hash = random_mix(flow % load->flows + 1), .seats = 1,
	};
}

/**
 * workload_draw() - the next request of a closed loop
 * @load: the workload
 * @random: the worker's
 */
struct request workload_draw(const struct workload *load, uint64_t *random)
{
	uint64_t r = random_next(random);
	struct request request = workload_request(load, r >> 32);

	request.level = (r & 0xff) % load->levels;
	if ((r >> 8 & 0xff) < load->wide)
		request.seats = load->wide_seats;
	request.exempt = (r >> 16 & 0xff) < load->exempt;
	return request;
}

/* A flow, of Zipf's distribution. */
static uint32_t draw_flow(const struct workload *load, uint64_t *random)
{
	double sum = 0, total = 0, fraction = random_fraction(random);
	uint32_t flow;

	for (flow = 0; flow < load->flows; flow++)
		total += 1.0 / (flow + 1);
	for (flow = 0; flow < load->flows - 1; flow++) {
		sum += 1.0 / (flow + 1);
		if (sum >= fraction * total)
			break;
	}
	return flow;
}

/**
 * workload_arrivals() - when the requests of an open loop come
 * @load: the workload
 * @seed: the same gives the same
 * @seconds: for which they come
 * @arrivals: out: in their order
 * @room: for so many
 *
 * Return: how many.
 */
uint32_t workload_arrivals(const struct workload *load, uint64_t seed,
			   double seconds, struct arrival *arrivals,
			   uint32_t room)
{
	uint64_t random = random_start(seed, ~0ULL);
	double period = (load->on_ms + load->off_ms) / 1e3;
	double on = load->on_ms / 1e3;
	double rate = load->rate;
	double clock = 0;
	uint32_t nr = 0;

	if (load->on_ms)
		rate *= period / on;
	while (nr < room) {
		double when;

		clock += -log(random_fraction(&random)) / rate;
		when = clock;
		if (load->on_ms)
			when += floor(clock / on) * (period - on);
		if (when >= seconds)
			break;
		arrivals[nr++] = (struct arrival){
			.ns = when * 1e9, .flow = draw_flow(load, &random),
		};
	}
	return nr;
}

/**
 * workload_arguments() - a workload, for another program
 * @load: the workload
 * @seconds: to run it, beside the start
 * @seed: for it
 * @arguments: out: as workload.h has them, then NULL; the caller frees each
 */
void workload_arguments(const struct workload *load, double seconds,
			uint64_t seed,
			char *arguments[WORKLOAD_ARGUMENTS + 1])
{
	static const char *const kinds[] = { "closed", "open", "fair" };
	const struct {
		const char *option;
		uint32_t value;
	} options[] = {
		{ "--levels", load->levels },
		{ "--seats", load->seats },
		{ "--queues", load->queues },
		{ "--hand", load->hand },
		{ "--length", load->length },
		{ "--flows", load->flows },
		{ "--workers", load->workers },
		{ "--wide", load->wide },
		{ "--wide-seats", load->wide_seats },
		{ "--exempt", load->exempt },
		{ "--rate", load->rate },
		{ "--on-ms", load->on_ms },
		{ "--off-ms", load->off_ms },
		{ "--hold-us", load->hold_us },
		{ "--fair-workers", load->fair_workers },
	};
	const size_t nr = sizeof(options) / sizeof(*options);
	size_t i;
	int err;

	err = asprintf(arguments++, "--kind=%s", kinds[load->kind]);
	for (i = 0; i < nr && err > 0; i++)
		err = asprintf(arguments++, "%s=%u", options[i].option,
			       options[i].value);
	if (err > 0)
		err = asprintf(arguments++, "--seconds=%g", seconds);
	if (err > 0)
		err = asprintf(arguments++, "--seed=%llu",
			       (unsigned long long)seed);
	if (err < 0)
		bench_fail("no memory");
	*arguments = NULL;
}
