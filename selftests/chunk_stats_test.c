// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics do not tell by which way a request came: one by one, or in a batch;
 * seated on the spot, or as one that could have had to wait.
 */
#include "chunk.h"
#include "histogram.h"

#define REQUESTS	1200
#define PER_ROUND	30
#define ROUNDS		(REQUESTS / PER_ROUND)
#define LEVELS		5
#define SCHEMAS		5

/* Those of a schema */
#define KINDS		(KAPF_HISTOGRAM_REFUSED_WAIT + 1)

/* An id that no schema has */
#define UNKNOWN		123456

/* Each round takes the same slots, so that the same happens by each way. */
static bool chance(__u32 round, __u32 slot, __u32 in)
{
	__u64 state = round * 1000003ULL + slot;

	random_below(&state, in);
	return !random_below(&state, in);
}

static const char *const names[] = { "queue", "many", "reject", "exempt" };

/*
 * Requests of all kinds; @ids: of the schemas of @names.  What depends on the time is
 * left out: which of several queues is next, and when seats do not linger any more.
 */
static void script(struct kapf_op *ops, const __u32 *ids)
{
	__u64 state = 1;
	__u32 i;

	for (i = 0; i < REQUESTS; i++) {
		__u32 which = random_below(&state, 5);
		struct kapf_op op = request(i, UNKNOWN);

		op.user_data = USER_DATA + i;
		op.flow_hash = state;
		op.flags = random_below(&state, 4);	/* MUTATING, WATCH */
		if (!random_below(&state, 8))
			op.flags |= KAPF_OP_NOQUEUE;
		if (!random_below(&state, 3))
			op.watch_count = random_below(&state, 20000);
		if (!random_below(&state, 4))
			op.final_seats = random_below(&state, 4);
		if (!random_below(&state, 20))
			op.initial_seats = random_below(&state, 15) + 1;
		if (which < ARRAY_SIZE(names))
			op.schema = ids[which];
		if (which % 2 && !random_below(&state, 16))
			op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
		ops[i] = op;
	}
}

/**
 * struct trail - what was to be seen of a script
 * @exempt: requests that came to the exempt level, which lasts, before
 * @verdicts: by request; 0: it waited to the end
 * @totals: after each round
 * @levels: likewise
 * @schemas: likewise
 * @histograms: before and in the end, by place in @names and kind
 */
struct trail {
	__u64 exempt;
	__u8 verdicts[REQUESTS];
	struct kapf_get_stats totals[ROUNDS];
	struct kapf_level_stats levels[ROUNDS][LEVELS];
	struct kapf_schema_stats schemas[ROUNDS][SCHEMAS];
	struct kapf_histogram_info histograms[2][ARRAY_SIZE(names)][KINDS];
};

/**
 * struct player - a session that plays the script
 * @fd: of it
 * @ops: the script
 * @nr_asked: how many of them have been
 * @finished: by request
 * @trail: what is to be seen
 */
struct player {
	int fd;
	struct kapf_op ops[REQUESTS];
	__u32 nr_asked;
	bool finished[REQUESTS];
	struct trail *trail;
};

/**
 * struct step - what a round does, in this order
 * @finishes: requests that have been served
 * @nr_finishes: how many
 * @cancels: requests that wait
 * @nr_cancels: how many
 * @ops: requests that ask
 */
struct step {
	struct kapf_finish finishes[REQUESTS];
	__u32 nr_finishes;
	__u32 cancels[REQUESTS];
	__u32 nr_cancels;
	struct kapf_op *ops;
};

static void plan(struct player *player, __u32 round, struct step *step)
{
	const struct trail *trail = player->trail;
	__u32 i;

	step->nr_finishes = 0;
	step->nr_cancels = 0;
	for (i = 0; i < player->nr_asked; i++) {
		if (trail->verdicts[i] == KAPF_EXECUTE &&
		    !player->finished[i] && chance(round, i, 2)) {
			player->finished[i] = true;
			step->finishes[step->nr_finishes++] =
				(struct kapf_finish){ .slot = i };
		} else if (!trail->verdicts[i] && chance(round, i, 8)) {
			step->cancels[step->nr_cancels++] = i;
		}
	}
	step->ops = player->ops + player->nr_asked;
	player->nr_asked += PER_ROUND;
}

