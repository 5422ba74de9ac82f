// SPDX-License-Identifier: GPL-2.0
/*
 * Loading the module, failed at each place at which it can, as fault_test.c has
 * calls: it fails whole, leaves nothing, and the module can be loaded after that.
 */
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "fault.h"

#define ONE	"instances=1"
#define TWO	"instances=2"

FIXTURE(load) {
	struct faults faults;
	void *module;	/* its file */
	size_t len;
};

static void *read_module(size_t *len)
{
	struct utsname name;
	char path[256];
	void *bytes;
	off_t size;
	int fd;

	uname(&name);
	snprintf(path, sizeof(path), "/lib/modules/%s/extra/kapf.ko",
		 name.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	size = lseek(fd, 0, SEEK_END);
	bytes = malloc(size);
	if (!bytes || pread(fd, bytes, size, 0) != size)
		die(path);
	close(fd);
	*len = size;
	return bytes;
}

static int load(const struct _test_data_load *self, const char *parameters)
{
	return syscall(SYS_init_module, self->module, self->len, parameters) ?
		       -errno : 0;
}

static void unload(void)
{
	if (syscall(SYS_delete_module, "kapf", O_NONBLOCK))
		die("delete_module");
}

FIXTURE_SETUP(load)
{
	if (!faults_open(&self->faults))
		SKIP(return, "this kernel does not inject faults");
	close(self->faults.control);
	self->faults.control = 0;
	self->module = read_module(&self->len);
	if (!self->module)
		SKIP(return, "the module's file is not there");
	unload();
}

FIXTURE_TEARDOWN(load)
{
	if (self->module && load(self, ""))
		die("init_module");
	free(self->module);
	faults_close(&self->faults);
}

/* Places at which loading can fail, all told; likewise pages. */
static unsigned int places_of(struct _test_data_load *self, bool pages,
			      const char *parameters)
{
	unsigned int left;

	fail_at(&self->faults, pages, MOST);
	if (load(self, parameters))
		die("init_module");
	left = pages ? read_number(FAIL_PAGES "/space") :
		       (unsigned int)nth_left(&self->faults);
	if (has_failed(&self->faults, pages))
		die("there are more");
	unload();
	return MOST - left;
}

/* No node, no module: as if nothing had been done. */
static bool is_gone(void)
{
	static const char *const paths[] = {
		SUBMIT_NODE, CONTROL_NODE, "/dev/kapf1", "/dev/kapfctl1",
		"/sys/module/kapf", "/sys/class/misc/kapf0",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++)
		if (!access(paths[i], F_OK)) {
			fprintf(stderr, "# %s is there\n", paths[i]);
			return false;
		}
	return true;
}

/* How loading came out: loading may do without what has failed. */
static bool is_whole(int ret)
{
	if (!ret)
		unload();
	return is_gone() && (!ret || ret == -ENOMEM);
}

/*
 * What comes before the module's own beginning is the kernel's to get right; the
 * places of the two instances come last; of pages all but some of the first's.
 */
static void walk_loading(struct __test_metadata *_metadata,
			 struct _test_data_load *self, bool pages)
{
	unsigned int nth, all, one, walked, step, injected = 0, failures = 0;
	long long percpu = percpu_charged();
	int ret;

	/* The first time more comes from what a kernel keeps ready, or less. */
	places_of(self, pages, TWO);
	all = places_of(self, pages, TWO);
	one = all - places_of(self, pages, ONE);
	/* Almost all pages are the instances', and numbers of pages vary. */
	walked = pages ? one + one / 2 : 2 * one;
	ASSERT_LT(5, one);
	ASSERT_LT(walked, all);
	/* Pages are many, and of a kind. */
	step = pages ? 1 + one / 32 : 1;
	for (nth = all - walked; nth <= all; nth += step) {
		fail_at(&self->faults, pages, nth);
		ret = load(self, TWO);
		injected += has_failed(&self->faults, pages);
		EXPECT_TRUE(is_whole(ret)) {
			TH_LOG("place %u: %d", nth, ret);
		}
		failures += !!ret;
	}
	TH_LOG("%u of %u places, %u at a time: %u met, %u failures", walked,
	       all, step, injected, failures);
	EXPECT_LE(one / 2 / step, injected);
	EXPECT_LE(10, failures);
	EXPECT_TRUE(await_percpu(percpu));
}

TEST_F_TIMEOUT(load, each_place, 600)
{
	walk_loading(_metadata, self, false);
}

TEST_F_TIMEOUT(load, no_pages, 600)
{
	/* Nothing that is touched then. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT));
	walk_loading(_metadata, self, true);
}

TEST_HARNESS_MAIN
