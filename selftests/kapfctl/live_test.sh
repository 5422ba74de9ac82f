#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/live_test.sh: what kapfctl shows of servers at work, and does
# to them, as root on a machine that has just loaded the module.  Wants kapfctl,
# hold and attach in PATH, tap.sh and guest.sh beside it.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"

# session_of SERVER: its number
session_of() {
	kapfctl sessions | awk -v server="$1" '$2 == server { print $1 }'
}

# evict and sessions

run kapfctl sessions
exits "no sessions" 0
says "says so" out "No sessions"

queue_level small 1 4 >"$tmp/in"
echo --- >>"$tmp/in"
user_schema small 500 small alice >>"$tmp/in"
run kapfctl apply -f - --max-requests-inflight 23 \
	--max-mutating-requests-inflight 1
exits "a level of 4 seats" 0

start api attach api team-a
exec 3>"$tmp/api.in"
start web hold web alice update 6
web=$started
exec 4>"$tmp/web.in"
passes "one holds 4 seats, and 2 of its requests wait" \
	await lists " web <none> $web hold root 4 4 2 [0-9.]*s *\$"
start late hold late alice list 1
exec 5>"$tmp/late.in"
passes "one without requests" \
	await lists ' api team-a [0-9]* attach root 0 0 0 <none>'
passes "one waits" await lists ' late <none> [0-9]* hold root 0 0 1 <none>'
number=$(session_of web)

run kapfctl sessions
exits "sessions" 0
says "in columns" out \
	"SESSION SERVER TENANT PID COMMAND USER SEATS EXECUTING WAITING OLDEST"
says "with a tenant" out "api team-a"
run kapfctl sessions -o wide
says "in more columns" out "OLDEST UID SLOTS LINGERING ATTACHED"
says "of which some are numbers" out " 0 65536 0 20"
run kapfctl sessions -o json
exits "sessions as JSON" 0
tr -d '\n' <"$tmp/out" | sed 's/  */ /g' >"$tmp/line"
passes "the keys" grep -qE "\"server\": \"web\", \"tenant\": null, \"session\": $number, \"pid\": $web, \"uid\": 0, \"slots\": 65536, \"seats_in_use\": 4, \"executing_requests\": 4, \"waiting_requests\": 2, \"lingering_requests\": 0, \"attached_at\": \"[-0-9T:.]*Z\", \"command\": \"hold\", \"user\": \"root\", \"oldest_started_at\": \"[-0-9T:.]*Z\" }" \
	"$tmp/line"
passes "of who holds nothing" grep -q \
	'"command": "attach", "user": "root", "oldest_started_at": null' \
	"$tmp/line"

run kapfctl evict "$number" 999
exits "one that is not there" 1
says "is named" err "kapfctl: there is no session 999, and none is evicted"
empty "and none is evicted" out
run kapfctl evict --dry-run "$number"
exits "a dry run" 0
says "says what would come back" out "session $number of server web, process $web (hold) would be evicted: 4 requests held 4 seats, 2 waited"
passes "and changes nothing" lists ' web <none> [0-9]* hold root 4 4 2 '

kill -STOP "$web"
passes "who is stopped waits no more" await lists ' web .* hold root 4 4 0 '
run kapfctl evict "$number"
exits "a stopped server is evicted" 0
says "says what came back" out "session $number of server web, process $web (hold) evicted: 4 requests held 4 seats, 0 waited"
passes "its session is gone" not lists ' web '
passes "its seats are another's" lists ' late <none> [0-9]* hold root 1 1 0 '
run kapfctl evict "$number"
exits "not twice" 1
kill -CONT "$web"
exec 4>&-
passes "the server lives on" wait "$web"
passes "and was told" [ "$(grep -c '^error .*shutdown' "$tmp/web.out")" = 2 ]
passes "of what it could not finish, too" not grep -q finished "$tmp/web.out"

run kapfctl evict "$(session_of api)" "$(session_of late)"
exits "two at once" 0
passes "says so of each" [ "$(grep -c ' evicted: ' "$tmp/out")" = 2 ]
says "with the tenant" out "of server api of tenant team-a, process "
says "and 1 seat" out "1 request held 1 seat, 0 waited"
run kapfctl sessions
says "none is left" out "No sessions"
exec 3>&- 5>&-
wait

finish
