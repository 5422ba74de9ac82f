# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the tests of kapfctl share: they run a command, look at its exit status
# and output, and print TAP.
#
# A test is a call of passes, exits or says; the last two speak of the command
# that run ran last.

tests=0
failures=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# run COMMAND...: stdin is $tmp/in if that exists
run() {
	ran=$*
	[ -e "$tmp/in" ] || : >"$tmp/in"
	status=0
	"$@" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" || status=$?
	: >"$tmp/in"
}

# passes WHAT COMMAND...: the command succeeds
passes() {
	what=$1
	shift
	tests=$((tests + 1))
	if "$@"; then
		echo "ok $tests - $what"
		return
	fi
	failures=$((failures + 1))
	echo "# $ran: exit status $status"
	sed 's/^/# stdout: /' "$tmp/out"
	sed 's/^/# stderr: /' "$tmp/err"
	echo "# failed: $*"
	echo "not ok $tests - $what"
}

# exits WHAT STATUS
exits() {
	passes "$1" [ "$status" = "$2" ]
}

# says WHAT STREAM TEXT: out or err has a line with this text; runs of spaces
# count as one
says() {
	tr -s ' ' <"$tmp/$2" >"$tmp/squeezed"
	passes "$1" grep -qF -e "$3" "$tmp/squeezed"
}

# lacks WHAT STREAM TEXT: no line of out or err has this text
lacks() {
	passes "$1" not grep -qF -e "$3" "$tmp/$2"
}

# empty WHAT STREAM
empty() {
	passes "$1" not [ -s "$tmp/$2" ]
}

not() {
	! "$@"
}

# The rest runs $kapfctl.

# refuses_to_run TEXT ARGUMENT...
refuses_to_run() {
	text=$1
	shift
	run "$kapfctl" "$@"
	exits "wrongly typed: kapfctl $*" 2
	says "says: $text" err "$text"
	empty "and prints nothing" out
}

# prints_json EXPECTED ARGUMENT...: all that is printed, in one line
prints_json() {
	expected=$1
	shift
	run "$kapfctl" "$@" -o json
	exits "$*" 0
	passes "prints $expected" [ "$(tr -d '\n' <"$tmp/out" |
		tr -s ' ')" = "$expected" ]
}

finish() {
	echo "1..$tests"
	[ "$failures" = 0 ]
}
