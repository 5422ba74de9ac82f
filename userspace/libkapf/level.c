// SPDX-License-Identifier: LGPL-2.1
/*
 * PriorityLevelConfigurations: spec from a tree, in any version of the API,
 * with the defaults and checks of Kubernetes.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define DEFAULT_SHARES			30
#define DEFAULT_QUEUES			64
#define DEFAULT_HAND_SIZE		8
#define DEFAULT_QUEUE_LENGTH_LIMIT	50

#define CATCH_ALL_SHARES		5

/* Reads a number that fits in 32 bits. */
static int read_u32(const struct kapf_node *map, const char *key, int64_t max,
		    uint32_t *value)
{
	const struct kapf_node node = kapf_node_member(map, key);
	int64_t number = *value;
	int ret = kapf_node_number(&node, 0, max, &number);

	*value = number;
	return ret;
}

/* Reads a number of which 0, as well as none, means the default. */
static int read_positive(const struct kapf_node *map, const char *key,
			 int64_t max, uint32_t fallback, uint32_t *value)
{
	int ret = read_u32(map, key, max, value);

	if (!*value)
		*value = fallback;
	return ret;
}

static int read_queuing(const struct kapf_node *queuing,
			struct kapf_priority_level *level)
{
	static const char *const members[] = {
		"queues", "handSize", "queueLengthLimit", NULL
	};
	const struct kapf_node hand = kapf_node_member(queuing, "handSize");
	int ret = kapf_node_map(queuing, members);
	uint32_t max;

	if (!ret)
		ret = read_positive(queuing, "queues", KAPF_MAX_QUEUES,
				    DEFAULT_QUEUES, &level->queues);
	if (!ret)
		ret = read_positive(queuing, "handSize", KAPF_MAX_INT32,
				    DEFAULT_HAND_SIZE, &level->hand_size);
	if (!ret)
		ret = read_positive(queuing, "queueLengthLimit", KAPF_MAX_INT32,
				    DEFAULT_QUEUE_LENGTH_LIMIT,
				    &level->queue_length_limit);
	if (ret)
		return ret;
	if (level->hand_size > level->queues)
		return kapf_node_refuse(&hand, "%u exceeds queues (%u)",
					level->hand_size, level->queues);
	max = kapf_max_hand(level->queues);
	if (level->hand_size > max)
		return kapf_node_refuse(&hand, "%u is too many for %u queues: must be at most %u",
					level->hand_size, level->queues, max);
	return 0;
}

static int read_limit_response(const struct kapf_node *response,
			       struct kapf_priority_level *level)
{
	static const char *const members[] = { "type", "queuing", NULL };
	const struct kapf_node type = kapf_node_member(response, "type");
	const struct kapf_node queuing = kapf_node_member(response, "queuing");
	const char *text;
	int ret = kapf_node_map(response, members);

	if (!ret)
		ret = kapf_node_string(&type, &text);
	if (ret)
		return ret;
	if (!strcmp(text, "Reject")) {
		level->type = KAPF_LEVEL_REJECT;
		if (queuing.value)
			return kapf_node_refuse(&queuing, "must not be there: type is Reject");
		return 0;
	}
	if (strcmp(text, "Queue"))
		return kapf_node_unlike(&type, "Queue or Reject");
	level->type = KAPF_LEVEL_QUEUE;
	if (!queuing.value)
		return kapf_node_refuse(&queuing,
					"is missing: type is Queue");
	return read_queuing(&queuing, level);
}

static const char *shares_name(const struct kapf_node *node)
{
	return node->source->version < KAPF_V1BETA3 ?
		"assuredConcurrencyShares" : "nominalConcurrencyShares";
}

static int read_shares(const struct kapf_node *object,
		       const struct kapf_node *limited,
		       struct kapf_priority_level *level)
{
	const enum kapf_api_version version = limited->source->version;
	bool zero_is_zero = version == KAPF_V1 ||
		(version == KAPF_V1BETA3 && kapf_meta_preserves_zero(object));
	const struct kapf_node node =
		kapf_node_member(limited, shares_name(limited));
	int ret;

	/* There, no value and 0 cannot be told apart. */
	if (version == KAPF_V1BETA3 && zero_is_zero)
		level->nominal_shares = 0;
	else
		level->nominal_shares = DEFAULT_SHARES;
	ret = read_u32(limited, node.key, KAPF_MAX_INT32,
		       &level->nominal_shares);
	if (!level->nominal_shares && !zero_is_zero)
		level->nominal_shares = DEFAULT_SHARES;
	return ret;
}

