# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a thread which is itself preempted: ldb-why must name that thread,
# its function, and why it was late, however the request waits.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
# Slow: wakers-io.t and wakers-slow.t judge the same ways to wait, and wakers-perf.t judges waits
# for a preempted thread.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/wakers.sh"
need_build
record_options="--kernel bpf --kernel-frames=on"
build_wakers
wakers_in_check cond barrier future pipe signalfd uring
judge_wakers preempted produce
judge_sums
finish
