/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * kapf: Kubernetes API Priority and Fairness inside the Linux kernel.
 *
 * The interface of /dev/kapfN, where a server submits its requests, and of
 * /dev/kapfctlN, where an operator configures instance N and looks into it.
 *
 * A server opens the submit node, in any mode (but read and write need theirs),
 * calls ATTACH once, then ADMIT before each request it serves and FINISH after it.
 * Closing the file, by intent or by dying, gives back every seat that the session
 * holds.
 *
 * Conventions:
 *
 * - Structures that begin with a size field may grow.  The caller sets size to
 *   the size it was compiled with.  A larger one is accepted as long as what
 *   this kernel does not know is zero (else -E2BIG); one smaller than the first
 *   published version is refused with -EINVAL.
 * - Reserved fields must be zero, else -EINVAL.
 * - Elements of arrays that the kernel writes may be longer than it knows, to
 *   64 KiB; what it does not know it sets to zero.
 * - Times are nanoseconds, as is everything without a unit in its name.
 * - A pointer travels as a 64 bit integer; 32 and 64 bit callers see the same
 *   layout.
 * - Every call may also return -EFAULT for memory that the caller may not use,
 *   and -ENOTTY where the node does not know the call.  An answer that cannot be
 *   written is found out before anything is done, unless another thread takes the
 *   memory away meanwhile.
 */
#ifndef _UAPI_LINUX_KAPF_H
#define _UAPI_LINUX_KAPF_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Version of this interface; it changes only when a caller would break. */
#define KAPF_ABI 1

#define KAPF_IOC_TYPE 0xF9

#define KAPF_GET_INFO     _IO(KAPF_IOC_TYPE, 0x00) /* struct kapf_info */
#define KAPF_ATTACH       _IO(KAPF_IOC_TYPE, 0x01) /* struct kapf_attach */
#define KAPF_ADMIT        _IOW(KAPF_IOC_TYPE, 0x02, struct kapf_op)
#define KAPF_FINISH       _IO(KAPF_IOC_TYPE, 0x03) /* the slot, by value */
#define KAPF_CANCEL       _IO(KAPF_IOC_TYPE, 0x04) /* the slot, by value */
#define KAPF_SUBMIT       _IO(KAPF_IOC_TYPE, 0x05) /* struct kapf_submit */
#define KAPF_GET_CONFIG   _IO(KAPF_IOC_TYPE, 0x10) /* struct kapf_get_config */
#define KAPF_SET_CONFIG   _IO(KAPF_IOC_TYPE, 0x11) /* struct kapf_set_config */
#define KAPF_SET_MODE     _IO(KAPF_IOC_TYPE, 0x12) /* struct kapf_set_mode */
#define KAPF_EVICT        _IO(KAPF_IOC_TYPE, 0x13) /* struct kapf_evict */
#define KAPF_GET_STATS    _IO(KAPF_IOC_TYPE, 0x20) /* struct kapf_get_stats */
#define KAPF_GET_REQUESTS _IO(KAPF_IOC_TYPE, 0x21) /* struct kapf_get_requests */
#define KAPF_GET_SESSIONS _IO(KAPF_IOC_TYPE, 0x22) /* struct kapf_get_sessions */
#define KAPF_GET_QUEUES   _IO(KAPF_IOC_TYPE, 0x23) /* struct kapf_get_queues */
#define KAPF_GET_HISTOGRAMS _IO(KAPF_IOC_TYPE, 0x24) /* struct kapf_get_histograms */

/* Fixed bounds; what an administrator can change is in struct kapf_info. */
#define KAPF_MAX_INSTANCES		16
#define KAPF_MAX_LEVELS			256
#define KAPF_MAX_SCHEMAS		4096
#define KAPF_MAX_SERVER_SEATS		65535
#define KAPF_MAX_WIDTH			1000	/* seats of one request */
#define KAPF_MAX_LABEL_BYTES		4096
#define KAPF_MAX_BLOB_BYTES		(64 * 1024)
#define KAPF_MAX_IMAGE_BYTES		(8 * 1024 * 1024)
#define KAPF_MAX_HAND_SIZE		15
#define KAPF_MAX_QUEUES			10000000 /* of one level, as in Kubernetes */
#define KAPF_NAME_BYTES			256	/* an object's name and its NUL */
#define KAPF_SERVER_BYTES		64	/* a server's name and its NUL */
#define KAPF_TENANT_BYTES		64	/* a tenant's name and its NUL */
#define KAPF_UID_BYTES			16
#define KAPF_DEFAULT_WAIT_NS		15000000000ULL
#define KAPF_MAX_WAIT_NS		60000000000ULL
#define KAPF_MAX_ADDITIONAL_LATENCY_NS	60000000000ULL

/**
 * struct kapf_info - KAPF_GET_INFO: what this instance is and allows (both
 *	nodes, before and after ATTACH)
 * @size: sizeof(struct kapf_info)
 * @abi: KAPF_ABI of the module
 * @features: bits for later additions; none yet
 * @instance: N of /dev/kapfN
 * @max_inflight: most slots that one session may have
 * @max_sessions: most sessions that one user may have
 * @max_queues: most queues that all levels together may have
 * @server_seats: ServerCL, the sum of the two in-flight limits, in seats
 * @reserved: zero
 *
 * Errors: -EINVAL, -EINTR.
 */
struct kapf_info {
	__u32 size;
	__u32 abi;
	__aligned_u64 features;
	__u32 instance;
	__u32 max_inflight;
	__u32 max_sessions;
	__u32 max_queues;
	__u32 server_seats;
	__u32 reserved;
};

/**
 * struct kapf_attach - KAPF_ATTACH: make this open file a session
 * @size: sizeof(struct kapf_attach)
 * @slots: requests that may be in flight at once, 1 to kapf_info.max_inflight
 * @label_bytes: room for a label beside each slot, 0 to KAPF_MAX_LABEL_BYTES
 * @reserved: zero
 * @session: out: number of the session, unique in its instance
 * @server: name of the server, of [a-z0-9.-], 1 to 63 characters, NUL padded
 * @tenant: name of the control plane that the server is part of, likewise, where
 *	several share the instance; empty: none.  The kernel only shows it; a
 *	server mixes it into kapf_op.flow_hash and adds the group
 *	kapf:tenant:NAME to its users, as libkapf does.
 *
 * All memory that the session will ever need is taken here and charged to the
 * caller's memory cgroup.  The session belongs to the calling process: other
 * processes that have the file get -EPERM from everything but GET_INFO.  It ends
 * when that process has closed its last descriptor of the file, by close, exec
 * or exit, whoever else still has the file.  (A table of open files that several
 * processes share, by clone(2) with CLONE_FILES, is closed when the last of them
 * exits, and the session with it.)
 *
 * Errors: -EINVAL (slots, label_bytes, server, tenant, reserved), -EISCONN
 * (attached before), -EPERM (by another process), -ESHUTDOWN (it has ended),
 * -EDQUOT (the user has max_sessions sessions; one that has ended counts while
 * somebody still has its file), -ENOMEM.
 */
