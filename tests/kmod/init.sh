#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's init (tests/kmod/vm.sh): runs /vm/command and reports its exit status.  The
# kernel's messages go to ttyS0; what the command prints goes to ttyS1.
/bin/busybox --install -s /bin
PATH=/bin:/usr/bin:/sbin:/usr/sbin
HOME=/root
export PATH HOME
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mkdir -p /dev/shm /run
mount -t tmpfs shm /dev/shm
ln -sf /proc/self/fd /dev/fd
ip link set lo up 2>/dev/null
stty -F /dev/ttyS1 raw -echo 2>/dev/null
# This is a pipe, because some programs write colours to a terminal.
mkfifo /vm/output
cat /vm/output >/dev/ttyS1 &
cat=$!
exec </dev/null >/vm/output 2>&1
leaks=/sys/kernel/debug/kmemleak
[ ! -e $leaks ] || echo scan=off >$leaks

cd /tmp || exit 1
sh /vm/command
status=$?

: >/tmp/splat
# kmemleak reports memory that is older than five seconds and unchanged at two scans.  Memory that
# the kernel itself (swapper) lost during its boot is ignored.
if [ -e $leaks ]; then
	sleep 6
	echo scan >$leaks
	sleep 1
	echo scan >$leaks
	awk '/^unreferenced object/ { at = $0; next }
	     /^  comm / && at != "" { on = !/"swapper/; if (on) print at; at = "" }
	     on' $leaks | head -n 100 >/tmp/splat
fi
dmesg >/tmp/dmesg
# shellcheck source=tests/lib/splat.sh
. /vm/splat.sh
splat /tmp/dmesg >>/tmp/splat
if [ -s /tmp/splat ]; then
	echo "LDB-VM-SPLAT"
	cat /tmp/splat
fi
echo "LDB-VM-EXIT=$status"
exec >/dev/null 2>&1
# Processes that the command left running may hold the pipe open.
(sleep 2; kill $cat) &
wait $cat
vm-exit 42
# This is reached only if the device is missing.
reboot -f
