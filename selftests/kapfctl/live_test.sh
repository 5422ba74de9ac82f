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
run kapfctl evict --dry-run "$number" -o json
exits "a dry run as JSON" 0
tr -d '\n' <"$tmp/out" | sed 's/  */ /g' >"$tmp/line"
passes "the same" [ "$(cat "$tmp/line")" = "[ { \"session\": $number, \"server\": \"web\", \"tenant\": null, \"pid\": $web, \"command\": \"hold\", \"outcome\": \"would be evicted\", \"seats\": 4, \"requests\": 4, \"waiting_requests\": 2 }]" ]
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
start last attach last team-a
exec 4>"$tmp/last.in"
await lists ' last team-a '
run kapfctl evict "$(session_of last)" -o json
exits "one as JSON" 0
says "which says so" out '"outcome": "evicted"'
says "of its tenant" out '"tenant": "team-a"'
says "and that it held nothing" out '"seats": 0'
passes "it is gone" not lists ' last '
exec 3>&- 4>&- 5>&-
wait

# lint --live

# release_all: end what was started, and wait until it is gone
release_all() {
	exec 3>&- 4>&- 5>&-
	wait
}

# pair SERVER SERVER USER: each holds a request of the user, until release_all;
# SERVER as hold takes it
pair() {
	start "${1%/*}" hold "$1" "$3" list 1
	exec 3>"$tmp/${1%/*}.in"
	start "${2%/*}" hold "$2" "$3" list 1
	exec 4>"$tmp/${2%/*}.in"
	await lists " ${1%/*} .* 1 0 "
	await lists " ${2%/*} .* 1 0 "
}

# finds RULE KIND/NAME TEXT: one warning, which says so, with what to do
finds() {
	run kapfctl lint --live
	exits "$1: exit status" 0
	passes "$1: of $2" grep -q \
		"^warning: ${2%%/*} \"${2#*/}\": .* \[$1\]\$" "$tmp/out"
	says "$1: $3" out "$3"
	passes "$1: why, and what to change" [ "$(grep -c '^    [A-Z].*\.$' \
		"$tmp/out")" = 2 ]
	passes "$1: and nothing else" [ "$(wc -l <"$tmp/out")" = 3 ]
	run kapfctl lint --live --strict
	exits "$1: exit status with --strict" 1
}

# finds_nothing WHAT
finds_nothing() {
	run kapfctl lint --live --strict
	exits "nothing: $1" 0
	empty "and nothing is printed" out
	empty "nor complained of" err
}

{
	user_schema by-namespace 510 small carol | sed 's/ByUser/ByNamespace/'
	echo ---
	user_schema by-none 520 small dave | sed '/ distinguisherMethod:/d; / ByUser/d'
	echo ---
	user_schema team 530 small 'kapf:tenant:team-b' |
		sed 's/kind: User/kind: Group/; s/user:/group:/; s/verbs: .*/verbs: [list]/'
	echo ---
	user_schema bob 540 small bob
} >"$tmp/in"
run kapfctl apply -f - --max-requests-inflight 230
exits "more seats, and schemas" 0
finds_nothing "no servers"

start one hold one alice list 2
one=$started
exec 3>"$tmp/one.in"
await lists ' one .* 2 0 '
finds_nothing "several requests of one process"
start two hold two bob list 1
exec 4>"$tmp/two.in"
await lists ' two .* 1 0 '
finds_nothing "users of their own"
start three hold three alice list 1
three=$started
exec 5>"$tmp/three.in"
await lists ' three .* 1 0 '
finds one-flow FlowSchema/small "2 processes feed one flow, \"alice\" in the priority level \"small\", with 3 requests: server one, process $one (hold); server three, process $three (hold)"
says "that of users" out "a user name of its own"
run kapfctl lint --live -o json
exits "as JSON" 0
passes "without a file" grep -q \
	'"rule": "one-flow", "severity": "warning", "file": null, "line": null, "kind": "FlowSchema", "name": "small", "what": "2 processes feed' <<END
$(tr -d '\n' <"$tmp/out" | tr -s ' ')
END
release_all

pair four five carol
finds one-flow FlowSchema/by-namespace '2 processes feed one flow, "ns" in'
says "that of a namespace" out "Say ByUser"
release_all
pair six seven dave
finds one-flow FlowSchema/by-none '2 processes feed one flow, "" in'
says "that of a schema" out "Say distinguisherMethod"
release_all

pair eight nine erin
finds_nothing "one user in catch-all, which has no queues"
release_all

pair ten/team-b eleven alice
finds_nothing "a tenant's user, and another of this name"
release_all

start twelve hold twelve/team-b erin list 1
exec 3>"$tmp/twelve.in"
await lists ' twelve team-b .* 1 0 '
finds_nothing "a tenant in its level"
start thirteen hold thirteen/team-b erin update 2
exec 4>"$tmp/thirteen.in"
await lists ' thirteen team-b .* 2 0 '
finds lost-tenant Tenant/team-b '2 of its 3 requests in flight are in the priority level "catch-all": server twelve'
release_all

start fourteen attach fourteen team-a
attached=$started
exec 3>"$tmp/fourteen.in"
await lists ' fourteen team-a '
finds lost-tenant Tenant/team-a "no FlowSchema leads the group \"kapf:tenant:team-a\" to a priority level but catch-all: server fourteen, process $attached (attach)"
release_all

finish
