/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kubernetes' Status objects: what a request that fails, or leaves nothing to
 * show, is answered with.
 */
#ifndef APISERVER_STATUS_H
#define APISERVER_STATUS_H

#include <stddef.h>
#include "call.h"

/**
 * struct status_cause - one of the reasons why an object is not accepted
 * @reason: FieldValueInvalid, FieldValueRequired, ...
 * @message: for people
 * @field: spec.matchingPrecedence, ...
 *
 * NULL stands for what is not known.
 */
struct status_cause {
	const char *reason;
	const char *message;
	const char *field;
};

/**
 * struct status - a Status
 * @code: of HTTP; below 400 it is a success
 * @reason: in one word; NULL: the usual one for @code
 * @name: of the object that it is about; NULL, as in the following: none
 * @group: of the object's API
 * @kind: its kind; or its resource, where no object was read
 * @uid: its UID
 * @causes: why it was not accepted
 * @nr_causes: how many
 * @retry_after: s that the client is asked to stay away; 0: not asked
 */
struct status {
	unsigned int code;
	const char *reason;
	const char *name;
	const char *group;
	const char *kind;
	const char *uid;
	const struct status_cause *causes;
	size_t nr_causes;
	unsigned int retry_after;
};

/**
 * status_reason() - the usual reason
 * @code: of HTTP
 *
 * Return: as clients of Kubernetes know it; "" where there is none.
 */
const char *status_reason(unsigned int code);

/**
 * status_reply() - answer with a Status
 * @reply: its status, type and body are set, and Retry-After with @retry_after
 * @status: what to say
 * @format: of the message for people; "" for none
 */
void status_reply(struct reply *reply, const struct status *status,
		  const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* APISERVER_STATUS_H */
