#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/report_test.sh: what kapfctl report says of servers at work,
# and what it keeps to itself, as root on a machine that has just loaded the
# module.  Wants kapfctl, hold and attach in PATH, tap.sh and guest.sh beside it.
# Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"

account=system:serviceaccount:secretspace:secretaccount

# holds NUMBER: so many requests execute
holds() {
	kapfctl sessions -o json |
		grep -q "\"executing_requests\": $1,"
}

# What a schema can name besides the user of user_schema.
subjects() {
	cat <<END
  - subjects:
    - kind: Group
      group:
        name: secretgroup
    - kind: Group
      group:
        name: system:serviceaccounts:secretspace
    - kind: Group
      group:
        name: kapf:tenant:secrettenant
    - kind: Group
      group:
        name: system:authenticated
    - kind: ServiceAccount
      serviceAccount:
        namespace: secretspace
        name: secretaccount
    resourceRules:
    - verbs: ["get"]
      apiGroups: ["apps"]
      resources: ["pods"]
      namespaces: ["secretspace", "othersecret"]
END
}

# Each word of which a report must have nothing has "secret" in it, but for the
# object x,y of the namespace ns, which hold asks for.
{
	queue_level secretlevel 1 4
	echo ---
	user_schema secretschema 500 secretlevel $account |
		sed 's/^  labels:/  annotations:\n    note: secret\n&/'
	subjects
} >"$tmp/in"
cp "$(command -v kapfctl)" "$tmp/secrettool"
run "$tmp/secrettool" apply --defaults -f -
exits "a configuration of secrets" 0

start gone hold secretgone $account list 1
exec 4>"$tmp/gone.in"
gone=$started
passes "a server holds a seat" await holds 1
kill -KILL "$gone"
wait "$gone" || :
exec 4>&-
start api attach secretapi secrettenant
exec 5>"$tmp/api.in"
start web hold secretweb $account list 9
exec 6>"$tmp/web.in"
passes "another has seats, and requests that wait" await holds 3

run kapfctl report
exits "report" 0
empty "without complaint" err
for secret in secret x,y '"ns"' 'namespaces/ns'; do
	passes "nothing has $secret" not grep -qi "$secret" "$tmp/out"
done
stands=system:serviceaccount:namespace-1:account-1
tr -d '\n' <"$tmp/out" | sed 's/  */ /g' >"$tmp/line"
# has WHAT TEXT: runs of white space count as one
has() {
	passes "$1" grep -qF -e "$2" "$tmp/line"
}
has "the tool's version" "\"kapfctl\": \"$(kapfctl --version |
	sed 's/kapfctl \(.*\),.*/\1/')\""
has "the kernel's" "\"release\": \"$(uname -r)\""
has "the module's" "\"srcversion\": \"$(cat /sys/module/kapf/srcversion)\""
has "its parameters" '"max_sessions": "64"'
has "the mode" '"mode": "enforce"'
has "a level in numbers" '"nominal_seats": 3,'
has "a user of a rule" "\"user\": { \"name\": \"$stands\" }"
has "is the same in a request" "\"user\": \"$stands\""
has "and as its flow" "\"flow_distinguisher\": \"$stands\", \"user\": \"$stands\""
has "a service account, too" \
	'"serviceAccount": { "namespace": "namespace-1", "name": "account-1" }'
has "a group of service accounts" \
	'"name": "system:serviceaccounts:namespace-1"'
has "another group" '"name": "group-1"'
has "one that all know" '"name": "system:authenticated"'
has "a tenant's" '"name": "kapf:tenant:tenant-1"'
has "and the tenant" '"tenant": "tenant-1"'
has "namespaces" '"namespaces": [ "namespace-1", "namespace-2" ]'
has "an object" '"name": "object-1"'
has "a level" '"priorityLevelConfiguration": { "name": "level-1" }'
passes "which has counted" [ "$(grep -c '"name": "level-1"' "$tmp/out")" = 3 ]
passes "a schema, which has counted" [ "$(
	grep -c '"name": "schema-0001"' "$tmp/out")" = 2 ]
has "one that waits" '"state": 1,'
has "one that executes" '"state": 2,'
passes "who changed the configuration" grep -qE \
	'kapf0: configuration [0-9]+ by process [0-9]+ \(process-1\), user 0"' \
	"$tmp/out"
passes "which server ended" grep -qE \
	'session [0-9]+ of server server-[0-9] ended with 1 requests' "$tmp/out"
sed -n '/^    "objects": {$/,/^    }/p' "$tmp/out" |
	sed '1s/.*/{/' >"$tmp/objects.json"

run kapfctl report --output "$tmp/file"
exits "into a file" 0
empty "and nowhere else" out
passes "it is there" grep -q '"requests": \[' "$tmp/file"
run kapfctl report -o /nosuch/file
exits "a file that cannot be" 1
says "is named" err "kapfctl: /nosuch/file: No such file or directory"

run kapfctl report --device /nosuch
exits "without a device" 1
says "says so" err "/nosuch is not there"
says "there are versions" out '"module": {'
lacks "and no sessions" out '"sessions"'
says "but the log" out "by process"

chmod 644 /dev/kapfctl0
echo 1 >/proc/sys/kernel/dmesg_restrict
chmod 755 "$tmp"
run su -s /bin/sh nobody -c "$tmp/secrettool report"
exits "by somebody who may not read the log" 0
says "it is left out" out '"log": null'
says "and nothing else" out '"requests": ['
echo 0 >/proc/sys/kernel/dmesg_restrict
chmod 600 /dev/kapfctl0
exec 5>&- 6>&-
wait

run kapfctl apply --dry-run -f "$tmp/objects.json"
exits "apply takes the objects" 0
says "all of them" out "flowschema.flowcontrol.apiserver.k8s.io/schema-0001"
lacks "and they belong together" err "does not exist"

finish
