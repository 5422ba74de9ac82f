// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl tradeoff: what queues, handSize and queueLengthLimit of a level cost
 * and buy: memory, bursts, fairness and waits, beside those of other choices.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "footprint.h"
#include "queueset.h"
#include "kapfctl.h"

/* Requests in execution are counted so often, and so far apart, to measure. */
#define SAMPLES 20
#define SAMPLE_NS 50000000

#define ASSUMED_SERVICE_NS 100000000
#define YEAR_NS (365 * 86400e9)
#define DEFAULT_HEAVY 4
#define MAX_HEAVY 65535

/* What is shown: as configured, as asked, twice the queues, half the length. */
#define MAX_SHAPES 4

/**
 * struct shape - of a level's queues
 * @what: why it is shown
 * @queues: how many
 * @hand: of which a flow may use so many
 * @length: queueLengthLimit
 */
struct shape {
	const char *what;
	unsigned int queues;
	unsigned int hand;
	unsigned int length;
};

/**
 * struct cost - of a shape
 * @queue_bytes: memory of the queues
 * @waiting_bytes: of the slots of all requests that may wait
 * @flow_burst: requests of one flow that may wait
 * @level_burst: of all flows
 * @odds: that heavy flows fill each queue of a light one
 * @light_wait: ns that a light flow waits for a turn; below 0: for ever
 * @heavy_wait: ns that the last request of a heavy flow waits; likewise
 * @worst_wait: the same, when all queues are full
 * @useful_length: of full queues, how many requests are served before they time
 *	out by default
 */
struct cost {
	uint64_t queue_bytes;
	uint64_t waiting_bytes;
	uint64_t flow_burst;
	uint64_t level_burst;
	double odds;
	double light_wait;
	double heavy_wait;
	double worst_wait;
	uint64_t useful_length;
};

/**
 * struct level - of which the shapes are looked at
 * @name: of the level
 * @seats: CurrentCL; NominalCL, where there is no device
 * @service_ns: for which a request holds a seat
 * @service_is: whence that is known
 * @heavy: heavy flows
 * @shapes: to be shown
 * @nr_shapes: how many
 */
struct level {
	const char *name;
	unsigned int seats;
	uint64_t service_ns;
	const char *service_is;
	unsigned int heavy;
	struct shape shapes[MAX_SHAPES];
	size_t nr_shapes;
};

/* For so many requests of one seat each, which are served before, to be so. */
static double wait_for(const struct level *level, double requests)
{
	if (!level->seats)
		return -1;
	return requests * level->service_ns / level->seats;
}

static struct cost reckon(const struct level *level, const struct shape *shape)
{
	uint64_t taken = (uint64_t)level->heavy * shape->hand, useful;
	struct cost cost = {
		.queue_bytes = shape->queues * sizeof(struct kapf_queue),
		.flow_burst = (uint64_t)shape->hand * shape->length,
		.level_burst = (uint64_t)shape->queues * shape->length,
		.odds = odds(shape->hand, shape->queues, level->heavy),
	};

	if (taken > shape->queues)
		taken = shape->queues;
	cost.waiting_bytes = cost.level_burst * KAPF_SLOT_BYTES;
	cost.light_wait = wait_for(level, taken);
	cost.heavy_wait = wait_for(level, (double)taken * shape->length);
	cost.worst_wait = wait_for(level, cost.level_burst);
	useful = KAPF_DEFAULT_WAIT_NS / ((double)shape->queues *
					 level->service_ns) * level->seats;
	cost.useful_length = useful < shape->length ? useful : shape->length;
	return cost;
}

static void add_shape(struct level *level, const char *what,
		      unsigned int queues, unsigned int hand,
		      unsigned int length)
{
	level->shapes[level->nr_shapes++] = (struct shape){
		.what = what, .queues = queues, .hand = hand, .length = length,
	};
}

/* Twice the queues: fairer.  Half the length: shorter waits, smaller bursts. */
static void add_alternatives(struct level *level)
{
	const struct shape *last = &level->shapes[level->nr_shapes - 1];
	unsigned int queues = 2 * last->queues, hand = last->hand;

	if (queues <= KAPF_MAX_QUEUES) {
		if (hand > kapf_hand_max(queues))
			hand = kapf_hand_max(queues);
		add_shape(level, "twice the queues", queues, hand,
			  last->length);
	}
	if (last->length > 1)
		add_shape(level, "half the length", last->queues, last->hand,
			  last->length / 2);
}

#define CELL_ROOM 64

static void format_bytes(char text[CELL_ROOM], uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double number = bytes;
	size_t i = 0;

	while (number >= 1024 && i < 4) {
		number /= 1024;
		i++;
	}
	snprintf(text, CELL_ROOM, "%.*f %s", i ? 1 : 0, number, units[i]);
}

