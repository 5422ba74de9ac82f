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

# items PAGE SECTION MACRO: the items of this macro in a subsection of a page
items() {
	awk -v section="$2" -v macro="$3" '
	$1 == ".Ss" { inside = substr($0, 5) == section }
	$1 == ".Sh" { inside = substr($0, 5) == section }
	inside && $1 == ".It" && $2 == macro { print $3 }' "$top/docs/$1"
}

# What is not fixed in a line of the log: conversions in the source, words in
# capitals in the page.
masked() {
	sed 's/%\*pEp/*/g; s/%[a-z]*u/*/g; s/%[ds]/*/g; s/\\n$//
		s/[A-Z][A-Z]*/*/g'
}

# libkapf(3)

sed -n 's/^	\(kapf_[a-z_]*\);$/\1/p' "$top/userspace/libkapf/libkapf.map" \
	>"$tmp/there"
awk '$1 == ".Sh" { inside = $2 == "DESCRIPTION" }
	inside && $1 == ".It" {
		for (i = 2; i < NF; i++)
			if ($i == "Fn")
				print $(i + 1)
	}' \
	"$top/docs/libkapf.3" >"$tmp/page"
same "all functions" "libkapf(3)"

# kapf(4)

sed -n 's/^#define \(KAPF_[A-Z_]*\) *_IOW*(KAPF_IOC_TYPE,.*/\1/p' \
	"$top/uapi/linux/kapf.h" >"$tmp/there"
items kapf.4 Calls Dv >"$tmp/page"
same "all calls" "kapf(4)"
sed -n 's/^module_param_named(\([a-z_]*\),.*/\1/p' "$top/module/main.c" \
	>"$tmp/there"
items kapf.4 Parameters Cm >"$tmp/page"
same "all parameters" "kapf(4)"
sed -n 's/^\(TRACE\|DEFINE\)_EVENT(\(.*, \)*\(kapf_[a-z_]*\),$/\3/p' \
	"$top/module/trace.h" >"$tmp/there"
items kapf.4 Tracepoints Li >"$tmp/page"
same "all tracepoints" "kapf(4)"
sed -n 's/.*pr_[a-z_]*("\([^"]*\)".*/\1/p' "$top"/module/*.c | masked \
	>"$tmp/there"
sed -n 's/^\.It "\(kapf.*\)"$/\1/p' "$top/docs/kapf.4" | masked >"$tmp/page"
same "all lines of the log" "kapf(4)"

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

# The same of the page: what stands in OPTIONS has no command; of two forms that it
# has of an option, one is enough in a command; and a request, as an argument, is
# what options of classify say.
options_of_page() {
	awk '
	$1 == ".Sh" {
		options = $2 == "OPTIONS"
		commands = $2 == "COMMANDS"
		name = ""
	}
	$1 == ".Ss" && commands { name = $2; synopsis = 1 }
	$1 == ".Pp" { synopsis = 0 }
	commands && synopsis && $2 == "request" {
		for (option in request)
			print name, option
	}
	options && $1 == ".It" && $5 == "Fl" { form["-" $3] = "-" $6 }
	(commands && synopsis) || ((commands || options) && $1 == ".It") {
		sub(/^\./, "")
		for (i = 1; i < NF; i++) {
			if ($i != "Fl")
				continue
			print name, "-" $(i + 1)
			if (name == "classify")
				request["-" $(i + 1)]
			if (commands && "-" $(i + 1) in form)
				print name, form["-" $(i + 1)]
		}
	}' "$top/docs/kapfctl.8"
}

"$kapfctl" --help >"$tmp/help"
sed -n 's/^  \([a-z][a-z-]*\)  *[^ ].*/\1/p' "$tmp/help" >"$tmp/commands"
cp "$tmp/commands" "$tmp/there"
awk '$1 == ".Sh" { commands = $2 == "COMMANDS" }
	$1 == ".Ss" && commands { print $2 }' "$top/docs/kapfctl.8" >"$tmp/page"
same "all commands" "kapfctl(8)"

# Those that all have are in OPTIONS, and of others those that some have.
options_of_help "" <"$tmp/help" | sort -u >"$tmp/common"
while read -r command; do
	"$kapfctl" "$command" --help | options_of_help "$command" |
		sort -u | sed "s/^$command //" >"$tmp/own"
	sed 's/^ //' "$tmp/common" | comm -23 "$tmp/own" - |
		sed "s/^/$command /"
done <"$tmp/commands" >"$tmp/there"
options_of_page >"$tmp/page"
sed 's/.* / /' "$tmp/there" | sort -u >"$tmp/some"
grep '^ ' "$tmp/page" | sort -u | comm -12 - "$tmp/some" |
	cat - "$tmp/common" >>"$tmp/there"
same "all options" "kapfctl(8)"

# kapf-troubleshooting(7): what stands there in quotes is a message, but for what is
# left out of it.
sed -n 's/^\.It "\(.*\)"$/\1/p' "$top/docs/kapf-troubleshooting.7" |
	sed 's/ *\.\.\. */\n/g' | grep . >"$tmp/messages"
passes "kapf-troubleshooting(7) explains messages" [ -s "$tmp/messages" ]
while IFS= read -r message; do
	grep -rqF -e "$message" "$top/userspace" || echo "nobody says: $message"
done <"$tmp/messages" >"$tmp/out"
empty "all of which there are" out

finish
