# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a thread which is itself preempted: ldb-why must name that thread,
# its function, and why it was late, however the request waits.
# Timed: the requests that are judged must be slow for what was planted.
# Slow: wakers-io.t and wakers-slow.t have the same chains, and wakers-perf.t this end.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/wakers.sh"
need_build
record_options="--kernel bpf --kernel-frames=on"
build_wakers
wakers_in_check cond barrier future pipe signalfd uring
judge_wakers preempted produce
judge_sums
finish
