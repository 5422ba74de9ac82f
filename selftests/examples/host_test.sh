#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/examples/host_test.sh KAPFCTL TOP: what can be said of the examples
# without a device.  Prints TAP.
set -eu
kapfctl=$1
top=$2
# shellcheck source=../kapfctl/tap.sh
. "$(dirname "$0")/../kapfctl/tap.sh"

# python EXPRESSION...: print them, in the names of submit.py
python() {
	run /usr/bin/python3 -B -c 'import sys
sys.path.append(sys.argv[1] + "/examples")
import submit
print(*(eval(text, vars(submit)) for text in sys.argv[2:]))' "$top" "$@"
}

run awk '/^```/ { code = /^```python$/; next } code' "$top/README.md"
passes "the README shows submit.py as it is" \
	cmp "$tmp/out" "$top/examples/submit.py"
passes "in at most 60 lines" [ "$(wc -l <"$tmp/out")" -le 60 ]

python kapf_attach.size kapf_op.size kapf_event.size kapf_get_config.size \
	kapf_config.size
says "it packs structures as C does" out "152 64 32 24 24"
for flow in 'global-default alice' \
	'service-accounts system:serviceaccount:here:bob'; do
	schema=${flow% *}
	user=${flow#* }
	python "flow_hash(b'$schema', b'$user')"
	hash=$(printf '0x%016x' "$(cat "$tmp/out")")
	run "$kapfctl" classify --defaults --user "$user" --verb list \
		--resource pods --namespace x -o json
	says "it knows the flow of $flow" out "\"flow_hash\": \"$hash\","
done

finish
