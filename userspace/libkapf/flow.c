// SPDX-License-Identifier: LGPL-2.1
/*
 * Flows: which requests of a FlowSchema belong together, and the number that
 * stands for them in the kernel.
 */
#include <nettle/sha2.h>
#include <string.h>

#include "internal.h"

const char *kapf_flow_distinguisher(const struct kapf_flow_schema *schema,
				    const struct kapf_digest *digest)
{
	const char *distinguisher = NULL;

	if (schema->distinguisher == KAPF_BY_USER)
		distinguisher = digest->user;
	else if (schema->distinguisher == KAPF_BY_NAMESPACE)
		distinguisher = digest->ns;
	return distinguisher ? distinguisher : "";
}

uint64_t kapf_flow_hash(const char *schema, const char *tenant,
			const char *distinguisher)
{
	uint8_t digest[sizeof(uint64_t)];
	struct sha256_ctx context;
	uint64_t hash = 0;

	sha256_init(&context);
	/* Each with its NUL */
	if (tenant && *tenant)
		sha256_update(&context, strlen(tenant) + 1,
			      (const uint8_t *)tenant);
	sha256_update(&context, strlen(schema) + 1, (const uint8_t *)schema);
	sha256_update(&context, strlen(distinguisher),
		      (const uint8_t *)distinguisher);
	sha256_digest(&context, sizeof(digest), digest);
	for (size_t i = sizeof(digest); i-- > 0;)
		hash = hash << 8 | digest[i];
	return hash;
}
