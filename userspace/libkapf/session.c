// SPDX-License-Identifier: LGPL-2.1
/*
 * A session: what one server process has with one instance of kapf.
 *
 * Keeps a copy of the configuration to classify by, and carries each request
 * through classification, a free slot and the wait for the kernel's decision.
 *
 * A configuration is never changed once it is published: who uses one counts as
 * its user, and the last user frees it.  The lock protects only the choice of
 * the current one; it is never held over a system call.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"
#include "label.h"
#include "libkapf.h"
#include "slots.h"

/* A configuration that changes more often while one request is matched. */
#define MAX_MATCHES 8

#define NSEC_PER_MSEC 1000000ULL

/**
 * struct snapshot - a configuration as it once was
 * @config: not changed any more
 * @users: threads that classify by it, and the session while it is current
 */
struct snapshot {
	struct kapf_configuration *config;
	atomic_uint users;
};

/**
 * struct kapf_session - an attached submit node
 * @fd: the node
 * @slots: where its requests live
 * @lock: protects the following
 * @renewed: signalled when @renewing ends
 * @current: the latest configuration that was read
 * @stale: the kernel has a later one
 * @renewing: a thread is reading it
 */
struct kapf_session {
	int fd;
	struct slots slots;
	pthread_mutex_t lock;
	pthread_cond_t renewed;
	struct snapshot *current;
	bool stale;
	bool renewing;
};

static int read_snapshot(struct snapshot **snapshot, int fd,
			 struct kapf_error *err)
{
	struct snapshot *fresh = malloc(sizeof(*fresh));
	int ret;

	if (!fresh) {
		kapf_error_set(err, "not enough memory");
		return -ENOMEM;
	}
	ret = kapf_config_read(&fresh->config, fd, err);
	if (ret < 0) {
		free(fresh);
		return ret;
	}
	fresh->users = 1;
	*snapshot = fresh;
	return 0;
}

static void put_snapshot(struct snapshot *snapshot)
{
	if (atomic_fetch_sub(&snapshot->users, 1) > 1)
		return;
	kapf_config_free(snapshot->config);
	free(snapshot);
}

/*
 * Read the configuration anew and publish it.  Called with the lock held, which
 * is dropped meanwhile; others use the current one until then.
 */
static int renew(struct kapf_session *session)
{
	struct snapshot *fresh, *old = NULL;
	int ret;

	session->renewing = true;
	pthread_mutex_unlock(&session->lock);
	ret = read_snapshot(&fresh, session->fd, NULL);
	pthread_mutex_lock(&session->lock);
	session->renewing = false;
	if (!ret) {
		old = session->current;
		session->current = fresh;
		session->stale = false;
	}
	pthread_cond_broadcast(&session->renewed);
	if (old)
		put_snapshot(old);
	return ret;
}

/*
 * The configuration to classify by.  @snapshot is NULL before, or one that has
 * become useless, for which a later one is exchanged.
 *
 * A stale configuration is read anew by the first who comes.  Should that fail,
 * the next one tries again: once the kernel has handed a configuration over, it
 * takes it as known.
 */
static int get_snapshot(struct kapf_session *session,
			struct snapshot **snapshot)
{
	struct snapshot *old = *snapshot;
	int ret = 0;

	pthread_mutex_lock(&session->lock);
	while (session->current == old && session->renewing)
		pthread_cond_wait(&session->renewed, &session->lock);
	if (session->stale && !session->renewing)
		ret = renew(session);
	*snapshot = session->current;
	atomic_fetch_add(&session->current->users, 1);
	pthread_mutex_unlock(&session->lock);

	if (old)
		put_snapshot(old);
	return *snapshot == old ? ret : 0;
}

/* @snapshot turned out to be out of date, unless it has been replaced since. */
static void mark_stale(struct kapf_session *session,
		       const struct snapshot *snapshot)
{
	pthread_mutex_lock(&session->lock);
	if (session->current == snapshot)
		session->stale = true;
	pthread_mutex_unlock(&session->lock);
}

int kapf_get_info(int fd, struct kapf_info *info, struct kapf_error *err)
{
	int ret;

	*info = (struct kapf_info){ .size = sizeof(*info) };
	if (ioctl(fd, KAPF_GET_INFO, info) < 0) {
		ret = -errno;
		kapf_error_set(err, "not a node of kapf: %s", strerror(-ret));
		return ret;
	}
	if (info->abi != KAPF_ABI) {
		kapf_error_set(err, "the module has interface %u, this program knows %u",
			       info->abi, KAPF_ABI);
		return -EPROTO;
	}
	return 0;
}

