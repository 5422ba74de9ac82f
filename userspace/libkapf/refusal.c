// SPDX-License-Identifier: LGPL-2.1
/*
 * What the kernel says of a configuration that it refuses, in the words of the
 * manifests that it was made from.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define LIMITED "spec.limited."
/* As a kube-apiserver says it. */
#define BUDGET \
	"MaxRequestsInFlight=%u and MaxMutatingRequestsInFlight=%u; " \
	"they must add up to something positive"

#define QUEUING LIMITED "limitResponse.queuing."

static const char *const field_names[] = {
	[KAPF_FIELD_NONE] = "the object",
	[KAPF_FIELD_MAGIC] = "magic",
	[KAPF_FIELD_SERVER_SEATS] =
		"max-requests-inflight + max-mutating-requests-inflight",
	[KAPF_FIELD_NR_LEVELS] = "number of PriorityLevelConfigurations",
	[KAPF_FIELD_NR_SCHEMAS] = "number of FlowSchemas",
	[KAPF_FIELD_RECORD_SIZE] = "size of the record",
	[KAPF_FIELD_NAME] = "metadata.name",
	[KAPF_FIELD_UID] = "metadata.uid",
	[KAPF_FIELD_METADATA] = "metadata",
	[KAPF_FIELD_RESERVED] = "reserved",
	[KAPF_FIELD_TYPE] = "spec.type",
	[KAPF_FIELD_NOMINAL_SHARES] = LIMITED "nominalConcurrencyShares",
	[KAPF_FIELD_LENDABLE_PERCENT] = LIMITED "lendablePercent",
	[KAPF_FIELD_BORROWING_LIMIT_PERCENT] = LIMITED "borrowingLimitPercent",
	[KAPF_FIELD_QUEUES] = QUEUING "queues",
	[KAPF_FIELD_HAND_SIZE] = QUEUING "handSize",
	[KAPF_FIELD_QUEUE_LENGTH_LIMIT] = QUEUING "queueLengthLimit",
	[KAPF_FIELD_PRECEDENCE] = "spec.matchingPrecedence",
	[KAPF_FIELD_DISTINGUISHER] = "spec.distinguisherMethod.type",
	[KAPF_FIELD_LEVEL] = "spec.priorityLevelConfiguration.name",
	[KAPF_FIELD_RULES] = "spec.rules",
	[KAPF_FIELD_ADJUSTMENT_PERIOD] = "adjustment period, in ms",
};

/**
 * struct subject - the object that was refused
 * @kind: NULL: the image as a whole
 * @name: NULL: none of the objects
 * @meta: of the object, or NULL
 * @exempt: it is the level exempt
 */
struct subject {
	const char *kind;
	const char *name;
	const struct kapf_meta *meta;
	bool exempt;
};

static struct subject find(const struct kapf_configuration *config,
			   const struct kapf_config_error *refusal)
{
	struct subject subject = {};
	size_t i = refusal->index;

	if (refusal->object == KAPF_OBJECT_LEVEL) {
		subject.kind = "PriorityLevelConfiguration";
		if (i < config->nr_levels) {
			subject.name = config->levels[i].name;
			subject.meta = &config->levels[i].meta;
			subject.exempt = config->levels[i].type ==
					 KAPF_LEVEL_EXEMPT;
		}
	} else if (refusal->object == KAPF_OBJECT_SCHEMA) {
		subject.kind = "FlowSchema";
		if (i < config->nr_schemas) {
			subject.name = config->schemas[i].name;
			subject.meta = &config->schemas[i].meta;
		}
	}
	if (refusal->reason == KAPF_REASON_MISSING) {
		subject.name = refusal->min ? KAPF_NAME_CATCH_ALL :
					      KAPF_NAME_EXEMPT;
		subject.meta = NULL;
	}
	return subject;
}

/* Writes a value of a field as a manifest has it. */
static const char *write_value(uint32_t field, uint64_t value, char *text,
			       size_t size)
{
	static const char *const types[] = {
		[KAPF_LEVEL_EXEMPT] = "Exempt",
		[KAPF_LEVEL_REJECT] = "Limited with Reject",
		[KAPF_LEVEL_QUEUE] = "Limited with Queue",
	};
	static const char *const methods[] = {
		[KAPF_BY_NONE] = "none",
		[KAPF_BY_USER] = "ByUser",
		[KAPF_BY_NAMESPACE] = "ByNamespace",
	};

	if (field == KAPF_FIELD_TYPE && value < KAPF_ARRAY_SIZE(types) &&
	    types[value])
		return types[value];
	if (field == KAPF_FIELD_DISTINGUISHER &&
	    value < KAPF_ARRAY_SIZE(methods))
		return methods[value];
	if (field == KAPF_FIELD_BORROWING_LIMIT_PERCENT &&
	    value == KAPF_BORROWING_UNLIMITED)
		return "no limit";
	snprintf(text, size, "%llu", (unsigned long long)value);
	return text;
}

