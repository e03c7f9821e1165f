# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a lock, and what its holder was blocked by, according to the
# kernel.
# Timed: judge_coverage needs what the scanner observed, and other load delays judged requests.
# Slow: e2e/why-locks.t judges requests that wait for the same lock, without kernel events.
. "$(dirname "$0")/../../lib/guest.sh"
record_options="--kernel module"
# Without this the recorder would preempt the program now and then.
record_under="taskset -c 1"
# An emulator's CPUs are sometimes stopped.  The judged causes come from kernel events, so they are
# judged no matter how long the scanner did not run.
why_tries=1 why_away=100
# There are few requests, and many of them are delayed, because recording and explaining a request
# takes long in an emulator.
export WHY_DUE_EVERY=21
why_options="--slowest 24"
. "$TOP/tests/lib/why.sh"

load
# Requester, holder and hog share one CPU in the real-time class for the whole run.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
if [ -d /sys/block ]; then
	ok "there is a disk" test -b "$GUEST_DISK"
	record_cause io why-locks io 630 "$GUEST_DISK"
	judge io cause=lock_wait label=db_lock root=io "root_label=flush|flusher"
else
	skip "a holder that waits for a disk" "this kernel has none"
fi
record_cause preempted why-locks preempted 630
judge preempted cause=lock_wait label=db_lock root=preempted root_label=hog
record_cause inversion why-locks inversion 630
judge inversion cause=lock_wait label=db_lock root=preempted root_label=hog
judge_not "the hog is not in I/O" preempted-plant cause=lock_wait root=io

judge_coverage plant
check "the module unloads" "rmmod ldb"
finish
