// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl classify: what becomes of a request, without making it: its
 * FlowSchema, its flow, and the queues that the flow may use.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dealer.h"
#include "kapfctl.h"

/**
 * struct answer - what becomes of a request
 * @schema: that it matches
 * @level: of that
 * @distinguisher: of its flow
 * @hash: of its flow
 * @hand: queues that its flow may use, as many as the level says
 */
struct answer {
	const struct kapf_flow_schema *schema;
	const struct kapf_priority_level *level;
	const char *distinguisher;
	uint64_t hash;
	uint32_t hand[KAPF_HAND_MAX];
};

static void print_hand(const struct answer *answer)
{
	const struct kapf_priority_level *level = answer->level;
	uint32_t i;

	printf("Hand:           ");
	for (i = 0; i < level->hand_size; i++)
		printf("%s%u", i ? " " : "", answer->hand[i]);
	if (level->queues)
		printf(" of %u queue%s\n", level->queues,
		       plural(level->queues));
	else
		printf("none, the level has no queues\n");
}

static void print_answer(const struct answer *answer)
{
	printf("FlowSchema:     %s\n", answer->schema->name);
	printf("PriorityLevel:  %s\n", answer->level->name);
	printf("Distinguisher:  \"%s\"\n", answer->distinguisher);
	printf("FlowHash:       0x%016jx\n", (uintmax_t)answer->hash);
	print_hand(answer);
	printf("Seats:          1, a list at most %u\n",
	       kapf_max_seats(answer->level));
}

static struct json_object *answer_tree(const struct answer *answer)
{
	struct json_object *tree = tree_map(), *hand = tree_list();
	char hash[32];
	uint32_t i;

	/* A number of 64 bits is more than many a reader of JSON can take. */
	snprintf(hash, sizeof(hash), "0x%016jx", (uintmax_t)answer->hash);

	tree_add(tree, "flow_schema", tree_text(answer->schema->name));
	tree_add(tree, "priority_level", tree_text(answer->level->name));
	tree_add(tree, "flow_distinguisher", tree_text(answer->distinguisher));
	tree_add(tree, "flow_hash", tree_text(hash));
	for (i = 0; i < answer->level->hand_size; i++)
		tree_append(hand, tree_number(answer->hand[i]));
	tree_add(tree, "hand", hand);
	tree_add(tree, "queues", tree_number(answer->level->queues));
	tree_add(tree, "seats", tree_number(1));
	tree_add(tree, "max_list_seats",
		 tree_number(kapf_max_seats(answer->level)));
	return tree;
}

static void classify(const struct kapf_configuration *config,
		     const struct kapf_digest *digest)
{
	const struct kapf_flow_schema *schema = kapf_classify(config, digest);
	struct answer answer = {
		.schema = schema,
		.level = kapf_config_level(config, schema->level),
		.distinguisher = kapf_flow_distinguisher(schema, digest),
	};

	answer.hash = kapf_flow_hash(schema->name, digest->tenant,
				     answer.distinguisher);
	if (answer.level->type == KAPF_LEVEL_QUEUE)
		kapf_deal_hand(answer.hash, answer.level->queues,
			       answer.level->hand_size, answer.hand);
	if (output_format)
		tree_print(answer_tree(&answer));
	else
		print_answer(&answer);
}

/* From the device, or from manifests alone. */
static struct kapf_configuration *
read_rules(const struct manifests *manifests, bool defaults)
{
	struct kapf_configuration *config;
	int fd;

	if (!manifests->nr && !defaults) {
		fd = open_control(O_RDONLY);
		if (fd < 0)
			return NULL;
		config = read_config(fd);
		close(fd);
		return config;
	}

	config = need(kapf_config_new());
	if (defaults && kapf_config_add_defaults(config) < 0)
		need(NULL);
	if (merge_manifests(manifests, config) < 0) {
		kapf_config_free(config);
		return NULL;
	}
	kapf_config_nominal(config);
	return config;
}

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

/**
 * struct question - the request, as typed
 * @digest: it, but for the groups
 * @groups: of the user, with room for three more
 * @accounts: the group of all service accounts of a namespace
 * @only_resource: the last option that only a resource request can have
 */
struct question {
	struct kapf_digest digest;
	const char **groups;
	char accounts[64 + KAPF_NAME_BYTES];
	const char *only_resource;
};

