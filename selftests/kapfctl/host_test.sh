#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/host_test.sh: what kapfctl does without a device; and the help
# of the demo's programs, which lie beside it.  KAPFCTL and MANIFESTS say where they
# are.  Prints TAP.
set -eu
kapfctl=${KAPFCTL:?}
manifests=${MANIFESTS:?}
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

# level NAME SHARES, schema NAME PRECEDENCE LEVEL: manifests
level() {
	cat <<END
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata:
  name: $1
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: $2
    limitResponse:
      type: Reject
END
}

schema() {
	cat <<END
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata:
  name: $1
spec:
  matchingPrecedence: $2
  priorityLevelConfiguration:
    name: $3
  rules:
  - subjects:
    - kind: User
      user:
        name: tester
    nonResourceRules:
    - verbs: ["*"]
      nonResourceURLs: ["*"]
END
}

# Against a new instance
dry_run() {
	run "$kapfctl" --device "$tmp/none" apply --dry-run "$@"
}

# Help and version

run "$kapfctl" --help
exits "--help is done" 0
for command in apply lint diff replace delete get describe maintain mode classify \
	explain dump status odds tradeoff sessions evict top metrics why-slow report \
	completion; do
	says "--help names $command" out "$command"
done
passes "--help is not wide" not grep -qE '.{83}' "$tmp/out"
run "$kapfctl" --version
exits "--version is done" 0
says "--version names the interface" out "interface 1"
for command in apply lint diff replace delete get describe maintain mode classify \
	explain dump status odds tradeoff sessions evict top metrics why-slow report \
	completion; do
	run "$kapfctl" "$command" --help
	exits "$command --help is done" 0
	says "$command --help shows usage" out "usage: kapfctl $command"
	says "$command --help shows --device" out "--device PATH"
	empty "$command --help says nothing on stderr" err
	passes "$command --help is not wide" not grep -qE '.{83}' "$tmp/out"
	case $command in
	diff | maintain | metrics | completion)
		lacks "$command has no -o" out "-o, --output"
		;;
	report) says "$command --help shows -o" out "-o, --output FILE" ;;
	*) says "$command --help shows -o" out "-o, --output FORMAT" ;;
	esac
done

