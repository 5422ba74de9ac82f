#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/guest_test.sh: kapfctl against the module, as root on a
# machine that has just loaded it.  Wants kapfctl, hold and attach in PATH,
# tap.sh, guest.sh and the directory manifests beside it.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"

# cell ROW COLUMN: of the dump in $tmp/out; the header is row 1
cell() {
	awk -F ', *' -v row="$1" -v column="$2" \
		'NR == row { print $column }' "$tmp/out"
}

# row_of LEVEL: its number in the dump
row_of() {
	grep -n "^$1," "$tmp/out" | cut -d: -f1
}

# shows WHAT ROW COLUMN VALUE: the dump has this value there
shows() {
	value=$(cell "$2" "$3")
	passes "$1: $4" [ "$value" = "$4" ]
}

# A new instance

run kapfctl get prioritylevels
exits "get levels" 0
says "there is exempt" out "exempt Exempt 0 <none> <none> <none> 0 <none> 0 0 Active"
says "there is catch-all" out \
	"catch-all Limited 5 <none> <none> <none> 600 600 0 0 Active"
passes "and no other" [ "$(wc -l <"$tmp/out")" = 3 ]

user_schema early 700 workload-low early >"$tmp/in"
run kapfctl apply -f -
exits "a schema of a default level applies" 0
says "and is warned of without the defaults" err "kapfctl: warning: stdin:1: FlowSchema \"early\" names the priority level \"workload-low\", which does not exist: it matches nothing"

run kapfctl apply --defaults
exits "apply the defaults" 0
empty "without a warning" err
says "shows who loses seats" out "catch-all 600 13 -587"
says "and who gains" out "workload-low - 245 +245"
says "and how many share the budget" out \
	"budget: 600 seats, shared by 0 attached servers"
says "creates a level" out "$level/system created"
says "creates a schema" out "$schema/probes created"
says "leaves the mandatory ones" out "$schema/catch-all unchanged"
lacks "without a dry run" out "dry run"

before=$(generation)
run kapfctl apply --defaults
exits "apply them again" 0
empty "by what is in the kernel" err
lacks "creates nothing" out created
lacks "changes nothing" out configured
lacks "moves no seats" out SEATS-BEFORE
passes "and leaves the generation" [ "$(generation)" = "$before" ]

run kapfctl apply -f "$dir/manifests/ocr-batch.yaml"
exits "apply a manifest" 0
says "dilutes workload-low" out "workload-low 245 236 -9"
says "the new level has seats" out "ocr-batch - 24 +24"
says "says created" out "$schema/ocr-pipeline created"
lacks "does not name the others" out "$level/system"
passes "makes a new generation" [ "$(generation)" = "$((before + 1))" ]

sed 's/queueLengthLimit: 50/queueLengthLimit: 60/' \
	"$dir/manifests/ocr-batch.yaml" >"$tmp/in"
run kapfctl apply -f -
says "a changed level" out "$level/ocr-batch configured"
says "an unchanged schema" out "$schema/ocr-pipeline unchanged"
lacks "no seats move" out SEATS-BEFORE

user_schema early 700 workload-low early >"$tmp/in"
run kapfctl apply -f -
empty "a level that is in the kernel is not missed" err
user_schema loose 600 missing somebody >"$tmp/in"
run kapfctl apply -f -
exits "a schema without its level is kept" 0
says "with a warning" err 'FlowSchema "loose" names the priority level "missing", which does not exist'
for times in once twice; do
	user_schema loose 600 missing somebody >"$tmp/in"
	run kapfctl apply -f -
done
says "metadata comes back $times as it was" out "$schema/loose unchanged"

# get

run kapfctl get fs
says "schemas have a header" out \
	"NAME PRIORITYLEVEL MATCHINGPRECEDENCE DISTINGUISHERMETHOD MISSINGPL STATUS"