/* Of three digits. */
static void format_wait(char text[CELL_ROOM], double ns)
{
	char digits[32], *micro;

	if (ns < 0 || ns > YEAR_NS) {
		strcpy(text, ns < 0 ? "for ever" : "over a year");
		return;
	}
	snprintf(digits, sizeof(digits), "%.2e", ns);
	format_duration(text, strtod(digits, NULL));
	/* A table would escape it. */
	micro = strstr(text, "\u00b5s");
	if (micro)
		strcpy(micro, "us");
}

/* Bytes, requests and waits, one row each; the first three are the shape. */
static const char *const rows[] = {
	"Queues", "HandSize", "QueueLengthLimit", "Memory of queues",
	"Memory of waiting requests", "Burst of a flow", "Burst of the level",
	"Odds against a light flow", "Wait of a light flow",
	"Wait of heavy flows", "Wait when all is full", "Useful length",
};

#define NR_ROWS (sizeof(rows) / sizeof(*rows))

static void fill_column(char cell[NR_ROWS][CELL_ROOM],
			const struct level *level, const struct shape *shape)
{
	const struct cost cost = reckon(level, shape);

	snprintf(cell[0], CELL_ROOM, "%u", shape->queues);
	snprintf(cell[1], CELL_ROOM, "%u", shape->hand);
	snprintf(cell[2], CELL_ROOM, "%u", shape->length);
	format_bytes(cell[3], cost.queue_bytes);
	format_bytes(cell[4], cost.waiting_bytes);
	snprintf(cell[5], CELL_ROOM, "%ju", (uintmax_t)cost.flow_burst);
	snprintf(cell[6], CELL_ROOM, "%ju", (uintmax_t)cost.level_burst);
	snprintf(cell[7], CELL_ROOM, "%.3g", cost.odds);
	format_wait(cell[8], cost.light_wait);
	format_wait(cell[9], cost.heavy_wait);
	format_wait(cell[10], cost.worst_wait);
	snprintf(cell[11], CELL_ROOM, "%ju", (uintmax_t)cost.useful_length);
}

static void print_level(const struct level *level)
{
	char cells[MAX_SHAPES][NR_ROWS][CELL_ROOM] = {};
	const char *columns[MAX_SHAPES + 2] = { "" };
	char service[DURATION_ROOM];
	struct libscols_table *table;
	size_t i;

	format_duration(service, level->service_ns);
	printf("PriorityLevel:  %s\n", level->name);
	printf("Seats:          %u\n", level->seats);
	printf("Service:        %s, %s\n", service, level->service_is);
	printf("Heavy flows:    %u\n\n", level->heavy);
	for (i = 0; i < level->nr_shapes; i++) {
		columns[i + 1] = level->shapes[i].what;
		fill_column(cells[i], level, &level->shapes[i]);
	}
	table = table_new(columns);
	for (i = 0; i < NR_ROWS; i++)
		table_row(table, rows[i], cells[0][i], cells[1][i],
			  cells[2][i], cells[3][i]);
	table_print(table);
}

static struct json_object *tree_wait(double ns)
{
	if (ns < 0)
		return NULL;
	return tree_number(ns < (double)UINT64_MAX ? ns : UINT64_MAX);
}

static struct json_object *shape_tree(const struct level *level,
				      const struct shape *shape)
{
	const struct cost cost = reckon(level, shape);
	struct json_object *tree = tree_map();
	char probability[CELL_ROOM];

	snprintf(probability, sizeof(probability), "%#.13g", cost.odds);
	tree_add(tree, "what", tree_text(shape->what));
	tree_add(tree, "queues", tree_number(shape->queues));
	tree_add(tree, "hand_size", tree_number(shape->hand));
	tree_add(tree, "queue_length_limit", tree_number(shape->length));
	tree_add(tree, "queue_bytes", tree_number(cost.queue_bytes));
	tree_add(tree, "waiting_bytes", tree_number(cost.waiting_bytes));
	tree_add(tree, "flow_burst_requests", tree_number(cost.flow_burst));
	tree_add(tree, "level_burst_requests", tree_number(cost.level_burst));
	tree_add(tree, "probability", tree_decimal(probability));
	tree_add(tree, "light_wait_ns", tree_wait(cost.light_wait));
	tree_add(tree, "heavy_wait_ns", tree_wait(cost.heavy_wait));
	tree_add(tree, "full_wait_ns", tree_wait(cost.worst_wait));
	tree_add(tree, "useful_length", tree_number(cost.useful_length));
	return tree;
}

static struct json_object *level_tree(const struct level *level)
{
	struct json_object *tree = tree_map(), *shapes = tree_list();
	size_t i;

