// SPDX-License-Identifier: GPL-2.0
/*
 * What kapfctl lint --live says of servers at work: a flow that several of them
 * feed, and tenants whose requests end where everybody's do.
 *
 * It knows of what is in flight when it looks, and of nothing before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lint.h"

/* Of more servers, a finding names so many and counts the others. */
#define MAX_NAMED 4

static const struct kapf_session_info *
session_by_number(const struct live *live, uint64_t number)
{
	size_t i;

	for (i = 0; i < live->nr_sessions; i++)
		if (live->sessions[i].session == number)
			return &live->sessions[i];
	return NULL;
}

/* Sessions that stand side by side if they are of one process. */
static char *name_servers(const struct kapf_session_info *const *sessions,
			  size_t nr, size_t *processes)
{
	size_t i, len;
	char *names;
	FILE *to = need(open_memstream(&names, &len));

	*processes = 0;
	for (i = 0; i < nr; i++) {
		if (i && sessions[i]->pid == sessions[i - 1]->pid)
			continue;
		if (++*processes > MAX_NAMED)
			continue;
		fprintf(to, "%sserver %s, ", *processes > 1 ? "; " : "",
			sessions[i]->server);
		write_process(to, sessions[i]->pid);
	}
	if (*processes > MAX_NAMED)
		fprintf(to, "; and %zu more", *processes - MAX_NAMED);
	if (fclose(to))
		need(NULL);
	return names;
}

/*
 * ---------------------------------------------------------------------------
 * Flows
 */

/**
 * struct feed - a request, and what makes it one of a flow
 * @schema: that it matched
 * @level: whose queues the flow has a hand of
 * @distinguisher: of the flow
 * @session: that it came through
 */
struct feed {
	const struct kapf_flow_schema *schema;
	const struct kapf_priority_level *level;
	const char *distinguisher;
	const struct kapf_session_info *session;
};

/* A label that was cut, or is none, does not say which flow it is. */
static bool shows_flow(const struct request *request)
{
	return strnlen(request->text, request->info.label_len) <
	       request->info.label_len;
}

/* In flight, in a level that has queues to tell flows apart. */
static bool find_feed(struct feed *feed, const struct lint *lint,
		      const struct request *request)
{
	feed->schema = schema_by_id(lint->config, request->info.schema);
	feed->level = level_by_id(lint->config, request->info.level);
	feed->session = session_by_number(&lint->live, request->info.session);
	feed->distinguisher = request->label[LABEL_DISTINGUISHER];
	return feed->schema && feed->level && feed->session &&
	       feed->level->queues > 1 && shows_flow(request) &&
	       request->info.state != KAPF_REQUEST_LINGERING;
}

/* Schemas and levels lie in the order in which they are shown. */
static int compare_flows(const struct feed *a, const struct feed *b)
{
	int ret;

	if (a->schema != b->schema)
		return a->schema < b->schema ? -1 : 1;
	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	ret = strcmp(a->session->tenant, b->session->tenant);
	return ret ? ret : strcmp(a->distinguisher, b->distinguisher);
}

static int compare_feeds(const void *left, const void *right)
{
	const struct feed *a = left, *b = right;
	int ret = compare_flows(a, b);

	if (!ret && a->session->pid != b->session->pid)
		ret = a->session->pid < b->session->pid ? -1 : 1;
	return ret;
}

static const char *change_for(const struct kapf_flow_schema *schema)
{
	static const char *const changes[] = {
		[KAPF_BY_NONE] =
		"Say distinguisherMethod: {type: ByUser}, or ByNamespace.",
		[KAPF_BY_USER] =
		"Give each instance of a controller a user name of its own; leave it, where requests of one client are spread over these servers.",
		[KAPF_BY_NAMESPACE] =
		"Say ByUser, if clients that share the namespace are not to wait for each other.",
	};

	return changes[schema->distinguisher];
}

static void check_feeds(struct lint *lint, const struct feed *feeds, size_t nr)
{
	const struct kapf_session_info **sessions =
		need(calloc(nr, sizeof(*sessions)));
	const char *tenant = feeds->session->tenant;
	char *flow = make_printable(feeds->distinguisher, "\\\"");
	size_t i, processes;
	char *names;

	for (i = 0; i < nr; i++)
		sessions[i] = feeds[i].session;
	names = name_servers(sessions, nr, &processes);
	if (processes > 1)
		report(lint, WARNING,
		       (struct place){ .kind = "FlowSchema",
				.name = feeds->schema->name },
		       "A flow has one hand of queues, in which all wait one behind the other: which of them asks for much delays the others.",
		       change_for(feeds->schema),
		       "%zu processes feed one flow, \"%s\"%s%s%s in the priority level \"%s\", with %zu requests: %s",
		       processes, flow, *tenant ? " of the tenant \"" : "",
		       tenant, *tenant ? "\"" : "", feeds->level->name, nr,
		       names);
	free(names);
	free(flow);
	free(sessions);
}

