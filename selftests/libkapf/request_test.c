// SPDX-License-Identifier: GPL-2.0
/*
 * What a request is by its method and URL: the forms of a path, the verbs, what
 * the query adds, and what is refused.
 */
#include <stdio.h>

#include "test.h"

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

/*
 * VERB PATH, or VERB PREFIX/GROUP/VERSION NAMESPACE RESOURCE/SUBRESOURCE NAME,
 * with the selectors that there are.
 */
static void describe(char *to, size_t size,
		     const struct kapf_http_request *request)
{
	if (!request->is_resource) {
		snprintf(to, size, "%s %s", or_dash(request->verb),
			 request->path);
		return;
	}
	snprintf(to, size, "%s %s/%s/%s %s %s/%s %s%s%s%s%s",
		 or_dash(request->verb), request->api_prefix,
		 or_dash(request->api_group), or_dash(request->api_version),
		 or_dash(request->ns), or_dash(request->resource),
		 or_dash(request->subresource), or_dash(request->name),
		 *request->field_selector ? " fields " : "",
		 request->field_selector,
		 *request->label_selector ? " labels " : "",
		 request->label_selector);
}

#define LONG63	"123456789012345678901234567890123456789012345678901234567890123"
#define NAMED	"/api/v1/pods?fieldSelector=metadata.name=p"
#define LISTED	"list api/-/v1 - pods/- - fields metadata.name=p"
#define GOT	"list api/-/v1 - pods/- p fields metadata.name=p"

