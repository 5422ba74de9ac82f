/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPFCTL_METRICS_H
#define KAPFCTL_METRICS_H

#include "kapfctl.h"

/* What kube-apiserver's metrics of the same meaning begin with, and our own. */
#define APF "apiserver_flowcontrol_"
#define OWN "kapf_"

/**
 * struct schema_series - what the labels priority_level and flow_schema name
 * @level: name of the level
 * @schema: name of the schema
 * @type: of the level
 * @counts: what counts; of several schemas of the name that which is configured
 * @present: what there is at present, of all of them
 */
struct schema_series {
	const char *level;
	const char *schema;
	enum kapf_level_type type;
	const struct kapf_schema_stats *counts;
	struct kapf_schema_stats present;
};

/**
 * struct histogram_series - a histogram, and its labels
 * @level: name of the level; "": it is of the instance
 * @schema: name of the schema; "": it is of the level
 * @info: of several of these labels that of the schema which is configured
 */
struct histogram_series {
	const char *level;
	const char *schema;
	const struct kapf_histogram_info *info;
};

/**
 * struct server_series - the sessions of one server name and tenant
 * @sum: of them; its @slots are those of all
 * @nr: how many
 */
struct server_series {
	struct kapf_session_info sum;
	unsigned int nr;
};

/**
 * struct gathering - all that metrics are made of
 * @info: of the instance
 * @state: configuration and statistics
 * @queues: of all levels
 * @histograms: as the kernel gave them
 * @schemas: by level, then by schema
 * @nr_schemas: how many
 * @series: those that have seen anything, by kind, by level, then by schema
 * @nr_series: how many
 * @servers: by name, then by tenant
 * @nr_servers: how many
 */
struct gathering {
	struct kapf_info info;
	struct state state;
	struct queues queues;
	struct kapf_histogram_info *histograms;
	struct schema_series *schemas;
	size_t nr_schemas;
	struct histogram_series *series;
	size_t nr_series;
	struct server_series *servers;
	size_t nr_servers;
};

/* gather.c */
int gather(struct gathering *gathering, int fd);
void free_gathering(struct gathering *gathering);

/* families.c */
void write_family(FILE *to, const char *prefix, const char *name,
		  const char *type, const char *help);
void write_metrics(FILE *to, const struct gathering *gathering);

/* histograms.c */
void write_histograms(FILE *to, const struct gathering *gathering);

/* exporter.c */
int serve_metrics(int listener);
int listen_at(const struct command *command, const char *address);

#endif /* KAPFCTL_METRICS_H */
