#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/bench/guest_test.sh: that benchmarks on a machine with a configuration of
# its own leave that as it was, as root on a machine that has just loaded the module.
# Wants kapfctl, attach, kapf-bench-keep and kapf-bench-wall in PATH, tap.sh and
# manifests/ beside it.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=../kapfctl/tap.sh
. "$dir/tap.sh"

# configuration FILE: all of it that is not made by the kernel
configuration() {
	kapfctl get all -o yaml |
		grep -vE '^ *(uid|resourceVersion|generation|creationTimestamp):' >"$1"
	kapfctl status | grep -i inflight >>"$1" || true
}

# is_back WHAT
is_back() {
	configuration "$tmp/after"
	passes "$1: the configuration is back" cmp "$tmp/before" "$tmp/after"
}

# One of kapf alone, for so many seconds.
cat >"$tmp/benchmark" <<'END'
#!/bin/sh
exec kapf-bench-wall --peer kapf --workload saturated --repeats 1 --seconds "$1"
END
chmod +x "$tmp/benchmark"

kapfctl apply --defaults -f "$dir/manifests/cilium-pods-v1.yaml" \
	--max-requests-inflight 123 >"$tmp/out"
configuration "$tmp/before"
passes "there is one" grep -q cilium "$tmp/before"

run kapf-bench-keep sh -c "$tmp/benchmark 0.01; exit 7"
exits "the status is that of the benchmark" 7
says "it has run" out "wall.ns.kapf.saturated.1 "
says "which is said" err "is put back; "
is_back "after a benchmark"

run kapf-bench-keep "$dir/nothing"
exits "a benchmark that is not there" 127
is_back "after none"

: >"$tmp/in"
kapf-bench-keep "$tmp/benchmark" 100 >"$tmp/out" 2>"$tmp/err" &
pid=$!
tries=100
while kapfctl get all | grep -q cilium && [ $((tries -= 1)) -gt 0 ]; do
	usleep 50000
done
passes "it has a configuration of its own" [ $tries -gt 0 ]
kill $pid
status=0
wait $pid || status=$?
exits "it is interrupted" 143
is_back "after an interruption"

kapfctl mode observe >"$tmp/out"
run kapf-bench-keep true
exits "nobody is let pass" 2
says "why" err "does not enforce"
kapfctl mode enforce >"$tmp/out"

mkfifo "$tmp/stay"
attach web "" <"$tmp/stay" >"$tmp/attached" &
exec 5>"$tmp/stay"
tries=100
while [ "$(kapfctl sessions | wc -l)" -lt 2 ] && [ $((tries -= 1)) -gt 0 ]; do
	usleep 50000
done
run kapf-bench-keep true
exits "nobody is disturbed" 2
says "who" err "servers have sessions"
exec 5>&-
wait
is_back "after refusals"

finish
