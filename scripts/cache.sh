# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What fills the cache outside the clone, for scripts/deps and
# scripts/debug-kernels.  Who calls apt holds the cache's lock.

cache=${KAPF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kapf}

say() {
	echo "deps: $*" >&2
}

# apt COMMAND...: as root, silent but for errors
apt() {
	local as_root=()
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || {
			say "this takes root or sudo: apt-get $*"
			return 1
		}
		as_root=(sudo)
	fi
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
		-o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@" \
		>"$cache/apt.log" 2>&1 </dev/null || {
		cat "$cache/apt.log" >&2
		return 1
	}
}

install_packages() {
	local package missing=()
	for package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" \
			2>/dev/null)" = installed ] || missing+=("$package")
	done
	[ ${#missing[@]} = 0 ] && return
	say "installing ${missing[*]}"
	apt update && apt --no-install-recommends install "${missing[@]}"
}

download() {
	apt-get -qq -o APT::Sandbox::User=root download "$@" </dev/null >&2
}

# unpack_source SERIES VERSION [PATTERN...]: out/, of what matches
unpack_source() {
	local series=$1 version=$2
	shift 2
	download "linux-source-$series=$version" && mkdir out &&
		dpkg-deb --fsys-tarfile linux-source-*.deb |
		tar -xO "./usr/src/linux-source-$series.tar.xz" |
		tar -xJ -C out --strip-components=1 --wildcards "$@"
}

# make_dir DIR COMMAND...: fill DIR of the cache, whole or not at all: the
# command, in an empty directory beside it, makes out/
make_dir() {
	local dir=$1 tmp status=0
	shift
	[ ! -d "$dir" ] || return 0
	tmp=$(mktemp -d "${dir%/*}/tmp.XXXXXX")
	{ (cd "$tmp" && "$@") && mv "$tmp/out" "$dir"; } || status=$?
	rm -rf "$tmp"
	return $status
}

# A guest may be starting meanwhile: touch no link that is right.
link() {
	[ "$(readlink "$2")" = "$1" ] || ln -sfn "$1" "$2"
}

# write_make FILE TEXT: a file for make to include; touched when it changes
write_make() {
	[ "$2" = "$(cat "$1" 2>/dev/null)" ] || echo "$2" >"$1"
}
