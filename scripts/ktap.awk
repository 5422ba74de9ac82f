# SPDX-License-Identifier: GPL-2.0
#
# Summarises KTAP, or TAP, for scripts/check: -v suite=NAME says what it is of.
#
# Prints a line for each top-level test that has tests inside it and one for all
# that have none, each with what failed tests said, and at last a line
# "total PASSED FAILED".  A test with tests inside counts as those, and as one
# that failed when it failed and none of them did (it may have crashed).  A test
# that was announced and did not run has failed.  One that was skipped is
# neither; why the last of them was is said.
#
# The arrays have an element for the tests of the top level, OUTER, and one for
# those inside the present one, INNER.

function fail(depth, n, line)
{
	failed[depth] += n
	details[depth] = details[depth] said "        " line "\n"
}

function result(depth, line)
{
	seen[depth]++
	if (line ~ /# *SKIP/) {
		skipped[depth]++
		reason[depth] = line
		sub(/.*# *SKIP */, "", reason[depth])
	} else if (line ~ /^not/) {
		fail(depth, 1, line)
	} else {
		passed[depth]++
	}
	said = ""
}

function summarise(depth, name,    lost)
{
	lost = planned[depth] - seen[depth]
	if (lost > 0)
		fail(depth, lost, lost " of " planned[depth] \
		     " tests did not run")
	if (passed[depth] + failed[depth] + skipped[depth] > 0)
		printf("%-6s %s: %d passed%s%s%s\n%s",
		       failed[depth] ? "FAILED" : "ok", name, passed[depth],
		       failed[depth] ? ", " failed[depth] " failed" : "",
		       skipped[depth] ? ", " skipped[depth] " skipped" \
		       (reason[depth] ? " (" reason[depth] ")" : "") : "",
		       took, details[depth])
	took = ""
	fflush()
	all_passed += passed[depth]
	all_failed += failed[depth]
	passed[depth] = failed[depth] = skipped[depth] = 0
	planned[depth] = seen[depth] = 0
	details[depth] = reason[depth] = said = ""
}

BEGIN {
	OUTER = 0
	INNER = 1
}

/^1\.\.[0-9]/ {
	planned[OUTER] = substr($1, 4)
	next
}

/^ +1\.\.[0-9]/ {
	planned[INNER] += substr($1, 4)
	next
}

/^(not )?ok/ {
	if (planned[INNER] + seen[INNER] == 0) {
		result(OUTER, $0)
		next
	}
	if (/^not/ && failed[INNER] == 0 && planned[INNER] <= seen[INNER])
		fail(INNER, 1, $0)
	name = $0
	sub(/^(not )?ok [0-9]+ (- )?/, "", name)
	sub(/ *#.*/, "", name)
	summarise(INNER, suite " " name)
	seen[OUTER]++
	next
}

/^ +(not )?ok/ {
	sub(/^ +/, "")
	result(INNER, $0)
	next
}

# How long the test program took.
/^# [a-z_0-9]+: [0-9]+ s$/ {
	took = " (" $3 " s)"
	next
}

# The rest is what a test says, but for the harness's own announcements.
/^ *# +(RUN|OK|FAIL|Starting|FAILED:|PASSED:|Totals:)/ ||
/^ *K?TAP version/ {
	next
}

{
	said = said "        " $0 "\n"
}

END {
	if (planned[INNER] + seen[INNER] > 0)
		summarise(INNER, suite " (ended early)")
	summarise(OUTER, suite)
	print "total", all_passed + 0, all_failed + 0
}
