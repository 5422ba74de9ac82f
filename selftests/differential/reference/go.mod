// SPDX-License-Identifier: GPL-2.0

module kapf/selftests/differential

go 1.26.0

require k8s.io/apiserver v0.37.2
