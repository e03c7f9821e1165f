# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that are off the CPU: a hog runs instead, or the quota of their cgroup has
# ended.
# Timed: judge_coverage needs what the scanner observed, and other load delays judged requests.
# Slow: e2e.t and truth.t test the module's events of preemptions, and e2e/wakers-perf.t tests what
# ldb-why reports about a preempted thread.
. "$(dirname "$0")/../../lib/guest.sh"
record_options="--kernel module"
# Without this the recorder would preempt the program now and then.
record_under="taskset -c 1"
# An emulator's CPUs are sometimes stopped.  The judged causes come from kernel events, so they are
# judged no matter how long the scanner did not run.
why_tries=1 why_away=100
. "$TOP/tests/lib/why.sh"
group=/sys/fs/cgroup/limited

load
# There are few requests, and many of them are delayed, because recording and explaining a request
# takes long in an emulator.
why_options="--slowest 24"
export WHY_DUE_EVERY=21
record_cause hog why-cpu hog 630
judge hog cause=preempted label=hog
unset why_options WHY_DUE_EVERY

ok "a cgroup for threads" eval "mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup /sys/fs/cgroup && mkdir $group &&
	echo threaded >$group/cgroup.type && echo +cpu >/sys/fs/cgroup/cgroup.subtree_control"
at_end "rmdir $group 2>/dev/null; umount /sys/fs/cgroup 2>/dev/null"
before_recording()	# plant|clean
{
	case $1 in
	plant) echo "10000 60000" >$group/cpu.max ;;
	clean) echo max >$group/cpu.max ;;
	esac
}
record_cause throttled why-cpu throttled 8000 $group
# A quota is used up only rarely.
judge throttled cause=throttled of_hits=4
judge_not "the quota is not a hog" throttled-plant cause=preempted

judge_coverage plant
check "the module unloads" "rmmod ldb"
finish
