/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file on its way between two processes, which is open, and nobody's.
 */
#ifndef KAPF_TEST_PASSING_H
#define KAPF_TEST_PASSING_H

#include <sys/socket.h>

#include "kapf_test.h"

static inline void send_file(int sock, int fd)
{
	char room[CMSG_SPACE(sizeof(fd))] = "";
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = room, .msg_controllen = sizeof(room),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	if (sendmsg(sock, &msg, 0) != 1)
		die("sendmsg");
}

static inline int receive_file(int sock)
{
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = room, .msg_controllen = sizeof(room),
	};
	int fd;

	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

#endif /* KAPF_TEST_PASSING_H */