struct kapf_attach {
	__u32 size;
	__u32 slots;
	__u32 label_bytes;
	__u32 reserved;
	__aligned_u64 session;
	char server[KAPF_SERVER_BYTES];
	char tenant[KAPF_TENANT_BYTES];
};

/**
 * enum kapf_opcode - kapf_op.opcode
 * @KAPF_OP_ADMIT: a request asks for its seats
 * @KAPF_OP_FINISH: as KAPF_FINISH, only by write(2)
 * @KAPF_OP_CANCEL: as KAPF_CANCEL, only by write(2)
 */
enum kapf_opcode {
	KAPF_OP_ADMIT = 1,
	KAPF_OP_FINISH = 2,
	KAPF_OP_CANCEL = 3,
};

/**
 * DOC: kapf_op.flags
 *
 * KAPF_OP_MUTATING - the request changes objects (shown by GET_REQUESTS)
 * KAPF_OP_WATCH - the request is a watch (shown by GET_REQUESTS)
 * KAPF_OP_NOWAIT - do not sleep: QUEUED rather than wait, and an event follows
 * KAPF_OP_NOQUEUE - refuse with CONCURRENCY_LIMIT rather than queue
 */
#define KAPF_OP_MUTATING	(1u << 0)
#define KAPF_OP_WATCH		(1u << 1)
#define KAPF_OP_NOWAIT		(1u << 2)
#define KAPF_OP_NOQUEUE		(1u << 3)

/* kapf_op.watch_count when nobody counted */
#define KAPF_WATCH_COUNT_UNKNOWN (~0u)

/**
 * struct kapf_op - KAPF_ADMIT: one request asks for its seats
 * @opcode: KAPF_OP_ADMIT
 * @flags: KAPF_OP_*
 * @initial_seats: seats while it executes, 1 to KAPF_MAX_WIDTH
 * @final_seats: seats during its additional latency, 0 to KAPF_MAX_WIDTH;
 *	the larger of the two, its width, is held from dispatch to the end of
 *	the additional latency
 * @label_len: bytes at @label; what exceeds kapf_attach.label_bytes is cut
 * @slot: which slot of the session the request will live in, from 0; the
 *	caller picks one that is free
 * @schema: id of the FlowSchema that it matched (struct kapf_config_schema)
 * @watch_count: number of watchers interested in this write, a sample for
 *	statistics that plays no part in the decision; KAPF_WATCH_COUNT_UNKNOWN
 * @parent: zero
 * @flow_hash: identity of its flow: the first 8 bytes, little endian, of
 *	SHA-256(FlowSchema name, a zero byte, flow distinguisher), with the
 *	tenant's name and a zero byte before that where there is a tenant; decides
 *	which queues the request can be in
 * @additional_latency: how long the seats linger after FINISH, at most
 *	KAPF_MAX_ADDITIONAL_LATENCY_NS
 * @max_wait: how long it may wait, at most KAPF_MAX_WAIT_NS; 0:
 *	KAPF_DEFAULT_WAIT_NS
 * @label: pointer to what GET_REQUESTS shows of it, strings that each end with
 *	a NUL that @label_len counts, in this order: flow distinguisher, user
 *	name, verb, API path, namespace, name, API version, resource,
 *	subresource; the last ones may be left out; not read when @label_len is 0
 * @user_data: the caller's, comes back in the event
 *
 * The call waits and returns the decision as its value: see KAPF_VERDICT().  Any
 * number of threads may call at once, each with a slot of its own.
 *
 * With KAPF_OP_NOWAIT, which O_NONBLOCK implies, it does not wait: where the
 * request had to be queued it returns KAPF_QUEUED, and exactly one event follows
 * (struct kapf_event); where it did not, no event follows.
 *
 * A signal takes a waiting request out of its queue, and so does stopping the
 * process: -EINTR, with SA_RESTART too, counted as cancelled.  A grant that races
 * with the signal wins.  What else interrupts the thread does the same: a
 * completion of its io_uring, unless that has IORING_SETUP_DEFER_TASKRUN.
 *
 * Errors: -ENOTCONN (no ATTACH), -EPERM (another process's session), -EINVAL
 * (a field is out of its range), -EBUSY (the slot is taken), -EINTR,
 * -ESHUTDOWN (the session has ended).
 */
struct kapf_op {
	__u8  opcode;
	__u8  flags;
	__u16 initial_seats;
	__u16 final_seats;
	__u16 label_len;
	__u32 slot;
	__u32 schema;
	__u32 watch_count;
	__u32 parent;
	__aligned_u64 flow_hash;
	__aligned_u64 additional_latency;
	__aligned_u64 max_wait;
	__aligned_u64 label;
	__aligned_u64 user_data;
};

/**
 * enum kapf_verdict - what became of a request
 * @KAPF_EXECUTE: it holds its seats: serve it, then FINISH
 * @KAPF_QUEUE_FULL: refused: no seat is free and its queue is full
 * @KAPF_CONCURRENCY_LIMIT: refused: no seat is free and its level, or the
 *	request (KAPF_OP_NOQUEUE), does not queue
 * @KAPF_TIME_OUT: refused: it has waited for max_wait
 * @KAPF_RECLASSIFY: not decided: the schema is gone or dangling; read the
 *	configuration again and match once more
 * @KAPF_CANCELLED: not served: a CANCEL has come
 * @KAPF_QUEUED: not decided yet: it waits, and an event will tell
 * @KAPF_ERROR: only in events: an element of a batch was not taken
 *
 * The slot is free again after all but KAPF_EXECUTE, KAPF_QUEUED and
 * KAPF_ERROR.  A verdict that comes as an event has this effect when it is read.
 */
enum kapf_verdict {
	KAPF_EXECUTE = 1,
	KAPF_QUEUE_FULL = 2,
	KAPF_CONCURRENCY_LIMIT = 3,
	KAPF_TIME_OUT = 4,
	KAPF_RECLASSIFY = 5,
	KAPF_CANCELLED = 6,
	KAPF_QUEUED = 7,
	KAPF_ERROR = 8,
};

/*
 * The parts of ADMIT's value.  KAPF_STALE comes with any verdict until the session
 * has read the present configuration, so from its first ADMIT on where it never
 * did: the decision stands, but the request may belong to another schema by now.
 * One that was refused is best matched and tried again.
 */
#define KAPF_VERDICT(ret)	((ret) & 0xff)
#define KAPF_RETRY_AFTER(ret)	(((ret) >> 8) & 0xff)	/* s; 0: not refused */
#define KAPF_STALE		(1 << 16) /* configuration changed since last read */

