#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/prometheus/guest.sh: in a guest, three servers at work, and a Prometheus
# that scrapes kapfctl metrics.  Leaves behind in /tmp what it answers (answer.*),
# what the servers say (servers), and metrics when all is over (metrics).
set -eu
dir=$(dirname "$0")
tmp=/tmp
# shellcheck source=../kapfctl/guest.sh
. "$dir/guest.sh"

exporter=127.0.0.1:9101
server=127.0.0.1:9090

# ask NAME EXPRESSION, as the API wants to have it
ask() {
	wget -qO "/tmp/answer.$1" "http://$server/api/v1/query?query=$2"
}

cat >/tmp/prometheus.yml <<END
global:
  scrape_interval: 1s
scrape_configs:
- job_name: kapf
  static_configs:
  - targets: ["$exporter"]
END
queue_level busy 4 1 >/tmp/in
echo --- >>/tmp/in
user_schema busy 500 busy busy >>/tmp/in
kapfctl apply -f /tmp/in --max-requests-inflight 13 \
	--max-mutating-requests-inflight 0
kapfctl metrics --listen "$exporter" &
prometheus --config.file=/tmp/prometheus.yml --storage.tsdb.path=/tmp/data \
	--web.listen-address="$server" >/tmp/prometheus.log 2>&1 &

# until_sees EXPRESSION VALUE: at most 60 s
until_sees() {
	tries=60
	until ask seen "$1" 2>/dev/null && grep -q "\"$2\"]" /tmp/answer.seen; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return
		sleep 1
	done
}

# Counters are there before they count.
until_sees up 1
mkfifo /tmp/work
servers=
for number in 1 2 3; do
	load busy 40 20 5 </tmp/work >"/tmp/server.$number" &
	servers="$servers $!"
done
exec 3>/tmp/work
sleep 20
exec 3>&-
# shellcheck disable=SC2086 # several
wait $servers
cat /tmp/server.? >/tmp/servers
refused=$(awk '{ sum += $4 } END { print sum }' /tmp/servers)

rejected="sum%20by(flow_schema)(apiserver_flowcontrol_rejected_requests_total)"
until_sees "$rejected" "$refused" || true
ask rejected "$rejected"
ask rejections "topk(5,sum%20by(priority_level,flow_schema)(rate(apiserver_flowcontrol_rejected_requests_total%5B5m%5D)))"
ask waits "histogram_quantile(0.99,sum%20by(le,priority_level)(rate(apiserver_flowcontrol_request_wait_duration_seconds_bucket%5B5m%5D)))"
ask sessions "sum%20by(server)(max_over_time(kapf_sessions%5B5m%5D))"
ask cost "avg_over_time(scrape_duration_seconds%5B1m%5D)"
kapfctl metrics >/tmp/metrics
