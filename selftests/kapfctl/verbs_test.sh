#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/verbs_test.sh: what kapfctl does to objects, one verb
# after the other, as root on a machine that has just loaded the module.  Wants
# kapfctl, hold and attach in PATH, and tap.sh, guest.sh and the directory
# manifests beside it.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"
autoupdate=apf.kubernetes.io/autoupdate-spec

# changes_nothing, and later: same_generation WHAT
changes_nothing() {
	before=$(generation)
}

same_generation() {
	passes "$1" [ "$(generation)" = "$before" ]
}

# prints WHAT LINE: this line, and no other
prints() {
	passes "$1" [ "$(cat "$tmp/out")" = "$2" ]
}

# apply against the instance without changing it

changes_nothing
run kapfctl apply --defaults --dry-run=server
exits "a dry run against the instance" 0
says "says what would be" out "$level/system created (server dry run)"
says "who would lose seats" out "catch-all 600 13 -587"
says "and who shares them" out "shared by 0 attached servers"
empty "it has read the device" err
same_generation "and has changed nothing"
run kapfctl apply --defaults --max-requests-inflight 1400 --dry-run
exits "a dry run of the client" 0
says "says the same" out "$level/system created (dry run)"
says "and who shares the seats" out "before 600, shared by 0 attached servers"
empty "it has read the device, too" err
same_generation "and has changed nothing, either"

run kapfctl apply --defaults -o name
exits "apply the defaults" 0
passes "the names of all" [ "$(sort "$tmp/out")" = "$(kapfctl get all -o name |
	sort)" ]
lacks "and no seats" out SEATS-BEFORE
for side in '' =client =server; do
	changes_nothing
	run kapfctl apply -f "$dir/manifests/ocr-batch.yaml" --dry-run$side
	says "--dry-run$side begins with what is there" out "workload-low 245 236 -9"
	says "catch-all, too" out "catch-all 13 12 -1"
	says "and ends with the new level" out "ocr-batch - 24 +24"
	empty "without a word of another instance" err
	same_generation "and changes nothing"
done

# get, by kind and by name

run kapfctl get all
exits "get all" 0
says "levels with their kind" out "$level/system Limited 30 64 6 50 74 "
says "schemas with theirs" out "$schema/probes exempt 2 <none> False"
passes "an empty line between them" [ "$(grep -c '^$' "$tmp/out")" = 1 ]
passes "all of them" [ "$(wc -l <"$tmp/out")" = $((1 + 8 + 1 + 1 + 11)) ]
cp "$tmp/out" "$tmp/all"
run kapfctl get pl,FlowSchemas
passes "the same by a list of kinds" cmp -s "$tmp/all" "$tmp/out"

run kapfctl get fs/probes pl/system pl/exempt
exits "get by KIND/NAME" 0
passes "has a row for each" [ "$(grep -c / "$tmp/out")" = 3 ]
run kapfctl get fs/probes pl/probes
exits "where one is missing" 1
says "it is named" err 'kapfctl: prioritylevels "probes" not found'
says "the other is shown" out "$schema/probes"
run kapfctl get "$level/system"
says "one kind needs no prefix" out "system Limited"
lacks "and has none" out "$level"
run kapfctl get pl,fs exempt -o name
prints "one name of two kinds" "$level/exempt
$schema/exempt"
run kapfctl get fs -o name
passes "names alone" [ "$(wc -l <"$tmp/out")" = 11 ]
passes "of one kind" not grep -qv "^$schema/" "$tmp/out"
run kapfctl get fs nosuch -o name
exits "a missing name" 1
empty "is not printed" out

uid='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
run kapfctl get pl -o wide
says "wide levels" out "SEATS CURRENT IN-USE WAITING STATUS LIMITS EXECUTING UID"
passes "with their limits and UID" grep -qE \
	"^workload-low .* 24\.\.845 +0 +$uid\$" "$tmp/out"
passes "of which exempt has none" grep -qE \
	"^exempt .* <none> +0 +0 +Active +<none> +0 +$uid\$" "$tmp/out"
run kapfctl get fs -o wide
says "wide schemas" out "MISSINGPL STATUS IN-USE WAITING EXECUTING DISPATCHED UID"
passes "with what they have dispatched" grep -qE \
	"^probes .* False +Active +0 +0 +0 +0 +$uid\$" "$tmp/out"