says "a schema" out "ocr-pipeline ocr-batch 8500 ByUser False Active"
says "without a distinguisher" out "probes exempt 2 <none> False"
says "without its level" out "loose missing 600 ByUser True"
passes "in the order of precedence" [ "$(sed -n 2p "$tmp/out" |
	cut -d' ' -f1)" = exempt ]
passes "to the end" [ "$(tail -n 1 "$tmp/out" | cut -d' ' -f1)" = catch-all ]

run kapfctl get pl
says "levels have a header" out "NAME TYPE NOMINALCONCURRENCYSHARES QUEUES HANDSIZE QUEUELENGTHLIMIT SEATS CURRENT IN-USE WAITING STATUS"
says "a level" out "workload-low Limited 100 128 6 50 236 "
# gets NAME TYPE...: each of the types has the object
gets() {
	name=$1
	shift
	for type; do
		run kapfctl get "$type" "$name"
		exits "get $type NAME" 0
		says "shows it" out "$name "
		passes "and nothing else" [ "$(wc -l <"$tmp/out")" = 2 ]
	done
}

gets workload-low prioritylevels prioritylevel pl PL "$level" \
	prioritylevelconfigurations PriorityLevelConfiguration \
	prioritylevelconfigurations.v1beta3.flowcontrol.apiserver.k8s.io
gets probes flowschemas flowschema fs FS FlowSchema "$schema" \
	flowschemas.flowcontrol.apiserver.k8s.io \
	flowschemas.v1.flowcontrol.apiserver.k8s.io \
	FlowSchemas.V1beta1.FlowControl.apiserver.k8s.io
run kapfctl get flowschema probes nosuch
exits "a missing one is refused" 1
says "and named" err 'kapfctl: flowschemas "nosuch" not found'
says "the other is shown" out "probes exempt"
run kapfctl get prioritylevels nosuch
exits "the same of a level" 1
says "named" err 'kapfctl: prioritylevels "nosuch" not found'
empty "no header without rows" out

# get -o: what it prints is a manifest, of what it was made from

cat >"$tmp/in" <<'END'
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata:
  name: odd
  labels: {"true": "5", "n": "yes"}
  annotations:
    a: "\x7f\x85\L\uFEFF\uFFFF\x9b\e \"q\" \\ , \xe9 \U0001F600"
    b: " lead: x\nline\n"
    c: "0x10"
    d: "- x"
    e: ""
    f: "<<"
    g: "Null"
    h: "~"
    i: "it's"
    j: "a #b"
    k: "No"
    l: "-.5"
spec:
  matchingPrecedence: 750
  priorityLevelConfiguration: {name: odd}
  distinguisherMethod: {type: ByNamespace}
  rules:
  - subjects:
    - {kind: User, user: {name: "\x7f\x9b\L 5"}}
    - {kind: ServiceAccount, serviceAccount: {namespace: "5", name: "*"}}
    resourceRules:
    - verbs: ["*"]
      apiGroups: [""]
      resources: ["*"]
      clusterScope: true
      namespaces: ["1"]
    nonResourceRules:
    - {verbs: [get], nonResourceURLs: ["*"]}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: bare}
spec:
  priorityLevelConfiguration: {name: odd}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: odd}
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 0
    lendablePercent: 7
    borrowingLimitPercent: 0
    limitResponse:
      type: Queue
      queuing: {queues: 9, handSize: 2, queueLengthLimit: 3}
END
run kapfctl apply -f -
exits "objects that are hard to print" 0
before=$(generation)
for format in json yaml; do
	for type in pl fs; do
		kapfctl get $type -o $format >"$tmp/in"
		run kapfctl apply -f -
		exits "apply takes what get $type -o $format prints" 0
		passes "all of it" [ "$(wc -l <"$tmp/out")" = \
			$(($(kapfctl get $type | wc -l) - 1)) ]
		passes "as it was" not grep -qv ' unchanged$' "$tmp/out"
	done
done
passes "so that there is no new generation" [ "$(generation)" = "$before" ]