static void tell(struct player *player, const struct kapf_event *events, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		__u64 request = events[i].user_data - USER_DATA;

		if (request >= REQUESTS || player->trail->verdicts[request] ||
		    events[i].verdict == KAPF_ERROR)
			die("an event too many");
		player->trail->verdicts[request] = events[i].verdict;
	}
}

static void by_submit(struct player *player, struct step *step)
{
	struct kapf_event events[PER_ROUND];
	struct kapf_submit arg = submission();
	__u32 nr = PER_ROUND;

	arg.finish = (uintptr_t)step->finishes;
	arg.nr_finish = step->nr_finishes;
	arg.cancel = (uintptr_t)step->cancels;
	arg.nr_cancel = step->nr_cancels;
	arg.ops = (uintptr_t)step->ops;
	arg.nr_ops = PER_ROUND;
	if (submit(player->fd, arg, events, &nr) !=
	    (int)step->nr_finishes + PER_ROUND)
		die("SUBMIT did not take all");
	tell(player, events, nr);
}

static void by_call(struct player *player, struct step *step)
{
	__u32 i;

	for (i = 0; i < step->nr_finishes; i++)
		if (finish(player->fd, step->finishes[i].slot) < 0)
			die("FINISH");
	for (i = 0; i < step->nr_cancels; i++)
		if (cancel(player->fd, step->cancels[i]))
			die("CANCEL");
	for (i = 0; i < PER_ROUND; i++) {
		struct kapf_op op = step->ops[i];
		int ret;

		op.flags |= KAPF_OP_NOWAIT;
		ret = admit_op(player->fd, op);
		if (ret < 0)
			die("ADMIT");
		if (KAPF_VERDICT(ret) != KAPF_QUEUED)
			player->trail->verdicts[op.slot] = KAPF_VERDICT(ret);
	}
}

static void by_write(struct player *player, struct step *step)
{
	struct kapf_op op = { .opcode = KAPF_OP_FINISH };
	__u32 i;

	for (i = 0; i < step->nr_finishes; i++) {
		op.slot = step->finishes[i].slot;
		if (write_ops(player->fd, &op, 1) != 1)
			die("write of FINISH");
	}
	op.opcode = KAPF_OP_CANCEL;
	for (i = 0; i < step->nr_cancels; i++) {
		op.slot = step->cancels[i];
		if (write_ops(player->fd, &op, 1) != 1)
			die("write of CANCEL");
	}
	if (write_ops(player->fd, step->ops, PER_ROUND) != PER_ROUND)
		die("write of ADMIT");
}

/* What is not a matter of the time, nor of how often there was a configuration. */
static void look(int control, struct trail *trail, __u32 round)
{
	struct kapf_level_stats *levels = trail->levels[round];
	struct kapf_schema_stats *schemas = trail->schemas[round];
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(*levels), .schema_size = sizeof(*schemas),
		.nr_levels = LEVELS, .nr_schemas = SCHEMAS,
		.levels = (uintptr_t)levels, .schemas = (uintptr_t)schemas,
	};
	__u32 i;

	errno = -call(control, KAPF_GET_STATS, &get);
	if (errno || get.nr_levels < LEVELS || get.nr_schemas < SCHEMAS)
		die("GET_STATS");
	for (i = 0; i < LEVELS; i++) {
		if (levels[i].type == KAPF_LEVEL_EXEMPT)
			levels[i].dispatched -= trail->exempt;
		levels[i].id = 0;
		levels[i].retry_after = 0;
		levels[i].demand_average = 0;
		levels[i].demand_stdev = 0;
		levels[i].demand_smoothed = 0;
		levels[i].demand_high_watermark = 0;
		levels[i].target_seats = 0;
		levels[i].current_seats = 0;
		levels[i].current_r = 0;
		levels[i].dispatch_r = 0;
		levels[i].latest_s = 0;
	}
	for (i = 0; i < SCHEMAS; i++) {
		if (!strcmp(schemas[i].name, "exempt"))
			schemas[i].dispatched -= trail->exempt;
		schemas[i].id = 0;
		schemas[i].level = 0;
	}
	/* What was there before may still drain, behind what is wanted. */
	get.nr_levels = 0;
	get.nr_schemas = 0;
	get.generation = 0;
	get.time = 0;
	get.fair_frac = 0;
	trail->totals[round] = get;
	trail->totals[round].levels = 0;
	trail->totals[round].schemas = 0;
}

