// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-apiserver: an HTTP server whose every request kapf admits.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static const char help[] =
"usage: kapf-apiserver [OPTION]...\n"
"\n"
"Serves HTTP as a kube-apiserver does, each request when kapf admits it. Answers\n"
"/version, /livez, /healthz and /readyz; and of flowcontrol.apiserver.k8s.io/v1,\n"
"discovery, and get and list of its objects, without selectors and watch.\n"
"\n"
"  --listen HOST:PORT    where to serve; default localhost:8080\n"
"  --name NAME           of this server, as kapfctl status shows it; default\n"
"                        kapf-apiserver\n"
"  --tenant NAME         control plane that it serves; default: none\n"
"  --device NODE         of kapf; default /dev/kapf0\n"
"  --slots N             most requests in flight; default 8192, of some 650 bytes\n"
"                        of kernel memory each\n"
"  --token-file FILE     who is known by Authorization: Bearer TOKEN; lines of\n"
"                        token,user,uid[,\"group,group\"]\n"
"  --no-anonymous        send away who shows no token, rather than take them for\n"
"                        system:anonymous\n"
"  --access-log FILE     append a line of JSON for each request; - is stdout\n"
"  --help                print this\n"
"\n"
"On SIGTERM it takes no more connections, and ends when all requests have been\n"
"answered; on the next, at once.  Exit status: 0; 1 when it cannot serve, or its\n"
"session with kapf ends; 2 when wrongly typed.\n";

enum {
	LISTEN,
	NAME,
	TENANT,
	DEVICE,
	SLOTS,
	TOKEN_FILE,
	NO_ANONYMOUS,
	ACCESS_LOG,
	HELP,
};

static const struct option options[] = {
	{ "listen", required_argument, NULL, LISTEN },
	{ "name", required_argument, NULL, NAME },
	{ "tenant", required_argument, NULL, TENANT },
	{ "device", required_argument, NULL, DEVICE },
	{ "slots", required_argument, NULL, SLOTS },
	{ "token-file", required_argument, NULL, TOKEN_FILE },
	{ "no-anonymous", no_argument, NULL, NO_ANONYMOUS },
	{ "access-log", required_argument, NULL, ACCESS_LOG },
	{ "help", no_argument, NULL, HELP },
	{},
};

/**
 * struct settings - what the command line says
 * @token_file: or NULL
 * @access_log: or NULL
 * @anonymous: who shows no token is let in
 */
struct settings {
	const char *token_file;
	const char *access_log;
	bool anonymous;
};

static void refuse(const char *option, const char *value, const char *must)
{
	fprintf(stderr, "kapf-apiserver: --%s \"%s\" is not accepted: must be %s\n",
		option, value, must);
	exit(2);
}

static void set_address(struct server *server, char *text)
{
	char *colon = strrchr(text, ':');
	unsigned long port;
	char *end;

	if (!colon)
		refuse("listen", text, "HOST:PORT, [HOST]:PORT or :PORT");
	port = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end || port > 65535)
		refuse("listen", text, "HOST:PORT with a port up to 65535");
	*colon = '\0';
	server->host = text;
	server->port = colon + 1;
	if (*text == '[' && colon[-1] == ']') {
		server->host++;
		colon[-1] = '\0';
	}
}

static unsigned int read_slots(const char *text)
{
	char *end;
	unsigned long slots = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !slots || slots > 65536)
		refuse("slots", text, "1 to 65536");
	return slots;
}

static void take_option(struct server *server, struct settings *settings,
			int option)
{
	switch (option) {
	case LISTEN:
		set_address(server, optarg);
		break;
	case NAME:
		server->kapf.name = optarg;
		break;
	case TENANT:
		server->kapf.tenant = optarg;
		break;
	case DEVICE:
		server->kapf.node = optarg;
		break;
	case SLOTS:
		server->kapf.slots = read_slots(optarg);
		break;
	case TOKEN_FILE:
		settings->token_file = optarg;
		break;
	case NO_ANONYMOUS:
		settings->anonymous = false;
		break;
	case ACCESS_LOG:
		settings->access_log = optarg;
		break;
	case HELP:
		fputs(help, stdout);
		exit(0);
	default:
		exit(2);
	}
}

static bool open_log(struct server *server, const char *file)
{
	if (!file)
		return true;
	server->log = strcmp(file, "-") ? fopen(file, "ae") : stdout;
	if (!server->log)
		fprintf(stderr, "kapf-apiserver: %s: %s\n", file,
			strerror(errno));
	return server->log;
}

int main(int argc, char **argv)
{
	struct settings settings = { .anonymous = true };
	struct server server = {
		.host = "localhost",
		.port = "8080",
		.kapf = { .name = "kapf-apiserver", .slots = 8192 },
	};
	int option, ret;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		take_option(&server, &settings, option);
	if (optind < argc) {
		fprintf(stderr, "kapf-apiserver: what is %s? --help lists what there is\n",
			argv[optind]);
		return 2;
	}
	if (!identities_read(&server.identities, settings.token_file,
			     settings.anonymous))
		return 1;
	ret = open_log(&server, settings.access_log) ? server_run(&server) : 1;
	identities_free(server.identities);
	return ret;
}