run kapfctl get pl system -o yaml
says "one that is named comes alone" out "kind: PriorityLevelConfiguration"
lacks "in no List" out items:
run kapfctl get pl/system fs/probes -o yaml
says "two are a List" out "kind: List"
run kapfctl get all -o json
cp "$tmp/out" "$tmp/in"
changes_nothing
run kapfctl apply -f -
exits "apply takes what get all -o json prints" 0
passes "as it was" not grep -qv ' unchanged$' "$tmp/out"
same_generation "so that nothing has changed"
kapfctl get pl system -o yaml >"$tmp/in"
run kapfctl apply -f -
prints "and what get NAME prints" "$level/system unchanged"

# apply keeps what the manifest does not mention

labeled() {
	user_schema labeled 700 system somebody | sed "s/team: labeled/$1/"
}

labeled 'a: "1"' >"$tmp/in"
run kapfctl apply -f -
prints "a schema with a label" "$schema/labeled created"
labeled 'b: "2"' >"$tmp/in"
run kapfctl apply -f -
prints "another label" "$schema/labeled configured"
run kapfctl get fs labeled -o json
says "has been added" out '"b": "2"'
says "to the first" out '"a": "1"'
labeled 'a: "3"' >"$tmp/in"
run kapfctl apply -f -
run kapfctl get fs labeled -o json
says "one that is given is changed" out '"a": "3"'
says "the other stays" out '"b": "2"'
labeled 'a: "3"' >"$tmp/in"
run kapfctl apply -f -
prints "and the same again is no change" "$schema/labeled unchanged"

# What the kernel counts

metadata() {
	kapfctl get "$1" -o yaml | sed -n "s/^  $2: '*\([^']*\)'*$/\1/p"
}

user_schema counted 710 system a >"$tmp/counted.yaml"
kapfctl apply -f "$tmp/counted.yaml" >"$tmp/out"
uid=$(metadata fs/counted uid)
passes "a new object has a UID" [ "${#uid}" = 36 ]
passes "its spec is the first" [ "$(metadata fs/counted generation)" = 1 ]
passes "its version is that of the configuration" [ "$(
	metadata fs/counted resourceVersion)" = "$(generation)" ]
sed -i 's/team: .*/team: other/' "$tmp/counted.yaml"
kapfctl apply -f "$tmp/counted.yaml" >"$tmp/out"
passes "a label is no other spec" [ "$(metadata fs/counted generation)" = 1 ]
version=$(generation)
passes "but another version" [ "$(metadata fs/counted resourceVersion)" = \
	"$version" ]
sed -i 's/710/711/' "$tmp/counted.yaml"
kapfctl apply -f "$tmp/counted.yaml" >"$tmp/out"
passes "a precedence is" [ "$(metadata fs/counted generation)" = 2 ]
passes "and makes a version" [ "$(metadata fs/counted resourceVersion)" = \
	$((version + 1)) ]
passes "of the same object" [ "$(metadata fs/counted uid)" = "$uid" ]
passes "not of others" [ "$(metadata fs/probes resourceVersion)" -lt "$version" ]
kapfctl delete fs/counted >"$tmp/out"
kapfctl apply -f "$tmp/counted.yaml" >"$tmp/out"
passes "one that was deleted is another one" [ "$(metadata fs/counted uid)" != \
	"$uid" ]
passes "with a first spec" [ "$(metadata fs/counted generation)" = 1 ]
kapfctl delete fs/counted >"$tmp/out"

# diff

labeled 'a: "3"' >"$tmp/in"
run kapfctl diff -f -
exits "no difference" 0
empty "and none shown" out
run kapfctl diff --defaults
exits "nor to the defaults" 0
changes_nothing
{ labeled 'a: "4"'; echo ---; queue_level fresh 10 4; } >"$tmp/in"
run kapfctl diff -f -
exits "two differences" 1
says "what is there" out "--- live/$schema/labeled"
says "what would be" out "+++ merged/$schema/labeled"
passes "the old value" grep -qx "[-]    a: '3'" "$tmp/out"
passes "the new value" grep -qx "+    a: '4'" "$tmp/out"
passes "context" grep -qx "     b: '2'" "$tmp/out"
passes "all of a new object" grep -qx '+  name: fresh' "$tmp/out"
passes "which has no UID" [ "$(grep -c ' uid:' "$tmp/out")" -le 1 ]
empty "and no complaint" err
same_generation "which changes nothing"
echo 'kind: Pod' >"$tmp/in"
run kapfctl diff -f -
exits "what cannot be read is more than a difference" 2
empty "and shows none" out
labeled 'a: "4"' >"$tmp/in"
run env PATH=/nowhere "$(command -v kapfctl)" diff -f -
exits "without diff(1) there is nothing to show" 2
says "says so" err "kapfctl: cannot run diff: No such file or directory"