/* The level catch-all is what it is. */
static int check_catch_all(const struct kapf_node *limited,
			   const struct kapf_priority_level *level)
{
	static const char why[] = "the spec of this mandatory object cannot be changed";
	const struct kapf_node response =
		kapf_node_member(limited, "limitResponse");
	const struct kapf_node type = kapf_node_member(&response, "type");
	const struct kapf_node shares =
		kapf_node_member(limited, shares_name(limited));
	const struct kapf_node lendable =
		kapf_node_member(limited, "lendablePercent");
	const struct kapf_node borrowing =
		kapf_node_member(limited, "borrowingLimitPercent");

	if (level->type != KAPF_LEVEL_REJECT)
		return kapf_node_refuse(&type, "\"Queue\" is not \"Reject\": %s",
					why);
	if (level->nominal_shares != CATCH_ALL_SHARES)
		return kapf_node_refuse(&shares, "%u is not %u: %s",
					level->nominal_shares, CATCH_ALL_SHARES,
					why);
	if (level->lendable_percent)
		return kapf_node_refuse(&lendable, "%u is not 0: %s",
					level->lendable_percent, why);
	if (level->borrowing_limit_percent != KAPF_BORROWING_UNLIMITED)
		return kapf_node_refuse(&borrowing, "must not be there: %s",
					why);
	return 0;
}

static int read_limited(const struct kapf_node *object,
			const struct kapf_node *limited,
			struct kapf_priority_level *level)
{
	const char *const members[] = {
		shares_name(limited), "limitResponse", "lendablePercent",
		"borrowingLimitPercent", NULL
	};
	const struct kapf_node response =
		kapf_node_member(limited, "limitResponse");
	int ret = kapf_node_map(limited, members);

	if (!ret)
		ret = read_shares(object, limited, level);
	if (!ret)
		ret = read_u32(limited, "lendablePercent", 100,
			       &level->lendable_percent);
	if (!ret)
		ret = read_u32(limited, "borrowingLimitPercent", KAPF_MAX_INT32,
			       &level->borrowing_limit_percent);
	if (!ret)
		ret = read_limit_response(&response, level);
	if (!ret && !strcmp(level->name, KAPF_NAME_CATCH_ALL))
		ret = check_catch_all(limited, level);
	return ret;
}

static int read_exempt(const struct kapf_node *exempt,
		       struct kapf_priority_level *level)
{
	static const char *const members[] = {
		"nominalConcurrencyShares", "lendablePercent", NULL
	};
	int ret = kapf_node_map(exempt, members);

	level->type = KAPF_LEVEL_EXEMPT;
	if (!ret)
		ret = read_u32(exempt, "nominalConcurrencyShares",
			       KAPF_MAX_INT32, &level->nominal_shares);
	if (!ret)
		ret = read_u32(exempt, "lendablePercent", 100,
			       &level->lendable_percent);
	return ret;
}

/**
 * kapf_level_read() - spec of a PriorityLevelConfiguration
 * @object: the whole object
 * @level: in: zero but for its name and metadata; out
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kapf_level_read(const struct kapf_node *object,
		    struct kapf_priority_level *level)
{
	static const char *const members[] = {
		"type", "limited", "exempt", NULL
	};
	const struct kapf_node spec = kapf_node_member(object, "spec");
	const struct kapf_node type = kapf_node_member(&spec, "type");
	const struct kapf_node limited = kapf_node_member(&spec, "limited");
	const struct kapf_node exempt = kapf_node_member(&spec, "exempt");
	static const char why[] =
		"only nominalConcurrencyShares and lendablePercent can be changed";
	bool is_exempt = !strcmp(level->name, KAPF_NAME_EXEMPT);
	const char *text;
	int ret = kapf_node_map(&spec, members);

	if (!ret)
		ret = kapf_node_string(&type, &text);
	if (ret)
		return ret;
	level->borrowing_limit_percent = KAPF_BORROWING_UNLIMITED;
	if (!strcmp(text, "Exempt")) {
		if (!is_exempt)
			return kapf_node_refuse(&type, "\"Exempt\" is only for %s: must be Limited",
						KAPF_NAME_EXEMPT);
		if (limited.value)
			return kapf_node_refuse(&limited, "must not be there: type is Exempt");
		return read_exempt(&exempt, level);
	}
	if (strcmp(text, "Limited"))
		return kapf_node_unlike(&type, is_exempt ? "Exempt" : "Limited");
	if (is_exempt)
		return kapf_node_refuse(&type, "\"Limited\" is not \"Exempt\": %s",
					why);
	if (exempt.value)
		return kapf_node_refuse(&exempt,
					"must not be there: type is Limited");
	if (!limited.value)
		return kapf_node_refuse(&limited,
					"is missing: type is Limited");
	return read_limited(object, &limited, level);
}

/* Frees what @level owns. */
void kapf_level_destroy(struct kapf_priority_level *level)
{
	kapf_meta_destroy(&level->meta);
}

unsigned int kapf_max_seats(const struct kapf_priority_level *level)
{
	unsigned int share, by_hand, seats;

	if (level->type != KAPF_LEVEL_QUEUE)
		return KAPF_MAX_WIDTH;
	share = ((uint64_t)level->nominal_seats * 15 + 99) / 100;
	by_hand = level->nominal_seats / level->hand_size;
	seats = share < by_hand ? share : by_hand;
	return seats ? seats : 1;
}
