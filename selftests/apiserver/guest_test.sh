#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/apiserver/guest_test.sh: kapf-apiserver with the device; to be run as
# root in a guest.  Prints TAP.  Its requests are curl's; what holds the seats that
# they wait for is hold, so two servers share the level at that.
set -eu
dir=$(dirname "$0")
# shellcheck source=../kapfctl/tap.sh
. "$dir/tap.sh"
# shellcheck source=../kapfctl/guest.sh
. "$dir/guest.sh"

at=http://127.0.0.1:8080
log=$tmp/access.log
pods=$at/api/v1/namespaces/ns/pods

# start_server ARGUMENT...
start_server() {
	kapf-apiserver --listen 127.0.0.1:8080 --token-file "$tmp/tokens" \
		--access-log "$log" "$@" 2>"$tmp/server.err" &
	server=$!
	await grep -q "serving at $at" "$tmp/server.err"
}

# ask ARGUMENT...: with curl; body in out, headers in headers, code in code
ask() {
	run curl -sS -m 20 -D "$tmp/headers" -o "$tmp/body" -w '%{http_code}' "$@"
	code=$(cat "$tmp/out")
	tr -d '\r' <"$tmp/headers" >"$tmp/err"
	cp "$tmp/body" "$tmp/out" 2>/dev/null || : >"$tmp/out"
}

# answers WHAT CODE
answers() {
	passes "$1: $2" [ "$code" = "$2" ]
}

# waiting COUNT, in_use COUNT: requests, and seats, of all servers
waiting() {
	kapfctl status | grep -q "^Waiting: *$1 "
}

in_use() {
	kapfctl status | grep -q "^In use: *$1 seats"
}

# uid_of NAME KIND
uid_of() {
	kapfctl get "$2" "$1" -o json | sed -n 's/.*"uid": *"\([^"]*\)".*/\1/p'
}

# classified WHAT SCHEMA LEVEL: by headers
classified() {
	says "$1: its schema" err \
		"X-Kubernetes-PF-FlowSchema-UID: $(uid_of "$2" flowschemas)"
	says "$1: its level" err \
		"X-Kubernetes-PF-PriorityLevel-UID: $(uid_of "$3" prioritylevels)"
}

# logged PATTERN
logged() {
	grep -q -e "$1" "$log"
}

# fill COUNT: of the level busy, which has 6 seats and room for 2 who wait
fill() {
	start_hold holder alice list "$1" 60000
	await in_use "$(($1 < 6 ? $1 : 6))" && await waiting "$(($1 < 6 ? 0 : $1 - 6))"
}

# background NAME ARGUMENT...: ask as alice; its code comes to NAME.code
background() {
	name=$1
	shift
	curl -sS -m 60 -H "$alice" -o "$tmp/$name.body" -w '%{http_code}' "$@" \
		>"$tmp/$name.code" 2>"$tmp/$name.err" 3>&- &
	asking=$!
}

# raw TEXT: what is answered to bytes that are no request of curl's
raw() {
	run sh -c "printf '$1' | nc -w 5 127.0.0.1 8080"
	tr -d '\r' <"$tmp/out" >"$tmp/err"
}

alice="Authorization: Bearer secret"
queue_level busy 4 1 | sed 's/queueLengthLimit: 50/queueLengthLimit: 2/' \
	>"$tmp/manifest"
echo --- >>"$tmp/manifest"
user_schema busy 500 busy alice >>"$tmp/manifest"
kapfctl apply -f "$tmp/manifest" --max-requests-inflight 13 \
	--max-mutating-requests-inflight 0 >/dev/null
cat >"$tmp/tokens" <<'END'
secret,alice,1,"a,b"
other,bob,2
END

run kapf-apiserver --listen nowhere
exits "an address without a port" 2
run kapf-apiserver --device /dev/null
exits "a device that is none" 1
passes "it starts" start_server