/*
 * KAPF_FINISH: the request in this slot has been served.  Returns 0, or the
 * milliseconds, rounded up, for which its seats (and the slot) linger.
 *
 * Errors: -ENOTCONN, -EPERM, -ESHUTDOWN as ADMIT; -EINVAL (no such slot),
 * -ENOENT (nothing executes in it), -EBUSY (it still waits, its grant has not
 * been read, or another thread is at work on it).
 */

/*
 * KAPF_CANCEL: the request in this slot is not to be served after all.  Returns 0:
 * it has left its queue, or given back the seats that its session did not yet know
 * it had; the verdict KAPF_CANCELLED goes to whoever waits for the decision, as
 * ADMIT's value or as the event.
 *
 * Errors: -ENOTCONN, -EPERM, -ESHUTDOWN as ADMIT; -EINVAL (no such slot),
 * -ENOENT (no request in it that executes or waits), -EALREADY (it executes, or
 * has been refused or cancelled before), -EBUSY (another thread is at work on it).
 */

/* kapf_event.flags */
#define KAPF_EVENT_STALE	(1u << 0)	/* see KAPF_STALE */
#define KAPF_EVENT_FINISH	(1u << 1)	/* ERROR: of an element of finish */
#define KAPF_EVENT_CANCEL	(1u << 2)	/* ERROR: of an element of cancel */

/**
 * struct kapf_event - a decision that nobody slept for
 * @user_data: kapf_op.user_data; ERROR: zero for an element of finish or cancel
 * @slot: of the request
 * @level: id of the priority level that decided; 0: none did
 * @verdict: enum kapf_verdict
 * @detail: of a refusal: when to try again, in s; ERROR: the errno, positive
 * @flags: KAPF_EVENT_*
 * @wait: how long the request has been queued
 *
 * Events are read by read(2) or SUBMIT, oldest first.  read() waits for the first
 * one unless the file has O_NONBLOCK (-EAGAIN), and returns as many whole events
 * as there are and fit (-EINVAL: not even one fits).
 *
 * poll(2): POLLIN an event is ready; POLLOUT a slot is free; POLLPRI the
 * configuration is another one than this session read last; POLLHUP the session
 * has ended; POLLERR there is no session yet, or it is another process's.  With
 * EPOLLET a free slot is told of once a poll or a request has found none.
 */
struct kapf_event {
	__aligned_u64 user_data;
	__u32 slot;
	__u32 level;
	__u16 verdict;
	__u16 detail;
	__u32 flags;
	__aligned_u64 wait;
};

/**
 * DOC: write(2)
 *
 * Takes one struct kapf_op after the other, each followed by label_len bytes of
 * label and padding to a multiple of 8; label must be zero, since nothing that is
 * written is followed as a pointer.  ADMIT never waits, and every decision comes
 * as an event, also one that is made at once.  FINISH and CANCEL look at slot
 * alone; all else but opcode must be zero.
 *
 * It stops at the first op that is refused, and returns the bytes of those before
 * it; where there are none, its error: as ADMIT, FINISH or CANCEL, and -EINVAL for
 * an op that is not all there.
 */

/**
 * struct kapf_finish - element of kapf_submit.finish
 * @slot: as KAPF_FINISH
 * @lingers: in: zero; out: what KAPF_FINISH would have returned, in ms
 */
struct kapf_finish {
	__u32 slot;
	__u32 lingers;
};

#define KAPF_FOREVER (~0ULL)

/**
 * struct kapf_submit - KAPF_SUBMIT: many at once
 * @size: sizeof(struct kapf_submit)
 * @op_size: sizeof(struct kapf_op)
 * @event_size: sizeof(struct kapf_event)
 * @nr_finish: in: elements of @finish; out: how many were taken
 * @nr_cancel: likewise of @cancel
 * @nr_ops: likewise of @ops
 * @nr_events: in: room at @events, in elements; out: how many were written
 * @min_complete: wait until so many events have been written, 0 to @nr_events
 * @finish: requests that have been served, struct kapf_finish
 * @cancel: slots of requests to cancel, __u32
 * @ops: requests that ask for seats, struct kapf_op; KAPF_OP_ADMIT only
 * @events: where to write events, struct kapf_event
 * @timeout: for @min_complete; 0: do not wait; KAPF_FOREVER
 *
 * Takes @finish, then @cancel, then @ops.  An op never waits, and every decision
 * comes as an event, in this call when there is room.  An element that is refused
 * becomes an event with the verdict KAPF_ERROR in this call and counts as taken;
 * where there is no room for that, the call stops before the element.
 *
 * Errors: -ENOTCONN, -EPERM, -ESHUTDOWN as ADMIT; -EINVAL (a size, min_complete);
 * and, only when no element was taken and no event written, -EFAULT, -EINTR, or
 * the error of the first element.
 */
struct kapf_submit {
	__u32 size;
	__u32 op_size;
	__u32 event_size;
	__u32 nr_finish;
	__u32 nr_cancel;
	__u32 nr_ops;
	__u32 nr_events;
	__u32 min_complete;
	__aligned_u64 finish;
	__aligned_u64 cancel;
	__aligned_u64 ops;
	__aligned_u64 events;
	__aligned_u64 timeout;
};

/*
 * The configuration travels as one image: struct kapf_config, then nr_levels
 * level records, then nr_schemas schema records, each followed by its blobs and
 * padded with zeros to a multiple of 8.  An image that GET_CONFIG wrote can be
 * given to SET_CONFIG as it is.
 */

#define KAPF_CONFIG_MAGIC 0x6670616b /* "kapf" */

/* kapf_config.adjustment_period_ms */
#define KAPF_MIN_ADJUSTMENT_PERIOD_MS 100
#define KAPF_MAX_ADJUSTMENT_PERIOD_MS 600000
#define KAPF_DEFAULT_ADJUSTMENT_PERIOD_MS 10000

/**
 * struct kapf_config - head of a configuration image
 * @magic: KAPF_CONFIG_MAGIC
 * @max_requests_inflight: as of a kube-apiserver
 * @max_mutating_requests_inflight: likewise; the sum of the two is ServerCL, 1 to
 *	KAPF_MAX_SERVER_SEATS
 * @nr_levels: 2 to KAPF_MAX_LEVELS
 * @nr_schemas: 2 to KAPF_MAX_SCHEMAS
 * @adjustment_period_ms: how often CurrentCL of all levels follows their demand,
 *	KAPF_MIN_ADJUSTMENT_PERIOD_MS to KAPF_MAX_ADJUSTMENT_PERIOD_MS; in: 0:
 *	KAPF_DEFAULT_ADJUSTMENT_PERIOD_MS, as in kube-apiserver
 *
 * The levels and schemas named exempt and catch-all have to be there, as
 * Kubernetes defines them; of the level exempt nominal_shares and
 * lendable_percent may be chosen.  The order of records is the writer's; schemas
 * are tried by ascending precedence, then by name.
 */
