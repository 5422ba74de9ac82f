// SPDX-License-Identifier: GPL-2.0
/*
 * crowd PORT COUNT REQUEST: so many clients, each with a connection on which it
 * sends this request, where \n stands for the end of a line, and waits until stdin
 * ends.  Prints "here" when all have sent theirs.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void join(int port, const char *request)
{
	const struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		err(1, "a client");
	for (; *request; request += strcspn(request, "\n")) {
		if (*request == '\n') {
			request++;
			if (write(fd, "\r\n", 2) != 2)
				err(1, "an end of a line");
			if (!*request)
				break;
		}
		if (write(fd, request, strcspn(request, "\n")) < 0)
			err(1, "a line");
	}
}

int main(int argc, char **argv)
{
	struct rlimit files;
	int i, count;

	if (argc != 4) {
		fprintf(stderr, "usage: crowd PORT COUNT REQUEST\n");
		return 2;
	}
	count = atoi(argv[2]);
	files.rlim_cur = count + 16;
	files.rlim_max = count + 16;
	if (setrlimit(RLIMIT_NOFILE, &files))
		err(1, "files");
	for (i = 0; i < count; i++)
		join(atoi(argv[1]), argv[3]);
	puts("here");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
