// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of gates that never have a session: what they do instead, and what they
 * say about it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "test.h"

struct seen {
	unsigned int nr_fallen;
	unsigned int nr_back;
	char why[256];
	unsigned int nr_told;
	struct kapf_gate_ticket told;
};

static void changed(struct kapf_gate *gate, const struct kapf_error *why,
		    void *user)
{
	struct seen *seen = user;

	(void)gate;
	if (!why) {
		seen->nr_back++;
		return;
	}
	seen->nr_fallen++;
	snprintf(seen->why, sizeof(seen->why), "%.200s", why->text);
}

static void decided(struct kapf_gate *gate,
		    const struct kapf_gate_ticket *ticket, void *user)
{
	struct seen *seen = user;

	(void)gate;
	seen->nr_told++;
	seen->told = *ticket;
}

static struct kapf_gate *open_gate(const char *node,
				   enum kapf_fallback fallback,
				   struct seen *seen)
{
	const struct kapf_gate_options options = {
		.server = { .node = node, .name = "test" },
		.fallback = fallback,
		.changed = changed,
		.user = seen,
	};
	struct kapf_gate *gate = NULL;

	*seen = (struct seen){};
	return kapf_gate_open(&gate, &options, NULL) ? NULL : gate;
}

/* Nothing matches: it belongs to catch-all.  Return: an errno or the verdict */
static int submit(struct kapf_gate *gate, const char *group, struct seen *seen,
		  struct kapf_gate_ticket *ticket)
{
	const struct kapf_digest digest = {
		.user = "u", .groups = &group, .nr_groups = 1,
		.verb = "get", .path = "/",
	};
	int ret = kapf_gate_submit(gate, &digest, NULL, 0, decided, seen,
				   ticket);

	return ret ? ret : (int)ticket->ticket.verdict;
}

static void test_open(void)
{
	struct kapf_gate_ticket ticket;
	struct seen seen;
	struct kapf_gate *gate = open_gate("/nonexistent",
					   KAPF_FALLBACK_OPEN, &seen);
	bool all = gate;

	ok(gate && seen.nr_fallen == 1 && !seen.nr_back &&
	   strstr(seen.why, "is the module kapf loaded?"),
	   "gate: it says once why it has fallen back");
	for (int i = 0; all && i < 100; i++)
		all = submit(gate, "x", &seen, &ticket) == KAPF_EXECUTE;
	ok(all, "gate: open, it lets all execute");
	ok(gate && !kapf_gate_finish(gate, &ticket) && !kapf_gate_pump(gate),
	   "gate: what it has let execute can be finished");
	kapf_gate_close(gate);
}

static void test_closed(void)
{
	struct kapf_gate_ticket ticket;
	struct seen seen;
	struct kapf_gate *gate = open_gate("/dev/null", KAPF_FALLBACK_CLOSED,
					   &seen);

	ok(gate && seen.nr_fallen == 1 && strstr(seen.why, "not a node of kapf"),
	   "gate: a file that is no node is as none");
	ok(gate && submit(gate, "system:masters", &seen, &ticket) == -ESHUTDOWN,
	   "gate: closed, it lets nothing execute");
	kapf_gate_close(gate);
}

/* global-default has 49 seats of 600, workload-low lends it more. */
static void test_local_gate(void)
{
	static struct kapf_gate_ticket tickets[1000];
	struct pollfd poller = { .events = POLLIN };
	struct kapf_gate_ticket last = {};
	struct seen seen;
	struct kapf_gate *gate = open_gate("/nonexistent",
					   KAPF_FALLBACK_LOCAL, &seen);
	int nr = 0, verdict = 0;

	while (gate && nr < 1000 &&
	       (verdict = submit(gate, "system:authenticated", &seen,
				 &tickets[nr])) == KAPF_EXECUTE)
		nr++;
	last = tickets[nr];
	ok(nr >= 49 && nr <= 600 && verdict == KAPF_QUEUED,
	   "gate: local, it goes by the defaults");
	note("%d seats", nr);
	if (!gate || verdict != KAPF_QUEUED)
		return;
	ok(submit(gate, "system:masters", &seen, &tickets[nr]) == KAPF_EXECUTE,
	   "gate: local, its exempt level has no limit");

	poller.fd = kapf_gate_fd(gate);
	kapf_gate_finish(gate, &tickets[0]);
	ok(poll(&poller, 1, 1000) == 1 && kapf_gate_pump(gate) == 1 &&
	   seen.nr_told == 1 && seen.told.ticket.verdict == KAPF_EXECUTE,
	   "gate: local, it tells of who waited");
	kapf_gate_finish(gate, &seen.told);
	for (int i = 0; i < 2; i++)
		verdict = submit(gate, "system:authenticated", &seen, &last);
	ok(verdict == KAPF_QUEUED && !kapf_gate_cancel(gate, &last) &&
	   kapf_gate_pump(gate) == 1 &&
	   seen.told.ticket.verdict == KAPF_CANCELLED,
	   "gate: local, who is cancelled is told of");
	for (int i = 1; i < nr; i++)
		kapf_gate_finish(gate, &tickets[i]);
	ok(seen.nr_fallen == 1 && !seen.nr_back,
	   "gate: it says nothing as long as nothing changes");
	kapf_gate_close(gate);
}

void test_gates(void)
{
	test_open();
	test_closed();
	test_local_gate();
}
