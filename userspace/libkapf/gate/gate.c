// SPDX-License-Identifier: LGPL-2.1
/*
 * The requests of a gate: each has a place, which is asked, and stays its place
 * until the request ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "gate.h"
#include "internal.h"

/* Sessions may end while a request is on its way to them. */
#define MAX_TRIES	8

static int open_files(struct kapf_gate *gate, struct kapf_error *err)
{
	int ret;

	gate->epoll = epoll_create1(EPOLL_CLOEXEC);
	gate->timer = timerfd_create(CLOCK_MONOTONIC,
				     TFD_CLOEXEC | TFD_NONBLOCK);
	gate->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (gate->epoll < 0 || gate->timer < 0 || gate->wake < 0) {
		ret = -errno;
		kapf_error_set(err, "no file descriptors: %s", strerror(-ret));
		return ret;
	}
	gate_watch(gate, gate->timer);
	gate_watch(gate, gate->wake);
	return 0;
}

static int first_place(struct kapf_gate *gate, struct kapf_error *err)
{
	struct kapf_error why = {};
	int ret = gate_have_session(gate, &why);

	if (!ret)
		return 0;
	if (ret == -EINVAL || !gate->spare) {
		kapf_error_set(err, "%s", why.text);
		return ret;
	}
	gate_fall_back(gate, &why);
	return 0;
}

int kapf_gate_open(struct kapf_gate **gate,
		   const struct kapf_gate_options *options,
		   struct kapf_error *err)
{
	struct kapf_gate *fresh = calloc(1, sizeof(*fresh));
	int ret;

	if (!fresh) {
		kapf_error_set(err, "not enough memory");
		return -ENOMEM;
	}
	fresh->options = *options;
	fresh->delay = FIRST_DELAY;
	INIT_LIST_HEAD(&fresh->places);
	pthread_mutex_init(&fresh->changing, NULL);
	pthread_mutex_init(&fresh->lock, NULL);
	ret = open_files(fresh, err);
	if (!ret)
		ret = first_place(fresh, err);
	if (ret) {
		kapf_gate_close(fresh);
		return ret;
	}
	*gate = fresh;
	return 0;
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

void kapf_gate_close(struct kapf_gate *gate)
{
	struct place *place;

	if (!gate)
		return;
	while (!list_empty(&gate->places)) {
		place = list_first_entry(&gate->places, struct place, link);
		list_del(&place->link);
		place_free(place);
	}
	free(gate->spare);
	if (gate->known)
		snapshots_put(gate->known);
	close_file(gate->wake);
	close_file(gate->timer);
	close_file(gate->epoll);
	pthread_mutex_destroy(&gate->lock);
	pthread_mutex_destroy(&gate->changing);
	free(gate);
}

int kapf_gate_fd(const struct kapf_gate *gate)
{
	return gate->epoll;
}

/* Where the next request goes; it counts as its user. */
static struct place *present_place(struct kapf_gate *gate)
{
	struct place *place;

	pthread_mutex_lock(&gate->lock);
	place = gate->present;
	place->users++;
	pthread_mutex_unlock(&gate->lock);
	return place;
}

/* Called with the lock held, as its kind. */
static void put_request(struct gate_request *request)
{
	if (!--request->refs)
		free(request);
}

/* Nothing follows.  Called with the lock held, returns without it. */
static void end_and_unlock(struct gate_request *request)
{
	struct kapf_gate *gate = request->gate;
	struct place *place = request->place;

	list_del(&request->link);
	put_request(request);
	place_put_and_unlock(gate, place);
}

/*
 * A request that waited has been decided on.  Called with the lock held, returns
 * without it.
 */
static void decide_and_unlock(struct gate_request *request,
			      const struct kapf_ticket *ticket)
{
	struct kapf_gate *gate = request->gate;
	kapf_gate_decided_fn *decided = request->decided;
	struct kapf_gate_ticket told = {
		.ticket = *ticket,
		.request = request,
	};
	void *user = request->user;

	request->stage = TOLD;
	request->ticket = *ticket;
	if (ticket->verdict == KAPF_EXECUTE)
		pthread_mutex_unlock(&gate->lock);
	else
		end_and_unlock(request);
	decided(gate, &told, user);
}

static void local_decided(const struct kapf_ticket *ticket, void *user)
{
	struct gate_request *request = user;

	pthread_mutex_lock(&request->gate->lock);
	decide_and_unlock(request, ticket);
}

static void session_decided(struct kapf_session *session,
			    const struct kapf_ticket *ticket, void *user)
{
	(void)session;
	local_decided(ticket, user);
}

/* Ask where the request is. */
static int ask(struct gate_request *request, const struct kapf_digest *digest,
	       const struct kapf_work *work, uint64_t max_wait,
	       struct kapf_ticket *ticket)
{
	struct place *place = request->place;
	int ret = -ESHUTDOWN;

