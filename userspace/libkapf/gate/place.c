// SPDX-License-Identifier: LGPL-2.1
/*
 * Gates: a session as long as there can be one, else what the server has chosen.
 *
 * Where requests go is a place: a session, an admission within the process, or
 * nothing at all, where they execute.  A place that is left stays until nothing is
 * in it any more, for a request ends where it began.  Only of a session that has
 * ended nothing is left; its file is closed at once, as it keeps the module in use.
 *
 * The lock of a gate is held neither over a system call of a session nor over a
 * callback.  Who uses a place without it counts as its user.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "gate.h"
#include "internal.h"
#include "session.h"

#define NSEC_PER_SEC	1000000000ULL

/* What the delay grows to, in s. */
#define MAX_DELAY	30

/**
 * gate_watch() - have a file descriptor make that of the gate readable
 * @gate: the gate
 * @fd: until it is closed
 */
void gate_watch(struct kapf_gate *gate, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	epoll_ctl(gate->epoll, EPOLL_CTL_ADD, fd, &event);
}

static struct place *new_place(void)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return NULL;
	INIT_LIST_HEAD(&place->requests);
	place->users = 1;
	return place;
}

/**
 * place_free() - free a place, and whatever is in it
 * @place: that nobody uses
 */
void place_free(struct place *place)
{
	struct gate_request *request;

	while (!list_empty(&place->requests)) {
		request = list_first_entry(&place->requests,
					   struct gate_request, link);
		list_del(&request->link);
		free(request);
	}
	kapf_session_close(place->session);
	local_free(place->local);
	free(place);
}

/**
 * place_put_and_unlock() - do not use a place any more
 * @gate: whose lock is held, and dropped
 * @place: of the gate
 */
void place_put_and_unlock(struct kapf_gate *gate, struct place *place)
{
	bool unused = !--place->users;

	if (unused)
		list_del(&place->link);
	pthread_mutex_unlock(&gate->lock);
	if (unused)
		place_free(place);
}

/**
 * place_put() - do not use a place any more
 * @gate: that it is a place of
 * @place: of the gate
 */
void place_put(struct kapf_gate *gate, struct place *place)
{
	pthread_mutex_lock(&gate->lock);
	place_put_and_unlock(gate, place);
}

/* Let go of a session that has ended, once nobody is in one of its functions. */
static struct kapf_session *take_ended(struct place *place)
{
	struct kapf_session *session = place->session;

	if (!place->ended || place->callers)
		return NULL;
	place->session = NULL;
	return session;
}

/**
 * place_enter() - a function of the place's session is going to be called
 * @gate: that it is a place of
 * @place: that is one of a session, and counts the caller as its user
 *
 * Return: whether the session is still there; then place_leave() is to follow.
 */
bool place_enter(struct kapf_gate *gate, struct place *place)
{
	bool there;

	pthread_mutex_lock(&gate->lock);
	there = !place->ended;
	place->callers += there;
	pthread_mutex_unlock(&gate->lock);
	return there;
}

/**
 * place_leave() - it has been called
 * @gate: as for place_enter()
 * @place: likewise
 */
void place_leave(struct kapf_gate *gate, struct place *place)
{
	struct kapf_session *ended;

	pthread_mutex_lock(&gate->lock);
	place->callers--;
	ended = take_ended(place);
	if (ended)
		eventfd_write(gate->wake, 1);
	pthread_mutex_unlock(&gate->lock);
	kapf_session_close(ended);
}

static void end_session(struct kapf_gate *gate, struct place *place)
{
	struct kapf_session *ended;

	pthread_mutex_lock(&gate->lock);
	if (!place->ended) {
		place->ended = true;
		epoll_ctl(gate->epoll, EPOLL_CTL_DEL,
			  kapf_session_fd(place->session), NULL);
		eventfd_write(gate->wake, 1);
	}
	ended = take_ended(place);
	pthread_mutex_unlock(&gate->lock);
	kapf_session_close(ended);
}

/* Requests go to another place from now on. */
static void move_to(struct kapf_gate *gate, struct place *place)
{
	struct place *old = gate->present;

	place->since = slots_now();
	if (place->session)
		gate_watch(gate, kapf_session_fd(place->session));
	if (place->local)
		gate_watch(gate, local_fd(place->local));
	pthread_mutex_lock(&gate->lock);
	list_add_tail(&place->link, &gate->places);
	gate->present = place;
	if (old)
		place_put_and_unlock(gate, old);
	else
		pthread_mutex_unlock(&gate->lock);
}

/* The configuration that a session has now; it counts as used. */
static struct snapshot *current_of(struct kapf_session *session)
{
	struct snapshots *snapshots = &session->snapshots;
	struct snapshot *current;