struct kapf_config {
	__u32 magic;
	__u32 max_requests_inflight;
	__u32 max_mutating_requests_inflight;
	__u32 nr_levels;
	__u32 nr_schemas;
	__u32 adjustment_period_ms;
};

/**
 * enum kapf_level_type - what a priority level does when its seats are taken
 * @KAPF_LEVEL_EXEMPT: it has no limit
 * @KAPF_LEVEL_REJECT: it refuses
 * @KAPF_LEVEL_QUEUE: it queues
 */
enum kapf_level_type {
	KAPF_LEVEL_EXEMPT = 1,
	KAPF_LEVEL_REJECT = 2,
	KAPF_LEVEL_QUEUE = 3,
};

#define KAPF_BORROWING_UNLIMITED (~0u)

/**
 * struct kapf_config_level - a PriorityLevelConfiguration
 * @record_size: of this struct, the metadata and the padding, in bytes
 * @id: out: stable while the level lives
 * @type: enum kapf_level_type
 * @nominal_shares: NCS, 0 to 2^31 - 1
 * @lendable_percent: of its nominal limit, 0 to 100
 * @borrowing_limit_percent: of its nominal limit, 0 to 2^31 - 1, or
 *	KAPF_BORROWING_UNLIMITED
 * @queues: KAPF_LEVEL_QUEUE: 1 to KAPF_MAX_QUEUES, and all levels together at
 *	most kapf_info.max_queues; else 0
 * @hand_size: KAPF_LEVEL_QUEUE: 1 to KAPF_MAX_HAND_SIZE and to @queues, with
 *	ceil(log2(queues) * hand_size) <= 60; else 0
 * @queue_length_limit: KAPF_LEVEL_QUEUE: 1 to 2^31 - 1; else 0
 * @nominal_seats: out: NominalCL = ceil(ServerCL * NCS / sum of all NCS)
 * @metadata_len: bytes of metadata behind this struct, to KAPF_MAX_BLOB_BYTES
 * @reserved: zero
 * @spec_generation: out: counts the changes of its spec, which is all but its
 *	metadata, from 1: metadata.generation
 * @resource_version: out: generation of the configuration in which anything of it
 *	last changed: metadata.resourceVersion
 * @uid: out; in: zero, or what GET_CONFIG gives for a level of this name
 * @name: DNS-1123 subdomain, NUL padded
 *
 * Metadata is the user's: the kernel stores it and hands it back.  kapfctl
 * keeps labels and annotations there, as JSON.  "out" fields are ignored on
 * the way in, but for @uid.
 */
struct kapf_config_level {
	__u32 record_size;
	__u32 id;
	__u32 type;
	__u32 nominal_shares;
	__u32 lendable_percent;
	__u32 borrowing_limit_percent;
	__u32 queues;
	__u32 hand_size;
	__u32 queue_length_limit;
	__u32 nominal_seats;
	__u32 metadata_len;
	__u32 reserved;
	__aligned_u64 spec_generation;
	__aligned_u64 resource_version;
	__u8  uid[KAPF_UID_BYTES];
	char  name[KAPF_NAME_BYTES];
};

/**
 * enum kapf_distinguisher - what tells the flows of a schema apart
 * @KAPF_BY_NONE: nothing: the schema is one flow
 * @KAPF_BY_USER: the user's name
 * @KAPF_BY_NAMESPACE: the namespace
 */
enum kapf_distinguisher {
	KAPF_BY_NONE = 0,
	KAPF_BY_USER = 1,
	KAPF_BY_NAMESPACE = 2,
};

/* kapf_config_schema.flags, out: its level is missing, it matches nothing */
#define KAPF_SCHEMA_DANGLING (1u << 0)

/**
 * struct kapf_config_schema - a FlowSchema
 * @record_size: of this struct, both blobs and the padding, in bytes
 * @id: out: stable while the schema lives, never reused; never 0
 * @precedence: matchingPrecedence, 1 to 10000, and 1 only for exempt
 * @distinguisher: enum kapf_distinguisher
 * @flags: out: KAPF_SCHEMA_DANGLING
 * @rules_len: bytes of rules behind this struct, to KAPF_MAX_BLOB_BYTES
 * @metadata_len: bytes of metadata behind the rules, to KAPF_MAX_BLOB_BYTES
 * @reserved: zero
 * @spec_generation: out: as of a level
 * @resource_version: out: as of a level; @flags count, too
 * @uid: out; in: zero, or what GET_CONFIG gives for a schema of this name
 * @name: DNS-1123 subdomain, NUL padded
 * @level: name of its priority level, which need not exist
 *
 * Requests are classified by the callers, so that the kernel stores rules
 * without reading them.  They are spec.rules of the FlowSchema as JSON in one
 * canonical form, so that equal rules are equal bytes: no white space; UTF-8
 * in which only quotes, backslashes and control characters are escaped, with
 * one letter where JSON has one and \u00xx (lower case) else; members in the
 * order subjects, resourceRules, nonResourceRules; of a subject kind, then user,
 * group or serviceAccount, of which name, of a service account namespace and
 * name; of a resource rule verbs, apiGroups, resources, clusterScope,
 * namespaces; of a non-resource rule verbs, nonResourceURLs.  A member that is
 * false or an empty list is left out.
 */
struct kapf_config_schema {
	__u32 record_size;
	__u32 id;
	__u32 precedence;
	__u32 distinguisher;
	__u32 flags;
	__u32 rules_len;
	__u32 metadata_len;
	__u32 reserved;
	__aligned_u64 spec_generation;
	__aligned_u64 resource_version;
	__u8  uid[KAPF_UID_BYTES];
	char  name[KAPF_NAME_BYTES];
	char  level[KAPF_NAME_BYTES];
};

/**
 * struct kapf_get_config - KAPF_GET_CONFIG: read the configuration (both nodes)
 * @size: sizeof(struct kapf_get_config)
 * @image_len: in: room at @image, in bytes; out: length of the image
 * @image: where to write it
 * @generation: out: counts the changes of the configuration, from 1
 *
 * On the submit node this is what clears KAPF_STALE for the session.
 *
 * Errors: -ERANGE (the image is longer than the room: image_len and generation
 * are written, the image is not), -EINVAL, -EINTR, -ENOTCONN, -EPERM, -ESHUTDOWN
 * on the submit node, -ENOMEM.
 */
struct kapf_get_config {
	__u32 size;
	__u32 image_len;
	__aligned_u64 image;
	__aligned_u64 generation;
};

/* What a refused configuration is refused for. */
enum kapf_object {
	KAPF_OBJECT_IMAGE = 0,
	KAPF_OBJECT_LEVEL = 1,
	KAPF_OBJECT_SCHEMA = 2,
};