run kapfctl get pl odd exempt -o json
passes "objects have what Kubernetes knows, and no more" [ "$(
	tr -d ' \n' <"$tmp/out" | sed -e 's/"uid":"[0-9a-f-]\{36\}"/UID/g' \
		-e 's/"generation":1,"resourceVersion":"[1-9][0-9]*"/ONCE/g')" = \
	'{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration","metadata":{"name":"exempt",UID,ONCE},"spec":{"type":"Exempt","exempt":{"nominalConcurrencyShares":0,"lendablePercent":0}}},{"apiVersion":"flowcontrol.apiserver.k8s.io/v1","kind":"PriorityLevelConfiguration","metadata":{"name":"odd",UID,ONCE},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"lendablePercent":7,"borrowingLimitPercent":0,"limitResponse":{"type":"Queue","queuing":{"queues":9,"handSize":2,"queueLengthLimit":3}}}}}]}' ]
run kapfctl get fs odd -o json
says "what YAML would trip over is escaped" out "$(
	printf '"a": "%s \303\251 \360\237\230\200"' \
	'\u007f\u0085\u2028\ufeff\uffff\u009b\u001b \"q\" \\ ,')"
run kapfctl get fs odd probes -o yaml
says "YAML has no quotes where none are needed" out " distinguisherMethod:"
says "and has them where some are" out "'n': 'yes'"
says "an object of several lines" out "- kind: ServiceAccount"
says "the other is there, too" out "name: probes"
run kapfctl get pl nosuch system -o json
exits "a missing one is refused as ever" 1
says "and named" err 'kapfctl: prioritylevels "nosuch" not found'
says "the other is printed" out '"name": "system"'
run kapfctl get pl nosuch -o json
exits "the same of only that one" 1
empty "no List of nothing" out

# classify

run kapfctl classify --user system:serviceaccount:doc-ocr:ocr-dispatcher \
	--group system:serviceaccounts --verb list --resource pods
says "classifies by the device" out "FlowSchema: ocr-pipeline"
says "with its nominal limit" out "Seats: 1, a list at most 4"
run kapfctl classify --user somebody --verb list --resource pods --namespace x
says "a dangling schema matches nothing" out "FlowSchema: global-default"
run kapfctl explain --as somebody --url /api/v1/namespaces/x/pods
exits "explains by the device" 0
says "why a dangling schema does not match" out "loose 600 fails spec.priorityLevelConfiguration missing <none>"
says "why another does not" out "early 700 fails spec.rules[0].subjects User early User somebody of system:authenticated"
says "what does" out "global-default 9900 matches spec.rules[0].resourceRules[0] Group system:authenticated <none>"
says "and what becomes of it" out "PriorityLevel: global-default"

# Requests in flight: 600 * 1 / 256 shares are 3 seats

{ queue_level tiny 1 4; echo ---; user_schema tiny 550 tiny alice; } >"$tmp/in"
run kapfctl apply -f -
says "a level of 3 seats" out "tiny - 3 +3"
passes "requests of alice" hold_requests 3 web alice update 5

run kapfctl get pl tiny
says "seats in use and requests waiting" out "tiny Limited 1 4 1 50 3 3 3 2 Active"

run kapfctl status
exits "status" 0
says "the mode" out "Mode: enforce"
says "the budget" out "Budget: 600 seats (max-requests-inflight 400, max-mutating-requests-inflight 200)"
says "how often limits are adjusted" out "Adjustment: every 10s"
passes "what is in use" grep -qx 'In use:  *3 seats, and 0 exempt' "$tmp/out"
says "what waits" out "Waiting: 2 requests for 2 seats"
says "how many servers" out "Servers: 1"
passes "the server" grep -qE \
	"^web +<none> +[0-9]+ +$holder +0 +[0-9]+ +3 +3 +2 +0 +20" "$tmp/out"

run kapfctl dump priority-levels
exits "dump levels" 0
says "in the reference's columns" out "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests"
passes "sorted by name" [ "$(sed 1d "$tmp/out" | sort)" = \
	"$(sed 1d "$tmp/out")" ]
