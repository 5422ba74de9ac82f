// SPDX-License-Identifier: GPL-2.0
/*
 * Which results there are to be, how each follows from samples, and the goals.
 */
#include <err.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

const char *const peers[NR_PEERS] = {
	"kapf", "mutex", "sysv", "socket", "shm", "reference",
};

/* The first pattern that fits a key tells what its value counts. */
static const struct {
	const char *pattern;
	const char *unit;
} units[] = {
	{ "*_ns", "ns" },
	{ "*_ms", "ms" },
	{ "*_over_*", "ratio" },
	{ "insn.*", "instructions" },
	{ "bytes.*", "bytes" },
	{ "wall.peer.*", "times kapf" },
	{ "wall.exempt_scaling_*", "ratio" },
	{ "wall.*", "ns" },
	{ "*.jain", "of 1" },
	{ "*.seats_return_after_kill", "1: yes" },
	{ "*", "" },
};

static const char *unit_of(const char *key)
{
	size_t i = 0;

	while (fnmatch(units[i].pattern, key, 0))
		i++;
	return units[i].unit;
}

typedef bool estimate_fn(const struct series *a, const struct series *b,
			 struct estimate *estimate);

/**
 * struct rule - of one result, or of one of each peer
 * @key: of the result; with %s: for all peers
 * @relation: to its goal
 * @factor: of the goal
 * @times: NULL, or key of what is multiplied by @factor
 * @plus: NULL, or key of what is added
 * @how: NULL: the median of the samples of @key
 * @a: otherwise key of its first argument
 * @b: of its second one
 */
struct rule {
	const char *key;
	enum relation relation;
	double factor;
	const char *times;
	const char *plus;
	estimate_fn *how;
	const char *a;
	const char *b;
};

static const struct rule rules[] = {
	{ .key = "insn.null_call" },
	/* N, the null call, is needed once for ADMIT and once for FINISH. */
	{ .key = "insn.admit_finish", .relation = AT_MOST, .factor = 3.2,
	  .times = "insn.null_call" },
	{ .key = "insn.exempt_admit_finish", .relation = AT_MOST,
	  .factor = 2.64,
	  .times = "insn.null_call" },
	{ .key = "insn.batch64_per_request", .relation = AT_MOST,
	  .factor = 0.62,
	  .times = "insn.null_call", .plus = "insn.batch64_copy_per_request" },
	{ .key = "insn.batch64_copy_per_request" },
	{ .key = "insn.dispatch_16q_800w" },
	{ .key = "insn.dispatch_1024q_50000w", .relation = AT_MOST,
	  .factor = 1.35,
	  .times = "insn.dispatch_16q_800w" },
	{ .key = "insn.longest_lock_hold", .relation = AT_MOST,
	  .factor = 20000 },
	{ .key = "insn.handoff.kapf" },
	{ .key = "insn.handoff.futex" },
	{ .key = "insn.handoff_over_futex", .relation = AT_MOST, .factor = 1,
	  .how = estimate_ratios, .a = "insn.handoff.kapf",
	  .b = "insn.handoff.futex" },
	{ .key = "bytes.per_slot", .relation = AT_MOST, .factor = 128 },
	{ .key = "bytes.per_queue", .relation = AT_MOST, .factor = 96 },
	{ .key = "wall.exempt_scaling_2cpu" },
	{ .key = "wall.handoff.kapf" },
	{ .key = "wall.handoff.futex" },
	{ .key = "wall.handoff_over_futex", .relation = AT_MOST, .factor = 1,
	  .how = estimate_ratio, .a = "wall.handoff.kapf",
	  .b = "wall.handoff.futex" },
	{ .key = "wall.peer.socket.uncontended", .relation = AT_LEAST,
	  .factor = 4 },
	{ .key = "wall.peer.socket.saturated", .relation = AT_LEAST,
	  .factor = 4 },
	{ .key = "wall.peer.shm.uncontended" },
	{ .key = "wall.peer.shm.saturated", .relation = AT_LEAST, .factor = 1 },
	{ .key = "wall.peer.sysv.uncontended", .relation = AT_LEAST,
	  .factor = 1 },
	{ .key = "wall.peer.sysv.saturated" },
	{ .key = "wall.peer.mutex.uncontended" },
	{ .key = "wall.peer.mutex.saturated" },
	{ .key = "wall.peer.reference.uncontended", .relation = AT_LEAST,
	  .factor = 3 },
	{ .key = "wall.peer.reference.saturated", .relation = AT_LEAST,
	  .factor = 3 },
	{ .key = "wall.open.%s.poisson.p50_ms" },
	{ .key = "wall.open.%s.poisson.p99_ms" },
	{ .key = "wall.open.%s.onoff.p50_ms" },
	{ .key = "wall.open.%s.onoff.p99_ms" },
	{ .key = "fairness.kapf.jain", .relation = AT_LEAST, .factor = 0.98 },
	{ .key = "fairness.%s.jain" },
	{ .key = "fairness.%s.light_p99_ms" },
	{ .key = "fairness.%s.seats_return_after_kill" },
	{ .key = "native.engine_ns" },
	{ .key = "native.reference_ns", .relation = AT_LEAST, .factor = 10,
	  .times = "native.engine_ns" },
	{ .key = "native.classify_default_ns" },
	{ .key = "native.reference_classify_default_ns", .relation = AT_LEAST,
	  .factor = 5,
	  .times = "native.classify_default_ns" },
	{ .key = "native.classify_1000_ns" },
	{ .key = "native.reference_classify_1000_ns", .relation = AT_LEAST,
	  .factor = 50,
	  .times = "native.classify_1000_ns" },
};

