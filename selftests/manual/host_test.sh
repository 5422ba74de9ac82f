#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/manual/host_test.sh KAPFCTL TOP: the manual pages have what there is,
# and nothing else.  Prints TAP.
set -eu
export LC_ALL=C
kapfctl=$1
top=$2
# shellcheck source=../kapfctl/tap.sh
. "$(dirname "$0")/../kapfctl/tap.sh"

# There is no command whose exit status would explain a failure.
ran=
status=0

# same WHAT PAGE: the lines of $tmp/there, which there are, and of $tmp/page,
# which the page has
same() {
	sort -u "$tmp/there" >"$tmp/1"
	sort -u "$tmp/page" >"$tmp/2"
	passes "there is something to compare" [ -s "$tmp/1" ]
	{
		comm -23 "$tmp/1" "$tmp/2" | sed "s|^|$2 lacks: |"
		comm -13 "$tmp/1" "$tmp/2" | sed "s|^|there is no: |"
	} >"$tmp/out"
	: >"$tmp/err"
	empty "$2 has $1" out
}

# kapfctl(8)

# What --help calls options: in its synopsis, and at the beginning of lines that
# explain them.  Prints NAME OPTION.
options_of_help() {
	awk -v name="$1" '
	NR == 1 { usage = 1 }
	!NF { usage = 0 }
	!usage && !/^(  |      )-/ { next }
	{
		sub(/^ +/, "")
		if (!usage)
			sub(/  .*/, "")
		while (match($0, /(^|[^-A-Za-z0-9])--?[A-Za-z][a-z-]*/)) {
			option = substr($0, RSTART, RLENGTH)
			sub(/^[^-]/, "", option)
			print name, option
			$0 = substr($0, RSTART + RLENGTH)
		}
	}'
}

# The same of the page: what stands in OPTIONS has no command.
options_of_page() {
	awk '
	$1 == ".Sh" {
		options = $2 == "OPTIONS"
		commands = $2 == "COMMANDS"
		name = ""
	}
	$1 == ".Ss" && commands { name = $2; synopsis = 1 }
	$1 == ".Pp" { synopsis = 0 }
	(commands && synopsis) || ((commands || options) && $1 == ".It") {
		for (i = 2; i < NF; i++)
			if ($i == "Fl")
				print name, "-" $(i + 1)
		if ($1 == ".Fl")
			print name, "-" $2
	}' "$top/docs/kapfctl.8"
}

"$kapfctl" --help >"$tmp/help"
sed -n 's/^  \([a-z][a-z-]*\)  *[^ ].*/\1/p' "$tmp/help" >"$tmp/commands"
cp "$tmp/commands" "$tmp/there"
awk '$1 == ".Sh" { commands = $2 == "COMMANDS" }
	$1 == ".Ss" && commands { print $2 }' "$top/docs/kapfctl.8" >"$tmp/page"
same "all commands" "kapfctl(8)"

options_of_help "" <"$tmp/help" | sort -u >"$tmp/common"
while read -r command; do
	# Those that all have are in OPTIONS.
	"$kapfctl" "$command" --help | options_of_help "$command" |
		sort -u | sed "s/^$command //" >"$tmp/own"
	sed 's/^ //' "$tmp/common" | comm -23 "$tmp/own" - |
		sed "s/^/$command /"
done <"$tmp/commands" >"$tmp/there"
cat "$tmp/common" >>"$tmp/there"
options_of_page >"$tmp/page"
same "all options" "kapfctl(8)"

finish
