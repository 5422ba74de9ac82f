# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the tests of kapfctl against the module share.

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