static const struct {
	const char *method;
	const char *url;
	const char *wanted;
} requests[] = {
	/* Paths: too short, or not below /api and /apis */
	{ "GET", "/", "get /" },
	{ "GET", "*", "get *" },
	{ "POST", "/healthz/etcd?verbose", "post /healthz/etcd" },
	{ "PROPFIND", "/version", "propfind /version" },
	{ "GET", "/api/v1", "get /api/v1" },
	{ "GET", "/api/v1/", "get /api/v1/" },
	{ "GET", "/apis/apps/v1", "get /apis/apps/v1" },
	{ "GET", "/apix/v1/pods", "get /apix/v1/pods" },
	{ "GET", "/Api/v1/pods", "get /Api/v1/pods" },
	{ "GET", "/healthz%2Fa%20b+c", "get /healthz/a b+c" },
	{ "GET", "/a?b?c#d", "get /a" },
	{ "GET", "/a#b", "get /a#b" },

	/* Verbs */
	{ "GET", "/api/v1/pods/p", "get api/-/v1 - pods/- p" },
	{ "HEAD", "/api/v1/pods/p", "get api/-/v1 - pods/- p" },
	{ "POST", "/api/v1/pods", "create api/-/v1 - pods/- -" },
	{ "PUT", "/api/v1/pods/p", "update api/-/v1 - pods/- p" },
	{ "PATCH", "/api/v1/pods/p", "patch api/-/v1 - pods/- p" },
	{ "DELETE", "/api/v1/pods/p", "delete api/-/v1 - pods/- p" },
	{ "DELETE", "/api/v1/pods", "deletecollection api/-/v1 - pods/- -" },
	{ "OPTIONS", "/api/v1/pods/p", "- api/-/v1 - pods/- p" },
	{ "get", "/api/v1/pods/p", "- api/-/v1 - pods/- p" },
	{ "GET", "/api/v1/pods", "list api/-/v1 - pods/- -" },
	{ "HEAD", "/api/v1/pods", "list api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?watch=true", "watch api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?watch", "watch api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?watch=FALSE", "list api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?watch=0", "list api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?watch=00", "watch api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?watch=fal\305\277e",
	  "list api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?watch=1&watch=0", "watch api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods/p?watch=true", "get api/-/v1 - pods/- p" },

	/* Groups, namespaces, subresources */
	{ "GET", "/apis/apps/v1/deployments/d",
	  "get apis/apps/v1 - deployments/- d" },
	{ "GET", "/api/v1/namespaces/n/pods/p/log/x/y",
	  "get api/-/v1 n pods/log p" },
	{ "GET", "/apis/g/v2/namespaces/n/things", "list apis/g/v2 n things/- -" },
	{ "GET", "/api/v1/namespaces", "list api/-/v1 - namespaces/- -" },
	{ "GET", "/api/v1/namespaces/n", "get api/-/v1 n namespaces/- n" },
	{ "PUT", "/api/v1/namespaces/n/finalize",
	  "update api/-/v1 n namespaces/finalize n" },
	{ "PATCH", "/api/v1/namespaces/n/status",
	  "patch api/-/v1 n namespaces/status n" },
	{ "GET", "/api/v1/namespaces/n/finalizers",
	  "list api/-/v1 n finalizers/- -" },
	{ "GET", "//api/v1/nodes//", "list api/-/v1 - nodes/- -" },
	{ "GET", "/api//v1/pods", "get api/-/- - v1/- pods" },
	{ "GET", "/api/v1/pods//log", "list api/-/v1 - pods/log -" },
	{ "GET", "/api/v1/pods/a%2Flog", "get api/-/v1 - pods/log a" },
	{ "GET", "/api/v1/pods/a+%2b%c3%bc", "get api/-/v1 - pods/- a++\303\274" },

	/* The verb in the path */
	{ "GET", "/api/v1/watch/pods", "watch api/-/v1 - pods/- -" },
	{ "POST", "/apis/g/v1/watch/namespaces/n/pods/p",
	  "watch apis/g/v1 n pods/- p" },
	{ "GET", "/api/v1/watch/pods?fieldSelector=metadata.name=p",
	  "watch api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/proxy/namespaces/n/services/s/a/b",
	  "proxy api/-/v1 n services/- s" },
	{ "GET", "/api/v1/pods/p/proxy", "get api/-/v1 - pods/proxy p" },
	{ "GET", "/api/v1/watch/namespaces/n/pods/p/log",
	  "watch api/-/v1 n pods/log p" },

	/* Selectors */
	{ "GET", NAMED, GOT },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name%3D%3Dp&watch=1",
	  "watch api/-/v1 - pods/- p fields metadata.name==p" },
	{ "GET", "/api/v1/pods?fieldSelector=a!=b,metadata.name=z,metadata.name=b",
	  "list api/-/v1 - pods/- b fields a!=b,metadata.name=z,metadata.name=b" },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name=b,metadata.name=z",
	  "list api/-/v1 - pods/- b fields metadata.name=b,metadata.name=z" },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name=bb,metadata.name=b,",
	  "list api/-/v1 - pods/- b fields metadata.name=bb,metadata.name=b," },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name!=p",
	  "list api/-/v1 - pods/- - fields metadata.name!=p" },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.names=p",
	  "list api/-/v1 - pods/- - fields metadata.names=p" },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name=a\\,b\\=c\\\\",
	  "list api/-/v1 - pods/- a,b=c\\ fields metadata.name=a\\,b\\=c\\\\" },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name=a/b",
	  "list api/-/v1 - pods/- - fields metadata.name=a/b" },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name=a%25b",
	  "list api/-/v1 - pods/- - fields metadata.name=a%b" },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name=..",
	  "list api/-/v1 - pods/- - fields metadata.name=.." },
	{ "GET", "/api/v1/pods?fieldSelector=metadata.name=.",
	  "list api/-/v1 - pods/- - fields metadata.name=." },
	{ "DELETE", "/api/v1/pods?fieldSelector=metadata.name=p&labelSelector=a",
	  "deletecollection api/-/v1 - pods/- - fields metadata.name=p labels a" },
	{ "GET", "/api/v1/pods/p?labelSelector=a", "get api/-/v1 - pods/- p" },
	{ "GET", "/api/v1/pods?labelSelector=a+in+(b)&labelSelector=c",
	  "list api/-/v1 - pods/- - labels a in (b)" },
	{ "GET", "/api/v1/pods?l%61belSelector=a",
	  "list api/-/v1 - pods/- - labels a" },
	{ "GET", "/api/v1/pods?labelSelector=%zz&fieldSelector=a;b&watch=%",
	  "list api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?fieldSelector=%4&fieldSelector=metadata.name=p",
	  GOT },

	/* Options that do not decode: no name, and watch by another rule */
	{ "GET", NAMED "&limit=7", GOT },
	{ "GET", NAMED "&limit=%2B7", GOT },
	{ "GET", NAMED "&limit=-9223372036854775808", GOT },
	{ "GET", NAMED "&limit=9223372036854775808", LISTED },
	{ "GET", NAMED "&limit=", LISTED },
	{ "GET", NAMED "&limit=%207", LISTED },
	{ "GET", NAMED "&limit=0x7", LISTED },
	{ "GET", NAMED "&limit=-", LISTED },
	{ "GET", NAMED "&timeoutSeconds=1s", LISTED },
	{ "GET", NAMED "&continue=1s", GOT },
	{ "GET", NAMED "&labelSelector=!", LISTED " labels !" },
	{ "GET", NAMED "\\", LISTED "\\" },
	{ "GET", NAMED "\\q", LISTED "\\q" },
	{ "GET", NAMED ",x", LISTED ",x" },
	{ "GET", NAMED ",x!==b", LISTED ",x!==b" },
	{ "GET", NAMED ",x=a=b", LISTED ",x=a=b" },
	{ "GET", "/api/v1/pods?limit=x&watch=False", "list api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?limit=x&watch=", "watch api/-/v1 - pods/- -" },
	{ "GET", "/api/v1/pods?limit=x&watch=fal\305\277e",
	  "watch api/-/v1 - pods/- -" },
};

