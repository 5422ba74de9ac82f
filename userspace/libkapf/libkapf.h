/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * libkapf: what a server needs to be admitted by kapf, and a tool to configure it.
 *
 * A server opens a session, describes each request, calls kapf_admit() before
 * it serves the request and kapf_finish() after.  The session reads the
 * configuration from the kernel, so that no server needs a file to classify as
 * all others do, and follows its changes.
 *
 * Functions that return int return 0 or a positive value, or a negative errno.
 * Those that take a struct kapf_error leave a sentence there when they fail.  A
 * session may be used by any number of threads; other objects by one at a time,
 * or by many that only read.
 *
 * libkapf_config.h, which this includes, has configurations.
 */
#ifndef LIBKAPF_H
#define LIBKAPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/kapf.h>
#include "libkapf_config.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KAPF_SUBMIT_NODE  "/dev/kapf0"
#define KAPF_CONTROL_NODE "/dev/kapfctl0"

/**
 * struct kapf_error - why a call failed
 * @text: a sentence without a newline, beginning with FILE:LINE where a
 *	manifest is at fault
 */
struct kapf_error {
	char text[1024];
};

/*
 * ---------------------------------------------------------------------------
 * Requests
 */

/**
 * struct kapf_digest - what classification looks at in a request
 * @user: name of the user
 * @groups: the user's groups
 * @nr_groups: how many
 * @is_resource: a request for a resource; else for a path
 * @verb: get, list, watch, create, update, patch, delete, deletecollection,
 *	proxy; for a path the HTTP method in lower case
 * @api_group: resource requests: "" for the core group
 * @api_version: resource requests
 * @resource: resource requests, without subresource
 * @subresource: resource requests, or ""
 * @ns: namespace of resource requests; "" for all namespaces or cluster scope
 * @name: resource requests, or ""
 * @path: of the URL; what nonResourceURLs are compared with
 * @tenant: control plane that is asked, where several share the instance: the
 *	request counts as one of the group kapf:tenant:NAME and its flow as another
 *	one; NULL: that of the session, else ""
 *
 * NULL stands for "".  Of the groups those that begin with kapf:tenant: are not
 * believed: only @tenant puts a request into such a one.
 */
struct kapf_digest {
	const char *user;
	const char *const *groups;
	size_t nr_groups;
	bool is_resource;
	const char *verb;
	const char *api_group;
	const char *api_version;
	const char *resource;
	const char *subresource;
	const char *ns;
	const char *name;
	const char *path;
	const char *tenant;
};

/**
 * struct kapf_work - what a request will cost
 * @initial_seats: seats while it executes, 1 to KAPF_MAX_WIDTH; 0 counts as 1
 * @final_seats: seats during its additional latency, 0 to KAPF_MAX_WIDTH
 * @additional_latency: ns that the seats linger after it has been served, to
 *	KAPF_MAX_ADDITIONAL_LATENCY_NS
 * @counts_watchers: @watchers is known; it is for the statistics alone
 * @watchers: watches that the change is sent to
 *
 * What is out of its range is refused with -EINVAL.
 */
struct kapf_work {
	unsigned int initial_seats;
	unsigned int final_seats;
	uint64_t additional_latency;
	bool counts_watchers;
	uint64_t watchers;
};

/**
 * struct kapf_list_options - the query of a list or a watch, decoded
 * @is_valid: limit and timeoutSeconds are decimal numbers of 64 bits, or not
 *	there
 * @limit: most objects that are wanted; 0 or less: all
 * @resource_version: or ""; "0" for any
 * @resource_version_match: Exact, NotOlderThan, or ""
 * @continue_token: where the list before has ended, or ""
 * @send_initial_events: of a watch
 * @field_selector: as it stands there, or ""
 * @label_selector: likewise
 *
 * Of a parameter that is there more than once, the first counts.
 */
