// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-demo: an incident and its cure, measured.
 *
 * Three API servers share one budget of seats, and each has a hard memory
 * limit. 250 agents restart and LIST all at once, while kubelets and
 * controllers go on with their small requests.  Each run starts fresh servers
 * in fresh control groups, lets the clients loose on them, and notes what the
 * clients report and what the control groups have counted.  The runs differ in
 * nothing but their row in the table below.
 *
 * The kernel module has to be loaded and configured.  The results are written
 * as JSON, an object for each of the runs idle, without and with.
 */
#include <err.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "array_size.h"
#include "cgroup.h"
#include "client.h"
#include "help.h"
#include "timing.h"

#define SERVERS		3
#define MEMORY_MAX	(64 << 20) /* room for about fifty LISTs at once */
#define AGENTS		"250"
#define LEAST_RUN_NS	(10 * SEC_NS)
#define START_NS	(5 * SEC_NS)

/**
 * struct run - one run
 * @name: in the results
 * @what: happens in it, for people
 * @agents: how many restart
 * @admission: the servers ask kapf
 * @limited: the servers have no more than MEMORY_MAX
 */
struct run {
	const char *name;
	const char *what;
	const char *agents;
	bool admission;
	bool limited;
};

static const struct run idle = {
	.name = "idle",
	.what = "heartbeats and leases alone, with admission",
	.agents = "0",
	.admission = true,
	.limited = true,
};

static const struct run without = {
	.name = "without",
	.what = AGENTS " agents restart, without admission",
	.agents = AGENTS,
	.limited = true,
};

static const struct run with = {
	.name = "with",
	.what = AGENTS " agents restart, with admission",
	.agents = AGENTS,
	.admission = true,
	.limited = true,
};

static const struct run without_unlimited = {
	.name = "without-unlimited",
	.what = "the memory needed without admission",
	.agents = AGENTS,
};

static const struct run with_unlimited = {
	.name = "with-unlimited",
	.what = "the memory needed with admission",
	.agents = AGENTS,
	.admission = true,
};

struct server {
	pid_t pid;
	char name[16];
	char socket[64];
	char cgroup[64];
};

static void start_child(char *const *argv, const char *cgroup, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cgroup)
		cgroup_enter(cgroup);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	execvp(argv[0], argv);
	err(1, "%s", argv[0]);
}

/* Starts a program, in a control group if one is given. */
static pid_t start(char *const *argv, const char *cgroup, int out)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid)
		start_child(argv, cgroup, out);
	return pid;
}

/* The same for one whose output is to be read, from the file returned. */
static int start_reporter(char *const *argv, pid_t *pid)
{
	int out[2];

	if (pipe2(out, O_CLOEXEC))
		err(1, "pipe");
	*pid = start(argv, NULL, out[1]);
	close(out[1]);
	return out[0];
}

/* Adds to result what such a program reports. */
static void collect(struct json_object *result, int out, pid_t pid,
		    const char *name)
{
	struct json_object *report = json_object_from_fd(out);
	int status;

	close(out);
	waitpid(pid, &status, 0);
	if (status || !report)
		errx(1, "%s failed: wait status %#x", name, status);
	json_object_object_foreach(report, key, value)
		json_object_object_add(result, key, json_object_get(value));
	json_object_put(report);
}

static void start_server(struct server *server, const struct run *run, int i)
{
	char *const with_admission[] = {
		"kapf-demo-server", "--admission", server->name,
		server->socket, NULL,
	};
	char *const without_admission[] = {
		"kapf-demo-server", server->name, server->socket, NULL,
	};

	snprintf(server->name, sizeof(server->name), "apiserver-%d", i);
	snprintf(server->socket, sizeof(server->socket), "/tmp/%s",
		 server->name);
	snprintf(server->cgroup, sizeof(server->cgroup),
		 "/sys/fs/cgroup/%s", server->name);
	cgroup_make(server->cgroup,
		    run->limited ? MEMORY_MAX : CGROUP_UNLIMITED);
	server->pid = start(run->admission ? with_admission : without_admission,
			    server->cgroup, -1);
}

static void wait_for_server(struct server *server)
{
	const uint64_t end = now_ns() + START_NS;
	char *path = server->socket;
	struct client client;

	client_init(&client, &path, 1, 0, START_NS);
	for (client_connect(&client); client.fd < 0; client_connect(&client)) {
		if (waitpid(server->pid, NULL, WNOHANG) || now_ns() > end)
			errx(1, "%s does not start", server->name);
		sleep_until_ns(now_ns() + 10 * MSEC_NS);
	}
	client_close(&client);
}

