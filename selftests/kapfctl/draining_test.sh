#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/draining_test.sh: what kapfctl shows of levels and schemas that
# were deleted and still have requests, as root on a machine that has just loaded
# the module.  Wants kapfctl and hold in PATH, tap.sh and guest.sh beside it.
# Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"

# as_json WHAT REGEX: the JSON in $tmp/out has this, without white space
as_json() {
	tr -d ' \n' <"$tmp/out" >"$tmp/json"
	passes "as JSON: $1" grep -qE -e "$2" "$tmp/json"
}

{ queue_level busy 1 4; echo ---; user_schema busy 550 busy alice; } \
	>"$tmp/busy.yaml"
kapfctl apply -f "$tmp/busy.yaml" --max-requests-inflight 23 \
	--max-mutating-requests-inflight 1 >"$tmp/out"
passes "4 seats are held, and 2 requests wait" hold_requests 4 web alice update 6
run kapfctl dump priority-levels
says "a level that is configured" out "busy, 1, false, false, 2, 4, 4, 0, 0, 0"
run kapfctl dump priority-levels -o json
as_json "it does not drain" '"priority_level":"busy","type":"Limited","draining":false,'
kapfctl dump queues >"$tmp/queues"
kapfctl dump requests --details >"$tmp/requests"
run kapfctl delete pl busy
exits "its level is deleted" 0

# dump

run kapfctl dump priority-levels
exits "levels" 0
says "it drains" out "busy, 1, false, true, 2, 4, 4, 0, 0, 0"
passes "sorted by name" [ "$(sed 1d "$tmp/out" | cut -d, -f1 | tr '\n' ' ')" = \
	"busy catch-all exempt " ]
run kapfctl dump priority-levels -o json
as_json "it drains" '"priority_level":"busy","type":"Limited","draining":true,'
run kapfctl dump queues
exits "queues" 0
passes "one has those that wait" [ "$(grep -c '^busy, *[0-3], *2, *4, *4,' \
	"$tmp/out")" = 1 ]
passes "as many as before" [ "$(wc -l <"$tmp/out")" = \
	"$(wc -l <"$tmp/queues")" ]
run kapfctl dump queues -o json
as_json "queues" '"priority_level":"busy","queue":[0-3],"waiting_requests":2,'
run kapfctl dump requests --details
passes "requests as before" cmp -s "$tmp/requests" "$tmp/out"
run kapfctl dump requests -o json
passes "as JSON: all" [ "$(grep -c '"priority_level": "busy"' "$tmp/out")" = 6 ]
run kapfctl delete fs busy
exits "the schema, too" 0
run kapfctl dump requests --details
passes "requests as before" cmp -s "$tmp/requests" "$tmp/out"

passes "its requests go on" release
passes "to their end" [ "$(grep -c finished "$tmp/held")" = 6 ]
gone() {
	! kapfctl dump priority-levels | grep -q busy
}
passes "then it is gone" await gone
for noun in queues requests; do
	run kapfctl dump $noun
	passes "and so are its $noun" [ "$(wc -l <"$tmp/out")" = 1 ]
done

finish
