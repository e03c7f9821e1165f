# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that are split among threads: the last thread is named, and what delayed it; and
# queues: which thread took the request out, and what that thread did before.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
# Slow: unit/analysis-wakers and tools/why.t test the chains with traces that are written by hand.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/chains.sh"
need_build
record_options="--kernel bpf --kernel-frames=on"
chains_own="part-.*|keeper|worker|hog|why-parallel"
build_why why-parallel
if ! ldb-record -q $record_options -o t.data -- ./why-parallel join-slow plant 10 >t.out 2>t.err; then
	skip_all "$(cat t.err)"
fi
rm t.data

for way in join barrier count; do
	record_cause $way-slow ./why-parallel $way-slow 1400
	judge_chain $way-slow "the part that came last, and what it executed" '.chain[0].kind == "lock_wait" and
		.chain[1].kind == "woken_by" and .chain[1].thread == "part-1" and .chain[1].label == "straggle" and
		.first.root_label == "straggle"'
	judge_no_chain $way-slow 'has("woken_by"; "part-.*"; "straggle")'
done
# On one CPU the keeper may preempt the parallel part before that needs the lock.
record_cause barrier-lock ./why-parallel barrier-lock 1400
judge_chain barrier-lock "the part that came last, the lock it waited for, and who held that" '
	.chain[0].kind == "lock_wait" and .chain[1].kind == "woken_by" and .chain[1].thread == "part-1" and
	(has("lock_wait"; "part-1"; "part_lock") and has("held_by"; "keeper"; "keep") or
		any(.chain[]; (.kind | test("^(preempted|runnable)$")) and .label == "keeper"))'
judge_no_chain barrier-lock 'has("held_by"; "keeper"; "keep") and .latency_ns > 1e6'

record_cause queue-busy ./why-parallel queue-busy 1400
judge_chain queue-busy "what the thread was in that took it out" '.chain[0].kind == "function" and
	.chain[0].label == "rebuild" and .chain[1].kind == "taken_by" and .chain[1].thread == "worker"'
judge_no_chain queue-busy 'any(.chain[]; .label == "rebuild") and .latency_ns > 1e6'
record_cause queue-late ./why-parallel queue-late 1400
judge_chain queue-late "woken at once, it had no CPU" '.chain[0].kind == "runnable" and
	.chain[0].label == "hog" and .chain[1].kind == "taken_by" and .chain[1].thread == "worker"'
judge_no_chain queue-late 'any(.chain[]; .label == "hog") and .latency_ns > 1e6'
judge_sums
finish
