#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/vm/host_test.sh TOP: what selftests/vm/run says where nothing has been
# built.  Prints TAP.
set -eu
top=$(cd "$1" && pwd)
# shellcheck source=../kapfctl/tap.sh
. "$(dirname "$0")/../kapfctl/tap.sh"

fresh=$tmp/fresh
mkdir -p "$fresh/selftests/vm"
cp "$top/selftests/vm/run" "$top/selftests/vm/init" "$fresh/selftests/vm"

run "$fresh/selftests/vm/run" --help
exits "--help in a fresh clone" 0
says "says how" out "usage: selftests/vm/run"
run "$fresh/selftests/vm/run" -- true
exits "a guest in a fresh clone" 125
# shellcheck disable=SC2016 # as it is printed
says "says what to do" err 'no kernel in build/kernels: run `make modules tools` once'
run "$fresh/selftests/vm/run" --kernel 6.1 -- true
exits "and with a kernel" 125
says "likewise" err 'no kernel in build/kernels: run '
mkdir -p "$fresh/build/kernels"
run "$fresh/selftests/vm/run" -- true
exits "where there is a directory without kernels" 125
says "likewise, too" err 'no kernel in build/kernels: run '
mkdir -p "$fresh/build/kernels/6.9"
touch "$fresh/build/kernels/6.9/vmlinuz"
run "$fresh/selftests/vm/run" --kernel 6.1 -- true
exits "another kernel than there is" 125
says "says which there is" err "no kernel 6.1 in build/kernels, but: 6.9"
run "$fresh/selftests/vm/run" -- true
exits "a kernel without its module" 125
says "says what lacks" err "6.9/kapf.ko: run \`make modules\`"
run "$fresh/selftests/vm/run"
exits "no command" 125
says "says so" err "no command; --help says how"

finish