	if (place->local)
		return local_submit(place->local, digest, work, max_wait,
				    local_decided, request, ticket,
				    &request->local);
	if (place->closed)
		return -ECONNREFUSED;
	if (!place->is_session) {
		*ticket = (struct kapf_ticket){ .verdict = KAPF_EXECUTE };
		return 0;
	}
	if (place_enter(request->gate, place)) {
		ret = kapf_submit(place->session, digest, work, max_wait,
				  session_decided, request, ticket);
		place_leave(request->gate, place);
	}
	return ret;
}

/* The place has answered; unless that was with a verdict to come, this is all. */
static void answered(struct gate_request *request, int ret,
		     const struct kapf_ticket *ticket)
{
	struct kapf_gate *gate = request->gate;
	bool is_told;

	pthread_mutex_lock(&gate->lock);
	is_told = request->stage == TOLD;
	if (!is_told)
		request->ticket = *ticket;
	put_request(request);
	if (!is_told && !ret && ticket->verdict == KAPF_QUEUED) {
		request->stage = WAITS;
		/* Who tells of what was in there may have done so before. */
		if (request->place->ended)
			eventfd_write(gate->wake, 1);
	} else if (!is_told && !ret && ticket->verdict == KAPF_EXECUTE) {
		request->stage = TOLD;
	} else if (!is_told) {
		end_and_unlock(request);
		return;
	}
	pthread_mutex_unlock(&gate->lock);
}

static struct gate_request *new_request(struct kapf_gate *gate,
					struct place *place,
					kapf_gate_decided_fn *decided,
					void *user)
{
	struct gate_request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->gate = gate;
	request->place = place;
	request->decided = decided;
	request->user = user;
	request->refs = 2;
	pthread_mutex_lock(&gate->lock);
	place->users++;
	list_add_tail(&request->link, &place->requests);
	pthread_mutex_unlock(&gate->lock);
	return request;
}

/* Is it the session's fault, and not the request's, or that of too many changes? */
static bool is_broken(int ret)
{
	return ret && ret != -EINVAL && ret != -EBUSY && ret != -EAGAIN;
}

int kapf_gate_submit(struct kapf_gate *gate, const struct kapf_digest *digest,
		     const struct kapf_work *work, uint64_t max_wait,
		     kapf_gate_decided_fn *decided, void *user,
		     struct kapf_gate_ticket *ticket)
{
	struct kapf_digest whole = *digest;
	struct gate_request *request;
	struct place *place;
	int tries = 0, ret;
	bool again;

	if (!whole.tenant)
		whole.tenant = gate->options.server.tenant;
	do {
		place = present_place(gate);
		request = new_request(gate, place, decided, user);
		if (!request) {
			place_put(gate, place);
			return -ENOMEM;
		}
		ticket->request = request;
		ret = ask(request, &whole, work, max_wait, &ticket->ticket);
		answered(request, ret, &ticket->ticket);
		again = place->is_session && is_broken(ret);
		if (again)
			gate_lose(gate, place, ret);
		place_put(gate, place);
	} while (again && ++tries < MAX_TRIES);
	if (again)
		return -ENOMEM;
	return ret == -ECONNREFUSED ? -ESHUTDOWN : ret;
}

/* One that waits where nobody will decide on it any more. */
static struct gate_request *find_orphan(const struct place *place)
{
	struct list_head *link;

