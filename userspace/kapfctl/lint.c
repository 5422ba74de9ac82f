// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl lint: mistakes that people make in manifests, which no validation
 * refuses: each object is right, but does not do what it was written for; or what
 * comes of them with the servers that are at work.
 *
 * The objects of all files are judged together with the default objects, beside
 * which they will be.  A rule says nothing of default objects, and rather nothing
 * than what is not so.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lint.h"

struct rule {
	const char *id;
	void (*find)(struct lint *lint);
};

/* In the order in which findings of one line are shown; --help explains them. */
static const struct rule rules[] = {
	{ "dangling", find_dangling },
	{ "no-match", find_no_match },
	{ "shadowed", find_shadowed },
	{ "behind", find_behind },
	{ "inverted", find_inverted },
	{ "taken-over", find_taken_over },
	{ "same-precedence", find_same_precedence },
	{ "one-flow", find_one_flow },
	{ "lost-tenant", find_lost_tenants },
	{ "unused", find_unused },
	{ "no-seats", find_no_seats },
	{ "hand-size", find_hand_size },
	{ "dilution", find_dilution },
	{ "borrowing", find_borrowing },
	{ NULL, NULL }
};

/* Those of --live */
static const struct rule live_rules[] = {
	{ "one-flow", find_fed_flows },
	{ "lost-tenant", find_caught_tenants },
	{ NULL, NULL }
};

/* Of an object the same is said once, say for a subject of two of its rules. */
static bool is_said(const struct lint *lint, const struct finding *finding)
{
	size_t i;

	for (i = 0; i < lint->nr; i++) {
		const struct finding *other = &lint->findings[i];

		if (other->rule == finding->rule && other->name == finding->name &&
		    other->kind == finding->kind &&
		    !strcmp(other->what, finding->what))
			return true;
	}
	return false;
}

/**
 * report() - add a finding of the rule that is looking
 * @lint: where
 * @severity: of it
 * @place: of an object
 * @why: it matters; not copied
 * @change: that would help; not copied
 * @format: what it is, of printf(3)
 */
void report(struct lint *lint, enum severity severity, struct place place,
	    const char *why, const char *change, const char *format, ...)
{
	struct finding finding = {
		.rule = lint->rule, .severity = severity, .kind = place.kind,
		.name = place.name,
		.file = place.meta ? place.meta->file : NULL,
		.line = place.line, .order = lint->nr, .why = why,
		.change = change,
	};
	va_list args;

	va_start(args, format);
	if (vasprintf(&finding.what, format, args) < 0)
		need(NULL);
	va_end(args);
	if (is_said(lint, &finding)) {
		free(finding.what);
		return;
	}
	lint->findings = need(reallocarray(lint->findings, lint->nr + 1,
					   sizeof(*lint->findings)));
	lint->findings[lint->nr++] = finding;
}

/**
 * is_own() - is a schema to be judged?
 * @schema: it
 *
 * Return: it is from a file, and not one of those that nobody can change.
 */
bool is_own(const struct kapf_flow_schema *schema)
{
	return schema->meta.file && strcmp(schema->name, "exempt") &&
	       strcmp(schema->name, "catch-all");
}

/**
 * schema_name() - a schema in a sentence about another one
 * @room: for the name
 * @schema: it
 *
 * Return: @room.
 */
const char *schema_name(char room[NAME_ROOM],
			const struct kapf_flow_schema *schema)
{
	if (schema->meta.file)
		snprintf(room, NAME_ROOM, "FlowSchema \"%s\" (%.200s:%u, matchingPrecedence %u)",
			 schema->name, schema->meta.file, schema->meta.line,
			 schema->precedence);
	else
		snprintf(room, NAME_ROOM, "the default FlowSchema \"%s\" (matchingPrecedence %u)",
			 schema->name, schema->precedence);
	return room;
}

/**
 * subject_name() - a subject in a sentence
 * @room: for the name
 * @subject: it
 *
 * Return: @room.
 */
const char *subject_name(char room[NAME_ROOM],
			 const struct kapf_subject *subject)
{
	char quoted[KAPF_NAME_BYTES];

	if (subject->kind == KAPF_SERVICE_ACCOUNT)
		snprintf(room, NAME_ROOM, "ServiceAccount %s/%s", subject->ns,
			 subject->name);
	else
		snprintf(room, NAME_ROOM, "%s %s",
			 subject->kind == KAPF_USER ? "User" : "Group",
			 kapf_quote(quoted, sizeof(quoted), subject->name));
	return room;
}

