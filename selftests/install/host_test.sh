#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/install/host_test.sh: what others build upon.  Prints TAP.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
# shellcheck source=../kapfctl/tap.sh
. selftests/kapfctl/tap.sh

# The shared library

# The functions that a program sees which includes libkapf.h
declared() {
	gcc -I uapi -I userspace/libkapf -x c -fsyntax-only \
		-aux-info "$tmp/prototypes" userspace/libkapf/libkapf.h
	sed -n 's|^/\* userspace/libkapf/.*[ *]\([a-z_0-9]*\) (.*|\1|p' \
		"$tmp/prototypes" | sort
}

# Names of functions and data, each with @@: it has to have a version, of which
# there may be several one day.
exported() {
	nm -D --defined-only build/lib/libkapf.so.0 |
		sed -n 's/@@LIBKAPF_[0-9.]*$/@@/; s/.* [^A] //p' | sort
}

declared | sed 's/$/@@/' >"$tmp/declared"
exported >"$tmp/exported"
passes "libkapf.h declares functions" [ "$(wc -l <"$tmp/declared")" -ge 17 ]
run diff "$tmp/declared" "$tmp/exported"
exits "the shared library exports these and nothing else" 0
run readelf -d build/lib/libkapf.so.0
says "its soname" out "soname: [libkapf.so.0]"

finish
