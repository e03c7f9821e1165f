# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a thread which is itself in I/O: ldb-why must name that thread, its
# function, and why it was late, however the request waits.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/wakers.sh"
need_build
record_options="--kernel bpf --kernel-frames=on"
build_wakers
wakers_in_check sem join future socket epoll signalfd
judge_wakers io flush
judge_sums
finish
