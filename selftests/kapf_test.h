/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the test programs share: configuration images made by hand, the calls of
 * both nodes with the error as a negative value, threads that wait for a
 * decision, and the statistics of a level.  It knows the interface only from
 * linux/kapf.h, so that a fault of the library cannot hide one of the module.
 *
 * A test begins with set_up_*(): that leaves nothing of the configuration of
 * the test before, and so starts levels whose counters are zero.
 */
#ifndef KAPF_TEST_H
#define KAPF_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/kapf.h>

#include "kselftest_harness.h"

#define SUBMIT_NODE	"/dev/kapf0"
#define CONTROL_NODE	"/dev/kapfctl0"

#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL

/* Room for the level records of an image, and for its schema records. */
#define IMAGE_ROOM	(4UL << 20)

#define EVERYTHING \
	"\"resourceRules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"]," \
	"\"resources\":[\"*\"],\"clusterScope\":true," \
	"\"namespaces\":[\"*\"]}]," \
	"\"nonResourceRules\":[{\"verbs\":[\"*\"]," \
	"\"nonResourceURLs\":[\"*\"]}]"
#define SUBJECT(name) "{\"kind\":\"Group\",\"group\":{\"name\":\"" name "\"}}"

#define EXEMPT_RULES \
	"[{\"subjects\":[" SUBJECT("system:masters") "]," EVERYTHING "}]"
#define CATCH_ALL_RULES \
	"[{\"subjects\":[" SUBJECT("system:unauthenticated") "," \
	SUBJECT("system:authenticated") "]," EVERYTHING "}]"

/* What a test cannot go on without; an abort fails it. */
static inline void die(const char *what)
{
	fprintf(stderr, "# %s: %s\n", what, strerror(errno));
	abort();
}

static inline __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static inline void sleep_ms(unsigned int ms)
{
	struct timespec left = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * NSEC_PER_MSEC,
	};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* An ioctl whose error is its value, as inside the kernel. */