# What it answers itself
ask "$at/version"
answers "/version" 200
says "says which" out '"major":"1"'
classified "/version" catch-all catch-all
for page in healthz livez readyz; do
	ask "$at/$page"
	answers "/$page" 200
	passes "says ok" [ "$(cat "$tmp/out")" = ok ]
done
ask -I "$at/healthz"
answers "HEAD" 200
ask -X POST -d abc "$at/readyz"
answers "POST to a page" 405
says "which method there is" err "Allow: GET, HEAD"
ask -H "$alice" "$pods"
answers "what is not here" 404
says "is a Status" out '"kind":"Status"'
classified "what is not here" busy busy
ask -H "Authorization: Bearer wrong" "$pods"
answers "a token that nobody has" 401
says "is a Status, too" out '"reason":"Unauthorized"'
lacks "and is not classified" err PF-FlowSchema
ask -H "Authorization: bearer other" "$pods?who=bob"
passes "another one is bob's" await logged '"URI":"[^"]*who=bob","user":"bob"'
ask -H "X-Remote-User: admin" -H "X-Remote-Group: system:masters" \
	"$pods?who=admin"
passes "nobody becomes someone by saying so" \
	await logged '"URI":"[^"]*who=admin","user":"system:anonymous"'
classified "they" catch-all catch-all
run curl -sS -o /dev/null -o /dev/null -w '%{num_connects} ' "$at/livez" \
	"$at/livez"
passes "two requests on one connection" [ "$(cat "$tmp/out")" = "1 0 " ]

# The flow control API
v1=$at/apis/flowcontrol.apiserver.k8s.io/v1
ask "$v1"
answers "which resources there are" 200
says "are flow control's" out '"name":"flowschemas"'
ask "$v1/flowschemas"
answers "the FlowSchemas" 200
says "have that of alice among them" out '"name":"busy"'
ask "$v1/prioritylevelconfigurations/busy"
answers "a level" 200
says "has the UID that the kernel gave it" out \
	"\"uid\":\"$(uid_of busy prioritylevels)\""
ask "$v1/flowschemas/none"
answers "a schema that is not there" 404
ask -X DELETE "$v1/flowschemas/busy"
answers "what cannot be done" 405

# Broken and oversized
ask -H "$alice" "$pods?timeout=soon"
answers "a timeout that is none" 400
ask "$at/a%zzb"
answers "a path that cannot be decoded" 400
ask --path-as-is "$at/version/../../../etc/passwd"
answers "a path that climbs" 404
raw 'GET /livez HTTP/1.1\r\n\r\n'
says "no Host" err "HTTP/1.1 400"
raw 'nonsense\r\n\r\n'
lacks "no request" err "HTTP/1.1 200"
ask -H "X-Long: $(head -c 16000 /dev/zero | tr '\0' x)" "$at/livez"
answers "headers that are too long" 431
head -c 4000000 /dev/zero >"$tmp/large"
ask -T "$tmp/large" -H "Expect:" "$pods/large"
answers "a body that is too long" 413
ask -T "$tmp/large" -H "Expect: 100-continue" "$pods/large"
answers "the same where the client asks before it sends it" 413
cp "$tmp/large" "$tmp/in"
ask -T - "$pods/chunked"
answers "and one that does not say how long it is" 413
head -c 3000000 /dev/zero >"$tmp/large"
ask -T "$tmp/large" "$pods/large"
answers "one that is just not too long" 404
ask "$at/livez"
answers "all that does not matter to others" 200

# One who sends a header every other second, and never the last
dripping=$(cut -d. -f1 /proc/uptime)
{
	printf 'GET /livez HTTP/1.1\r\nHost: a\r\n'
	while printf 'X-More: a\r\n'; do
		sleep 2
	done
} 3>&- 4>&- | nc 127.0.0.1 8080 >/dev/null 3>&- 4>&- &
slow=$!

