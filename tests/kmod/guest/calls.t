# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the module's events of system calls in which a thread sleeps, and of slow system calls.  The
# files that the calls use are links to the guest's disk.
# Timed: the program's calls sleep for given numbers of milliseconds.
# Slow: e2e/syscalls.t tests the same calls by BPF programs and perf, and programs/kmod-events tests
# the module's events.
. "$(dirname "$0")/../../lib/guest.sh"
ROUNDS=5
. "$TOP/tests/lib/calls.sh"

load
source=module calls_program=syscalls calls_file=${GUEST_DISK##*/} calls_map=${GUEST_DISK##*/} calls_device=${GUEST_DISK##*/}
ok "there is a disk" test -b "$GUEST_DISK"
ln -s "$GUEST_DISK" svc.dat
ln -s "$GUEST_DISK" svc.dat.map
record module-sleep
judge_sleeps
judge_disks
record module-all --syscalls=all
judge_all
# Recording each call would take minutes on an emulated machine.
[ -z "${LDB_LENGTHS:-}" ] || judge_lengths
check "the module unloads" "rmmod ldb"
finish