static struct result *find(const struct results *results, const char *key)
{
	size_t i;

	for (i = 0; i < results->nr; i++)
		if (!strcmp(results->all[i].key, key))
			return &results->all[i];
	return NULL;
}

static struct result *add(struct results *results, const char *key)
{
	struct result *result;

	if (results->nr == results->room) {
		results->room = results->room ? 2 * results->room : 64;
		results->all = reallocarray(results->all, results->room,
					    sizeof(*results->all));
		if (!results->all)
			err(1, NULL);
	}
	result = &results->all[results->nr++];
	*result = (struct result){};
	snprintf(result->key, sizeof(result->key), "%s", key);
	return result;
}

/*
 * Key of what a request costs with a peer; with two processes, where the peer can.
 * Return: whether that was measured.
 */
static bool peer_cost_key(char *key, size_t size, const struct samples *samples,
			  const char *peer, const char *workload)
{
	int processes;

	for (processes = 2; processes; processes--) {
		snprintf(key, size, "wall.ns.%s.%s.%d", peer, workload,
			 processes);
		if (samples_find(samples, key))
			return true;
	}
	return false;
}

/* wall.peer.PEER.WORKLOAD: kapf does the same in as many processes. */
static bool estimate_peer(const struct samples *samples, const char *key,
			  struct estimate *estimate)
{
	char peer[32], workload[32], theirs[KEY_BYTES], ours[KEY_BYTES];

	if (sscanf(key, "wall.peer.%31[a-z].%31s", peer, workload) != 2 ||
	    !peer_cost_key(theirs, sizeof(theirs), samples, peer, workload))
		return false;
	snprintf(ours, sizeof(ours), "wall.ns.kapf.%s.%c", workload,
		 theirs[strlen(theirs) - 1]);
	return estimate_ratios(samples_find(samples, theirs),
			       samples_find(samples, ours), estimate);
}

static void find_result(struct results *results, const struct samples *samples,
			const struct rule *rule, const char *key)
{
	struct result *result;

	if (find(results, key))
		return;
	result = add(results, key);
	result->relation = rule->relation;
	if (rule->how)
		result->measured = rule->how(samples_find(samples, rule->a),
					     samples_find(samples, rule->b),
					     &result->estimate);
	else
		result->measured =
			estimate_median(samples_find(samples, key),
					&result->estimate) ||
			estimate_peer(samples, key, &result->estimate);
}

/* NAN: it was not measured. */
static double value_of(const struct results *results, const char *key)
{
	const struct result *result = find(results, key);

	return result && result->measured ? result->estimate.value : NAN;
}

