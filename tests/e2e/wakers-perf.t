# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a thread which is late, with the kernel's events by perf: the
# functions are those that the scanner observed.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/wakers.sh"
need_build
record_options="--kernel perf"
record_kinds=plant
wakers_seen_by=scanner
# The scanner is not pinned: it can use the CPU of a request that waits, which is idle.
record_apart=
# perf does not say to which file a system call refers.
wakers=$(echo "$wakers" | sed 's/sleep:pipe/sleep:read/; s/sleep:socket/sleep:recv/; s/sleep:eventfd/sleep:read/; s/sleep:signalfd/sleep:read/')
build_wakers
wakers_in_check cond future epoll socket
judge_wakers slow produce cond join future pipe uring
judge_wakers io flush cond join epoll
judge_wakers preempted produce cond latch socket
judge_sums
finish