row=$(row_of tiny)
column=1
for value in tiny 1 false false 2 3 3 0 0 0; do
	shows "column $column" "$row" "$column" "$value"
	column=$((column + 1))
done
shows "an idle level" "$(row_of system)" 3 true

run kapfctl dump requests
exits "dump requests" 0
says "in the reference's columns" out "PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime, InitialSeats, FinalSeats, AdditionalLatency, StartTime"
passes "a row for each" [ "$(wc -l <"$tmp/out")" = 6 ]
shows "the first that waits" 2 4 0
shows "the second" 3 4 1
shows "they have not started" 2 10 0001-01-01T00:00:00Z
for row in 4 5 6; do
	shows "one that executes" "$row" 4 -1
done
column=1
for value in tiny tiny "$(cell 2 3)" -1 alice "$(cell 4 6)" 1 0 0s; do
	shows "column $column" 4 "$column" "$value"
	column=$((column + 1))
done
passes "in one of 4 queues" [ "$(cell 4 3)" -ge 0 ]
passes "times are of RFC 3339" grep -qE \
	' [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]*[1-9])?Z$' "$tmp/out"
passes "no row ends in a comma" not grep -q ', *$' "$tmp/out"

run kapfctl dump requests --details
says "with details" out "StartTime, UserName, Verb, APIPath, Namespace, Name, APIVersion, Resource, SubResource"
column=11
for value in alice update '/apis/apps/v1/namespaces/ns/pods/x\x2cy/status' ns \
	'x\x2cy' apps/v1 pods status; do
	shows "column $column" 2 "$column" "$value"
	column=$((column + 1))
done

queue=$(cell 2 3)
moment='"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]*[1-9])?Z"'

# object REGEX: the JSON has an object that is this, without white space
object() {
	tr -d ' \n' <"$tmp/out" >"$tmp/json"
	passes "has $1" grep -qE "(^|[[,])\\{$1\\}" "$tmp/json"
}

run kapfctl dump requests -o json
exits "requests as JSON" 0
session=$(kapfctl status | awk '$1 == "web" { print $3 }')
object "\"priority_level\":\"tiny\",\"flow_schema\":\"tiny\",\"session\":$session,\"slot\":[0-4],\"state\":\"waiting\",\"queue\":$queue,\"index_in_queue\":1,\"arrived_at\":$moment,\"started_at\":null,\"wait_ns\":[1-9][0-9]+,\"initial_seats\":1,\"final_seats\":0,\"additional_latency_ns\":0,\"flow_distinguisher\":\"alice\""
object "\"priority_level\":\"tiny\",\"flow_schema\":\"tiny\",\"session\":$session,\"slot\":[0-4],\"state\":\"executing\",\"queue\":$queue,\"index_in_queue\":null,\"arrived_at\":$moment,\"started_at\":$moment,\"wait_ns\":[0-9]+,[^}]*"
passes "one for each" [ "$(grep -c '"slot":' "$tmp/out")" = 5 ]
run kapfctl dump requests --details -o json
object '[^}]*"user":"alice","verb":"update","path":"/apis/apps/v1/namespaces/ns/pods/x,y/status","namespace":"ns","name":"x,y","api_version":"apps/v1","resource":"pods","subresource":"status"'

run kapfctl dump priority-levels -o json
exits "levels as JSON" 0
object '"priority_level":"tiny","type":"Limited","draining":false,"current_seats":3,"nominal_seats":3,"seats_in_use":3,"executing_requests":3,"lingering_requests":0,"waiting_requests":2,"waiting_seats":2,"queues":4,"active_queues":1,"dispatched_requests":3,"rejected_queue_full_requests":0,"rejected_concurrency_limit_requests":0,"rejected_time_out_requests":0,"rejected_cancelled_requests":0,"retry_after_s":1,"current_r_seat_seconds":[0-9]+\.[0-9]{8}'
object '"priority_level":"exempt","type":"Exempt","draining":false,"current_seats":null,[^}]*'

