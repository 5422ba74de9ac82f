/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * libkapf: configurations, read from an instance, made of manifests, written to an
 * instance, and asked what becomes of a request.  What libkapf.h says of errors
 * and threads holds here, too.
 */
#ifndef LIBKAPF_CONFIG_H
#define LIBKAPF_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/kapf.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_object;
struct kapf_digest; /* of libkapf.h, as the next */
struct kapf_error;

/**
 * struct kapf_meta - the part of an object's metadata that is the user's
 * @annotations: a JSON object of strings, or NULL
 * @labels: a JSON object of strings, or NULL
 * @file: manifest that the object comes from; NULL: not from a file
 * @line: of that file, where the object begins
 * @object: all of it as it stands there; NULL: not from a file
 */
struct kapf_meta {
	struct json_object *annotations;
	struct json_object *labels;
	const char *file;
	unsigned int line;
	struct json_object *object;
};

/**
 * struct kapf_priority_level - a PriorityLevelConfiguration
 * @name: of the object
 * @type: enum kapf_level_type
 * @nominal_shares: see struct kapf_config_level, as of the following
 * @lendable_percent: see there
 * @borrowing_limit_percent: see there
 * @queues: see there
 * @hand_size: see there
 * @queue_length_limit: see there
 * @id: from the device; else 0
 * @nominal_seats: from the device or kapf_config_nominal(); else 0
 * @uid: from the device; else zero
 * @spec_generation: from the device, metadata.generation; else 0
 * @resource_version: from the device, metadata.resourceVersion; else 0
 * @meta: metadata
 */
struct kapf_priority_level {
	char name[KAPF_NAME_BYTES];
	enum kapf_level_type type;
	uint32_t nominal_shares;
	uint32_t lendable_percent;
	uint32_t borrowing_limit_percent;
	uint32_t queues;
	uint32_t hand_size;
	uint32_t queue_length_limit;
	uint32_t id;
	uint32_t nominal_seats;
	uint8_t uid[KAPF_UID_BYTES];
	uint64_t spec_generation;
	uint64_t resource_version;
	struct kapf_meta meta;
};

struct kapf_rules; /* the rules of a FlowSchema, ready to be matched */

/**
 * struct kapf_flow_schema - a FlowSchema
 * @name: of the object
 * @level: name of its priority level
 * @precedence: matchingPrecedence
 * @distinguisher: enum kapf_distinguisher
 * @rules_json: spec.rules in the canonical form of struct kapf_config_schema
 * @rules: the same
 * @id: from the device; else 0
 * @dangling: its level does not exist
 * @uid: from the device; else zero
 * @spec_generation: from the device, metadata.generation; else 0
 * @resource_version: from the device, metadata.resourceVersion; else 0
 * @meta: metadata
 */
struct kapf_flow_schema {
	char name[KAPF_NAME_BYTES];
	char level[KAPF_NAME_BYTES];
	uint32_t precedence;
	enum kapf_distinguisher distinguisher;
	char *rules_json;
	struct kapf_rules *rules;
	uint32_t id;
	bool dangling;
	uint8_t uid[KAPF_UID_BYTES];
	uint64_t spec_generation;
	uint64_t resource_version;
	struct kapf_meta meta;
};

/**
 * struct kapf_configuration - levels and schemas that belong together
 * @max_requests_inflight: see struct kapf_config
 * @max_mutating_requests_inflight: see there
 * @adjustment_period_ms: see there
 * @levels: sorted by name
 * @nr_levels: how many
 * @schemas: in the order in which they are tried: by precedence, then by name
 * @nr_schemas: how many
 * @generation: from the device; else 0
 */
struct kapf_configuration {
	uint32_t max_requests_inflight;
	uint32_t max_mutating_requests_inflight;
	uint32_t adjustment_period_ms;
	struct kapf_priority_level *levels;
	size_t nr_levels;
	struct kapf_flow_schema *schemas;
	size_t nr_schemas;
	uint64_t generation;
};

/**
 * kapf_config_new() - the mandatory objects, and the limits of a kube-apiserver
 *
 * Return: NULL when memory is short.
 */
struct kapf_configuration *kapf_config_new(void);