static inline int call(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

static inline int open_node(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

/*
 * Configuration images
 */

/**
 * struct image - a configuration before it is packed
 * @head: of the image; counts the records below, and has as many seats as the
 *	levels have shares, which makes the nominal limit of each its shares
 * @levels: level records
 * @levels_len: bytes of them
 * @schemas: schema records
 * @schemas_len: bytes of them
 */
struct image {
	struct kapf_config head;
	char *levels;
	size_t levels_len;
	char *schemas;
	size_t schemas_len;
};

static inline struct kapf_config_level *image_level(struct image *image,
						    const char *name,
						    __u32 type, __u32 shares)
{
	struct kapf_config_level *level;

	level = (void *)(image->levels + image->levels_len);
	level->record_size = sizeof(*level);
	level->type = type;
	level->nominal_shares = shares;
	level->borrowing_limit_percent = KAPF_BORROWING_UNLIMITED;
	memcpy(level->name, name, strlen(name));
	image->levels_len += level->record_size;
	image->head.nr_levels++;
	image->head.max_requests_inflight += shares;
	return level;
}

static inline struct kapf_config_level *image_queues(struct image *image,
						     const char *name,
						     __u32 shares, __u32 queues,
						     __u32 hand_size,
						     __u32 length)
{
	struct kapf_config_level *level;

	level = image_level(image, name, KAPF_LEVEL_QUEUE, shares);
	level->queues = queues;
	level->hand_size = hand_size;
	level->queue_length_limit = length;
	return level;
}

static inline struct kapf_config_schema *image_schema(struct image *image,
						      const char *name,
						      __u32 precedence,
						      const char *level,
						      const char *rules)
{
	struct kapf_config_schema *schema;

	schema = (void *)(image->schemas + image->schemas_len);
	schema->precedence = precedence;
	schema->rules_len = strlen(rules);
	schema->record_size = (sizeof(*schema) + schema->rules_len + 7) & ~7u;
	memcpy(schema->name, name, strlen(name));
	memcpy(schema->level, level, strlen(level));
	memcpy(schema + 1, rules, schema->rules_len);
	image->schemas_len += schema->record_size;
	image->head.nr_schemas++;
	return schema;
}

static inline void image_free(struct image *image)
{
	free(image->levels);
	free(image->schemas);
}

/* An image of the mandatory objects: levels 0 and 1, schemas 0 and 1. */
static inline void image_init(struct image *image)
{
	memset(image, 0, sizeof(*image));
	image->head.magic = KAPF_CONFIG_MAGIC;
	image->levels = calloc(1, IMAGE_ROOM);
	image->schemas = calloc(1, IMAGE_ROOM);
	if (!image->levels || !image->schemas)
		die("calloc");
	image_level(image, "exempt", KAPF_LEVEL_EXEMPT, 0);
	image_level(image, "catch-all", KAPF_LEVEL_REJECT, 5);
	image_schema(image, "exempt", 1, "exempt", EXEMPT_RULES);
	image_schema(image, "catch-all", 10000, "catch-all",
		     CATCH_ALL_RULES)->distinguisher = KAPF_BY_USER;
}

/* Put an image together; the caller frees it. */
static inline char *image_pack(const struct image *image, size_t *len)
{
	char *packed;

	*len = sizeof(image->head) + image->levels_len + image->schemas_len;
	packed = malloc(*len);
	if (!packed)
		die("malloc");
	memcpy(packed, &image->head, sizeof(image->head));
	memcpy(packed + sizeof(image->head), image->levels, image->levels_len);
	memcpy(packed + sizeof(image->head) + image->levels_len,
	       image->schemas, image->schemas_len);
	return packed;
}

static inline __u64 generation(int control)
{
	struct kapf_get_config get = { .size = sizeof(get) };

	if (call(control, KAPF_GET_CONFIG, &get) != -ERANGE)
		die("GET_CONFIG without room");
	return get.generation;
}

/* SET_CONFIG; the error report goes to @error, which may be NULL. */
static inline int set_bytes(int control, const void *bytes, size_t len,
			    struct kapf_config_error *error)
{
	struct kapf_set_config set = {
		.size = sizeof(set),
		.image_len = len,
		.image = (uintptr_t)bytes,
		.generation = generation(control),
	};
	int ret = call(control, KAPF_SET_CONFIG, &set);

	if (error)
		*error = set.error;
	return ret;
}

static inline int set_image(int control, const struct image *image,
			    struct kapf_config_error *error)
{
	size_t len;
	char *bytes = image_pack(image, &len);
	int ret = set_bytes(control, bytes, len, error);

	free(bytes);
	return ret;
}

/* The present image; the caller frees it. */
static inline char *get_image(int fd, size_t *len)
{
	struct kapf_get_config get = {
		.size = sizeof(get),
		.image_len = KAPF_MAX_IMAGE_BYTES,
	};
	char *bytes = malloc(KAPF_MAX_IMAGE_BYTES);

	if (!bytes)
		die("malloc");
	get.image = (uintptr_t)bytes;
	errno = -call(fd, KAPF_GET_CONFIG, &get);
	if (errno)
		die("GET_CONFIG");
	*len = get.image_len;
	return bytes;
}

/* The record of level @name in a packed image; NULL: none. */
static inline struct kapf_config_level *find_level(char *bytes,
						   const char *name)
{
	struct kapf_config *head = (void *)bytes;
	struct kapf_config_level *level;
	__u32 i;

	bytes += sizeof(*head);
	for (i = 0; i < head->nr_levels; i++) {
		level = (void *)bytes;
		if (!strcmp(level->name, name))
			return level;
		bytes += level->record_size;
	}
	return NULL;
}

/* The record of schema @name in a packed image; NULL: none. */
static inline struct kapf_config_schema *find_schema(char *bytes,
						     const char *name)
{
	struct kapf_config *head = (void *)bytes;
	struct kapf_config_schema *schema;
	__u32 i;

	bytes += sizeof(*head);
	for (i = 0; i < head->nr_levels; i++)
		bytes += ((struct kapf_config_level *)bytes)->record_size;
	for (i = 0; i < head->nr_schemas; i++) {
		schema = (void *)bytes;
		if (!strcmp(schema->name, name))
			return schema;
		bytes += schema->record_size;
	}
	return NULL;
}

static inline __u32 schema_id(int control, const char *name)
{
	struct kapf_config_schema *schema;
	__u32 id = 0;
	size_t len;
	char *bytes = get_image(control, &len);

	schema = find_schema(bytes, name);
	if (schema)
		id = schema->id;
	free(bytes);
	return id;
}

static inline int set_mode(int control, __u32 mode)
{
	struct kapf_set_mode arg = { .size = sizeof(arg), .mode = mode };

	return call(control, KAPF_SET_MODE, &arg);
}

/*
 * Setting up: each leaves the mandatory objects and what it says, and nothing
 * of what was there before.
 */

/* Only the mandatory objects. */
static inline void set_up_bare(int control)
{
	struct image image;

	image_init(&image);
	errno = -set_image(control, &image, NULL);
	if (errno)
		die("SET_CONFIG of the mandatory objects");
	image_free(&image);
}

static inline void set_up(int control, const struct image *image)
{
	set_up_bare(control);
	errno = -set_image(control, image, NULL);
	if (errno)
		die("SET_CONFIG");
}

/* Level and schema "test"; returns the schema's id. */
static inline __u32 set_up_queues(int control, __u32 seats, __u32 queues,
				  __u32 hand_size, __u32 length)
{
	struct image image;

	image_init(&image);
	image_queues(&image, "test", seats, queues, hand_size, length);
	image_schema(&image, "test", 100, "test", "[]");
	set_up(control, &image);
	image_free(&image);
	return schema_id(control, "test");
}

/* The same with a level that does not queue. */
static inline __u32 set_up_reject(int control, __u32 seats)
{
	struct image image;

	image_init(&image);
	image_level(&image, "test", KAPF_LEVEL_REJECT, seats);
	image_schema(&image, "test", 100, "test", "[]");
	set_up(control, &image);
	image_free(&image);
	return schema_id(control, "test");
}

/*
 * Requests
 */

static inline int attach(int fd, __u32 slots, __u32 label_bytes)
{
	struct kapf_attach arg = {
		.size = sizeof(arg),
		.slots = slots,
		.label_bytes = label_bytes,
		.server = "selftest",
	};

	return call(fd, KAPF_ATTACH, &arg);
}

static inline int open_session(__u32 slots)
{
	int fd = open_node(SUBMIT_NODE, O_RDWR);

	errno = -attach(fd, slots, 0);
	if (errno)
		die("ATTACH");
	return fd;
}

static inline struct kapf_op request(__u32 slot, __u32 schema)
{
	return (struct kapf_op){
		.opcode = KAPF_OP_ADMIT,
		.initial_seats = 1,
		.slot = slot,
		.schema = schema,
		.watch_count = KAPF_WATCH_COUNT_UNKNOWN,
	};
}

static inline int admit_op(int fd, struct kapf_op op)
{
	return call(fd, KAPF_ADMIT, &op);
}

/* The verdict on a request of one seat, or a negative errno. */
static inline int admit(int fd, __u32 slot, __u32 schema)
{
	int ret = admit_op(fd, request(slot, schema));

	return ret < 0 ? ret : KAPF_VERDICT(ret);
}

static inline int finish(int fd, unsigned long slot)
{
	return call(fd, KAPF_FINISH, (void *)slot);
}

static inline int cancel(int fd, unsigned long slot)
{
	return call(fd, KAPF_CANCEL, (void *)slot);
}

/* Read at most @nr events without waiting: how many, or a negative errno. */
static inline int read_events(int fd, struct kapf_event *events, size_t nr)
{
	int flags = fcntl(fd, F_GETFL);
	ssize_t ret;

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	ret = read(fd, events, nr * sizeof(*events));
	if (ret < 0)
		ret = -errno;
	fcntl(fd, F_SETFL, flags);
	return ret < 0 ? ret : ret / (ssize_t)sizeof(*events);
}

/* Wait for one event, not for ever. */
static inline struct kapf_event read_event(int fd)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	struct kapf_event event;

	if (poll(&poller, 1, 10000) != 1 || !(poller.revents & POLLIN) ||
	    read_events(fd, &event, 1) != 1)
		die("no event");
	return event;
}

/* What poll says of a file at present. */
static inline short poll_now(int fd)
{
	struct pollfd poller = {
		.fd = fd,
		.events = POLLIN | POLLOUT | POLLPRI,
	};

	if (poll(&poller, 1, 0) < 0)
		die("poll");
	return poller.revents;
}

/* Write ops without labels: how many were taken, or a negative errno. */
static inline int write_ops(int fd, const struct kapf_op *ops, size_t nr)
{
	ssize_t ret = write(fd, ops, nr * sizeof(*ops));

	return ret < 0 ? -errno : ret / (ssize_t)sizeof(*ops);
}

/**
 * struct waiter - a thread in ADMIT
 * @thread: it
 * @fd: of the session
 * @op: the request
 * @ret: value of the call
 * @waited: how long it took, ns
 */
struct waiter {
	pthread_t thread;
	int fd;
	struct kapf_op op;
	int ret;
	__u64 waited;
};

static inline void *waiter_main(void *arg)
{
	struct waiter *waiter = arg;
	__u64 begin = now_ns();

	waiter->ret = admit_op(waiter->fd, waiter->op);
	waiter->waited = now_ns() - begin;
	return NULL;
}

static inline void waiter_start(struct waiter *waiter, int fd,
				struct kapf_op op)
{
	waiter->fd = fd;
	waiter->op = op;
	errno = pthread_create(&waiter->thread, NULL, waiter_main, waiter);
	if (errno)
		die("pthread_create");
}

/* Wait for the decision: the verdict, or a negative errno. */
static inline int waiter_join(struct waiter *waiter)
{
	errno = pthread_join(waiter->thread, NULL);
	if (errno)
		die("pthread_join");
	return waiter->ret < 0 ? waiter->ret : KAPF_VERDICT(waiter->ret);
}

/*
 * Statistics
 */

/* Of the level @name, also while it drains; false: there is none. */
static inline bool find_level_stats(int control, const char *name,
				    struct kapf_level_stats *stats)
{
	static __thread struct kapf_level_stats levels[16];
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
		.nr_levels = 16,
		.levels = (uintptr_t)levels,
	};
	__u32 i;

	errno = -call(control, KAPF_GET_STATS, &get);
	if (errno)
		die("GET_STATS");
	for (i = 0; i < get.nr_levels && i < 16; i++)
		if (!strcmp(levels[i].name, name)) {
			*stats = levels[i];
			return true;
		}
	errno = ENOENT;
	return false;
}