/*
 * ---------------------------------------------------------------------------
 * Findings
 */

static const char *severity_name(const struct finding *finding)
{
	return finding->severity == ERROR ? "error" : "warning";
}

static void print_finding(const struct finding *finding)
{
	if (finding->file)
		printf("%s:%u: ", finding->file, finding->line);
	printf("%s: %s \"%s\": %s [%s]\n", severity_name(finding),
	       finding->kind, finding->name, finding->what, finding->rule);
	printf("    %s\n    %s\n", finding->why, finding->change);
}

static struct json_object *finding_tree(const struct finding *finding)
{
	struct json_object *tree = tree_map();

	tree_add(tree, "rule", tree_text(finding->rule));
	tree_add(tree, "severity", tree_text(severity_name(finding)));
	tree_add(tree, "file", finding->file ? tree_text(finding->file) : NULL);
	tree_add(tree, "line", finding->file ? tree_number(finding->line) : NULL);
	tree_add(tree, "kind", tree_text(finding->kind));
	tree_add(tree, "name", tree_text(finding->name));
	tree_add(tree, "what", tree_text(finding->what));
	tree_add(tree, "why", tree_text(finding->why));
	tree_add(tree, "change", tree_text(finding->change));
	return tree;
}

static size_t file_index(const struct lint *lint, const char *file)
{
	size_t i = 0;

	while (i < lint->manifests.nr &&
	       strcmp(lint->manifests.all[i].file, file))
		i++;
	return i;
}

/* By file, as they were given, and by line. */
static int compare(const void *a, const void *b, void *lint)
{
	const struct finding *left = a, *right = b;
	size_t file = file_index(lint, left->file);
	size_t other = file_index(lint, right->file);

	if (file != other)
		return file < other ? -1 : 1;
	if (left->line != right->line)
		return left->line < right->line ? -1 : 1;
	return left->order < right->order ? -1 : 1;
}

static void print_findings(struct lint *lint)
{
	struct json_object *tree = output_format ? tree_list() : NULL;
	size_t i;

	if (lint->nr)
		qsort_r(lint->findings, lint->nr, sizeof(*lint->findings),
			compare, lint);
	for (i = 0; i < lint->nr; i++) {
		if (tree)
			tree_append(tree, finding_tree(&lint->findings[i]));
		else
			print_finding(&lint->findings[i]);
	}
	if (tree)
		tree_print(tree);
}

/*
 * ---------------------------------------------------------------------------
 * The command
 */

static struct kapf_configuration *default_objects(void)
{
	struct kapf_configuration *config = default_config();

	kapf_config_nominal(config);
	return config;
}

static int judge(struct lint *lint, const struct rule *rule,
		 enum severity worst)
{
	int status = DONE;
	size_t i;

	for (; rule->id; rule++) {
		lint->rule = rule->id;
		rule->find(lint);
	}
	for (i = 0; i < lint->nr; i++)
		if (lint->findings[i].severity >= worst)
			status = REFUSED;
	print_findings(lint);
	return status;
}

static int judge_manifests(struct lint *lint, enum severity worst)
{
	lint->defaults = default_objects();
	lint->config = default_objects();
	if (merge_manifests(&lint->manifests, lint->config) < 0 ||
	    lint->incomplete)
		return REFUSED;
	kapf_config_nominal(lint->config);
	return judge(lint, rules, worst);
}

static int judge_live(struct lint *lint, enum severity worst)
{
	int fd = open_control(O_RDONLY), status = REFUSED;
	struct live *live = &lint->live;

	if (fd < 0)
		return REFUSED;
	lint->config = read_config(fd);
	if (lint->config &&
	    !read_sessions(&live->sessions, &live->nr_sessions, fd) &&
	    !read_requests(&live->requests, &live->nr_requests, fd))
		status = judge(lint, live_rules, worst);
	close(fd);
	return status;
}

static void free_lint(struct lint *lint)
{
	size_t i;

	for (i = 0; i < lint->nr; i++)
		free(lint->findings[i].what);
	free(lint->findings);
	free(lint->live.sessions);
	free_requests(lint->live.requests, lint->live.nr_requests);
	kapf_config_free(lint->config);
	kapf_config_free(lint->defaults);
	free_manifests(&lint->manifests);
}

static const struct option options[] = {
	{ "filename", required_argument, NULL, 'f' },
	{ "defaults", no_argument, NULL, 'd' },
	{ "live", no_argument, NULL, 'l' },
	{ "strict", no_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 }
};