run kapfctl dump queues -o json
exits "queues as JSON" 0
object "\"priority_level\":\"tiny\",\"queue\":$queue,\"waiting_requests\":2,\"executing_requests\":3,\"seats_in_use\":3,\"next_dispatch_r_seat_seconds\":0\.[0-9]{8},\"waiting_initial_seats\":2,\"waiting_seats\":2,\"waiting_work_seat_seconds\":0\.00600000"
passes "as many as in the table" [ "$(grep -c '"queue":' "$tmp/out")" = \
	$(($(kapfctl dump queues | wc -l) - 1)) ]

run kapfctl status -o json
exits "status as JSON" 0
object "\"mode\":\"enforce\",\"budget_seats\":600,\"max_requests_inflight\":400,\"max_mutating_requests_inflight\":200,\"adjustment_period_ms\":10000,\"seats_in_use\":3,\"exempt_seats_in_use\":0,\"passing_requests\":0,\"waiting_requests\":2,\"waiting_seats\":2,\"generation\":$(generation),\"servers\":\[.*\]"
object "\"server\":\"web\",\"tenant\":null,\"session\":$session,\"pid\":$holder,\"uid\":0,\"slots\":65536,\"seats_in_use\":3,\"executing_requests\":3,\"waiting_requests\":2,\"lingering_requests\":0,\"attached_at\":$moment"

run kapfctl dump queues
exits "dump queues" 0
says "in the reference's columns" out "PriorityLevelName, Index, PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR, InitialSeatsSum, MaxSeatsSum, TotalWorkSum"
passes "a row for each queue" [ "$(grep -c '^tiny,' "$tmp/out")" = 4 ]
passes "of each level that has some" [ "$(sed 1d "$tmp/out" | cut -d, -f1 |
	uniq | tr '\n' ' ')" = "$(kapfctl get pl | sed 1d |
	awk '$4 != "<none>" { printf "%s ", $1 }')" ]
row=$(($(row_of tiny | head -n 1) + queue))
column=1
virtual=$(cell "$row" 6)
passes "virtual time has passed" [ "$virtual" != 0.00000000ss ]
passes "with 8 digits" [ "${#virtual} ${virtual#0.????????}" = "12 ss" ]
# Each request is taken to execute for 3 ms.
for value in tiny "$queue" 2 3 3 "$virtual" 2 2 0.00600000ss; do
	shows "column $column" "$row" "$column" "$value"
	column=$((column + 1))
done
row=$(row_of workload-low | tail -n 1)
column=1
for value in workload-low 127 0 0 0 0.00000000ss 0 0 0.00000000ss; do
	shows "an idle queue, column $column" "$row" "$column" "$value"
	column=$((column + 1))
done

queue_level late 1 4 >"$tmp/in"
before=$(generation)
run kapfctl apply -f -
exits "a change while requests are in flight" 0
says "shows the seats" out "late - 3 +3"
says "counts the servers" out "shared by 1 attached server"
passes "counts as one" [ "$(generation)" = $((before + 1)) ]
run kapfctl get pl tiny
says "what executes and waits stays" out "tiny Limited 1 4 1 50 3 3 3 2 Active"

passes "the server ends well" release
passes "it has finished all" [ "$(grep -c finished "$tmp/held")" = 5 ]

passes "one request that waits" hold_requests 3 web alice update 4
run kapfctl status
passes "1 request is not requests" grep -qx 'Waiting:  *1 request for 1 seat' \
	"$tmp/out"
passes "the server ends well" release

passes "requests of alice again" hold_requests 3 web alice update 5
kill -9 "$holder"
wait "$holder" 2>/dev/null || :
exec 3>&-
run kapfctl dump priority-levels
row=$(row_of tiny)
shows "a killed server leaves no request waiting" "$row" 5 0
shows "nor executing" "$row" 6 0
shows "those that waited count as rejected" "$row" 8 2
shows "as none that timed out" "$row" 9 0
shows "as cancelled" "$row" 10 2

