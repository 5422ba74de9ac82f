// SPDX-License-Identifier: GPL-2.0
/*
 * The engine alone, saturated: all seats are taken, each finish dispatches a
 * request, and each arrival waits.  It is called as a level does, without lock and
 * clock.
 */
#include <stdlib.h>

#include "native.h"
#include "queueset.h"

#define REQUESTS (ENGINE_FLOWS * ENGINE_DEPTH)

/**
 * struct flow_request - a request, again and again
 * @req: for the engine
 * @hash: of its flow
 */
struct flow_request {
	struct kapf_request req;
	uint64_t hash;
};

/* Those that execute, in the order in which they were dispatched. */
static struct flow_request *executing[REQUESTS];
static unsigned int first, nr_executing;

static struct kapf_queueset level;
static struct kapf_queue queues[ENGINE_QUEUES];
static struct flow_request requests[REQUESTS];
static uint64_t now;

static void dispatched(struct kapf_queueset *qs, struct kapf_request *req,
		       u32 width)
{
	(void)qs;
	(void)width;
	executing[(first + nr_executing++) % REQUESTS] =
		container_of(req, struct flow_request, req);
}

/* Return: what the engine has said at once. */
static enum kapf_admission admit(struct flow_request *request)
{
	enum kapf_admission admission;

	request->req = (struct kapf_request){ .initial_seats = 1 };
	admission = kapf_queueset_admit(&level, &request->req, request->hash,
					now);
	if (admission == KAPF_ADMISSION_QUEUED)
		kapf_queueset_dispatch(&level, REQUESTS, now);
	else if (admission == KAPF_ADMISSION_SEATED)
		dispatched(&level, &request->req, 1);
	return admission;
}

/**
 * engine_start() - make the level, and requests for all its seats and its queues
 * @hashes: of the ENGINE_FLOWS flows
 */
void engine_start(const uint64_t *hashes)
{
	unsigned int i;

	level.dispatched = dispatched;
	kapf_queueset_init(&level, queues, ENGINE_QUEUES, ENGINE_HAND,
			   ENGINE_LENGTH, ENGINE_SEATS);
	for (i = 0; i < REQUESTS; i++) {
		requests[i].hash = hashes[i % ENGINE_FLOWS];
		if (admit(&requests[i]) > KAPF_ADMISSION_QUEUED)
			fail("the engine refuses a request");
		now += ENGINE_STEP_NS / ENGINE_SEATS;
	}
}

/**
 * engine_run() - that often: the oldest request finishes and comes again
 * @cycles: how often
 */
void engine_run(unsigned int cycles)
{
	while (cycles--) {
		struct flow_request *request = executing[first];

		now += ENGINE_STEP_NS;
		first = (first + 1) % REQUESTS;
		nr_executing--;
		kapf_queueset_finish(&level, &request->req, now);
		kapf_queueset_dispatch(&level, REQUESTS, now);
		if (nr_executing != ENGINE_SEATS)
			fail("a finish does not dispatch one request");
		if (admit(request) != KAPF_ADMISSION_QUEUED ||
		    nr_executing != ENGINE_SEATS)
			fail("a request does not wait");
	}
}
