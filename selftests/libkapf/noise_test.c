// SPDX-License-Identifier: GPL-2.0
/*
 * Text and images that are cut off, damaged or random: nothing crashes, leaks
 * or reads what it must not (the sanitizers watch), and whatever is refused is
 * refused with a sentence and changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#define ROUNDS 3000

static const char sample[] =
	"# a sample of everything\n"
	"apiVersion: v1\nkind: List\nitems:\n"
	"- apiVersion: " API "v1beta3\n  kind: PriorityLevelConfiguration\n"
	"  metadata: {name: &n a, labels: {a/b: c}}\n"
	"  spec:\n    type: Limited\n    limited:\n      lendablePercent: 0x10\n"
	"      limitResponse: {type: Queue, queuing: {queues: 6_4}}\n"
	"- apiVersion: " API "v1\n  kind: FlowSchema\n"
	"  metadata:\n    name: b\n    annotations: {c: \"\\u00e9\", d: 'e'}\n"
	"  spec:\n    priorityLevelConfiguration: {name: *n}\n"
	"    rules:\n    - subjects:\n      - kind: ServiceAccount\n"
	"        serviceAccount: {namespace: ns, name: '*'}\n"
	"      - {kind: User, user: {name: !!str 5}}\n"
	"      resourceRules:\n      - verbs: &v [get, list]\n"
	"        apiGroups: [\"\"]\n        resources: [pods/log]\n"
	"        clusterScope: yes\n"
	"      nonResourceRules:\n      - verbs: *v\n"
	"        nonResourceURLs: [/a/*, /b]\n";

/* Repeatable, and all that is needed here */
static uint64_t random_state = 88172645463325252;

static unsigned int random_below(unsigned int limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % limit;
}

/* Returns whether all is as it should be after @text. */
static bool survives(const char *text, size_t len)
{
	struct kapf_configuration *config = kapf_config_new();
	/* A copy of its own, so that one byte too far is seen */
	char *copy = malloc(len);
	struct kapf_error err = {};
	bool fine;
	int ret;

	memcpy(copy, text, len);
	ret = kapf_config_merge(config, copy, len, "x", &err);
	if (ret)
		fine = ret == -EINVAL && !strncmp(err.text, "x:", 2) &&
		       !strchr(err.text, '\n') && config->nr_levels == 2 &&
		       config->nr_schemas == 2;
	else
		fine = config->nr_levels + config->nr_schemas > 4;
	if (!fine)
		note("%d %s", ret, err.text);
	free(copy);
	kapf_config_free(config);
	return fine;
}

static void test_cuts(void)
{
	bool fine = true;

	for (size_t len = 0; len < sizeof(sample); len++)
		fine &= survives(sample, len);
	ok(fine, "noise: a manifest cut off anywhere");
	for (size_t from = 0; from < sizeof(sample) - 1; from++)
		fine &= survives(sample + from, sizeof(sample) - 1 - from);
	ok(fine, "noise: a manifest that begins anywhere");
}

static void test_damage(void)
{
	static const char marks[] = "\"'{}[]:,-&*#|>%@`!?~\\\t\n 0\xff";
	bool fine = true;

	for (int i = 0; i < ROUNDS; i++) {
		char text[sizeof(sample)];

		memcpy(text, sample, sizeof(text));
		for (unsigned int nr = random_below(4) + 1; nr; nr--)
			text[random_below(sizeof(text) - 1)] =
				marks[random_below(sizeof(marks) - 1)];
		fine &= survives(text, sizeof(text) - 1);
	}
	ok(fine, "noise: %d damaged manifests", ROUNDS);
}

static void test_random(void)
{
	bool fine = true;

	for (int i = 0; i < ROUNDS; i++) {
		char text[256] = {};
		size_t len = random_below(sizeof(text));

		for (size_t j = 0; j < len; j++)
			text[j] = random_below(i % 2 ? 256 : 128);
		fine &= survives(text, len);
	}
	ok(fine, "noise: %d random texts", ROUNDS);
}

static void test_images_damaged(void)
{
	struct kapf_configuration *config = kapf_config_new(), *back;
	unsigned int refused = 0;
	bool fine = true;
	void *image;
	size_t len;

	merge(config, sample, NULL);
	kapf_image_encode(config, &image, &len, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		unsigned char *copy = malloc(len);
		struct kapf_error err = {};
		int ret;

		memcpy(copy, image, len);
		copy[random_below(len)] = random_below(256);
		copy[random_below(sizeof(struct kapf_config))] ^=
			random_below(2);
		ret = kapf_image_decode(copy, len, &back, &err);
		if (ret) {
			fine &= ret == -EPROTO && *err.text;
			refused++;
		} else {
			kapf_config_free(back);
		}
		free(copy);
	}
	ok(fine && refused, "noise: %d damaged images, %u refused", ROUNDS,
	   refused);
	free(image);
	kapf_config_free(config);
}

void test_noise(void)
{
	ok(survives(sample, sizeof(sample) - 1), "noise: the sample itself");
	test_cuts();
	test_damage();
	test_random();
	test_images_damaged();
}
