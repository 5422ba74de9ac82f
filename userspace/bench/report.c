// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-bench-report: makes a table, bench.json and the data of plots of what the
 * benchmarks have printed.  That a goal is missed does not make it fail: this is a
 * measurement, no test.
 */
#include <err.h>
#include <getopt.h>
#include <json-c/json.h>
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots.h"
#include "results.h"

static const char *const relations[] = { "", "<= ", ">= " };
static const char *const outcomes[] = {
	[NOT_MEASURED] = "not measured",
	[NO_JUDGEMENT] = "",
	[NO_CASE] = "does not apply",
	[MET] = "met",
	[MISSED] = "MISSED",
};

static void *need(void *made)
{
	if (!made)
		err(2, NULL);
	return made;
}

static void format(char *cell, size_t size, double value)
{
	snprintf(cell, size, "%.*f",
		 fabs(value) >= 1000 ? 0 : fabs(value) >= 100 ? 1 : 3, value);
}

static void set(struct libscols_line *line, size_t column, const char *text)
{
	if (scols_line_set_data(line, column, text))
		err(2, NULL);
}

static void fill_line(struct libscols_line *line, const struct result *result)
{
	const struct estimate *estimate = &result->estimate;
	char value[32] = "-", low[32], high[32], limit[32], text[128] = "";

	set(line, 0, result->key);
	if (result->measured)
		format(value, sizeof(value), estimate->value);
	set(line, 1, value);
	set(line, 2, result->unit);
	if (result->measured && !isnan(estimate->low)) {
		format(low, sizeof(low), estimate->low);
		format(high, sizeof(high), estimate->high);
		snprintf(text, sizeof(text), "%s .. %s", low, high);
	}
	set(line, 3, text);
	*text = '\0';
	if (result->relation) {
		format(limit, sizeof(limit), result->limit);
		snprintf(text, sizeof(text), "%s%s",
			 relations[result->relation], result->text);
		set(line, 4, text);
		if (result->text[strspn(result->text, "0123456789.")])
			set(line, 5, isnan(result->limit) ? "-" : limit);
	}
	snprintf(text, sizeof(text), "%s%s", outcomes[result->outcome],
		 result->close ? "?" : "");
	set(line, 6, text);
}

static void print_table(const struct results *results)
{
	static const char *const columns[] = {
		"WHAT", "MEDIAN", "UNIT", "95 % INTERVAL", "GOAL", "THAT IS", "RESULT",
	};
	struct libscols_table *table = need(scols_new_table());
	unsigned int count[MISSED + 1] = {};
	size_t i;

	scols_table_set_column_separator(table, "  ");
	for (i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		need(scols_table_new_column(table, columns[i], 0,
					    i == 1 || i == 5 ?
					    SCOLS_FL_RIGHT : 0));
	for (i = 0; i < results->nr; i++) {
		const struct result *result = &results->all[i];

		if (result->raw)
			continue;
		fill_line(need(scols_table_new_line(table, NULL)), result);
		if (result->relation)
			count[result->outcome]++;
	}
	scols_print_table(table);
	scols_unref_table(table);
	printf("\ngoals: %u met, %u missed, %u not measured; ?: the goal is within the interval\n",
	       count[MET], count[MISSED], count[NOT_MEASURED]);
}

static struct json_object *number(double value)
{
	char text[32];

	/* JSON has no NAN.  More digits than these were not measured. */
	if (isnan(value))
		return NULL;
	snprintf(text, sizeof(text), "%.6g", value);
	return need(json_object_new_double_s(value, text));
}

static void put(struct json_object *object, const char *key,
		struct json_object *value)
{
	if (json_object_object_add(object, key, value))
		err(2, NULL);
}

static struct json_object *result_json(const struct result *result)
{
	struct json_object *object = need(json_object_new_object());
	const struct estimate *estimate = &result->estimate;

	put(object, "value", number(result->measured ? estimate->value : NAN));
	put(object, "low", number(result->measured ? estimate->low : NAN));
	put(object, "high", number(result->measured ? estimate->high : NAN));
	put(object, "unit", need(json_object_new_string(result->unit)));
	put(object, "samples", json_object_new_int64(estimate->nr));
	if (!result->relation)
		return object;
	put(object, "goal",
	    json_object_new_string(result->relation == AT_MOST ? "<=" :
								 ">="));
	put(object, "limit", number(result->limit));
	put(object, "met", result->outcome == NOT_MEASURED ? NULL :
			   json_object_new_boolean(result->outcome == MET));
	put(object, "close", json_object_new_boolean(result->close));
	return object;
}

static void write_json(const char *path, const struct results *results,
		       struct json_object *machine)
{
	struct json_object *all = need(json_object_new_object());
	struct json_object *found = need(json_object_new_object());
	size_t i;

	for (i = 0; i < results->nr; i++)
		put(found, results->all[i].key,
		    result_json(&results->all[i]));
	put(all, "machine", machine);
	put(all, "results", found);
	if (json_object_to_file_ext(path, all, JSON_C_TO_STRING_PRETTY |
				    JSON_C_TO_STRING_NOSLASHESCAPE) < 0)
		err(2, "%s", path);
	json_object_put(all);
}

static void add_fact(struct json_object *machine, char *fact)
{
	char *value = strchr(fact, '=');

	if (!value)
		errx(2, "\"%s\": a fact is NAME=VALUE", fact);
	*value++ = '\0';
	put(machine, fact, need(json_object_new_string(value)));
}

static void print_help(FILE *to)
{
	fputs("usage: kapf-bench-report [OPTION]... FILE...\n"
	      "\n"
	      "A table of what the benchmarks have printed into FILEs: medians, the\n"
	      "intervals that have the true ones in 95 of 100 cases, and the goals.\n"
	      "\n"
	      "  --json FILE        all of it, also what is too much for a table\n"
	      "  --fact NAME=VALUE  goes there, of the machine\n"
	      "  --plots DIR        what gnuplot is to make pictures of, DIR/*.dat\n"
	      "  --help\n", to);
}

static void read_samples(struct samples *samples, const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		err(2, "%s", path);
	if (!samples_read(samples, file, path))
		exit(2);
	fclose(file);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", required_argument, NULL, 'j' },
		{ "fact", required_argument, NULL, 'f' },
		{ "plots", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	struct json_object *machine = need(json_object_new_object());
	const char *json = NULL, *plots = NULL;
	struct samples samples = {};
	struct results results = {};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'h') {
			print_help(stdout);
			return 0;
		} else if (option == 'j') {
			json = optarg;
		} else if (option == 'f') {
			add_fact(machine, optarg);
		} else if (option == 'p') {
			plots = optarg;
		} else {
			print_help(stderr);
			return 2;
		}
	}
	if (optind == argc)
		errx(2, "no file; --help says how");
	for (; optind < argc; optind++)
		read_samples(&samples, argv[optind]);

	results_find(&results, &samples);
	print_table(&results);
	if (json)
		write_json(json, &results, machine);
	else
		json_object_put(machine);
	if (plots)
		plots_write(plots, &samples, &results);
	free(results.all);
	samples_free(&samples);
	return 0;
}
