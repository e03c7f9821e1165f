#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# This script runs in a guest that counts instructions (tests/kmod/bench.sh): it prints, for
# each way to record and each kind of benchmark, a line "ROW KIND WATCH ROUNDS INSTRUCTIONS
# EVENTS".

TRACING=/sys/kernel/tracing
PATH=/ldb/build/tests/kmod/guest:$PATH
rounds=${1:-2000}
kinds="pipe futex"
# This waits until the kernel has finished its boot.
sleep 5

# Page faults and interrupts are not measured with ftrace and perf.
kinds_module="pipe futex fault irq"

bench()	# row watch command...: the benchmark is appended to the command's arguments
{
	row=$1
	watch=$2
	shift 2
	for kind in $kinds; do
		# The first run only fills the caches; the output of perf is not used.
		for i in 1 2; do
			"$@" bench-plain "$watch" "$kind" "$rounds" 2>/tmp/bench.err | grep "^$kind " >/tmp/bench.out ||
				{ sed 's/^/# /' /tmp/bench.err; continue 2; }
		done
		echo "$row $(cat /tmp/bench.out)"
	done
}

kinds=$kinds_module
bench baseline none env
if insmod /ldb/ldb.ko force_tsc=1; then
	bench idle none env
	kinds="pipe futex"
	bench sched sched env
	kinds=$kinds_module
	bench all all env
	rmmod ldb
else
	echo "# the module cannot be loaded"
fi

kinds="pipe futex"
for event in sched_switch sched_waking sched_wakeup sched_migrate_task; do
	echo 1 >$TRACING/events/sched/"$event"/enable
done
bench ftrace none env
echo 0 >$TRACING/events/enable

if command -v perf >/dev/null; then
	events="-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_migrate_task"
	# shellcheck disable=SC2086	# a list
	bench perf-record none perf record -q -a $events -o /tmp/perf.data --
	bench perf-sched none perf sched record -q -o /tmp/perf.data --
fi
bench baseline-again none env
