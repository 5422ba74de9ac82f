// SPDX-License-Identifier: GPL-2.0
/*
 * What answering a request costs a server of the demo.
 *
 * A LIST is what brings an API server down: it fetches every object of the
 * resource, decodes all of them, and holds them until the last has been encoded
 * into the answer, which goes out no faster than client and network take it.
 * Here that is 300 objects of 4 KiB, so 1.2 MiB for some 0.6 s.  A write touches
 * one object and waits for the store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "objects.h"
#include "timing.h"
#include "wire.h"

#define LIST_OBJECTS	300
#define LIST_STEPS	6	/* the answer goes out in so many chunks */
#define LIST_STEP_NS	(100 * MSEC_NS) /* network and client, per chunk */
#define WRITE_NS	(2 * MSEC_NS) /* until the store has it on disk */

/* An object as it is decoded: much larger than its encoding. */
struct object {
	char name[64];
	char fields[256];
	char pointers[4096 - 256 - 64];
};

static struct object *fetch_objects(void)
{
	struct object *objects = malloc(LIST_OBJECTS * sizeof(*objects));
	int i;

	for (i = 0; objects && i < LIST_OBJECTS; i++) {
		snprintf(objects[i].name, sizeof(objects[i].name),
			 "object-%05d", i);
		memset(objects[i].fields, 'a' + i % 26,
		       sizeof(objects[i].fields) - 1);
		objects[i].fields[sizeof(objects[i].fields) - 1] = '\0';
	}
	return objects;
}

static int send_objects(int fd, const struct object *objects, int nr)
{
	char text[nr * 384];
	size_t len = 0;
	int i;

	for (i = 0; i < nr; i++)
		len += snprintf(text + len, sizeof(text) - len,
				"{\"name\":\"%s\",\"fields\":\"%s\"}\n",
				objects[i].name, objects[i].fields);
	return wire_send_chunk(fd, text, len);
}

int objects_list(int fd)
{
	const struct wire_status_line ok = { .status = WIRE_OK };
	const int step = LIST_OBJECTS / LIST_STEPS;
	struct object *objects = fetch_objects();
	int ret = -1;
	int i;

	if (!objects || wire_send_status(fd, &ok))
		goto out;
	for (i = 0; i < LIST_OBJECTS; i += step) {
		if (send_objects(fd, objects + i, step))
			goto out;
		sleep_until_ns(now_ns() + LIST_STEP_NS);
	}
	ret = wire_send_end(fd);
out:
	free(objects);
	return ret;
}

int objects_write(int fd)
{
	const struct wire_status_line ok = { .status = WIRE_OK };

	sleep_until_ns(now_ns() + WRITE_NS);
	return wire_send_status(fd, &ok) || wire_send_end(fd) ? -1 : 0;
}
