// SPDX-License-Identifier: LGPL-2.1
/*
 * Labels: what dumps show of a request.  The layout is that of @label in struct
 * kapf_op.
 */
#include <stdio.h>
#include <string.h>

#include "label.h"

static const char *text(const char *string)
{
	return string ? string : "";
}

/* Append a string with its NUL; what does not fit is cut. */
static void append(char *label, size_t *len, const char *string)
{
	size_t bytes = strnlen(string, LABEL_BYTES - *len);

	memcpy(label + *len, string, bytes);
	*len += bytes;
	if (*len < LABEL_BYTES)
		label[(*len)++] = '\0';
}

/**
 * label_make() - make the label of a request
 * @label: out: room for LABEL_BYTES
 * @schema: that the request belongs to
 * @digest: the request
 *
 * Return: its length.
 */
size_t label_make(char *label, const struct kapf_flow_schema *schema,
		  const struct kapf_digest *digest)
{
	const char *group = text(digest->api_group);
	char version[KAPF_NAME_BYTES + 64];
	size_t len = 0;

	snprintf(version, sizeof(version), "%s%s%s", group, *group ? "/" : "",
		 text(digest->api_version));
	append(label, &len, kapf_flow_distinguisher(schema, digest));
	append(label, &len, text(digest->user));
	append(label, &len, text(digest->verb));
	append(label, &len, text(digest->path));
	append(label, &len, text(digest->ns));
	append(label, &len, text(digest->name));
	append(label, &len, version);
	append(label, &len, text(digest->resource));
	append(label, &len, text(digest->subresource));
	return len;
}
