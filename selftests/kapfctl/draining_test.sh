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
drained="SEATS-AFTER: after busy has drained; until then it keeps its shares"
run kapfctl delete pl busy --dry-run
says "a dry run says who would gain" out "catch-all 20 24 +4"
says "and when" out "$drained"
run kapfctl delete pl busy
exits "its level is deleted" 0
says "says who gains" out "catch-all 20 24 +4"
says "and when" out "$drained"
queue_level other 1 4 >"$tmp/in"
run kapfctl apply -f -
says "what is applied meanwhile" out "other - 4 +4"
says "comes after that, too" out "$drained"
run kapfctl delete pl other
says "as what is deleted" out "$drained"

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

# get and describe

run kapfctl get pl
exits "get" 0
says "a level that drains" out "busy Limited <none> 4 <none> <none> 4 4 4 2 Draining"
says "one that does not" out "catch-all Limited 5 <none> <none> <none> 20 20 0 0 Active"
run kapfctl get pl busy -o wide
exits "by name" 0
says "with all columns" out " 4 4 4 2 Draining 4..4 4 <none>"
for format in json yaml name; do
	run kapfctl get pl -o $format
	exits "-o $format" 0
	lacks "has what can be applied" out busy
	run kapfctl get pl busy -o $format
	exits "and nothing else by name" 1
	empty "at all" out
done
run kapfctl get fs busy
says "its schema is active" out "busy busy 550 ByUser True Active"
run kapfctl describe pl busy
exits "describe" 0
says "says that it drains" out "Status: drains: it is deleted, and keeps its shares until its last 6 requests have ended"
says "what it is" out "Type: Limited, Queue: 4 queues"
says "whose requests it has" out "FlowSchemas: busy"
says "its limit" out "Nominal: 4"
says "its seats" out "In use: 4"
says "its requests" out "Executing: 4"
says "and those that wait" out "Waiting: 2"
lacks "no request comes to it" out Retry-After
run kapfctl describe pl
passes "among the others" [ "$(sed -n 's/^Name: *//p' "$tmp/out" |
	tr '\n' ' ')" = "busy catch-all exempt " ]
run kapfctl describe pl busy -o json
as_json "it drains" '"priority_level":"busy","mode":"enforce","draining":true,"object":null,"flow_schemas":\["busy"\],"nominal_seats":4,'
run kapfctl describe pl catch-all -o json
as_json "one that does not" '"priority_level":"catch-all","mode":"enforce","draining":false,"object":\{'
run kapfctl describe fs busy
says "a schema without its level" out "busy, which does not exist"
says "what drains of it" out "Drains: 4 executing and 2 waiting requests of the level busy, with 4 seats"

run kapfctl delete fs busy
exits "the schema is deleted, too" 0
run kapfctl get fs
says "it drains" out "busy busy <none> <none> False Draining"
says "another does not" out "catch-all catch-all 10000 ByUser False Active"
run kapfctl get fs -o name
lacks "it is no object" out /busy
run kapfctl describe fs busy
exits "describe" 0
says "says that it drains" out "Status: drains: it is deleted"
says "where" out "PriorityLevel: busy"
says "its seats" out "In use: 4"
says "its requests" out "Waiting: 2"
run kapfctl describe fs busy -o json
as_json "it drains" '"flow_schema":"busy","mode":"enforce","object":null,"dangling":false,"seats_in_use":4,.*"draining":\[\{"priority_level":"busy","executing_requests":4,"waiting_requests":2,"seats_in_use":4\}\]'
run kapfctl describe pl,fs nosuch
exits "what is not there is not" 1
run kapfctl dump requests --details
passes "requests as before" cmp -s "$tmp/requests" "$tmp/out"

passes "its requests go on" release
passes "to their end" [ "$(grep -c finished "$tmp/held")" = 6 ]
gone() {
	! kapfctl dump priority-levels | grep -q busy
}
passes "then it is gone" await gone
run kapfctl describe pl busy
exits "for describe, too" 1
kapfctl apply -f "$tmp/busy.yaml" >"$tmp/out"
run kapfctl delete pl busy
says "a level without requests goes at once" out "catch-all 20 24 +4"
lacks "so that there is nothing to wait for" out SEATS-AFTER:
for noun in queues requests; do
	run kapfctl dump $noun
	passes "and so are its $noun" [ "$(wc -l <"$tmp/out")" = 1 ]
done

finish