static void
look_at_histograms(int control, const __u32 *ids,
		   struct kapf_histogram_info histograms[ARRAY_SIZE(names)][KINDS])
{
	struct kapf_histogram_info infos[2 * ROOM], *info;
	__u32 i, k, nr = get_histograms(control, infos, ROOM);

	for (i = 0; i < nr; i++)
		for (k = 0; k < ARRAY_SIZE(names); k++) {
			info = &infos[i];
			if (!info->schema || info->schema != ids[k])
				continue;
			info->level = 0;
			info->schema = 0;
			histograms[k][info->kind] = *info;
		}
}

static void play(int control, struct trail *trail,
		 void (*way)(struct player *player, struct step *step))
{
	struct kapf_event events[PER_ROUND];
	struct player *player = calloc(1, sizeof(*player));
	struct step *step = calloc(1, sizeof(*step));
	__u32 ids[ARRAY_SIZE(names)];
	struct image image;
	__u32 i;
	int nr;

	image_init(&image);
	image_queues(&image, "queue", 10, 1, 1, 6);
	image_queues(&image, "many", 300, 16, 4, 50);
	image_level(&image, "reject", KAPF_LEVEL_REJECT, 5);
	for (i = 0; i < 3; i++)
		image_schema(&image, names[i], 100 + i, names[i], "[]");
	set_up(control, &image);
	image_free(&image);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		ids[i] = schema_id(control, names[i]);
	if (!player || !step)
		die("calloc");
	player->fd = open_session(REQUESTS);
	player->trail = trail;
	trail->exempt = level_stats(control, "exempt").dispatched;
	look_at_histograms(control, ids, trail->histograms[0]);
	script(player->ops, ids);
	for (i = 0; i < ROUNDS; i++) {
		plan(player, i, step);
		way(player, step);
		while ((nr = read_events(player->fd, events, PER_ROUND)) > 0)
			tell(player, events, nr);
		look(control, trail, i);
	}
	look_at_histograms(control, ids, trail->histograms[1]);
	close(player->fd);
	free(player);
	free(step);
}

FIXTURE(ways) {
	int control;
	struct trail *trails;	/* one by one, and by another way */
};

FIXTURE_SETUP(ways)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->trails = calloc(2, sizeof(*self->trails));
	ASSERT_TRUE(self->trails);
}

FIXTURE_TEARDOWN(ways)
{
	free(self->trails);
	close(self->control);
}

FIXTURE_VARIANT(ways) {
	void (*way)(struct player *player, struct step *step);
};

FIXTURE_VARIANT_ADD(ways, submit)	{ .way = by_submit };
FIXTURE_VARIANT_ADD(ways, write)	{ .way = by_write };

/* What has come to a histogram; of durations only how many. */
static struct kapf_histogram_info came(const struct trail *trail, __u32 place,
				       __u32 kind)
{
	const struct kapf_histogram_info *before, *after;
	struct kapf_histogram_info came = { };
	__u32 i;

	before = &trail->histograms[0][place][kind];
	after = &trail->histograms[1][place][kind];
	if (kind == KAPF_HISTOGRAM_EXECUTION || kind == KAPF_HISTOGRAM_WAIT ||
	    kind == KAPF_HISTOGRAM_WATCH_EXECUTION) {
		came.counts[0] = total(after) - total(before);
		return came;
	}
	came.sum = after->sum - before->sum;
	for (i = 0; i < after->buckets; i++)
		came.counts[i] = after->counts[i] - before->counts[i];
	return came;
}