static bool has_number(uint32_t field)
{
	return field == KAPF_FIELD_SERVER_SEATS ||
	       (field >= KAPF_FIELD_TYPE && field <= KAPF_FIELD_DISTINGUISHER);
}

static void write_reason(const struct kapf_config_error *refusal, char *text,
			 size_t size)
{
	char room[3][24];
	const char *value = write_value(refusal->field, refusal->value, room[0],
					sizeof(room[0]));
	const char *min = write_value(refusal->field, refusal->min, room[1],
				      sizeof(room[1]));
	const char *max = write_value(refusal->field, refusal->max, room[2],
				      sizeof(room[2]));

	switch (refusal->reason) {
	case KAPF_REASON_RANGE:
		snprintf(text, size, "%s is not accepted: must be %s to %s",
			 value, min, max);
		break;
	case KAPF_REASON_FORMAT:
		snprintf(text, size, "is not of the form that it must have");
		break;
	case KAPF_REASON_DUPLICATE:
		snprintf(text, size, "is there twice");
		break;
	case KAPF_REASON_MISSING:
		snprintf(text, size, "is mandatory and missing");
		break;
	case KAPF_REASON_IMMUTABLE:
		if (has_number(refusal->field))
			snprintf(text, size, "%s is not %s: of a mandatory object it is fixed",
				 value, min);
		else
			snprintf(text, size, "of a mandatory object cannot be changed");
		break;
	case KAPF_REASON_CONFLICT:
		snprintf(text, size, "is not the one that this name has");
		break;
	case KAPF_REASON_LIMIT:
		if (refusal->field == KAPF_FIELD_QUEUES)
			snprintf(text, size,
				 "makes %s in all: must be at most max_queues of the module kapf, %s",
				 value, max);
		else
			snprintf(text, size,
				 "%s, of which some still drain: must be at most %s",
				 value, max);
		break;
	case KAPF_REASON_DECK:
		snprintf(text, size, "%s is too many for so many queues: must be at most %s",
			 value, max);
		break;
	default:
		snprintf(text, size, "is refused for reason %u",
			 refusal->reason);
	}
}

static void write_field(const struct kapf_config_error *refusal, bool exempt,
			char *text, size_t size)
{
	const char *name = refusal->field < KAPF_ARRAY_SIZE(field_names) ?
		field_names[refusal->field] : "unknown field";

	if (exempt && !strncmp(name, LIMITED, strlen(LIMITED)))
		snprintf(text, size, "spec.exempt.%s", name + strlen(LIMITED));
	else
		snprintf(text, size, "%s", name);
}

/**
 * kapf_refusal_describe() - what the kernel refused, as a sentence
 * @config: that it was given
 * @refusal: what it said
 * @err: out; may be NULL
 */
void kapf_refusal_describe(const struct kapf_configuration *config,
			   const struct kapf_config_error *refusal,
			   struct kapf_error *err)
{
	const struct subject subject = find(config, refusal);
	char place[256] = "", object[320] = "", field[80], reason[160];

	if (refusal->field == KAPF_FIELD_SERVER_SEATS && !refusal->value) {
		kapf_error_set(err, BUDGET,
			       config->max_requests_inflight,
			       config->max_mutating_requests_inflight);
		return;
	}
	if (subject.meta && subject.meta->file)
		snprintf(place, sizeof(place), "%.200s:%u: ",
			 subject.meta->file, subject.meta->line);
	if (subject.kind && subject.name)
		snprintf(object, sizeof(object), "%s \"%s\": ", subject.kind,
			 subject.name);
	else if (subject.kind)
		snprintf(object, sizeof(object), "%s %u: ", subject.kind,
			 refusal->index);
	write_field(refusal, subject.exempt, field, sizeof(field));
	write_reason(refusal, reason, sizeof(reason));
	kapf_error_set(err, "%s%s%s%s%s", place, object,
		       refusal->field == KAPF_FIELD_NONE ? "" : field,
		       refusal->field == KAPF_FIELD_NONE ? "" : ": ", reason);
}
