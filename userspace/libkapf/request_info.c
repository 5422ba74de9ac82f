// SPDX-License-Identifier: LGPL-2.1
/*
 * What a request is, from its method and URL, as Kubernetes' RequestInfo says
 * it: the verb, the resource, its namespace and name, and the options of a list.
 * All that it finds stands in one piece of memory, the struct itself in front.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The query parameters that count here */
enum option {
	WATCH,
	LIMIT,
	TIMEOUT,
	RESOURCE_VERSION,
	MATCH,
	CONTINUE,
	INITIAL_EVENTS,
	FIELDS,
	LABELS,
	NR_OPTIONS
};

/**
 * struct parser - what is on its way into a struct kapf_http_request
 * @request: out
 * @room: for the strings that are still to come
 * @options: the query's values, of each parameter the first; NULL: none
 */
struct parser {
	struct kapf_http_request *request;
	char *room;
	const char *options[NR_OPTIONS];
};

/* Copies @len octets of @text into the room. */
static char *keep(struct parser *parser, const char *text, size_t len)
{
	char *copy = memcpy(parser->room, text, len);

	copy[len] = '\0';
	parser->room += len + 1;
	return copy;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decodes in place; false: a % without two hexadecimal digits. */
static bool decode(char *text, bool is_query)
{
	char *to = text;

	for (; *text; text++) {
		int high, low;

		if (*text != '%') {
			*to++ = is_query && *text == '+' ? ' ' : *text;
			continue;
		}
		high = hex_digit(text[1]);
		low = high < 0 ? -1 : hex_digit(text[2]);
		if (low < 0)
			return false;
		*to++ = high << 4 | low;
		text += 2;
	}
	*to = '\0';
	return true;
}

static int refuse(struct kapf_error *err, const char *url, const char *why)
{
	char quoted[512];

	kapf_error_set(err, "the URL %s %s",
		       kapf_quote(quoted, sizeof(quoted), url), why);
	return -EINVAL;
}

static int check_url(const char *url, struct kapf_error *err)
{
	if (*url != '/' && strcmp(url, "*"))
		return refuse(err, url, "does not begin with /");
	for (const char *c = url; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return refuse(err, url, "has a control character");
	if (strstr(url, "%00"))
		return refuse(err, url, "has a %00, which nothing may contain");
	return 0;
}

/* What does not decode, or has a semicolon, counts as not there. */
static void read_query(struct parser *parser, char *query)
{
	static const char *const keys[NR_OPTIONS] = {
		[WATCH] = "watch",
		[LIMIT] = "limit",
		[TIMEOUT] = "timeoutSeconds",
		[RESOURCE_VERSION] = "resourceVersion",
		[MATCH] = "resourceVersionMatch",
		[CONTINUE] = "continue",
		[INITIAL_EVENTS] = "sendInitialEvents",
		[FIELDS] = "fieldSelector",
		[LABELS] = "labelSelector",
	};
	char *key, *value;

	while ((key = strsep(&query, "&"))) {
		if (strchr(key, ';'))
			continue;
		value = key;
		strsep(&value, "=");
		if (!value)
			value = key + strlen(key);
		if (!decode(key, true) || !decode(value, true))
			continue;
		for (enum option i = 0; i < NR_OPTIONS; i++)
			if (!parser->options[i] && !strcmp(key, keys[i]))
				parser->options[i] = value;
	}
}

static const char *option_text(const struct parser *parser, enum option option)
{
	const char *text = parser->options[option];

	return text ? text : "";
}

static bool read_number(const struct parser *parser, enum option option,
			int64_t *number)
{
	const char *text = parser->options[option];

	return !text || kapf_parse_int64(text, strlen(text), number);
}

/*
 * All that is there is true but 0 and false; in which, where case does not count,
 * a long s is one.
 */
static bool is_true(const struct parser *parser, enum option option)
{
	const char *text = parser->options[option];

	return text && strcmp(text, "0") && strcasecmp(text, "false") &&
	       strcasecmp(text, "fal\305\277e");
}

static void fill_list(struct parser *parser)
{
	struct kapf_list_options *list = &parser->request->list;

	list->is_valid = read_number(parser, LIMIT, &list->limit) &&
			 read_number(parser, TIMEOUT, NULL);
	list->resource_version = option_text(parser, RESOURCE_VERSION);
	list->resource_version_match = option_text(parser, MATCH);
	list->continue_token = option_text(parser, CONTINUE);
	list->send_initial_events = is_true(parser, INITIAL_EVENTS);
	list->field_selector = option_text(parser, FIELDS);
	list->label_selector = option_text(parser, LABELS);
}

/* Splits the path, which ends up without the slashes at both ends. */
static void split_path(struct parser *parser)
{
	struct kapf_http_request *request = parser->request;
	const char *path = request->path + strspn(request->path, "/");
	size_t len = strlen(path);
	char *rest;

	while (len && path[len - 1] == '/')
		len--;
	if (!len)
		return;
	rest = keep(parser, path, len);
	while (rest)
		request->parts[request->nr_parts++] = strsep(&rest, "/");
}

static const char *pass_part(struct kapf_http_request *request)
{
	request->nr_parts--;
	return *request->parts++;
}

/* Takes what stands before the resource.  Return: whether one follows. */
static bool read_prefix(struct kapf_http_request *request)
{
	static const char *const prefixes[] = { "api", "apis", NULL };

	if (request->nr_parts < 3 || !kapf_is_one_of(request->parts[0], prefixes))
		return false;
	request->api_prefix = pass_part(request);
	if (!strcmp(request->api_prefix, "apis")) {
		if (request->nr_parts < 3)
			return false;
		request->api_group = pass_part(request);
	}
	request->api_version = pass_part(request);
	return true;
}

static const char *verb_of(const char *method)
{
	static const struct {
		const char *method;
		const char *verb;
	} verbs[] = {
		{ "GET", "get" },
		{ "HEAD", "get" },
		{ "POST", "create" },
		{ "PUT", "update" },
		{ "PATCH", "patch" },
		{ "DELETE", "delete" },
	};

	for (size_t i = 0; i < KAPF_ARRAY_SIZE(verbs); i++)
		if (!strcmp(method, verbs[i].method))
			return verbs[i].verb;
	return "";
}

/*
 * A namespace stands before what is in it; alone, or with one of its own
 * subresources, it is the resource itself, and yet in its namespace.
 */
static void read_namespace(struct kapf_http_request *request)
{
	static const char *const subresources[] = { "status", "finalize", NULL };

	if (strcmp(request->parts[0], "namespaces") || request->nr_parts < 2)
		return;
	request->ns = request->parts[1];
	if (request->nr_parts > 2 && !kapf_is_one_of(request->parts[2], subresources)) {
		pass_part(request);
		pass_part(request);
	}
}

static void read_object(struct kapf_http_request *request)
{
	request->resource = request->parts[0];
	if (request->nr_parts > 1)
		request->name = request->parts[1];
	if (request->nr_parts > 2 && strcmp(request->verb, "proxy"))
		request->subresource = request->parts[2];
}

/* Can @name stand in a path? */
static bool is_path_name(const char *name)
{
	return strcmp(name, ".") && strcmp(name, "..") && !strpbrk(name, "/%");
}

/*
 * A get without a name is a list or a watch, maybe of one object that its field
 * selector names.  Where Kubernetes cannot read one of the options none counts
 * but watch, and that by another rule.
 */
static void read_collection(struct parser *parser)
{
	struct kapf_http_request *request = parser->request;
	const char *watch = parser->options[WATCH];
	char *name = parser->room;
	bool found, is_watch;

	if (request->list.is_valid &&
	    kapf_is_label_selector(request->list.label_selector) &&
	    kapf_field_selector_value(request->list.field_selector,
				      "metadata.name", name, &found)) {
		is_watch = is_true(parser, WATCH);
		if (found && is_path_name(name))
			request->name = name;
	} else {
		is_watch = watch && strcmp(watch, "0") &&
			   strcasecmp(watch, "false");
	}
	request->verb = is_watch ? "watch" : "list";
}

static int read_resource(struct parser *parser, const char *method,
			 const char *url, struct kapf_error *err)
{
	static const char *const special[] = { "watch", "proxy", NULL };
	static const char *const selecting[] = {
		"list", "watch", "deletecollection", NULL
	};
	struct kapf_http_request *request = parser->request;
	bool is_special;

	request->is_resource = true;
	request->verb = verb_of(method);
	is_special = kapf_is_one_of(request->parts[0], special);
	if (is_special) {
		if (request->nr_parts < 2)
			return refuse(err, url, "names no resource");
		request->verb = pass_part(request);
	}
	read_namespace(request);
	read_object(request);
	if (!*request->name && !strcmp(request->verb, "get"))
		read_collection(parser);
	if (!*request->name && !strcmp(request->verb, "delete"))
		request->verb = "deletecollection";
	if (!is_special && kapf_is_one_of(request->verb, selecting)) {
		request->field_selector = request->list.field_selector;
		request->label_selector = request->list.label_selector;
	}
	return 0;
}

static int parse(struct parser *parser, const char *method, const char *url,
		 struct kapf_error *err)
{
	struct kapf_http_request *request = parser->request;
	size_t len = strcspn(url, "?");
	char *path = keep(parser, url, len);
	char *verb = keep(parser, method, strlen(method));

	if (!decode(path, false))
		return refuse(err, url, "has a % without two hexadecimal digits in its path");
	request->path = path;
	for (char *c = verb; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	request->verb = verb;
	if (url[len])
		read_query(parser, keep(parser, url + len + 1,
					strlen(url + len + 1)));
	fill_list(parser);
	split_path(parser);
	if (read_prefix(request))
		return read_resource(parser, method, url, err);
	request->nr_parts = 0;
	return 0;
}

/* All slashes of the path are in the URL, as they are or encoded. */
static size_t most_parts(const char *url)
{
	size_t nr = 1;

	for (; *url && *url != '?'; url++)
		nr += *url == '/' || *url == '%';
	return nr;
}

int kapf_http_request_parse(struct kapf_http_request **request,
			    const char *method, const char *url,
			    struct kapf_error *err)
{
	static const struct kapf_http_request nothing = {
		.api_prefix = "", .api_group = "", .api_version = "", .ns = "",
		.resource = "", .subresource = "", .name = "",
		.field_selector = "", .label_selector = "",
	};
	size_t nr_parts = most_parts(url);
	struct parser parser = {};
	int ret = check_url(url, err);

	if (ret)
		return ret;
	/* The method; path and query; the path in parts and the selected name */
	parser.request = malloc(sizeof(*parser.request) +
				nr_parts * sizeof(char *) +
				strlen(method) + 1 + 2 * (strlen(url) + 2));
	if (!parser.request) {
		kapf_error_set(err, "out of memory");
		return -ENOMEM;
	}
	*parser.request = nothing;
	parser.request->parts = (const char **)(parser.request + 1);
	parser.room = (char *)(parser.request->parts + nr_parts);
	ret = parse(&parser, method, url, err);
	if (ret) {
		free(parser.request);
		return ret;
	}
	*request = parser.request;
	return 0;
}

void kapf_http_request_free(struct kapf_http_request *request)
{
	free(request);
}

void kapf_http_request_digest(const struct kapf_http_request *request,
			      struct kapf_digest *digest)
{
	digest->is_resource = request->is_resource;
	digest->verb = request->verb;
	digest->api_group = request->api_group;
	digest->api_version = request->api_version;
	digest->resource = request->resource;
	digest->subresource = request->subresource;
	digest->ns = request->ns;
	digest->name = request->name;
	digest->path = request->path;
}

bool kapf_http_request_is_long_running(const struct kapf_http_request *request)
{
	static const char *const subresources[] = {
		"attach", "exec", "proxy", "log", "portforward", NULL
	};
	static const char profiles[] = "/debug/pprof/";

	if (!strcmp(request->verb, "watch"))
		return false;
	if (!strcmp(request->verb, "proxy"))
		return true;
	if (request->is_resource)
		return kapf_is_one_of(request->subresource, subresources);
	return !strncmp(request->path, profiles, strlen(profiles));
}