static void same_histograms(struct __test_metadata *_metadata,
			    const struct trail *one, const struct trail *other)
{
	struct kapf_histogram_info a, b;
	__u32 i, kind;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		for (kind = 0; kind < KINDS; kind++) {
			a = came(one, i, kind);
			b = came(other, i, kind);
			EXPECT_EQ(0, memcmp(&a, &b, sizeof(a))) {
				TH_LOG("%s, kind %u", names[i], kind);
			}
		}
}

/* The script reaches all that can become of a request. */
static void all_kinds(struct __test_metadata *_metadata,
		      const struct trail *trail)
{
	const struct kapf_level_stats *levels = trail->levels[ROUNDS - 1];
	__u32 i, seen[KAPF_ERROR + 1] = { };
	bool waits = false, lingers = false, no_accommodation = false;

	for (i = 0; i < REQUESTS; i++)
		seen[trail->verdicts[i]]++;
	EXPECT_LT(100, seen[KAPF_EXECUTE]);
	EXPECT_LT(10, seen[KAPF_QUEUE_FULL]);
	EXPECT_LT(10, seen[KAPF_CONCURRENCY_LIMIT]);
	EXPECT_LT(100, seen[KAPF_RECLASSIFY]);
	EXPECT_LT(3, seen[KAPF_CANCELLED]);
	for (i = 0; i < LEVELS; i++) {
		waits |= levels[i].waiting_requests;
		lingers |= levels[i].lingering_requests;
		no_accommodation |= levels[i].no_accommodation;
	}
	EXPECT_TRUE(waits);
	EXPECT_TRUE(lingers);
	EXPECT_TRUE(no_accommodation);
}

TEST_F(ways, count_the_same)
{
	struct trail *one = &self->trails[0], *other = &self->trails[1];
	__u32 i;

	play(self->control, one, by_call);
	all_kinds(_metadata, one);
	play(self->control, other, variant->way);
	EXPECT_EQ(0, memcmp(one->verdicts, other->verdicts,
			    sizeof(one->verdicts)));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, memcmp(&one->totals[i], &other->totals[i],
				    sizeof(one->totals[i])));
		ASSERT_EQ(0, memcmp(one->levels[i], other->levels[i],
				    sizeof(one->levels[i])));
		ASSERT_EQ(0, memcmp(one->schemas[i], other->schemas[i],
				    sizeof(one->schemas[i])));
	}
	same_histograms(_metadata, one, other);
}

/*
 * What a request leaves behind that never waits
 */

struct sight {
	struct kapf_level_stats level;
	struct kapf_schema_stats schema;
	struct kapf_histogram_info histograms[KINDS];
};

static struct sight see(struct _test_data_chunk *self)
{
	struct kapf_schema_stats schemas[3];
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(schemas[0]),
		.nr_schemas = ARRAY_SIZE(schemas),
		.schemas = (uintptr_t)schemas,
	};
	struct sight sight = { };
	__u32 i;

	errno = -call(self->control, KAPF_GET_STATS, &get);
	if (errno)
		die("GET_STATS");
	for (i = 0; i < get.nr_schemas && i < ARRAY_SIZE(schemas); i++)
		if (schemas[i].id == self->schema)
			sight.schema = schemas[i];
	sight.level = level_stats(self->control, "test");
	for (i = 0; i < KINDS; i++)
		sight.histograms[i] = histogram_of(self->control, i,
						   sight.level.id,
						   self->schema);
	return sight;
}