struct kapf_list_options {
	bool is_valid;
	int64_t limit;
	const char *resource_version;
	const char *resource_version_match;
	const char *continue_token;
	bool send_initial_events;
	const char *field_selector;
	const char *label_selector;
};

/**
 * struct kapf_http_request - what a request is, by its method and URL
 * @is_resource: a request for a resource; else for a path
 * @path: of the URL, decoded
 * @verb: see struct kapf_digest; "" for a resource and an unknown method
 * @api_prefix: api or apis; "" where the path begins with neither, or is too
 *	short
 * @api_group: resource requests, as of here until @label_selector: "" for the
 *	core group
 * @api_version: after the group
 * @ns: namespace; of a namespace itself, its own name
 * @resource: without subresource
 * @subresource: or ""
 * @name: of the object, in the path or by fieldSelector=metadata.name=NAME; or ""
 * @field_selector: of a list, a watch or a deletecollection, but not where the
 *	verb stands in the path; else ""
 * @label_selector: likewise
 * @parts: of the path, from the resource on
 * @nr_parts: how many; 0 for a path
 * @list: the query; of any request
 *
 * No string is NULL.
 */
struct kapf_http_request {
	bool is_resource;
	const char *path;
	const char *verb;
	const char *api_prefix;
	const char *api_group;
	const char *api_version;
	const char *ns;
	const char *resource;
	const char *subresource;
	const char *name;
	const char *field_selector;
	const char *label_selector;
	const char **parts;
	size_t nr_parts;
	struct kapf_list_options list;
};

/**
 * kapf_http_request_parse() - find out what a request is
 * @request: out: to be given to kapf_http_request_free(); untouched on failure
 * @method: of HTTP; compared as it stands, in upper case
 * @url: path and query, percent-encoded, as they stand in the request
 * @err: says why it failed; may be NULL
 *
 * As Kubernetes' RequestInfo with the prefixes of a kube-apiserver, api and apis.
 * @request and all its strings are one allocation; nothing in it points to @method
 * or @url.
 *
 * In the query a parameter that cannot be decoded counts as not there.  Options
 * of a list that make no sense (a selector that cannot be read, a limit that is
 * no number) are no error either: it is a list, or a watch if watch is there and
 * neither 0 nor false, without a name.
 *
 * Return: 0; -EINVAL for a URL that does not begin with / and is not *, has a
 * control character or %00, a % without two hexadecimal digits in its path, or
 * ends after the verb /watch or /proxy; -ENOMEM.
 */
int kapf_http_request_parse(struct kapf_http_request **request,
			    const char *method, const char *url,
			    struct kapf_error *err);

/**
 * kapf_http_request_free() - free what kapf_http_request_parse() has made
 * @request: may be NULL
 */
void kapf_http_request_free(struct kapf_http_request *request);

/**
 * kapf_http_request_digest() - what classification looks at in a request
 * @request: the request; its strings stay its own, and have to outlive @digest
 * @digest: all but its user, groups and tenant is set
 */
void kapf_http_request_digest(const struct kapf_http_request *request,
			      struct kapf_digest *digest);

/**
 * kapf_http_request_is_long_running() - is it served without admission?
 * @request: the request
 *
 * Return: true for the verb proxy, for the subresources attach, exec, proxy, log
 * and portforward, and for paths below /debug/pprof/.  A watch is admitted.
 */
bool kapf_http_request_is_long_running(const struct kapf_http_request *request);

/**
 * struct kapf_store - what the store knows of a resource
 * @is_known: its objects are counted; not so those of another server
 * @is_stale: the last count is older than three minutes
 * @objects: how many there are, of all namespaces
 * @object_bytes: their average size; 0: unknown
 * @reports_progress: its watches can ask how far they are (etcd from 3.4.31 and
 *	3.5.13 on), so that a cache can serve a list of the present state
 * @watchers: watches that a change of an object is sent to: those of its
 *	resource in all namespaces, in its namespace, and of itself; without
 *	watches of pods by spec.nodeName
 */
