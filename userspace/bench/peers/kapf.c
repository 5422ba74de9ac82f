// SPDX-License-Identifier: GPL-2.0
/*
 * kapf itself: each process has a session, each of its workers a slot of that, and
 * waits in the kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "../bench.h"
#include "peer.h"

/**
 * struct device - the instance, and what this process has with it
 * @bench: the session
 * @limits: as opened
 * @schemas: of the levels, by their ids
 */
struct device {
	struct bench bench;
	struct peer_limits limits;
	uint32_t schemas[];
};

static void *device_open(const struct peer_limits *limits)
{
	const struct workload *load = limits->load;
	struct device *device = bench_lines(sizeof(*device) + load->levels *
					    sizeof(*device->schemas));

	device->limits = *limits;
	bench_configure_alike(load->levels, load->seats, load->queues,
			      load->hand, load->length);
	return device;
}

static void device_attach(void *handle)
{
	struct device *device = handle;
	char name[32];
	uint32_t i;

	bench_attach(&device->bench, device->limits.workers);
	for (i = 0; i < device->limits.load->levels; i++) {
		snprintf(name, sizeof(name), "bench%u", i);
		device->schemas[i] = bench_schema(&device->bench, name);
	}
}

static enum peer_verdict device_admit(void *handle, uint32_t worker,
				      const struct request *request)
{
	struct device *device = handle;
	struct kapf_op op = {
		.opcode = KAPF_OP_ADMIT,
		.initial_seats = request->seats,
		.slot = worker,
		.schema = request->exempt ? device->bench.exempt :
					    device->schemas[request->level],
		.watch_count = KAPF_WATCH_COUNT_UNKNOWN,
		.flow_hash = request->hash,
		.max_wait = device->limits.max_wait_ns,
	};
	int ret = ioctl(device->bench.fd, KAPF_ADMIT, &op);

	if (ret < 0 || ret & KAPF_STALE)
		bench_fail("ADMIT");
	switch (KAPF_VERDICT(ret)) {
	case KAPF_EXECUTE:
		return PEER_EXECUTE;
	case KAPF_TIME_OUT:
		return PEER_TIME_OUT;
	default:
		return PEER_REFUSED;
	}
}

static void device_finish(void *handle, uint32_t worker,
			  const struct request *request)
{
	struct device *device = handle;

	(void)request;
	bench_finish(&device->bench, worker);
}

static void device_close(void *handle)
{
	free(handle);
}

const struct peer peer_kapf = {
	.name = "kapf",
	.processes = 2,
	.fair = true,
	.returns_seats = true,
	.open = device_open,
	.attach = device_attach,
	.admit = device_admit,
	.finish = device_finish,
	.close = device_close,
};
