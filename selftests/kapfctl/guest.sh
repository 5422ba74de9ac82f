# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the tests of kapfctl in a guest share, after tap.sh: manifests, how often
# the configuration has changed, and requests in flight.

# Before the names of objects
level=prioritylevelconfiguration.flowcontrol.apiserver.k8s.io
schema=flowschema.flowcontrol.apiserver.k8s.io

# queue_level NAME SHARES QUEUES, user_schema NAME PRECEDENCE LEVEL USER
queue_level() {
	cat <<END
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata:
  name: $1
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: $2
    borrowingLimitPercent: 0
    limitResponse:
      type: Queue
      queuing:
        queues: $3
        handSize: 1
        queueLengthLimit: 50
END
}

user_schema() {
	cat <<END
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata:
  name: $1
  labels:
    team: $1
spec:
  matchingPrecedence: $2
  priorityLevelConfiguration:
    name: $3
  distinguisherMethod:
    type: ByUser
  rules:
  - subjects:
    - kind: User
      user:
        name: $4
    resourceRules:
    - verbs: ["*"]
      apiGroups: ["*"]
      resources: ["*"]
      namespaces: ["*"]
END
}

# The generation of the configuration.
generation() {
	kapfctl status | sed -n 's/^Generation: *//p'
}

# start_hold ARGUMENT...: hold, in the background, until release
start_hold() {
	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo"
	hold "$@" <"$tmp/fifo" >"$tmp/held" 2>&1 &
	holder=$!
	exec 3>"$tmp/fifo"
}

# hold_requests GRANTED SERVER USER VERB COUNT [WAITING]: in the background, until
# release; returns when the server is attached, so many are granted and the others
# wait, or would
hold_requests() {
	granted=$1
	waiting=${6:-$(($5 - $1))}
	shift
	start_hold "$1" "$2" "$3" "$4"
	tries=100
	until [ "$(grep -c '^verdict 1$' "$tmp/held")" = "$granted" ] &&
		kapfctl status >"$tmp/status" &&
		grep -q '^Servers: *1$' "$tmp/status" &&
		grep -q "^Waiting: *$waiting " "$tmp/status"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

release() {
	exec 3>&-
	wait "$holder"
}

# await COMMAND...: until the command succeeds, for 10 s
await() {
	tries=100
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

# start NAME COMMAND...: in the background with stdin from $tmp/NAME.in, which no
# other such command keeps open, its output in $tmp/NAME.out
start() {
	name=$1
	shift
	mkfifo "$tmp/$name.in"
	"$@" <"$tmp/$name.in" >"$tmp/$name.out" 2>&1 3>&- 4>&- 5>&- &
	started=$!
}

# lists PATTERN: kapfctl sessions has such a line; runs of spaces count as one
lists() {
	kapfctl sessions | tr -s ' ' | grep -q -e "$1"
}