struct kapf_store {
	bool is_known;
	bool is_stale;
	uint64_t objects;
	uint64_t object_bytes;
	bool reports_progress;
	uint64_t watchers;
};

/**
 * enum kapf_list_cost - what the seats of a list are reckoned by
 * @KAPF_LIST_BY_SIZE: bytes in memory, as from Kubernetes 1.34 on
 * @KAPF_LIST_BY_COUNT: objects, as before
 */
enum kapf_list_cost {
	KAPF_LIST_BY_SIZE,
	KAPF_LIST_BY_COUNT,
};

/**
 * kapf_work_estimate() - what a request will cost
 * @work: out
 * @request: the request
 * @store: of its resource; not looked at for other verbs than list, watch,
 *	create, update, patch and delete
 * @max_seats: of its level, by kapf_max_seats(); 0: as for one without queues
 * @cost: of lists
 *
 * A list, and a watch that begins with the objects there are: with N objects of E
 * bytes (1,500,000 if unknown, and 1,000,000,000 such objects if stale), of which
 * l = min(limit, N) are wanted:
 *
 * by size: o = 1 when a name selects it, max(l, N/2) with a selector from the
 * store, else l; b = o * E, from the cache at most 1,000,000; seats =
 * ceil(b / 100,000), 1 to min(100, @max_seats).
 *
 * A watch begins so with sendInitialEvents=true, or with resourceVersion unset or
 * 0; it comes from the cache.  So does a list with resourceVersionMatch=
 * NotOlderThan; and one without any, and without continue, whose resourceVersion is
 * 0, or is another one while no limit is set, or is unset while the store
 * @reports_progress.
 *
 * by count: o = 1 when a name selects it, N from the cache, N + l with a selector,
 * else 2 l; seats = ceil(o / 100), 1 to min(10, @max_seats).
 *
 * The most of these for options that are not valid, 1 for a resource that is not
 * known.
 *
 * create, update, patch and delete with W >= 10 watchers: 1 seat, then w =
 * ceil(W / 10) seats for 5 ms, or as much work with min(w, 10, @max_seats) seats,
 * but KAPF_MAX_ADDITIONAL_LATENCY_NS at most.  Not so for a service account's
 * token.
 *
 * All else: 1 seat.
 */
void kapf_work_estimate(struct kapf_work *work,
			const struct kapf_http_request *request,
			const struct kapf_store *store, unsigned int max_seats,
			enum kapf_list_cost cost);

/*
 * ---------------------------------------------------------------------------
 * Sessions
 */

/**
 * kapf_get_info() - what an instance is and allows
 * @fd: of one of its nodes
 * @info: out
 * @err: says why it failed; may be NULL
 *
 * Return: 0, or an errno of KAPF_GET_INFO; -EPROTO when the module speaks
 * another version of the interface than this library.
 */
int kapf_get_info(int fd, struct kapf_info *info, struct kapf_error *err);

struct kapf_session;

/**
 * struct kapf_server - who opens a session
 * @node: the submit node; NULL: KAPF_SUBMIT_NODE
 * @name: of this server, of [a-z0-9.-], 1 to 63 characters
 * @tenant: name of its control plane, likewise, where several share the instance;
 *	NULL: none
 * @slots: most requests in flight at once; 0: the instance's max_inflight; each
 *	takes some 650 bytes of kernel memory, charged to the caller's memory cgroup
 */
struct kapf_server {
	const char *node;
	const char *name;
	const char *tenant;
	unsigned int slots;
};

/**
 * kapf_session_open() - open a submit node and attach to it
 * @session: out
 * @server: who does so
 * @err: says why it failed; may be NULL
 *
 * The file is close-on-exec and belongs to the calling process alone.
 *
 * Return: 0, or an errno of open(2), kapf_get_info(), KAPF_ATTACH (see
 * linux/kapf.h) or kapf_config_read().
 */
