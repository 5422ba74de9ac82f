#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/lint_test.sh: what kapfctl lint finds: of each rule, a manifest
# in which it finds something, and no other rule does, and one that differs from it
# in what matters, in which none does.  KAPFCTL and MANIFESTS say where they are.
# Prints TAP.
set -eu
kapfctl=${KAPFCTL:?}
manifests=${MANIFESTS:?}
here=$(dirname "$0")
# shellcheck source=tap.sh
. "$here/tap.sh"

# Objects, of which each has a line that is looked for

# level NAME SHARES [BORROWING [HAND]]: BORROWING may be empty
level() {
	cat <<END
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: $1}
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: $2
    ${3-borrowingLimitPercent: 100}
    limitResponse:
      type: Queue
      queuing:
        queues: 64
        handSize: ${4-6}
END
}

# schema NAME PRECEDENCE LEVEL METHOD RULES SUBJECT...: METHOD may be none
schema() {
	cat <<END
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: $1}
spec: # of $1
  matchingPrecedence: $2 # $1
  priorityLevelConfiguration:
    name: $3
END
	[ "$4" = none ] || echo "  distinguisherMethod: {type: $4}"
	echo "  rules:"
	echo "  - $5"
	echo "    subjects:"
	shift 5
	printf '    - %s\n' "$@"
}

user() { echo "{kind: User, user: {name: '$1'}}"; }
group() { echo "{kind: Group, group: {name: '$1'}}"; }
account() {
	echo "{kind: ServiceAccount, serviceAccount: {namespace: $1, name: '$2'}}"
}

namespaced="resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*']}]"
resources="resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true}]"
paths="nonResourceRules: [{verbs: ['*'], nonResourceURLs: ['*']}]"
lists="resourceRules: [{verbs: [list], apiGroups: [''], resources: [pods], namespaces: ['*'], clusterScope: true}]"
all="$resources
    $paths"

case=$tmp/case.yaml

# lint MANIFEST [ARGUMENT...]
lint() {
	run "$kapfctl" lint -f "$@"
}

# finds SEVERITY RULE PATTERN: in $case, at the first line with PATTERN, and
# nothing else
finds() {
	lint "$case"
	line=$(grep -n -e "$3" "$case" | head -n 1 | cut -d : -f 1)
	passes "$2: $1 at $3" grep -q \
		"^$case:$line: $1: .* \[$2\]\$" "$tmp/out"
	passes "$2: and nothing else" [ "$(grep -c '^[^ ]' "$tmp/out")" = 1 ]
	passes "$2: why, and what to change" [ "$(grep -c '^    [A-Z].*\.$' \
		"$tmp/out")" = 2 ]
	if [ "$1" = error ]; then
		exits "$2: exit status" 1
	else
		exits "$2: exit status" 0
		lint "$case" --strict
		exits "$2: exit status with --strict" 1
	fi
	echo "$2" >>"$tmp/rules"
}

# finds_nothing WHAT: in $case
finds_nothing() {
	lint "$case" --strict
	exits "nothing: $1" 0
	empty "and nothing is printed" out
	empty "nor complained of" err
}

# The rules

