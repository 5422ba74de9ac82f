#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests/install/boot_test.sh: boot a virtual machine on which kapf is
# installed, with this machine's systemd and udev.  Prints the TAP of
# guest_test.sh, which systemd starts last.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MFLAGS MAKELEVEL
PATH=$PATH:/usr/sbin:/sbin
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

kernel=$(find build/kernels -mindepth 1 -not -name '*-kapf-debug' \
	-printf '%f\n' | sort -V | tail -n 1)
make install DESTDIR="$tree" >&2
install -D -t "$tree/lib/modules/$kernel/updates/dkms" \
	"build/modules/$kernel/kapf.ko"
depmod -b "$tree" "$kernel" 2>/dev/null
# Two digits have to be the same to the udev rule as one.
mkdir "$tree/etc/modprobe.d"
echo 'options kapf instances=12' >"$tree/etc/modprobe.d/kapf.conf"

# Of the units of a boot, those that kapf meets.
units=$tree/lib/systemd/system
mkdir -p "$units"
cp /lib/systemd/system/{basic,final,local-fs,local-fs-pre,multi-user,paths}.target \
	/lib/systemd/system/{shutdown,slices,sockets,swap,sysinit}.target \
	/lib/systemd/system/{timers,umount}.target \
	/lib/systemd/system/systemd-{modules-load,sysusers,udev-trigger}.service \
	/lib/systemd/system/systemd-udevd.service \
	/lib/systemd/system/systemd-udevd-{control,kernel}.socket "$units"
cat >"$units/guest-test.service" <<'END'
[Unit]
After=kapf.service kapf-maintain.service systemd-udev-trigger.service
SuccessAction=poweroff-immediate
FailureAction=poweroff-immediate
[Service]
Type=oneshot
Environment=HOME=/root PATH=/usr/local/bin:/bin
ExecStart=sh /root/guest_test.sh
StandardOutput=append:/root/tap
StandardError=append:/root/tap
END

files=(--file "$tree:/machine" --file manifests)
for file in selftests/install/guest_test.sh selftests/kapfctl/tap.sh; do
	files+=(--file "$file")
done
for file in /lib/systemd/systemd{,-modules-load,-udevd} \
	/bin/{systemctl,systemd-sysusers,udevadm}; do
	files+=(--file "$file:$file")
done

# A power-off is the end of the PID namespace alone.
# shellcheck disable=SC2016 # for the shell in the guest
selftests/vm/run --kernel "$kernel" --no-module --timeout 300 \
	"${files[@]}" -- sh -c '
	cp -r /machine/. /
	mkdir -p /var
	wants=/etc/systemd/system/sysinit.target.wants
	mkdir -p $wants
	for unit in modules-load.service sysusers.service udevd.service \
		udevd-control.socket udevd-kernel.socket udev-trigger.service; do
		ln -s /lib/systemd/system/systemd-$unit $wants
	done
	systemctl -q enable kapf.service kapf-maintain.service
	systemctl -q add-wants multi-user.target guest-test.service
	unshare -p -f -m sh -c "mount -t proc proc /proc
		exec env -i /lib/systemd/systemd --system --log-target=kmsg \
			--unit=multi-user.target"
	cat /root/tap
	grep -q "^1\.\." /root/tap && ! grep -q "^not ok" /root/tap'
