// SPDX-License-Identifier: GPL-2.0
/*
 * Images: there and back, each fault of an image alone, and the two calls, with
 * ioctl() taken over by a stand-in for the kernel.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "test.h"

#define QUEUE "limitResponse: {type: Queue, queuing: {}}"
#define METADATA \
	"name: x, labels: {l: v}, annotations: {a: \"/\\u00e9\\n\"}"

static const char manifest[] =
	OBJECT("PriorityLevelConfiguration", METADATA,
	       "type: Limited, limited: {" QUEUE ", borrowingLimitPercent: 0}")
	SCHEMA("name: x", "distinguisherMethod: {type: ByNamespace}, "
	       TO("none"));

/* What the kernel has, and how it answers */
static struct {
	char image[64 * 1024 + 8192];
	size_t len;
	uint64_t generation;
	unsigned int grows; /* so many calls find it larger than before */
	int error;
	struct kapf_config_error refusal;
} kernel;

static int get_config(struct kapf_get_config *get)
{
	bool fits = get->image_len >= kernel.len && !kernel.grows;

	if (kernel.grows) {
		kernel.grows--;
		get->image_len += 8;
	} else {
		get->image_len = kernel.len;
	}
	get->generation = kernel.generation;
	if (!fits) {
		errno = ERANGE;
		return -1;
	}
	memcpy((void *)(uintptr_t)get->image, kernel.image, kernel.len);
	return 0;
}

static int set_config(struct kapf_set_config *set)
{
	errno = kernel.error;
	if (!errno && set->generation != kernel.generation)
		errno = ESTALE;
	if (errno) {
		set->error = kernel.refusal;
		return -1;
	}
	memcpy(kernel.image, (void *)(uintptr_t)set->image, set->image_len);
	kernel.len = set->image_len;
	set->generation = ++kernel.generation;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (fd != 42) {
		errno = ENOTTY;
		return -1;
	}
	return request == KAPF_GET_CONFIG ? get_config(arg) : set_config(arg);
}

static struct kapf_configuration *make_config(void)
{
	struct kapf_configuration *config = kapf_config_new();

	kapf_config_add_defaults(config);
	merge(config, manifest, NULL);
	kapf_config_nominal(config);
	config->max_requests_inflight = 300;
	for (size_t i = 0; i < config->nr_levels; i++) {
		config->levels[i].id = i + 1;
		config->levels[i].uid[15] = i + 2;
		config->levels[i].spec_generation = i + 5;
		config->levels[i].resource_version = i + (1ULL << 40);
	}
	for (size_t i = 0; i < config->nr_schemas; i++) {
		config->schemas[i].id = i + 3;
		config->schemas[i].uid[0] = i + 4;
		config->schemas[i].spec_generation = i + 6;
		config->schemas[i].resource_version = i + (2ULL << 40);
	}
	return config;
}

static bool has_pair(struct json_object *pairs, const char *key,
		     const char *value)
{
	struct json_object *found = json_object_object_get(pairs, key);

	return found && !strcmp(json_object_get_string(found), value);
}

/*
 * Does every field survive?  An image that is made of what was read from one is
 * the same image, and the fields that libkapf shows are what they were.
 */
static void test_there_and_back(void)
{
	struct kapf_configuration *config = make_config(), *back = NULL;
	struct kapf_error err = {};
	void *image, *again = NULL;
	size_t len, again_len = 0;
	const struct kapf_priority_level *level, *old;
	const struct kapf_flow_schema *schema, *old_schema;
	int ret = kapf_image_encode(config, &image, &len, &err);

	if (!ret)
		ret = kapf_image_decode(image, len, &back, &err);
	if (!ret)
		ret = kapf_image_encode(back, &again, &again_len, &err);
	ok(!ret && len == again_len && !memcmp(image, again, len) &&
	   len % 8 == 0, "image: there and back, %zu bytes %s", len, err.text);
	level = kapf_config_level(back, "x");
	old = kapf_config_level(config, "x");
	ok(back->max_requests_inflight == 300 && level->queues == 64 &&
	   level->borrowing_limit_percent == 0 && level->id == old->id &&
	   level->nominal_seats == old->nominal_seats &&
	   !memcmp(level->uid, old->uid, sizeof(old->uid)) &&
	   level->spec_generation == old->spec_generation &&
	   level->resource_version == old->resource_version &&
	   !level->meta.file, "image: a level");
	ok(has_pair(level->meta.annotations, "a", "/\xc3\xa9\n") &&
	   has_pair(level->meta.labels, "l", "v"),
	   "image: labels and annotations");
	schema = kapf_config_schema(back, "x");
	old_schema = kapf_config_schema(config, "x");
	ok(schema->spec_generation == old_schema->spec_generation &&
	   schema->resource_version == old_schema->resource_version &&
	   schema->dangling && !strcmp(schema->level, "none") &&
	   schema->distinguisher == KAPF_BY_NAMESPACE &&
	   schema->precedence == 1000 && !strcmp(schema->rules_json, "[]") &&
	   !schema->meta.annotations && !schema->meta.labels,
	   "image: a schema");
	free(image);
	free(again);
	kapf_config_free(config);
	kapf_config_free(back);
}

