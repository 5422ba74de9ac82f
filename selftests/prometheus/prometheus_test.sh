#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/prometheus/prometheus_test.sh: a real Prometheus scrapes three servers'
# kapf in a guest, and answers the two questions that operators of kube-apiservers
# ask it most.  Prints TAP.
set -eu
top=$(dirname "$0")/../..
# shellcheck source=../kapfctl/tap.sh
. "$top/selftests/kapfctl/tap.sh"

set -- --memory 1536 --timeout 240
for file in selftests/prometheus/guest.sh:/root/prometheus.sh \
	selftests/kapfctl/guest.sh build/prometheus/prometheus \
	build/bin/kapfctl build/selftests/load; do
	set -- "$@" --file "$top/$file"
done
for file in answer.rejections answer.waits answer.rejected answer.sessions \
	answer.cost servers metrics; do
	: >"$tmp/$file"
	set -- "$@" --get "/tmp/$file:$tmp/$file"
done
run "$top/selftests/vm/run" "$@" -- sh /root/prometheus.sh
exits "a guest with Prometheus and three servers" 0

# value_of NAME LABEL: of the series with this label in an answer
value_of() {
	sed 's/{"metric":/\n&/g' "$tmp/answer.$1" | sed -n \
		"s/.*[{,]$2[,}].*\"value\":\[[^,]*,\"\([^\"]*\)\"].*/\1/p"
}

# holds EXPRESSION, of awk
holds() {
	awk "BEGIN { exit !($1) }"
}

# The bucket of waits in the level busy that has the 99th of 100: its bounds.
bucket() {
	awk '/^apiserver_flowcontrol_request_wait_duration_seconds_bucket.*"busy"/ {
		sub(/.*le="/, "")
		sub(/"}/, "")
		if (!($1 in count))
			bounds[++n] = $1
		count[$1] += $2
	}
	END {
		for (i = 1; count[bounds[i]] < 0.99 * count["+Inf"]; i++)
			;
		print (i > 1 ? bounds[i - 1] : 0), bounds[i]
	}' "$tmp/metrics"
}

refused=$(awk '{ sum += $4 } END { print sum + 0 }' "$tmp/servers")
passes "$refused requests are refused" [ "$refused" -gt 100 ]
passes "each is counted once by Prometheus" \
	[ "$(value_of rejected '"flow_schema":"busy"')" = "$refused" ]
rate=$(value_of rejections '"priority_level":"busy"')
rate=${rate:-0}
passes "topk: $rate a second, over 300 s" \
	holds "$rate * 300 > 0.95 * $refused && $rate * 300 < 1.1 * $refused"
passes "of this flow schema" \
	[ "$(value_of rejections '"flow_schema":"busy"')" = "$rate" ]
passes "none of another" \
	[ "$(value_of rejections '"flow_schema":"catch-all"')" = 0 ]
passes "and that is all" [ "$(grep -o '"value"' "$tmp/answer.rejections" |
	wc -l)" = 2 ]
wait=$(value_of waits '"priority_level":"busy"')
bounds=$(bucket)
passes "histogram_quantile: $wait s, of the bucket $bounds" \
	holds "${wait:-0} > ${bounds% *} && ${wait:-0} <= ${bounds#* }"
passes "three servers" [ "$(value_of sessions '"server":"load"')" = 3 ]
echo "# a scrape takes $(value_of cost '"job":"kapf"') s here, of $(wc -l \
	<"$tmp/metrics") lines"

# kube-apiserver's latest_s has that name, too.
cp "$tmp/metrics" "$tmp/in"
run "$top/build/prometheus/promtool" check metrics
grep -v '^apiserver_flowcontrol_latest_s metric names should not contain abbreviated units$' \
	"$tmp/err" >"$tmp/lint" || true
passes "promtool check metrics" not [ -s "$tmp/lint" ]
passes "which has read them" [ "$(grep -c latest_s "$tmp/err")" = 1 ]
finish