# replace

labeled 'c: "5"' >"$tmp/in"
run kapfctl replace -f - --dry-run
prints "a dry run" "$schema/labeled replaced (dry run)"
same_generation "replaces nothing"
labeled 'c: "5"' >"$tmp/in"
run kapfctl replace -f -
exits "replace" 0
prints "says so" "$schema/labeled replaced"
run kapfctl get fs labeled -o json
says "the label of the manifest is there" out '"c": "5"'
lacks "and no other" out '"a":'
lacks "none at all" out '"b":'
changes_nothing
labeled 'c: "5"' >"$tmp/in"
run kapfctl replace -f - -o name
prints "again, its name alone" "$schema/labeled"
same_generation "is no change"
{ labeled 'c: "6"'; echo ---; user_schema nosuch 800 system x; } >"$tmp/in"
run kapfctl replace -f -
exits "one that does not exist is refused" 1
says "and named" err 'kapfctl: flowschemas "nosuch" not found'
says "with the others" err "kapfctl: nothing has been replaced"
empty "which are not replaced" out
same_generation "at all"
kapfctl get fs labeled -o yaml >"$tmp/labeled.yaml"
run kapfctl replace -f "$tmp/labeled.yaml"
exits "what get prints can be replaced" 0
same_generation "as it is"
labeled 'c: "7"' >"$tmp/in"
run kapfctl apply -f -
changes_nothing
run kapfctl replace -f "$tmp/labeled.yaml"
exits "but not after another change" 1
says "says why" err "kapfctl: $tmp/labeled.yaml:7: FlowSchema \"labeled\": metadata.resourceVersion: \"$((before - 1))\" is not \"$before\": the object has changed"
empty "and replaces nothing" out
same_generation "at all"
run kapfctl apply -f "$tmp/labeled.yaml"
exits "apply refuses it, too" 1
says "in the same words" err "kapfctl: $tmp/labeled.yaml:7: FlowSchema \"labeled\": metadata.resourceVersion: \"$((before - 1))\" is not \"$before\": the object has changed; get it and edit it anew, or leave this out to overwrite it"
empty "and changes nothing" out
same_generation "at all"
for side in client server; do
	run kapfctl apply -f "$tmp/labeled.yaml" --dry-run=$side
	exits "a dry run of the $side refuses it likewise" 1
done
run kapfctl diff -f "$tmp/labeled.yaml"
exits "diff can tell no difference of it" 2
says "says so" err 'metadata.resourceVersion: '
empty "and shows none" out
run kapfctl --device "$tmp/none" apply --dry-run -f "$tmp/labeled.yaml"
exits "a new instance has no other version" 0
sed -i '/^  resourceVersion:/d' "$tmp/labeled.yaml"
run kapfctl apply -f "$tmp/labeled.yaml"
prints "what does not say its version is applied" "$schema/labeled configured"
kapfctl get fs labeled -o yaml >"$tmp/labeled.yaml"
kapfctl delete fs labeled >"$tmp/out"
run kapfctl apply -f "$tmp/labeled.yaml"
prints "and so is what has been deleted since" "$schema/labeled created"
queue_level system 60 64 >"$tmp/in"
run kapfctl replace -f -
says "replacing says who gains seats" out "system 74 "
run kapfctl get pl system -o json
lacks "the annotation is gone" out "$autoupdate"
{ user_schema labeled 700 nolevel somebody; } >"$tmp/in"
run kapfctl replace -f -
says "a missing level is warned of" err \
	'kapfctl: warning: stdin:1: FlowSchema "labeled" names the priority level "nolevel"'

# delete

