#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/install/host_test.sh: what others build upon, and what `make
# install` and `make uninstall` do, below a temporary directory.  Prints TAP.
set -eu
export LC_ALL=C
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$(dirname "$0")/../.."
# shellcheck source=../kapfctl/tap.sh
. selftests/kapfctl/tap.sh

# The shared library

# The functions that a program sees which includes libkapf.h
declared() {
	gcc -I uapi -I userspace/libkapf -x c -fsyntax-only \
		-aux-info "$tmp/prototypes" userspace/libkapf/libkapf.h
	sed -n 's|^/\* userspace/libkapf/[^(]*[ *]\([a-z_0-9]*\) (.*|\1|p' \
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

# Installing

root=$tmp/root
version=$(sed -n 's/^KAPF_VERSION := //p' version.mk)

for module in build/modules/*/kapf.ko; do
	run modinfo -F version "$module"
	passes "the version of $module" grep -qx "$version" "$tmp/out"
done

# MODE PATH of all files
installed() {
	find "$root" ! -type d -printf '%m %P\n' | sort -k 2
}

# A machine has other things in these directories.
mkdir -p "$root/usr/local/bin"
: >"$root/usr/local/bin/another"
installed >"$tmp/before"
run make install DESTDIR="$root"
exits "make install" 0
installed >"$tmp/installed"
source=usr/src/kapf-$version
{
	cat "$tmp/before" -
	find Kbuild module uapi -name Kbuild -o -name '*.[ch]' |
		sed "s|^|644 $source/|"
	find manifests -name '*.yaml' |
		sed "s|^|644 usr/local/share/doc/kapf/|"
} <<END | sort -k 2 >"$tmp/expected"
755 usr/local/bin/kapfctl
644 usr/local/include/kapf/libkapf.h
644 usr/local/include/kapf/libkapf_config.h
644 usr/local/include/kapf/linux/kapf.h
644 usr/local/lib/libkapf.a
777 usr/local/lib/libkapf.so
755 usr/local/lib/libkapf.so.0
644 usr/local/lib/modules-load.d/kapf.conf
644 usr/local/lib/pkgconfig/libkapf.pc
644 usr/local/lib/systemd/system/kapf-maintain.service
644 usr/local/lib/systemd/system/kapf-metrics.service
644 usr/local/lib/systemd/system/kapf.service
644 usr/local/lib/sysusers.d/kapf.conf
644 usr/local/lib/udev/rules.d/60-kapf.rules
644 usr/local/share/bash-completion/completions/kapfctl
755 usr/local/share/doc/kapf/examples/submit.py
644 usr/local/share/man/man3/libkapf.3
644 usr/local/share/man/man4/kapf.4
644 usr/local/share/man/man7/kapf-metrics.7
644 usr/local/share/man/man7/kapf-troubleshooting.7
644 usr/local/share/man/man8/kapfctl.8
644 usr/local/share/zsh/site-functions/_kapfctl
644 $source/dkms.conf
END
run diff "$tmp/expected" "$tmp/installed"
exits "installs what it should" 0
run make install DESTDIR="$root"
exits "once more" 0
installed >"$tmp/again"
passes "is the same" cmp -s "$tmp/installed" "$tmp/again"
passes "there is a place for manifests" [ -d "$root/etc/kapf" ]
run grep -rlE '@[A-Za-z_]+@' "$root"
empty "nothing is left to be filled in" out
for page in docs/*.[0-9]; do
	passes "$page is as it was" cmp -s "$page" \
		"$root/usr/local/share/man/man${page##*.}/${page##*/}"
done
grep -ho '/usr/local/share/doc/kapf[a-z0-9./-]*[a-z0-9]' docs/*.[0-9] |
	sort -u >"$tmp/named"
passes "pages name files among the documentation" [ -s "$tmp/named" ]
while read -r name; do
	passes "there is $name" [ -e "$root$name" ]
done <"$tmp/named"
run "$root/usr/local/bin/kapfctl" lint -f \
	"$root/usr/local/share/doc/kapf/manifests/ocr-batch.yaml"
exits "the tool reads a manifest there" 0
run "$root/usr/local/bin/kapfctl" --version
says "the tool has the version" out "kapfctl $version, "
# shellcheck disable=SC2016 # for that bash
run bash -c '. "$1"; complete -p kapfctl' bash \
	"$root/usr/local/share/bash-completion/completions/kapfctl"
says "bash can read how it is completed" out "complete -F _kapfctl kapfctl"
run head -n 1 "$root/usr/local/share/zsh/site-functions/_kapfctl"
says "zsh finds for which command that is" out "#compdef kapfctl"

run make uninstall DESTDIR="$root"
exits "make uninstall" 0
installed >"$tmp/after"
run diff "$tmp/before" "$tmp/after"
exits "leaves what is not kapf's and nothing else" 0
run find "$root" -name '*kapf*'
empty "and no directory of kapf's" out
run make uninstall DESTDIR="$root"
exits "once more, with nothing there" 0

run make install DESTDIR="$root"
: >"$root/etc/kapf/mine.yaml"
run make uninstall DESTDIR="$root"
passes "the operator's manifests stay" [ -e "$root/etc/kapf/mine.yaml" ]

# The installed library

where="prefix=$tmp/usr sysconfdir=$tmp/etc usrsrcdir=$tmp/src"
# shellcheck disable=SC2086
run make install $where
exits "make install with another prefix" 0
run cat "$tmp/usr/share/man/man8/kapfctl.8"
says "pages say where things are there" out ".Pa $tmp/usr/share/doc/kapf"
lacks "and not elsewhere" out /usr/local/share
for unit in kapf kapf-maintain kapf-metrics; do
	run systemd-analyze verify "$tmp/usr/lib/systemd/system/$unit.service"
	exits "systemd reads $unit.service" 0
	empty "without complaint" err
done
export PKG_CONFIG_PATH="$tmp/usr/lib/pkgconfig"
program=selftests/install/program.c
run pkg-config --modversion libkapf
says "pkg-config knows the version" out "$version"
# shellcheck disable=SC2046
run gcc -Wall -Wextra -Werror -o "$tmp/shared" $program \
	$(pkg-config --cflags --libs libkapf)
exits "a program builds with the shared library" 0
run readelf -d "$tmp/shared"
says "which it needs" out "Shared library: [libkapf.so.0]"
lacks "and not what that needs" out json
run env LD_LIBRARY_PATH="$tmp/usr/lib" "$tmp/shared"
exits "it runs" 0
says "and classifies" out "global-default"
# shellcheck disable=SC2046
run gcc -static -Wall -Wextra -Werror -o "$tmp/static" $program \
	$(pkg-config --static --cflags --libs libkapf)
exits "a program builds with the static library" 0
run "$tmp/static"
exits "it runs" 0
says "and classifies" out "global-default"
# shellcheck disable=SC2086
run make uninstall $where
run find "$tmp/usr" "$tmp/etc" "$tmp/src" ! -type d
empty "uninstalled from there, too" out

finish