/* system:serviceaccount:NAMESPACE:NAME is in two groups by its name. */
static void add_service_account_groups(struct question *question)
{
	static const char prefix[] = "system:serviceaccount:";
	struct kapf_digest *digest = &question->digest;
	const char *ns = digest->user + strlen(prefix);

	if (strncmp(digest->user, prefix, strlen(prefix)) || !strchr(ns, ':'))
		return;
	snprintf(question->accounts, sizeof(question->accounts),
		 "system:serviceaccounts:%.*s", (int)strcspn(ns, ":"), ns);
	question->groups[digest->nr_groups++] = "system:serviceaccounts";
	question->groups[digest->nr_groups++] = question->accounts;
}

static void take_option(struct question *question, int option, char *value)
{
	struct kapf_digest *digest = &question->digest;

	switch (option) {
	case 'u':
		digest->user = value;
		break;
	case 'g':
		question->groups[digest->nr_groups++] = value;
		break;
	case 'v':
		digest->verb = value;
		break;
	case 't':
		digest->tenant = value;
		break;
	case 'p':
		digest->path = value;
		break;
	case 'r':
		digest->resource = value;
		break;
	case 'a':
		digest->api_group = value;
		question->only_resource = "api-group";
		break;
	case 's':
		digest->subresource = value;
		question->only_resource = "subresource";
		break;
	case 'n':
		digest->ns = value;
		question->only_resource = "namespace";
		break;
	case 'N':
		digest->name = value;
		question->only_resource = "name";
		break;
	}
}

/* Only verbs that a kube-apiserver's RequestInfo can make of a request. */
static int check_verb(const struct kapf_digest *digest)
{
	static const char *const verbs[] = {
		"get", "list", "watch", "create", "update", "patch", "delete",
		"deletecollection", "proxy", NULL
	};
	static const char *const methods[] = {
		"get", "head", "post", "put", "patch", "delete", "options",
		"connect", "trace", NULL
	};
	const char *const *words = digest->path ? methods : verbs;
	char accepted[128];
	size_t used = 0;

	for (; *words; words++) {
		if (!strcmp(*words, digest->verb))
			return DONE;
		used += sprintf(accepted + used, "%s%s", used ? ", " : "",
				*words);
	}
	return usage_error(&classify_command,
			   "--verb \"%s\" is not accepted with --%s: must be one of %s",
			   digest->verb, digest->path ? "path" : "resource",
			   accepted);
}

static int refuse_value(const char *option, const char *value,
			const char *accepted)
{
	return usage_error(&classify_command,
			   "--%s \"%s\" is not accepted: must be %s", option,
			   value, accepted);
}

static bool is_resource(const char *text)
{
	const char *slash = strchr(text, '/');

	return *text && slash != text &&
	       (!slash || (slash[1] && !strchr(slash + 1, '/')));
}

/* Is this the name of a tenant, as a server may give it? */
bool is_tenant(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-");

	return len && !text[len] && len < KAPF_TENANT_BYTES;
}

static int check_values(const struct kapf_digest *digest)
{
	if (!*digest->user)
		return refuse_value("user", digest->user, "a name");
	if (digest->tenant && !is_tenant(digest->tenant))
		return refuse_value("tenant", digest->tenant,
				    "1 to 63 of [a-z0-9.-]");
	if (digest->path && *digest->path != '/')
		return refuse_value("path", digest->path,
				    "a path that begins with /");
	if (digest->resource && !is_resource(digest->resource))
		return refuse_value("resource", digest->resource,
				    "RESOURCE or RESOURCE/SUBRESOURCE");
	return check_verb(digest);
}

/* Complete the digest, or say what is wrong with it. */
static int complete(struct question *question)
{
	struct kapf_digest *digest = &question->digest;
	const char *implied;
	char *slash;

	if (!digest->user || !digest->verb)
		return usage_error(&classify_command, "--%s is missing",
				   digest->user ? "verb" : "user");
	if (!digest->resource == !digest->path)
		return usage_error(&classify_command,
				   "either --resource or --path is needed");
	if (digest->path && question->only_resource)
		return usage_error(&classify_command, "--%s goes with --resource, not with --path",
				   question->only_resource);
	if (check_values(digest) != DONE)
		return USAGE;
	digest->is_resource = digest->resource;

	slash = digest->resource ? strchr(digest->resource, '/') : NULL;
	if (slash && digest->subresource)
		return usage_error(&classify_command,
				   "\"%s\" has a subresource, so that --subresource \"%s\" is too much",
				   digest->resource, digest->subresource);
	if (slash) {
		*slash = '\0';
		digest->subresource = slash + 1;
	}

	add_service_account_groups(question);
	implied = implied_group(digest->user, question->groups,
				digest->nr_groups);
	if (implied)
		question->groups[digest->nr_groups++] = implied;
	digest->groups = question->groups;
	return DONE;
}

