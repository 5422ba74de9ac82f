// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration, as fault_test.c has other calls: a change that fails leaves
 * everything as it was, and can be made after that.
 */
#include "fault.h"

struct packed {
	char *bytes;
	size_t len;
};

FIXTURE(fault) {
	struct faults faults;
	int control;
	int fd;
	__u32 schema;
	struct packed image;
	struct packed new_image;
	struct packed exempt_image;	/* of many exempt schemas */
	struct packed return_image;	/* for after @drained */
	struct image drained;	/* "test" is gone, its schema is another's */
	__u64 generation;
	char room[1 << 16];
};

static struct packed pack(struct image *image)
{
	struct packed packed;

	packed.bytes = image_pack(image, &packed.len);
	image_free(image);
	return packed;
}

/*
 * Each schema of them takes some per-CPU memory.  All of them take new pages, which
 * the kernel keeps for the next time.
 */
static struct packed many_exempt(void)
{
	struct image image;
	char name[16];
	__u32 i;

	image_init(&image);
	image_queues(&image, "test", 2, 2, 1, 10);
	image_schema(&image, "test", 100, "test", "[]");
	for (i = 0; i < 200; i++) {
		sprintf(name, "exempt-%u", i);
		image_schema(&image, name, 100, "exempt", "[]");
	}
	return pack(&image);
}

static void make_images(struct _test_data_fault *self)
{
	struct image image;

	self->image.bytes = get_image(self->control, &self->image.len);
	image_init(&image);
	image_queues(&image, "test", 2, 2, 1, 10);
	image_schema(&image, "test", 100, "test", "[]");
	image_queues(&image, "new", 10, 16, 4, 50);
	image_schema(&image, "new", 200, "new", "[]");
	image_schema(&image, "dangling", 201, "none", "[]");
	image_schema(&image, "free", 202, "exempt", "[]");
	self->new_image = pack(&image);
	self->exempt_image = many_exempt();
	image_init(&self->drained);
	image_queues(&self->drained, "new", 10, 16, 4, 50);
	image_schema(&self->drained, "test", 100, "new", "[]");
	image_schema(&self->drained, "lost", 201, "test", "[]");
	image_init(&image);
	image_queues(&image, "test", 2, 8, 1, 10);
	image_queues(&image, "new", 10, 2, 1, 50);
	image_schema(&image, "test", 100, "exempt", "[]");
	image_schema(&image, "lost", 201, "test", "[]");
	self->return_image = pack(&image);
}

FIXTURE_SETUP(fault)
{
	if (!faults_open(&self->faults))
		SKIP(return, "this kernel does not inject faults");
	self->control = self->faults.control;
	self->schema = set_up_queues(self->control, 2, 2, 1, 10);
	make_images(self);
	self->fd = open_session(1);
}

FIXTURE_TEARDOWN(fault)
{
	if (self->fd) {
		free(self->image.bytes);
		free(self->new_image.bytes);
		free(self->exempt_image.bytes);
		free(self->return_image.bytes);
		image_free(&self->drained);
		close(self->fd);
	}
	faults_close(&self->faults);
}

static int get_config(struct _test_data_fault *self)
{
	struct kapf_get_config get = {
		.size = sizeof(get),
		.image_len = sizeof(self->room),
		.image = (uintptr_t)self->room,
	};

	return call(self->fd, KAPF_GET_CONFIG, &get);
}

static int set_once(struct _test_data_fault *self, const struct packed *image)
{
	struct kapf_set_config set = {
		.size = sizeof(set),
		.image_len = image->len,
		.image = (uintptr_t)image->bytes,
		.generation = self->generation,
	};

	return call(self->control, KAPF_SET_CONFIG, &set);
}

static void know_generation(struct _test_data_fault *self)
{
	self->generation = generation(self->control);
}

static int set_config(struct _test_data_fault *self)
{
	return set_once(self, &self->image);
}

/* A level and schemas that are not there yet */
static int set_new_config(struct _test_data_fault *self)
{
	return set_once(self, &self->new_image);
}

static int set_exempt_config(struct _test_data_fault *self)
{
	return set_once(self, &self->exempt_image);
}

static void be_scheduled(int policy)
{
	struct sched_param param = {
		.sched_priority = sched_get_priority_min(policy),
	};

	if (sched_setscheduler(0, policy, &param))
		die("sched_setscheduler");
}

static void set_config_back(struct _test_data_fault *self)
{
	if (set_bytes(self->control, self->image.bytes, self->image.len, NULL))
		die("SET_CONFIG");
	know_generation(self);
}

/* Before the kernel gets to take pages in advance, which it does by a thread. */
static void be_first(struct _test_data_fault *self)
{
	be_scheduled(SCHED_FIFO);
	know_generation(self);
}

static void be_as_others(struct _test_data_fault *self)
{
	be_scheduled(SCHED_OTHER);
	set_config_back(self);
}

/* A level and its schema drain when the call is made. */
static void drain(struct _test_data_fault *self)
{
	set_config_back(self);
	if (admit(self->fd, 0, self->schema) != KAPF_EXECUTE)
		die("the level is not empty");
	if (set_image(self->control, &self->drained, NULL))
		die("SET_CONFIG");
	know_generation(self);
}

/* It resumes with more queues, another gets fewer, schemas move. */
static int set_return_config(struct _test_data_fault *self)
{
	return set_once(self, &self->return_image);
}

static void undrain(struct _test_data_fault *self)
{
	set_config_back(self);
	if (finish(self->fd, 0))
		die("finish");
	/* Nothing is to be gone later, when it would look like a change. */
	while (state_of(self->control).get.nr_schemas > 3)
		sleep_ms(10);
}

static const struct step steps[] = {
	{ "SET_CONFIG, exempt schemas", be_first, set_exempt_config, be_as_others,
	  PAGES | ONCE | ANSWERS },
	{ "GET_CONFIG", NULL, get_config, NULL, COPY | MEMORY },
	{ "SET_CONFIG", know_generation, set_config, NULL,
	  COPY | MEMORY | PAGES | ANSWERS },
	{ "SET_CONFIG, new objects", set_config_back, set_new_config, NULL,
	  COPY | MEMORY | ANSWERS },
	{ "SET_CONFIG, back", know_generation, set_config, NULL,
	  COPY | MEMORY | ANSWERS },
	{ "SET_CONFIG, draining", drain, set_return_config, undrain,
	  COPY | MEMORY | ANSWERS },
};

TEST_F_TIMEOUT(fault, configuration, 600)
{
	EXPECT_TRUE(walk_steps(self, &self->faults, steps, ARRAY_SIZE(steps)));
}

TEST_HARNESS_MAIN