# As kubectl has them
for words in "help:--help" "help apply:apply --help" "version:--version"; do
	# shellcheck disable=SC2086
	"$kapfctl" ${words#*:} >"$tmp/expected"
	# shellcheck disable=SC2086
	run "$kapfctl" ${words%:*}
	exits "${words%:*}" 0
	passes "is ${words#*:}" cmp -s "$tmp/expected" "$tmp/out"
done
refuses_to_run 'there is no command "frobnicate"' help frobnicate
refuses_to_run '"get" is too much' help apply get
refuses_to_run '"now" is too much' version now

for program in kapf-demo kapf-demo-server kapf-demo-agents \
	kapf-demo-heartbeats kapf-demo-report; do
	run timeout 10 "$(dirname "$kapfctl")/$program" --help
	exits "$program --help is done" 0
	says "$program --help shows usage" out "usage: $program "
	empty "$program --help says nothing on stderr" err
done
run timeout 10 "$(dirname "$kapfctl")/kapf-demo-heartbeats" --wrong
exits "kapf-demo-heartbeats takes no option for a socket" 2

# results RUN SECONDS SERVERS-KILLED: as far as the demo judges them
results() {
	echo "\"$1\": {\"seconds\": $2, \"servers_killed\": $3,
		\"memory_max_bytes\": 9, \"peak_memory_bytes\": 1,
		\"list_lost\": 0, \"lease_missed\": 0,
		\"heartbeat_p99_ms\": 2}"
}

{ echo "{"; results idle 10 0; echo ","; results without 25 3; echo ","
results with 13 0; echo "}"; } >"$tmp/demo.json"
run "$(dirname "$kapfctl")/kapf-demo-report" "$tmp/demo.json"
exits "kapf-demo-report judges results" 0
says "and says how long each run was" out "duration (s) 10 25 13"

# Wrongly typed

refuses_to_run 'a command is missing'
refuses_to_run 'there is no command "frobnicate"' frobnicate
refuses_to_run "unrecognized option '--wrong'" --wrong
refuses_to_run 'nothing to apply' apply
refuses_to_run 'files are named by -f' apply some.yaml
refuses_to_run '"-1" is not a number of 0 to 65535' apply \
	--max-requests-inflight=-1
refuses_to_run '"70000" is not a number' apply --max-requests-inflight 70000
refuses_to_run '"4x" is not a number' apply --max-mutating-requests-inflight 4x
for period in 99ms 601s 10 5m -1s s '' 0x1s 4294967396ms; do
	refuses_to_run "\"$period\" is not a duration of 100ms to 600s" apply \
		--adjustment-period="$period"
done
refuses_to_run 'say what to get' get
refuses_to_run 'say what to describe' describe
refuses_to_run '"pods" is no kind of object' describe pods
refuses_to_run '"pods" is no kind of object: must be prioritylevels, flowschemas or all' get pods
for type in '' p pods. flow flowschemass flowschemas. flowschemas.v1 fs.apps \
	fs.v2.flowcontrol.apiserver.k8s.io .flowcontrol.apiserver.k8s.io; do
	refuses_to_run "\"$type\" is no kind of object" get "$type"
	refuses_to_run "\"$type\" is no kind of object" get "pl,$type"
	refuses_to_run "\"$type\" is no kind of object" get "$type/x"
	refuses_to_run "\"$type\" is no kind of object" delete "$type" x
done
refuses_to_run '"pl/x/y" is not KIND/NAME' get pl/x/y
refuses_to_run '"pl/" is not KIND/NAME' get fs/x pl/
refuses_to_run '"x" has no kind: KIND/NAME goes with others of its form alone' \
	get pl/y x
refuses_to_run '"pl/x" is no name of an object' get fs pl/x
refuses_to_run '"" is no name of an object' get fs ''
refuses_to_run 'say what to delete: KIND NAME... or -f FILE' delete
refuses_to_run 'say which to delete: a NAME is missing' delete fs
refuses_to_run 'either -f or KIND and NAME, not both' delete fs x \
	-f "$manifests/ocr-batch.yaml"
refuses_to_run '--dry-run=maybe is not accepted: must be none, client or server' \
	delete fs x --dry-run=maybe
refuses_to_run '--dry-run= is not accepted' apply --defaults --dry-run=
refuses_to_run 'nothing to replace: -f is missing' replace
refuses_to_run 'files are named by -f' replace some.yaml
refuses_to_run 'nothing to diff' diff
refuses_to_run 'files are named by -f' diff some.yaml
refuses_to_run "unrecognized option '--dry-run'" diff --defaults --dry-run
refuses_to_run '"now" is too much' maintain now
for period in '' m 0 0s 5 90 25h 1441m 86401 86401s 1d -1s 1.5m 99999999999999999999; do
	refuses_to_run "--every \"$period\" is not accepted: must be 1s to 24h" \
		maintain --every="$period"
done
refuses_to_run 'say what to dump: priority-levels, queues or requests' dump
refuses_to_run '"queue" cannot be dumped, only priority-levels, queues and requests' \
	dump queue
refuses_to_run '"pods" cannot be dumped' dump pods requests
refuses_to_run '"foo" is too much' dump requests foo
refuses_to_run '"bar" is too much' dump --details requests bar foo
refuses_to_run '"foo" is too much' dump queues foo
refuses_to_run '--details goes with requests' dump priority-levels --details
refuses_to_run '--details goes with requests' dump queues --details
refuses_to_run '"now" is too much' status now
refuses_to_run '"now" is too much' sessions now
for interval in '' 5 s 99ms 601s 1m -1s 1.5s 99999999999999999999s; do
	refuses_to_run "--interval \"$interval\" is not accepted: must be 100ms to 600s" \
		why-slow --interval="$interval"
done
for address in localhost ::1:9101 :x :65536 '[]:1' '[::1]' a:b:1 :1/metrics; do
	refuses_to_run "--listen \"$address\" is not accepted: must be HOST:PORT, [HOST]:PORT or :PORT" \
		metrics --listen "$address"
done
refuses_to_run "\"now\" is too much" metrics now
refuses_to_run "-o goes with --once" top -o json
refuses_to_run "this is no terminal: must be --once" top
for key in '' seat SEATS; do
	refuses_to_run "--sort \"$key\" is not accepted: must be seats, waiting, dispatched, refused or name" \
		top --once --sort="$key"
done
refuses_to_run 'the number of a session is missing' evict --dry-run
for number in web -1 '' 1x 99999999999999999999; do
	refuses_to_run "\"$number\" is not the number of a session" \
		evict -- 1 "$number"
done
refuses_to_run '--user is missing' classify --verb get --path /
refuses_to_run '--tenant "Blue" is not accepted: must be 1 to 63 of' \
	classify --user a --tenant Blue --verb get --path /
refuses_to_run '--tenant "" is not accepted: must be 1 to 63 of' \
	classify --user a --tenant "" --verb get --path /
refuses_to_run '--verb is missing' classify --user alice --path /
refuses_to_run 'one of --url, --resource and --path is needed' classify --user a --verb get
refuses_to_run 'one of --url, --resource and --path is needed' classify --user a --verb get \
	--resource pods --path /
refuses_to_run '--namespace goes with --resource' classify --user a \
	--verb get --path / --namespace x
refuses_to_run '"pods/log" has a subresource' classify --user a --verb get \
	--resource pods/log --subresource exec
methods='get, head, post, put, patch, delete, options, connect, trace'
for verb in frobnicate LIST post '*' ''; do
	refuses_to_run "--verb \"$verb\" is not accepted with --resource: must be one of get, list, watch, create, update, patch, delete, deletecollection, proxy" \
		classify --user a --verb "$verb" --resource pods
done
for verb in frobnicate GET list ''; do
	refuses_to_run "--verb \"$verb\" is not accepted with --path: must be one of $methods" \
		classify --user a --verb "$verb" --path /
done
for path in healthz ''; do
	refuses_to_run "--path \"$path\" is not accepted: must be a path that begins with /" \
		classify --user a --verb get --path "$path"
done
refuses_to_run '"deployments.apps" has an API group, so that --api-group "batch" is too much' \
	classify --user a --verb get --resource deployments.apps --api-group batch
for resource in '' / pods/ /log pods/log/x pods. .apps pods./log; do
	refuses_to_run "--resource \"$resource\" is not accepted: must be RESOURCE[.GROUP][/SUBRESOURCE]" \
		classify --user a --verb get --resource "$resource"
done
refuses_to_run '--user "" is not accepted: must be a name' classify \
	--user '' --verb get --path /
refuses_to_run 'try kapfctl classify --help' classify --user
for format in yaml JSON or ''; do
	for command in status "dump requests" "dump queues" classify; do
		# shellcheck disable=SC2086
		refuses_to_run "-o \"$format\" is not accepted: must be json" \
			$command -o "$format"
	done
done
for format in names yam or '' 'json,' 'json, yaml'; do
	refuses_to_run "-o \"$format\" is not accepted: must be json, yaml, wide or name" \
		get fs --output="$format"
done
refuses_to_run '-o "yaml" is not accepted: must be json or wide' sessions -o yaml
for format in json wide or ''; do
	for command in "apply --defaults" replace "delete fs x"; do
		# shellcheck disable=SC2086
		refuses_to_run "-o \"$format\" is not accepted: must be name" \
			$command -o "$format"
	done
done
refuses_to_run "invalid option -- 'o'" diff --defaults -o name
refuses_to_run "unrecognized option '--output=json'" maintain --output=json
refuses_to_run "option requires an argument -- 'o'" status -o

# No device

for command in "apply --defaults" "apply --defaults --dry-run=server" \
	"delete fs x --dry-run" "replace -f $manifests/ocr-batch.yaml" \
	maintain "maintain --dry-run" "get fs" "describe all" "dump requests" "dump queues" \
	status "classify --user alice --verb get --path /" sessions "evict 1" \
	why-slow "top --once"; do
	# shellcheck disable=SC2086
	run "$kapfctl" --device "$tmp/none" $command
	exits "refused without a device: $command" 1
	says "says so" err "$tmp/none is not there: is the module kapf loaded?"
	empty "and prints nothing" out
done
run "$kapfctl" --device "$tmp/none" diff --defaults
exits "without a device there is no difference to be found" 2
empty "and none is printed" out
run env -C "$tmp" "$(realpath "$kapfctl")" --device "$tmp/none" report -o -
exits "a report has versions without a device" 1
says "to standard output by -" out '"kapfctl":'
passes "which is no file" not [ -e "$tmp/-" ]
run "$kapfctl" status --device /dev/null
exits "another device is refused" 1
says "says what it is not" err "kapfctl: /dev/null: not a node of kapf"

# Seats

dry_run --defaults
exits "the defaults apply" 0
says "workload-low has 245 seats" out "workload-low - 245 +245"
says "global-default has 49 seats" out "global-default - 49 +49"
says "catch-all has fewer than alone" out "catch-all 600 13 -587"
says "the budget is 600" out "budget: 600 seats"
says "and of what" err "kapfctl: no device: compared with a new instance, which has only the mandatory objects"
prefix=prioritylevelconfiguration.flowcontrol.apiserver.k8s.io
says "a level is created" out "$prefix/workload-low created (dry run)"
says "a mandatory level is there" out "$prefix/exempt unchanged (dry run)"
says "a schema is created" out \
	"flowschema.flowcontrol.apiserver.k8s.io/probes created (dry run)"
passes "8 levels" [ "$(grep -c "^$prefix/" "$tmp/out")" = 8 ]
passes "11 schemas" [ "$(grep -c '^flowschema\.' "$tmp/out")" = 11 ]

dry_run --defaults -f "$manifests/ocr-batch.yaml" -o name
exits "names alone" 0
passes "of all that is applied" [ "$(wc -l <"$tmp/out")" = 21 ]
passes "as kubectl has them" grep -qx "$prefix/workload-low" "$tmp/out"
passes "and nothing else" not grep -qvE \
	'^(prioritylevelconfiguration|flowschema)\.flowcontrol\.apiserver\.k8s\.io/[a-z-]+$' "$tmp/out"
run "$kapfctl" --device "$tmp/none" apply --dry-run=client --defaults
says "a dry run of the client" out "$prefix/workload-low created (dry run)"
run "$kapfctl" --device /dev/null apply --dry-run --defaults
exits "which is refused if the device is another one" 1
empty "and compared with nothing" out

dry_run --defaults -f "$manifests/ocr-batch.yaml"
says "10 more shares leave workload-low 236" out "workload-low - 236 +236"
says "the new level has 24" out "ocr-batch - 24 +24"
says "and is created" out "$prefix/ocr-batch created (dry run)"

dry_run --defaults --max-requests-inflight 800 \
	--max-mutating-requests-inflight 0
says "twice the budget" out "budget: 800 seats, before 600"
says "gives more seats" out "workload-low - 327 +327"

dry_run --adjustment-period 1500ms
exits "another adjustment period" 0
passes "is told of" grep -qx 'adjustment period: 1500ms, before 10s' "$tmp/out"
dry_run --adjustment-period 10s
empty "the same one is not" out

dry_run --max-requests-inflight 1 --max-mutating-requests-inflight 0
passes "a budget of 1 seat" grep -qx 'budget: 1 seat, before 600' "$tmp/out"

for file in "$manifests"/*.yaml; do
	dry_run --defaults -f "$file"
	exits "${file##*/} applies" 0
	passes "${file##*/} without complaint" not grep -qv ': no device: ' \
		"$tmp/err"