	for (link = place->requests.next; link != &place->requests;
	     link = link->next) {
		struct gate_request *request =
			container_of(link, struct gate_request, link);

		if (request->stage == WAITS)
			return request;
	}
	return NULL;
}

/* What waited in a session that has ended is to be submitted again. */
static int tell_orphans(struct kapf_gate *gate, struct place *place)
{
	struct gate_request *request;
	struct kapf_ticket ticket;
	int nr = 0;

	for (;; nr++) {
		pthread_mutex_lock(&gate->lock);
		/* As long as a thread is in there, it may tell of some. */
		request = place->ended && !place->callers ?
				  find_orphan(place) : NULL;
		if (!request)
			break;
		ticket = request->ticket;
		ticket.verdict = request->cancelled ? KAPF_CANCELLED :
						      KAPF_RECLASSIFY;
		decide_and_unlock(request, &ticket);
	}
	pthread_mutex_unlock(&gate->lock);
	return nr;
}

static int pump_place(struct kapf_gate *gate, struct place *place)
{
	int ret = 0;

	if (place->local)
		return local_pump(place->local);
	if (!place->is_session)
		return 0;
	if (place_enter(gate, place)) {
		ret = kapf_pump(place->session);
		place_leave(gate, place);
		if (ret < 0) {
			gate_lose(gate, place, ret);
			ret = 0;
		}
	}
	return ret + tell_orphans(gate, place);
}

/* The place behind another one, or the first; it counts as used, @last no more. */
static struct place *next_place(struct kapf_gate *gate, struct place *last)
{
	struct list_head *link;
	struct place *next = NULL;

	pthread_mutex_lock(&gate->lock);
	link = last ? last->link.next : gate->places.next;
	if (link != &gate->places) {
		next = container_of(link, struct place, link);
		next->users++;
	}
	if (last)
		place_put_and_unlock(gate, last);
	else
		pthread_mutex_unlock(&gate->lock);
	return next;
}

int kapf_gate_pump(struct kapf_gate *gate)
{
	struct place *place = NULL;
	eventfd_t woken;
	int nr = 0;

	eventfd_read(gate->wake, &woken);
	gate_return(gate);
	while ((place = next_place(gate, place)))
		nr += pump_place(gate, place);
	return nr;
}

int kapf_gate_cancel(struct kapf_gate *gate,
		     const struct kapf_gate_ticket *ticket)
{
	struct gate_request *request = ticket->request;
	struct place *place = request->place;
	int ret = 0;

	if (place->local)
		return local_cancel(place->local, request->local);
	pthread_mutex_lock(&gate->lock);
	request->cancelled = true;
	pthread_mutex_unlock(&gate->lock);
	/* Of a session that has ended kapf_gate_pump() will tell. */
	if (place_enter(gate, place)) {
		ret = kapf_cancel(place->session, &request->ticket);
		place_leave(gate, place);
	}
	return ret == -ESHUTDOWN ? 0 : ret;
}

int kapf_gate_finish(struct kapf_gate *gate,
		     const struct kapf_gate_ticket *ticket)
{
	struct gate_request *request = ticket->request;
	struct place *place = request->place;
	int ret = 0;

	if (place->local) {
		ret = local_finish(place->local, request->local);
	} else if (place->is_session && place_enter(gate, place)) {
		ret = kapf_finish(place->session, &request->ticket);
		place_leave(gate, place);
	}
	pthread_mutex_lock(&gate->lock);
	end_and_unlock(request);
	/* That a session has ended, and its seats are free, is for the pump. */
	return ret > 0 ? ret : 0;
}
