# SPDX-License-Identifier: GPL-2.0
#
# The version of kapf: of its tool, its library and its module's sources.

KAPF_VERSION := 0.1