/**
 * kapf_config_free() - free a configuration
 * @config: may be NULL
 */
void kapf_config_free(struct kapf_configuration *config);

/**
 * kapf_config_add_defaults() - add the suggested default objects
 * @config: what to add to; objects of these names are replaced, unless their
 *	annotation apf.kubernetes.io/autoupdate-spec is "false"
 *
 * Return: 0 or -ENOMEM.
 */
int kapf_config_add_defaults(struct kapf_configuration *config);

/**
 * kapf_config_maintain() - do what a kube-apiserver does every minute for its
 *	default objects
 * @config: read from the device
 *
 * The annotation apf.kubernetes.io/autoupdate-spec of an object says what may be
 * done: a value that is "true" (or 1, t, T, TRUE, True) or "false" (likewise).
 *
 * A suggested object that is missing is added.  The spec of one whose annotation
 * says true, or says neither while its spec_generation is 1, becomes the default
 * one; the annotation of one that says neither becomes "true" if so, else
 * "false".  Mandatory objects are always set right, and annotated "true", but of
 * the level exempt its shares and lendable percent are kept.  What says true and
 * is none of these is removed.  Labels and other annotations stay.
 *
 * Return: 0 or -ENOMEM, after which @config may have been changed in part.
 */
int kapf_config_maintain(struct kapf_configuration *config);

/**
 * kapf_is_mandatory() - is this the name of objects that cannot be removed?
 * @name: of a level or a schema
 */
bool kapf_is_mandatory(const char *name);

/**
 * kapf_config_merge() - take objects from manifests
 * @config: objects of the same kind and name are replaced; unchanged on failure
 * @text: YAML or JSON, several documents, kind List or one object a document
 * @len: of @text, in bytes
 * @file: its name in messages
 * @err: names FILE:LINE, object, field, value and what would be accepted
 *
 * FlowSchemas and PriorityLevelConfigurations of
 * flowcontrol.apiserver.k8s.io/v1beta1 to v1.  Every object is validated by the
 * rules of Kubernetes.  Two objects of one kind and name in one @text are
 * refused.
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kapf_config_merge(struct kapf_configuration *config, const char *text,
		      size_t len, const char *file, struct kapf_error *err);

/**
 * kapf_config_nominal() - compute nominal limits and find dangling schemas
 * @config: nominal_seats and dangling of its objects are set
 *
 * NominalCL = ceil(ServerCL * NCS / sum of NCS); 0 where the sum is 0.
 */
void kapf_config_nominal(struct kapf_configuration *config);

/**
 * kapf_config_read() - read the configuration of an instance
 * @config: out
 * @fd: of a submit node that is attached, or of a control node
 * @err: says why it failed; may be NULL
 *
 * Return: 0, or an errno of KAPF_GET_CONFIG; -EPROTO: the image makes no sense.
 */
int kapf_config_read(struct kapf_configuration **config, int fd,
		     struct kapf_error *err);

/**
 * kapf_config_write() - replace the configuration of an instance
 * @config: its generation is the one it was made from, and becomes the new one
 * @fd: of a control node, open for writing
 * @err: names the object (and FILE:LINE, where it has one), the field, the value
 *	and what would be accepted
 *
 * Return: 0, or an errno of KAPF_SET_CONFIG.
 */
int kapf_config_write(struct kapf_configuration *config, int fd,
		      struct kapf_error *err);

/**
 * kapf_evict() - end the session of a server, as KAPF_EVICT does
 * @fd: of a control node, open for writing
 * @session: its number
 * @evicted: out, if it was ended: what came back; may be NULL
 * @err: says why it failed; may be NULL
 *
 * Return: 0, or an errno of KAPF_EVICT.
 */
int kapf_evict(int fd, uint64_t session, struct kapf_evict *evicted,
	       struct kapf_error *err);

/**
 * kapf_config_level() - find a level by name
 * @config: where
 * @name: of the level
 *
 * Return: NULL where there is none.
 */
struct kapf_priority_level *
kapf_config_level(const struct kapf_configuration *config, const char *name);

/**
 * kapf_config_schema() - find a schema by name
 * @config: where
 * @name: of the schema
 *
 * Return: NULL where there is none.
 */
