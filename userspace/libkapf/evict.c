// SPDX-License-Identifier: LGPL-2.1
/*
 * Ending other servers' sessions.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "internal.h"

static const char *describe(int error)
{
	switch (error) {
	case ENOENT:
		return "there is none of this number";
	case EPERM:
		return "the control node is not open for writing";
	case ENOTTY:
		return "not a control node, or of an older module";
	default:
		return strerror(error);
	}
}

int kapf_evict(int fd, uint64_t session, struct kapf_evict *evicted,
	       struct kapf_error *err)
{
	struct kapf_evict evict = {
		.size = sizeof(evict),
		.session = session,
	};
	int error;

	if (!ioctl(fd, KAPF_EVICT, &evict)) {
		if (evicted)
			*evicted = evict;
		return 0;
	}
	error = errno;
	kapf_error_set(err, "session %llu is not evicted: %s",
		       (unsigned long long)session, describe(error));
	return -error;
}