# Seats are another server's
passes "a level is full" fill 6
background waits "$pods?who=waiter&timeout=200s"
passes "a request waits" await waiting 1
ask "$at/livez"
answers "others do not" 200
ask -H "$alice" "$pods/x/log"
answers "nor does one that may take long" 404
lacks "which is not classified" err PF-FlowSchema
passes "but counted" await logged 'x/log.*"longRunning":true'
ask -H "$alice" "$pods?timeout=2s"
answers "half a second is enough for one" 429
kill "$asking"
passes "one hangs up, its place is free" await waiting 0
passes "which is logged" await logged 'who=waiter.*"hungUp":true'
passes "the seats are still in use" in_use 6
background waits "$pods?who=served"
passes "another one waits" await waiting 1
release
wait "$asking"
passes "and is served" [ "$(cat "$tmp/waits.code")" = 404 ]
passes "after a while" await logged 'who=served.*"wait":"[0-9]*[1-9][0-9]\.'
passes "no seat is left in use" await in_use 0

passes "a level is full, and its queue" fill 8
ask -H "$alice" "$pods"
answers "one is refused" 429
says "to come back" err "Retry-After: "
says "which its body says, too" out \
	"\"retryAfterSeconds\":$(sed -n 's/^Retry-After: //p' "$tmp/headers" | tr -d '\r')}"
classified "what is refused" busy busy
ask -H "$alice" -d "{}" "$pods"
answers "so is one with a body" 429
release

# Many who wait
memory() {
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$server/status"
}

crowd=2000
sed "s/queueLengthLimit: 2/queueLengthLimit: $crowd/" "$tmp/manifest" >"$tmp/in"
kapfctl apply -f - <"$tmp/in" >/dev/null
fill 6
before=$(memory)
start crowd crowd 8080 "$crowd" "GET /api/v1/namespaces/ns/pods?timeout=200s HTTP/1.1
Host: a
$alice

"
exec 4>"$tmp/crowd.in"
passes "a crowd waits" await waiting "$crowd"
after=$(memory)
echo "# $crowd clients that wait take $((after - before)) KB"
passes "each takes less than 20 KB" \
	[ "$(((after - before) * 1024 / crowd))" -lt 20480 ]
passes "and no thread" grep -q '^Threads:[^0-9]*1$' "/proc/$server/status"
ask "$at/livez"
answers "others are served meanwhile" 200
exec 4>&-
passes "they all leave" await waiting 0
release
kapfctl apply -f "$tmp/manifest" >/dev/null

while [ -d "/proc/$slow" ] &&
	[ "$(cut -d. -f1 /proc/uptime)" -lt $((dripping + 60)) ]; do
	sleep 1
done
passes "a client that takes for ever is sent away" [ ! -d "/proc/$slow" ]
ask "$at/livez"
answers "the others are not" 200

# Its death
fill 5
{
	printf 'PUT /api/v1/namespaces/ns/pods/x HTTP/1.1\r\nHost: a\r\n'
	printf '%s\r\nContent-Length: 10\r\n\r\n' "$alice"
	sleep 20
} 3>&- | nc 127.0.0.1 8080 >/dev/null 3>&- &
passes "a request executes while its body comes" await in_use 6
background waits "$pods"
passes "one waits for it" await waiting 1
kill -9 "$server"
passes "it is killed: its seat is free" await in_use 5
passes "and nothing of it waits" await waiting 0
wait "$asking" || true
release

# Its end
passes "it starts again" start_server
fill 6
background waits "$pods"
await waiting 1
kill -TERM "$server"
passes "it says that it stops" await grep -q stopping "$tmp/server.err"
passes "and waits for what waits" waiting 1
release
wait "$asking"
passes "which is served" [ "$(cat "$tmp/waits.code")" = 404 ]
status=0
wait "$server" || status=$?
exits "it ends" 0

passes "it starts again" start_server
fill 6
background waits "$pods"
await waiting 1
kapfctl evict "$(kapfctl sessions |
	awk '$2 == "kapf-apiserver" { print $1 }')" >/dev/null
wait "$asking"
passes "its session is ended: what waits is told" \
	[ "$(cat "$tmp/waits.code")" = 503 ]
status=0
wait "$server" || status=$?
exits "it ends with a complaint" 1
release
finish
