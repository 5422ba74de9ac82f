// SPDX-License-Identifier: GPL-2.0
/*
 * Priority levels on the engine of the module, for peers in user space.
 *
 * All of a limiter lies in one piece of memory, with pointers into itself: whoever
 * shares it has to see it at the same address.
 */
#include <linux/kernel.h>

#include "limiter.h"
#include "queueset.h"

/* Requests dispatched between two looks at how many there are. */
#define BUDGET 32

struct level {
	struct kapf_queueset qs;
	struct limiter *limiter;
};

struct limited_request {
	struct kapf_request request;
	struct level *level;
};

/**
 * struct limiter - the levels
 * @levels: of the workload
 * @requests: one for each who asks
 * @granted: indices of those that were dispatched and not yet told
 * @nr_granted: how many
 */
struct limiter {
	struct level *levels;
	struct limited_request *requests;
	uint32_t *granted;
	uint32_t nr_granted;
};

static size_t levels_size(const struct workload *load)
{
	return load->levels * sizeof(struct level);
}

static size_t queues_size(const struct workload *load)
{
	return load->levels * load->queues * sizeof(struct kapf_queue);
}

/**
 * limiter_size() - how much memory one takes
 * @load: with its levels
 * @requests: how many at once
 *
 * Return: bytes.
 */
size_t limiter_size(const struct workload *load, uint32_t requests)
{
	return sizeof(struct limiter) + levels_size(load) + queues_size(load) +
	       requests * (sizeof(struct limited_request) + sizeof(uint32_t));
}

static void dispatched(struct kapf_queueset *qs, struct kapf_request *req,
		       u32 width)
{
	struct limiter *limiter = container_of(qs, struct level, qs)->limiter;
	struct limited_request *request;

	(void)width;
	request = container_of(req, struct limited_request, request);
	limiter->granted[limiter->nr_granted++] = request - limiter->requests;
}

/**
 * limiter_init() - make one
 * @limiter: limiter_size() of zeroes
 * @load: with its levels
 * @requests: how many at once
 */
void limiter_init(struct limiter *limiter, const struct workload *load,
		  uint32_t requests)
{
	struct kapf_queue *queues;
	u32 i;

	limiter->levels = (struct level *)(limiter + 1);
	queues = (struct kapf_queue *)(limiter->levels + load->levels);
	limiter->requests = (struct limited_request *)(queues + load->levels *
						       load->queues);
	limiter->granted = (uint32_t *)(limiter->requests + requests);
	for (i = 0; i < load->levels; i++) {
		struct level *level = &limiter->levels[i];

		level->limiter = limiter;
		level->qs.dispatched = dispatched;
		kapf_queueset_init(&level->qs, queues + i * load->queues,
				   load->queues, load->hand, load->length,
				   load->seats);
	}
}

static void dispatch(struct level *level, uint64_t now)
{
	while (kapf_queueset_dispatch(&level->qs, BUDGET, now))
		;
}

/* Has the request that came last been dispatched at once?  Then it is told so. */
static bool take_granted(struct limiter *limiter, uint32_t index)
{
	u32 i;

	for (i = 0; i < limiter->nr_granted; i++)
		if (limiter->granted[i] == index) {
			limiter->granted[i] =
				limiter->granted[--limiter->nr_granted];
			return true;
		}
	return false;
}

/**
 * limiter_admit() - a request arrives
 * @limiter: of limiter_init()
 * @index: for the request; free
 * @request: that asks
 * @now: CLOCK_MONOTONIC, in ns
 *
 * As after the other calls, limiter_granted() tells whose turn it is besides.
 *
 * Return: what became of it.
 */
enum limiter_verdict limiter_admit(struct limiter *limiter, uint32_t index,
				   const struct request *request, uint64_t now)
{
	struct limited_request *req = &limiter->requests[index];

	req->level = &limiter->levels[request->level];
	req->request = (struct kapf_request){ .initial_seats = request->seats };
	switch (kapf_queueset_admit(&req->level->qs, &req->request,
				    request->hash, now)) {
	case KAPF_ADMISSION_SEATED:
		return LIMITER_SEATED;
	case KAPF_ADMISSION_QUEUED:
		dispatch(req->level, now);
		return take_granted(limiter, index) ? LIMITER_SEATED :
						      LIMITER_QUEUED;
	default:
		return LIMITER_REFUSED;
	}
}

/**
 * limiter_finish() - a request gives its seats back
 * @limiter: of limiter_init()
 * @index: of one that has them
 * @now: the time
 */
void limiter_finish(struct limiter *limiter, uint32_t index, uint64_t now)
{
	struct limited_request *req = &limiter->requests[index];

	kapf_queueset_finish(&req->level->qs, &req->request, now);
	dispatch(req->level, now);
}

/**
 * limiter_cancel() - a request waits no longer
 * @limiter: of limiter_init()
 * @index: of one that does
 * @now: the time
 */
void limiter_cancel(struct limiter *limiter, uint32_t index, uint64_t now)
{
	struct limited_request *req = &limiter->requests[index];

	kapf_queueset_cancel(&req->level->qs, &req->request, now);
	dispatch(req->level, now);
}

/**
 * limiter_granted() - who has waited and has its seats now
 * @limiter: of limiter_init()
 * @index: out: of the request
 *
 * Return: whether there was another one.
 */
bool limiter_granted(struct limiter *limiter, uint32_t *index)
{
	if (!limiter->nr_granted)
		return false;
	*index = limiter->granted[--limiter->nr_granted];
	return true;
}
