#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/tradeoff_test.sh: what queues cost and buy, as $KAPFCTL
# says it without a device.  Prints TAP.
set -eu
kapfctl=${KAPFCTL:?}
manifests=${MANIFESTS:?}
# shellcheck source=tap.sh
. "$(dirname "$0")/tap.sh"

# tradeoff ARGUMENT...
tradeoff() {
	run "$kapfctl" tradeoff "$@"
	exits "tradeoff $*" 0
}

# 245 seats; 128 * 96 bytes; 128 * 50 * 128 bytes; 24, 24 * 50 and 128 * 50
# requests of 0.1 s each
tradeoff --defaults workload-low
while read -r line; do
	says "$line" out "$line"
done <<'END'
PriorityLevel: workload-low
Seats: 245
Service: 100ms, assumed
Heavy flows: 4
as it is twice the queues half the length
Queues 128 256 128
HandSize 6 6 6
QueueLengthLimit 50 50 25
Memory of queues 12.0 KiB 24.0 KiB 12.0 KiB
Memory of waiting requests 800.0 KiB 1.6 MiB 400.0 KiB
Burst of a flow 300 300 150
Burst of the level 6400 12800 3200
Odds against a light flow 1.61e-05 2.95e-07 1.61e-05
Wait of a light flow 9.8ms 9.8ms 9.8ms
Wait of heavy flows 490ms 490ms 245ms
Wait when all is full 2.61s 5.22s 1.31s
Useful length 50 50 25
END

# 24 seats; a hand of 8 goes with 128 queues at most
tradeoff --defaults -f "$manifests/ocr-batch.yaml" ocr-batch --queues 128 \
	--hand 8 --length 1 --heavy 100 --service 1s
while read -r line; do
	says "$line" out "$line"
done <<'END'
Seats: 24
Service: 1s, as asked
as it is as asked twice the queues
Queues 16 128 256
HandSize 4 8 7
QueueLengthLimit 50 1 1
Burst of a flow 200 8 7
Wait of a light flow 667ms 5.33s 10.7s
Wait when all is full 33.3s 5.33s 10.7s
Useful length 22 1 1
END

tradeoff --defaults workload-low --hand 1 --queues 10000000 \
	--length 2147483647 --service 3600s
while read -r line; do
	says "$line" out "$line"
done <<'END'
as it is as asked half the length
Memory of queues 12.0 KiB 915.5 MiB 915.5 MiB
Memory of waiting requests 800.0 KiB 2500000.0 TiB 1250000.0 TiB
Odds against a light flow 1.61e-05 4e-07 4e-07
Wait of a light flow 5m53s 58.8s 58.8s
Wait when all is full 26h6m40s over a year over a year
Useful length 0 0 0
END
lacks "no more queues than there can be" out "twice the queues"

tradeoff catch-all --defaults --queues 1 --hand 1 --length 1 --heavy 1 \
	--service 13us
while read -r line; do
	says "a level without queues: $line" out "$line"
done <<'END'
PriorityLevel: catch-all
Seats: 13
Service: 13µs, as asked
Heavy flows: 1
as asked twice the queues
Memory of queues 96 B 192 B
Wait of a light flow 1us 1us
END
lacks "there is no level as it is" out "as it is"

sed 's/nominalConcurrencyShares: .*/nominalConcurrencyShares: 0/' \
	"$manifests/ocr-batch.yaml" >"$tmp/none.yaml"
tradeoff -f "$tmp/none.yaml" ocr-batch
says "without seats nothing is served" out "Wait of a light flow for ever for ever for ever"
says "and no queue is useful" out "Useful length 0 0 0"
run "$kapfctl" tradeoff -f "$tmp/none.yaml" ocr-batch -o json
says "as JSON" out '"full_wait_ns": null,'

prints_json '{ "priority_level": "ocr-batch", "seats": 24, "service_ns": 1500000000, "service_is": "as asked", "heavy_flows": 1, "shapes": [ { "what": "as it is", "queues": 16, "hand_size": 4, "queue_length_limit": 50, "queue_bytes": 1536, "waiting_bytes": 102400, "flow_burst_requests": 200, "level_burst_requests": 800, "probability": 0.0005494505494505, "light_wait_ns": 250000000, "heavy_wait_ns": 12500000000, "full_wait_ns": 50000000000, "useful_length": 15 }, { "what": "twice the queues", "queues": 32, "hand_size": 4, "queue_length_limit": 50, "queue_bytes": 3072, "waiting_bytes": 204800, "flow_burst_requests": 200, "level_burst_requests": 1600, "probability": 2.780867630701e-05, "light_wait_ns": 250000000, "heavy_wait_ns": 12500000000, "full_wait_ns": 100000000000, "useful_length": 7 }, { "what": "half the length", "queues": 16, "hand_size": 4, "queue_length_limit": 25, "queue_bytes": 1536, "waiting_bytes": 51200, "flow_burst_requests": 100, "level_burst_requests": 400, "probability": 0.0005494505494505, "light_wait_ns": 250000000, "heavy_wait_ns": 6250000000, "full_wait_ns": 25000000000, "useful_length": 15 } ]}' \
	tradeoff --defaults -f "$manifests/ocr-batch.yaml" ocr-batch --heavy 1 \
	--service 1.5s

# What is refused

# refuses TEXT ARGUMENT...
refuses() {
	text=$1
	shift
	run "$kapfctl" tradeoff --defaults "$@"
	exits "refused: $*" 1
	says "says: $text" err "$text"
	empty "and prints nothing" out
}

refuses 'prioritylevels "nosuch" not found' nosuch
refuses "exempt has no limit, so that nothing waits there" exempt
for options in "" "--queues 8 --hand 2" "--queues 8 --length 2" \
	"--hand 2 --length 8"; do
	# shellcheck disable=SC2086 # none or more
	refuses "catch-all has no queues: say --queues, --hand and --length" \
		catch-all $options
done
refuses "a hand of 6 is too many for 5 queues: must be at most 5" \
	workload-low --queues 5
refuses_to_run "say which priority level" tradeoff --defaults
refuses_to_run '"b" is too much' tradeoff --defaults workload-low b
for service in '' 5 ms 5m 0s -1s 1e3ms 0x5s 3601s 1.5.2s '5 s'; do
	refuses_to_run "--service \"$service\" is not a time of up to an hour, such as 0.5s, 20ms or 300us" \
		tradeoff --defaults workload-low --service "$service"
done
refuses_to_run '--queues "0" is not a number of 1 to 10000000' tradeoff \
	--defaults workload-low --queues 0
refuses_to_run '--hand "16" is not a number of 1 to 15' tradeoff \
	--defaults workload-low --hand 16
refuses_to_run '--heavy "0" is not a number of 1 to 65535' tradeoff \
	--defaults workload-low --heavy 0
run "$kapfctl" --device "$tmp/none" tradeoff workload-low
exits "refused without a device" 1
says "says so" err "$tmp/none is not there: is the module kapf loaded?"

finish
