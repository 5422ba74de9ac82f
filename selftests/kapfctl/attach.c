// SPDX-License-Identifier: GPL-2.0
/*
 * attach SERVER TENANT: a server without requests that is attached until its
 * stdin ends.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/kapf.h>

int main(int argc, char **argv)
{
	struct kapf_attach attach = { .size = sizeof(attach), .slots = 1 };
	int fd;

	if (argc != 3 || strlen(argv[1]) >= sizeof(attach.server) ||
	    strlen(argv[2]) >= sizeof(attach.tenant)) {
		fprintf(stderr, "usage: attach SERVER TENANT\n");
		return 2;
	}
	strcpy(attach.server, argv[1]);
	strcpy(attach.tenant, argv[2]);
	fd = open("/dev/kapf0", O_RDWR);
	if (fd < 0 || ioctl(fd, KAPF_ATTACH, &attach)) {
		perror("attach");
		return 1;
	}
	while (getchar() != EOF)
		;
	return 0;
}