/* Ends the servers that still live and adds what became of all of them. */
static void stop_servers(struct server *servers, struct json_object *result)
{
	struct json_object *peaks = json_object_new_array();
	uint64_t worst = 0;
	int i, status, killed = 0;

	for (i = 0; i < SERVERS; i++) {
		uint64_t peak = cgroup_memory_peak(servers[i].cgroup);
		bool oom = cgroup_oom_kills(servers[i].cgroup);

		kill(servers[i].pid, SIGTERM);
		waitpid(servers[i].pid, &status, 0);
		if (!oom && status != SIGTERM)
			errx(1, "%s ended by itself, with wait status %#x",
			     servers[i].name, status);
		killed += oom;
		cgroup_remove(servers[i].cgroup);
		unlink(servers[i].socket);
		worst = peak > worst ? peak : worst;
		json_object_array_add(peaks, json_object_new_int64(peak));
	}
	json_object_object_add(result, "servers_killed",
			       json_object_new_int(killed));
	json_object_object_add(result, "peak_memory_bytes",
			       json_object_new_int64(worst));
	json_object_object_add(result, "server_peak_memory_bytes", peaks);
	json_object_object_add(result, "memory_max_bytes",
			       json_object_new_int64(MEMORY_MAX));
}

static void run_clients(struct server *servers, const struct run *run,
			struct json_object *result)
{
	char *const agents[] = {
		"kapf-demo-agents", (char *)run->agents, servers[0].socket,
		servers[1].socket, servers[2].socket, NULL,
	};
	char *const heartbeats[] = {
		"kapf-demo-heartbeats", servers[0].socket, servers[1].socket,
		servers[2].socket, NULL,
	};
	const uint64_t begin = now_ns();
	pid_t agents_pid, heartbeats_pid;
	int agents_out, heartbeats_out;

	heartbeats_out = start_reporter(heartbeats, &heartbeats_pid);
	agents_out = start_reporter(agents, &agents_pid);
	collect(result, agents_out, agents_pid, agents[0]);
	sleep_until_ns(begin + LEAST_RUN_NS);
	kill(heartbeats_pid, SIGTERM);
	collect(result, heartbeats_out, heartbeats_pid, heartbeats[0]);
	json_object_object_add(result, "seconds",
			       json_object_new_int((now_ns() - begin) /
						   SEC_NS));
}

static int64_t number(struct json_object *result, const char *key)
{
	return json_object_get_int64(json_object_object_get(result, key));
}

static struct json_object *measure(const struct run *run)
{
	struct json_object *result = json_object_new_object();
	struct server servers[SERVERS];
	int i;

	printf("demo: %s: %s ...\n", run->name, run->what);
	for (i = 0; i < SERVERS; i++)
		start_server(&servers[i], run, i);
	for (i = 0; i < SERVERS; i++)
		wait_for_server(&servers[i]);
	run_clients(servers, run, result);
	stop_servers(servers, result);
	printf("demo: %s: %d s, %d servers killed, %d MiB at most, %d LISTs served, %d lost\n",
	       run->name, (int)number(result, "seconds"),
	       (int)number(result, "servers_killed"),
	       (int)(number(result, "peak_memory_bytes") >> 20),
	       (int)number(result, "list_served"),
	       (int)number(result, "list_lost"));
	return result;
}

/* Adds a run, and what becomes of it when nothing limits its servers. */
static void add_run(struct json_object *all, const struct run *run,
		    const struct run *unlimited)
{
	static const struct {
		const char *key, *as;
	} figures[] = {
		{ "peak_memory_bytes", "peak_memory_unlimited_bytes" },
		{ "list_p50_ms", "list_p50_unlimited_ms" },
		{ "list_p99_ms", "list_p99_unlimited_ms" },
	};
	struct json_object *result = measure(run);
	struct json_object *other, *figure;
	size_t i;

	json_object_object_add(all, run->name, result);
	if (!unlimited)
		return;
	other = measure(unlimited);
	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		figure = json_object_object_get(other, figures[i].key);
		json_object_object_add(result, figures[i].as,
				       json_object_get(figure));
	}
	json_object_put(other);
}

static const char help[] =
"usage: kapf-demo RESULTS.json\n"
"\n"
"Measures the incident and its cure, as \"make demo\" does in a virtual machine,\n"
"and writes the figures to a file.\n";

int main(int argc, char **argv)
{
	struct json_object *all = json_object_new_object();

	help_if_asked(argc, argv, help);
	if (argc != 2 || argv[1][0] == '-') {
		fputs(help, stderr);
		return 2;
	}
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK))
		errx(1, "there are no control groups (version 2) at /sys/fs/cgroup");
	setlinebuf(stdout);
	add_run(all, &idle, NULL);
	add_run(all, &without, &without_unlimited);
	add_run(all, &with, &with_unlimited);
	if (json_object_to_file_ext(argv[1], all, JSON_C_TO_STRING_PRETTY |
				    JSON_C_TO_STRING_SPACED))
		errx(1, "%s: %s", argv[1], json_util_get_last_err());
	json_object_put(all);
	return 0;
}