/* Say why KAPF_ATTACH failed. */
static void refuse_attach(int ret, const char *server, unsigned int slots,
			  const struct kapf_info *info, struct kapf_error *err)
{
	char name[128];

	if (ret == -EINVAL)
		kapf_error_set(err,
			       "cannot be server %s with %u slot%s: a name is 1 to %d of [a-z0-9.-], slots are 1 to max_inflight of the module kapf, %u",
			       kapf_quote(name, sizeof(name), server), slots,
			       slots == 1 ? "" : "s", KAPF_SERVER_BYTES - 1,
			       info->max_inflight);
	else if (ret == -EDQUOT)
		kapf_error_set(err,
			       "this user has as many sessions as max_sessions of the module kapf allows, %u",
			       info->max_sessions);
	else if (ret == -ENOTTY)
		kapf_error_set(err,
			       "this is a control node: servers attach to a submit node: /dev/kapf%u",
			       info->instance);
	else
		kapf_error_set(err, "cannot attach: %s", strerror(-ret));
}

static int attach_node(int fd, const char *server, unsigned int *slots,
		       struct kapf_error *err)
{
	struct kapf_attach attach = {
		.size = sizeof(attach),
		.label_bytes = LABEL_BYTES,
	};
	struct kapf_info info;
	int ret;

	ret = kapf_get_info(fd, &info, err);
	if (ret < 0)
		return ret;
	if (!*slots)
		*slots = info.max_inflight;
	attach.slots = *slots;

	/* One that is too long stays without its NUL, which is refused. */
	memcpy(attach.server, server, strnlen(server, sizeof(attach.server)));

	if (!ioctl(fd, KAPF_ATTACH, &attach))
		return 0;
	ret = -errno;
	refuse_attach(ret, server, *slots, &info, err);
	return ret;
}

int kapf_session_open(struct kapf_session **session, const char *path,
		      const char *server, unsigned int slots,
		      struct kapf_error *err)
{
	struct kapf_session *fresh;
	int ret;

	fresh = calloc(1, sizeof(*fresh));
	if (!fresh) {
		kapf_error_set(err, "not enough memory");
		return -ENOMEM;
	}
	if (!path)
		path = KAPF_SUBMIT_NODE;
	fresh->fd = open(path, O_RDWR | O_CLOEXEC);
	if (fresh->fd < 0) {
		ret = -errno;
		kapf_error_set(err, "%s: %s", path, strerror(-ret));
		goto free;
	}
	ret = attach_node(fresh->fd, server, &slots, err);
	if (ret < 0)
		goto close;
	ret = read_snapshot(&fresh->current, fresh->fd, err);
	if (ret < 0)
		goto close;
	ret = slots_init(&fresh->slots, slots);
	if (ret < 0) {
		kapf_error_set(err, "not enough memory");
		goto put;
	}
	pthread_mutex_init(&fresh->lock, NULL);
	pthread_cond_init(&fresh->renewed, NULL);
	*session = fresh;
	return 0;

put:
	put_snapshot(fresh->current);
close:
	close(fresh->fd);
free:
	free(fresh);
	return ret;
}

void kapf_session_close(struct kapf_session *session)
{
	if (!session)
		return;
	close(session->fd);
	pthread_cond_destroy(&session->renewed);
	pthread_mutex_destroy(&session->lock);
	slots_destroy(&session->slots);
	put_snapshot(session->current);
	free(session);
}

static unsigned int verb_flags(const char *verb)
{
	static const char *const mutating[] = {
		"create", "update", "patch", "delete", "deletecollection",
		"post", "put",
	};
	size_t i;

	if (!verb)
		return 0;
	if (!strcmp(verb, "watch"))
		return KAPF_OP_WATCH;
	for (i = 0; i < sizeof(mutating) / sizeof(*mutating); i++)
		if (!strcmp(verb, mutating[i]))
			return KAPF_OP_MUTATING;
	return 0;
}

/*
 * Ask in a free slot until there is a decision.  A signal only interrupts the
 * wait, and a slot that the kernel still holds, since the timer that frees it is
 * late, is left alone for a little longer.  Who gets no slot in time has waited
 * in vain like one who gets no seat, only that the kernel knows nothing of it.
 */
