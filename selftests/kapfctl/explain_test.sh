#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/explain_test.sh: why $KAPFCTL puts a request where it
# does, and the requests that it is asked about.  Prints TAP.
set -eu
kapfctl=${KAPFCTL:?}
manifests=${MANIFESTS:?}
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

# explain ARGUMENT...
explain() {
	run "$kapfctl" explain "$@"
	exits "explain $*" 0
}

# same_answer ARGUMENT...: the last lines are those of classify, and the last
# comparison, the only one that matches, is with the schema that they name
same_answer() {
	explain "$@"
	cp "$tmp/out" "$tmp/explained"
	sed '1,/^$/d' "$tmp/explained" >"$tmp/answer"
	run "$kapfctl" classify "$@"
	passes "as classify says" cmp -s "$tmp/answer" "$tmp/out"
	passes "by the last comparison, which alone matches" [ "$(
		sed '/^$/,$d' "$tmp/explained" | awk '$3 == "matches" {
			print NR, $1 }')" = "$(sed '/^$/,$d' "$tmp/explained" |
		wc -l) $(sed -n 's/^FlowSchema: *//p' "$tmp/out")" ]
}

# What the reasons are

cat >"$tmp/ways.yaml" <<'END'
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: lost}
spec: {priorityLevelConfiguration: {name: nowhere}, matchingPrecedence: 10}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: empty}
spec: {priorityLevelConfiguration: {name: catch-all}, matchingPrecedence: 20}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: ways}
spec:
  priorityLevelConfiguration: {name: catch-all}
  matchingPrecedence: 30
  distinguisherMethod: {type: ByNamespace}
  rules:
  - subjects:
    - {kind: ServiceAccount, serviceAccount: {namespace: ns, name: robot}}
    - {kind: Group, group: {name: "kapf:tenant:blue"}}
    nonResourceRules:
    - {verbs: [get], nonResourceURLs: ["*"]}
  - subjects:
    - {kind: User, user: {name: nobody}}
    - {kind: User, user: {name: alice}}
    nonResourceRules:
    - {verbs: [get], nonResourceURLs: [/healthz, /a/*]}
    - {verbs: [list], nonResourceURLs: ["*"]}
    resourceRules:
    - {verbs: [get], apiGroups: ["*"], resources: ["*"], clusterScope: true}
    - {verbs: [list], apiGroups: [apps, ""], resources: [a, b, c, d, e, f, g, h, i, j], clusterScope: true}
    - {verbs: ["*"], apiGroups: [""], resources: ["*"], namespaces: [ns]}
    - {verbs: ["*"], apiGroups: [""], resources: [pods/log], clusterScope: true}
END
ways="-f $tmp/ways.yaml --user alice"

# shellcheck disable=SC2086 # one word or more
explain $ways --verb list --resource pods
says "the columns" out "FLOWSCHEMA PRECEDENCE RESULT FIELD SCHEMA REQUEST"
says "a group that the user is not in" out "exempt 1 fails spec.rules[0].subjects Group system:masters User alice of system:authenticated"
says "a level that does not exist" out "lost 10 fails spec.priorityLevelConfiguration nowhere <none>"
says "no rules" out "empty 20 fails spec.rules <none> <none>"
says "two kinds of subjects" out "ways 30 fails spec.rules[0].subjects ServiceAccount ns/robot, Group kapf:tenant:blue User alice of system:authenticated"
says "another verb" out "ways 30 fails spec.rules[1].resourceRules[0].verbs get list"
says "other resources, of which some are shown" out "ways 30 fails spec.rules[1].resourceRules[1].resources a, b, c, d, e, f, g, h and 2 more pods"
says "no cluster scope" out 'ways 30 fails spec.rules[1].resourceRules[2].clusterScope false ""'
says "not that subresource" out "ways 30 fails spec.rules[1].resourceRules[3].resources pods/log pods"
says "the match, with the subject" out "catch-all 10000 matches spec.rules[0].resourceRules[0] Group system:authenticated <none>"
passes "and nothing else" [ "$(sed '/^$/,$d' "$tmp/out" | wc -l)" = 10 ]

# shellcheck disable=SC2086 # one word or more
explain $ways --verb list --resource pods/log --api-group x --namespace m
says "another API group" out 'spec.rules[1].resourceRules[1].apiGroups apps, "" x'
# shellcheck disable=SC2086 # one word or more
explain $ways --verb update --resource pods --subresource log --namespace m
says "another namespace" out "spec.rules[1].resourceRules[2].namespaces ns m"
passes "a schema without a match" not grep -q '^ways .* matches ' "$tmp/out"
# shellcheck disable=SC2086 # one word or more
explain $ways --verb get --path /healthy
says "another path" out "ways 30 fails spec.rules[1].nonResourceRules[0].nonResourceURLs /healthz, /a/* /healthy"
says "another method" out "ways 30 fails spec.rules[1].nonResourceRules[1].verbs list get"
# shellcheck disable=SC2086 # one word or more
explain $ways --tenant blue --verb get --resource pods
says "a rule for paths alone" out "ways 30 fails spec.rules[0].resourceRules <none> pods"
says "a subject of the tenant" out \
	"User alice of system:authenticated, tenant blue"
explain --defaults --user system:kube-scheduler --verb get --path /x
says "a rule for resources alone" out "system-leader-election 100 fails spec.rules[0].nonResourceRules <none> /x"

# shellcheck disable=SC2086 # one word or more
run "$kapfctl" explain $ways --verb get --path /a/b -o json
exits "as JSON" 0
reasons='"comparisons": [ { "flow_schema": "exempt", "matching_precedence": 1, "matches": false, "field": "spec.rules[0].subjects", "schema": [ { "kind": "Group", "group": { "name": "system:masters" } } ], "request": { "user": "alice", "groups": [ "system:authenticated" ], "tenant": null } }, { "flow_schema": "lost", "matching_precedence": 10, "matches": false, "field": "spec.priorityLevelConfiguration", "schema": "nowhere", "request": null }, { "flow_schema": "empty", "matching_precedence": 20, "matches": false, "field": "spec.rules", "schema": null, "request": null }, { "flow_schema": "ways", "matching_precedence": 30, "matches": false, "field": "spec.rules[0].subjects", "schema": [ { "kind": "ServiceAccount", "serviceAccount": { "namespace": "ns", "name": "robot" } }, { "kind": "Group", "group": { "name": "kapf:tenant:blue" } } ], "request": { "user": "alice", "groups": [ "system:authenticated" ], "tenant": null } }, { "flow_schema": "ways", "matching_precedence": 30, "matches": true, "field": "spec.rules[1].nonResourceRules[0]", "schema": { "kind": "User", "user": { "name": "alice" } }, "request": null } ]'
passes "the reasons" [ "$(tr -d '\n' <"$tmp/out" | tr -s ' ' |
	sed 's/.*"comparisons"/"comparisons"/')" = "$reasons}" ]
# shellcheck disable=SC2086 # one word or more
prints_json '{ "flow_schema": "ways", "priority_level": "catch-all", "flow_distinguisher": "", "flow_hash": "0x661bd55ee2fabbba", "hand": [ ], "queues": 0, "seats": 1, "final_seats": 0, "additional_latency_ns": 0, "max_list_seats": 1000, "long_running": false, '"$reasons}" \
	explain $ways --verb get --path /a/b

# What classify says of all sorts of requests

for who in "--user alice" "--user system:anonymous" "--as system:node:n1" \
	"--user root --group system:masters" "--user alice --tenant blue" \
	"--user system:serviceaccount:kube-system:job-controller" \
	"--as system:kube-scheduler --as-group system:authenticated"; do
	for what in /healthz/etcd /api/v1/nodes/n1/status \
		"/api/v1/pods?watch=1" /api/v1/namespaces/doc-ocr/pods/x/log \
		/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x; do
		# shellcheck disable=SC2086 # one word or more
		same_answer --defaults -f "$manifests/ocr-batch.yaml" -f "$tmp/ways.yaml" $who \
			--url "$what"
	done
done

# A URL and what it means are the same

# means URL METHOD OPTION...
means() {
	url=$1
	method=$2
	shift 2
	run "$kapfctl" explain --defaults --user alice "$@"
	cp "$tmp/out" "$tmp/described"
	run "$kapfctl" explain --defaults --user alice --method "$method" \
		--url "$url"
	exits "$method $url" 0
	passes "is $*" cmp -s "$tmp/described" "$tmp/out"
}

means /api/v1/pods GET --verb list --resource pods
means '/api/v1/pods?watch=true&resourceVersion=0' GET --verb watch \
	--resource pods
means /api/v1/namespaces/n/pods/p/status PUT --verb update \
	--resource pods/status --namespace n --name p
means /apis/apps/v1/deployments/x HEAD --verb get --resource deployments \
	--api-group apps --name x
means /apis/apps/v1/deployments DELETE --verb deletecollection \
	--resource deployments --api-group apps
means /healthz OPTIONS --verb options --path /healthz
run "$kapfctl" classify --defaults --user alice --url /healthz
says "the method is GET" out "FlowSchema: probes"

# classified TEXT ARGUMENT...
classified() {
	text=$1
	shift
	run "$kapfctl" classify --defaults "$@"
	says "$*: $text" out "$text"
}

# Who it is, as of kubectl

account=system:serviceaccount:kube-system:robot
cat >"$tmp/accounts.yaml" <<'END'
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: accounts}
spec:
  priorityLevelConfiguration: {name: exempt}
  matchingPrecedence: 10
  rules:
  - subjects: [{kind: Group, group: {name: "system:serviceaccounts:kube-system"}}]
    nonResourceRules: [{verbs: ["*"], nonResourceURLs: ["*"]}]
END
for who in "--user $account" "--user $account --group g" "--as $account"; do
	# shellcheck disable=SC2086 # one word or more
	classified "FlowSchema: accounts" -f "$tmp/accounts.yaml" $who --url /
done
classified "FlowSchema: kube-system-service-accounts" \
	-f "$tmp/accounts.yaml" --as $account --as-group g --url /
classified "FlowSchema: exempt" --as root --as-group g \
	--as-group system:masters --url /

# Seats

classified "Seats: 1, a list at most 8" --user alice --url /api/v1/pods
classified "Seats: 1, a list at most 8" --user alice --objects 0 \
	--url /api/v1/pods
classified "Seats: 3, a list at most 8" --user alice --objects 250 \
	--object-bytes 1000 --url /api/v1/pods
classified "Seats: 2, a list at most 8" --user alice --objects 250 \
	--object-bytes 1000 --url '/api/v1/pods?limit=120&resourceVersion=1'
classified "Seats: 8, a list at most 8" --user alice --objects 250 \
	--verb list --resource pods
classified "Seats: 10, a list at most 37" --user robot --objects 250 \
	--group system:serviceaccounts --url /api/v1/pods
classified "Seats: 37, a list at most 37" --user robot --objects 250 \
	--group system:serviceaccounts --url '/api/v1/pods?resourceVersionMatch=Exact&resourceVersion=1'
classified "Seats: 1, a list at most 8" --user alice --objects 250 \
	--verb get --resource pods
classified "Seats: 1, then 3 for 5 ms, a list at most 8" --user alice \
	--watchers 30 --verb patch --resource pods
run "$kapfctl" classify --defaults --user alice --watchers 1000 \
	--verb patch --resource pods -o json
for line in '"seats": 1,' '"final_seats": 8,' \
	'"additional_latency_ns": 62500000,' '"long_running": false'; do
	says "as JSON: $line" out "$line"
done

# Long-running ones

for url in /api/v1/namespaces/n/pods/p/exec /debug/pprof/heap \
	/api/v1/proxy/namespaces/n/services/s; do
	classified "LongRunning: yes, not subject to admission" --user alice \
		--method POST --url "$url"
	run "$kapfctl" explain --defaults --user alice --url "$url" -o json
	says "as JSON" out '"long_running": true'
done
classified "LongRunning: yes" --user alice --verb get --resource pods/log
run "$kapfctl" classify --defaults --user alice --url '/api/v1/pods?watch=1'
lacks "a watch is none" out LongRunning

# Wrongly typed

for command in classify explain; do
	refuses_to_run "--user is missing" $command --url /
	refuses_to_run "--user and --as each name the user: give one of them" \
		$command --as a --user b --url /
	refuses_to_run "--as-group does not go with --user" $command \
		--user a --as-group b --url /
	refuses_to_run "--group does not go with --as" $command --as a \
		--group b --url /
	refuses_to_run '--as "" is not accepted: must be a name' $command \
		--as '' --url /
	refuses_to_run "--method goes with --url" $command --user a \
		--method GET --verb get --path /
	refuses_to_run "--name does not go with --url, which says it" \
		$command --user a --url / --name b
	refuses_to_run '--method "get" is not accepted with --url: must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, CONNECT, TRACE' \
		$command --user a --url / --method get
	refuses_to_run 'the URL "https://a/" does not begin with /' $command \
		--user a --url https://a/
	refuses_to_run "--object-bytes goes with --objects" $command \
		--user a --url / --object-bytes 5
	refuses_to_run '--objects "many" is not a number of 0 to 4294967295' \
		$command --user a --url / --objects many
	refuses_to_run '"b" is too much' $command --user a --url / b
done

finish