#define ANNOTATIONS	"\"annotations\":{\"a\":\"/\xc3\xa9\\n\"}"
#define LABELS		"\"labels\":{\"l\":\"v\"}"

/* Metadata is a blob of JSON, and none where there is nothing. */
static void test_metadata(void)
{
	struct kapf_configuration *config = make_config();
	char *json;

	kapf_meta_json(&kapf_config_level(config, "x")->meta, &json);
	ok(!strcmp(json, "{" ANNOTATIONS "," LABELS "}"),
	   "image: metadata %s", json);
	free(json);
	kapf_meta_json(&kapf_config_schema(config, "x")->meta, &json);
	ok(!*json, "image: no metadata");
	free(json);
	kapf_config_free(config);
}

#define LEVEL_AT(member)	(sizeof(struct kapf_config) + \
				 offsetof(struct kapf_config_level, member))

/* Each of these, in an image that is right otherwise, makes no sense. */
static void test_faults(void)
{
	static const struct {
		const char *what;
		size_t offset;
		uint32_t value;
	} faults[] = {
		{ "magic", 0, 0 },
		{ "nr_levels", offsetof(struct kapf_config, nr_levels), 257 },
		{ "record_size", offsetof(struct kapf_config, nr_levels), 3 },
		{ "nr_schemas", offsetof(struct kapf_config, nr_schemas), 4097 },
		{ "is cut off", offsetof(struct kapf_config, nr_schemas), 13 },
		{ "record_size", LEVEL_AT(record_size), 0 },
		{ "record_size", LEVEL_AT(record_size), ~7u },
		{ "0: record_size", LEVEL_AT(record_size), 380 },
		{ "0: record_size", LEVEL_AT(record_size), 388 },
		{ "type", LEVEL_AT(type), 0 },
		{ "type", LEVEL_AT(type), 4 },
		{ "queues", LEVEL_AT(queues), 1 },
		{ "record_size", LEVEL_AT(metadata_len), ~0u },
		{ "metadata", LEVEL_AT(metadata_len), 1 },
		{ "name", LEVEL_AT(name), 0x2f2f2f2f },
	};
	struct kapf_configuration *config = make_config(), *back;
	struct kapf_error err;
	void *encoded;
	size_t len;
	char *image;

	kapf_image_encode(config, &encoded, &len, NULL);
	image = encoded;
	for (size_t i = 0; i < SIZE(faults); i++) {
		uint32_t *at = (uint32_t *)(image + faults[i].offset);
		uint32_t was = *at;
		int ret;

		*at = faults[i].value;
		err.text[0] = '\0';
		ret = kapf_image_decode(image, len, &back, &err);
		ok(ret == -EPROTO && strstr(err.text, faults[i].what),
		   "image: %s %u: %s",
		   faults[i].what, faults[i].value, err.text);
		*at = was;
	}
	memset(image + LEVEL_AT(name), 'a', KAPF_NAME_BYTES);
	ok(kapf_image_decode(image, len, &back, &err) == -EPROTO,
	   "image: name without an end: %s", err.text);
	memset(image + LEVEL_AT(name), 0, KAPF_NAME_BYTES);
	stpcpy(image + LEVEL_AT(name), "catch-all");
	for (size_t cut = 0; cut < len; cut += 8)
		if (kapf_image_decode(image, cut, &back, &err) != -EPROTO)
			ok(false, "image: cut at %zu", cut);
	ok(!kapf_image_decode(image, len, &back, &err),
	   "image: right again after all faults");
	kapf_config_free(back);
	free(image);
	kapf_config_free(config);
}