int kapf_session_open(struct kapf_session **session,
		      const struct kapf_server *server, struct kapf_error *err);

/**
 * kapf_session_close() - give back all seats of a session, and free it
 * @session: may be NULL; no other thread may be using it
 */
void kapf_session_close(struct kapf_session *session);

/**
 * struct kapf_ticket - what became of an admission
 * @verdict: enum kapf_verdict; KAPF_QUEUED only from kapf_submit(),
 *	KAPF_RECLASSIFY only for its callback
 * @retry_after: s that a refused client should stay away, 1 to 32; else 0
 * @slot: for kapf_finish(), with KAPF_EXECUTE; for kapf_cancel(), with KAPF_QUEUED
 * @schema_uid: UID of the FlowSchema that matched
 * @level_uid: UID of its PriorityLevelConfiguration
 */
struct kapf_ticket {
	enum kapf_verdict verdict;
	unsigned int retry_after;
	unsigned int slot;
	uint8_t schema_uid[KAPF_UID_BYTES];
	uint8_t level_uid[KAPF_UID_BYTES];
};

/**
 * kapf_admit() - classify a request and wait for the decision
 * @session: of this process
 * @digest: the request
 * @work: its cost; NULL: one seat
 * @max_wait: ns that it may wait; 0: KAPF_DEFAULT_WAIT_NS; more than
 *	KAPF_MAX_WAIT_NS counts as that
 * @ticket: out
 *
 * Blocks while the request is queued, and before that while all slots of the
 * session are taken; both count as waiting, and one that gets no slot in time is
 * refused with KAPF_TIME_OUT.  A signal handler that runs meanwhile does not end
 * the wait, but the request goes to the end of its queue; nor does a completion of
 * an io_uring of this thread: give that IORING_SETUP_DEFER_TASKRUN.
 *
 * A request that is refused under a configuration that has changed meanwhile is
 * matched again by the new one; one that is granted keeps its seats, and the new
 * configuration counts from the next request on.
 *
 * Return: 0 and @ticket, or an errno of KAPF_ADMIT or KAPF_GET_CONFIG; -EAGAIN
 * when the configuration changed faster than the request could be matched.
 */
int kapf_admit(struct kapf_session *session, const struct kapf_digest *digest,
	       const struct kapf_work *work, uint64_t max_wait,
	       struct kapf_ticket *ticket);

/**
 * typedef kapf_decided_fn - a request that waited has been decided on
 * @session: that it was submitted in
 * @ticket: what became of it; with KAPF_EXECUTE to be finished
 * @user: as given to kapf_submit()
 *
 * KAPF_RECLASSIFY: its FlowSchema is gone: submit it again.  KAPF_CANCELLED: by
 * kapf_cancel().  It may call any function of the session but
 * kapf_session_close().
 */
typedef void kapf_decided_fn(struct kapf_session *session,
			     const struct kapf_ticket *ticket, void *user);

/**
 * kapf_submit() - classify a request, and be told of the decision
 * @session: of this process
 * @digest: the request; not needed any more afterwards
 * @work: as kapf_admit()
 * @max_wait: likewise
 * @decided: whom kapf_pump() tells, where the verdict is KAPF_QUEUED; not NULL
 * @user: likewise
 * @ticket: out; with KAPF_QUEUED for kapf_cancel()
 *
 * Like kapf_admit(), but does not wait for seats: where the request has to, the
 * verdict is KAPF_QUEUED, and @decided is called once, maybe before this returns
 * when another thread pumps; never, when the session is closed before that.  It
 * does wait for the configuration to be read, or to be replaced.
 *
 * Return: as kapf_admit(); -EBUSY when all slots of the session are taken: one
 * is free again after kapf_finish(), or when a request has been refused.
 */
