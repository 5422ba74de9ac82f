#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What kapf-bench-wall prints with the peers that need no kapf.  Prints TAP.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
wall=$top/build/bin/kapf-bench-wall
# shellcheck source=../kapfctl/tap.sh
. "$top/selftests/kapfctl/tap.sh"

run "$wall" --help
exits "--help" 0
says "says how" out "usage: kapf-bench-wall"
for wrong in --peer=nobody --workload=nothing --repeats=0 --repeats=0.5 \
	--repeats=2x --seconds=-1 --seed=x --nothing word \
	"--peer mutex --workload handoff" "--peer sysv --workload scaling"; do
	# shellcheck disable=SC2086 # two words may be one argument each
	run "$wall" $wrong
	exits "wrongly typed: $wrong" 2
	empty "and prints nothing" out
	says "and says where help is" err "--help"
done

insn=$top/build/bin/kapf-bench-insn
run "$insn" --help
exits "kapf-bench-insn --help" 0
says "says how" out "usage: kapf-bench-insn"
run "$insn" word
exits "an argument that there is not" 2
empty "and counts nothing" out

# Who is interrupted leaves no semaphores behind.
sets() {
	tail -n +2 /proc/sysvipc/sem | wc -l
}
before=$(sets)
for signal in INT TERM; do
	# In a script what runs in the background does not hear INT otherwise.
	env --default-signal=INT "$wall" --peer sysv --workload saturated \
		--seconds 60 >"$tmp/out" 2>&1 &
	pid=$!
	timeout 10 sh -c "until [ \$(tail -n +2 /proc/sysvipc/sem | wc -l) -gt $before ]
		do sleep 0.1; done"
	passes "it has semaphores" [ "$(sets)" -gt "$before" ]
	kill -s "$signal" $pid
	wait $pid || true
	passes "they are gone after SIG$signal" [ "$(sets)" = "$before" ]
done

run "$wall" --peer mutex --peer shm --peer sysv --peer socket --seconds 0.02 \
	--repeats 2
exits "all that needs no kapf" 0
empty "and all is well" err
passes "each line is a key and a number" [ "$(grep -cvE \
	'^(wall|fairness)\.[a-z0-9_.]+ [0-9]+(\.[0-9]+)?$' "$tmp/out")" = 0 ]
# keys NR KEY: that often
keys() {
	passes "$1 of $2" [ "$(grep -c "^$2 " "$tmp/out")" = "$1" ]
}
for work in uncontended saturated levels8 wide mix; do
	keys 2 "wall.ns.mutex.$work.1"
	keys 0 "wall.ns.mutex.$work.2"
	for peer in shm sysv socket; do
		keys 2 "wall.ns.$peer.$work.1"
		keys 2 "wall.ns.$peer.$work.2"
	done
done
for peer in mutex shm sysv socket; do
	keys 2 "wall.open.$peer.poisson.p99_ms"
	keys 2 "wall.open.$peer.onoff.p50_ms"
	keys 2 "fairness.$peer.jain"
	keys 2 "fairness.$peer.light_p99_ms"
done
keys 0 fairness.mutex.seats_return_after_kill
keys 1 fairness.socket.seats_return_after_kill
keys 0 wall.handoff.kapf

if [ -e "$top/build/bin/kapf-bench-reference" ]; then
	run "$wall" --peer reference --seconds 0.02 --repeats 2
	exits "the reference" 0
	empty "and all is well" err
	for work in uncontended saturated levels8 wide mix; do
		keys 2 "wall.ns.reference.$work.1"
	done
	keys 2 wall.open.reference.poisson.p99_ms
	keys 2 fairness.reference.jain
	keys 0 fairness.reference.seats_return_after_kill
else
	passes "the reference # SKIP it is not built" true
fi

finish
