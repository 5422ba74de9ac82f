/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * A gate and the places that requests go to: place.c is about these, gate.c about
 * the requests.
 */
#ifndef KAPF_GATE_H
#define KAPF_GATE_H

#include <linux/list.h>
#include <pthread.h>

#include "local.h"

/* Until it is tried to have a session again, in s: at first. */
#define FIRST_DELAY	1

/**
 * struct place - where requests go
 * @link: in the gate's
 * @is_session: it is one, or has been
 * @session: it, until it has ended
 * @local: or this; or neither: all execute
 * @closed: neither, and none executes
 * @since: it is there
 * @users: threads that use it, requests that have not ended, and the gate while
 *	it is the present one
 * @callers: of the users, threads that are in a function of the session
 * @ended: the session has; nothing of it is left in the kernel
 * @requests: that have not ended
 */
struct place {
	struct list_head link;
	bool is_session;
	struct kapf_session *session;
	struct local *local;
	bool closed;
	uint64_t since;
	unsigned int users;
	unsigned int callers;
	bool ended;
	struct list_head requests;
};

enum stage {
	SUBMITTED,	/* kapf_gate_submit() is on its way */
	WAITS,
	TOLD,		/* it executes, or has ended */
};

/**
 * struct gate_request - a request that has not ended
 * @link: among those of its place
 * @gate: that it was submitted to
 * @place: where it is
 * @stage: how far it is
 * @refs: its life, and kapf_gate_submit() while that looks at it
 * @cancelled: the server does not want it any more
 * @local: of the place
 * @ticket: of the place
 * @decided: whom to tell
 * @user: likewise
 */
struct gate_request {
	struct list_head link;
	struct kapf_gate *gate;
	struct place *place;
	enum stage stage;
	unsigned int refs;
	bool cancelled;
	struct local_request *local;
	struct kapf_ticket ticket;
	kapf_gate_decided_fn *decided;
	void *user;
};

/**
 * struct kapf_gate - a gate
 * @options: how it is
 * @epoll: of the file descriptors of all places, @timer and @wake
 * @timer: for the next try
 * @wake: readable: a session has ended
 * @spare: for the next fallback, so that it does not need memory
 * @changing: held by who changes the present place
 * @lock: protects all that follows, and what is in the places
 * @present: where requests go
 * @places: all of them
 * @known: the last configuration of a session; NULL: there was none
 * @delay: until the next try, in s
 * @fallen: there is no session
 *
 * @spare, @known, @delay and @fallen are protected by @changing.
 */
struct kapf_gate {
	struct kapf_gate_options options;
	int epoll;
	int timer;
	int wake;
	pthread_mutex_t changing;
	pthread_mutex_t lock;
	struct place *present;
	struct list_head places;
	struct place *spare;
	struct snapshot *known;
	unsigned int delay;
	bool fallen;
};

void gate_watch(struct kapf_gate *gate, int fd);
int gate_have_session(struct kapf_gate *gate, struct kapf_error *err);
void gate_fall_back(struct kapf_gate *gate, const struct kapf_error *why);
void gate_lose(struct kapf_gate *gate, struct place *place, int ret);
void gate_return(struct kapf_gate *gate);

void place_free(struct place *place);
void place_put_and_unlock(struct kapf_gate *gate, struct place *place);
void place_put(struct kapf_gate *gate, struct place *place);
bool place_enter(struct kapf_gate *gate, struct place *place);
void place_leave(struct kapf_gate *gate, struct place *place);

#endif /* KAPF_GATE_H */
