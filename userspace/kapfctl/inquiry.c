// SPDX-License-Identifier: GPL-2.0
/*
 * A request that a command is asked about: by its method and URL, or by options
 * that say what Kubernetes would make of these; who makes it; and what the store
 * knows of its resource.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kapfctl.h"

/**
 * struct typed - the options, and the inquiry that is made of them
 * @command: that they are options of
 * @inquiry: that is made of them
 * @source: the configuration that it is asked of
 * @request: as the options describe it
 * @parsed: as the URL does
 * @groups: of the user, with room for three more
 * @accounts: the group of all service accounts of a namespace
 * @url: --url
 * @method: --method
 * @described: the last option that says what a URL would say
 * @only_resource: the last option that only a resource request can have
 * @user_option: user or as
 * @group_option: the last of group and as-group
 */
struct typed {
	const struct command *command;
	struct inquiry inquiry;
	struct source source;
	struct kapf_http_request request;
	struct kapf_http_request *parsed;
	const char **groups;
	char accounts[64 + KAPF_NAME_BYTES];
	const char *url;
	const char *method;
	const char *described;
	const char *only_resource;
	const char *user_option;
	const char *group_option;
};

const struct option inquiry_options[] = {
	{ "user", required_argument, NULL, 'u' },
	{ "group", required_argument, NULL, 'g' },
	{ "as", required_argument, NULL, 'U' },
	{ "as-group", required_argument, NULL, 'G' },
	{ "tenant", required_argument, NULL, 't' },
	{ "url", required_argument, NULL, 'l' },
	{ "method", required_argument, NULL, 'm' },
	{ "verb", required_argument, NULL, 'v' },
	{ "path", required_argument, NULL, 'p' },
	{ "resource", required_argument, NULL, 'r' },
	{ "api-group", required_argument, NULL, 'a' },
	{ "subresource", required_argument, NULL, 's' },
	{ "namespace", required_argument, NULL, 'n' },
	{ "name", required_argument, NULL, 'N' },
	{ "objects", required_argument, NULL, 'O' },
	{ "object-bytes", required_argument, NULL, 'b' },
	{ "watchers", required_argument, NULL, 'w' },
	{ "filename", required_argument, NULL, 'f' },
	{ "defaults", no_argument, NULL, 'd' },
	{ NULL, 0, NULL, 0 }
};

/* The groups that every authenticator gives its users. */
static const char *implied_group(const char *user, const char *const *groups,
				 size_t nr)
{
	static const char authenticated[] = "system:authenticated";
	static const char unauthenticated[] = "system:unauthenticated";
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(groups[i], authenticated) ||
		    !strcmp(groups[i], unauthenticated))
			return NULL;
	return strcmp(user, "system:anonymous") ? authenticated :
						  unauthenticated;
}

/* system:serviceaccount:NAMESPACE:NAME is in two groups by its name. */
static void add_service_account_groups(struct typed *typed)
{
	static const char prefix[] = "system:serviceaccount:";
	struct kapf_digest *digest = &typed->inquiry.digest;
	const char *ns = digest->user + strlen(prefix);

	if (strncmp(digest->user, prefix, strlen(prefix)) || !strchr(ns, ':'))
		return;
	snprintf(typed->accounts, sizeof(typed->accounts),
		 "system:serviceaccounts:%.*s", (int)strcspn(ns, ":"), ns);
	typed->groups[digest->nr_groups++] = "system:serviceaccounts";
	typed->groups[digest->nr_groups++] = typed->accounts;
}

/*
 * Who is impersonated is in the groups that are named; only where none are is a
 * service account in its own.
 */
static void add_groups(struct typed *typed)
{
	struct kapf_digest *digest = &typed->inquiry.digest;
	bool is_as = !strcmp(typed->user_option, "as");
	const char *implied;

	if (!is_as || !digest->nr_groups)
		add_service_account_groups(typed);
	implied = implied_group(digest->user, typed->groups, digest->nr_groups);
	if (implied)
		typed->groups[digest->nr_groups++] = implied;
	digest->groups = typed->groups;
}

/* Where an option belongs that says what a URL would say; NULL: it does not. */
static const char **place_of(struct kapf_http_request *request, int option)
{
	switch (option) {
	case 'v':
		return &request->verb;
	case 'p':
		return &request->path;
	case 'r':
		return &request->resource;
	case 'a':
		return &request->api_group;
	case 's':
		return &request->subresource;
	case 'n':
		return &request->ns;
	case 'N':
		return &request->name;
	}
	return NULL;
}

static const char *option_name(int option)
{
	const struct option *at = inquiry_options;

	while (at->val != option)
		at++;
	return at->name;
}

static unsigned int take_number(const struct typed *typed, int option,
				const char *value)
{
	return number_option(typed->command, option_name(option), value, 0,
			     UINT_MAX);
}

