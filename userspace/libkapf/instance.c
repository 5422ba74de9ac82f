// SPDX-License-Identifier: LGPL-2.1
/*
 * The configuration of a running instance: reading and replacing it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "internal.h"

#define FIRST_ROOM	(64 * 1024)

/* How often an image may have grown between two calls. */
#define MAX_TRIES	16

static int read_image(int fd, struct kapf_get_config *get, void **image)
{
	uint32_t room = FIRST_ROOM;

	for (int i = 0; i < MAX_TRIES && room <= KAPF_MAX_IMAGE_BYTES; i++) {
		void *grown = realloc(*image, room);

		if (!grown)
			return -ENOMEM;
		*image = grown;
		*get = (struct kapf_get_config) {
			.size = sizeof(*get),
			.image_len = room,
			.image = (uintptr_t)grown,
		};
		if (!ioctl(fd, KAPF_GET_CONFIG, get))
			return get->image_len <= room ? 0 : -EPROTO;
		if (errno != ERANGE)
			return -errno;
		room = get->image_len;
	}
	return -EPROTO;
}

int kapf_config_read(struct kapf_configuration **config, int fd,
		     struct kapf_error *err)
{
	struct kapf_get_config get = {};
	void *image = NULL;
	int ret = read_image(fd, &get, &image);

	if (ret)
		kapf_error_set(err, "reading the configuration: %s",
			       strerror(-ret));
	else
		ret = kapf_image_decode(image, get.image_len, config, err);
	if (!ret)
		(*config)->generation = get.generation;
	free(image);
	return ret;
}

static void describe(const struct kapf_configuration *config, int error,
		     const struct kapf_set_config *set, struct kapf_error *err)
{
	static const char what[] = "the configuration is not replaced";

	switch (error) {
	case EINVAL:
	case ENOSPC:
		kapf_refusal_describe(config, &set->error, err);
		break;
	case ESTALE:
		kapf_error_set(err, "%s: generation %llu has passed: read, change and try again",
			       what, (unsigned long long)config->generation);
		break;
	case EPERM:
		kapf_error_set(err, "%s: the control node is not open for writing",
			       what);
		break;
	default:
		kapf_error_set(err, "%s: %s", what, strerror(error));
	}
}

int kapf_config_write(struct kapf_configuration *config, int fd,
		      struct kapf_error *err)
{
	struct kapf_set_config set = {
		.size = sizeof(set),
		.generation = config->generation,
	};
	void *image;
	size_t len;
	int ret = kapf_image_encode(config, &image, &len, err);

	if (ret)
		return ret;
	set.image_len = len;
	set.image = (uintptr_t)image;
	if (ioctl(fd, KAPF_SET_CONFIG, &set)) {
		ret = -errno;
		describe(config, -ret, &set, err);
	} else {
		config->generation = set.generation;
	}
	free(image);
	return ret;
}