done

dry_run --max-requests-inflight 0 --max-mutating-requests-inflight 0
exits "no seats at all are refused" 1
says "in the words of kube-apiserver" err "MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive"
dry_run --max-requests-inflight 65535
exits "too many seats are refused" 1
says "with the limit" err \
	"MaxRequestsInFlight=65535 and MaxMutatingRequestsInFlight=200; they must add up to at most 65535"

# Files

dry_run --max-requests-inflight 400
exits "what changes nothing is done" 0
empty "and has nothing to say" out

level one 5 >"$tmp/in"
dry_run -f -
says "reads standard input" out "$prefix/one created (dry run)"
lacks "what is not in the manifest is not mentioned" out "$prefix/exempt"

mkdir "$tmp/dir"
level one 5 >"$tmp/dir/1.yaml"
schema two 300 one >"$tmp/dir/2.yml"
echo '{"apiVersion":"flowcontrol.apiserver.k8s.io/v1",
"kind":"PriorityLevelConfiguration","metadata":{"name":"three"},
"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":7,
"limitResponse":{"type":"Reject"}}}}' >"$tmp/dir/3.json"
echo 'not a manifest' >"$tmp/dir/4.txt"
dry_run -f "$tmp/dir"
exits "a directory applies" 0
says "its .yaml" out "$prefix/one created"
says "its .yml" out "flowschema.flowcontrol.apiserver.k8s.io/two created"
says "its .json" out "$prefix/three created"