static int decode_with(uint32_t queues, uint32_t hand, uint32_t length)
{
	struct kapf_configuration *config = make_config(), *back = NULL;
	struct kapf_priority_level *level = kapf_config_level(config, "x");
	void *image;
	size_t len;
	int ret;

	level->queues = queues;
	level->hand_size = hand;
	level->queue_length_limit = length;
	kapf_image_encode(config, &image, &len, NULL);
	ret = kapf_image_decode(image, len, &back, NULL);
	free(image);
	kapf_config_free(back);
	kapf_config_free(config);
	return ret;
}

static void test_queuing(void)
{
	ok(!decode_with(8, 8, 1), "image: hand of all queues");
	ok(decode_with(8, 9, 1) == -EPROTO, "image: hand above queues");
	ok(decode_with(0, 1, 1) == -EPROTO, "image: no queues");
	ok(decode_with(8, 0, 1) == -EPROTO, "image: no hand");
	ok(decode_with(8, 8, 0) == -EPROTO, "image: no queue length");
}

/* Names that a kernel would never give: no catch-all; nothing like a name */
static void test_names(void)
{
	static const char *const names[] = { "other", "Catch-All", "" };

	for (size_t i = 0; i < SIZE(names); i++) {
		struct kapf_configuration *config = kapf_config_new(), *back;
		struct kapf_error err = {};
		void *image;
		size_t len;

		stpcpy(kapf_config_schema(config, "catch-all")->name, names[i]);
		kapf_image_encode(config, &image, &len, NULL);
		ok(kapf_image_decode(image, len, &back, &err) == -EPROTO,
		   "image: name \"%s\": %s", names[i], err.text);
		free(image);
		kapf_config_free(config);
	}
}

static void test_calls(void)
{
	struct kapf_configuration *config = make_config(), *back = NULL;
	struct kapf_error err = {};
	int ret;

	ok(kapf_config_read(&back, 0, &err) == -ENOTTY && *err.text,
	   "instance: not a node: %s", err.text);
	kernel.generation = 6;
	config->generation = 5;
	ok(kapf_config_write(config, 42, &err) == -ESTALE,
	   "instance: %s", err.text);
	config->generation = 6;
	kernel.error = EBUSY;
	ok(kapf_config_write(config, 42, &err) == -EBUSY &&
	   config->generation == 6, "instance: %s", err.text);
	kernel.error = EPERM;
	ok(kapf_config_write(config, 42, &err) == -EPERM, "instance: %s",
	   err.text);
	kernel.error = EINTR;
	ok(kapf_config_write(config, 42, &err) == -EINTR, "instance: %s",
	   err.text);
	kernel.error = 0;
	err.text[0] = '\0';
	ok(!kapf_config_write(config, 42, &err) && config->generation == 7,
	   "instance: written %s", err.text);
	kernel.grows = 3;
	ret = kapf_config_read(&back, 42, &err);
	ok(!ret && back->generation == 7 &&
	   back->nr_schemas == config->nr_schemas,
	   "instance: read while it grows %s", err.text);
	kapf_config_free(back);
	kernel.grows = 1000;
	ok(kapf_config_read(&back, 42, &err) == -EPROTO,
	   "instance: grows without end: %s", err.text);
	kernel.grows = 0;
	/* Larger than what is read at first */
	memset(kernel.image + kernel.len, 0, sizeof(kernel.image) - kernel.len);
	kernel.len = sizeof(kernel.image);
	ok(kapf_config_read(&back, 42, &err) == -EPROTO &&
	   strstr(err.text, "is followed by more"),
	   "instance: zeros behind an image: %s", err.text);
	kapf_config_free(config);
}

void test_images(void)
{
	test_there_and_back();
	test_metadata();
	test_faults();
	test_queuing();
	test_names();
	test_calls();
}

#define AT_X		"x:2: PriorityLevelConfiguration \"x\": "
#define QUEUING		"spec.limited.limitResponse.queuing."
#define EXEMPT		"PriorityLevelConfiguration \"exempt\": "
#define EXEMPT_SCHEMA	"FlowSchema \"exempt\": "
#define BUDGET		"max-requests-inflight + max-mutating-requests-inflight"
#define NO_BUDGET \
	"MaxRequestsInFlight=300 and MaxMutatingRequestsInFlight=200; "