run kapfctl delete fs labeled --dry-run
exits "a dry run" 0
prints "says what would be" "$schema \"labeled\" deleted (dry run)"
run kapfctl delete fs labeled
prints "a schema" "$schema \"labeled\" deleted"
run kapfctl get fs labeled
exits "is gone" 1
changes_nothing
run kapfctl delete fs labeled
exits "a second time it is missing" 1
says "says so" err 'kapfctl: flowschemas "labeled" not found'
empty "and nothing is deleted" out
run kapfctl delete fs labeled --ignore-not-found
exits "unless that does not matter" 0
empty "which needs no word" err
same_generation "nothing has changed"

{ queue_level one 100 4; echo ---; user_schema first 710 one a; echo ---
user_schema second 720 one b; } >"$tmp/some.yaml"
kapfctl apply -f "$tmp/some.yaml" >"$tmp/out"
run kapfctl delete pl one nosuch
exits "one of two is missing" 1
says "which is named" err 'kapfctl: prioritylevels "nosuch" not found'
says "the other is deleted" out "$level \"one\" deleted"
passes "its seats" grep -qE '^one +[0-9]+ +- +-[0-9]+$' "$tmp/out"
says "are others'" out "workload-low "
for name in first second; do
	says "its schema $name" err "kapfctl: warning: FlowSchema \"$name\" names the priority level \"one\", which is deleted: it matches nothing now"
done
run kapfctl get fs first
says "dangles" out "first one 710 ByUser True"
kapfctl apply -f "$tmp/some.yaml" >"$tmp/out"
run kapfctl delete -f "$tmp/some.yaml" -o name
exits "what a file names" 0
prints "all at once" "$level/one
$schema/first
$schema/second"
empty "so that nothing dangles" err
kapfctl apply -f "$tmp/some.yaml" >"$tmp/out"
run kapfctl delete "$schema/first" pl/one fs/second
exits "by KIND/NAME" 0
passes "all three" [ "$(grep -c ' deleted$' "$tmp/out")" = 3 ]

{ queue_level busy 1 4; echo ---; user_schema busy 550 busy alice; } \
	>"$tmp/busy.yaml"
kapfctl apply -f "$tmp/busy.yaml" >"$tmp/out"
passes "requests in flight" hold_requests 3 web alice update 5
run kapfctl delete -f "$tmp/busy.yaml" --dry-run
empty "a dry run drains nothing" err
run kapfctl delete -f "$tmp/busy.yaml"
exits "a level with requests is deleted" 0
says "and drains" err \
	'kapfctl: prioritylevels "busy" drains: it keeps its seats until its last 5 requests have ended'
run kapfctl get pl busy -o name
exits "it is not configured any more" 1
passes "its requests go on" release
passes "to their end" [ "$(grep -c finished "$tmp/held")" = 5 ]

changes_nothing
for object in pl/exempt pl/catch-all fs/exempt fs/catch-all; do
	run kapfctl delete "$object" fs/probes
	exits "$object cannot be deleted" 1
	says "says why" err "\"${object#*/}\" is mandatory and cannot be deleted: no configuration is without it; nothing has been deleted"
	empty "nor is the other" out
done
kapfctl get fs/exempt -o yaml >"$tmp/in"
run kapfctl delete -f -
exits "nor by a file" 1
same_generation "nothing has changed"

# maintain

run kapfctl maintain --dry-run
exits "a dry run" 0
says "says what would be" out "$schema/catch-all configured (dry run)"
same_generation "and does nothing"
run kapfctl maintain
exits "maintain" 0
changes_nothing
run kapfctl maintain
exits "once more" 0
empty "has nothing to say" out
empty "nor to complain of" err
same_generation "nor to do"

kapfctl delete fs/probes pl/workload-low >"$tmp/out" 2>&1
run kapfctl maintain
prints "what was deleted is created anew" "$level/workload-low created
$schema/probes created"
run kapfctl get fs -o wide
lacks "so that no schema dangles" out True
run kapfctl diff --defaults
exits "as it was" 0

# annotated KIND/NAME VALUE: its manifest, with another spec and this annotation
annotated() {
	kapfctl get "$1" -o yaml |
		sed -e "s|$autoupdate: .*|$autoupdate: '$2'|" \
			-e 's/matchingPrecedence: .*/matchingPrecedence: 77/' \
			-e 's/nominalConcurrencyShares: .*/nominalConcurrencyShares: 7/'
}

