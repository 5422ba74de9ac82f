// SPDX-License-Identifier: GPL-2.0
/*
 * PriorityLevelConfigurations: every rule of their validation from just inside
 * and just outside, and what they mean in each version of the API.
 */
#include <stdio.h>

#include "test.h"

#define PRESERVE \
	"annotations: {flowcontrol.k8s.io/" \
	"v1beta3-preserve-zero-concurrency-shares: \"\"}"

/* For a version, more metadata and shares */
#define TEMPLATE \
	"apiVersion: " API "%s\nkind: PriorityLevelConfiguration\n" \
	"metadata: {name: x, %s}\n" \
	"spec: {type: Limited, limited: {%s " REJECT "}}\n"

static void test_shares(void)
{
	static const struct {
		const char *version;
		const char *metadata;
		const char *limited;
		unsigned int shares;
	} tries[] = {
		{ "v1beta1", "", "assuredConcurrencyShares: 7,", 7 },
		{ "v1beta1", "", "assuredConcurrencyShares: 0,", 30 },
		{ "v1beta2", "", "", 30 },
		{ "v1beta2", PRESERVE, "assuredConcurrencyShares: 0,", 30 },
		{ "v1beta3", "", "nominalConcurrencyShares: 7,", 7 },
		{ "v1beta3", "", "nominalConcurrencyShares: 0,", 30 },
		{ "v1beta3", "", "", 30 },
		{ "v1beta3", PRESERVE, "nominalConcurrencyShares: 0,", 0 },
		{ "v1beta3", PRESERVE, "nominalConcurrencyShares: 7,", 7 },
		{ "v1beta3", PRESERVE, "", 0 },
		{ "v1", "", "nominalConcurrencyShares: 0,", 0 },
		{ "v1", "", "nominalConcurrencyShares: null,", 30 },
		{ "v1", "", "", 30 },
	};

	for (size_t i = 0; i < SIZE(tries); i++) {
		struct kapf_configuration *config = kapf_config_new();
		const struct kapf_priority_level *level;
		struct kapf_error err = {};
		char text[512];
		int ret;

		snprintf(text, sizeof(text), TEMPLATE, tries[i].version,
			 tries[i].metadata, tries[i].limited);
		ret = merge(config, text, &err);
		level = kapf_config_level(config, "x");
		ok(!ret && level && level->nominal_shares == tries[i].shares,
		   "level: %s {%s} {%s} has %u shares %s", tries[i].version,
		   tries[i].metadata, tries[i].limited,
		   level ? level->nominal_shares : ~0u, err.text);
		kapf_config_free(config);
	}
}

#define LIMITED(members) \
	OBJECT("PriorityLevelConfiguration", "name: x", \
	       "type: Limited, limited: {" members "}")
#define LENDING(lendable, borrowing) \
	"lendablePercent: " #lendable ", borrowingLimitPercent: " #borrowing ", "
#define QUEUE(queuing) \
	"limitResponse: {type: Queue, queuing: {" queuing "}}"
#define QUEUES(queues, hand, length) \
	"queues: " #queues ", handSize: " #hand ", queueLengthLimit: " #length

static void test_fields(void)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	const struct kapf_priority_level *level;
	int ret = merge(config, "# first line\n" LIMITED(QUEUE("")), &err);

	level = kapf_config_level(config, "x");
	ok(!ret && level->type == KAPF_LEVEL_QUEUE && level->queues == 64 &&
	   level->hand_size == 8 && level->queue_length_limit == 50 &&
	   level->nominal_shares == 30 && level->lendable_percent == 0 &&
	   level->borrowing_limit_percent == KAPF_BORROWING_UNLIMITED,
	   "level: defaults %s", err.text);
	ok(!strcmp(level->meta.file, "x") && level->meta.line == 3,
	   "level: is at %s:%u", level->meta.file, level->meta.line);
	ret = merge(config,
		    LIMITED("nominalConcurrencyShares: 1, "
			    LENDING(2, 3) QUEUE(QUEUES(6, 4, 5))),
		    &err);
	level = kapf_config_level(config, "x");
	ok(!ret && level->type == KAPF_LEVEL_QUEUE && level->queues == 6 &&
	   level->hand_size == 4 && level->queue_length_limit == 5 &&
	   level->nominal_shares == 1 && level->lendable_percent == 2 &&
	   level->borrowing_limit_percent == 3,
	   "level: all fields %s", err.text);
	kapf_config_free(config);
}

void test_levels(void)
{
	try_cases("level.txt");
	test_shares();
	test_fields();
}