#define CATCH_ALL	"PriorityLevelConfiguration \"catch-all\": "
#define FIXED		": of a mandatory object it is fixed"

void test_refusals(void)
{
	static const struct {
		struct kapf_config_error refusal;
		const char *sentence;
	} cases[] = {
		{ { KAPF_OBJECT_LEVEL, 8, KAPF_FIELD_QUEUES,
		    KAPF_REASON_LIMIT, 64, 0, 16 },
		  AT_X QUEUING
		  "queues: makes 64 in all: must be at most max_queues of the module kapf, 16" },
		{ { KAPF_OBJECT_LEVEL, 8, KAPF_FIELD_HAND_SIZE,
		    KAPF_REASON_DECK, 15, 1, 8 },
		  AT_X QUEUING "handSize: 15 is too many for so many queues: must be at most 8" },
		{ { KAPF_OBJECT_LEVEL, 8, KAPF_FIELD_NAME,
		    KAPF_REASON_DUPLICATE, 0, 0, 0 },
		  AT_X "metadata.name: is there twice" },
		{ { KAPF_OBJECT_LEVEL, 1, KAPF_FIELD_LENDABLE_PERCENT,
		    KAPF_REASON_RANGE, 1, 0, 5 },
		  EXEMPT "spec.exempt.lendablePercent: 1 is not accepted: must be 0 to 5" },
		{ { KAPF_OBJECT_LEVEL, 0, KAPF_FIELD_TYPE,
		    KAPF_REASON_IMMUTABLE, KAPF_LEVEL_QUEUE, KAPF_LEVEL_REJECT, 0 },
		  CATCH_ALL "spec.type: Limited with Queue is not Limited with Reject" FIXED },
		{ { KAPF_OBJECT_LEVEL, 0, KAPF_FIELD_BORROWING_LIMIT_PERCENT,
		    KAPF_REASON_IMMUTABLE, 5, KAPF_BORROWING_UNLIMITED, 0 },
		  CATCH_ALL "spec.limited.borrowingLimitPercent: 5 is not no limit" FIXED },
		{ { KAPF_OBJECT_SCHEMA, 0, KAPF_FIELD_RULES,
		    KAPF_REASON_IMMUTABLE, 0, 0, 0 },
		  EXEMPT_SCHEMA "spec.rules: of a mandatory object cannot be changed" },
		{ { KAPF_OBJECT_SCHEMA, 0, KAPF_FIELD_DISTINGUISHER,
		    KAPF_REASON_IMMUTABLE, KAPF_BY_USER, KAPF_BY_NONE, 0 },
		  EXEMPT_SCHEMA "spec.distinguisherMethod.type: ByUser is not none" FIXED },
		{ { KAPF_OBJECT_SCHEMA, 0, KAPF_FIELD_NAME,
		    KAPF_REASON_MISSING, 0, 1, 0 },
		  "FlowSchema \"catch-all\": metadata.name: is mandatory and missing" },
		{ { KAPF_OBJECT_SCHEMA, 9999, KAPF_FIELD_UID,
		    KAPF_REASON_CONFLICT, 0, 0, 0 },
		  "FlowSchema 9999: metadata.uid: is not the one that this name has" },
		{ { KAPF_OBJECT_SCHEMA, 9999, 99,
		    99, 0, 0, 0 },
		  "FlowSchema 9999: unknown field: is refused for reason 99" },
		{ { KAPF_OBJECT_IMAGE, 0, KAPF_FIELD_SERVER_SEATS,
		    KAPF_REASON_RANGE, 65536, 1, 65535 },
		  BUDGET ": 65536 is not accepted: must be 1 to 65535" },
		{ { KAPF_OBJECT_IMAGE, 0, KAPF_FIELD_SERVER_SEATS,
		    KAPF_REASON_RANGE, 0, 1, 65535 },
		  NO_BUDGET "they must add up to something positive" },
	};
	struct kapf_configuration *config = make_config();

	kernel.error = EINVAL;
	for (size_t i = 0; i < SIZE(cases); i++) {
		struct kapf_error err = {};
		int ret;

		kernel.refusal = cases[i].refusal;
		ret = kapf_config_write(config, 42, &err);
		ok(ret == -EINVAL && !strcmp(err.text, cases[i].sentence),
		   "refusal: %s", err.text);
	}
	kapf_config_free(config);
}