run kapfctl mode
says "the mode" out enforce
run kapfctl mode sometimes
exits "there is no such mode" 2
says "says which there are" err "there is no mode \"sometimes\": enforce, observe or off"
run kapfctl mode observe
exits "observe" 0
passes "says so" [ "$(cat "$tmp/out")" = "mode observe set" ]
passes "five requests execute, of which two would wait" \
	hold_requests 5 web alice update 5 2
run kapfctl status
says "status has the mode" out "Mode: observe: requests execute at once; what waits or holds seats would do so"
says "seats would be in use" out "In use: 3 seats would be, and 0 exempt; 5 requests execute without seats"
says "requests would wait" out "Waiting: 2 requests for 2 seats would wait"
run kapfctl status -o json
says "the mode as JSON" out '"mode": "observe",'
says "and who has no seats" out '"passing_requests": 5,'
run kapfctl mode
says "what would become of them" out "tiny 2 3 0 0 0 0"
run kapfctl mode -o json
object '"priority_level":"tiny","passing_requests":5,"observed_dispatched_requests":3,"observed_queue_full_requests":0,"observed_concurrency_limit_requests":0,"observed_time_out_requests":0,"observed_cancelled_requests":0'
run kapfctl mode off
exits "off" 0
says "says so" out "mode off set"
passes "the server ends well" release
start_hold web alice update 1
passes "a request without a seat" await grep -q '^verdict 1$' "$tmp/held"
run kapfctl status
says "status has this mode, too" out "Mode: off: requests execute at once, without seats"
says "and why no seats are in use" out "In use: 0 seats, and 0 exempt; 1 request executes without seats"
lacks "nobody would wait" out would
passes "the server ends well" release
run kapfctl mode -o json
object '"mode":"off","capped_requests":0,"capped_mutating_requests":0,"priority_levels":\[.*\]'
run kapfctl mode enforce
exits "enforce again" 0

mkfifo "$tmp/attached"
attach api team-a.example <"$tmp/attached" &
exec 3>"$tmp/attached"
tries=100
until kapfctl status | grep -q "^Servers: *1$" || [ "$tries" = 0 ]; do
	tries=$((tries - 1))
	sleep 0.1
done
run kapfctl status
says "servers have a tenant" out "SERVER TENANT SESSION PID UID SLOTS SEATS-IN-USE EXECUTING WAITING LINGERING ATTACHED"
says "the tenant" out "api team-a.example "
run kapfctl status -o json
says "the same as JSON" out '"tenant": "team-a.example",'
exec 3>&-
wait

# What queues cost and buy, with the present seats; a second is measured.

run kapfctl tradeoff tiny
exits "tradeoff" 0
says "has the current seats" out "Seats: 3"
says "the level's queues" out "Queues 4 8 4"
says "without requests assumes a time" out "Service: 100ms, assumed"

# while_served: until some time after a request has been granted
while_served() {
	until grep -q verdict "$tmp/held"; do
		sleep 0.01
	done
	sleep 0.3
}

# serve: one time after another, requests that are held for 0.3 s
serve() {
	while [ -e "$tmp/serve" ]; do
		: >"$tmp/held"
		while_served | hold web alice get 2 >"$tmp/held"
	done
}

: >"$tmp/serve"
serve &
server=$!
tries=10
until run kapfctl tradeoff tiny -o json &&
	grep -q '"service_is": "measured"' "$tmp/out" || [ "$tries" = 0 ]; do
	tries=$((tries - 1))
done
rm "$tmp/serve"
wait "$server"
says "else measures it" out '"service_is": "measured"'
service=$(sed -n 's/.*"service_ns": \([0-9]*\),.*/\1/p' "$tmp/out")
passes "requests that take 0.3 s take $service ns" [ "$service" -gt 75000000 ]
passes "and no longer" [ "$service" -lt 5000000000 ]

