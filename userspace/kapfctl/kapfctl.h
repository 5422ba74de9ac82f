/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kapfctl: what its files share, grouped by the file that defines it.
 */
#ifndef KAPFCTL_H
#define KAPFCTL_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "inspect.h"
#include "libkapf.h"

/* A seat-second in the kernel's unit of work. */
#define SEAT_SECOND 100000000

#define NSEC_PER_SEC 1000000000ULL

#define API_GROUP "flowcontrol.apiserver.k8s.io"

/* Exit status. */
enum {
	DONE = 0,
	REFUSED = 1,
	USAGE = 2,
	/* of diff, as of diff(1) */
	DIFFERENT = 1,
	TROUBLE = 2,
};

/* What GET_REQUESTS shows of a request; see @label of struct kapf_op. */
enum {
	LABEL_DISTINGUISHER,
	LABEL_USER,
	LABEL_VERB,
	LABEL_PATH,
	LABEL_NAMESPACE,
	LABEL_NAME,
	LABEL_API_VERSION,
	LABEL_RESOURCE,
	LABEL_SUBRESOURCE,
	NR_LABELS,
};

/**
 * struct command - a subcommand
 * @name: of it
 * @summary: what it does, in a line
 * @help: the text of --help, but for the common options
 * @brief: short options, but for the common ones; NULL: none
 * @options: options, but for the common ones, as of getopt_long(3); NULL: none
 * @formats: what -o takes, as in "json, yaml or name"; NULL: there is no -o
 * @words: what the first argument can be, one after the other; NULL: anything
 * @names: kind of the objects whose names are arguments; "" for the kind that is
 *	the first; NULL: none are
 * @main: do it; returns the exit status
 */
struct command {
	const char *name;
	const char *summary;
	const char *help;
	const char *brief;
	const struct option *options;
	const char *formats;
	const char *words;
	const char *names;
	int (*main)(int argc, char **argv);
};

/* apply.c, classify.c, delete.c, ..., of which apply.c has diff, too */
extern const struct command apply_command;
extern const struct command classify_command;
extern const struct command completion_command;
extern const struct command delete_command;
extern const struct command diff_command;
extern const struct command describe_command;
extern const struct command dump_command;
extern const struct command evict_command;
extern const struct command explain_command;
extern const struct command get_command;
extern const struct command lint_command;
extern const struct command maintain_command;
extern const struct command metrics_command;
extern const struct command mode_command;
extern const struct command odds_command;
extern const struct command replace_command;
extern const struct command report_command;
extern const struct command sessions_command;
extern const struct command status_command;
extern const struct command top_command;
extern const struct command tradeoff_command;
extern const struct command why_slow_command;

/* main.c */

/* Room for the options of a command, the common ones, and their end. */
#define MAX_OPTIONS 24

const struct command *command_at(size_t index);
void all_options(const struct command *command,
		 struct option options[MAX_OPTIONS]);
