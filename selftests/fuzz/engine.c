// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a priority level and what happens to it, for the engine and its
 * model side by side: they have to agree after every event, and to be idle at
 * the end.
 *
 * First comes the level, then an event after the other: a byte for which it is
 * and how much time passes before it, and what it needs.
 */
#include <string.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "dealer.h"
#include "fuzz.h"
#include "twin.h"

#define MAX_LIVE	40
#define MAX_QUEUES	16
#define ALL		32

/*
 * Points in virtual time must not lie too far apart to be compared, which so
 * many ns of up to 1024 seats, twice that many at times, do not make them.
 */
#define MAX_TIME	10000000000000000ULL

enum event {
	ARRIVE,
	ARRIVE_LINGERING,
	CANCEL,
	FINISH,
	RELEASE,
	RELEASE_EARLY,
	LIMIT,
	RESIZE,
	LET_GO,			/* of the level before all is dispatched */
};

/* How likely they are for a random byte */
static const enum event events[16] = {
	ARRIVE, ARRIVE, ARRIVE, ARRIVE, ARRIVE_LINGERING, ARRIVE_LINGERING,
	CANCEL, FINISH, FINISH, FINISH, RELEASE, RELEASE, RELEASE_EARLY,
	LIMIT, RESIZE, LET_GO,
};

static struct twin twin;

/* Mostly few, at most 1024 */
static u32 some_seats(struct input *input)
{
	u32 seats = input_byte(input);

	return seats < 224 ? seats % 32 : (seats - 223) * 32;
}

static u64 some_ns(struct input *input)
{
	static const u64 units[] = {
		1, 10, 1000, 1000000, 100000000, 1000000000,
		60000000000, 86400000000000,
	};
	u32 unit = input_byte(input);

	return input_byte(input) * units[unit % ARRAY_SIZE(units)];
}

static struct twin_sizes some_sizes(struct input *input)
{
	struct twin_sizes sizes = {
		.nr_queues = input_below(input, MAX_QUEUES + 1),
	};

	if (sizes.nr_queues) {
		u32 most = kapf_hand_max(sizes.nr_queues);

		sizes.hand_size = 1 + input_below(input, most);
		sizes.queue_length_limit = 1 + input_below(input, 8);
	}
	return sizes;
}

static void start(struct input *input)
{
	u64 start_r = (u64)input_byte(input) << 62;
	struct twin_sizes sizes;
	u32 seats;

	/* Just before such a number it has time to pass it. */
	start_r -= some_ns(input);
	seats = some_seats(input);
	sizes = some_sizes(input);
	memset(&twin, 0, sizeof(twin));
	twin.now = 1ULL << 40;
	twin_start(&twin, seats, &sizes, start_r);
}

static void arrive(struct input *input, bool lingering)
{
	struct model_request request = {};
	u64 hash = input_byte(input);

	/* Small ones say by themselves which queues they deal. */
	if (hash >= 64)
		hash *= 0x9e3779b97f4a7c15ULL;
	request.initial_seats = 1 + some_seats(input) % 1000;
	if (lingering) {
		request.final_seats = some_seats(input);
		request.additional_latency = some_ns(input) % 60000000001;
	}
	if (twin.nr_arrived < TWIN_MAX_REQUESTS &&
	    twin.model.nr_requests < MAX_LIVE)
		twin_arrive(&twin, &request, hash);
}

/* Return: whether there is one in this state */
static bool pick(struct input *input, enum model_state state, u32 *id)
{
	u32 nr = model_count(&twin.model, state);

	if (!nr)
		return false;
	*id = twin_nth(&twin, state, input_below(input, nr));
	return true;
}

static void leave(struct input *input, enum model_state state)
{
	u32 id;

	if (pick(input, state, &id))
		twin_leave(&twin, id);
}

static void release_early(struct input *input)
{
	u32 id;

	if (pick(input, MODEL_LINGERING, &id))
		twin_release_early(&twin, id, some_ns(input) %
				   (twin.requests[id].additional_latency + 1));
}

static void pass_time(struct input *input, u32 how)
{
	u64 ns;

	if (how < 2)
		return;
	ns = some_ns(input);
	if (how == 2)
		twin.now -= ns % 1000000;
	else if (twin.now + ns < MAX_TIME)
		twin.now += ns;
}

static void resize(struct input *input)
{
	struct twin_sizes sizes = some_sizes(input);

	twin_resize(&twin, &sizes, input_below(input, 2));
}

/* Return: how many requests the owner dispatches at most before it lets go */
static u32 happen(struct input *input, enum event event)
{
	switch (event) {
	case ARRIVE:
	case ARRIVE_LINGERING:
		arrive(input, event == ARRIVE_LINGERING);
		break;
	case CANCEL:
		leave(input, MODEL_WAITING);
		break;
	case FINISH:
		leave(input, MODEL_EXECUTING);
		break;
	case RELEASE:
		leave(input, MODEL_LINGERING);
		break;
	case RELEASE_EARLY:
		release_early(input);
		break;
	case LIMIT:
		twin_limit(&twin, some_seats(input));
		break;
	case RESIZE:
		resize(input);
		break;
	case LET_GO:
		return input_below(input, 3);
	}
	return ALL;
}

static void one_event(struct input *input)
{
	u32 event = input_byte(input);
	u32 budget;

	pass_time(input, event / 32);
	budget = happen(input, events[event % ARRAY_SIZE(events)]);
	twin_agree(&twin);
	while (!twin.failed && twin_dispatch(&twin, budget) && budget == ALL)
		;
	twin_agree(&twin);
}

/* Nothing else would tell a fuzzer that passing these is of interest. */
u64 past_half, past_all;

static void note_crossings(u64 start_r)
{
	const u64 half = 1ULL << 63;

	if (start_r < half && twin.model.r >= half)
		past_half++;
	if (start_r >= half && twin.model.r >> 64)
		past_all++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .at = data, .left = size };
	u64 start_r;

	start(&input);
	start_r = twin.qs.current_r;
	while (!twin.failed && input.left)
		one_event(&input);
	while (!twin.failed && twin.model.nr_requests) {
		twin_leave(&twin, twin.model.requests[0].id);
		twin_agree(&twin);
	}
	note_crossings(start_r);
	fflush(stdout);
	insist(!twin.failed);
	insist(kapf_queueset_idle(&twin.qs));
	return 0;
}
