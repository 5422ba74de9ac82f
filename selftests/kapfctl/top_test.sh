#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/kapfctl/top_test.sh: kapfctl top, once and on a screen, as root on a
# machine that has just loaded the module.  Wants kapfctl, hold, load and script(1)
# in PATH, the terminal xterm, tap.sh and guest.sh beside it.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=tap.sh
. "$dir/tap.sh"
# shellcheck source=guest.sh
. "$dir/guest.sh"

for name in busy calm; do
	queue_level $name 4 4
	echo ---
	user_schema $name 500 $name $name
	echo ---
done >"$tmp/in"
run kapfctl apply -f - --max-requests-inflight 13 \
	--max-mutating-requests-inflight 0
exits "two levels of 4 seats" 0

run kapfctl top --once --interval 100ms
exits "nothing happens" 0
says "a level at rest" out "calm [------------------------] 0 4 4 0 0.0 0.0 0.0 0.0 0.0 - -"
passes "no flow" [ "$(tail -n 1 "$tmp/out" | tr -s ' ')" = \
	"SCHEMA SEATS EXECUTING WAITING FLOW" ]

mkfifo "$tmp/fifo"
hold web busy update 7 <"$tmp/fifo" >"$tmp/held" &
load calm 1 10 10 <"$tmp/fifo" &
exec 3>"$tmp/fifo"
passes "one server holds 4 seats, and 3 of its requests wait" \
	await lists ' web .* hold root 4 4 3 '
passes "another works" await lists ' load .* load root 1 1 0 '

run kapfctl top --once --interval 1s
exits "once" 0
passes "seats in use and both limits" \
	grep -qE '^busy +\[########################\] +4 +4 +4 +3 +0.0 .* +- +-$' "$tmp/out"
passes "levels with most seats come first" \
	[ "$(sed -n '3s/ .*//p' "$tmp/out")" = busy ]
says "in all" out " of 13 seats in use, 0 exempt; 3 waiting; "
says "the busiest flow" out "busy 4 4 3 busy"
rate=$(awk '$1 == "calm" && $2 ~ /^\[/ { print int($7) }' "$tmp/out")
passes "$rate requests a second are seated" [ "$rate" -ge 5 ]
passes "which have waited for less than 1 s" [ "$(awk '
	$1 == "calm" && $2 ~ /^\[/ { print ($12 != "-" && $13 < 1000) }' \
	"$tmp/out")" = 1 ]
run kapfctl top --once --interval 100ms --sort name
passes "by name" [ "$(sed -n '3,6s/ .*//p' "$tmp/out" | tr '\n' ' ')" = \
	"busy calm catch-all exempt " ]
run kapfctl top --once --interval 100ms --sort dispatched
passes "by what is dispatched" [ "$(sed -n '3s/ .*//p' "$tmp/out")" = calm ]

lacks "the mode is as ever" out mode
run kapfctl top --once --interval 1s -o json
exits "as JSON" 0
says "the mode" out '"mode": "enforce",'
tr -d '\n' <"$tmp/out" | sed 's/  */ /g' >"$tmp/line"
passes "a level" grep -qE '"priority_level": "busy", "seats_in_use": 4, "current_seats": 4, "nominal_seats": 4, "waiting_requests": 3, "arrivals_per_s": 0.000, "dispatched_per_s": 0.000, "queue_full_per_s": 0.000, "concurrency_limit_per_s": 0.000, "time_out_per_s": 0.000, "cancelled_per_s": 0.000, "wait_p50_s": null, "wait_p99_s": null' \
	"$tmp/line"
passes "waits" grep -qE '"wait_p50_s": 0\.[0-9]{3}, "wait_p99_s": 0\.[0-9]{3}' \
	"$tmp/line"
passes "a flow" grep -qF '"flow_schema": "busy", "flow_distinguisher": "busy", "seats_in_use": 4, "executing_requests": 4, "waiting_requests": 3' \
	"$tmp/line"

# on_screen KEY...: typed a second one after the other once something is drawn, on
# a terminal of 24 lines, to which $tmp/sizes is done then; what it gets is in
# $tmp/screen
: >"$tmp/sizes"
cat >"$tmp/drawn" <<END
tries=600
until grep -qF 'q quit' $tmp/screen || [ \$tries = 0 ]; do
	tries=\$((tries - 1))
	sleep 0.1
done
END
on_screen() {
	: >"$tmp/screen"
	for key; do
		[ "$key" != "${1-}" ] || sh "$tmp/drawn"
		sleep 1
		printf %s "$key"
	done | TERM=xterm timeout 100 script -qec "sh $tmp/terminal" \
		"$tmp/typescript" >>"$tmp/screen" 2>"$tmp/err"
}
cat >"$tmp/terminal" <<END
stty rows 24 cols 160
(sh $tmp/drawn; sh $tmp/sizes \$\$) </dev/tty &
exec kapfctl top --interval 200ms
END

# draws WHAT TEXT: at any time
draws() {
	passes "$1" grep -qF -e "$2" "$tmp/screen"
}

clear=$(printf '\033[?1049h')
restore=$(printf '\033[?1049l')
for keys in "q" "s w d r n q" "p p q" "p w n q"; do
	# shellcheck disable=SC2086
	run on_screen $keys
	exits "keys $keys" 0
	draws "it takes the screen" "$clear"
	passes "and gives it back" [ "$(tail -c 30 "$tmp/screen" |
		grep -cF "$restore")" = 1 ]
	# The terminal is told to repeat what is there often.
	draws "levels" '[#'
	draws "help" 'p pause; q quit'
done
draws "that it has paused" "; paused"
run on_screen n "$(printf '\f')" q
draws "the order" "by name"
run on_screen p "" "" q
cp "$tmp/screen" "$tmp/paused"
run on_screen "" "" "" q
passes "a pause draws less" [ "$(wc -c <"$tmp/paused")" -lt \
	"$(wc -c <"$tmp/screen")" ]

cat >"$tmp/sizes" <<END
stty rows 5 cols 30
sleep 1
stty rows 40 cols 200
END
run on_screen p p "" q
exits "smaller and larger" 0
draws "all that fits" 'EXECUTING WAITING FLOW'

echo "kill -TERM \$1" >"$tmp/sizes"
run on_screen "" ""
exits "a signal ends it" 1
passes "and the terminal is as it was" [ "$(tail -c 30 "$tmp/screen" |
	grep -cF "$restore")" = 1 ]

run kapfctl mode observe
run kapfctl top --once --interval 100ms
says "in another mode, which" out " mode observe: "
says "seats would be in use" out " of 13 seats would be in use, 0 exempt; "
says "and requests would wait" out " would wait; "
run kapfctl mode off
run kapfctl top --once --interval 100ms -o json
says "as JSON" out '"mode": "off",'
run kapfctl mode enforce

exec 3>&-
wait
finish