	tree_add(tree, "priority_level", tree_text(level->name));
	tree_add(tree, "seats", tree_number(level->seats));
	tree_add(tree, "service_ns", tree_number(level->service_ns));
	tree_add(tree, "service_is", tree_text(level->service_is));
	tree_add(tree, "heavy_flows", tree_number(level->heavy));
	for (i = 0; i < level->nr_shapes; i++)
		tree_append(shapes, shape_tree(level, &level->shapes[i]));
	tree_add(tree, "shapes", shapes);
	return tree;
}

/*
 * Little's law: where so many requests are in execution, and so many begin in a
 * second, each is served for the quotient of the two.  Those that have no seats
 * have not been dispatched.  Return: 0 or -1.
 */
static int measure(struct level *level, uint32_t id, int fd)
{
	const struct timespec pause = { .tv_nsec = SAMPLE_NS };
	uint64_t executing = 0, begun = 0, time = 0;
	struct state state;
	int i, ret = 0;

	for (i = 0; !ret && i <= SAMPLES; i++) {
		const struct kapf_level_stats *stats;

		if (i)
			nanosleep(&pause, NULL);
		ret = read_state(&state, fd);
		stats = level_stats(&state, id);
		executing += stats->executing_requests -
			     stats->passing_requests;
		begun = i ? begun : stats->dispatched;
		time = i ? time : state.stats.time;
		if (i == SAMPLES && stats->dispatched > begun && executing) {
			level->service_ns = (double)executing / (SAMPLES + 1) *
				(state.stats.time - time) /
				(stats->dispatched - begun);
			level->service_is = "measured";
		}
		free_state(&state);
	}
	return ret;
}

/**
 * struct wish - the options
 * @source: of the configuration
 * @shape: 0: as the level has it
 * @service_ns: 0: not said
 * @heavy: heavy flows
 */
struct wish {
	struct source source;
	struct shape shape;
	uint64_t service_ns;
	unsigned int heavy;
};

static int add_shapes(struct level *level, const struct wish *wish,
		      const struct kapf_priority_level *is)
{
	struct shape shape = wish->shape;
	unsigned int most;

	if (is->type == KAPF_LEVEL_QUEUE) {
		add_shape(level, "as it is", is->queues, is->hand_size,
			  is->queue_length_limit);
		shape.queues = shape.queues ? shape.queues : is->queues;
		shape.hand = shape.hand ? shape.hand : is->hand_size;
		shape.length = shape.length ? shape.length :
					      is->queue_length_limit;
	} else if (!shape.queues || !shape.hand || !shape.length) {
		complain("%s has no queues: say --queues, --hand and --length",
			 is->name);
		return -1;
	}
	most = kapf_hand_max(shape.queues);
	if (shape.hand > most) {
		complain("a hand of %u is too many for %u queue%s: must be at most %u",
			 shape.hand, shape.queues, plural(shape.queues), most);
		return -1;
	}
	if (wish->shape.queues || wish->shape.hand || wish->shape.length)
		add_shape(level, "as asked", shape.queues, shape.hand,
			  shape.length);
	add_alternatives(level);
	return 0;
}

/* @fd: -1: there is no device */
static int show(const struct wish *wish, const char *name,
		const struct kapf_configuration *config,
		const struct state *state, int fd)
{
	const struct kapf_priority_level *is = kapf_config_level(config, name);
	struct level level = {
		.name = name,
		.service_ns = wish->service_ns ? wish->service_ns :
						 ASSUMED_SERVICE_NS,
		.service_is = wish->service_ns ? "as asked" : "assumed",
		.heavy = wish->heavy,
	};

	if (!is) {
		complain("prioritylevels \"%s\" not found", name);
		return REFUSED;
	}
	if (is->type == KAPF_LEVEL_EXEMPT) {
		complain("%s has no limit, so that nothing waits there", name);
		return REFUSED;
	}
	if (add_shapes(&level, wish, is) < 0)
		return REFUSED;
	level.seats = state ? level_stats(state, is->id)->current_seats :
			      is->nominal_seats;
	if (state && !wish->service_ns && measure(&level, is->id, fd) < 0)
		return REFUSED;
	if (output_format)
		tree_print(level_tree(&level));
	else
		print_level(&level);
	return DONE;
}

static int show_device(const struct wish *wish, const char *name)
{
	int fd = open_control(O_RDONLY), status = REFUSED;
	struct state state;

	if (fd < 0)
		return REFUSED;
	if (read_state(&state, fd) == 0)
		status = show(wish, name, state.config, &state, fd);
	free_state(&state);
	close(fd);
	return status;
}

static int show_manifests(const struct wish *wish, const char *name)
{
	struct kapf_configuration *config = source_read(&wish->source);
	int status = REFUSED;

	if (config)
		status = show(wish, name, config, NULL, -1);
	kapf_config_free(config);
	return status;
}

