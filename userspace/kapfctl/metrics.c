// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl metrics: what monitoring asks an instance, in the words of
 * kube-apiserver.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "metrics.h"

static int print_metrics(void)
{
	struct gathering gathering;
	int ret = REFUSED, fd;

	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	if (!gather(&gathering, fd)) {
		write_metrics(stdout, &gathering);
		ret = DONE;
	}
	free_gathering(&gathering);
	close(fd);
	return ret;
}

static const struct option metrics_options[] = {
	{ "listen", required_argument, NULL, 'l' },
	{ NULL, 0, NULL, 0 }
};

static int metrics_main(int argc, char **argv)
{
	const char *address = NULL;
	int fd, listener;

	while (next_option(&metrics_command, argc, argv) != -1)
		address = optarg;
	if (optind < argc)
		return usage_error(&metrics_command, "\"%s\" is too much",
				   argv[optind]);
	if (!address)
		return print_metrics();
	listener = listen_at(&metrics_command, address);
	if (listener < 0)
		return REFUSED;
	/* Better now than when somebody asks. */
	fd = open_control(O_RDONLY);
	if (fd < 0) {
		close(listener);
		return REFUSED;
	}
	close(fd);
	return serve_metrics(listener);
}

const struct command metrics_command = {
	.name = "metrics",
	.summary = "print metrics, or serve them to Prometheus",
	.help =
"usage: kapfctl metrics [--listen ADDRESS]\n"
"\n"
"Prints the metrics of the instance in Prometheus' text format: those of a\n"
"kube-apiserver that begin with apiserver_flowcontrol_, with the same labels and\n"
"buckets, and some that begin with kapf_.  They are of all servers together, so\n"
"one scrape of them is enough.  Names of users are in none.\n"
"\n"
"      --listen ADDRESS  serve them at http://ADDRESS/metrics, until SIGTERM or\n"
"                        SIGINT: HOST:PORT, [HOST]:PORT or :PORT, which is all\n"
"                        addresses of this machine, as in localhost:9101; port 0:\n"
"                        one that is free\n",
	.options = metrics_options,
	.main = metrics_main,
};
