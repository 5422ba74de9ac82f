#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/manual/guest_test.sh: the examples of the manual pages, as root on a
# machine that has just loaded the module.  Wants kapfctl, example_kapf and
# example_libkapf in PATH; docs, manifests, blocks.awk and tap.sh beside it.
# Prints TAP.
set -eu
dir=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../kapfctl/tap.sh
. "$dir/tap.sh"

# judge PAGE: the command has succeeded, and has printed what the page says
judge() {
	[ -n "$command" ] || return 0
	run eval "$command"
	exits "$1: $command" 0
	[ -s "$tmp/expected" ] || return 0
	passes "$1: as it says there" diff -b "$tmp/expected" "$tmp/out"
}

# commands PAGE: run all in its EXAMPLES, where the manifests are; what one prints
# stands behind it, but need not
commands() {
	cd "$dir"
	command=
	awk -v kind=sh -f "$dir/blocks.awk" "$dir/docs/$1" >"$tmp/commands"
	passes "$1 has examples" [ -s "$tmp/commands" ]
	: >"$tmp/expected"
	while IFS= read -r line <&3; do
		case $line in
		'# '*)
			judge "$1"
			command=${line#\# }
			: >"$tmp/expected"
			;;
		*) echo "$line" >>"$tmp/expected" ;;
		esac
	done 3<"$tmp/commands"
	judge "$1"
	cd "$dir"
}

ran=
status=0
# Where it is not mounted yet.
[ -d /sys/kernel/tracing/events ] ||
	mount -t tracefs tracefs /sys/kernel/tracing
mkdir -p /etc/modprobe.d
commands kapfctl.8
commands kapf.4
commands kapf-metrics.7
kapfctl metrics | sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' | sort >"$tmp/there"
awk '$1 == ".Ss" {
		prefix = /kube-apiserver/ ? "apiserver_flowcontrol_" : \
			/of kapf/ ? "kapf_" : ""
	}
	prefix && $1 == ".It" {
		for (i = 3; i <= NF; i++)
			if ($i != ",")
				print prefix $i
	}
	/^\.Li apiserver_current_/ { print $2 }' \
	"$dir/docs/kapf-metrics.7" | sort >"$tmp/page"
passes "kapf-metrics.7 has all metrics" diff "$tmp/there" "$tmp/page"
run cat /etc/modprobe.d/kapf.conf
says "kapf.4: the parameter is there" out "options kapf instances=2"

run example_kapf
exits "kapf.4: the program" 0
says "kapf.4: is granted its seat" out "200"
run example_libkapf
exits "libkapf.3: the program" 0
says "libkapf.3: is granted its seats" out "200 OK: list pods"

finish
