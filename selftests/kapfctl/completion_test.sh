#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/completion_test.sh: what shells complete by the scripts of
# $KAPFCTL: bash, and zsh where there is one.  Prints TAP.
set -eu
kapfctl=${KAPFCTL:?}
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

# A kapfctl that knows some objects, and writes down how it was called.
cat >"$tmp/stub" <<'END'
#!/bin/sh
echo "$*" >>"${0%stub}called"
case $* in
*"get prioritylevels -o name")
	echo prioritylevelconfiguration.flowcontrol.apiserver.k8s.io/system
	echo prioritylevelconfiguration.flowcontrol.apiserver.k8s.io/node-high
	;;
*"get fs -o name")
	echo flowschema.flowcontrol.apiserver.k8s.io/probes
	;;
*)
	echo "kapfctl: there is no device" >&2
	exit 1
	;;
esac
END
chmod +x "$tmp/stub"
echo >"$tmp/a file.yaml"

for shell in bash zsh; do
	run "$kapfctl" completion $shell
	exits "a script for $shell" 0
	empty "without a complaint" err
	cp "$tmp/out" "$tmp/$shell"
done

# bash_completes WORD...: prints what the last word can be
bash_completes() {
	# shellcheck disable=SC2016 # for that bash
	(cd "$tmp" && bash -uc '
		. ./bash
		shift
		COMP_WORDS=(kapfctl "$@")
		COMP_CWORD=$#
		_kapfctl ./stub "${COMP_WORDS[$#]}" "${COMP_WORDS[$#-1]}"
		[ ${#COMPREPLY[@]} = 0 ] ||
			printf "%s\n" "${COMPREPLY[@]}"' bash bash "$@")
}

# zsh_completes WORD...: likewise; zsh itself would sort out what begins so
zsh_completes() {
	# shellcheck disable=SC2016 # for that zsh
	(cd "$tmp" && zsh -fuc '
		compdef() { }
		compset() { }
		compadd() { [[ $1 = -- ]] && shift && print -rl -- "$@" }
		_files() { print -rl -- * }
		. ./zsh
		shift
		words=(./stub "$@")
		CURRENT=$#words
		_kapfctl' zsh zsh "$@") | grep -e "^$begins" || :
}

# completes EXPECTED WORD...: the last word can be these words and no others
completes() {
	expected=$1
	shift
	for word; do
		begins=$word
	done
	run "${shell}_completes" "$@"
	passes "$shell: kapfctl $*: $expected" [ "$(tr -s '\n' ' ' <"$tmp/out" |
		sed 's/^ //; s/ $//')" = "$expected" ]
	empty "and no complaint" err
}

all="$("$kapfctl" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | tr '\n' ' ')"
shells="bash"
if command -v zsh >"$tmp/out"; then
	shells="bash zsh"
else
	echo "# there is no zsh"
fi

for shell in $shells; do
	run "$shell" -n "$tmp/$shell"
	exits "$shell can read its script" 0
	completes "${all% }" ''
	completes "describe" des
	completes "explain" --device /dev/null ex
	completes "--version --device --help" -
	completes "" frobnicate ''
	completes "" status ''

	completes "prioritylevels flowschemas all" get ''
	completes "flowschemas" describe f
	completes "priority-levels queues requests" dump ''
	completes "" dump queues ''
	completes "enforce observe off" mode ''
	completes "bash zsh" completion ''

	completes "--details --output --device --help" dump -
	completes "--max-requests-inflight --max-mutating-requests-inflight" \
		apply --m
	completes "--defaults --device" tradeoff --queues 64 system --de
	completes "json yaml wide name" get fs -o ''
	completes "json" dump --output ''
	completes "yaml" get --output y
	completes "" maintain --every ''
	completes "" classify --user ''
	completes "a file.yaml" apply -f a
	completes "a file.yaml" classify --user get --filename a
	completes "a file.yaml" report -o a
	completes "a file.yaml" report --output a

	: >"$tmp/called"
	completes "system node-high" get prioritylevels ''
	completes "node-high" describe prioritylevels system n
	completes "probes" get -o json fs ''
	completes "system node-high" tradeoff --queues 5 ''
	completes "" tradeoff system ''
	completes "" get pods ''
	passes "$shell asks for names when they are needed" [ \
		"$(sort -u "$tmp/called")" = "get fs -o name
get pods -o name
get prioritylevels -o name" ]
	: >"$tmp/called"
	completes "probes" --device /dev/kapfctl1 get fs ''
	passes "$shell asks that device" [ "$(cat "$tmp/called")" = \
		"--device /dev/kapfctl1 get fs -o name" ]
done

# The = stands alone in bash, whose words it ends.
shell=bash
completes "json yaml wide name" get fs --output =
completes "yaml" get fs --output = y
completes "probes" get --device = /dev/kapfctl1 fs ''
passes "with that device, too" grep -qx -e \
	"--device /dev/kapfctl1 get fs -o name" "$tmp/called"
# shellcheck disable=SC2016 # for that bash
run bash -c '. "$1"; complete -p kapfctl' bash "$tmp/bash"
says "bash knows whom to ask" out "complete -F _kapfctl kapfctl"

# What each command has, it completes.
for command in $all; do
	shell=bash
	run bash_completes "$command" --
	cp "$tmp/out" "$tmp/completed"
	"$kapfctl" "$command" --help | grep -o '^ *\(-.,\)\? *--[a-z-]*' |
		grep -o -e '--.*' >"$tmp/options"
	passes "all options of $command that its help names" not grep -qvxF \
		-f "$tmp/completed" "$tmp/options"
done

refuses_to_run "say for which shell: bash or zsh" completion
refuses_to_run 'there is no completion for "fish", only for bash and zsh' \
	completion fish
refuses_to_run '"zsh" is too much' completion bash zsh

finish
