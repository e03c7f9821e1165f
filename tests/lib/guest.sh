# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by the scripts that run in a guest; it sources engine.sh first.
. "$(dirname "$0")/../../lib/engine.sh"

TRACING=/sys/kernel/tracing
# This is a disk, each read of which takes some milliseconds: see vm.sh -d.
GUEST_DISK=/dev/nvme0n1
SCHED_EVENTS="sched_switch sched_waking sched_wakeup sched_wakeup_new sched_migrate_task"

load()	# parameter...
{
	insmod "$LDB_KO" "$@" || { echo "Bail out! the module cannot be loaded"; exit 1; }
	at_end "rmmod ldb 2>/dev/null || :"
}

# Starts the kernel's own record of the same events, stamped with CLOCK_MONOTONIC.
ftrace_on()
{
	echo 0 >$TRACING/tracing_on
	echo nop >$TRACING/current_tracer
	echo mono >$TRACING/trace_clock
	echo 8192 >$TRACING/buffer_size_kb
	for event in $SCHED_EVENTS; do
		echo 1 >$TRACING/events/sched/"$event"/enable
	done
	[ ! -d $TRACING/events/syscalls ] || echo 1 >$TRACING/events/syscalls/sys_enter_futex/enable
	echo >$TRACING/trace
	echo 1 >$TRACING/tracing_on
}

ftrace_off()
{
	echo 0 >$TRACING/tracing_on
	echo 0 >$TRACING/events/enable
}

# Prints the part of a trace that check-truth reads.  The whole trace may have a million gaps.
rows()	# file
{
	for kind in clock lost task sched; do
		trace-cat "$1" $kind
	done
}

# The results of check-truth become this test's.
compare()	# name rows [other-rows]
{
	# shellcheck disable=SC2086	# none is no argument
	check-truth "$2" ftrace facts ${3:-} >checked
	ok "$1: compared" test $? -le 1
	sed "s/^\(ok\|not ok\) [0-9]* - /\1 - $1: /; /^1\.\./d" checked
	nr=$((nr + $(grep -cE '^(not )?ok ' checked)))
	nr_failed=$((nr_failed + $(grep -c '^not ok ' checked)))
}
