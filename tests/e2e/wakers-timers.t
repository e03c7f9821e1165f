# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait in a system call until its time-out: a timer wakes them.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/chains.sh"
need_build
record_options="--kernel bpf --kernel-frames=on"
chains_own=why-timers
build_why why-timers
if ! ldb-record -q $record_options -o t.data -- ./why-timers timerfd plant 10 >t.out 2>t.err; then
	skip_all "$(cat t.err)"
fi
rm t.data

# It is known that an interrupt ended the sleep.  Which interrupt it was is known only if the system
# call shows it.
judge_timer()	# name call who certainty
{
	record_cause "$1" ./why-timers "$1" 1400
	judge_chain "$1" "a timer ended it" ".chain[0].kind == \"sleep\" and .chain[0].label == \"wait_$1\" and
		(.chain[0].call | test(\"$2\")) and
		(.chain[1] // {} | .kind == \"woken_by\" and .label == \"$3\" and .tid == 0 and .certainty == \"$4\")"
	judge_no_chain "$1" ".chain[0].label == \"wait_$1\""
}
judge_timer timerfd "read of timerfd" "a timer" exact
judge_timer epoll "epoll_wait" "a timer" likely
judge_timer poll "poll" "a timer" likely
judge_timer signal "read of signalfd" "a timer" likely
judge_timer uring "io_uring_enter: timeout" "an interrupt" exact
judge_sums
finish