enum kapf_field {
	KAPF_FIELD_NONE = 0,
	KAPF_FIELD_MAGIC = 1,
	KAPF_FIELD_SERVER_SEATS = 2, /* the sum of the in-flight limits */
	KAPF_FIELD_NR_LEVELS = 3,
	KAPF_FIELD_NR_SCHEMAS = 4,
	KAPF_FIELD_RECORD_SIZE = 5,
	KAPF_FIELD_NAME = 6,
	KAPF_FIELD_UID = 7,
	KAPF_FIELD_METADATA = 8,
	KAPF_FIELD_RESERVED = 9,
	KAPF_FIELD_TYPE = 10,
	KAPF_FIELD_NOMINAL_SHARES = 11,
	KAPF_FIELD_LENDABLE_PERCENT = 12,
	KAPF_FIELD_BORROWING_LIMIT_PERCENT = 13,
	KAPF_FIELD_QUEUES = 14,
	KAPF_FIELD_HAND_SIZE = 15,
	KAPF_FIELD_QUEUE_LENGTH_LIMIT = 16,
	KAPF_FIELD_PRECEDENCE = 17,
	KAPF_FIELD_DISTINGUISHER = 18,
	KAPF_FIELD_LEVEL = 19,
	KAPF_FIELD_RULES = 20,
	KAPF_FIELD_ADJUSTMENT_PERIOD = 21,
};

/**
 * enum kapf_reason - why a field was refused
 * @KAPF_REASON_NONE: nothing was
 * @KAPF_REASON_RANGE: value is not in min to max
 * @KAPF_REASON_FORMAT: not of the form that the field asks for
 * @KAPF_REASON_DUPLICATE: an earlier record of the kind has this name
 * @KAPF_REASON_MISSING: a mandatory object is not there (min: 0 exempt,
 *	1 catch-all)
 * @KAPF_REASON_IMMUTABLE: this field of a mandatory object cannot be changed
 *	(min: what it has to be, where that is a number)
 * @KAPF_REASON_CONFLICT: not the uid that the name has
 * @KAPF_REASON_LIMIT: more than the instance allows in all (max: the limit)
 * @KAPF_REASON_DECK: ceil(log2(queues) * hand_size) is above 60: too many
 *	possible hands for 60 bits of hash (value: hand_size, max: the largest
 *	that these queues allow)
 */
enum kapf_reason {
	KAPF_REASON_NONE = 0,
	KAPF_REASON_RANGE = 1,
	KAPF_REASON_FORMAT = 2,
	KAPF_REASON_DUPLICATE = 3,
	KAPF_REASON_MISSING = 4,
	KAPF_REASON_IMMUTABLE = 5,
	KAPF_REASON_CONFLICT = 6,
	KAPF_REASON_LIMIT = 7,
	KAPF_REASON_DECK = 8,
};

/**
 * struct kapf_config_error - where and why a configuration was refused
 * @object: enum kapf_object
 * @index: which record of its kind, from 0
 * @field: enum kapf_field
 * @reason: enum kapf_reason
 * @value: what was found, for numbers
 * @min: least value that would be accepted
 * @max: largest value that would be accepted
 */
struct kapf_config_error {
	__u32 object;
	__u32 index;
	__u32 field;
	__u32 reason;
	__aligned_u64 value;
	__aligned_u64 min;
	__aligned_u64 max;
};

/**
 * struct kapf_set_config - KAPF_SET_CONFIG: replace the configuration (control
 *	node, open for writing)
 * @size: sizeof(struct kapf_set_config)
 * @image_len: bytes at @image, to KAPF_MAX_IMAGE_BYTES
 * @image: the new configuration
 * @generation: in: the generation that it was made from; out: its own
 * @error: out, with -EINVAL and -ENOSPC: what was refused
 *
 * The image is checked whole, and takes effect whole or not at all.  Requests
 * that wait or execute keep their places.  A level that the image has no more
 * drains: it takes no more requests, keeps its shares while it has any, and
 * resumes if it returns meanwhile; of fewer queues those that are too many drain.
 * What drains counts to the limits of levels, schemas and queues as what is
 * configured does.
 *
 * Errors: -EINVAL (see @error), -ENOSPC (the same, for a limit of this
 * instance), -E2BIG (image_len), -ESTALE (the generation is another one now:
 * read, change and try again), -EPERM (the file is not open for writing), -ENOMEM,
 * -EINTR.
 */
struct kapf_set_config {
	__u32 size;
	__u32 image_len;
	__aligned_u64 image;
	__aligned_u64 generation;
	struct kapf_config_error error;
};

/**
 * enum kapf_mode - what an instance does with requests that are not exempt
 * @KAPF_MODE_ENFORCE: it has them wait for seats, and refuses them
 * @KAPF_MODE_OBSERVE: it lets all of them execute at once, and counts what it
 *	would have done
 * @KAPF_MODE_OFF: it lets them execute at once, without priority and fairness, as
 *	long as fewer than max_requests_inflight of them are in flight, or of those
 *	with KAPF_OP_MUTATING fewer than max_mutating_requests_inflight; 0: no
 *	limit.  Beyond that KAPF_CONCURRENCY_LIMIT, Retry-After 1 s.
 */
enum kapf_mode {
	KAPF_MODE_ENFORCE = 1,
	KAPF_MODE_OBSERVE = 2,
	KAPF_MODE_OFF = 3,
};

/**
 * struct kapf_set_mode - KAPF_SET_MODE: (control node, open for writing)
 * @size: sizeof(struct kapf_set_mode)
 * @mode: enum kapf_mode; an instance begins with KAPF_MODE_ENFORCE
 *
 * Requests that wait when it becomes observe or off get their seats, whatever
 * the limit.  Each request ends as it began: one that has seats gives them back,
 * one that executes without goes on to do so.
 *
 * In mode observe each request goes through the queues of its level as it would
 * in mode enforce, while it executes; it leaves them when it finishes.  This
 * takes twice the memory for slots: charged at ATTACH, and for sessions that
 * exist already to the caller.
 *
 * Errors: -EINVAL (mode), -EPERM (the file is not open for writing), -ENOMEM (the
 * mode stays), -EINTR.
 */
struct kapf_set_mode {
	__u32 size;
	__u32 mode;
};

/**
 * struct kapf_observed - what would have become of requests, in mode observe
 * @dispatched: requests that would have been seated
 * @queue_full: requests that would have been refused so
 * @concurrency_limit: requests that would have been refused so
 * @time_out: requests that would have been refused so
 * @cancelled: requests that would still have waited when they had been served
 *	already
 */
struct kapf_observed {
	__aligned_u64 dispatched;
	__aligned_u64 queue_full;
	__aligned_u64 concurrency_limit;
	__aligned_u64 time_out;
	__aligned_u64 cancelled;
};

/* kapf_level_stats.flags, kapf_schema_stats.flags: not in the configuration */
#define KAPF_STATS_DRAINING (1u << 0)