int kapf_submit(struct kapf_session *session, const struct kapf_digest *digest,
		const struct kapf_work *work, uint64_t max_wait,
		kapf_decided_fn *decided, void *user,
		struct kapf_ticket *ticket);

/**
 * kapf_session_fd() - what to poll
 * @session: of this process
 *
 * Return: a file descriptor, readable (EPOLLIN) when kapf_pump() has something
 * to do; EPOLLHUP: the session has ended.  It stays the session's.
 */
int kapf_session_fd(const struct kapf_session *session);

/**
 * kapf_pump() - tell of all decisions that have been made
 * @session: of this process
 *
 * Calls kapf_decided_fn in the calling thread, and does not wait.
 *
 * Return: how many it has told of; or, where that is none, an errno of
 * KAPF_SUBMIT: -ESHUTDOWN, the session has ended.
 */
int kapf_pump(struct kapf_session *session);

/**
 * kapf_cancel() - a request is not to be served after all
 * @session: of this process
 * @ticket: from kapf_submit(), with KAPF_QUEUED
 *
 * Where it returns 0 the callback is called, by kapf_pump(), with
 * KAPF_CANCELLED; after -EALREADY with what had been decided before.  It must not
 * be called once the callback has been, for another request may be in the slot by
 * then: call it where kapf_pump() cannot run at the same time.
 *
 * Return: 0 or an errno of KAPF_CANCEL.
 */
int kapf_cancel(struct kapf_session *session, const struct kapf_ticket *ticket);

/**
 * kapf_finish() - a request has been served
 * @session: of this process
 * @ticket: of an admission with KAPF_EXECUTE; finish it once
 *
 * Return: 0, or the ms for which its seats linger, or an errno of KAPF_FINISH.
 */
int kapf_finish(struct kapf_session *session, const struct kapf_ticket *ticket);

/*
 * ---------------------------------------------------------------------------
 * Gates: sessions that may end
 */

/**
 * enum kapf_fallback - what becomes of requests while there is no session
 * @KAPF_FALLBACK_LOCAL: this process admits them itself, as the kernel does, by
 *	the last configuration that was known, else by the defaults; it has all
 *	seats for itself
 * @KAPF_FALLBACK_OPEN: they execute, without being classified: UIDs are zero
 * @KAPF_FALLBACK_CLOSED: they do not
 */
enum kapf_fallback {
	KAPF_FALLBACK_LOCAL,
	KAPF_FALLBACK_OPEN,
	KAPF_FALLBACK_CLOSED,
};

struct kapf_gate;

/**
 * typedef kapf_gate_changed_fn - a gate has fallen back, or has a session again
 * @gate: the gate
 * @why: it has fallen back; NULL: it has a session again
 * @user: as in struct kapf_gate_options
 *
 * Called once each time, by kapf_gate_open(), kapf_gate_submit() or
 * kapf_gate_pump(), in the order in which it happens.  It must not call functions
 * of the gate.
 */
typedef void kapf_gate_changed_fn(struct kapf_gate *gate,
				  const struct kapf_error *why, void *user);

/**
 * struct kapf_gate_options - how a gate is to be
 * @server: who opens its sessions; the strings have to outlive the gate
 * @fallback: what it does without one
 * @changed: whom to tell when that changes; may be NULL
 * @user: likewise
 */
struct kapf_gate_options {
	struct kapf_server server;
	enum kapf_fallback fallback;
	kapf_gate_changed_fn *changed;
	void *user;
};

/**
 * struct kapf_gate_ticket - what became of an admission by a gate
 * @ticket: as of a session, but for its slot
 * @request: the gate's
 */
struct kapf_gate_ticket {
	struct kapf_ticket ticket;
	void *request;
};

/**
 * typedef kapf_gate_decided_fn - a request that waited has been decided on
 * @gate: that it was submitted to
 * @ticket: what became of it; with KAPF_EXECUTE to be finished
 * @user: as given to kapf_gate_submit()
 *
 * As kapf_decided_fn.  KAPF_RECLASSIFY also when the session has ended in whose
 * queue it was: submit it again, and it goes where requests go now.
 */