odd=$(printf 'J\303\266rg,\\\303\033[1m')
passes "a request of a strange user" hold_requests 1 web "$odd" get 1
run kapfctl status
says "1 seat is not seats" out "In use: 1 seat, and 0 exempt"
says "0 are seats, and requests" out "Waiting: 0 requests for 0 seats"
run kapfctl dump requests
shows "control characters are escaped" 2 5 \
	"$(printf 'J\303\266rg\\x2c\\x5c\\xc3\\x1b[1m')"
passes "the server ends well" release

# The adjustment period

before=$(generation)
run kapfctl apply --adjustment-period 60s
exits "another adjustment period" 0
says "is told of" out "adjustment period: 60s, before 10s"
passes "is a change" [ "$(generation)" = $((before + 1)) ]
run kapfctl apply --adjustment-period 60s
empty "the same one is none" out
passes "nothing has changed" [ "$(generation)" = $((before + 1)) ]
run kapfctl apply --max-requests-inflight 401
exits "other changes" 0
run kapfctl status
says "leave it as it is" out "Adjustment: every 60s"
run kapfctl status -o json
passes "as JSON says, too" grep -q '"adjustment_period_ms": *60000,' "$tmp/out"

# What the kernel refuses

before=$(generation)
run kapfctl apply --max-requests-inflight 0 --max-mutating-requests-inflight 0
exits "no seats at all are refused" 1
says "in the words of kube-apiserver" err "MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive"
queue_level huge 10 10000000 >"$tmp/huge.yaml"
run kapfctl apply -f "$tmp/huge.yaml"
exits "more queues than the instance allows are refused" 1
says "names file and object" err \
	"kapfctl: $tmp/huge.yaml:1: PriorityLevelConfiguration \"huge\""
says "names the field" err limitResponse.queuing.queues
says "and the limit" err "must be at most max_queues of the module kapf, 16384"
passes "nothing has changed" [ "$(generation)" = "$before" ]

run su -s /bin/sh nobody -c 'kapfctl status'
exits "only root may look" 1
says "says so" err "/dev/kapfctl0: no permission to open it for reading"

for command in status "get fs" "dump requests" "dump queues" \
	"apply --defaults"; do
	# shellcheck disable=SC2086
	run kapfctl --device /dev/kapf0 $command
	exits "the submit node is refused: $command" 1
	says "and the control node named" err "kapfctl: /dev/kapf0 is a submit node, for servers: must be a control node: /dev/kapfctl0"
done

# Several at once: each reads, changes and writes, and none is lost.

workers=
for i in 1 2 3 4 5 6; do
	queue_level "worker-$i" 1 4 >"$tmp/worker-$i.yaml"
	kapfctl apply -f "$tmp/worker-$i.yaml" >"$tmp/worker-$i.out" 2>&1 &
	workers="$workers $!"
done
for worker in $workers; do
	passes "one of several" wait "$worker"
done
run kapfctl get pl worker-1 worker-2 worker-3 worker-4 worker-5 worker-6
exits "all changes are there" 0

# Queues are of one configuration, also when another is applied meanwhile.

queue_level shifting 1 4 >"$tmp/few.yaml"
queue_level shifting 1 3000 >"$tmp/many.yaml"
kapfctl apply -f "$tmp/few.yaml" >"$tmp/out"
shift_queues() {
	while [ ! -e "$tmp/stop" ]; do
		kapfctl apply -f "$tmp/many.yaml"
		kapfctl apply -f "$tmp/few.yaml"
	done
}
shift_queues >"$tmp/shifted" 2>&1 &
shifter=$!
counts=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	run kapfctl dump queues
	counts="$counts $(grep -c '^shifting,' "$tmp/out")"
done
: >"$tmp/stop"
wait "$shifter"
passes "all queues, and none of another configuration: $counts" [ "$(
	echo "$counts" | tr ' ' '\n' | grep -cxE '4|3000')" = 20 ]

finish