static int take_user(struct typed *typed, int option, const char *user)
{
	const char *name = option_name(option);

	if (typed->user_option && strcmp(typed->user_option, name))
		return usage_error(typed->command,
				   "--user and --as each name the user: give one of them");
	typed->user_option = name;
	typed->inquiry.digest.user = user;
	return DONE;
}

static int take_option(struct typed *typed, int option, const char *value)
{
	const char **place = place_of(&typed->request, option);
	struct inquiry *inquiry = &typed->inquiry;

	if (place) {
		*place = value;
		typed->described = option_name(option);
		if (strchr("asnN", option))
			typed->only_resource = typed->described;
		return DONE;
	}
	switch (option) {
	case 'u':
	case 'U':
		return take_user(typed, option, value);
	case 'g':
	case 'G':
		typed->group_option = option_name(option);
		typed->groups[inquiry->digest.nr_groups++] = value;
		break;
	case 't':
		inquiry->digest.tenant = value;
		break;
	case 'l':
		typed->url = value;
		break;
	case 'm':
		typed->method = value;
		break;
	case 'O':
		inquiry->store.is_known = true;
		inquiry->store.objects = take_number(typed, option, value);
		break;
	case 'b':
		inquiry->store.object_bytes = take_number(typed, option, value);
		break;
	case 'w':
		inquiry->store.watchers = take_number(typed, option, value);
		break;
	}
	return DONE;
}

static int check_word(const struct typed *typed, const char *option,
		      const char *word, const char *with,
		      const char *const *words)
{
	char accepted[128];
	size_t used = 0;

	for (; *words; words++) {
		if (!strcmp(*words, word))
			return DONE;
		used += sprintf(accepted + used, "%s%s", used ? ", " : "",
				*words);
	}
	return usage_error(typed->command,
			   "--%s \"%s\" is not accepted with --%s: must be one of %s",
			   option, word, with, accepted);
}

static int refuse_value(const struct typed *typed, const char *option,
			const char *value, const char *accepted)
{
	return usage_error(typed->command,
			   "--%s \"%s\" is not accepted: must be %s", option,
			   value, accepted);
}

/* Is this the name of a tenant, as a server may give it? */
bool is_tenant(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-");

	return len && !text[len] && len < KAPF_TENANT_BYTES;
}

static int check_who(const struct typed *typed)
{
	const struct kapf_digest *digest = &typed->inquiry.digest;
	bool is_as;

	if (!typed->user_option)
		return usage_error(typed->command, "--user is missing");
	if (!*digest->user)
		return refuse_value(typed, typed->user_option, digest->user,
				    "a name");
	is_as = !strcmp(typed->user_option, "as");
	if (typed->group_option &&
	    strcmp(typed->group_option, is_as ? "as-group" : "group"))
		return usage_error(typed->command, "--%s does not go with --%s",
				   typed->group_option, typed->user_option);
	if (digest->tenant && !is_tenant(digest->tenant))
		return refuse_value(typed, "tenant", digest->tenant,
				    "1 to 63 of [a-z0-9.-]");
	return DONE;
}

static int parse_url(struct typed *typed)
{
	static const char *const methods[] = {
		"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
		"CONNECT", "TRACE", NULL
	};
	struct kapf_error err;

	if (typed->described)
		return usage_error(typed->command, "--%s does not go with --url, which says it",
				   typed->described);
	if (!typed->method)
		typed->method = "GET";
	if (check_word(typed, "method", typed->method, "url", methods) != DONE)
		return USAGE;
	if (kapf_http_request_parse(&typed->parsed, typed->method, typed->url,
				    &err) < 0)
		return usage_error(typed->command, "%s", err.text);
	return DONE;
}

/* Only verbs that a kube-apiserver's RequestInfo can make of a request. */
static int check_verb(const struct typed *typed)
{
	static const char *const verbs[] = {
		"get", "list", "watch", "create", "update", "patch", "delete",
		"deletecollection", "proxy", NULL
	};
	static const char *const methods[] = {
		"get", "head", "post", "put", "patch", "delete", "options",
		"connect", "trace", NULL
	};
	const struct kapf_http_request *request = &typed->request;

	return check_word(typed, "verb", request->verb,
			  request->path ? "path" : "resource",
			  request->path ? methods : verbs);
}

/* Of RESOURCE[.GROUP][/SUBRESOURCE], is each part that is begun there? */
static bool is_resource(const char *text)
{
	size_t len = strcspn(text, "/");

	return len && *text != '.' && text[len - 1] != '.' &&
	       (!text[len] || (text[len + 1] && !strchr(text + len + 1, '/')));
}

