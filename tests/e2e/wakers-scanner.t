# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a thread which is late, with the kernel's events by BPF, but without
# the kernel's readings of frames: the functions are those that the scanner observed.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
# Slow: wakers-perf.t also judges functions that only the scanner observed.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/wakers.sh"
need_build
record_options="--kernel bpf"
record_kinds=plant
wakers_seen_by=scanner
# The CPU of a request that waits is idle.
record_apart=
build_wakers
wakers_in_check sem barrier pipe poll
judge_wakers slow produce sem barrier latch eventfd signalfd
judge_wakers io flush barrier future poll
judge_wakers preempted produce sem join pipe
judge_sums
finish
