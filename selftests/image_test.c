// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration images that are not what they should be: cut off, too long,
 * with words of rubbish in them.  None of it may be taken for an image that it
 * is not, and nothing may break.
 */
#include "kapf_test.h"

FIXTURE(image) {
	int control;
	struct image image;
	__u64 generation;
};

FIXTURE_SETUP(image)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	image_init(&self->image);
	image_level(&self->image, "reject", KAPF_LEVEL_REJECT, 1);
	image_queues(&self->image, "queues", 10, 64, 6, 50);
	image_schema(&self->image, "schema", 100, "queues", "[]");
	set_up(self->control, &self->image);
	self->generation = generation(self->control);
}

FIXTURE_TEARDOWN(image)
{
	image_free(&self->image);
	close(self->control);
}

TEST_F(image, rubbish_behind_the_last_record)
{
	self->image.schemas_len += 8;
	EXPECT_EQ(-EINVAL, set_image(self->control, &self->image, NULL));
	self->image.schemas_len -= 7;
	EXPECT_EQ(-EINVAL, set_image(self->control, &self->image, NULL));
	self->image.schemas_len -= 1;
	EXPECT_EQ(self->generation, generation(self->control));
}

TEST_F(image, truncated_images)
{
	size_t len, cut;
	char *bytes = image_pack(&self->image, &len);
	char *exact;

	/* In memory of just that size, so that reading on is noticed. */
	for (cut = 0; cut < len; cut += 8) {
		exact = malloc(cut + 1);
		memcpy(exact, bytes, cut);
		ASSERT_EQ(-EINVAL, set_bytes(self->control, exact, cut, NULL)) {
			TH_LOG("cut to %zu of %zu bytes", cut, len);
		}
		free(exact);
	}
	for (cut = len - 7; cut < len; cut++)
		ASSERT_EQ(-EINVAL, set_bytes(self->control, bytes, cut, NULL));
	EXPECT_EQ(self->generation, generation(self->control));
	free(bytes);
}

/* Whichever word of the image is rubbish, nothing breaks. */
TEST_F(image, every_word_spoilt)
{
	const __u32 rubbish = ~0u;
	size_t len, at;
	char *bytes = image_pack(&self->image, &len);
	__u32 good;
	int ret;

	for (at = 0; at < len; at += sizeof(good)) {
		memcpy(&good, bytes + at, sizeof(good));
		memcpy(bytes + at, &rubbish, sizeof(good));
		ret = set_bytes(self->control, bytes, len, NULL);
		ASSERT_TRUE(!ret || ret == -EINVAL || ret == -ENOSPC) {
			TH_LOG("word %zu: %d", at / 4, ret);
		}
		memcpy(bytes + at, &good, sizeof(good));
	}
	ASSERT_EQ(0, set_bytes(self->control, bytes, len, NULL));
	free(bytes);
}

TEST_F(image, image_too_large)
{
	size_t len = KAPF_MAX_IMAGE_BYTES + 8;
	char *bytes = calloc(1, len);

	ASSERT_NE(NULL, bytes);
	EXPECT_EQ(-E2BIG, set_bytes(self->control, bytes, len, NULL));
	EXPECT_EQ(-E2BIG, set_bytes(self->control, bytes, ~0u, NULL));
	EXPECT_EQ(-EINVAL, set_bytes(self->control, bytes, len - 8, NULL));
	free(bytes);
}

TEST_HARNESS_MAIN