/* Can what was asked be done?  Returns the exit status if not. */
static int check_arguments(const struct lint *lint, bool live, bool defaults,
			   const char *too_much)
{
	const bool files = lint->manifests.nr || lint->incomplete;

	if (too_much)
		return usage_error(&lint_command,
				   "\"%s\" is too much: files are named by -f",
				   too_much);
	if (live && (files || defaults))
		return usage_error(&lint_command,
				   "--live judges the instance, without -f and --defaults");
	if (!live && !files && !defaults)
		return usage_error(&lint_command,
				   "nothing to judge: files are named by -f");
	return DONE;
}

static int lint_main(int argc, char **argv)
{
	struct lint lint = { .nr = 0 };
	enum severity worst = ERROR;
	int option, status;
	bool live = false, defaults = false;

	while ((option = next_option(&lint_command, argc, argv)) != -1) {
		if (option == 's')
			worst = WARNING;
		else if (option == 'l')
			live = true;
		else if (option == 'd')
			defaults = true;
		else if (read_manifests(&lint.manifests, optarg) < 0)
			lint.incomplete = true;
	}
	lint.incomplete |= lint.manifests.empty;
	status = check_arguments(&lint, live, defaults, argv[optind]);
	if (status == DONE)
		status = live ? judge_live(&lint, worst) :
				judge_manifests(&lint, worst);
	free_lint(&lint);
	return status;
}

const struct command lint_command = {
	.name = "lint",
	.summary = "find mistakes in manifests that are valid",
	.help =
"usage: kapfctl lint [--defaults] [-f FILE|DIRECTORY|-]... [--strict] [-o json]\n"
"       kapfctl lint --live [--strict] [-o json]\n"
"\n"
"Says of FlowSchemas and PriorityLevelConfigurations which of them will not do\n"
"what they were written for, by file and line, why, and what would help.  All\n"
"files are judged together with the default objects, which need not be given, and\n"
"a budget of 600 seats.  Needs no device, but with --live: then it says what comes\n"
"of the configuration in force with the servers at work.  Exit status: 1 when\n"
"there is an error, or a file is refused; then the first error of each such file\n"
"is told, behind which it may have more, and nothing else.\n"
"\n"
"  -f, --filename PATH  file, directory, or - for standard input; may be\n"
"                       repeated\n"
"      --defaults       as in kapfctl apply; the default objects are judged with\n"
"                       the files either way, as far as these do not change them\n"
"      --live           judge no files, but the requests that are in flight now\n"
"      --strict         exit status 1 for warnings, too\n"
"\n"
"Errors:\n"
"  dangling         the schema's level is neither given nor a default one\n"
"  no-match         a group or resource in a rule is one that no request has:\n"
"                   resources are lower case and plural, groups without version,\n"
"                   the core group is \"\"\n"
"  shadowed         one earlier schema matches all that the schema matches\n"
"  lost-tenant      a subject is meant for a tenant, but no tenant can have it\n"
"  no-seats         the level has no share of the seats, and may not borrow\n"
"Warnings:\n"
"  no-match         so is a verb of a nonResourceRule: that is the method, as get\n"
"  behind           the same as shadowed, of the schema or of one of its subjects,\n"
"                   if users are in the groups that Kubernetes puts them into\n"
"  inverted         a schema of an urgent level is tried nearly last: a lower\n"
"                   matchingPrecedence comes first\n"
"  taken-over       a default schema gets nothing more\n"
"  same-precedence  names decide which of two schemas gets a request\n"
"  one-flow         many clients of a level with queues are a single flow\n"
"  lost-tenant      part of a tenant's requests, or all, end in catch-all\n"
"  unused           no schema names the level\n"
"  no-seats         the level has no share of the seats, but what others lend\n"
"  hand-size        the level has no more seats than a flow has queues\n"
"  dilution         the level takes more than half of the seats of others\n"
"  borrowing        the level is small, to hold its requests back, but may borrow\n"
"                   all seats: borrowingLimitPercent is not there\n"
"Warnings with --live:\n"
"  one-flow         requests of several processes are a single flow\n"
"  lost-tenant      requests of a tenant are in catch-all, or no schema leads its\n"
"                   group elsewhere\n"
"\n"
"With -o, a list of objects: rule, severity (error or warning), file and line (null\n"
"with --live), kind (then also Tenant), name, what, why and change.\n",
	.formats = "json",
	.brief = "f:",
	.options = options,
	.main = lint_main,
};
