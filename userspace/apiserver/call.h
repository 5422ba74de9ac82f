/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A request as those see it who answer it, and their answer: HTTP without
 * connections, so that they can be tested without a server.
 */
#ifndef APISERVER_CALL_H
#define APISERVER_CALL_H

#include <stddef.h>

/**
 * struct call - one HTTP request, whole: its body has been read
 * @method: of HTTP, in upper case
 * @path: decoded, without query
 * @query: as it came, without '?'; or ""
 * @accept: header, or ""
 * @content_type: likewise
 * @body: what came, @length bytes and a NUL; never NULL
 * @length: of @body
 * @user: who asks
 * @groups: of the user
 * @nr_groups: how many
 *
 * All of it is the server's, and there until the answer has been given.
 */
struct call {
	const char *method;
	const char *path;
	const char *query;
	const char *accept;
	const char *content_type;
	const char *body;
	size_t length;
	const char *user;
	const char *const *groups;
	size_t nr_groups;
};

#define REPLY_HEADERS 6
#define REPLY_VALUE_BYTES 256

/**
 * struct reply_header - one more header of an answer
 * @name: a constant
 * @value: what is too long is cut
 */
struct reply_header {
	const char *name;
	char value[REPLY_VALUE_BYTES];
};

/**
 * struct reply - an answer; zeroed when it is handed to who fills it
 * @status: of HTTP
 * @content_type: a constant; NULL where there is no body
 * @body: from malloc(); the server frees it; may be NULL
 * @length: of @body
 * @headers: further ones, by reply_header()
 * @nr_headers: how many
 */
struct reply {
	unsigned int status;
	const char *content_type;
	char *body;
	size_t length;
	struct reply_header headers[REPLY_HEADERS];
	size_t nr_headers;
};

/**
 * reply_header() - add a header
 * @reply: one of more than REPLY_HEADERS is left out
 * @name: a constant
 * @format: of its value, in which characters that are no text become '?'
 */
void reply_header(struct reply *reply, const char *name, const char *format,
		  ...) __attribute__((format(printf, 3, 4)));

/**
 * reply_text() - answer with a text
 * @reply: its status, type and body are set
 * @status: of HTTP
 * @text: is copied
 */
void reply_text(struct reply *reply, unsigned int status, const char *text);

struct json_object;

/**
 * reply_json() - answer with an object
 * @reply: its status, type and body are set
 * @status: of HTTP
 * @object: stays the caller's; NULL, as when memory was short, answers 500
 *	without a body
 */
void reply_json(struct reply *reply, unsigned int status,
		struct json_object *object);

#endif /* APISERVER_CALL_H */