int next_option(const struct command *command, int argc, char **argv);
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
int usage_error(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
unsigned int number_option(const struct command *command, const char *name,
			   const char *value, unsigned int least,
			   unsigned int most);
void *need(void *memory);
extern const char *control_node;
extern const char *output_format;

/* What "seat" ends in when there are so many. */
static inline const char *plural(unsigned long long nr)
{
	return nr == 1 ? "" : "s";
}

/* kinds.c */

enum kind {
	LEVEL = 1 << 0,
	SCHEMA = 1 << 1,
};

/**
 * struct selected - an object that the command line or a manifest names
 * @kind: of the object
 * @name: of the object
 */
struct selected {
	enum kind kind;
	const char *name;
};

/**
 * struct selection - all objects that are named
 * @kinds: LEVEL, SCHEMA or both
 * @all: the objects
 * @nr: how many; 0: all objects of the kinds
 */
struct selection {
	unsigned int kinds;
	struct selected *all;
	size_t nr;
};

void select_object(struct selection *selection, unsigned int kinds,
		   const char *name);
int select_objects(const struct command *command, struct selection *selection,
		   char **args, int nr);
bool is_selected(const struct selection *selection, enum kind kind,
		 const char *name);
bool complain_of_missing(const struct selection *selection,
			 const struct kapf_configuration *config);
struct state;
bool complain_of_absent(const struct selection *selection,
			const struct state *state);
const char *kind_type(enum kind kind);

/* compare.c */

/* How an object has come to be what it is. */
enum change_kind {
	UNCHANGED,
	CREATED,
	CONFIGURED,
};

bool same_level_spec(const struct kapf_priority_level *a,
		     const struct kapf_priority_level *b);
bool same_schema_spec(const struct kapf_flow_schema *a,
		      const struct kapf_flow_schema *b);
enum change_kind level_change(const struct kapf_configuration *before,
			      const struct kapf_priority_level *level);
enum change_kind schema_change(const struct kapf_configuration *before,
			       const struct kapf_flow_schema *schema);
bool config_changed(const struct kapf_configuration *before,
		    const struct kapf_configuration *after);

/* change.c */

enum dry_run {
	NO_DRY_RUN,
	DRY_RUN_CLIENT,
	DRY_RUN_SERVER,
};

/**
 * struct change - a change of the configuration of an instance
 * @dry_run: write nothing, and say so
 * @spares_device: where there is none, a dry run of the client is compared with a
 *	new instance, which has only the mandatory objects
 * @offline: out: there was none
 * @edit: makes @after, which is as @before at first, what it is to be; returns
 *	0, or -1 after a complaint
 * @report: says what has become of @before
 * @data: for the two
 * @fd: the control node, meanwhile
 * @servers: that are attached, for @report
 */
struct change {
	enum dry_run dry_run;
	bool spares_device;
	bool offline;
	int (*edit)(struct change *change,
		    const struct kapf_configuration *before,
		    struct kapf_configuration *after);
	void (*report)(struct change *change,
		       const struct kapf_configuration *before,
		       const struct kapf_configuration *after);
	void *data;
	int fd;
	size_t servers;
};

enum dry_run dry_run_option(const struct command *command, const char *value);
int change_config(struct change *change);

/* report.c */
struct kapf_configuration *default_config(void);
const char *change_name(enum change_kind kind);
void report_object(const struct change *change, enum kind kind,
		   const char *name, const char *what);
void report_deleted(const struct change *change,
		    const struct kapf_configuration *before,
		    const struct kapf_configuration *after);
void report_seats(const struct change *change,
		  const struct kapf_configuration *before,
		  const struct kapf_configuration *after);
void warn_of_missing_levels(const struct change *change,
			    const struct kapf_configuration *after);
void warn_of_resets(const struct kapf_configuration *before,
		    const struct kapf_configuration *after);

/* difference.c */
struct json_object;
int print_difference(enum kind kind, const char *name, struct json_object *live,
		     struct json_object *merged);

/* How often limits are adjusted. */
static inline uint32_t period_ms(const struct kapf_configuration *config)
{
	return config->adjustment_period_ms ? config->adjustment_period_ms :
					      KAPF_DEFAULT_ADJUSTMENT_PERIOD_MS;
}

/* device.c */

/**
 * struct state - configuration and statistics of one moment
 * @config: the configuration
 * @stats: as GET_STATS answered
 * @levels: statistics of the levels, by name; also of those that drain
 * @schemas: statistics of the schemas
 */
struct state {
	struct kapf_configuration *config;
	struct kapf_get_stats stats;
	struct kapf_level_stats *levels;
	struct kapf_schema_stats *schemas;
};

/**
 * struct queues - configuration, statistics and queues of one generation
 * @state: the first two
 * @all: the queues, by name of their level
 * @nr: how many
 */
struct queues {
	struct state state;
	struct kapf_queue_info *all;
	size_t nr;
};

/**
 * struct request - a request in flight
 * @info: as GET_REQUESTS answered
 * @text: its label, and a NUL
 * @label: the strings of the label, by LABEL_*
 */
struct request {
	struct kapf_request_info info;
	char *text;
	const char *label[NR_LABELS];
};

bool control_is_missing(void);
int open_control(int flags);
int look(const struct command *command, int argc, char **argv,
	 int (*show)(int fd));
struct kapf_configuration *read_config(int fd);
const struct kapf_priority_level *
level_by_id(const struct kapf_configuration *config, uint32_t id);
const struct kapf_flow_schema *
schema_by_id(const struct kapf_configuration *config, uint32_t id);
int read_state(struct state *state, int fd);
void free_state(struct state *state);
const struct kapf_level_stats *level_stats(const struct state *state,
					   uint32_t id);
const struct kapf_schema_stats *schema_stats(const struct state *state,
					     uint32_t id);

/**
 * level_drains() - was a level deleted that has requests yet?
 * @stats: of the level
 */
static inline bool level_drains(const struct kapf_level_stats *stats)
{
	return stats->flags & KAPF_STATS_DRAINING;
}

bool schema_drains(const struct state *state,
		   const struct kapf_schema_stats *stats);
int read_requests(struct request **requests, size_t *nr, int fd);
void free_requests(struct request *requests, size_t nr);
int read_queues(struct queues *queues, int fd);
void free_queues(struct queues *queues);
int read_sessions(struct kapf_session_info **sessions, size_t *nr, int fd);
int read_histograms(struct kapf_histogram_info **histograms, size_t *nr, int fd);

/* grid.c */

/**
 * struct grid - a dump before it is printed
 * @columns: number of cells in a row
 * @cells: all cells, row by row
 * @nr: number of cells
 */
struct grid {
	size_t columns;
	char **cells;
	size_t nr;
};

void grid_cell(struct grid *grid, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void grid_cells(struct grid *grid, const char *const *cells, size_t nr);
void grid_text(struct grid *grid, const char *text);
void grid_time(struct grid *grid, uint64_t ns);
void grid_duration(struct grid *grid, uint64_t ns);
void grid_seat_seconds(struct grid *grid, uint64_t work);
void grid_print(struct grid *grid);

/* mode.c */
const char *mode_name(uint32_t mode);
const char *mode_note(uint32_t mode);

/* manifests.c */

/**
 * struct manifest - a file that was read
 * @file: its name
 * @text: what is in it
 * @len: bytes of that
 */
struct manifest {
	char *file;
	char *text;
	size_t len;
};

/**
 * struct manifests - all files that a command was given
 * @all: they
 * @nr: how many
 * @empty: a directory had none
 */
struct manifests {
	struct manifest *all;
	size_t nr;
	bool empty;
};

int read_manifests(struct manifests *manifests, const char *path);
int merge_manifests(const struct manifests *manifests,
		    struct kapf_configuration *config);
void free_manifests(struct manifests *manifests);
void select_manifests(struct selection *selection,
		      const struct kapf_configuration *config);
bool have_outdated(const struct kapf_configuration *before,
		   const struct kapf_configuration *after);

/* objects.c */

/* Room for a UID as text. */
#define UID_ROOM 37

void format_uid(char text[UID_ROOM], const uint8_t uid[KAPF_UID_BYTES]);
struct json_object *level_object(const struct kapf_priority_level *level);
struct json_object *schema_object(const struct kapf_flow_schema *schema);
struct json_object *list_of(struct json_object *items);

/* odds.c */
long double odds(unsigned int hand, unsigned int queues,
		 unsigned int elephants);

/* process.c */

/* Room for the command of a process, and for the name of a user. */
#define PROCESS_ROOM 64
#define USER_ROOM 64

void process_name(char name[PROCESS_ROOM], uint32_t pid);
void write_process(FILE *to, uint32_t pid);
void user_name(char name[USER_ROOM], uint32_t uid);

/* reading.c */

/**
 * struct reading - what an instance shows at one moment
 * @time: CLOCK_REALTIME when it began
 * @state: configuration and statistics
 * @requests: those in flight
 * @nr_requests: how many
 * @histograms: read after the rest
 * @nr_histograms: how many
 */
struct reading {
	uint64_t time;
	struct state state;
	struct request *requests;
	size_t nr_requests;
	struct kapf_histogram_info *histograms;
	size_t nr_histograms;
};

/**
 * struct pace - what happened in a level, per second
 * @arrivals: requests that came
 * @dispatched: requests that were seated
 * @queue_full: requests that were refused so
 * @concurrency_limit: requests that were refused so
 * @time_out: requests that were refused so
 * @refused: the sum of the last three
 * @cancelled: requests that left their queue, as their client went away
 */
struct pace {
	double arrivals;
	double dispatched;
	double queue_full;
	double concurrency_limit;
	double time_out;
	double refused;
	double cancelled;
};

uint64_t interval_option(const struct command *command, const char *value);
int take_reading(struct reading *reading, int fd);
void free_reading(struct reading *reading);
double seconds_between(const struct reading *first,
		       const struct reading *second);
void level_pace(struct pace *pace, const struct reading *first,
		const struct reading *second, uint32_t id);

/* sessions.c */
struct json_object *session_tree(const struct kapf_session_info *session);

/* inquiry.c */

/**
 * struct inquiry - a request that a command is asked about
 * @digest: the request and who makes it
 * @request: the request alone
 * @store: what is known of its resource
 */
struct inquiry {
	struct kapf_digest digest;
	const struct kapf_http_request *request;
	struct kapf_store store;
};

extern const struct option inquiry_options[];
#define INQUIRY_BRIEF "f:n:"

#define INQUIRY_SYNOPSIS \
"REQUEST:   --url URL [--method METHOD]\n" \
"           --verb VERB --resource RESOURCE[.GROUP][/SUBRESOURCE]\n" \
"               [--api-group GROUP] [--subresource NAME]\n" \
"               [-n|--namespace NAMESPACE] [--name NAME]\n" \
"           --verb METHOD --path PATH\n" \
"WHO:       --user USER [--group GROUP]... [--tenant NAME]\n" \
"           --as USER [--as-group GROUP]... [--tenant NAME]\n" \
"STORE:     [--objects N [--object-bytes N]] [--watchers N]\n"

#define INQUIRY_HELP \
"      --url URL        path and query as in the HTTP request, such as\n" \
"                       /api/v1/pods?limit=500\n" \
"      --method METHOD  of HTTP, in capitals; default: GET\n" \
"      --verb VERB      get, list, watch, create, update, patch, delete,\n" \
"                       deletecollection or proxy; for a path the HTTP method:\n" \
"                       get, head, post, put, patch, delete, options, connect or\n" \
"                       trace\n" \
"      --api-group GROUP\n" \
"                       of the resource, as in --resource deployments.apps;\n" \
"                       default: the core group\n" \
"      --user USER      who makes it.  A user in neither of the groups\n" \
"                       system:authenticated and system:unauthenticated is put\n" \
"                       into the former, as authenticators do; system:anonymous\n" \
"                       into the latter; a service account into the groups of\n" \
"                       service accounts, too\n" \
"      --as USER        as whom it is made, as of kubectl: a service account is in\n" \
"                       the groups of service accounts unless --as-group names\n" \
"                       others\n" \
"      --tenant NAME    of servers that attach for this tenant: the request is in\n" \
"                       the group kapf:tenant:NAME, and its flow is another one\n" \
"      --objects N      how many objects of the resource there are, by which a list\n" \
"                       costs more than a seat; default: the server does not know\n" \
"      --object-bytes N their average size; default: unknown, taken as 1500000\n" \
"      --watchers N     watches that a change is sent to; default: 0\n" \
"  -f, --filename PATH  ask these manifests and the mandatory objects rather than\n" \
"                       the device's configuration\n" \
"      --defaults       the same with the default objects of Kubernetes\n"

bool is_tenant(const char *text);
int ask(const struct command *command, int argc, char **argv,
	void (*answer)(const struct kapf_configuration *config,
		       const struct inquiry *inquiry));

/* classify.c */

/**
 * struct answer - what becomes of a request
 * @schema: that it matches
 * @level: of that
 * @distinguisher: of its flow
 * @hash: of its flow
 * @hand: queues that its flow may use, as many as the level says
 * @work: the seats that it takes
 * @max_seats: the most that a list takes
 * @is_long_running: it is not subject to admission
 */
struct answer {
	const struct kapf_flow_schema *schema;
	const struct kapf_priority_level *level;
	const char *distinguisher;
	uint64_t hash;
	uint32_t hand[KAPF_MAX_HAND_SIZE];
	struct kapf_work work;
	unsigned int max_seats;
	bool is_long_running;
};

#define ANSWER_KEYS \
"flow_schema, priority_level, flow_distinguisher, flow_hash,\n" \
"hand (a list of queues), queues, seats, final_seats, additional_latency_ns,\n" \
"max_list_seats and long_running (then it is not subject to admission)"

void answer_find(struct answer *answer, const struct kapf_configuration *config,
		 const struct inquiry *inquiry, kapf_match_fn *tell,
		 void *user);
void answer_print(const struct answer *answer);
struct json_object *answer_tree(const struct answer *answer);

/* source.c */

/**
 * struct source - which configuration a command is asked about
 * @manifests: of -f
 * @defaults: --defaults
 *
 * Without both it is that of the device.
 */
struct source {
	struct manifests manifests;
	bool defaults;
};

int source_option(struct source *source, int option, const char *value);
bool source_is_device(const struct source *source);
struct kapf_configuration *source_read(const struct source *source);

/* table.c */

/* What a table shows where there is nothing. */
#define NONE "<none>"

static inline const char *or_none(const char *text)
{
	return *text ? text : NONE;
}

struct libscols_table;
struct libscols_table *table_new(const char *const *columns);
void table_columns(struct libscols_table *table, const char *const *columns);
void table_row(struct libscols_table *table, ...);
bool table_print(struct libscols_table *table);

/* text.c */

/* Room for a point in time, and for a duration, as text. */
#define TIME_ROOM 64
#define DURATION_ROOM 64

/* Room for a period as text. */
#define PERIOD_ROOM 16

/* Room for a length of time as text. */
#define AGE_ROOM 32

size_t decode(const char *text, uint32_t *code);
char *make_valid(const char *text);
char *make_printable(const char *text, const char *escaped);
void print_printable(FILE *to, const char *text);
bool is_printable(uint32_t code);
void format_fraction(char *end, uint64_t part, int digits);
void format_period(char text[PERIOD_ROOM],
		   const struct kapf_configuration *config);
void format_time(char text[TIME_ROOM], uint64_t ns);
void format_age(char text[AGE_ROOM], uint64_t ns);
uint64_t time_now(clockid_t clock);
void format_duration(char text[DURATION_ROOM], uint64_t ns);
bool parse_duration(const char *text, uint64_t *ns);
void sleep_for(uint64_t ns);

/* tree.c */
struct json_object *tree_map(void);
struct json_object *tree_list(void);
void tree_add(struct json_object *map, const char *key,
	      struct json_object *value);
void tree_append(struct json_object *list, struct json_object *value);
struct json_object *tree_text(const char *text);
struct json_object *tree_number(uint64_t number);
struct json_object *tree_bool(bool truth);
struct json_object *tree_decimal(const char *digits);
struct json_object *tree_real(double number);
struct json_object *tree_seat_seconds(uint64_t work);
struct json_object *tree_time(uint64_t ns);
void tree_print(struct json_object *tree);

/* words.c */
char *in_words(struct json_object *value, size_t most);
void print_rules(struct json_object *rules);

/* yaml.c */
void yaml_write(struct json_object *tree, FILE *to);

#endif /* KAPFCTL_H */