static int check_described(const struct typed *typed)
{
	const struct kapf_http_request *request = &typed->request;

	if (typed->method)
		return usage_error(typed->command, "--method goes with --url");
	if (!request->verb)
		return usage_error(typed->command, "--verb is missing");
	if (!request->resource == !request->path)
		return usage_error(typed->command, "one of --url, --resource and --path is needed");
	if (request->path && typed->only_resource)
		return usage_error(typed->command, "--%s goes with --resource, not with --path",
				   typed->only_resource);
	if (request->path && *request->path != '/')
		return refuse_value(typed, "path", request->path,
				    "a path that begins with /");
	if (request->resource && !is_resource(request->resource))
		return refuse_value(typed, "resource", request->resource,
				    "RESOURCE[.GROUP][/SUBRESOURCE]");
	return check_verb(typed);
}

/* No string of a request is NULL. */
static void fill(struct kapf_http_request *request)
{
	const char **const strings[] = {
		&request->path, &request->verb, &request->api_prefix,
		&request->api_group, &request->api_version, &request->ns,
		&request->resource, &request->subresource, &request->name,
		&request->field_selector, &request->label_selector,
		&request->list.resource_version,
		&request->list.resource_version_match,
		&request->list.continue_token, &request->list.field_selector,
		&request->list.label_selector,
	};
	size_t i;

	for (i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		if (!*strings[i])
			*strings[i] = "";
	request->list.is_valid = true;
}

/* For kubectl it may be VERSION.GROUP; no FlowSchema asks for the version. */
static const char *without_version(const char *group)
{
	const char *dot = strchr(group, '.');

	return dot && group[0] == 'v' && group[1] >= '0' && group[1] <= '9' ?
		dot + 1 : group;
}

/* Take group and subresource off the resource. */
static int split_resource(const struct typed *typed,
			  struct kapf_http_request *request)
{
	char *slash = strchr(request->resource, '/'), *dot;

	if (slash && request->subresource)
		return usage_error(typed->command,
				   "\"%s\" has a subresource, so that --subresource \"%s\" is too much",
				   request->resource, request->subresource);
	dot = strchr(request->resource, '.');
	if (slash && dot > slash)
		dot = NULL;
	if (dot && request->api_group)
		return usage_error(typed->command,
				   "\"%s\" has an API group, so that --api-group \"%s\" is too much",
				   request->resource, request->api_group);
	if (slash) {
		*slash = '\0';
		request->subresource = slash + 1;
	}
	if (dot) {
		*dot = '\0';
		request->api_group = without_version(dot + 1);
	}
	return DONE;
}

static int complete_described(struct typed *typed)
{
	struct kapf_http_request *request = &typed->request;

	if (check_described(typed) != DONE)
		return USAGE;
	request->is_resource = request->resource;
	if (request->resource && split_resource(typed, request) != DONE)
		return USAGE;
	fill(request);
	return DONE;
}

/* Make the inquiry, or say what is wrong with it. */
static int complete(struct typed *typed)
{
	struct inquiry *inquiry = &typed->inquiry;

	if (check_who(typed) != DONE)
		return USAGE;
	if (inquiry->store.object_bytes && !inquiry->store.is_known)
		return usage_error(typed->command, "--object-bytes goes with --objects");
	if ((typed->url ? parse_url(typed) : complete_described(typed)) != DONE)
		return USAGE;
	inquiry->request = typed->parsed ? typed->parsed : &typed->request;
	kapf_http_request_digest(inquiry->request, &inquiry->digest);
	add_groups(typed);
	return DONE;
}

static int read_options(struct typed *typed, int argc, char **argv)
{
	const struct command *command = typed->command;
	int option, status = DONE;

	while (status == DONE &&
	       (option = next_option(command, argc, argv)) != -1) {
		if (option != 'd' && option != 'f')
			status = take_option(typed, option, optarg);
		else if (source_option(&typed->source, option, optarg) < 0)
			status = REFUSED;
	}
	if (status == DONE && optind < argc)
		status = usage_error(command, "\"%s\" is too much", argv[optind]);
	return status == DONE ? complete(typed) : status;
}

/**
 * ask() - read an inquiry, and have it answered
 * @command: with INQUIRY_BRIEF and inquiry_options
 * @argc: as of its main()
 * @argv: likewise
 * @answer: called with the configuration that the inquiry is asked of
 *
 * Return: exit status.
 */
int ask(const struct command *command, int argc, char **argv,
	void (*answer)(const struct kapf_configuration *config,
		       const struct inquiry *inquiry))
{
	struct typed typed = {
		.command = command,
		.inquiry.store.reports_progress = true,
	};
	struct kapf_configuration *config;
	int status;

	typed.groups = need(calloc(argc + 3, sizeof(*typed.groups)));
	status = read_options(&typed, argc, argv);
	if (status == DONE) {
		config = source_read(&typed.source);
		if (config)
			answer(config, &typed.inquiry);
		else
			status = REFUSED;
		kapf_config_free(config);
	}
	kapf_http_request_free(typed.parsed);
	free_manifests(&typed.source.manifests);
	free(typed.groups);
	return status;
}