{ echo; schema two 300 nosuch; echo ---; level one 5; } >"$tmp/lost.yaml"
dry_run -f "$tmp/lost.yaml"
exits "a schema without its level applies" 0
says "is created" out "flowschema.flowcontrol.apiserver.k8s.io/two created"
says "and warned of" err "kapfctl: warning: $tmp/lost.yaml:2: FlowSchema \"two\" names the priority level \"nosuch\", which does not exist: it matches nothing"
for level in one workload-low catch-all; do
	{ schema two 300 "$level"; echo ---; level one 5; } >"$tmp/in"
	dry_run -f -
	exits "a schema of the level $level applies" 0
	lacks "without a warning" err warning
done

level one 6 >"$tmp/again.yaml"
dry_run -f "$tmp/dir" -f "$tmp/again.yaml"
exits "an object in two files is refused" 1
says "naming the one" err "kapfctl: $tmp/again.yaml:1: "
says "and the other" err "also in $tmp/dir/1.yaml:1"
empty "and nothing is printed" out
dry_run -f "$tmp/dir//" -f "$tmp/again.yaml"
says "with one slash behind the directory" err "also in $tmp/dir/1.yaml:1"
schema two 400 one >"$tmp/again.yaml"
dry_run -f "$tmp/again.yaml" -f "$tmp/dir"
exits "the same of a schema" 1
says "names it" err 'FlowSchema "two": also in'