fate='is a default object and not annotated apf.kubernetes.io/autoupdate-spec: "false": its spec will be reset by maintain or apply --defaults'
annotated fs/probes true >"$tmp/in"
run kapfctl apply -f -
exits "a default object may be changed" 0
says "with a warning" err "kapfctl: warning: stdin:1: FlowSchema \"probes\" $fate"
annotated pl/workload-low true >"$tmp/in"
run kapfctl apply -f -
says "a level, too" err "kapfctl: warning: stdin:1: PriorityLevelConfiguration \"workload-low\" $fate"
annotated fs/probes true | sed 's/^metadata:/&\n  labels: {a: b}/' >"$tmp/in"
run kapfctl apply -f -
prints "a label of it is none of the spec" "$schema/probes configured"
empty "and needs no warning" err
run kapfctl maintain
prints "what may be set right is" "$level/workload-low configured
$schema/probes configured"
run kapfctl diff --defaults
exits "to the defaults" 0
annotated fs/probes false >"$tmp/in"
run kapfctl apply -f -
empty "what is its owner's is changed without a warning" err
annotated pl/workload-low false >"$tmp/in"
run kapfctl apply -f -
empty "a level likewise" err
run kapfctl maintain
empty "what may not stays" out
run kapfctl get fs probes
says "with its spec" out "probes exempt 77 "
run kapfctl get pl workload-low
says "and the level with its own" out "workload-low Limited 7 "
annotated fs/catch-all false >"$tmp/in"
sed -i 's/: 77/: 10000/' "$tmp/in"
run kapfctl apply -f -
run kapfctl maintain
prints "a mandatory object is always ours" "$schema/catch-all configured"

{ queue_level foreign 5 4; echo ---; user_schema foreign 730 foreign a; } |
	sed "s|^  name: foreign\$|&\n  annotations: {$autoupdate: 'true'}|" >"$tmp/in"
run kapfctl apply -f -
exits "objects that say they are default ones" 0
run kapfctl maintain
prints "and are not, are deleted" "$level \"foreign\" deleted
$schema \"foreign\" deleted"

# Who has not said whose an object is

kapfctl delete fs/probes pl/workload-low >"$tmp/out" 2>&1
{ user_schema probes 740 system a; echo ---; queue_level workload-low 7 4; } \
	>"$tmp/in"
run kapfctl apply -f -
exits "default objects with other specs" 0
says "of which it warns" err "FlowSchema \"probes\" $fate"
run kapfctl maintain
prints "that have never been changed become the default ones" \
	"$level/workload-low configured
$schema/probes configured"
run kapfctl get fs probes -o json
says "with an annotation" out "\"$autoupdate\": \"true\""
says "and with their labels" out '"team": "probes"'
says "and the default precedence" out '"matchingPrecedence": 2,'
kapfctl get fs probes -o yaml | sed -e "\\|$autoupdate|d" -e /annotations:/d \
	-e 's/matchingPrecedence: .*/matchingPrecedence: 77/' >"$tmp/in"
run kapfctl replace -f -
prints "one that has been changed" "$schema/probes replaced"
run kapfctl maintain
prints "is its owner's" "$schema/probes configured"
run kapfctl get fs probes -o json
says "and annotated so" out "\"$autoupdate\": \"false\""
says "its precedence stays" out '"matchingPrecedence": 77,'
run kapfctl maintain
empty "for good" out

# periodically, until a signal

for signal in TERM INT; do
	# The two may meet, and say so.
	kapfctl maintain --every 1s >"$tmp/maintained" 2>"$tmp/races" &
	maintainer=$!
	kapfctl delete fs/service-accounts >"$tmp/out" 2>>"$tmp/races"
	tries=100
	until grep -q "^$schema/service-accounts created$" "$tmp/maintained" ||
		[ "$tries" = 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	passes "what is deleted meanwhile comes back" [ "$tries" -gt 0 ]
	kill -s "$signal" "$maintainer"
	passes "SIG$signal is its end" wait "$maintainer"
	run cat "$tmp/maintained"
	prints "and that is all" "$schema/service-accounts created"
done
kapfctl --device "$tmp/none" maintain --every 1s >"$tmp/maintained" 2>&1 &
maintainer=$!
sleep 2.5
kill "$maintainer"
passes "without a device it tries again" wait "$maintainer"
passes "and again" [ "$(grep -c 'is not there' "$tmp/maintained")" -ge 2 ]

finish