void find_fed_flows(struct lint *lint)
{
	const struct live *live = &lint->live;
	struct feed *feeds = need(calloc(live->nr_requests + 1,
					 sizeof(*feeds)));
	size_t i, first = 0, nr = 0;

	for (i = 0; i < live->nr_requests; i++)
		nr += find_feed(&feeds[nr], lint, &live->requests[i]);
	qsort(feeds, nr, sizeof(*feeds), compare_feeds);
	for (i = 1; i <= nr; i++) {
		if (i < nr && !compare_flows(&feeds[first], &feeds[i]))
			continue;
		check_feeds(lint, &feeds[first], i - first);
		first = i;
	}
	free(feeds);
}

/*
 * ---------------------------------------------------------------------------
 * Tenants
 */

/* How many of the requests are in flight, and how many of these in catch-all. */
static size_t count_caught(const struct lint *lint, const char *tenant,
			   size_t *caught)
{
	const struct kapf_priority_level *level =
		kapf_config_level(lint->config, "catch-all");
	const struct live *live = &lint->live;
	size_t i, nr = 0;

	*caught = 0;
	for (i = 0; i < live->nr_requests; i++) {
		const struct kapf_request_info *info = &live->requests[i].info;
		const struct kapf_session_info *session =
			session_by_number(live, info->session);

		if (!session || strcmp(session->tenant, tenant) ||
		    info->state == KAPF_REQUEST_LINGERING)
			continue;
		nr++;
		*caught += info->level == level->id;
	}
	return nr;
}

static void check_servers(struct lint *lint,
			  const struct kapf_session_info *const *sessions,
			  size_t nr)
{
	const char *tenant = sessions[0]->tenant;
	const struct place place = { .kind = "Tenant", .name = tenant };
	char group[sizeof(KAPF_TENANT_PREFIX) + KAPF_TENANT_BYTES];
	size_t processes, caught, requests;
	char *names = name_servers(sessions, nr, &processes);

	sprintf(group, "%s%s", KAPF_TENANT_PREFIX, tenant);
	requests = count_caught(lint, tenant, &caught);
	if (is_only_caught(lint, group))
		report(lint, WARNING, place,
		       "Its requests end in the schemas that are for everybody, and share their levels, with any other tenant's.",
		       "Give the tenant a level, and a FlowSchema that has this group for a subject.",
		       "no FlowSchema leads the group \"%s\" to a priority level but catch-all: %s",
		       group, names);
	else if (caught)
		report(lint, WARNING, place,
		       "That has few seats and no queues, and everybody's leftovers are there, too.",
		       "Have a FlowSchema of the tenant match them, too: kapfctl dump requests --details shows them.",
		       "%zu of its %zu requests in flight are in the priority level \"catch-all\": %s",
		       caught, requests, names);
	free(names);
}

static int compare_tenants(const void *left, const void *right)
{
	const struct kapf_session_info *a = *(const void *const *)left;
	const struct kapf_session_info *b = *(const void *const *)right;
	int ret = strcmp(a->tenant, b->tenant);

	if (!ret && a->pid != b->pid)
		ret = a->pid < b->pid ? -1 : 1;
	return ret;
}

void find_caught_tenants(struct lint *lint)
{
	const struct live *live = &lint->live;
	const struct kapf_session_info **sessions;
	size_t i, first = 0, nr = 0;

	sessions = need(calloc(live->nr_sessions + 1, sizeof(*sessions)));
	for (i = 0; i < live->nr_sessions; i++)
		if (*live->sessions[i].tenant)
			sessions[nr++] = &live->sessions[i];
	qsort(sessions, nr, sizeof(*sessions), compare_tenants);
	for (i = 1; i <= nr; i++) {
		if (i < nr && !strcmp(sessions[first]->tenant,
				      sessions[i]->tenant))
			continue;
		check_servers(lint, &sessions[first], i - first);
		first = i;
	}
	free(sessions);
}