mkdir "$tmp/empty"
dry_run -f "$tmp/empty"
exits "an empty directory is refused" 1
says "says what it lacks" err "$tmp/empty: no *.yaml, *.yml or *.json in it"
empty "and prints nothing" out
dry_run -f "$tmp/dir" -f "$tmp/empty"
exits "also beside another" 1
dry_run -f "$tmp/empty" --defaults
exits "but not beside the defaults" 0
says "which are applied" out "$prefix/workload-low created (dry run)"
says "with a word of what is lacking" err "$tmp/empty: no *.yaml"
for command in "replace -f" "delete -f"; do
	# shellcheck disable=SC2086
	run "$kapfctl" $command "$tmp/empty"
	exits "$command refuses it" 1
	says "says what it lacks" err "$tmp/empty: no *.yaml"
	# shellcheck disable=SC2086
	run "$kapfctl" $command "$tmp/none.yaml"
	exits "$command refuses a missing file" 1
	says "names it" err "kapfctl: $tmp/none.yaml: No such file"
done
run "$kapfctl" diff -f "$tmp/none.yaml"
exits "diff finds no difference to a missing file" 2
run "$kapfctl" classify -f "$tmp/empty" --user alice --verb get --path /
exits "classify refuses it" 1
run "$kapfctl" classify --defaults -f "$tmp/empty" --user alice --verb get \
	--path /
