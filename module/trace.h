/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: what happens to each request, the end of a session, and limits
 * that move.
 *
 * Ids are those of the ABI; a request is known by instance, session and slot.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kapf

#if !defined(KAPF_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KAPF_TRACE_H

#include <linux/tracepoint.h>

#include "session.h"

/* A clock that is read before the lock is taken may seem to run backwards. */
DECLARE_EVENT_CLASS(kapf_request,
	TP_PROTO(const struct kapf_slot *slot, u64 from, u64 to),
	TP_ARGS(slot, from, to),
	TP_STRUCT__entry(
		__field(u32, instance)
		__field(u32, slot)
		__field(u64, session)
		__field(u32, level)
		__field(u32, schema)
		__field(s32, queue)
		__field(u32, seats)
		__field(bool, observed)
		__field(u64, ns)
	),
	TP_fast_assign(
		const struct kapf_session *session = kapf_slot_session(slot);
		const struct kapf_level *level = slot->schema->level;
		const struct kapf_request *req = &slot->request;

		__entry->instance = session->instance->number;
		__entry->slot = kapf_slot_index(slot);
		__entry->session = session->id;
		__entry->level = level->id;
		__entry->schema = slot->schema->id;
		__entry->queue = req->queue; /* KAPF_NO_QUEUE is -1 there */
		__entry->seats = slot->flags & KAPF_SLOT_PASSING ?
				 0 : kapf_request_width(req);
		__entry->observed = slot->flags & KAPF_SLOT_SHADOW;
		__entry->ns = to > from ? to - from : 0;
	),
	TP_printk("instance=%u session=%llu slot=%u level=%u schema=%u queue=%d seats=%u observed=%d ns=%llu",
		  __entry->instance, __entry->session, __entry->slot,
		  __entry->level, __entry->schema, __entry->queue,
		  __entry->seats, __entry->observed, __entry->ns)
);

/* ns: how long it may wait */
DEFINE_EVENT(kapf_request, kapf_enqueue,
	TP_PROTO(const struct kapf_slot *slot, u64 from, u64 to),
	TP_ARGS(slot, from, to));

/* ns: how long it has waited */
DEFINE_EVENT(kapf_request, kapf_dispatch,
	TP_PROTO(const struct kapf_slot *slot, u64 from, u64 to),
	TP_ARGS(slot, from, to));

/* ns: how long it has been served */
DEFINE_EVENT(kapf_request, kapf_finish,
	TP_PROTO(const struct kapf_slot *slot, u64 from, u64 to),
	TP_ARGS(slot, from, to));

/* ns: how long its seats have been held */
DEFINE_EVENT(kapf_request, kapf_release,
	TP_PROTO(const struct kapf_slot *slot, u64 from, u64 to),
	TP_ARGS(slot, from, to));

/* It was refused, or cancelled; ns: how long it has waited */
TRACE_EVENT(kapf_reject,
	TP_PROTO(const struct kapf_slot *slot, u16 value, u64 from, u64 to),
	TP_ARGS(slot, value, from, to),
	TP_STRUCT__entry(
		__field(u32, instance)
		__field(u32, slot)
		__field(u64, session)
		__field(u32, level)
		__field(u32, schema)
		__field(u8, verdict)
		__field(u8, retry_after)
		__field(bool, observed)
		__field(u64, ns)
	),
	TP_fast_assign(
		const struct kapf_session *session = kapf_slot_session(slot);

		__entry->instance = session->instance->number;
		__entry->slot = kapf_slot_index(slot);
		__entry->session = session->id;
		__entry->level = slot->schema->level->id;
		__entry->schema = slot->schema->id;
		__entry->verdict = KAPF_VERDICT(value);
		__entry->retry_after = KAPF_RETRY_AFTER(value);
		__entry->observed = slot->flags & KAPF_SLOT_SHADOW;
		__entry->ns = to > from ? to - from : 0;
	),
	TP_printk("instance=%u session=%llu slot=%u level=%u schema=%u verdict=%s retry_after=%u observed=%d ns=%llu",
		  __entry->instance, __entry->session, __entry->slot,
		  __entry->level, __entry->schema,
		  __print_symbolic(__entry->verdict,
			{ KAPF_QUEUE_FULL, "QUEUE_FULL" },
			{ KAPF_CONCURRENCY_LIMIT, "CONCURRENCY_LIMIT" },
			{ KAPF_TIME_OUT, "TIME_OUT" },
			{ KAPF_CANCELLED, "CANCELLED" }),
		  __entry->retry_after, __entry->observed, __entry->ns)
);

/* A session has ended; @requests of it held @seats until then. */
TRACE_EVENT(kapf_session_end,
	TP_PROTO(const struct kapf_session *session, u32 requests, u64 seats),
	TP_ARGS(session, requests, seats),
	TP_STRUCT__entry(
		__field(u32, instance)
		__field(u32, requests)
		__field(u64, session)
		__field(u64, seats)
		__array(char, server, KAPF_SERVER_BYTES)
	),
	TP_fast_assign(
		__entry->instance = session->instance->number;
		__entry->requests = requests;
		__entry->session = session->id;
		__entry->seats = seats;
		memcpy(__entry->server, session->server, KAPF_SERVER_BYTES);
	),
	TP_printk("instance=%u session=%llu server=%s requests=%u seats=%llu",
		  __entry->instance, __entry->session, __entry->server,
		  __entry->requests, __entry->seats)
);

/* A level's limit was judged anew, by its demand; all in seats, rounded down. */
TRACE_EVENT(kapf_adjust,
	TP_PROTO(const struct kapf_instance *instance,
		 const struct kapf_level *level,
		 const struct kapf_allocation *part),
	TP_ARGS(instance, level, part),
	TP_STRUCT__entry(
		__field(u32, instance)
		__field(u32, level)
		__field(u32, limit)
		__field(u32, high_watermark)
		__field(u32, smoothed)
		__field(u32, target)
	),
	TP_fast_assign(
		__entry->instance = instance->number;
		__entry->level = level->id;
		__entry->limit = part->current_limit;
		__entry->high_watermark = part->high_watermark;
		__entry->smoothed = part->smoothed >> KAPF_FIXED_BITS;
		__entry->target = part->target >> KAPF_FIXED_BITS;
	),
	TP_printk("instance=%u level=%u limit=%u high_watermark=%u smoothed=%u target=%u",
		  __entry->instance, __entry->level, __entry->limit,
		  __entry->high_watermark, __entry->smoothed, __entry->target)
);

#endif /* KAPF_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
