// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as the URL of a request: it is refused with a sentence, or makes a
 * request all of whose parts fit together and that a schema matches.
 *
 * The first byte is for the method.
 */
#include <string.h>

#include "fuzz.h"
#include "internal.h"

static const char *const methods[] = {
	"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", "",
};

static bool is_one_of(const char *text, const char *const *list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(text, list[i]))
			return true;
	return false;
}

#define ONE_OF(text, ...)						\
	is_one_of(text, (const char *const[]){ __VA_ARGS__ },		\
		  sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void check_resource(const struct kapf_http_request *request)
{
	insist(ONE_OF(request->api_prefix, "api", "apis"));
	insist(!*request->api_group || !strcmp(request->api_prefix, "apis"));
	insist(ONE_OF(request->verb, "", "get", "list", "watch", "create",
		      "update", "patch", "delete", "deletecollection",
		      "proxy"));
	insist(request->nr_parts >= 1);
	insist(!strcmp(request->resource, request->parts[0]));
	if (request->nr_parts > 1 && *request->parts[1])
		insist(!strcmp(request->name, request->parts[1]));
	if (*request->subresource)
		insist(request->nr_parts > 2 &&
		       !strcmp(request->subresource, request->parts[2]));
	if (*request->name && !strcmp(request->verb, "list"))
		insist(strstr(request->list.field_selector, "metadata.name"));
	insist(!*request->field_selector ||
	       !strcmp(request->field_selector, request->list.field_selector));
	insist(!*request->label_selector ||
	       !strcmp(request->label_selector, request->list.label_selector));
}

static void check_path(const struct kapf_http_request *request,
		       const char *method)
{
	insist(!*request->api_group && !*request->ns && !*request->resource &&
	       !*request->subresource && !*request->name &&
	       !request->nr_parts);
	insist(!strcasecmp(request->verb, method));
}

static void check_same(const struct kapf_http_request *one,
		       const struct kapf_http_request *two)
{
	insist(one->is_resource == two->is_resource);
	insist(!strcmp(one->verb, two->verb) && !strcmp(one->path, two->path));
	insist(!strcmp(one->ns, two->ns) && !strcmp(one->name, two->name));
	insist(one->list.is_valid == two->list.is_valid &&
	       one->list.limit == two->list.limit);
}

static void check_request(const struct kapf_http_request *request,
			  const char *method)
{
	const char *const groups[] = { "system:authenticated" };
	struct kapf_digest digest = {
		.user = "u", .groups = groups, .nr_groups = 1,
	};
	static struct kapf_configuration *defaults;

	if (!defaults) {
		defaults = kapf_config_new();
		insist(!kapf_config_add_defaults(defaults));
		kapf_config_nominal(defaults);
	}
	if (request->is_resource)
		check_resource(request);
	else
		check_path(request, method);
	insist(!kapf_http_request_is_long_running(request) ||
	       strcmp(request->verb, "watch"));
	kapf_http_request_digest(request, &digest);
	insist(ONE_OF(kapf_classify(defaults, &digest)->name, "probes",
		      "global-default"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .at = data, .left = size };
	const char *method = methods[input_below(&input, 9)];
	char *url = strndup((const char *)input.at, input.left);
	struct kapf_http_request *request, *again;
	struct kapf_error err = {};
	int ret = kapf_http_request_parse(&request, method, url, &err);

	if (ret) {
		insist(ret == -EINVAL && *err.text);
		insist(!strpbrk(err.text, "\n\r\033"));
	} else {
		check_request(request, method);
		insist(!kapf_http_request_parse(&again, method, url, NULL));
		check_same(request, again);
		kapf_http_request_free(again);
		kapf_http_request_free(request);
	}
	free(url);
	return 0;
}