/**
 * struct kapf_level_stats - a priority level at one moment
 * @id: of the level
 * @type: enum kapf_level_type
 * @nominal_seats: NominalCL
 * @current_seats: CurrentCL, what it may use at present; exempt, which has no
 *	limit, takes so many from the others
 * @executing_requests: dispatched and not finished; those that pass without
 *	seats, in modes observe and off, included
 * @lingering_requests: finished, their seats still held
 * @waiting_requests: in its queues
 * @active_queues: queues with a request waiting
 * @queues: number of queues
 * @retry_after: what a client refused now would be told, in s
 * @flags: KAPF_STATS_DRAINING
 * @min_seats: MinCL = NominalCL - LendableCL
 * @max_seats: MaxCL = NominalCL + BorrowingCL
 * @seats_in_use: seats of the executing and lingering requests
 * @waiting_seats: the width of the waiting ones
 * @dispatched: requests ever seated
 * @rejected_queue_full: requests ever refused so
 * @rejected_concurrency_limit: requests ever refused so
 * @rejected_time_out: requests ever refused so
 * @rejected_cancelled: requests that left their queue because of a CANCEL, a
 *	signal or the end of their session
 * @observed: what would have become of them, in mode observe
 * @no_accommodation: times that seats were free, but too few for the next
 *	request, which no other may overtake
 * @demand_average: seats in use and waited for, on average over its last period,
 *	which lasted until CurrentCL was last adjusted; in seats * 2^32, as are the
 *	next three
 * @demand_stdev: standard deviation
 * @demand_smoothed: average + deviation, which rises at once and comes down slowly
 * @target_seats: what CurrentCL was judged by: max(MinCurrentCL, smoothed)
 * @current_r: virtual time R, in seat-seconds * 10^8, may wrap, as the next two
 * @dispatch_r: R when a request was last dispatched from a queue
 * @latest_s: where that request began in virtual time: next_dispatch_r of its
 *	queue, before the request was charged to it
 * @passing_requests: executing without seats
 * @demand_high_watermark: most seats in use and waited for in that period
 * @name: of the level
 *
 * In mode observe what waits, lingers and holds seats is what would do so.
 *
 * The formulas of the limits are those of KEP-1040, "Dispatching"; an exempt
 * level's demand is looked at every 10 ms while there is any.
 */
struct kapf_level_stats {
	__u32 id;
	__u32 type;
	__u32 nominal_seats;
	__u32 current_seats;
	__u32 executing_requests;
	__u32 lingering_requests;
	__u32 waiting_requests;
	__u32 active_queues;
	__u32 queues;
	__u32 retry_after;
	__u32 flags;
	__u32 min_seats;
	__aligned_u64 max_seats;
	__aligned_u64 seats_in_use;
	__aligned_u64 waiting_seats;
	__aligned_u64 dispatched;
	__aligned_u64 rejected_queue_full;
	__aligned_u64 rejected_concurrency_limit;
	__aligned_u64 rejected_time_out;
	__aligned_u64 rejected_cancelled;
	struct kapf_observed observed;
	__aligned_u64 no_accommodation;
	__aligned_u64 demand_average;
	__aligned_u64 demand_stdev;
	__aligned_u64 demand_smoothed;
	__aligned_u64 target_seats;
	__aligned_u64 current_r;
	__aligned_u64 dispatch_r;
	__aligned_u64 latest_s;
	__u32 passing_requests;
	__u32 demand_high_watermark;
	char name[KAPF_NAME_BYTES];
};

/**
 * struct kapf_schema_stats - a FlowSchema at one moment
 * @id: of the schema
 * @level: id of its level; 0 when it is dangling
 * @executing_requests: dispatched and not finished
 * @waiting_requests: in the queues of its level
 * @flags: KAPF_STATS_DRAINING
 * @passing_requests: as in struct kapf_level_stats
 * @seats_in_use: seats of the executing and lingering requests
 * @waiting_seats: the width of the waiting ones
 * @dispatched: requests ever seated
 * @rejected_queue_full: requests ever refused so
 * @rejected_concurrency_limit: requests ever refused so
 * @rejected_time_out: requests ever refused so
 * @rejected_cancelled: as in struct kapf_level_stats
 * @no_accommodation: as there, where the next request was one of this schema
 * @observed: likewise
 * @name: of the schema
 *
 * One whose level was changed while it had requests has two elements: with the
 * old level it drains, with the new one it has counted from 0.
 */
struct kapf_schema_stats {
	__u32 id;
	__u32 level;
	__u32 executing_requests;
	__u32 waiting_requests;
	__u32 flags;
	__u32 passing_requests;
	__aligned_u64 seats_in_use;
	__aligned_u64 waiting_seats;
	__aligned_u64 dispatched;
	__aligned_u64 rejected_queue_full;
	__aligned_u64 rejected_concurrency_limit;
	__aligned_u64 rejected_time_out;
	__aligned_u64 rejected_cancelled;
	__aligned_u64 no_accommodation;
	struct kapf_observed observed;
	char name[KAPF_NAME_BYTES];
};

/**
 * struct kapf_get_stats - KAPF_GET_STATS: levels and schemas (control node)
 * @size: sizeof(struct kapf_get_stats)
 * @level_size: sizeof(struct kapf_level_stats), the distance of two elements
 * @schema_size: sizeof(struct kapf_schema_stats), likewise
 * @nr_levels: in: room at @levels; out: how many there are
 * @nr_schemas: in: room at @schemas; out: how many there are
 * @server_seats: out: ServerCL
 * @nr_sessions: out: sessions attached
 * @reserved: zero
 * @levels: where to write the levels, in the order of the configuration, then
 *	those that drain
 * @schemas: where to write the schemas, likewise
 * @generation: out: of the configuration
 * @time: out: CLOCK_MONOTONIC
 * @fair_frac: out: FairProp of the last adjustment: each limited level got so much
 *	of its target, within its bounds; * 2^32; 0 where there was no such number
 * @mode: out: enum kapf_mode
 * @passing_requests: out: executing in mode off, without KAPF_OP_MUTATING
 * @passing_mutating_requests: out: with it
 * @waiting_read_only_requests: out: in queues, without KAPF_OP_MUTATING
 * @waiting_mutating_requests: out: in queues, with it
 * @executing_read_only_requests: out: dispatched and not finished, without it
 * @executing_mutating_requests: out: with it
 * @reserved2: zero
 *
 * What does not fit is left out without an error.  Each level is read under its
 * lock, but two levels are not read at the same moment.
 *
 * Errors: -EINVAL, -ENOMEM, -EINTR.
 */