/* Between the two @nr requests of @seats each have come, and execute. */
static void expect_seated(struct __test_metadata *_metadata,
			  const struct sight *a, const struct sight *b,
			  __u32 nr, __u32 seats)
{
	const struct kapf_histogram_info *before = a->histograms;
	const struct kapf_histogram_info *after = b->histograms;
	__u32 kind;

	EXPECT_EQ(nr, b->level.dispatched - a->level.dispatched);
	EXPECT_EQ(nr, b->schema.dispatched - a->schema.dispatched);
	EXPECT_EQ(nr, b->level.executing_requests);
	EXPECT_EQ(nr, b->schema.executing_requests);
	EXPECT_EQ(nr * seats, b->level.seats_in_use);
	EXPECT_EQ(nr * seats, b->schema.seats_in_use);
	kind = KAPF_HISTOGRAM_QUEUE_LENGTH;
	EXPECT_EQ(nr, gained(&before[kind], &after[kind], 10));
	EXPECT_EQ(nr, total(&after[kind]) - total(&before[kind]));
	EXPECT_EQ(nr, after[kind].sum - before[kind].sum);
	kind = KAPF_HISTOGRAM_WAIT;
	EXPECT_EQ(nr, after[kind].counts[0] - before[kind].counts[0]);
	EXPECT_EQ(nr, total(&after[kind]) - total(&before[kind]));
	EXPECT_EQ(after[kind].sum, before[kind].sum);
	kind = KAPF_HISTOGRAM_ESTIMATED_SEATS;
	EXPECT_EQ(nr, total(&after[kind]) - total(&before[kind]));
	EXPECT_EQ(nr * seats, after[kind].sum - before[kind].sum);
	kind = KAPF_HISTOGRAM_EXECUTION;
	EXPECT_EQ(total(&before[kind]), total(&after[kind]));
	kind = KAPF_HISTOGRAM_REFUSED_WAIT;
	EXPECT_EQ(0, total(&after[kind]));
}

static void expect_served(struct __test_metadata *_metadata,
			  const struct sight *a, const struct sight *b,
			  __u32 nr)
{
	__u32 kind = KAPF_HISTOGRAM_EXECUTION;

	EXPECT_EQ(nr, total(&b->histograms[kind]) - total(&a->histograms[kind]));
	EXPECT_EQ(a->level.dispatched, b->level.dispatched);
	EXPECT_EQ(a->schema.dispatched, b->schema.dispatched);
	EXPECT_EQ(0, b->level.executing_requests);
	EXPECT_EQ(0, b->schema.executing_requests);
	EXPECT_EQ(0, b->level.seats_in_use);
	EXPECT_EQ(0, b->schema.seats_in_use);
	for (kind++; kind < KINDS; kind++)
		EXPECT_EQ(0, memcmp(&a->histograms[kind], &b->histograms[kind],
				    sizeof(a->histograms[kind])));
}

TEST_F(chunk, seated_at_once)
{
	struct sight before = see(self), executing, after;
	struct kapf_finish finishes[BATCH];
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	__u32 i, nr = BATCH;

	fill_ops(ops, self->schema);
	ASSERT_EQ(BATCH, submit_ops(self->fd, ops, BATCH, events, &nr));
	executing = see(self);
	expect_seated(_metadata, &before, &executing, BATCH, 1);
	for (i = 0; i < BATCH; i++)
		finishes[i] = (struct kapf_finish){ .slot = i };
	nr = 0;
	ASSERT_EQ(BATCH,
		  submit_finishes(self->fd, finishes, BATCH, NULL, &nr));
	after = see(self);
	expect_served(_metadata, &executing, &after, BATCH);

	for (i = 0; i < BATCH; i++)
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, i, self->schema));
	executing = see(self);
	expect_seated(_metadata, &after, &executing, BATCH, 1);
	before = executing;
	ASSERT_EQ(BATCH, finish_batch(self->fd));
	after = see(self);
	expect_served(_metadata, &before, &after, BATCH);
}

/* One that is wider than its level takes the long way, to the same figures. */
TEST_F(chunk, seated_alone)
{
	struct sight before = see(self), executing, after;
	struct kapf_op op = request(0, self->schema);

	op.initial_seats = SEATS + 1;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	executing = see(self);
	expect_seated(_metadata, &before, &executing, 1, SEATS + 1);
	ASSERT_EQ(0, finish(self->fd, 0));
	after = see(self);
	expect_served(_metadata, &executing, &after, 1);
}