	pthread_mutex_lock(&snapshots->lock);
	current = snapshots->current;
	atomic_fetch_add(&current->users, 1);
	pthread_mutex_unlock(&snapshots->lock);
	return current;
}

static struct snapshot *make_defaults(void)
{
	struct kapf_configuration *config = kapf_config_new();

	if (!config)
		return NULL;
	if (kapf_config_add_defaults(config)) {
		kapf_config_free(config);
		return NULL;
	}
	kapf_config_nominal(config);
	return snapshot_new(config);
}

static void schedule(struct kapf_gate *gate)
{
	const struct itimerspec timer = { .it_value.tv_sec = gate->delay };

	timerfd_settime(gate->timer, 0, &timer, NULL);
	gate->delay = gate->delay * 2 < MAX_DELAY ? gate->delay * 2 : MAX_DELAY;
}

static void tell(struct kapf_gate *gate, const struct kapf_error *why)
{
	if (gate->options.changed)
		gate->options.changed(gate, why, gate->options.user);
}

/**
 * gate_fall_back() - go on without a session
 * @gate: with a spare place; @changing is held
 * @why: there is none
 *
 * When memory is too short for the engine, no request executes until there is a
 * session.
 */
void gate_fall_back(struct kapf_gate *gate, const struct kapf_error *why)
{
	struct place *place = gate->spare;

	gate->spare = NULL;
	if (gate->options.fallback == KAPF_FALLBACK_LOCAL) {
		if (!gate->known)
			gate->known = make_defaults();
		place->closed = !gate->known ||
				local_new(&place->local, gate->known);
	} else {
		place->closed = gate->options.fallback == KAPF_FALLBACK_CLOSED;
	}
	move_to(gate, place);
	gate->fallen = true;
	schedule(gate);
	tell(gate, why);
}

/* Remember a configuration for what may follow. */
static void know(struct kapf_gate *gate, struct snapshot *snapshot)
{
	if (gate->known)
		snapshots_put(gate->known);
	gate->known = snapshot;
}

/**
 * gate_have_session() - have a session
 * @gate: the gate; @changing is held
 * @err: says why it failed; may be NULL
 *
 * Return: 0, or an errno of kapf_session_open().
 */
int gate_have_session(struct kapf_gate *gate, struct kapf_error *err)
{
	struct kapf_session *session;
	struct place *place;
	int ret;

	if (!gate->spare)
		gate->spare = new_place();
	place = new_place();
	if (!place || !gate->spare) {
		free(place);
		kapf_error_set(err, "not enough memory");
		return -ENOMEM;
	}
	ret = kapf_session_open(&session, &gate->options.server, err);
	if (ret) {
		free(place);
		return ret;
	}
	place->session = session;
	place->is_session = true;
	know(gate, current_of(session));
	move_to(gate, place);
	return 0;
}

/* The present session does not work any more: @ret says why. */
static void replace(struct kapf_gate *gate, struct place *place, int ret)
{
	struct kapf_error why;

	if (place_enter(gate, place)) {
		know(gate, current_of(place->session));
		place_leave(gate, place);
	}
	if (slots_now() - place->since > MAX_DELAY * NSEC_PER_SEC)
		gate->delay = FIRST_DELAY;
	if (ret == -ESHUTDOWN)
		kapf_error_set(&why, "the session has ended");
	else
		kapf_error_set(&why, "the session does not work: %s",
			       strerror(-ret));
	gate_fall_back(gate, &why);
}

/**
 * gate_lose() - a session has failed
 * @gate: the gate
 * @place: of the session; counts the caller as its user
 * @ret: the errno: -ESHUTDOWN: it has ended
 */
void gate_lose(struct kapf_gate *gate, struct place *place, int ret)
{
	pthread_mutex_lock(&gate->changing);
	/* Did another thread see to it? */
	if (gate->present == place)
		replace(gate, place, ret);
	if (ret == -ESHUTDOWN)
		end_session(gate, place);
	pthread_mutex_unlock(&gate->changing);
}

/**
 * gate_return() - have a session again, if it is time to try
 * @gate: the gate
 */
void gate_return(struct kapf_gate *gate)
{
	uint64_t fired;

	pthread_mutex_lock(&gate->changing);
	if (read(gate->timer, &fired, sizeof(fired)) == sizeof(fired) &&
	    gate->fallen) {
		if (!gate_have_session(gate, NULL)) {
			gate->fallen = false;
			tell(gate, NULL);
		} else {
			schedule(gate);
		}
	}
	pthread_mutex_unlock(&gate->changing);
}