struct kapf_get_stats {
	__u32 size;
	__u32 level_size;
	__u32 schema_size;
	__u32 nr_levels;
	__u32 nr_schemas;
	__u32 server_seats;
	__u32 nr_sessions;
	__u32 reserved;
	__aligned_u64 levels;
	__aligned_u64 schemas;
	__aligned_u64 generation;
	__aligned_u64 time;
	__aligned_u64 fair_frac;
	__u32 mode;
	__u32 passing_requests;
	__u32 passing_mutating_requests;
	__u32 waiting_read_only_requests;
	__u32 waiting_mutating_requests;
	__u32 executing_read_only_requests;
	__u32 executing_mutating_requests;
	__u32 reserved2;
};

enum kapf_request_state {
	KAPF_REQUEST_WAITING = 1,
	KAPF_REQUEST_EXECUTING = 2,
	KAPF_REQUEST_LINGERING = 3,
};

/**
 * struct kapf_request_info - one request in flight
 * @session: number of its session
 * @slot: in that session
 * @state: enum kapf_request_state
 * @level: id of its level
 * @schema: id of its schema
 * @queue: index of its queue; -1 when its level has none
 * @queue_position: of two requests that wait in one queue, the one with the
 *	smaller position is before the other; differences, not values, mean
 *	something, modulo 2^32; 0 on the submit node
 * @initial_seats: see struct kapf_op
 * @final_seats: see there; cut to CurrentCL when that was less at dispatch
 * @flags: KAPF_OP_*
 * @label_len: bytes of label that follow
 * @additional_latency: see there; grows when final_seats was cut
 * @arrival: CLOCK_REALTIME
 * @start: CLOCK_REALTIME of its dispatch; 0 while it waits
 */
struct kapf_request_info {
	__aligned_u64 session;
	__u32 slot;
	__u32 state;
	__u32 level;
	__u32 schema;
	__s32 queue;
	__u32 queue_position;
	__u16 initial_seats;
	__u16 final_seats;
	__u16 flags;
	__u16 label_len;
	__aligned_u64 additional_latency;
	__aligned_u64 arrival;
	__aligned_u64 start;
};

/**
 * struct kapf_get_requests - KAPF_GET_REQUESTS: requests in flight, of all
 *	sessions (control node) or of the caller's own (submit node)
 * @size: sizeof(struct kapf_get_requests)
 * @request_size: sizeof(struct kapf_request_info)
 * @label_bytes: room for a label behind each request, a multiple of 8, 0 to
 *	KAPF_MAX_LABEL_BYTES; longer ones are cut
 * @nr: in: room at @requests, in elements; out: how many were written; 0: that
 *	was all
 * @requests: where to write them, request_size + label_bytes apart
 * @session: cursor: 0 at first, then as the previous call left it
 * @slot: cursor: 0 at first, then as the previous call left it
 * @reserved: zero
 *
 * A request that comes or goes between two calls may be seen or not.
 *
 * Errors: -EINVAL, -ENOMEM, -EINTR; -ENOTCONN, -EPERM, -ESHUTDOWN on the submit
 * node.
 */
struct kapf_get_requests {
	__u32 size;
	__u32 request_size;
	__u32 label_bytes;
	__u32 nr;
	__aligned_u64 requests;
	__aligned_u64 session;
	__u32 slot;
	__u32 reserved;
};

/**
 * struct kapf_session_info - one session
 * @session: its number
 * @attached: CLOCK_REALTIME of its ATTACH
 * @pid: process that it belongs to, in the caller's pid namespace (0: not
 *	visible there)
 * @uid: user who attached, in the caller's user namespace
 * @slots: number of its slots
 * @waiting_requests: in queues
 * @executing_requests: dispatched and not finished
 * @lingering_requests: finished, their seats still held
 * @seats_in_use: seats of the last two
 * @reserved: zero
 * @server: its name
 * @tenant: of the server; empty: none
 *
 * Most of it is in /proc/PID/fdinfo/FD of the file, too.
 */
struct kapf_session_info {
	__aligned_u64 session;
	__aligned_u64 attached;
	__u32 pid;
	__u32 uid;
	__u32 slots;
	__u32 waiting_requests;
	__u32 executing_requests;
	__u32 lingering_requests;
	__u32 seats_in_use;
	__u32 reserved;
	char server[KAPF_SERVER_BYTES];
	char tenant[KAPF_TENANT_BYTES];
};

/**
 * struct kapf_get_sessions - KAPF_GET_SESSIONS: sessions (control node)
 * @size: sizeof(struct kapf_get_sessions)
 * @session_size: sizeof(struct kapf_session_info)
 * @nr: in: room at @sessions, in elements; out: how many were written; 0: that
 *	was all
 * @reserved: zero
 * @sessions: where to write them, session_size apart, by ascending number
 * @cursor: 0 at first, then as the previous call left it
 *
 * Errors: -EINVAL, -ENOMEM, -EINTR.
 */
struct kapf_get_sessions {
	__u32 size;
	__u32 session_size;
	__u32 nr;
	__u32 reserved;
	__aligned_u64 sessions;
	__aligned_u64 cursor;
};

/**
 * struct kapf_evict - KAPF_EVICT: end a session from outside (control node, open
 *	for writing)
 * @size: sizeof(struct kapf_evict)
 * @reserved: zero
 * @session: its number
 * @requests: out: requests that held seats, executing or lingering
 * @waiting: out: requests that have left their queues
 * @seats: out: that came back
 *
 * When the call returns, the session holds and waits for nothing, whatever its
 * process is doing, even if it is stopped.  All calls of the process on the file,
 * also those that sleep, return -ESHUTDOWN, and poll(2) says POLLHUP, as after any
 * other end of a session.  The file stays open, and the session counts as one of
 * its user until it is closed.
 *
 * Errors: -EINVAL, -ENOENT (no session has this number, or it has ended), -EPERM
 * (the file is not open for writing), -EINTR (nothing has happened).
 */
struct kapf_evict {
	__u32 size;
	__u32 reserved;
	__aligned_u64 session;
	__u32 requests;
	__u32 waiting;
	__aligned_u64 seats;
};

/**
 * struct kapf_queue_info - one queue of a priority level
 * @level: id of its level
 * @queue: its index there, from 0
 * @waiting_requests: in it
 * @executing_requests: dispatched from it and not finished
 * @seats_in_use: seats of those and of the lingering ones
 * @next_dispatch_r: virtual time at which its next request would be dispatched,
 *	in seat-seconds * 10^8, may wrap
 * @waiting_initial_seats: sum over the waiting ones
 * @waiting_seats: sum of their widths
 * @waiting_work: sum of the seat-seconds that they are taken to need, * 10^8
 */
struct kapf_queue_info {
	__u32 level;
	__u32 queue;
	__u32 waiting_requests;
	__u32 executing_requests;
	__aligned_u64 seats_in_use;
	__aligned_u64 next_dispatch_r;
	__aligned_u64 waiting_initial_seats;
	__aligned_u64 waiting_seats;
	__aligned_u64 waiting_work;
};

