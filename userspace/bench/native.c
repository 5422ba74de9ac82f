// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-bench-native: what the engine and libkapf's classification take as they are,
 * without a kernel below, and what the reference takes for the same.  Prints lines
 * "KEY VALUE".
 *
 * The reference is another program, kapf-bench-reference, which may lie beside this one
 * or not.  It is given the workloads on its standard
 * input, as one line of JSON, and then what to measure, a word on a line; it answers
 * with the ns of one operation and a sum of all its answers, which has to be ours.
 * So both take turns.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "count.h"
#include "native.h"

#define REQUESTS 512

/* With the 11 default ones 1000 */
#define SCHEMAS 989

/* How long to measure at a time */
#define MEASURE_NS 50000000

/* Between two looks at the clock */
#define CYCLES 5000

/**
 * struct peer - the reference's program
 * @to: what it reads
 * @from: what it writes
 * @pid: of it
 */
struct peer {
	FILE *to;
	FILE *from;
	pid_t pid;
};

static const char usage[] =
	"usage: kapf-bench-native [--repeats N]\n"
	"Measures the engine and libkapf's classification N (15) times, in turn with\n"
	"the reference's, if kapf-bench-reference lies beside this program.\n";

static struct matching *default_set, *large_set;

void fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("kapf-bench-native: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	exit(1);
}

static unsigned int run_engine(void)
{
	engine_run(CYCLES);
	return CYCLES;
}

static unsigned int run_default(void)
{
	return matching_run(default_set);
}

static unsigned int run_large(void)
{
	return matching_run(large_set);
}

static unsigned int run_hash(void)
{
	return matching_hash(default_set);
}

static uint64_t sum_default(void)
{
	return matching_sum(default_set);
}

static uint64_t sum_large(void)
{
	return matching_sum(large_set);
}

/**
 * struct work - something that is measured
 * @word: for the reference's program
 * @key: of our sample
 * @reference: of the reference's
 * @run: do some of it; Return: how much that was
 * @sum: of all answers; NULL: they are not looked at
 */
static const struct work {
	const char *word;
	const char *key;
	const char *reference;
	unsigned int (*run)(void);
	uint64_t (*sum)(void);
} works[] = {
	{ "engine", "engine_ns", "reference_ns", run_engine, NULL },
	{ "classify_default", "classify_default_ns",
	  "reference_classify_default_ns", run_default, sum_default },
	{ "classify_1000", "classify_1000_ns",
	  "reference_classify_1000_ns", run_large, sum_large },
	{ "flow_hash", "flow_hash_ns", "reference_flow_hash_ns", run_hash,
	  NULL },
};

/* Has the reference answered as we do? */
static void compare(const struct work *work, uint64_t sum)
{
	if (work->sum && sum != work->sum())
		fail("%s: the answers are not the reference's", work->word);
}

/* Of this process: others run beside it. */
static uint64_t clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static void measure(const struct work *work)
{
	uint64_t start, elapsed, nr = 0;

	work->run();
	start = clock_ns();
	do {
		nr += work->run();
		elapsed = clock_ns() - start;
	} while (elapsed < MEASURE_NS);
	printf("native.%s %.2f\n", work->key, (double)elapsed / nr);
}

static void measure_peer(const struct work *work, struct peer *peer)
{
	uint64_t sum;
	double ns;

	fprintf(peer->to, "%s\n", work->word);
	fflush(peer->to);
	if (fscanf(peer->from, "%lf %lu", &ns, &sum) != 2)
		fail("the reference's program does not answer");
	compare(work, sum);
	printf("native.%s %.2f\n", work->reference, ns);
}

/* Return: the path of the reference's program, beside ours; NULL: it is not there. */
static const char *find_peer(void)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));

	if (len < 0 || len == sizeof(path))
		return NULL;
	path[len] = '\0';
	len = strrchr(path, '/') - path;
	snprintf(path + len, sizeof(path) - len, "/kapf-bench-reference");
	return access(path, X_OK) ? NULL : path;
}

static void start_peer(struct peer *peer, const char *program)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		fail("pipe: %s", strerror(errno));
	peer->pid = fork();
	if (!peer->pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execl(program, program, "--native", NULL);
		fail("%s: %s", program, strerror(errno));
	}
	close(to[0]);
	close(from[1]);
	peer->to = fdopen(to[1], "w");
	peer->from = fdopen(from[0], "r");
	if (peer->pid < 0 || !peer->to || !peer->from)
		fail("%s: %s", program, strerror(errno));
}

static void stop_peer(struct peer *peer)
{
	int status;

	fclose(peer->to);
	if (waitpid(peer->pid, &status, 0) < 0 || status)
		fail("the reference's program has failed");
	fclose(peer->from);
}

static void add_number(struct json_object *to, const char *key, int number)
{
	json_object_object_add(to, key, json_object_new_int(number));
}

static struct json_object *describe_engine(const uint64_t *hashes)
{
	struct json_object *engine = json_object_new_object();
	struct json_object *list = json_object_new_array();

	add_number(engine, "seats", ENGINE_SEATS);
	add_number(engine, "queues", ENGINE_QUEUES);
	add_number(engine, "hand", ENGINE_HAND);
	add_number(engine, "length", ENGINE_LENGTH);
	add_number(engine, "depth", ENGINE_DEPTH);
	add_number(engine, "step", ENGINE_STEP_NS);
	for (unsigned int i = 0; i < ENGINE_FLOWS; i++)
		json_object_array_add(list, json_object_new_uint64(hashes[i]));
	json_object_object_add(engine, "hashes", list);
	return engine;
}

/* Return: the workloads, for the reference's program; ours have begun. */
static struct json_object *prepare(void)
{
	struct json_object *all = json_object_new_object();
	struct json_object *schemas = set_schemas(SCHEMAS);
	struct json_object *requests = set_requests(REQUESTS);
	struct json_object *none = json_object_new_array();
	uint64_t hashes[ENGINE_FLOWS];

	for (unsigned int i = 0; i < ENGINE_FLOWS; i++)
		hashes[i] = set_random();
	engine_start(hashes);
	default_set = matching_new(none, requests);
	large_set = matching_new(schemas, requests);
	json_object_put(none);
	json_object_object_add(all, "engine", describe_engine(hashes));
	json_object_object_add(all, "schemas", schemas);
	json_object_object_add(all, "requests", requests);
	return all;
}

static void measure_all(unsigned long repeats, struct peer *peer)
{
	while (repeats--)
		for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
			measure(&works[i]);
			if (peer->to)
				measure_peer(&works[i], peer);
		}
}

int main(int argc, char **argv)
{
	const char *program = find_peer();
	struct json_object *all;
	struct peer peer = {};
	unsigned long repeats = 15;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "--repeats")) {
		if (!parse_count(argv[2], &repeats)) {
			fprintf(stderr,
				"kapf-bench-native: no such number of repeats: %s; 1 to %d\n",
				argv[2], COUNT_MAX);
			return 2;
		}
	} else if (argc != 1) {
		fputs(usage, stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	all = prepare();
	if (program) {
		start_peer(&peer, program);
		fprintf(peer.to, "%s\n",
			json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN));
	} else {
		fputs("kapf-bench-native: there is no kapf-bench-reference to compare with\n",
		      stderr);
	}
	measure_all(repeats, &peer);
	if (program)
		stop_peer(&peer);
	json_object_put(all);
	matching_free(default_set);
	matching_free(large_set);
	return 0;
}
