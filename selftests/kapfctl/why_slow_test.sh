#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/why_slow_test.sh: kapfctl why-slow names the causes that are
# staged for it, as root on a machine that has just loaded the module.  Wants
# kapfctl, hold and load in PATH, tap.sh and guest.sh beside it.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"

# Each situation has a level of its own, for what is usual is what has been since
# the level is there.  Of the shares 5 are those of catch-all, so that a level has
# as many seats as shares.
situations="arrivals service limit long"
rounds=5
others=5
for situation in $situations; do
	for round in $(seq $rounds); do
		name=$situation$round
		queue_level "$name" 8 4
		echo ---
		user_schema "$name" 500 "$name" "$name"
		echo ---
		others=$((others + 8))
	done
done >"$tmp/in"
run kapfctl apply -f - --max-requests-inflight "$others" \
	--max-mutating-requests-inflight 0
exits "a level of 8 seats for each situation" 0

# What is usual: 2 of the 8 seats are in use.
mkfifo "$tmp/fifo"
for situation in $situations; do
	for round in $(seq $rounds); do
		load "$situation$round" 2 20 10 <"$tmp/fifo" &
	done
done
exec 3>"$tmp/fifo"
are_there() {
	[ "$(kapfctl sessions | grep -c ' load ')" = "$1" ]
}
passes "servers for all of them" await are_there 20
sleep 1
run kapfctl why-slow --interval 1s
exits "levels that keep up" 0
passes "have no cause" [ "$(grep -c ' <none> ' "$tmp/out")" = 21 ]
passes "and nothing is told of them" not grep -q : "$tmp/out"
exec 3>&-
wait

# works USER THREADS SERVICE PAUSE, then rests: a load in the background
works() {
	load "$@" <"$tmp/fifo" 4>&- &
	worker=$!
	exec 3>"$tmp/fifo"
	await lists " load <none> $worker load root [1-9]"
}

rests() {
	exec 3>&-
	wait "$worker"
}

# names SITUATION ROUND CAUSE [INTERVAL]: of its level
names() {
	run kapfctl why-slow --interval "${4-1s}" "$1$2"
	passes "round $2: $3" grep -q "^$1$2: $3: " "$tmp/out"
}

# lower LEVEL SEATS: while nothing else changes
lower() {
	queue_level "$1" "$2" 4 |
		kapfctl apply -f - --max-requests-inflight "$others"
}

for round in $(seq $rounds); do
	works "arrivals$round" 40 20 0
	names arrivals "$round" "more arrivals"
	rests

	works "service$round" 12 200 0
	names service "$round" "slower service"
	rests

	works "limit$round" 7 20 0
	others=$((others - 6))
	(sleep 0.5 && lower "limit$round" 2) >"$tmp/lowered" 3>&- &
	lowerer=$!
	names limit "$round" "a lower limit" 3s
	says "says how low" out "2 seats, of nominally 2; it was 8 at first"
	wait "$lowerer"
	rests

	hold long "long$round" list 6 <"$tmp/fifo" >"$tmp/held" &
	holder=$!
	exec 4>"$tmp/fifo"
	passes "long-running requests" await lists " long .* hold root 6 6 0 "
	works "long$round" 6 20 0
	names long "$round" "long-running requests"
	says "says which seats" out "6 hold 6 of 8 seats, the oldest for "
	exec 4>&-
	rests
	wait "$holder"
done

run kapfctl why-slow --interval 100ms -o json long1 arrivals1
exits "as JSON" 0
tr -d '\n' <"$tmp/out" | sed 's/  */ /g' >"$tmp/line"
passes "of those that are asked for" [ "$(grep -c '"priority_level"' "$tmp/out")" = 2 ]
passes "the keys" grep -qE '"priority_level": "long1", "cause": null, "factors": \{ "more_arrivals": 0.000, "slower_service": 1.000, "lower_limit": 1.000, "long_running_requests": 1.000 \}, "arrivals_per_s": 0.000, "dispatched_per_s": 0.000, "refused_per_s": 0.000, "waiting_requests": 0, "execution_s": null, "execution_before_s": [0-9]+\.[0-9]{3}, "seats_per_request": 1.000, "current_seats": 8, "current_seats_before": 8, "nominal_seats": 8, "long_running_requests": 0, "long_running_seats": 0, "oldest_s": 0.000 }' \
	"$tmp/line"
run kapfctl why-slow --interval 100ms
exits "all levels" 0
passes "but for exempt" not grep -q '^exempt' "$tmp/out"
says "catch-all among them" out "catch-all <none> 0.00 1.00 1.00 1.00 0 0.0"
run kapfctl why-slow --interval 100ms none
exits "a level that is not there" 1
says "is named" err 'kapfctl: there is no priority level "none"'
run kapfctl why-slow --interval 100ms exempt
exits "a level that is exempt" 1
says "is named" err 'kapfctl: priority level "exempt" is exempt: it never waits'

finish