/* So does the finish of one whose seats linger, which are still in use. */
TEST_F(chunk, seated_to_linger)
{
	struct sight before = see(self), executing, after;
	struct kapf_op op = request(0, self->schema);

	op.additional_latency = NSEC_PER_MSEC;
	op.final_seats = 3;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	executing = see(self);
	expect_seated(_metadata, &before, &executing, 1, 3);
	ASSERT_EQ(1, finish(self->fd, 0));
	ASSERT_TRUE(await_lingering(self->control, 0));
	after = see(self);
	expect_served(_metadata, &executing, &after, 1);
}

/**
 * struct ratios - integrals of a level's ratios, in ns
 * @begin: before they were read
 * @end: after it
 * @sums: by kind, from KAPF_HISTOGRAM_SEATS on
 */
struct ratios {
	__u64 begin;
	__u64 end;
	__u64 sums[4];
};

static struct ratios read_ratios(struct _test_data_chunk *self)
{
	__u32 level = level_stats(self->control, "test").id;
	struct ratios ratios = { .begin = now_ns() };
	__u32 i;

	for (i = 0; i < 4; i++)
		ratios.sums[i] = histogram_of(self->control,
					      KAPF_HISTOGRAM_SEATS + i, level,
					      0).sum;
	ratios.end = now_ns();
	return ratios;
}

/* Meanwhile this ratio was @percent. */
static void expect_ratio(struct __test_metadata *_metadata,
			 const struct ratios *a, const struct ratios *b,
			 __u32 kind, __u32 percent)
{
	__u64 sum = b->sums[kind - KAPF_HISTOGRAM_SEATS] -
		    a->sums[kind - KAPF_HISTOGRAM_SEATS];

	EXPECT_LE((b->begin - a->end) * percent / 100, sum + 1);
	EXPECT_GE((b->end - a->begin) * percent / 100 + 1, sum);
}

TEST_F(chunk, ratios)
{
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	struct ratios a, b;
	__u32 nr = BATCH;
	int i;

	/* The last one, which is wide, comes for itself. */
	fill_ops(ops, self->schema);
	for (i = 0; i < BATCH; i++)
		ops[i].initial_seats = 1 + i % 2;
	ops[BATCH - 1].initial_seats = 22;
	ASSERT_EQ(BATCH - 1, submit_ops(self->fd, ops, BATCH - 1, events, &nr));
	ASSERT_EQ(BATCH - 1, nr);
	ASSERT_EQ(KAPF_EXECUTE,
		  KAPF_VERDICT(admit_op(self->fd, ops[BATCH - 1])));
	a = read_ratios(self);
	sleep_ms(20);
	b = read_ratios(self);
	expect_ratio(_metadata, &a, &b, KAPF_HISTOGRAM_SEATS, 80);
	expect_ratio(_metadata, &a, &b, KAPF_HISTOGRAM_DEMAND, 80);
	expect_ratio(_metadata, &a, &b, KAPF_HISTOGRAM_EXECUTING, 40);
	expect_ratio(_metadata, &a, &b, KAPF_HISTOGRAM_WAITING, 0);

	/* Of 20 more six find room, and the others wait. */
	for (i = 0; i < 20; i++) {
		ops[i] = request(BATCH + i, self->schema);
		ops[i].initial_seats = 3;
	}
	nr = BATCH;
	ASSERT_EQ(20, submit_ops(self->fd, ops, 20, events, &nr));
	ASSERT_EQ(6, nr);
	a = read_ratios(self);
	sleep_ms(20);
	b = read_ratios(self);
	expect_ratio(_metadata, &a, &b, KAPF_HISTOGRAM_SEATS, 98);
	expect_ratio(_metadata, &a, &b, KAPF_HISTOGRAM_DEMAND, 140);
	expect_ratio(_metadata, &a, &b, KAPF_HISTOGRAM_EXECUTING, 46);
}

TEST_HARNESS_MAIN