/* Does Kubernetes read this label selector? */
static const struct {
	const char *selector;
	bool valid;
} selectors[] = {
	{ "", true }, { " ", true }, { "a", true }, { "!a", true },
	{ "! a", true }, { "a=b", true }, { "a==b", true }, { "a!=b", true },
	{ "a = b , c", true }, { "a=", true }, { "a=,b", true },
	{ "a in (b)", true }, { "a notin (b,c)", true }, { "a in()", true },
	{ "a in (,)", true }, { "a in (b,,c)", true }, { "in in (in)", true },
	{ "a in (notin)", true }, { "a=in", true }, { "a<1", true },
	{ "a > 007", true }, { "x.io/a=B_.-c", true }, { LONG63, true },
	{ "a=" LONG63, true }, { "a\t=\r\nb", true },
	{ ",", false }, { "a,", false }, { ",a", false }, { "a,,b", false },
	{ "!", false }, { "!!a", false }, { "!a=b", false }, { "=b", false },
	{ "a b", false }, { "a===b", false }, { "a=!b", false },
	{ "a In (b)", false }, { "a in", false }, { "a in b", false },
	{ "a in (b", false }, { "a in b)", false }, { "a in (b c)", false },
	{ "a in (b))", false }, { "a in ((b)", false }, { "a in (=)", false },
	{ "a<", false }, { "a<b", false }, { "a>9223372036854775808", false },
	{ "a>=1", false }, { "a(", false }, { "a)", false },
	{ "-a", false }, { "a-", false }, { "/a", false }, { "a/", false },
	{ "a/b/c", false }, { "X.io/a", false }, { LONG63 "4", false },
	{ "a=-b", false }, { "a=" LONG63 "4", false }, { "a in (-)", false },
	{ "a=\303\274", false },
};

static const struct {
	const char *url;
	const char *sentence;
} refusals[] = {
	{ "", "the URL \"\" does not begin with /" },
	{ "api", "the URL \"api\" does not begin with /" },
	{ "*?a", "the URL \"*?a\" does not begin with /" },
	{ "/a\nb", "the URL \"/a\\x0ab\" has a control character" },
	{ "/a\x7f", "the URL \"/a\\x7f\" has a control character" },
	{ "/a%00", "the URL \"/a%00\" has a %00, which nothing may contain" },
	{ "/a?b=%00", "the URL \"/a?b=%00\" has a %00, which nothing may contain" },
	{ "/a%", "the URL \"/a%\" has a % without two hexadecimal digits in its path" },
	{ "/a%4", "the URL \"/a%4\" has a % without two hexadecimal digits in its path" },
	{ "/%g0", "the URL \"/%g0\" has a % without two hexadecimal digits in its path" },
	{ "/api/v1/watch", "the URL \"/api/v1/watch\" names no resource" },
	{ "/apis/g/v1/proxy/",
	  "the URL \"/apis/g/v1/proxy/\" names no resource" },
};

static const struct {
	const char *url;
	bool is_long_running;
} durations[] = {
	{ "/api/v1/proxy/nodes/n", true },
	{ "/api/v1/pods/p/attach", true },
	{ "/api/v1/pods/p/exec", true },
	{ "/api/v1/pods/p/proxy", true },
	{ "/api/v1/pods/p/log", true },
	{ "/api/v1/pods/p/portforward", true },
	{ "/debug/pprof/heap", true },
	{ "/debug/pprof", false },
	{ "/api/v1/pods/p/status", false },
	{ "/api/v1/pods/log", false },
	{ "/api/v1/pods?watch=1", false },
	{ "/api/v1/watch/pods/p/log", false },
	{ "/log", false },
};