struct kapf_flow_schema *
kapf_config_schema(const struct kapf_configuration *config, const char *name);

/**
 * kapf_config_remove_level() - remove a level
 * @config: where; the levels behind it move up
 * @name: of the level; schemas that name it are left as they are
 *
 * Return: 0, or -ENOENT where there is none.
 */
int kapf_config_remove_level(struct kapf_configuration *config,
			     const char *name);

/**
 * kapf_config_remove_schema() - remove a schema
 * @config: where; the schemas behind it move up
 * @name: of the schema
 *
 * Return: 0, or -ENOENT where there is none.
 */
int kapf_config_remove_schema(struct kapf_configuration *config,
			      const char *name);

/**
 * kapf_level_object() - a level as an object of flowcontrol.apiserver.k8s.io/v1
 * @level: it
 *
 * What is from the device, uid, generation and resourceVersion, is in its metadata
 * if the level is.  There is no creationTimestamp: the device does not keep it.
 *
 * Return: what kapf_config_merge() reads as the same level, to be put; NULL when
 * memory is short.
 */
struct json_object *kapf_level_object(const struct kapf_priority_level *level);

/**
 * kapf_schema_object() - a schema as an object of flowcontrol.apiserver.k8s.io/v1
 * @schema: it
 *
 * Return: as of kapf_level_object().
 */
struct json_object *kapf_schema_object(const struct kapf_flow_schema *schema);

/**
 * kapf_classify() - the FlowSchema that a request belongs to
 * @config: must have its dangling schemas marked: it was read from the device,
 *	or kapf_config_nominal() has seen it
 * @digest: the request
 *
 * The first schema, by precedence and name, that is not dangling and has a rule
 * of which one subject and one resource or non-resource rule match.
 *
 * Return: never NULL: what nothing matches belongs to catch-all.
 */
const struct kapf_flow_schema *
kapf_classify(const struct kapf_configuration *config,
	      const struct kapf_digest *digest);

struct kapf_classifier; /* an index of a configuration, for kapf_classify() */

/**
 * kapf_classifier_new() - make an index of a configuration
 * @config: as for kapf_classify(); not to be changed or freed before the index
 *
 * Takes memory in proportion to the text of all rules.
 *
 * Return: NULL when memory is short.
 */
struct kapf_classifier *
kapf_classifier_new(const struct kapf_configuration *config);

/**
 * kapf_classifier_free() - free an index
 * @classifier: may be NULL
 */
void kapf_classifier_free(struct kapf_classifier *classifier);

/**
 * kapf_classifier_match() - what kapf_classify() returns, sooner
 * @classifier: of the configuration
 * @digest: the request
 *
 * Looks its names up rather than compare it with each schema.
 *
 * Return: never NULL.
 */
const struct kapf_flow_schema *
kapf_classifier_match(const struct kapf_classifier *classifier,
		      const struct kapf_digest *digest);

/**
 * kapf_flow_distinguisher() - what tells the flows of a schema apart
 * @schema: that the request belongs to
 * @digest: the request
 *
 * Return: its user, its namespace, or ""; never NULL.
 */
const char *kapf_flow_distinguisher(const struct kapf_flow_schema *schema,
				    const struct kapf_digest *digest);

/**
 * kapf_flow_hash() - identity of a flow
 * @schema: name of the FlowSchema
 * @tenant: that the request is one of; NULL or "": none
 * @distinguisher: of the flow
 *
 * Return: the first 8 bytes, little endian, of SHA-256(schema, 0,
 * distinguisher), or of SHA-256(tenant, 0, schema, 0, distinguisher).
 */
uint64_t kapf_flow_hash(const char *schema, const char *tenant,
			const char *distinguisher);

/**
 * kapf_max_seats() - widest list that a level should be asked for
 * @level: with nominal_seats
 *
 * Return: max(1, min(ceil(0.15 * NominalCL), NominalCL div hand size)), or
 * KAPF_MAX_WIDTH for a level without queues.
 */
unsigned int kapf_max_seats(const struct kapf_priority_level *level);

#ifdef __cplusplus
}
#endif

#endif /* LIBKAPF_CONFIG_H */