static void set_limit(const struct results *results, const struct rule *rule,
		      struct result *result)
{
	int len;

	result->limit = rule->factor;
	if (!rule->times) {
		snprintf(result->text, sizeof(result->text), "%g",
			 rule->factor);
		return;
	}
	result->limit *= value_of(results, rule->times);
	len = snprintf(result->text, sizeof(result->text), "%g %s",
		       rule->factor, strchr(rule->times, '.') + 1);
	if (rule->plus) {
		result->limit += value_of(results, rule->plus);
		snprintf(result->text + len, sizeof(result->text) - len,
			 " + %s", strchr(rule->plus, '.') + 1);
	}
}

/*
 * A light flow should wait least where kapf is; or as little as one can tell, for
 * some peers queue by the same engine.
 */
static void set_least(struct results *results)
{
	struct result *ours = find(results, "fairness.kapf.light_p99_ms");
	const struct estimate *least = NULL;
	char key[KEY_BYTES];
	size_t i;

	for (i = 1; i < NR_PEERS; i++) {
		const struct result *theirs;

		snprintf(key, sizeof(key), "fairness.%s.light_p99_ms",
			 peers[i]);
		theirs = find(results, key);
		if (theirs->measured &&
		    (!least || theirs->estimate.value < least->value))
			least = &theirs->estimate;
	}
	ours->relation = AT_MOST;
	ours->limit = !least ? NAN : isnan(least->high) ? least->value :
							   least->high;
	snprintf(ours->text, sizeof(ours->text),
		 "the interval of the least of the others");
}

/* Is the limit within the interval? */
static bool is_close(const struct result *result)
{
	return result->measured && result->relation &&
	       result->estimate.low < result->limit &&
	       result->limit < result->estimate.high;
}

static enum outcome judge(const struct result *result)
{
	double value = result->estimate.value;

	if (!result->measured)
		return NOT_MEASURED;
	if (result->relation == NO_GOAL)
		return NO_JUDGEMENT;
	if (isnan(result->limit))
		return NOT_MEASURED;
	if (result->relation == AT_MOST)
		return value <= result->limit ? MET : MISSED;
	return value >= result->limit ? MET : MISSED;
}

/* What one process alone can use has nobody to return seats to. */
static void set_no_case(struct results *results)
{
	char key[KEY_BYTES];
	size_t i;

	for (i = 0; i < NR_PEERS; i++) {
		struct result *seats;

		snprintf(key, sizeof(key), "fairness.%s.jain", peers[i]);
		if (!find(results, key)->measured)
			continue;
		snprintf(key, sizeof(key),
			 "fairness.%s.seats_return_after_kill", peers[i]);
		seats = find(results, key);
		if (!seats->measured)
			seats->outcome = NO_CASE;
	}
}

/* Whatever else there is: it goes into no table. */
static void find_others(struct results *results, const struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->nr; i++) {
		struct result *result;

		if (find(results, samples->series[i].key))
			continue;
		result = add(results, samples->series[i].key);
		result->raw = true;
		result->measured = estimate_median(&samples->series[i],
						   &result->estimate);
	}
}

/**
 * results_find() - make results of samples
 * @results: out
 * @samples: of everything
 */
void results_find(struct results *results, const struct samples *samples)
{
	char key[KEY_BYTES];
	size_t i, peer;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		for (peer = 0; peer < NR_PEERS; peer++) {
			const char *pattern = rules[i].key;
			const char *at = strstr(pattern, "%s");

			snprintf(key, sizeof(key), "%.*s%s%s",
				 at ? (int)(at - pattern) : 0, pattern,
				 at ? peers[peer] : "", at ? at + 2 : pattern);
			find_result(results, samples, &rules[i], key);
		}
	}
	find_others(results, samples);
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].relation)
			set_limit(results, &rules[i],
				  find(results, rules[i].key));
	set_least(results);
	for (i = 0; i < results->nr; i++) {
		results->all[i].unit = unit_of(results->all[i].key);
		results->all[i].outcome = judge(&results->all[i]);
		results->all[i].close = is_close(&results->all[i]);
	}
	set_no_case(results);
}
