#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/describe_test.sh: what kapfctl describe says of levels and
# schemas, as root on a machine that has just loaded the module.  Wants kapfctl and
# hold in PATH, tap.sh, guest.sh and the directory manifests beside it.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"

# describe ARGUMENT...
describe() {
	run kapfctl describe "$@"
	exits "describe $*" 0
}

# shows: the output has each line of stdin
shows() {
	while read -r line; do
		says "$line" out "$line"
	done
}

# A new instance

describe pl
shows <<'END'
Name: catch-all
Labels: <none>
Annotations: <none>
Type: Limited, Reject
Shares: 5
Lends: 0%
Borrows: without limit
FlowSchemas: catch-all
Nominal: 600
Least: 600
Most: 1200
Current: 600
queue-full: 0
concurrency-limit: 0
time-out: 0
cancelled: 0
Retry-After: 1 s
Name: exempt
Type: Exempt
END
passes "the UID, as get has it" [ "$(sed -n 's/^UID: *//p' "$tmp/out")" = \
	"$(kapfctl get pl -o wide | sed 1d | awk '{ print $NF }')" ]
says "times that a request was held up" out "Held up: 0, times: seats were free, but too few for the next request"
passes "all begins at the same column" not grep -qvE \
	'^(.{21} [^ ].*|[A-Z][A-Za-z ]*:|)$' "$tmp/out"
passes "both levels, and a line between them" [ "$(grep -c '^$' "$tmp/out")" = 1 ]
lacks "the mode is as ever" out Mode:
passes "exempt refuses nobody" [ "$(grep -c Retry-After "$tmp/out")" = 1 ]

kapfctl apply --defaults -f "$dir/manifests/ocr-batch.yaml" >"$tmp/out"
{
	user_schema lost 300 missing nobody
	echo ---
	queue_level tiny 1 4
	echo ---
	user_schema tiny 550 tiny alice
	echo ---
	queue_level deny 0 4 | sed '/type: Queue/,$d'
	echo '      type: Reject'
	echo ---
	user_schema deny 560 deny bob
} >"$tmp/in"
kapfctl apply -f - <"$tmp/in" >"$tmp/out" 2>"$tmp/err"

# Schemas

describe fs lost probes system-node-high global-default
shows <<'END'
Name: lost
PriorityLevel: missing, which does not exist: the schema matches nothing
Precedence: 300
Flows: each user's (ByUser)
User nobody:
any verb of any resource of any API group, in any namespace
Name: probes
PriorityLevel: exempt
Flows: all its requests are one flow
Group system:unauthenticated, Group system:authenticated:
get of path /healthz, /readyz, /livez
Name: system-node-high
Group system:nodes:
any verb of nodes, nodes/status of API group "", in any namespace, and without one
any verb of leases of API group coordination.k8s.io, in any namespace
any verb of any path
END
user_schema labeled 800 exempt '"a\eb"' |
	sed 's|^    team:.*|&\n    tier: "1"\n  annotations:\n    note: "a\\tb"|' >"$tmp/in"
kapfctl apply -f - <"$tmp/in" >"$tmp/out"
describe fs labeled
shows <<'END'
Name: labeled
Labels: team=labeled
 tier=1
Annotations: note: a\x09b
User a\x1bb:
END
lacks "nothing commands the terminal" out "$(printf '\033')"
kapfctl delete fs labeled >"$tmp/out"
describe flowschema kube-scheduler
shows <<'END'
Flows: each namespace's (ByNamespace)
END
run kapfctl describe fs nosuch probes
exits "a missing one is refused" 1
says "and named" err 'kapfctl: flowschemas "nosuch" not found'
says "the other is described" out "Name: probes"
run kapfctl describe pl nosuch -o json
exits "the same of a level" 1
passes "an empty list" [ "$(tr -d ' \n' <"$tmp/out")" = "[]" ]

# A level at work, of 3 seats and a queue of 50

start_hold web alice update 60
tries=100
until [ "$(grep -c '^verdict' "$tmp/held")" = 10 ] || [ "$tries" = 0 ]; do
	tries=$((tries - 1))
	sleep 0.1
done
run hold web bob update 2
passes "a level without seats refuses" [ "$(grep -c 'verdict 3' "$tmp/out")" = 2 ]
# Each change ends a period: the demand of the last was the same all the time.
for shares in 0 1; do
	queue_level late $shares 4 >"$tmp/in"
	kapfctl apply -f - <"$tmp/in" >"$tmp/out"