exits "but not beside the defaults" 0
dry_run -f "$tmp/none.yaml"
exits "a missing file is refused" 1
says "names it" err "kapfctl: $tmp/none.yaml: No such file"

{ level one 5; echo '---'; schema two 20000 one; } >"$tmp/bad.yaml"
dry_run -f "$tmp/dir/3.json" -f "$tmp/bad.yaml"
exits "a bad object is refused" 1
says "naming the file and the line" err "kapfctl: $tmp/bad.yaml:1"
says "and the object" err 'FlowSchema "two"'
says "and the field" err matchingPrecedence
says "and the value" err 20000
says "and what would do" err 10000

level exempt 5 >"$tmp/in"
dry_run -f -
exits "a mandatory level cannot be changed" 1
says "says where and why" err \
	'kapfctl: stdin:6: PriorityLevelConfiguration "exempt": spec.type'

# Classification

# classify EXPECTED ARGUMENT...: EXPECTED is lines of output
classify() {
	expected=$1
	shift
	run "$kapfctl" classify "$@"
	exits "classify $*" 0
	echo "$expected" >"$tmp/expected"
	while read -r line; do
		says "$line" out "$line"
	done <"$tmp/expected"
}

classify 'FlowSchema: global-default
PriorityLevel: global-default
Distinguisher: "alice"
FlowHash: 0xf4de3bd42ccdf6b7
Hand: 55 62 126 125 105 1 of 128 queues
Seats: 1, a list at most 8' \
	--defaults --user alice --verb list --resource pods --namespace x
# Another flow of the same schema
classify 'FlowSchema: global-default
FlowHash: 0xa78535b7e710644b' \
	--defaults --user alice --tenant blue --verb list --resource pods
# Of whose groups it names none.
classify 'FlowSchema: cilium-pods' -f "$manifests/cilium-pods-v1.yaml" \
	--user system:serviceaccount:d8-cni-cilium:agent --verb list \
	--api-group cilium.io --resource ciliumendpoints
# The group as kubectl has it
for resource in ciliumendpoints.cilium.io ciliumendpoints.v2.cilium.io \
	ciliumendpoints.cilium.io/status; do
	classify 'FlowSchema: cilium-pods' -f "$manifests/cilium-pods-v1.yaml" \
		--user system:serviceaccount:d8-cni-cilium:agent --verb list \
		--resource $resource
done
for resource in leases.coordination.k8s.io leases.v1.coordination.k8s.io; do
	classify 'FlowSchema: system-leader-election' --defaults \
		--user system:kube-controller-manager --verb update \
		--resource $resource -n kube-system --name x
done
classify 'FlowSchema: ocr-pipeline
PriorityLevel: ocr-batch
FlowHash: 0xa9e0c9eeda0ce9d2
Hand: 2 4 3 13 of 16 queues
Seats: 1, a list at most 4' \
	--defaults -f "$manifests/ocr-batch.yaml" \
	--user system:serviceaccount:doc-ocr:ocr-dispatcher \
	--group system:serviceaccounts --verb list --resource pods
classify 'FlowSchema: kube-system-service-accounts
Distinguisher: "kube-system"
FlowHash: 0x505593ddbffe965c
Hand: 92 95 124 69 84 46 of 128 queues' \
	--defaults --user system:serviceaccount:kube-system:job-controller \
	--verb update --resource jobs --api-group batch --namespace kube-system
classify 'FlowSchema: system-node-high
Distinguisher: "system:node:n1"
FlowHash: 0xd69637f146cbe904
Hand: 4 45 15 47 21 61 of 64 queues' \
	--defaults --user system:node:n1 --group system:nodes \
	--verb patch --resource nodes/status --name n1
classify 'FlowSchema: system-node-high' \
	--defaults --user system:node:n1 --group system:nodes \
	--verb patch --resource nodes --subresource status --name n1
