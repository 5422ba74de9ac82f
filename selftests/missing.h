/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page of memory that is not there, so that a call that touches it sleeps until
 * a test lets it go on.
 */
#ifndef KAPF_TEST_MISSING_H
#define KAPF_TEST_MISSING_H

#include <linux/userfaultfd.h>
#include <sys/syscall.h>

#include "kapf_test.h"

#define PAGE 4096

/* @faults: out: file that tells of a touch; closed, it lets go on who waits */
static inline void *missing_page(int *faults)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register missing = {
		.range.len = PAGE, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		die("mmap");
	*faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	missing.range.start = (uintptr_t)page;
	if (*faults < 0 || ioctl(*faults, UFFDIO_API, &api) ||
	    ioctl(*faults, UFFDIO_REGISTER, &missing))
		die("userfaultfd");
	return page;
}

/* Wait, up to 10 s, until somebody touches it. */
static inline bool page_touched(int faults)
{
	struct pollfd poller = { .fd = faults, .events = POLLIN };
	struct uffd_msg message;

	return poll(&poller, 1, 10000) == 1 &&
	       read(faults, &message, sizeof(message)) == sizeof(message);
}

#endif /* KAPF_TEST_MISSING_H */
