# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a thread which executes a long function: ldb-why must name that
# thread, its function, and why it was late, however the request waits.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/wakers.sh"
need_build
record_options="--kernel bpf --kernel-frames=on"
build_wakers
wakers_in_check cond latch pipe eventfd poll uring
judge_wakers slow produce
judge_sums
finish
