#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots a kernel in QEMU (no KVM, no network), runs one command in it, and
# ends with the command's exit status.
#
#	tests/kmod/vm.sh [OPTION]... IMAGE COMMAND...
#
#	-s CPUS		default 2
#	-m MB		memory, default 1024
#	-t SECONDS	time limit, default 120
#	-a ARGS		more for the kernel's command line
#	-i		count instructions: one CPU, virtual time = instructions
#	-1		the guest's CPUs take turns on one of the host's: see status 96
#	-f FILE[:PATH]	a file for the guest, default /bin/NAME; a program comes with
#			the libraries it needs
#	-r TREE		a folder whose contents become part of the guest's root
#	-c FILE		keeps the kernel's messages
#	-d		a disk, /dev/nvme0n1: 16 MB of zeroes, each read takes 4 ms
#
# COMMAND is given to the guest's shell (busybox).  Its output is printed as it comes.  The
# exit status is the command's, but
#	96  the emulator failed, see below and storm.sh: not if its CPUs take turns
#	97  the time limit		98  the guest ended without an exit status
#	99  the kernel complained: WARN, BUG, Oops, lockdep, KASAN, kmemleak (splat.sh)
#
#	tests/kmod/vm.sh $(tests/kmod/kernels.sh 6.1 image) 'uname -r; nproc'

. "$(dirname "$0")/../lib/kmod.sh"
. "$TOP/tests/lib/splat.sh"
. "$TOP/tests/lib/storm.sh"

cpus=2
memory=1024
limit=120
args=
accel=tcg,thread=multi
icount=
console=
files=
trees=
disk=
while getopts s:m:t:a:i1f:r:c:d option; do
	case $option in
	s) cpus=$OPTARG ;;
	m) memory=$OPTARG ;;
	t) limit=$OPTARG ;;
	a) args=$OPTARG ;;
	i) icount="-icount shift=0,align=off,sleep=off" accel=tcg,thread=single cpus=1 ;;
	1) accel=tcg,thread=single ;;
	f) files="$files $OPTARG" ;;
	r) trees="$trees $OPTARG" ;;
	c) console=$OPTARG ;;
	d) disk="-blockdev driver=null-co,node-name=disk,size=16777216,latency-ns=4000000,read-zeroes=on
		-device nvme,drive=disk,serial=slow" ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || { note "IMAGE and COMMAND are missing: see the head of $0"; exit 2; }
image=$1
shift
[ -f "$image" ] || die "no kernel $image"
command -v qemu-system-x86_64 >/dev/null || die "no qemu-system-x86_64"

work=$(mktemp -d "${TMPDIR:-/tmp}/ldb-vm.XXXXXX") || exit 1
qemu=
watch=
# shellcheck disable=SC2317	# called by the trap
cleanup()
{
	[ -z "$qemu" ] || kill "$qemu" "$watch" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

root=$work/root
for dir in bin sbin proc sys dev tmp root run etc vm usr/bin lib64; do
	mkdir -p "$root/$dir"
done
exe=$BUILD/tests/kmod/vm-exit
if [ -z "$(find "$exe" -newer "$KMOD/vm-exit.c" 2>/dev/null)" ]; then
	mkdir -p "${exe%/*}"
	$CC -static -O2 "$KMOD/vm-exit.c" -o "$exe.$$" || exit 1
	mv "$exe.$$" "$exe"
fi
tree_add "$root" "$(command -v busybox):/bin/busybox" || exit 1
tree_add "$root" "$exe:/bin/vm-exit" || exit 1
cp "$KMOD/init.sh" "$root/init"
chmod 755 "$root/init"
cp "$TOP/tests/lib/splat.sh" "$root/vm/"
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
printf '%s\n' "$*" >"$root/vm/command"
for file in $files; do
	tree_add "$root" "$file" || exit 1
done
# The kernel unpacks several archives one after the other, so a tree that many boots use need not be
# copied.
for tree in "$root" $trees; do
	(cd "$tree" && find . | cpio -o -H newc --quiet) || exit 1
done >"$work/initrd"

mkfifo "$work/out" "$work/monitor.in" "$work/monitor.out"
# The CPUs are sockets, not cores: a kernel without ACPI finds only those.  no_timer_check is needed
# because a busy host may give the guest no CPU for a while, and without ticks its kernel would
# panic.
# shellcheck disable=SC2086	# $icount, $disk: words or none
timeout -k 5 "$limit" qemu-system-x86_64 -accel "$accel" -cpu max $icount $disk -smp "$cpus,sockets=$cpus" -m "$memory" \
	-no-reboot -nodefaults -display none -net none -kernel "$image" -initrd "$work/initrd" \
	-append "console=ttyS0 panic=-1 oops=panic ignore_loglevel no_timer_check $args" \
	-device isa-debug-exit,iobase=0xf4,iosize=4 \
	-serial "file:$work/console" -chardev stdio,id=out,signal=off -serial chardev:out \
	-chardev "pipe,id=monitor,path=$work/monitor" -mon chardev=monitor \
	</dev/null >"$work/out" 2>"$work/qemu-err" &
qemu=$!
storm_watch "$work/monitor" "$qemu" "$work/storm" >/dev/null 2>&1 &
watch=$!
tr -d '\r' <"$work/out" | tee "$work/output" | sed -u '/^LDB-VM-EXIT=/d'
wait "$qemu"
qemu_status=$?
qemu=
kill "$watch" 2>/dev/null
cat "$work/qemu-err" >&2
tr -d '\r' <"$work/console" >"$work/log"
[ -z "$console" ] || cp "$work/log" "$console"

status=$(sed -n 's/^LDB-VM-EXIT=\([0-9]*\)$/\1/p' "$work/output" | tail -n 1)
if grep -q '^LDB-VM-SPLAT' "$work/output"; then
	note "the kernel complained"
	exit 99
fi

# Complaints about a stuck CPU do not count, because the emulator causes them.
complains()
{
	grep -E 'WARNING: |BUG: |KASAN|kernel BUG at' "$work/log" | grep -qvE 'soft lockup|workqueue lockup'
}

if [ -s "$work/storm" ] && ! complains; then
	note "the emulator went round a breakpoint that was gone: try again"
	exit 96
fi
# QEMU's translator can run a breakpoint on one CPU that another has already taken out of the
# kernel's code (any kernel that switches tracepoints or static keys on and off shows it now
# and then, and no real CPU does).  The kernel's first and only complaint is then of an int3
# that no code had put there.
if grep -q 'int3: 0000 \[#1\]' "$work/log" && ! complains; then
	note "the emulator ran a breakpoint that was gone: try again"
	exit 96
fi
# A kernel that has crashed cannot read its own log.
if splat "$work/log" >"$work/splat"; then
	cat "$work/splat"
	note "the kernel complained"
	exit 99
fi
if [ "$qemu_status" -eq 124 ] || [ "$qemu_status" -eq 137 ]; then
	note "ended after $limit s"
	tail -n 5 "$work/log" >&2
	exit 97
fi
# The status is 42 * 2 + 1 if the guest's init has completed.
if [ -z "$status" ] || [ "$qemu_status" -ne 85 ]; then
	note "the guest ended without an exit status (qemu: $qemu_status)"
	tail -n 20 "$work/log" >&2
	exit 98
fi
exit "$status"
