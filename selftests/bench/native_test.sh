#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What kapf-bench-native prints, and that it compares our answers with those of the
# reference, which is asked where it could be built.  Prints TAP.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
native=$top/build/bin/kapf-bench-native
reference=$top/build/bin/kapf-bench-reference
# shellcheck source=../kapfctl/tap.sh
. "$top/selftests/kapfctl/tap.sh"

run "$native" --help
exits "--help" 0
says "says how" out "usage: kapf-bench-native"
for wrong in --repeats=1 --nothing "--repeats 0" "--repeats 2x" \
	"--nothing 3" word; do
	# shellcheck disable=SC2086 # two words may be one argument each
	run "$native" $wrong
	exits "wrongly typed: $wrong" 2
	empty "and prints nothing" out
done

# prints KEY...: each of them twice, and nothing else
prints() {
	passes "each line is a key and a number" [ "$(grep -cvE \
		'^native\.[a-z0-9_]+ [0-9]+\.[0-9]+$' "$tmp/out")" = 0 ]
	passes "$# keys" [ "$(wc -l <"$tmp/out")" = $((2 * $#)) ]
	for key; do
		passes "$key" [ "$(grep -c "^native.$key " "$tmp/out")" = 2 ]
	done
}

ours="engine_ns classify_default_ns classify_1000_ns flow_hash_ns"
theirs="reference_ns reference_classify_default_ns reference_classify_1000_ns
	reference_flow_hash_ns"
cp "$native" "$tmp/kapf-bench-native"
run "$tmp/kapf-bench-native" --repeats 2
exits "without the reference" 0
says "says that it is not there" err "there is no kapf-bench-reference"
# shellcheck disable=SC2086 # several words
prints $ours

if [ -e "$reference" ]; then
	run "$native" --repeats 2
	exits "with the reference, which answers as we do" 0
	empty "and all is well" err
	# shellcheck disable=SC2086 # several words
	prints $ours $theirs
else
	passes "with the reference # SKIP it is not built" true
fi

# answers SUM: a program in the place of the reference's
answers() {
	cat >"$tmp/kapf-bench-reference" <<-END
		#!/bin/sh
		while read -r line; do
			case \$line in
			{*) ;;
			*) echo 1.5 $1 ;;
			esac
		done
	END
	chmod +x "$tmp/kapf-bench-reference"
}
answers 1
run "$tmp/kapf-bench-native" --repeats 1
exits "with one that answers otherwise" 1
says "says where" err "classify_default: the answers are not the reference's"
answers nothing
run "$tmp/kapf-bench-native" --repeats 1
exits "with one that does not answer" 1
says "says so" err "does not answer"

finish