static int decide(struct kapf_session *session, struct kapf_op *op,
		  uint64_t deadline)
{
	uint64_t time;
	int slot, ret;

	do {
		slot = slots_take(&session->slots, deadline);
		if (slot < 0)
			return KAPF_TIME_OUT | 1 << 8; /* Retry-After 1 s */
		op->slot = slot;
		do {
			time = slots_now();
			op->max_wait = time < deadline ? deadline - time : 1;
			ret = ioctl(session->fd, KAPF_ADMIT, op);
		} while (ret < 0 && errno == EINTR);
		if (ret < 0)
			ret = -errno;
		if (ret < 0 || KAPF_VERDICT(ret) != KAPF_EXECUTE)
			slots_put(&session->slots, slot,
				  ret == -EBUSY ? NSEC_PER_MSEC : 0);
	} while (ret == -EBUSY);
	return ret;
}

/* Match a request and ask; fills the ticket. */
static int match(struct kapf_session *session,
		 const struct kapf_configuration *config,
		 const struct kapf_digest *digest, struct kapf_op *op,
		 uint64_t deadline, struct kapf_ticket *ticket)
{
	const struct kapf_flow_schema *schema = kapf_classify(config, digest);
	const struct kapf_priority_level *level;
	char label[LABEL_BYTES];
	int ret;

	level = kapf_config_level(config, schema->level);
	op->schema = schema->id;
	op->flow_hash = kapf_flow_hash(schema->name,
				       kapf_flow_distinguisher(schema, digest));
	op->label = (uintptr_t)label;
	op->label_len = label_make(label, schema, digest);
	ret = decide(session, op, deadline);
	if (ret < 0)
		return ret;

	ticket->verdict = KAPF_VERDICT(ret);
	ticket->retry_after = KAPF_RETRY_AFTER(ret);
	ticket->slot = op->slot;
	memcpy(ticket->schema_uid, schema->uid, KAPF_UID_BYTES);
	memcpy(ticket->level_uid, level->uid, KAPF_UID_BYTES);
	return ret;
}

int kapf_admit(struct kapf_session *session, const struct kapf_digest *digest,
	       const struct kapf_work *work, uint64_t max_wait,
	       struct kapf_ticket *ticket)
{
	const struct kapf_work least = { .initial_seats = 1 };
	struct kapf_op op = {
		.opcode = KAPF_OP_ADMIT,
		.flags = verb_flags(digest->verb),
		.watch_count = KAPF_WATCH_COUNT_UNKNOWN,
	};
	struct snapshot *snapshot = NULL;
	int ret, matches = 0;
	uint64_t deadline;
	bool stale;

	if (!work)
		work = &least;
	if (work->initial_seats > KAPF_MAX_WIDTH ||
	    work->final_seats > KAPF_MAX_WIDTH)
		return -EINVAL;
	op.initial_seats = work->initial_seats ? work->initial_seats : 1;
	op.final_seats = work->final_seats;
	op.additional_latency = work->additional_latency;

	if (!max_wait)
		max_wait = KAPF_DEFAULT_WAIT_NS;
	else if (max_wait > KAPF_MAX_WAIT_NS)
		max_wait = KAPF_MAX_WAIT_NS;
	deadline = slots_now() + max_wait;

	do {
		if (matches++ == MAX_MATCHES)
			ret = -EAGAIN;
		else
			ret = get_snapshot(session, &snapshot);
		if (ret < 0)
			break;
		ret = match(session, snapshot->config, digest, &op, deadline,
			    ticket);
		if (ret < 0)
			break;
		stale = ret & KAPF_STALE || ticket->verdict == KAPF_RECLASSIFY;
		if (stale)
			mark_stale(session, snapshot);
		/* Refused by rules of the past: it may be another level's. */
	} while (stale && ticket->verdict != KAPF_EXECUTE);
	put_snapshot(snapshot);
	return ret < 0 ? ret : 0;
}

int kapf_finish(struct kapf_session *session, const struct kapf_ticket *ticket)
{
	int ret = ioctl(session->fd, KAPF_FINISH, (unsigned long)ticket->slot);

	if (ret < 0)
		return -errno;
	slots_put(&session->slots, ticket->slot, ret * NSEC_PER_MSEC);
	return ret;
}