classify 'FlowSchema: system-nodes' \
	--defaults --user system:node:n1 --group system:nodes \
	--verb get --resource pods --namespace x --name y
classify 'FlowSchema: probes
PriorityLevel: exempt
Distinguisher: ""
FlowHash: 0x14ae6add276a7874
Hand: none, the level has no queues' \
	--defaults --user system:anonymous --verb get --path /healthz
classify 'FlowSchema: exempt' \
	--defaults --user admin --group system:masters \
	--verb delete --resource nodes --name n1
classify 'FlowSchema: catch-all
Distinguisher: "stranger"
FlowHash: 0x5820a7d4b116b737
Hand: none, the level has no queues' \
	-f "$manifests/ocr-batch.yaml" --user stranger --verb get --path /x
{ level one 5; echo ---; schema two 300 one; } |
	sed 's/type: Reject/{type: Queue, queuing: {queues: 1, handSize: 1}}/' >"$tmp/one.yaml"
run "$kapfctl" classify -f "$tmp/one.yaml" --user tester --verb get --path /
passes "a hand of 1 queue" grep -qx 'Hand:  *0 of 1 queue' "$tmp/out"
for verb in get list watch create update patch delete deletecollection proxy; do
	classify 'FlowSchema: exempt' --defaults --user a \
		--group system:masters --verb $verb --resource pods
done
for method in $(echo "$methods" | tr -d ,); do
	classify 'FlowSchema: exempt' --defaults --user a \
		--group system:masters --verb "$method" --path /x
done

# As JSON

prints_json '{ "flow_schema": "ocr-pipeline", "priority_level": "ocr-batch", "flow_distinguisher": "system:serviceaccount:doc-ocr:ocr-dispatcher", "flow_hash": "0xa9e0c9eeda0ce9d2", "hand": [ 2, 4, 3, 13 ], "queues": 16, "seats": 1, "final_seats": 0, "additional_latency_ns": 0, "max_list_seats": 4, "long_running": false}' \
	classify --defaults -f "$manifests/ocr-batch.yaml" \
	--user system:serviceaccount:doc-ocr:ocr-dispatcher \
	--group system:serviceaccounts --verb list --resource pods
prints_json '{ "flow_schema": "probes", "priority_level": "exempt", "flow_distinguisher": "", "flow_hash": "0x14ae6add276a7874", "hand": [ ], "queues": 0, "seats": 1, "final_seats": 0, "additional_latency_ns": 0, "max_list_seats": 1000, "long_running": false}' \
	classify --defaults --user system:anonymous --verb get --path /healthz
# What is not UTF-8, controls a terminal, or ends a line of YAML.
run "$kapfctl" classify -o json --defaults --verb get --path / --user "$(
	printf 'J\303\266\360\237\230\200"\\/\033\177\302\205\342\200\250\357\273\277\377\303\300\200')"
says "text is UTF-8 and can be shown" out "$(
	printf 'J\303\266\360\237\230\200%s\357\277\275\357\277\275\357\277\275\357\277\275"' \
		'\"\\/\u001b\u007f\u0085\u2028\ufeff')"

# Odds

# With this hand and so many queues, with 1, 4 and 16 elephants: the manual of
# Kubernetes, which has more digits than are compared.
while read -r hand queues one four sixteen; do
	run "$kapfctl" odds --hand "$hand" --queues "$queues"
	for odds in "1 $one" "4 $four" "16 $sixteen"; do
		digits=$(echo "${odds#* }" | awk '{ printf "%#.13g", $1 }')
		says "$hand of $queues, ${odds%% *} elephants" out \
			"$hand $queues ${odds%% *} $digits"
	done
