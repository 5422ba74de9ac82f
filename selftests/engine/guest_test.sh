#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/engine/guest_test.sh: the tests in kapf_engine_test.ko, which run when
# it is loaded.  Prints the results of all suites as those of one.
set -eu

dmesg -c >/dev/null
insmod kapf_engine_test.ko
rmmod kapf_engine_test
dmesg | sed 's/^\[[^]]*\] //' >/tmp/results
sed -E '/^((not )?ok|KTAP|1\.\.|# [a-z_]+: pass:|# Totals:)/d; s/^    //' \
	/tmp/results

# A suite that crashed has no result.
suites=$(grep -c '# Subtest:' /tmp/results)
[ "$suites" -gt 0 ] && [ "$(grep -c '^ok ' /tmp/results)" = "$suites" ]
