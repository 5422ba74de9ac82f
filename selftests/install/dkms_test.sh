#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/install/dkms_test.sh: dkms builds the installed sources for each
# kernel of build/kernels, below a temporary directory.  Prints TAP.
set -eu
export LC_ALL=C
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$(dirname "$0")/../.."
# shellcheck source=../kapfctl/tap.sh
. selftests/kapfctl/tap.sh

PATH=$PATH:/usr/sbin:/sbin
version=$(sed -n 's/^KAPF_VERSION := //p' version.mk)
arch=$(uname -m)
# Or it makes a key for signing, for the whole machine.
export sign_file=/nonexistent

# dkms_run COMMAND [OPTION]...
dkms_run() {
	run dkms "$@" -m kapf -v "$version" --dkmstree "$tmp/dkms" \
		--sourcetree "$tmp/root/usr/src" --installtree "$tmp/modules"
}

mkdir "$tmp/dkms" "$tmp/modules"
run make install DESTDIR="$tmp/root"
exits "make install" 0
dkms_run add
exits "dkms takes the sources" 0

for kernel in build/kernels/*; do
	case $kernel in *-kapf-debug) continue ;; esac
	headers=$PWD/$kernel/headers
	kernel=${kernel##*/}
	dkms_run build -k "$kernel" --kernelsourcedir "$headers"
	exits "dkms builds for $kernel" 0
	lacks "without complaint" err Error
	# Compressed as are that kernel's own.
	module=$(find "$tmp/dkms/kapf/$version/$kernel/$arch/module" \
		-name 'kapf.ko*') || :
	run modinfo -F vermagic "$module"
	passes "a module of that kernel" grep -q "^$kernel " "$tmp/out"
	dkms_run status
	says "dkms knows it" out "kapf/$version, $kernel, $arch: built"
done

for kernel in 5.10.0 6.6.1 6.120.0; do
	dkms_run build -k $kernel --kernelsourcedir "$headers"
	exits "dkms leaves out $kernel, on which nothing is tested" 77
done

dkms_run remove --all
exits "dkms forgets it" 0
run find "$tmp/dkms" "$tmp/modules" -name 'kapf*'
empty "wholly" out

finish
