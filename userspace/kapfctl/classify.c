// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl classify: what becomes of a request, without making it: its
 * FlowSchema, its flow, the queues that the flow may use, and the seats.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dealer.h"
#include "kapfctl.h"

static void print_hand(const struct answer *answer)
{
	const struct kapf_priority_level *level = answer->level;
	uint32_t i;

	printf("Hand:           ");
	for (i = 0; i < level->hand_size; i++)
		printf("%s%u", i ? " " : "", answer->hand[i]);
	if (level->queues)
		printf(" of %u queue%s\n", level->queues,
		       plural(level->queues));
	else
		printf("none, the level has no queues\n");
}

static void print_seats(const struct answer *answer)
{
	const struct kapf_work *work = &answer->work;

	printf("Seats:          %u", work->initial_seats);
	if (work->final_seats)
		printf(", then %u for %g ms", work->final_seats,
		       work->additional_latency / 1e6);
	printf(", a list at most %u\n", answer->max_seats);
}

/**
 * answer_print() - print what becomes of a request
 * @answer: it
 */
void answer_print(const struct answer *answer)
{
	char *distinguisher = make_printable(answer->distinguisher, "\\\"");

	if (answer->is_long_running)
		printf("LongRunning:    yes, not subject to admission; else it were:\n");
	printf("FlowSchema:     %s\n", answer->schema->name);
	printf("PriorityLevel:  %s\n", answer->level->name);
	printf("Distinguisher:  \"%s\"\n", distinguisher);
	free(distinguisher);
	printf("FlowHash:       0x%016jx\n", (uintmax_t)answer->hash);
	print_hand(answer);
	print_seats(answer);
}

/**
 * answer_tree() - what becomes of a request, as a tree
 * @answer: it
 */
struct json_object *answer_tree(const struct answer *answer)
{
	struct json_object *tree = tree_map(), *hand = tree_list();
	char hash[32];
	uint32_t i;

	/* A number of 64 bits is more than many a reader of JSON can take. */
	snprintf(hash, sizeof(hash), "0x%016jx", (uintmax_t)answer->hash);

	tree_add(tree, "flow_schema", tree_text(answer->schema->name));
	tree_add(tree, "priority_level", tree_text(answer->level->name));
	tree_add(tree, "flow_distinguisher", tree_text(answer->distinguisher));
	tree_add(tree, "flow_hash", tree_text(hash));
	for (i = 0; i < answer->level->hand_size; i++)
		tree_append(hand, tree_number(answer->hand[i]));
	tree_add(tree, "hand", hand);
	tree_add(tree, "queues", tree_number(answer->level->queues));
	tree_add(tree, "seats", tree_number(answer->work.initial_seats));
	tree_add(tree, "final_seats", tree_number(answer->work.final_seats));
	tree_add(tree, "additional_latency_ns",
		 tree_number(answer->work.additional_latency));
	tree_add(tree, "max_list_seats", tree_number(answer->max_seats));
	tree_add(tree, "long_running", tree_bool(answer->is_long_running));
	return tree;
}

/**
 * answer_find() - find out what becomes of a request
 * @answer: out
 * @config: by which
 * @inquiry: the request
 * @tell: as kapf_explain()
 * @user: likewise
 */
void answer_find(struct answer *answer, const struct kapf_configuration *config,
		 const struct inquiry *inquiry, kapf_match_fn *tell,
		 void *user)
{
	const struct kapf_digest *digest = &inquiry->digest;
	const struct kapf_flow_schema *schema =
		kapf_explain(config, digest, tell, user);

	*answer = (struct answer){
		.schema = schema,
		.level = kapf_config_level(config, schema->level),
		.distinguisher = kapf_flow_distinguisher(schema, digest),
		.is_long_running =
			kapf_http_request_is_long_running(inquiry->request),
	};
	answer->hash = kapf_flow_hash(schema->name, digest->tenant,
				      answer->distinguisher);
	if (answer->level->type == KAPF_LEVEL_QUEUE)
		kapf_deal_hand(answer->hash, answer->level->queues,
			       answer->level->hand_size, answer->hand);
	answer->max_seats = kapf_max_seats(answer->level);
	kapf_work_estimate(&answer->work, inquiry->request, &inquiry->store,
			   answer->max_seats, KAPF_LIST_BY_SIZE);
}

static void classify(const struct kapf_configuration *config,
		     const struct inquiry *inquiry)
{
	struct answer answer;

	answer_find(&answer, config, inquiry, NULL, NULL);
	if (output_format)
		tree_print(answer_tree(&answer));
	else
		answer_print(&answer);
}

static int classify_main(int argc, char **argv)
{
	return ask(&classify_command, argc, argv, classify);
}

const struct command classify_command = {
	.name = "classify",
	.summary = "say which schema, level, flow and queues a request gets",
	.help =
"usage: kapfctl classify REQUEST WHO [STORE] [-f PATH]... [--defaults] [-o json]\n"
INQUIRY_SYNOPSIS
"\n"
"Says which FlowSchema and which level a request belongs to, its flow, the hash\n"
"and the hand (the queues) of the flow, the seats that it takes, and the most\n"
"that a list costs there.\n"
"\n"
INQUIRY_HELP
"\n"
"With -o, an object: " ANSWER_KEYS ".\n",
	.formats = "json",
	.brief = INQUIRY_BRIEF,
	.options = inquiry_options,
	.main = classify_main,
};
