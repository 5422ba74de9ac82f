// SPDX-License-Identifier: GPL-2.0
/*
 * Filling in answers.
 */
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

void reply_header(struct reply *reply, const char *name, const char *format,
		  ...)
{
	struct reply_header *header = &reply->headers[reply->nr_headers];
	va_list args;
	char *c;

	if (reply->nr_headers == REPLY_HEADERS)
		return;
	reply->nr_headers++;
	header->name = name;
	va_start(args, format);
	vsnprintf(header->value, sizeof(header->value), format, args);
	va_end(args);
	/* What a client has sent may be in it: it shall not end the line. */
	for (c = header->value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '\x7f')
			*c = '?';
}

static void set_body(struct reply *reply, unsigned int status,
		     const char *content_type, const char *text)
{
	free(reply->body);
	reply->body = strdup(text);
	reply->length = reply->body ? strlen(text) : 0;
	reply->content_type = reply->body ? content_type : NULL;
	reply->status = status;
}

void reply_text(struct reply *reply, unsigned int status, const char *text)
{
	set_body(reply, status, "text/plain; charset=utf-8", text);
}

void reply_json(struct reply *reply, unsigned int status,
		struct json_object *object)
{
	const char *text = NULL;

	if (object)
		text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
						      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text) {
		set_body(reply, status, "application/json", text);
		return;
	}
	free(reply->body);
	reply->body = NULL;
	reply->length = 0;
	reply->content_type = NULL;
	reply->status = 500;
}