static unsigned int number(const char *name, unsigned int most)
{
	return number_option(&tradeoff_command, name, optarg, 1, most);
}

static int take_option(struct wish *wish, int option)
{
	switch (option) {
	case 'q':
		wish->shape.queues = number("queues", KAPF_MAX_QUEUES);
		break;
	case 'H':
		wish->shape.hand = number("hand", KAPF_HAND_MAX);
		break;
	case 'l':
		wish->shape.length = number("length", INT32_MAX);
		break;
	case 'e':
		wish->heavy = number("heavy", MAX_HEAVY);
		break;
	case 's':
		if (parse_duration(optarg, &wish->service_ns))
			break;
		return usage_error(&tradeoff_command,
				   "--service \"%s\" is not a time of up to an hour, such as 0.5s, 20ms or 300us",
				   optarg);
	default:
		return source_option(&wish->source, option, optarg) < 0 ?
			       REFUSED : DONE;
	}
	return DONE;
}

static const struct option options[] = {
	{ "queues", required_argument, NULL, 'q' },
	{ "hand", required_argument, NULL, 'H' },
	{ "length", required_argument, NULL, 'l' },
	{ "heavy", required_argument, NULL, 'e' },
	{ "service", required_argument, NULL, 's' },
	{ "filename", required_argument, NULL, 'f' },
	{ "defaults", no_argument, NULL, 'd' },
	{ NULL, 0, NULL, 0 }
};

static int tradeoff_main(int argc, char **argv)
{
	struct wish wish = { .heavy = DEFAULT_HEAVY };
	int option, status = DONE;

	while (status == DONE &&
	       (option = next_option(&tradeoff_command, argc, argv)) != -1)
		status = take_option(&wish, option);
	if (status == DONE && optind + 1 != argc)
		status = optind == argc ?
			usage_error(&tradeoff_command, "say which priority level") :
			usage_error(&tradeoff_command, "\"%s\" is too much",
				    argv[optind + 1]);
	if (status == DONE)
		status = source_is_device(&wish.source) ?
				 show_device(&wish, argv[optind]) :
				 show_manifests(&wish, argv[optind]);
	free_manifests(&wish.source.manifests);
	return status;
}

const struct command tradeoff_command = {
	.name = "tradeoff",
	.summary = "what the queues of a level cost and buy, and others would",
	.help =
"usage: kapfctl tradeoff LEVEL [--queues Q] [--hand H] [--length L] [--heavy N]\n"
"           [--service TIME] [-f PATH]... [--defaults] [-o json]\n"
"\n"
"Shows what queues, handSize and queueLengthLimit of a level cost and buy; beside\n"
"that the same of what is asked for, of twice the queues and of half the length:\n"
"\n"
"  memory   of the queues, and 128 bytes for each request that waits when all\n"
"           queues are full; labels come on top\n"
"  burst    requests that can wait instead of being refused, of one flow (hand *\n"
"           length) and of all (queues * length), beside those that execute\n"
"  odds     that N heavy flows fill each queue of a light one, as kapfctl odds\n"
"  wait     while N heavy flows fill their queues, all different ones: of a light\n"
"           flow, for a turn of each of these; of a heavy one, for a full queue;\n"
"           and that of a full queue when all queues are full.  Requests take one\n"
"           seat.  A wait of 15 s ends with time-out, by default\n"
"  useful length\n"
"           when all queues are full, so many requests of each are served before\n"
"           they time out; what is longer only postpones the refusal\n"
"\n"
"      --queues Q       1 to 10000000\n"
"      --hand H         1 to 15, and no more than Kubernetes allows\n"
"      --length L       1 to 2147483647\n"
"      --heavy N        1 to 65535; default: 4\n"
"      --service TIME   for which a request holds its seat, as in 20ms or 1.5s;\n"
"                       default: what the device does in a second, or 100ms\n"
"  -f, --filename PATH  ask these manifests and the mandatory objects, with the\n"
"                       nominal limit, rather than the device, with the current one\n"
"      --defaults       the same with the default objects of Kubernetes\n"
"\n"
"With -o, an object: priority_level, seats, service_ns, service_is (as asked,\n"
"measured or assumed), heavy_flows and shapes, a list of what, queues, hand_size,\n"
"queue_length_limit, queue_bytes, waiting_bytes, flow_burst_requests,\n"
"level_burst_requests, probability, light_wait_ns, heavy_wait_ns, full_wait_ns\n"
"(null: for ever) and useful_length.\n",
	.formats = "json",
	.brief = "f:",
	.options = options,
	.names = "prioritylevels",
	.main = tradeoff_main,
};
