#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/examples/guest_test.sh: the examples against the module, as root on a
# machine that has just loaded it.  Wants kapfctl and example in PATH, submit.py,
# README.md and tap.sh beside it, busybox and Python.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=../kapfctl/tap.sh
. "$dir/tap.sh"

# submit [SCHEMA]; there are only those of Python's modules that it imports
submit() {
	run timeout 60 env PYTHONHOME=/usr /usr/bin/python3 -S "$dir/submit.py" \
		"$@"
}

# dispatched LEVEL NUMBER: so many of its requests have been granted, and all of
# them finished
dispatched() {
	kapfctl dump priority-levels | awk -F ', *' -v level="$1" \
		-v number="$2" '$1 == level { found = $5 == 0 && $6 == 0 &&
			$7 == number } END { exit !found }'
}

# What the README has a guest do with the server in it; what that leaves
# running would be in the way.
awk "/^ *selftests.vm.run .*build.bin.example/ { inside = 1; next }
	inside
	/'\$/ { inside = 0 }" "$dir/README.md" | sed "s/'\$//" >"$tmp/recipe"
passes "the README has a guest run it" [ -s "$tmp/recipe" ]
run sh "$tmp/recipe"
exits "as it says there" 0
passes "two users are served" [ "$(
	grep -c '^200 OK, here are the pods of the world$' "$tmp/out")" = 2 ]
says "the server is there" out "pods <none> 1 "
says "the metrics are at localhost, and count the two" out 'apiserver_flowcontrol_dispatched_requests_total{priority_level="global-default",flow_schema="global-default"} 2'
killall example kapfctl
passes "there are tracepoints" \
	[ -e /sys/kernel/tracing/events/kapf/kapf_dispatch/enable ]

submit
exits "submit.py" 0
empty "says nothing on stderr" err
for user in alice bob carol; do
	says "$user is granted" out "$user: granted after 0 ns"
done
passes "3 requests are" [ "$(wc -l <"$tmp/out")" = 3 ]
passes "the module thinks so, too" dispatched catch-all 3

submit nosuch
exits "a schema that is not there" 1
says "is named" err "there is no FlowSchema nosuch"

# borrows_nothing NAME LIMITRESPONSE: a level of one seat, and its schema
borrows_nothing() {
	cat <<END
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: $1}
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 1
    borrowingLimitPercent: 0
    limitResponse: $2
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: $1}
spec:
  priorityLevelConfiguration: {name: $1}
END
}

{ borrows_nothing impatient '{type: Reject}'
borrows_nothing patient '{type: Queue, queuing: {}}'; } >"$tmp/in"
run kapfctl apply -f - --max-requests-inflight 1 \
	--max-mutating-requests-inflight 0
exits "two levels of one seat" 0
submit impatient
exits "where there are no queues" 0
says "one is granted" out "alice: granted after 0 ns"
says "another is refused" out "bob: verdict 3, retry after 1 s"
says "and the third" out "carol: verdict 3, retry after 1 s"
submit patient
exits "where there are queues" 0
says "one is granted at once" out "alice: granted after 0 ns"
passes "the others as it finishes" [ "$(
	grep -cE '^(bob|carol): granted after [1-9][0-9]* ns$' "$tmp/out")" = 2 ]
passes "and the module thinks so, too" dispatched patient 3

finish
