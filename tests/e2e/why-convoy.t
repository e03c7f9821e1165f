# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a lock that is free: the thread that was woken to take it has no CPU.
# ldb-why must name that thread, and the task that ran on its CPU.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/chains.sh"
need_build
[ "$(nproc)" -gt 1 ] || skip_all "it needs two CPUs"
chains_own="keeper|next|hog|why-convoy"
record_options="--kernel auto"
# The program chooses its CPUs, so the scanner has no CPU of its own.
scanner_cpu=$program_cpu
build_why why-convoy
if ! ldb-record -q -o t.data -- ./why-convoy convoy plant 40 >t.out 2>t.err; then
	skip_all "$(cat t.err)"
fi
[ "$(ldb-report -q -i t.data --summary --json | jq -r .kernel_events)" != none ] || skip_all "there are no kernel events"
record_cause convoy ./why-convoy convoy
is_convoy='.chain[0].kind == "lock_wait" and .chain[1].kind == "woken_by" and .chain[1].thread == "next" and
	.chain[2].kind == "runnable" and .chain[2].label == "hog"'
judge_chain convoy "the lock was free, and the thread that was to take it had no CPU" "$is_convoy"
show_chain convoy "and what it executed" "$is_convoy"' and .chain[1].label == "take_next"'
judge_no_chain convoy 'any(.chain[]; .label == "hog")'
judge_sums
finish
