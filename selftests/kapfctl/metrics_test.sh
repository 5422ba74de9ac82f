#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/metrics_test.sh: kapfctl metrics, printed and over HTTP, as root
# on a machine that has just loaded the module.  Wants kapfctl and hold in PATH,
# tap.sh, guest.sh, metrics.awk and the reference's metrics.txt beside it.  Prints
# TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"

apf=apiserver_flowcontrol

# value SERIES: its number; nothing where there is none
value() {
	awk -v series="$1" '$1 == series { print $2 }' "$tmp/metrics"
}

# is WHAT SERIES NUMBER
is() {
	passes "$1" [ "$(value "$2")" = "$3" ]
}

# busy NAME [LABELS]: the series of this name of the schema busy
busy() {
	echo "$1{priority_level=\"busy\",flow_schema=\"busy\"${2:+,$2}}"
}

# of_histogram NAME [LABELS]: how much the histogram of the schema busy has seen
of_histogram() {
	echo "${apf}_$1_count{${2:+$2,}priority_level=\"busy\",flow_schema=\"busy\"}"
}

# metrics WHAT: they go to $tmp/metrics
metrics() {
	run kapfctl metrics
	mv "$tmp/out" "$tmp/metrics"
	: >"$tmp/out"
	exits "metrics $*" 0
}

# verdicts NUMBER VERDICT: so many of hold's requests got it
verdicts() {
	[ "$(grep -c "^verdict $2\$" "$tmp/held")" = "$1" ]
}

# counts NUMBER: so many requests are counted in the labels of busy
counts() {
	kapfctl metrics >"$tmp/metrics" || return
	[ "$(value "$(busy ${apf}_dispatched_requests_total)")" = "$1" ]
}

# Nothing has happened

metrics "of a new instance"
is "ServerCL" kapf_server_limit_seats 600
is "NominalCL" "${apf}_nominal_limit_seats{priority_level=\"catch-all\"}" 600
is "the mode" 'kapf_mode{mode="enforce"}' 1
is "which is one" 'kapf_mode{mode="off"}' 0
passes "who never waits has no queues" \
	not grep -q 'inqueue.*"exempt"' "$tmp/metrics"
passes "what has seen nothing is no histogram" \
	not grep -q '_bucket.*flow_schema=' "$tmp/metrics"

# Requests of every kind

{
	queue_level busy 4 1
	echo ---
	user_schema busy 500 busy busy
} >"$tmp/busy"
kapfctl apply -f "$tmp/busy" --max-requests-inflight 9 \
	--max-mutating-requests-inflight 0 >"$tmp/out"

for verb in watch list; do
	start_hold web busy $verb 1
	passes "a $verb" await verdicts 1 1
	release
done
mkfifo "$tmp/second"
hold web busy get 1 <"$tmp/second" >"$tmp/held.get" 2>&1 &
getter=$!
exec 4>"$tmp/second"
passes "another session of this server" await grep -q 'verdict 1' \
	"$tmp/held.get"
start_hold web busy update 56 60000 7
passes "3 more of 4 seats" await verdicts 3 1
passes "and 3 too many" await verdicts 3 2

metrics "under load"
cp "$tmp/metrics" "$tmp/load"
is "seated" "$(busy ${apf}_dispatched_requests_total)" 6
is "refused" "$(busy ${apf}_rejected_requests_total 'reason="queue-full"')" 3
is "not refused so" \
	"$(busy ${apf}_rejected_requests_total 'reason="time-out"')" 0
is "waiting" "$(busy ${apf}_current_inqueue_requests)" 50
is "seats waited for" "$(busy ${apf}_current_inqueue_seats)" 50
is "executing" "$(busy ${apf}_current_executing_requests)" 4
is "seats in use" "$(busy ${apf}_current_executing_seats)" 4
is "waiting, mutating" \
	'apiserver_current_inqueue_requests{request_kind="mutating"}' 50
is "waiting, reading" \
	'apiserver_current_inqueue_requests{request_kind="readOnly"}' 0
is "executing, mutating" \
	'apiserver_current_inflight_requests{request_kind="mutating"}' 3