{
	schema x 500 nosuch ByUser "$all" "$(group team)"
} >"$case"
finds error dangling 'name: nosuch'
{
	schema x 500 workload-low ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "a default level"
{
	schema x 500 such ByUser "$all" "$(group team)"
	level such 30
} >"$case"
finds_nothing "a level that is given later"

# asks GROUPS RESOURCES: for these, as they stand in a manifest, and both at a line
# of their own
asks() {
	schema x 500 workload-low ByUser "resourceRules:
    - verbs: [list]
      namespaces: ['*']
      apiGroups: [$1] # groups
      resources: [$2] # resources" "$(group team)" >"$case"
}

# no_match LINE HAS WHY [SEVERITY]: as the finding says
no_match() {
	finds "${4-error}" no-match "$1\$"
	says "says which" out "FlowSchema \"x\": $2, which no request has: $3 [no-match]"
}

asks "''" Pods
no_match '# resources' 'resources has "Pods"' 'names of resources are in lower case'
asks "''" "pods, pods/Status"
no_match '# resources' 'resources has "pods/Status"' \
	'names of resources are in lower case'
asks apps deployments.apps
no_match '# resources' 'resources has "deployments.apps"' \
	'a resource has its group in apiGroups'
asks apps "pods/*"
no_match '# resources' 'resources has "pods/*"' \
	'a * stands for all only on its own'
while read -r group written plural; do
	asks "$group" "$written"
	no_match '# resources' "resources has \"$written\"" "requests say $plural"
done <<'END'
'' pod pods
'*' node/status nodes
apps deployment deployments
events.k8s.io event events
coordination.k8s.io lease leases
'' configmap configmaps
'' secret secrets
networking.k8s.io networkpolicy networkpolicies
'' svc services
END
asks apps/v1 deployments
no_match '# groups' 'apiGroups has "apps/v1"' \
	'a group has no version, a rule is for all of them'
for version in v1 v2beta1 v1alpha12; do
	asks $version pods
	no_match '# groups' "apiGroups has \"$version\"" \
		'that is a version, and a rule is for all of them'
done
asks core pods
no_match '# groups' 'apiGroups has "core"' 'the core group has no name'
asks Apps deployments
no_match '# groups' 'apiGroups has "Apps"' 'groups are in lower case'
asks "'*.k8s.io'" leases
no_match '# groups' 'apiGroups has "*.k8s.io"' 'a * stands for all only on its own'
schema x 500 workload-low ByUser "nonResourceRules:
    - verbs: [get, list] # verbs
      nonResourceURLs: [/metrics]" "$(group team)" >"$case"
no_match '# verbs' 'verbs has "list"' \
	'the verb of a request for a path is its method, as get' warning
asks "''" pods
finds_nothing "a resource in the plural"
asks "'', apps, batch, v1.example.com, vault" \
	"pods, pods/status, endpoints, deployments, jobs"
finds_nothing "several, with a subresource"
asks example.com "pod, deployment"
finds_nothing "a singular of somebody else's group"
asks external.metrics.k8s.io "Queue.Length, pod"
finds_nothing "metrics, which may have any name"
schema x 500 workload-low ByUser "nonResourceRules:
    - verbs: [get, patch, delete]
      nonResourceURLs: [/metrics]" "$(group team)" >"$case"
finds_nothing "methods for a path"
asks v1,apps/v1 "Pods, deployment"
lint "$case"
exits "all of one rule" 1
passes "4 findings" [ "$(grep -c '\[no-match\]$' "$tmp/out")" = 4 ]

{
	schema first 500 workload-high ByUser "$all" "$(group team)"
	schema second 600 workload-low ByUser "$lists" "$(group team)"
} >"$case"
finds error shadowed '600 # second'
says "by which" out "FlowSchema \"first\" ($case:2, matchingPrecedence 500)"
{
	schema first 500 workload-high ByUser "$lists" "$(group team)"
	schema second 600 workload-low ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "the wider schema behind the narrower"
{
	schema first 500 nosuch ByUser "$all" "$(group team)"
	schema second 600 workload-low ByUser "$lists" "$(group team)"
} >"$case"
finds error dangling 'name: nosuch'
{
	schema x 600 workload-low ByUser "$lists" "$(group system:nodes)"
} >"$case"
finds error shadowed '600 # x'
says "by a default one" out \
	'the default FlowSchema "system-nodes" (matchingPrecedence 500)'

{
	schema x 9500 workload-low ByUser "$all" "$(account ci '*')"
} >"$case"
finds warning behind '9500 # x'
says "by which" out \
	'the default FlowSchema "service-accounts" (matchingPrecedence 9000)'
{
	schema x 8500 workload-low ByUser "$all" "$(account ci '*')"
} >"$case"
finds_nothing "before the default schema"
{
	schema x 9500 workload-low ByUser "$all" "$(group team)" \
		"$(account ci '*')" "$(user a)"
} >"$case"
finds warning behind 'namespace: ci'
says "of whom" out 'gets nothing of ServiceAccount ci/*: '
{
	schema x 9500 workload-low ByUser "$all" "$(group team)" "$(user a)"
} >"$case"
finds_nothing "subjects that are no service accounts"
{
	schema first 500 workload-high ByUser "$all" \
		"$(group system:serviceaccounts:ci)"
	schema second 600 workload-low ByUser "$lists" "$(account ci '*')"
} >"$case"
finds warning behind '600 # second'

{
	schema x 9500 exempt none "$all" "$(group team)"
} >"$case"
finds warning inverted '9500 # x'
{
	schema x 900 exempt none "$all" "$(group team)"
} >"$case"
finds_nothing "an urgent schema early"
{
	schema x 9500 workload-low ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "another one late"
{
	schema x 9500 exempt none "$all" "$(account ci '*')"
} >"$case"
finds warning behind '9500 # x'

{
	schema x 8000 workload-high ByUser "$all" "$(group system:serviceaccounts)"
} >"$case"
finds warning taken-over '8000 # x'
says "from which" out 'all requests of the default FlowSchema "service-accounts"'
{
	schema x 9100 workload-low ByUser "$all" \
		"$(group system:authenticated)" "$(group system:unauthenticated)"
} >"$case"
finds warning taken-over '9100 # x'
says "catch-all does not count" out 'the default FlowSchema "global-default"'
{
	schema x 8000 workload-high ByUser "$lists" \
		"$(group system:serviceaccounts)"
} >"$case"
finds_nothing "part of what a default schema has"

{
	schema a 500 workload-high ByUser "$all" "$(group team)"
	schema b 500 workload-low ByUser "$all" "$(group other)"
} >"$case"
finds warning same-precedence '500 # b'
says "who wins" out 'that both match, "a" gets all'
{
	schema a 500 workload-high ByUser "$all" "$(group team)"
	schema b 500 workload-low ByUser "$lists" "$(group team)"
} >"$case"
finds error shadowed '500 # b'
{
	schema a 500 workload-high ByUser "$all" "$(group team)"
	schema b 501 workload-low ByUser "$all" "$(group other)"
} >"$case"
finds_nothing "different precedences"
{
	schema a 500 workload-high ByUser "$all" "$(user a)"
	schema b 500 workload-low ByUser "$all" "$(user b)"
	schema c 500 workload-low ByUser "$paths" "$(account ci '*')"
	schema d 500 workload-low ByUser "$resources" "$(account ci '*')"
} >"$case"
finds_nothing "the same precedence, nothing in common"
{
	schema a 9900 workload-low ByUser "$all" "$(group team)"
} >"$case"
finds warning same-precedence '9900 # a'
says "with a default one" out 'as the default FlowSchema "global-default" (matchingPrecedence 9900)'

{
	schema x 500 workload-low none "$all" "$(group team)"
} >"$case"
finds warning one-flow 'spec: # of x'
{
	schema x 500 workload-low ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "a flow for each user"
{
	schema x 500 workload-low none "$all" "$(user a)"
} >"$case"
finds_nothing "one user, one flow"
{
	schema x 500 catch-all none "$all" "$(group team)"
} >"$case"
finds_nothing "a level without queues"
{
	level own 30 '' 1 | sed 's/queues: 64/queues: 1/'
	schema x 500 own none "$all" "$(group team)"
} >"$case"
finds_nothing "a level with one queue"
{
	schema x 500 workload-low ByUser "$all" "$(account ci bot)"
} >"$case"
finds warning one-flow 'distinguisherMethod: '
says "of whom" out 'one flow, of ServiceAccount ci/bot, in 6 of 128 queues'
{
	schema x 500 workload-low ByNamespace "$all" "$(account ci bot)"
} >"$case"
finds_nothing "one service account, a flow for each namespace"
{
	schema x 500 workload-low ByUser "$all" "$(account ci bot)" \
		"$(account ci other)"
} >"$case"
finds_nothing "two service accounts"

{
	schema x 505 workload-low ByUser "$all" "$(user kapf:tenant:blue)"
} >"$case"
finds error lost-tenant 'kind: User'
{
	schema x 505 workload-low ByUser "$all" "$(group kapf:tenant:Blue)"
} >"$case"
finds error lost-tenant 'kind: Group'
{
	schema x 505 catch-all ByUser "$all" "$(group kapf:tenant:blue)"
} >"$case"
finds warning lost-tenant 'kind: Group'
says "where it ends" out 'is the priority level "catch-all"'
{
	schema x 505 workload-low ByUser "$namespaced" "$(group kapf:tenant:blue)"
} >"$case"
finds warning lost-tenant 'kind: Group'
says "what is missing" out 'but those for resources of the cluster and of all namespaces and for paths'
{
	schema x 506 workload-low ByUser "$resources" \
		"$(group kapf:tenant:blue)" "$(group team)"
	schema z 505 workload-low ByUser "$lists" "$(group kapf:tenant:blue)"
} >"$case"
finds warning lost-tenant 'tenant:blue'
says "of whom" out 'FlowSchema "x": matches all requests of the tenant "blue" but those for paths'
{
	schema x 505 workload-low ByUser "$namespaced" "$(group kapf:tenant:blue)"
	schema z 506 workload-high ByUser "$resources" \
		"$(group kapf:tenant:blue)"
} >"$case"
finds warning lost-tenant "$(group kapf:tenant:blue)"
{
	schema x 505 nosuch ByUser "$all" "$(group kapf:tenant:blue)"
} >"$case"
finds error dangling 'name: nosuch'
{
	schema x 505 workload-low ByUser "$all" "$(group kapf:tenant:blue)"
} >"$case"
finds_nothing "all of a tenant's requests"
{
	schema x 505 workload-low ByUser "$resources" "$(group kapf:tenant:blue)"
	schema z 510 workload-low ByUser "$paths" "$(group kapf:tenant:blue)"
} >"$case"
finds_nothing "all of them in two parts"
{
	schema x 505 workload-low ByUser "$lists" "$(group kapf:tenant:blue)"
} >"$case"
finds_nothing "lists of a tenant alone"

{
	level own 30
} >"$case"
finds warning unused '^apiVersion: '
{
	level own 30
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "a level that is used"
{
	level workload-low 90 ''
} >"$case"
finds_nothing "a default level that is used by a default schema"

{
	level own 0
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds error no-seats 'Shares: 0'
{
	level own 0 ''
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds warning no-seats 'Shares: 0'
{
	level own 5
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "a level with a share"

{
	level own 2
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds warning hand-size 'handSize: 6'
says "the numbers" out 'deals hands of 6 queues, but has no more than 5 seats'
{
	level own 2 'borrowingLimitPercent: 0' 5
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds warning hand-size 'handSize: 5'
{
	level own 2 'borrowingLimitPercent: 0' 4
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "a smaller hand"

{
	level own 246
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds warning dilution 'Shares: 246'
says "the numbers" out 'takes more than half of the seats of others: "workload-low" has 123, and 245 without'
{
	level own 245
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "half of the seats"
{
	level one 120
	schema x 500 one ByUser "$all" "$(group team)"
	level two 130
	schema z 510 two ByUser "$all" "$(group other)"
} >"$case"
finds warning dilution 'Shares: 130'
{
	level one 120
	schema x 500 one ByUser "$all" "$(group team)"
	level two 125
	schema z 510 two ByUser "$all" "$(group other)"
} >"$case"
finds_nothing "half of them to two"
{
	level workload-low 346 ''
} >"$case"
finds warning dilution 'Shares: 346'
{
	level workload-low 345 ''
} >"$case"
finds_nothing "half of them to a default level"

{
	level own 12 ''
	schema x 500 own ByUser "$all" "$(account ci '*')"
} >"$case"
finds warning borrowing 'limited:'
says "the numbers" out 'has 29 seats for requests that had a share of "workload-low" (234 seats)'
{
	level own 5 ''
	schema x 850 own ByNamespace "$lists" "$(account kube-system '*')"
} >"$case"
finds warning borrowing 'limited:'
says "the least part" out 'has 12 seats for requests that had a share of "workload-high" (96 seats)'
{
	level own 13 ''
	schema x 500 own ByUser "$all" "$(account ci '*')"
} >"$case"
finds_nothing "a level that is not so small"
{
	level own 12 ''
	schema x 500 own ByUser "$all" "$(group team)"
} >"$case"
finds_nothing "a level that is not so much smaller"
for percent in 0 1000; do
	{
		level own 12 "borrowingLimitPercent: $percent"
		schema x 500 own ByUser "$all" "$(account ci '*')"
	} >"$case"
	finds_nothing "a small level that says what it may borrow"
done

# Manifests that are known

# The default objects, of which it says nothing
while read -r kind name fields; do
	# shellcheck disable=SC2086
	set -- $fields
	cat <<END
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
metadata: {name: $name}
END
	case $kind/$1 in
	level/1)
		echo "kind: PriorityLevelConfiguration"
		echo "spec: {type: Exempt}"
		;;
	level/*)
		response="type: Reject"
		[ "$1" = 2 ] || response="type: Queue, queuing: {queues: $4, handSize: $5, queueLengthLimit: $6}"
		echo "kind: PriorityLevelConfiguration"
		echo "spec: {type: Limited, limited: {nominalConcurrencyShares: $2, lendablePercent: $3, limitResponse: {$response}}}"
		;;
	schema/*)
		method=
		[ "$3" != 1 ] || method="distinguisherMethod: {type: ByUser},"
		[ "$3" != 2 ] || method="distinguisherMethod: {type: ByNamespace},"
		echo "kind: FlowSchema"
		echo "spec: {matchingPrecedence: $1, priorityLevelConfiguration: {name: $2}, $method rules: $4}"
		;;
	esac
done >"$case" <<END
$(grep -v '^#' "$here/../libkapf/cases/defaults.txt")
END
finds_nothing "the default objects"
passes "which are 8 and 11" [ "$(grep -c '^kind: ' "$case")" = 19 ]

# In the manifests that come with kapf
lint_ours() {
	lint "$manifests/$1"
	exits "$1" 0
	sed -n 's/.*\.yaml:\([0-9]*\): .* \[\(.*\)\]$/\1 \2/p' "$tmp/out" |
		paste -s -d , >"$tmp/found"
	passes "$1: ${2:-nothing}" [ "$(cat "$tmp/found")" = "$2" ]
}

lint_ours ci-runners.yaml ''
lint_ours cilium-pods-v1.yaml ''
# The cure of its day borrows today.
lint_ours cilium-pods.yaml '9 borrowing'
lint_ours health-for-strangers.yaml ''
# What is to end in catch-all says so.
lint_ours list-events-default-service-account.yaml ''
# One dispatcher, in a level for it alone
lint_ours ocr-batch.yaml '7 borrowing,26 one-flow'
passes "these are all" [ "$(find "$manifests" -name '*.yaml' | wc -l)" = 6 ]

# The command

run "$kapfctl" lint --help
sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' "$tmp/out" | sort -u >"$tmp/explained"
sort -u "$tmp/rules" >"$tmp/tried"
run diff "$tmp/explained" "$tmp/tried"
exits "--help explains the rules that were tried" 0
passes "which are 14" [ "$(wc -l <"$tmp/tried")" = 14 ]

{
	level own 30
	schema z 500 nosuch ByUser "$all" "$(group team)"
} >"$case"
level zoo 30 >"$tmp/other.yaml"
lint "$tmp/other.yaml" -f "$case"
exits "one error is enough" 1
sed -n 's/^\([^ ]*\):.*\[\(.*\)\]$/\1 \2/p' "$tmp/out" | tr -d : >"$tmp/found"
cat >"$tmp/expected" <<END
$tmp/other.yaml2 unused
${case}2 unused
${case}22 dangling
END
run diff "$tmp/expected" "$tmp/found"
exits "by file as they were given, and by line" 0

schema z 500 nosuch ByUser "$all" "$(group team)" >"$tmp/in"
run "$kapfctl" lint -f - -o json
exits "standard input" 1
passes "as JSON" [ "$(tr -d '\n' <"$tmp/out" | tr -s ' ')" = '[ { "rule": "dangling", "severity": "error", "file": "stdin", "line": 8, "kind": "FlowSchema", "name": "z", "what": "the priority level \"nosuch\" is neither given nor a default one", "why": "Such a schema matches nothing; its requests go to those behind it.", "change": "Correct the name, or give the level, too." }]' ]
level workload-low 90 >"$case"
lint "$case" -o json
exits "nothing, as JSON" 0
passes "is an empty list" [ "$(tr -d ' \n' <"$tmp/out")" = '[]' ]

mkdir "$tmp/dir"
level own 30 >"$tmp/dir/1.yaml"
schema z 500 own ByUser "$all" "$(group team)" >"$tmp/dir/2.yaml"
lint "$tmp/dir" --strict
exits "a directory is judged together" 0
lint "$tmp/dir/1.yaml"
says "a file alone is not" out "[unused]"
lint "$tmp/dir" -f "$tmp/dir/1.yaml"
exits "an object in two files is refused" 1
says "says so" err "also in $tmp/dir/1.yaml"
level own -1 >"$case"
lint "$case"
exits "what is not valid is refused" 1
says "with its line" err "kapfctl: $case:8: "
empty "and nothing is printed" out
lint "$tmp/none.yaml"
exits "a missing file is refused" 1
mkdir "$tmp/wrong"
level one -1 >"$tmp/wrong/1.yaml"
level two 30 >"$tmp/wrong/2.yaml"
{ level three 2000000000000; level four -1; } >"$tmp/wrong/3.yaml"
level two 40 >"$tmp/wrong/4.yaml"
ln -s none "$tmp/wrong/5.yaml"
schema x much workload-low ByUser "$all" "$(group team)" >"$tmp/wrong/6.yaml"
lint "$tmp/none.yaml" -f "$tmp/wrong"
exits "several files are refused" 1
empty "and nothing is printed" out
sed -n "s|^kapfctl: $tmp/||; s/: .*//p" "$tmp/err" >"$tmp/found"
cat >"$tmp/expected" <<END
none.yaml
wrong/5.yaml
wrong/1.yaml:8
wrong/3.yaml:8
wrong/4.yaml:2
wrong/6.yaml:6
END
run diff "$tmp/expected" "$tmp/found"
exits "the first error of each is told" 0

# Of two rules, one thing is said once; names cannot break a line.
broken='{kind: Group, group: {name: "kapf:tenant:\n"}}'
{
	schema z 505 workload-low ByUser "$lists" "$broken"
	printf '  - %s\n    subjects: [%s]\n' "$paths" "$broken"
} >"$case"
finds error lost-tenant '^    - {kind: Group'
says "in one line" out 'Group "kapf:tenant:\x0a" is no group'

run "$kapfctl" lint --defaults --strict
exits "the default objects alone" 0
empty "have no mistake" out
{
	schema x 9500 workload-low ByUser "$all" "$(account ci '*')"
	schema service-accounts 9600 workload-low ByUser "$all" \
		"$(group system:serviceaccounts)"
} >"$case"
run "$kapfctl" lint -f "$case"
cp "$tmp/out" "$tmp/expected"
run "$kapfctl" lint --defaults -f "$case"
exits "the default objects with a file that changes one" 0
lacks "are with its change" out behind
run diff "$tmp/expected" "$tmp/out"
exits "and with a file always" 0
run "$kapfctl" lint
exits "without a file" 2
says "says so" err 'nothing to judge: files are named by -f'
run "$kapfctl" lint some.yaml
exits "a file without -f" 2
says "says so" err '"some.yaml" is too much'
run "$kapfctl" lint --live -f "$case"
exits "a file with --live" 2
says "says so" err '--live judges the instance, without -f'
run "$kapfctl" lint --live -f "$tmp/none.yaml"
exits "nor one that is not there" 2
run "$kapfctl" lint --live --defaults
exits "nor the default objects" 2
says "says so" err '--live judges the instance, without -f and --defaults'
run "$kapfctl" --device "$tmp/none" lint --live
exits "an instance that is not there" 1
says "says so" err "$tmp/none is not there"
empty "and prints nothing" out
run "$kapfctl" lint -f "$case" -o yaml
exits "there is no YAML" 2

finish
