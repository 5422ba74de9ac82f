// SPDX-License-Identifier: GPL-2.0
/*
 * Durations, as in ?timeout=.
 */
#include <inttypes.h>
#include <stddef.h>

#include "duration.h"
#include "test.h"

#define S 1000000000ULL
#define NONE UINT64_MAX

static const struct {
	const char *text;
	uint64_t wanted;
} durations[] = {
	{ "0", 0 }, { "0s", 0 }, { "30s", 30 * S }, { "1m30s", 90 * S },
	{ "1.5s", 3 * S / 2 }, { ".5s", S / 2 }, { "2.s", 2 * S },
	{ "250ms", S / 4 }, { "3us", 3000 }, { "3\xc2\xb5s", 3000 },
	{ "7ns", 7 }, { "1h", 3600 * S }, { "2h", 3600 * S },
	{ "99999999999999999999999999h", 3600 * S },
	{ "", NONE }, { "30", NONE }, { "s", NONE }, { ".s", NONE },
	{ "-1s", NONE }, { "+1s", NONE }, { " 1s", NONE }, { "1s ", NONE },
	{ "1e3s", NONE }, { "0x1s", NONE }, { "1 s", NONE }, { "1d", NONE },
	{ "1s1", NONE }, { "inf", NONE }, { "1.5.5s", NONE },
};

void test_durations(void)
{
	size_t i;

	for (i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
		uint64_t ns = NONE;
		bool done = duration_parse(&ns, durations[i].text);

		ok(done == (durations[i].wanted != NONE) &&
		   ns == durations[i].wanted, "\"%s\" is %" PRIu64 " ns",
		   durations[i].text, ns);
	}
}
