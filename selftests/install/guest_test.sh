#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# selftests/install/guest_test.sh: what a machine is like that has booted with
# kapf installed and 12 instances.  Wants tap.sh and the directory manifests
# beside it.  Prints TAP.
set -eu
dir=$(dirname "$0")
# shellcheck source=../kapfctl/tap.sh
. "$dir/tap.sh"

# opens USER FILE
opens() {
	run su -s /bin/sh "$1" -c ": <$2"
}

# Devices

passes "the module is loaded" [ -d /sys/module/kapf ]
passes "there is a group" grep -q '^kapf:' /etc/group
udevadm settle
for n in 0 11; do
	run stat -c '%U %G %a' /dev/kapf$n /dev/kapfctl$n
	says "a submit node is the group's" out "root kapf 660"
	says "a control node is root's" out "root root 600"
done

echo member:x:1000:1000::/:/bin/sh >>/etc/passwd
sed -i 's/^kapf:.*/&member/' /etc/group
opens member /dev/kapf0
exits "who is in the group may submit" 0
opens member /dev/kapfctl0
says "but not configure" err "can't open /dev/kapfctl0: Permission denied"
opens nobody /dev/kapf0
says "who is not may not submit" err "can't open /dev/kapf0: Permission denied"

# The service

run systemctl show -p ActiveState,Result kapf.service
says "the service has run" out ActiveState=active
says "and succeeded" out Result=success
run kapfctl get prioritylevels
says "there are the defaults" out workload-low

# Only the maintenance annotates the mandatory objects.
run systemctl is-active kapf-maintain.service
exits "the maintenance runs" 0
tries=100
until kapfctl get fs catch-all -o yaml | grep -q autoupdate-spec ||
	[ "$tries" = 0 ]; do
	tries=$((tries - 1))
	sleep 0.1
done
passes "and has annotated what kapf.service does not" [ "$tries" -gt 0 ]
run systemctl stop kapf-maintain.service
exits "it can be stopped" 0
run systemctl show -p Result kapf-maintain.service
says "and ends well" out Result=success

cp "$dir/manifests/ocr-batch.yaml" /etc/kapf
run systemctl reload kapf.service
exits "it reloads" 0
run kapfctl get prioritylevels
says "there is what was put into /etc/kapf" out ocr-batch

chmod 600 /etc/kapf/ocr-batch.yaml
chown nobody /etc/kapf/ocr-batch.yaml
run systemctl reload kapf.service
exits "it may be of any owner" 0

echo 'not a manifest' >/etc/kapf/wrong.yaml
run systemctl reload kapf.service
exits "it does not reload what is wrong" 1
run systemctl is-active kapf.service
exits "and remains active" 0
run kapfctl get prioritylevels
says "with what there was" out ocr-batch

finish