/**
 * struct kapf_get_queues - KAPF_GET_QUEUES: queues of all levels (control node)
 * @size: sizeof(struct kapf_get_queues)
 * @queue_size: sizeof(struct kapf_queue_info)
 * @nr: in: room at @queues, in elements; out: how many were written; 0: that was
 *	all
 * @level: cursor: place of the level as in GET_STATS; 0 at first, then as the
 *	previous call left it
 * @queue: cursor: index of the queue there, likewise
 * @reserved: zero
 * @queues: where to write them, queue_size apart
 * @generation: out: of the configuration; where it changes between two calls,
 *	begin again
 *
 * Some hundred queues of a level are read at the same moment.
 *
 * Errors: -EINVAL, -ENOMEM, -EINTR.
 */
struct kapf_get_queues {
	__u32 size;
	__u32 queue_size;
	__u32 nr;
	__u32 level;
	__u32 queue;
	__u32 reserved;
	__aligned_u64 queues;
	__aligned_u64 generation;
};

/**
 * enum kapf_histogram_kind - what a histogram is of
 * @KAPF_HISTOGRAM_EXECUTION: of a schema: how long a request executed that was no
 *	watch, without its additional latency
 * @KAPF_HISTOGRAM_WATCH_EXECUTION: of a schema: the same of watches
 * @KAPF_HISTOGRAM_ESTIMATED_SEATS: of a schema: width of each request that
 *	arrived
 * @KAPF_HISTOGRAM_WATCH_COUNT: of a schema: watch_count of each request that
 *	arrived and had one
 * @KAPF_HISTOGRAM_QUEUE_LENGTH: of a schema: requests waiting in the queue that a
 *	request came into, itself among them, also when it left it at once
 * @KAPF_HISTOGRAM_WAIT: of a schema: how long a request waited that was not
 *	refused on arrival, until it executed, timed out or was cancelled
 * @KAPF_HISTOGRAM_REFUSED_WAIT: of a schema: the same of those that were: 0 each
 * @KAPF_HISTOGRAM_SEATS: of a level: seats in use / D
 * @KAPF_HISTOGRAM_WAITING: of a level: waiting requests / the room for them, which
 *	is the number of queues * queue_length_limit, and 1 where it has no queues
 * @KAPF_HISTOGRAM_EXECUTING: of a level: executing requests / D
 * @KAPF_HISTOGRAM_DEMAND: of a level: seats in use and waited for / D
 * @KAPF_HISTOGRAM_WAITING_READ_ONLY: of the instance: waiting requests without
 *	KAPF_OP_MUTATING / the room for waiting requests in all levels
 * @KAPF_HISTOGRAM_WAITING_MUTATING: the same of those with it
 * @KAPF_HISTOGRAM_EXECUTING_READ_ONLY: of the instance: executing requests without
 *	KAPF_OP_MUTATING / the sum of the levels' NominalCL
 * @KAPF_HISTOGRAM_EXECUTING_MUTATING: the same of those with it
 *
 * In mode observe a request executes at once, and QUEUE_LENGTH, the waits and the
 * ratios of the level show what would become of it else.
 *
 * D is CurrentCL, or max(1, round(ServerCL / 10)) while that is 0.
 *
 * The histograms of a schema count events; one of an exempt level has none of
 * waiting.  Those of a level and of the instance weigh: a count is the time for
 * which the ratio was in the bucket, in ns, and the sum is the integral of the
 * ratio, in ns.  Those of an exempt level and of the instance are looked at every
 * 10 ms, or less often on an idle machine, and when they are read.
 */
enum kapf_histogram_kind {
	KAPF_HISTOGRAM_EXECUTION = 0,
	KAPF_HISTOGRAM_WATCH_EXECUTION = 1,
	KAPF_HISTOGRAM_ESTIMATED_SEATS = 2,
	KAPF_HISTOGRAM_WATCH_COUNT = 3,
	KAPF_HISTOGRAM_QUEUE_LENGTH = 4,
	KAPF_HISTOGRAM_WAIT = 5,
	KAPF_HISTOGRAM_REFUSED_WAIT = 6,
	KAPF_HISTOGRAM_SEATS = 7,
	KAPF_HISTOGRAM_WAITING = 8,
	KAPF_HISTOGRAM_EXECUTING = 9,
	KAPF_HISTOGRAM_DEMAND = 10,
	KAPF_HISTOGRAM_WAITING_READ_ONLY = 11,
	KAPF_HISTOGRAM_WAITING_MUTATING = 12,
	KAPF_HISTOGRAM_EXECUTING_READ_ONLY = 13,
	KAPF_HISTOGRAM_EXECUTING_MUTATING = 14,
};

#define KAPF_HISTOGRAM_BUCKETS 16 /* at most */

/**
 * struct kapf_histogram_info - one histogram
 * @kind: enum kapf_histogram_kind; skip what you do not know
 * @level: id of its level; 0: of the instance
 * @schema: id of its schema; 0: of the level
 * @buckets: how many it has, 1 to KAPF_HISTOGRAM_BUCKETS
 * @sum: of all values: ns for durations; see enum kapf_histogram_kind for ratios;
 *	may wrap
 * @bounds: largest value of each bucket, ascending: ns for durations, thousandths
 *	for ratios; of the last bucket ~0
 * @counts: how often a value was in each bucket, and in none before
 */
struct kapf_histogram_info {
	__u32 kind;
	__u32 level;
	__u32 schema;
	__u32 buckets;
	__aligned_u64 sum;
	__aligned_u64 bounds[KAPF_HISTOGRAM_BUCKETS];
	__aligned_u64 counts[KAPF_HISTOGRAM_BUCKETS];
};

/**
 * struct kapf_get_histograms - KAPF_GET_HISTOGRAMS: all histograms (control node)
 * @size: sizeof(struct kapf_get_histograms)
 * @histogram_size: sizeof(struct kapf_histogram_info)
 * @nr: in: room at @histograms, in elements; out: how many were written; 0: that
 *	was all
 * @reserved: zero
 * @histograms: where to write them, histogram_size apart: those of the instance, of
 *	each schema that has a level, of each level, and of what drains
 * @cursor: 0 at first, then as the previous call left it
 * @generation: out: of the configuration; where it changes between two calls,
 *	begin again
 *
 * Two histograms are not read at the same moment.  No count and no sum becomes
 * less while its schema or level lives.  A schema that goes to another level counts
 * anew there; what it has counted before is seen while it drains, and where it
 * returns before that there are two of each kind for one schema and level.
 *
 * Errors: -EINVAL, -ENOMEM, -EINTR.
 */
struct kapf_get_histograms {
	__u32 size;
	__u32 histogram_size;
	__u32 nr;
	__u32 reserved;
	__aligned_u64 histograms;
	__aligned_u64 cursor;
	__aligned_u64 generation;
};

#endif /* _UAPI_LINUX_KAPF_H */
