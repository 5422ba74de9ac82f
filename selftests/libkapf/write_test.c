// SPDX-License-Identifier: GPL-2.0
/*
 * Objects written, read again, and found to be the same.
 */
#include <stdlib.h>

#include "test.h"

#define JSON_COMPACT (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

#define SHARES	"nominalConcurrencyShares: 0"
#define QUEUES \
	"limitResponse: {type: Queue, queuing: {queues: 16, handSize: 4, queueLengthLimit: 7}}"
#define METHOD	"distinguisherMethod: {type: ByNamespace}"
#define RULES \
	"rules: [{subjects: [{kind: ServiceAccount, serviceAccount: {namespace: ns, name: '*'}}], nonResourceRules: [{verbs: [get], nonResourceURLs: [/a/*]}]}]"

static const char manifest[] =
	LEVEL("name: lent, labels: {a: b}",
	      "lendablePercent: 5, borrowingLimitPercent: 0, ")
	OBJECT("PriorityLevelConfiguration", "name: queues",
	       "type: Limited, limited: {" SHARES ", " QUEUES "}")
	SCHEMA("name: rules, annotations: {c: \"d/\\u00e9\\\"\"}",
	       TO("none") ", matchingPrecedence: 7, " METHOD ", " RULES)
	SCHEMA("name: empty", TO("lent"));

/* Takes @object. */
static void check_text(const char *what, struct json_object *object,
		       const char *wanted)
{
	const char *text = json_object_to_json_string_ext(object, JSON_COMPACT);

	if (strcmp(text, wanted))
		note("found %s, wanted %s", text, wanted);
	ok(!strcmp(text, wanted), "written: %s", what);
	json_object_put(object);
}

/* Is @object read as it was written?  Takes it. */
static bool reads_back(struct json_object *object, const char *kind,
		       const char *name)
{
	struct kapf_configuration *config = kapf_config_new();
	const char *text = json_object_to_json_string_ext(object, JSON_COMPACT);
	struct json_object *again = NULL;
	struct kapf_error err;
	bool same;

	if (merge(config, text, &err))
		note("%s %s: %s", kind, name, err.text);
	else
		again = *kind == 'F' ?
			kapf_schema_object(kapf_config_schema(config, name)) :
			kapf_level_object(kapf_config_level(config, name));
	same = again && json_object_equal(object, again);
	json_object_put(again);
	json_object_put(object);
	kapf_config_free(config);
	return same;
}

static void test_all_again(const struct kapf_configuration *config)
{
	size_t i, same = 0;

	for (i = 0; i < config->nr_levels; i++)
		same += reads_back(kapf_level_object(&config->levels[i]),
				   "PriorityLevelConfiguration",
				   config->levels[i].name);
	ok(same == config->nr_levels && same > 8,
	   "written: %zu levels are read as they were", same);
	same = 0;
	for (i = 0; i < config->nr_schemas; i++)
		same += reads_back(kapf_schema_object(&config->schemas[i]),
				   "FlowSchema", config->schemas[i].name);
	ok(same == config->nr_schemas && same > 10,
	   "written: %zu schemas are read as they were", same);
}

static void test_identity(struct kapf_configuration *config)
{
	struct kapf_priority_level *level = kapf_config_level(config, "exempt");

	for (size_t i = 0; i < KAPF_UID_BYTES; i++)
		level->uid[i] = i * 17;
	level->spec_generation = 3;
	level->resource_version = 1234567890123;
	json_object_put(level->meta.annotations);
	level->meta.annotations = NULL;
	check_text("what the device knows", kapf_level_object(level),
		   "{\"apiVersion\":\"flowcontrol.apiserver.k8s.io/v1\",\"kind\":\"PriorityLevelConfiguration\",\"metadata\":{\"name\":\"exempt\",\"uid\":\"00112233-4455-6677-8899-aabbccddeeff\",\"generation\":3,\"resourceVersion\":\"1234567890123\"},\"spec\":{\"type\":\"Exempt\",\"exempt\":{\"nominalConcurrencyShares\":0,\"lendablePercent\":0}}}");
}

void test_writing(void)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err;

	kapf_config_add_defaults(config);
	if (merge(config, manifest, &err))
		note("%s", err.text);
	check_text("a level with queues",
		   kapf_level_object(kapf_config_level(config, "queues")),
		   "{\"apiVersion\":\"flowcontrol.apiserver.k8s.io/v1\",\"kind\":\"PriorityLevelConfiguration\",\"metadata\":{\"name\":\"queues\"},\"spec\":{\"type\":\"Limited\",\"limited\":{\"nominalConcurrencyShares\":0,\"lendablePercent\":0,\"limitResponse\":{\"type\":\"Queue\",\"queuing\":{\"queues\":16,\"handSize\":4,\"queueLengthLimit\":7}}}}}");
	check_text("a level that must not borrow",
		   kapf_level_object(kapf_config_level(config, "lent")),
		   "{\"apiVersion\":\"flowcontrol.apiserver.k8s.io/v1\",\"kind\":\"PriorityLevelConfiguration\",\"metadata\":{\"name\":\"lent\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"type\":\"Limited\",\"limited\":{\"nominalConcurrencyShares\":30,\"lendablePercent\":5,\"borrowingLimitPercent\":0,\"limitResponse\":{\"type\":\"Reject\"}}}}");
	test_all_again(config);
	test_identity(config);
	kapf_config_free(config);
}