static inline struct kapf_level_stats level_stats(int control, const char *name)
{
	struct kapf_level_stats stats = { };

	if (!find_level_stats(control, name, &stats))
		die(name);
	return stats;
}

static inline __u64 seats_in_use(int control, const char *level)
{
	return level_stats(control, level).seats_in_use;
}

/* Requests that the level "test" knows of in any state. */
static inline __u32 requests_known(int control)
{
	struct kapf_level_stats stats = level_stats(control, "test");

	return stats.executing_requests + stats.lingering_requests +
	       stats.waiting_requests;
}

/* Wait, up to 10 s, until @stat of the level "test" is @value. */
static inline bool await_stat(int control,
			      __u64 (*stat)(const struct kapf_level_stats *),
			      __u64 value)
{
	__u64 end = now_ns() + 10 * NSEC_PER_SEC;
	struct kapf_level_stats stats;

	do {
		stats = level_stats(control, "test");
		if (stat(&stats) == value)
			return true;
		sleep_ms(1);
	} while (now_ns() < end);
	return false;
}

static inline __u64 stat_waiting(const struct kapf_level_stats *stats)
{
	return stats->waiting_requests;
}

static inline bool await_waiting(int control, __u32 nr)
{
	return await_stat(control, stat_waiting, nr);
}

static inline __u64 stat_lingering(const struct kapf_level_stats *stats)
{
	return stats->lingering_requests;
}

static inline bool await_lingering(int control, __u32 nr)
{
	return await_stat(control, stat_lingering, nr);
}

static inline __u64 stat_seats(const struct kapf_level_stats *stats)
{
	return stats->seats_in_use;
}

static inline bool await_seats(int control, __u64 nr)
{
	return await_stat(control, stat_seats, nr);
}

/* The session that attached last. */
static inline __u64 last_session(int control)
{
	struct kapf_session_info infos[64];
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(infos[0]),
		.nr = ARRAY_SIZE(infos),
		.sessions = (uintptr_t)infos,
	};

	errno = -call(control, KAPF_GET_SESSIONS, &get);
	if (errno || !get.nr)
		die("GET_SESSIONS");
	return infos[get.nr - 1].session;
}

/* Its status */
static inline int reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return status;
}

static inline void kill_and_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	reap(pid);
}

#endif /* KAPF_TEST_H */