typedef void kapf_gate_decided_fn(struct kapf_gate *gate,
				  const struct kapf_gate_ticket *ticket,
				  void *user);

/**
 * kapf_gate_open() - open a session, or fall back
 * @gate: out
 * @options: how it is to be
 * @err: says why it failed; may be NULL
 *
 * A gate is used as a session is, by any number of threads, one of which has to
 * call kapf_gate_pump() whenever kapf_gate_fd() is readable.  It goes on when there
 * is no module, or another one, when memory is too short there, and when the
 * session is evicted.  Then it tries to open a session again: after 1 s, and
 * after twice the time each time that fails, but 30 s at most.
 *
 * A request ends where it began: one that executes is finished there, and one that
 * waits is decided on there, unless that is a session which has ended.
 *
 * Return: 0, also if it has fallen back; -EINVAL: the name of the server or of its
 * tenant is none, or it wants too many slots; -ENOMEM; an errno of
 * epoll_create1(2) or timerfd_create(2).
 */
int kapf_gate_open(struct kapf_gate **gate,
		   const struct kapf_gate_options *options,
		   struct kapf_error *err);

/**
 * kapf_gate_close() - close a gate and its session, and free it
 * @gate: may be NULL; no other thread may be using it.  Nobody is told of requests
 *	that wait, and those that execute are not to be finished any more
 */
void kapf_gate_close(struct kapf_gate *gate);

/**
 * kapf_gate_submit() - classify a request, and be told of the decision
 * @gate: of this process
 * @digest: as kapf_submit(), as of the following
 * @work: likewise
 * @max_wait: likewise
 * @decided: likewise, but by kapf_gate_pump()
 * @user: likewise
 * @ticket: out; with KAPF_QUEUED for kapf_gate_cancel()
 *
 * Return: as kapf_submit(), but of its errors only -EINVAL, -EBUSY, -EAGAIN and
 * -ENOMEM; and -ESHUTDOWN: there is no session and the gate is
 * KAPF_FALLBACK_CLOSED, or memory is too short for KAPF_FALLBACK_LOCAL.
 */
int kapf_gate_submit(struct kapf_gate *gate, const struct kapf_digest *digest,
		     const struct kapf_work *work, uint64_t max_wait,
		     kapf_gate_decided_fn *decided, void *user,
		     struct kapf_gate_ticket *ticket);

/**
 * kapf_gate_fd() - what to poll
 * @gate: of this process
 *
 * Return: a file descriptor, readable (EPOLLIN) when kapf_gate_pump() has
 * something to do.  It stays the gate's, and the same.
 */
int kapf_gate_fd(const struct kapf_gate *gate);

/**
 * kapf_gate_pump() - tell of all decisions that have been made
 * @gate: of this process
 *
 * Also tries to have a session again, when that is due.  Opening one reads the
 * configuration; apart from that it does not wait.
 *
 * Return: how many it has told of.
 */
int kapf_gate_pump(struct kapf_gate *gate);

/**
 * kapf_gate_cancel() - a request is not to be served after all
 * @gate: of this process
 * @ticket: from kapf_gate_submit(), with KAPF_QUEUED
 *
 * As kapf_cancel().
 *
 * Return: 0 or -EALREADY.
 */
int kapf_gate_cancel(struct kapf_gate *gate,
		     const struct kapf_gate_ticket *ticket);

/**
 * kapf_gate_finish() - a request has been served
 * @gate: of this process
 * @ticket: of an admission with KAPF_EXECUTE; finish it once
 *
 * Return: ms for which its seats linger, or 0.
 */
int kapf_gate_finish(struct kapf_gate *gate,
		     const struct kapf_gate_ticket *ticket);

#ifdef __cplusplus
}
#endif

#endif /* LIBKAPF_H */
