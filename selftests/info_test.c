// SPDX-License-Identifier: GPL-2.0
/*
 * GET_INFO, the same on both nodes, and what every call with a size has in
 * common: a smaller size is refused, a larger one is accepted as long as what
 * the kernel does not know is zero.
 */
#include "kapf_test.h"

/* struct kapf_info as a later version might have it. */
struct longer_info {
	struct kapf_info info;
	__u64 later;
};

FIXTURE(info) {
	int fd;
};

FIXTURE_VARIANT(info) {
	const char *node;
};

FIXTURE_VARIANT_ADD(info, submit) {
	.node = SUBMIT_NODE,
};

FIXTURE_VARIANT_ADD(info, control) {
	.node = CONTROL_NODE,
};

FIXTURE_SETUP(info)
{
	self->fd = open_node(variant->node, O_RDWR);
}

FIXTURE_TEARDOWN(info)
{
	close(self->fd);
}

static void expect_info(struct __test_metadata *_metadata,
			const struct kapf_info *info)
{
	EXPECT_EQ(sizeof(*info), info->size);
	EXPECT_EQ(KAPF_ABI, info->abi);
	EXPECT_EQ(0, info->features);
	EXPECT_EQ(0, info->instance);
	EXPECT_LE(1, info->max_inflight);
	EXPECT_LE(1, info->max_sessions);
	EXPECT_LE(1, info->max_queues);
	EXPECT_LE(1, info->server_seats);
	EXPECT_GE(KAPF_MAX_SERVER_SEATS, info->server_seats);
	EXPECT_EQ(0, info->reserved);
}

TEST_F(info, tells_version_and_limits)
{
	struct kapf_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, call(self->fd, KAPF_GET_INFO, &info));
	expect_info(_metadata, &info);
}

TEST_F(info, overwrites_rubbish)
{
	struct kapf_info info;

	memset(&info, 0xa5, sizeof(info));
	info.size = sizeof(info);
	info.reserved = 0;
	ASSERT_EQ(0, call(self->fd, KAPF_GET_INFO, &info));
	expect_info(_metadata, &info);
}

TEST_F(info, smaller_size_is_refused)
{
	struct kapf_info info = { 0 };

	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_GET_INFO, &info));
	info.size = sizeof(info) - 1;
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_GET_INFO, &info));
	EXPECT_EQ(0, info.abi);
}

TEST_F(info, larger_size_with_zeros_is_accepted)
{
	struct longer_info longer = { .info.size = sizeof(longer) };

	ASSERT_EQ(0, call(self->fd, KAPF_GET_INFO, &longer));
	EXPECT_EQ(KAPF_ABI, longer.info.abi);
	EXPECT_EQ(0, longer.later);
}

TEST_F(info, larger_size_with_rubbish_is_refused)
{
	struct longer_info longer = {
		.info.size = sizeof(longer),
		.later = 1ULL << 63,
	};

	EXPECT_EQ(-E2BIG, call(self->fd, KAPF_GET_INFO, &longer));
	EXPECT_EQ(0, longer.info.abi);
}

TEST_F(info, bad_address_is_refused)
{
	struct kapf_info *info = mmap(NULL, 4096, PROT_READ,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, info);
	EXPECT_EQ(-EFAULT, call(self->fd, KAPF_GET_INFO, NULL));
	/* Readable but not writable, and its size is 0. */
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_GET_INFO, info));
	ASSERT_EQ(0, mprotect(info, 4096, PROT_READ | PROT_WRITE));
	info->size = sizeof(*info);
	ASSERT_EQ(0, mprotect(info, 4096, PROT_READ));
	EXPECT_EQ(-EFAULT, call(self->fd, KAPF_GET_INFO, info));
	munmap(info, 4096);
}

TEST_F(info, unknown_call_is_refused)
{
	struct kapf_info info = { .size = sizeof(info) };

	EXPECT_EQ(-ENOTTY, call(self->fd, _IO(KAPF_IOC_TYPE, 0x7f), &info));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IO(KAPF_IOC_TYPE - 1, 0), &info));
}

TEST_HARNESS_MAIN
