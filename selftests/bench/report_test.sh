#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What kapf-bench-report makes of samples, and which it refuses.  Prints TAP.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
report=$top/build/bin/kapf-bench-report
# shellcheck source=../kapfctl/tap.sh
. "$top/selftests/kapfctl/tap.sh"
samples=$tmp/samples

# results: from standard input, as a table and as JSON, one line "KEY VALUE LOW HIGH
# NR MET" each
results() {
	cat >"$samples"
	run "$report" --json "$tmp/json" --plots "$tmp" --fact cpu=fast \
		"$samples"
	python3 - "$tmp/json" >"$tmp/flat" <<-'END'
		import json, sys
		results = json.load(open(sys.argv[1]))["results"]
		for key, r in results.items():
		    print(key, r["value"], r["low"], r["high"], r["samples"],
		          r.get("met", "-"))
	END
}

# result KEY VALUE LOW HIGH NR MET
result() {
	passes "$*" grep -qxF "$*" "$tmp/flat"
}

run "$report" --help
exits "--help" 0
says "says how" out "usage: kapf-bench-report"
for wrong in --nothing --fact=none; do
	run "$report" "$wrong" /dev/null
	exits "wrongly typed: $wrong" 2
done
run "$report"
exits "no file" 2
run "$report" "$tmp/nothing"
exits "a file that is not there" 2

# Nothing was measured: that is said, and no failure.
results </dev/null
exits "no samples" 0
result insn.null_call None None None 0 -
result insn.admit_finish None None None 0 None
result wall.peer.shm.saturated None None None 0 None
result fairness.sysv.jain None None None 0 -
says "goals are not measured" out "goals: 0 met, 0 missed, 20 not measured"
passes "and no plots" [ ! -e "$tmp/cost.dat" ]

# Medians; of five samples no interval is that sure, of six the whole range is; of
# ten it is from the second to the ninth (0.979; from the third: 0.891).
results <<'END'
insn.null_call 3
insn.null_call 1
insn.null_call 2
insn.null_call 10
insn.null_call 4
wall.handoff.kapf 6
wall.handoff.kapf 5
wall.handoff.kapf 4
wall.handoff.kapf 3
wall.handoff.kapf 2
wall.handoff.kapf 1
wall.exempt_scaling_2cpu 1.5
wall.exempt_scaling_2cpu 1.1
wall.exempt_scaling_2cpu 1.9
wall.exempt_scaling_2cpu 1.2
wall.exempt_scaling_2cpu 1.3
wall.exempt_scaling_2cpu 1.8
wall.exempt_scaling_2cpu 1.4
wall.exempt_scaling_2cpu 1.6
wall.exempt_scaling_2cpu 1.7
wall.exempt_scaling_2cpu 1
END
passes "an interval that has no goal in it" [ "$(grep -c '"close":true' "$tmp/json")" = 0 ]
result insn.null_call 3 None None 5 -
result wall.handoff.kapf 3.5 1 6 6 -
result wall.exempt_scaling_2cpu 1.45 1.1 1.8 10 -
passes "facts" grep -q '"cpu":"fast"' "$tmp/json"

# Goals: on the spot, and missed by a little.
results <<'END'
insn.null_call 100
insn.admit_finish 320
insn.exempt_admit_finish 264.1
insn.batch64_per_request 162
insn.batch64_copy_per_request 100
insn.dispatch_16q_800w 1000
insn.dispatch_1024q_50000w 1351
insn.longest_lock_hold 20001
bytes.per_slot 128
bytes.per_queue 97
fairness.kapf.jain 0.98
fairness.kapf.light_p99_ms 2
fairness.shm.light_p99_ms 3
fairness.socket.light_p99_ms 1.9
native.engine_ns 10
native.reference_ns 99
native.classify_default_ns 10
native.reference_classify_default_ns 50
END
exits "goals are missed" 0
result insn.admit_finish 320 None None 1 True
result insn.exempt_admit_finish 264.1 None None 1 False
result insn.batch64_per_request 162 None None 1 True
result insn.dispatch_1024q_50000w 1351 None None 1 False
result insn.longest_lock_hold 20001 None None 1 False
result bytes.per_slot 128 None None 1 True
result bytes.per_queue 97 None None 1 False
result fairness.kapf.jain 0.98 None None 1 True
result fairness.kapf.light_p99_ms 2 None None 1 False
result native.reference_ns 99 None None 1 False
result native.reference_classify_default_ns 50 None None 1 True
passes "each has a unit" [ "$(grep -c '"unit":' "$tmp/json")" = "$(wc -l <"$tmp/flat")" ]
passes "such as this" grep -q "^native.reference_ns .* ns " "$tmp/out"
says "and counted" out "goals: 5 met, 6 missed, 9 not measured"