static const struct option options[] = {
	{ "user", required_argument, NULL, 'u' },
	{ "group", required_argument, NULL, 'g' },
	{ "tenant", required_argument, NULL, 't' },
	{ "verb", required_argument, NULL, 'v' },
	{ "path", required_argument, NULL, 'p' },
	{ "resource", required_argument, NULL, 'r' },
	{ "api-group", required_argument, NULL, 'a' },
	{ "subresource", required_argument, NULL, 's' },
	{ "namespace", required_argument, NULL, 'n' },
	{ "name", required_argument, NULL, 'N' },
	{ "filename", required_argument, NULL, 'f' },
	{ "defaults", no_argument, NULL, 'd' },
	{ NULL, 0, NULL, 0 }
};

static int classify_main(int argc, char **argv)
{
	struct kapf_configuration *config = NULL;
	struct manifests manifests = { .nr = 0 };
	struct question question = { .digest.nr_groups = 0 };
	bool defaults = false;
	int option, status;

	question.groups = need(calloc(argc + 3, sizeof(*question.groups)));
	while ((option = next_option(&classify_command, argc, argv)) != -1) {
		if (option == 'd') {
			defaults = true;
		} else if (option != 'f') {
			take_option(&question, option, optarg);
		} else if (read_manifests(&manifests, optarg) < 0) {
			status = REFUSED;
			goto out;
		}
	}
	status = optind == argc ? complete(&question) :
				  usage_error(&classify_command,
					      "\"%s\" is too much",
					      argv[optind]);
	if (status == DONE && manifests.empty && !defaults)
		status = REFUSED;
	if (status != DONE)
		goto out;
	config = read_rules(&manifests, defaults);
	if (config)
		classify(config, &question.digest);
	else
		status = REFUSED;
out:
	kapf_config_free(config);
	free_manifests(&manifests);
	free(question.groups);
	return status;
}

const struct command classify_command = {
	.name = "classify",
	.summary = "say which schema, level, flow and queues a request gets",
	.help =
"usage: kapfctl classify --user USER [--group GROUP]... [--tenant NAME]\n"
"           --verb VERB --resource RESOURCE[/SUBRESOURCE] [--api-group GROUP]\n"
"           [--subresource NAME] [--namespace NAMESPACE] [--name NAME]\n"
"       kapfctl classify --user USER [--group GROUP]... [--tenant NAME]\n"
"           --verb METHOD --path PATH\n"
"\n"
"Says which FlowSchema and which level a request belongs to, its flow, the hash\n"
"and the hand (the queues) of the flow, and the most seats that a list costs.  A\n"
"user in neither of the groups system:authenticated and system:unauthenticated\n"
"is put into the former, as authenticators do; system:anonymous into the latter.\n"
"A service account is put into the groups of service accounts, too.\n"
"\n"
"      --tenant NAME    of servers that attach for this tenant: the request is in\n"
"                       the group kapf:tenant:NAME, and its flow is another one\n"
"      --verb VERB      get, list, watch, create, update, patch, delete,\n"
"                       deletecollection or proxy; for a path the HTTP method:\n"
"                       get, head, post, put, patch, delete, options, connect or\n"
"                       trace\n"
"      --api-group GROUP\n"
"                       of the resource; default: the core group\n"
"  -f, --filename PATH  classify by these manifests and the mandatory objects\n"
"                       rather than by the device's configuration\n"
"      --defaults       the same with the default objects of Kubernetes\n"
"\n"
"With -o, an object: flow_schema, priority_level, flow_distinguisher, flow_hash,\n"
"hand (a list of queues), queues, seats and max_list_seats.\n",
	.formats = "json",
	.brief = "f:",
	.options = options,
	.main = classify_main,
};