static void test_forms(void)
{
	for (size_t i = 0; i < SIZE(requests); i++) {
		struct kapf_http_request *request = NULL;
		struct kapf_error err = {};
		char found[512] = "";

		if (!kapf_http_request_parse(&request, requests[i].method,
					     requests[i].url, &err))
			describe(found, sizeof(found), request);
		ok(!strcmp(found, requests[i].wanted),
		   "request: %s %s is %s%s", requests[i].method,
		   requests[i].url, found, err.text);
		kapf_http_request_free(request);
	}
}

static void test_label_selectors(void)
{
	for (size_t i = 0; i < SIZE(selectors); i++)
		ok(kapf_is_label_selector(selectors[i].selector) ==
		   selectors[i].valid, "request: label selector %zu is %svalid",
		   i, selectors[i].valid ? "" : "in");
}

static void test_url_refusals(void)
{
	for (size_t i = 0; i < SIZE(refusals); i++) {
		struct kapf_http_request *request = NULL;
		struct kapf_error err = {};
		int ret = kapf_http_request_parse(&request, "GET",
						  refusals[i].url, &err);

		ok(ret == -EINVAL && !request &&
		   !strcmp(err.text, refusals[i].sentence), "request: %s",
		   err.text);
	}
}

static void test_durations(void)
{
	for (size_t i = 0; i < SIZE(durations); i++) {
		struct kapf_http_request *request;

		kapf_http_request_parse(&request, "GET", durations[i].url, NULL);
		ok(kapf_http_request_is_long_running(request) ==
		   durations[i].is_long_running, "request: %s is %slong-running",
		   durations[i].url, durations[i].is_long_running ? "" : "not ");
		kapf_http_request_free(request);
	}
}

static void test_members(void)
{
	static const char *const groups[] = { "g" };
	struct kapf_digest digest = {
		.user = "u", .groups = groups, .nr_groups = 1, .tenant = "t"
	};
	struct kapf_http_request *request;
	const struct kapf_list_options *list;

	kapf_http_request_parse(&request, "GET",
				"/apis/g/v1/namespaces/n/r/o/s?limit=7&resourceVersion=5&resourceVersionMatch=Exact&continue=c&sendInitialEvents=1&fieldSelector=f=1&labelSelector=l",
				NULL);
	ok(request->nr_parts == 3 && !strcmp(request->parts[0], "r") &&
	   !strcmp(request->parts[1], "o") && !strcmp(request->parts[2], "s"),
	   "request: parts");
	list = &request->list;
	ok(list->is_valid && list->limit == 7 && list->send_initial_events &&
	   !strcmp(list->resource_version, "5") &&
	   !strcmp(list->resource_version_match, "Exact") &&
	   !strcmp(list->continue_token, "c") &&
	   !strcmp(list->field_selector, "f=1") &&
	   !strcmp(list->label_selector, "l"), "request: list options");

	kapf_http_request_digest(request, &digest);
	ok(digest.is_resource && !strcmp(digest.verb, "get") &&
	   !strcmp(digest.api_group, "g") && !strcmp(digest.api_version, "v1") &&
	   !strcmp(digest.resource, "r") && !strcmp(digest.subresource, "s") &&
	   !strcmp(digest.ns, "n") && !strcmp(digest.name, "o") &&
	   !strcmp(digest.path, "/apis/g/v1/namespaces/n/r/o/s") &&
	   !strcmp(digest.user, "u") && digest.groups == groups &&
	   digest.nr_groups == 1 && !strcmp(digest.tenant, "t"),
	   "request: digest");
	kapf_http_request_free(request);

	kapf_http_request_parse(&request, "GET", "/apis/g/v1", NULL);
	ok(!request->nr_parts && !strcmp(request->api_prefix, "apis") &&
	   !*request->api_group && request->list.is_valid &&
	   !*request->list.resource_version, "request: too short below /apis");
	kapf_http_request_free(request);
	kapf_http_request_free(NULL);
}

void test_requests(void)
{
	test_forms();
	test_label_selectors();
	test_url_refusals();
	test_durations();
	test_members();
}