# A goal that is missed by no more than chance, and what there cannot be.
results <<'END'
wall.handoff.kapf 6
wall.handoff.kapf 5
wall.handoff.kapf 4
wall.handoff.kapf 3
wall.handoff.kapf 2
wall.handoff.kapf 1
wall.handoff.futex 3
wall.handoff.futex 3
wall.handoff.futex 3
wall.handoff.futex 3
wall.handoff.futex 3
wall.handoff.futex 3
fairness.mutex.jain 1
END
passes "has a question mark" grep -q "handoff_over_futex .* MISSED?" "$tmp/out"
passes "and is close" grep -q '"close":true' "$tmp/json"
kill=seats_return_after_kill
passes "one process returns no seats" \
	grep -q "^fairness.mutex.$kill .* does not apply" "$tmp/out"
passes "others might" grep -q "^fairness.sysv.$kill .* not measured" "$tmp/out"

# What was not measured leaves no judgement to what depends on it.
results <<'END'
insn.admit_finish 320
END
result insn.admit_finish 320 None None 1 None

# Ratios: peers by repeat, in as many processes on both sides; of hand-offs that of
# the medians, here 4 and 2.
results <<'END'
wall.ns.kapf.saturated.1 1
wall.ns.kapf.saturated.2 100
wall.ns.kapf.saturated.2 10
wall.ns.kapf.saturated.2 1000
wall.ns.shm.saturated.2 50
wall.ns.shm.saturated.2 9
wall.ns.shm.saturated.2 3000
wall.ns.mutex.saturated.1 7
wall.handoff.kapf 4
wall.handoff.futex 1
wall.handoff.futex 2
wall.handoff.futex 30
END
result wall.peer.shm.saturated 0.9 None None 3 False
result wall.peer.mutex.saturated 7 None None 1 -
result wall.handoff_over_futex 2 None None 1 False
passes "a plot's data" [ "$(grep -c '^kapf ? 1 ?' "$tmp/cost.dat")" = 1 ]
passes "another one's" [ "$(grep -c '^[0-9]' "$tmp/handoff.dat")" -gt 100 ]

# refuses WHAT LINE: in the second line
refuses() {
	printf 'insn.null_call 1\n%b' "$2" >"$samples"
	run "$report" "$samples"
	exits "$1" 2
	says "$1: where" err "samples:2: "
	empty "$1: no table" out
}
refuses "a word" 'insn.admit_finish fast\n'
refuses "words" 'longest hold in evict\n'
refuses "no value" 'insn.admit_finish\n'
refuses "an empty value" 'insn.admit_finish \n'
refuses "an empty line" '\n'
refuses "two values" 'insn.admit_finish 1 2\n'
refuses "an endless one" 'insn.admit_finish inf\n'
refuses "none at all" 'insn.admit_finish nan\n'
refuses "more than there is" 'insn.admit_finish 1e999\n'
refuses "hexadecimal" 'insn.admit_finish 0x10\n'
refuses "a comma" 'insn.admit_finish 1,5\n'
refuses "two spaces" 'insn.admit_finish  1\n'
refuses "a carriage return" 'insn.admit_finish 1\r\n'
refuses "a line that was cut" 'insn.admit_finish 1'

finish
