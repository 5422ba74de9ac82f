// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl odds: how likely it is that shuffle sharding does not help, which is
 * what hand size and queues of a level are chosen by.
 *
 * Heavy flows (elephants) keep all queues of their hands full.  A light one (a
 * mouse) suffers when each queue of its hand is in the hand of some elephant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dealer.h"
#include "kapfctl.h"

#define MAX_ELEPHANTS 65535

/* Digits that are shown; long double has room for 18. */
#define DIGITS 13

/* A number of DIGITS digits, with zeros before or an exponent. */
#define ODDS_ROOM 32

/**
 * struct question - what is asked
 * @hand: queues in a hand
 * @queues: of the level
 * @elephants: numbers of heavy flows
 * @nr: how many numbers
 */
struct question {
	unsigned int hand;
	unsigned int queues;
	unsigned int *elephants;
	size_t nr;
};

/* How many sets of @k there are in @n; 0 when @k > @n. */
static long double choose(unsigned int n, unsigned int k)
{
	long double sets = 1;
	unsigned int i;

	for (i = 0; i < k && i <= n; i++)
		sets = sets * (n - i) / (i + 1);
	return sets;
}

/**
 * odds() - how likely it is that a light flow has no queue for itself
 * @hand: queues in a hand
 * @queues: of the level, at least as many
 * @elephants: heavy flows
 *
 * One elephant after the other takes its hand.  What is known before and after is
 * how likely it is that so many queues of the mouse's are left; an elephant takes
 * some of them as often as there are hands with these and others.  All that is
 * added up is positive, so that no digits cancel out.
 *
 * Return: a probability.
 */
long double odds(unsigned int hand, unsigned int queues, unsigned int elephants)
{
	long double takes[KAPF_HAND_MAX + 1][KAPF_HAND_MAX + 1];
	long double left[KAPF_HAND_MAX + 1] = { 0 };
	long double hands = choose(queues, hand);
	unsigned int from, to;

	for (from = 0; from <= hand; from++)
		for (to = 0; to <= from; to++)
			takes[from][to] = choose(from, from - to) *
				choose(queues - from, hand - (from - to)) /
				hands;
	left[hand] = 1;
	while (elephants--) {
		for (to = 0; to <= hand; to++) {
			left[to] *= takes[to][to];
			for (from = to + 1; from <= hand; from++)
				left[to] += left[from] * takes[from][to];
		}
	}
	return left[0];
}

static void format_odds(char text[ODDS_ROOM], const struct question *question,
			unsigned int elephants)
{
	snprintf(text, ODDS_ROOM, "%#.*Lg", DIGITS,
		 odds(question->hand, question->queues, elephants));
}

static void print_odds(const struct question *question)
{
	static const char *const columns[] = {
		"HAND", "QUEUES", "ELEPHANTS", "PROBABILITY", NULL
	};
	struct libscols_table *table = table_new(columns);
	char cell[3][16], probability[ODDS_ROOM];
	size_t i;

	for (i = 0; i < question->nr; i++) {
		snprintf(cell[0], sizeof(cell[0]), "%u", question->hand);
		snprintf(cell[1], sizeof(cell[1]), "%u", question->queues);
		snprintf(cell[2], sizeof(cell[2]), "%u",
			 question->elephants[i]);
		format_odds(probability, question, question->elephants[i]);
		table_row(table, cell[0], cell[1], cell[2], probability);
	}
	table_print(table);
}

static struct json_object *odds_tree(const struct question *question)
{
	struct json_object *tree = tree_map(), *list = tree_list();
	char probability[ODDS_ROOM];
	size_t i;

	tree_add(tree, "hand", tree_number(question->hand));
	tree_add(tree, "queues", tree_number(question->queues));
	tree_add(tree, "odds", list);
	for (i = 0; i < question->nr; i++) {
		struct json_object *one = tree_map();

		format_odds(probability, question, question->elephants[i]);
		tree_add(one, "elephants", tree_number(question->elephants[i]));
		tree_add(one, "probability", tree_decimal(probability));
		tree_append(list, one);
	}
	return tree;
}

static void take_elephants(struct question *question, const char *value)
{
	char *list = need(strdup(value)), *rest = list;
	const char *number;

	free(question->elephants);
	question->elephants = need(calloc(strlen(value) + 1,
					  sizeof(*question->elephants)));
	question->nr = 0;
	while ((number = strsep(&rest, ",")))
		question->elephants[question->nr++] =
			number_option(&odds_command, "elephants", number, 1,
				      MAX_ELEPHANTS);
	free(list);
}

static int check(const struct question *question)
{
	unsigned int most;

	if (!question->hand || !question->queues)
		return usage_error(&odds_command, "--%s is missing",
				   question->hand ? "queues" : "hand");
	most = kapf_hand_max(question->queues);
	if (question->hand <= most)
		return DONE;
	return usage_error(&odds_command,
			   "--hand %u is too many for %u queue%s: must be at most %u",
			   question->hand, question->queues,
			   plural(question->queues), most);
}

static const struct option options[] = {
	{ "hand", required_argument, NULL, 'H' },
	{ "queues", required_argument, NULL, 'q' },
	{ "elephants", required_argument, NULL, 'e' },
	{ NULL, 0, NULL, 0 }
};

static int odds_main(int argc, char **argv)
{
	struct question question = { .nr = 0 };
	int option, status;

	take_elephants(&question, "1,4,16");
	while ((option = next_option(&odds_command, argc, argv)) != -1) {
		if (option == 'H')
			question.hand = number_option(&odds_command, "hand",
						      optarg, 1, KAPF_HAND_MAX);
		else if (option == 'q')
			question.queues = number_option(&odds_command, "queues",
							optarg, 1,
							KAPF_MAX_QUEUES);
		else
			take_elephants(&question, optarg);
	}
	status = optind == argc ? check(&question) :
				  usage_error(&odds_command, "\"%s\" is too much",
					      argv[optind]);
	if (status == DONE && output_format)
		tree_print(odds_tree(&question));
	else if (status == DONE)
		print_odds(&question);
	free(question.elephants);
	return status;
}

const struct command odds_command = {
	.name = "odds",
	.summary = "how well a hand size and a number of queues protect",
	.help =
"usage: kapfctl odds --hand H --queues Q [--elephants N[,N]...] [-o json]\n"
"\n"
"Prints, to choose handSize and queues of a level by, the probability that each\n"
"queue of a light flow's hand (a mouse's) is in the hand of at least one of N\n"
"heavy flows (elephants), to 13 digits.  Needs no device.\n"
"\n"
"      --hand H         queues in a hand: 1 to 15, and no more than Kubernetes\n"
"                       allows of so many queues: H * log2(Q) is at most 60\n"
"      --queues Q       queues of the level: 1 to 10000000\n"
"      --elephants N    1 to 65535; default: 1,4,16\n"
"\n"
"With -o, an object: hand, queues and odds, a list of elephants and probability.\n",
	.formats = "json",
	.options = options,
	.main = odds_main,
};