done <<'END'
12 32 4.428838398950118e-09 0.11431348830099144 0.9935089607656024
10 32 1.550093439632541e-08 0.0626479840223545 0.9753101519027554
10 64 6.601827268370426e-12 0.00045571320990370776 0.49999929150089345
9 64 3.6310049976037345e-11 0.00045501212304112273 0.4282314876454858
8 64 2.25929199850899e-10 0.0004886697053040446 0.35935114681123076
8 128 6.994461389026097e-13 3.4055790161620863e-06 0.02746173137155063
7 128 1.0579122850901972e-11 6.960839379258192e-06 0.02406157386340147
7 256 7.597695465552631e-14 6.728547142019406e-08 0.0006709661542533682
6 256 2.7134626662687968e-12 2.9516464018476436e-07 0.0008895654642000348
6 512 4.116062922897309e-14 4.982983350480894e-09 2.26025764343413e-05
6 1024 6.337324016514285e-16 8.09060164312957e-11 4.517408062903668e-07
END
run "$kapfctl" odds --hand 1 --queues 1 --elephants 1
says "all queues of all queues" out "1 1 1 1.000000000000"
run "$kapfctl" odds --hand 1 --queues 2 --elephants 3,65535
says "half of half of half is free" out "1 2 3 0.8750000000000"
says "as many elephants as can be" out "1 2 65535 1.000000000000"
run "$kapfctl" odds --hand 2 --queues 10000000 --elephants 1
says "as many queues as can be" out "2 10000000 1 2.000000200000e-14"
prints_json '{ "hand": 1, "queues": 4, "odds": [ { "elephants": 1, "probability": 0.2500000000000 }, { "elephants": 2, "probability": 0.4375000000000 } ]}' \
	odds --hand 1 --queues 4 --elephants 1,2
refuses_to_run "--hand is missing" odds --queues 64
refuses_to_run "--queues is missing" odds --hand 8
refuses_to_run '--hand "0" is not a number of 1 to 15' odds --hand 0 --queues 64
refuses_to_run '--hand "16" is not a number' odds --hand 16 --queues 16
refuses_to_run '--queues "10000001" is not a number of 1 to 10000000' \
	odds --hand 2 --queues 10000001
refuses_to_run "--hand 9 is too many for 8 queues: must be at most 8" \
	odds --hand 9 --queues 8
refuses_to_run "--hand 2 is too many for 1 queue: must be at most 1" \
	odds --hand 2 --queues 1
refuses_to_run "--hand 6 is too many for 1025 queues: must be at most 5" \
	odds --hand 6 --queues 1025
for elephants in '' 0 65536 '1,' '1,,4' -1 4x; do
	refuses_to_run '" is not a number of 1 to 65535' \
		odds --hand 8 --queues 64 --elephants "$elephants"
done
refuses_to_run '"64" is too much' odds --hand 8 --queues 64 64

# The output has to arrive.

run sh -c '"$1" --device "$2" apply --dry-run --defaults >/dev/full' sh \
	"$kapfctl" "$tmp/none"
exits "a full disk is noticed" 1
says "and named" err "cannot write to standard output"

# What comes from others

escape=$(printf '\033')
run "$kapfctl" classify --defaults --user "${escape}[31m" --verb get --path /
exits "a user whose name commands the terminal" 0
says "is shown all the same" out 'Distinguisher: "\x1b[31m"'
lacks "without commanding it" out "$escape"
run "$kapfctl" lint -f "no${escape}[31m.yaml"
says "likewise a file" err 'no\x1b[31m.yaml: No such file'
run timeout 20 "$kapfctl" lint -f /dev/zero
exits "a file without end" 1
says "is refused" err "/dev/zero: more than 8 MiB"
mkdir "$tmp/odd"
mkfifo "$tmp/odd/a.yaml"
run timeout 20 "$kapfctl" lint -f "$tmp/odd"
exits "a FIFO in a directory" 1
says "is not read" err "a.yaml: is no regular file"
run timeout 20 "$kapfctl" --device "$tmp/odd/a.yaml" status
exits "a FIFO as a control node" 1
for option in --help --version; do
	status=0
	"$kapfctl" $option >/dev/full 2>"$tmp/err" || status=$?
	exits "$option on a full disk" 1
done

finish