done

describe pl tiny
shows <<'END'
Name: tiny
Type: Limited, Queue: 4 queues of 50 requests, 1 of them for a flow
Shares: 1
Borrows: 0%
FlowSchemas: tiny
Nominal: 3
Least: 3
Most: 3
Current: 3
In use: 3
Waited for: 50
Average: 53.000
Deviation: 0.000
High watermark: 53
Executing: 3
Waiting: 50
Active queues: 1
Dispatched: 3
queue-full: 7; asks for longer queues (queueLengthLimit) for bursts; else more seats, or a level for a heavy flow
time-out: 0
END
for figure in Smoothed Target; do
	passes "the demand has a $figure" grep -qE \
		"^  $figure: +[1-9][0-9]*\.[0-9]{3}$" "$tmp/out"
done
describe fs tiny
shows <<'END'
PriorityLevel: tiny
Executing: 3
Waiting: 50
In use: 3
Waited for: 50
queue-full: 7; asks for longer queues
END
describe pl deny
shows <<'END'
Type: Limited, Reject
Current: 0
concurrency-limit: 2; asks for queues (limitResponse Queue), or more seats
END

describe pl tiny -o json
for line in '"name": "tiny",' '"nominal_seats": 3,' '"min_seats": 3,' \
	'"max_seats": 3,' '"current_seats": 3,' '"seats_in_use": 3,' \
	'"waiting_seats": 50,' '"demand_average": 53.000000,' \
	'"demand_stdev": 0.000000,' '"demand_high_watermark": 53,' \
	'"executing_requests": 3,' '"lingering_requests": 0,' \
	'"waiting_requests": 50,' '"active_queues": 1,' '"dispatched": 3,' \
	'"no_accommodation": 0,' '"reason": "queue-full",' '"requests": 7,' \
	'"asks_for": null' '"flow_schemas": ['; do
	says "as JSON: $line" out "$line"
done
for key in demand_smoothed target_seats; do
	passes "as JSON: $key" grep -qE "\"$key\": [1-9][0-9]*\.[0-9]{6}," \
		"$tmp/out"
done
passes "and when to come back" grep -qE '"retry_after_s": [1-9]' "$tmp/out"

# Its requests stay where they are when the schema leads elsewhere.
user_schema tiny 550 deny alice >"$tmp/in"
kapfctl apply -f - <"$tmp/in" >"$tmp/out"
describe fs tiny
shows <<'END'
PriorityLevel: deny
Executing: 0
Drains: 3 executing and 50 waiting requests of the level tiny, with 3 seats
END
describe fs tiny -o json
passes "as JSON" [ "$(tr -d ' \n' <"$tmp/out" | sed 's/.*"draining"/"draining"/')" = \
	'"draining":[{"priority_level":"tiny","executing_requests":3,"waiting_requests":50,"seats_in_use":3}]}]' ]
user_schema tiny 550 tiny alice >"$tmp/in"
kapfctl apply -f - <"$tmp/in" >"$tmp/out"
kill -9 "$holder"
wait "$holder" 2>/dev/null || :
exec 3>&-
describe pl tiny
shows <<'END'
In use: 0
cancelled: 50; asks for shorter waits
END

# A wait that was too long

start_hold web alice update 4 300
tries=100
until grep -q '^verdict 4$' "$tmp/held" || [ "$tries" = 0 ]; do
	tries=$((tries - 1))
	sleep 0.1
done
release
describe pl tiny
says "asks for more seats, which it may not borrow" out "time-out: 1; asks for more seats (more shares, or borrowingLimitPercent), not longer queues"

# What would have been

run kapfctl mode observe
start_hold web alice update 54
tries=100
until [ "$(grep -c '^verdict 1$' "$tmp/held")" = 54 ] || [ "$tries" = 0 ]; do
	tries=$((tries - 1))
	sleep 0.1
done
describe pl tiny
shows <<'END'
Executing: 54
Without seats: 54, of those that execute, in modes observe and off
Waiting: 50
queue-full: 7, and in mode observe 1; asks for longer queues
END
says "the mode" out "Mode: observe: requests execute at once"
describe fs tiny
says "of a schema, too" out "Mode: observe: requests execute at once"
describe fs tiny -o json
says "as JSON" out '"mode": "observe",'
says "requests without seats" out '"passing_requests": 54,'
says "what would have been" out '"observed_requests": 1,'
release

finish