is "executing, reading" \
	'apiserver_current_inflight_requests{request_kind="readOnly"}' 1
is "sessions of a server" 'kapf_sessions{server="web",tenant=""}' 2
is "their seats" 'kapf_session_seats_in_use{server="web",tenant=""}' 4
is "what waits of theirs" \
	'kapf_session_waiting_requests{server="web",tenant=""}' 50
is "waits of who was seated" \
	"$(of_histogram request_wait_duration_seconds 'execute="true"')" 6
is "waits of who was refused" \
	"$(of_histogram request_wait_duration_seconds 'execute="false"')" 3
is "watches executed" \
	"$(of_histogram request_execution_seconds 'type="watch"')" 1
is "widths" "$(of_histogram work_estimated_seats)" 59
is "watchers" "$(of_histogram watch_count_samples)" 56
passes "of 7 each" [ "$(value "${apf}_watch_count_samples_sum{priority_level=\"busy\",flow_schema=\"busy\"}")" = $((7 * 56)) ]
passes "by bucket" grep -qF \
	"${apf}_watch_count_samples_bucket{priority_level=\"busy\",flow_schema=\"busy\",le=\"10\"} 56" \
	"$tmp/metrics"
passes "and none below" grep -qF \
	"${apf}_watch_count_samples_bucket{priority_level=\"busy\",flow_schema=\"busy\",le=\"1\"} 0" \
	"$tmp/metrics"
passes "S of the one queue" [ -n "$(value \
	"${apf}_next_s_bounds{priority_level=\"busy\",bound=\"min\"}")" ]
is "which is all" "${apf}_next_s_bounds{priority_level=\"busy\",bound=\"max\"}" \
	"$(value "${apf}_next_s_bounds{priority_level=\"busy\",bound=\"min\"}")"
# 4 seats in use for 3 ms each
passes "S less what is in progress" awk -v s="$(value \
	"${apf}_next_s_bounds{priority_level=\"busy\",bound=\"min\"}")" \
	-v discounted="$(value \
	"${apf}_next_discounted_s_bounds{priority_level=\"busy\",bound=\"min\"}")" \
	'BEGIN { d = s - discounted; exit !(d > 0.01199 && d < 0.01201) }'
passes "no request begins after the next one" awk -v s="$(value \
	"${apf}_next_s_bounds{priority_level=\"busy\",bound=\"min\"}")" \
	-v latest="$(value "${apf}_latest_s{priority_level=\"busy\"}")" \
	'BEGIN { exit !(latest > 0 && latest < s) }'
passes "R has moved on" awk -v r="$(value \
	"${apf}_current_r{priority_level=\"busy\"}")" -v dispatch="$(value \
	"${apf}_dispatch_r{priority_level=\"busy\"}")" \
	'BEGIN { exit !(dispatch > 0 && dispatch <= r) }'

# shellcheck disable=SC2016 # for awk
passes "buckets are cumulative" awk '/_bucket/ {
		series = $1
		sub(/,le=.*/, "", series)
		if (series == last && $2 < before)
			exit 1
		last = series
		before = $2
	}' "$tmp/metrics"
awk -f "$dir/metrics.awk" "$tmp/metrics" | sort >"$tmp/ours"
sort "$dir/metrics.txt" >"$tmp/reference"
passes "$(wc -l <"$tmp/reference") metrics are as the reference's" \
	diff "$tmp/reference" "$tmp/ours"

# HTTP

kapfctl metrics --listen 127.0.0.1:0 >"$tmp/exporter.out" 2>&1 3>&- 4>&- &
exporter=$!
passes "it says where" await grep -q ' http://.*/metrics$' "$tmp/exporter.out"
url=$(sed -n 's/.*\(http:.*\)/\1/p' "$tmp/exporter.out")
run wget -qO "$tmp/got" "$url"
exits "GET" 0
passes "the same series" [ "$(sed 's/ [^ ]*$//' "$tmp/got")" = \
	"$(sed 's/ [^ ]*$//' "$tmp/load")" ]
passes "with the numbers of what stands still" \
	[ "$(grep -c " 50\$" "$tmp/got")" = "$(grep -c " 50\$" "$tmp/load")" ]
run wget -S -qO /dev/null "$url"
says "in the format that it says" err \
	"Content-Type: text/plain; version=0.0.4; charset=utf-8"
run wget -qO- "${url%metrics}"
says "where they are" out "/metrics"
run wget -qO- "${url%metrics}metricsx"
exits "nothing else" 1
says "is not found" err 404
run wget -qO- --post-data x "$url"
says "no other method" err 405
run kapfctl metrics --listen "${url#http://}"
exits "an address with a path" 2
address=${url#http://}
run kapfctl metrics --listen "${address%/metrics}"
exits "an address in use" 1
says "is named" err "cannot listen at ${address%/metrics}: Address already in use"

# Whoever is slow does not hold up the others

port=${url%/metrics}
port=${port##*:}
mkfifo "$tmp/idle"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		nc 127.0.0.1 "$port" <"$tmp/idle" >"$tmp/silence" 2>&1 3>&- \
			4>&- &
	done
done
exec 5>"$tmp/idle"
sleep 1
run timeout 10 wget -qO "$tmp/got" "$url"
exits "beside 120 connections that say nothing" 0
exec 5>&-
{
	printf 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
	printf 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
	sleep 1
} | nc 127.0.0.1 "$port" >"$tmp/both"
passes "two requests of one connection" \
	[ "$(grep -c '^HTTP/1.1 200' "$tmp/both")" = 2 ]

# What goes and comes back under the same name

kapfctl delete fs busy >"$tmp/out"
passes "a schema that drains still counts" counts 6
kapfctl apply -f "$tmp/busy" >"$tmp/out"
passes "one of the same name begins anew" counts 0
is "what waits is there" "$(busy ${apf}_current_inqueue_requests)" 50
is "what executes, too" "$(busy ${apf}_current_executing_seats)" 4
passes "each series once" [ "$(sed -n 's/^\([^#].*\) [^ ]*$/\1/p' \
	"$tmp/metrics" | sort | uniq -d)" = "" ]
is "its histograms are as new" "$(of_histogram work_estimated_seats)" ""
user_schema busy 500 catch-all busy | kapfctl apply -f - >"$tmp/out"
passes "with another level" not counts 0
kapfctl apply -f "$tmp/busy" >"$tmp/out"
passes "and back" counts 0
passes "each series once" [ "$(sed -n 's/^\([^#].*\) [^ ]*$/\1/p' \
	"$tmp/metrics" | sort | uniq -d)" = "" ]
is "no level drains" 'kapf_level_draining{priority_level="busy"}' 0
kapfctl delete fs busy >"$tmp/out"
kapfctl delete pl busy >"$tmp/out"
metrics "of a level that was deleted"
is "it drains" 'kapf_level_draining{priority_level="busy"}' 1

release
exec 4>&-
wait "$getter"

# In mode observe

kapfctl apply -f "$tmp/busy" >"$tmp/out"
kapfctl mode observe >"$tmp/out"
start_hold web busy update 57
passes "all are served" await verdicts 57 1
metrics "in mode observe"
is "the mode" 'kapf_mode{mode="observe"}' 1
is "3 would have been refused" \
	"$(busy kapf_observed_rejected_requests_total 'reason="queue-full"')" 3
is "none was" "$(busy ${apf}_rejected_requests_total 'reason="queue-full"')" 0
is "4 would be seated" "$(busy kapf_observed_dispatched_requests_total)" 4
is "all were" "$(busy ${apf}_dispatched_requests_total)" 57
is "without seats" "$(busy kapf_passing_requests)" 57
release
kapfctl mode enforce >"$tmp/out"

# The exporter does not hold the module

run rmmod kapf
exits "the module can be unloaded" 0
run wget -qO- "$url"
says "then there is nothing to see" err 503
says "and why" exporter.out "is the module kapf loaded?"
run insmod "/lib/modules/$(uname -r)/extra/kapf.ko"
exits "another can be loaded" 0
run wget -qO- "$url"
exits "and seen" 0
kill "$exporter"
status=0
wait "$exporter" || status=$?
exits "SIGTERM ends it" 0
finish
