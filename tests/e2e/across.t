# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for another process: ldb-why must name the process that ended the wait,
# its function, and why it was late, for a lock in shared memory, a semaphore, a pipe and a signal.
# The same work is not named where no request waits for it.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/chains.sh"
need_build
record_options="--kernel bpf --kernel-frames=on"
chains_own="producer|helper|across"
build_why across
if ! ldb-record -q $record_options -o t.data -- ./across pipe-slow plant 10 >t.out 2>t.err; then
	skip_all "$(cat t.err)"
fi
rm t.data

# Prints the condition for the request's wait with this primitive, and for the next link of its
# chain.
wait_of()	# primitive
{
	case $1 in
	mutex | robust | mapped) echo '.chain[0].kind == "lock_wait" and .chain[0].thread == "across" and .chain[1].kind == "held_by"' ;;
	cond | sem) echo '.chain[0].kind == "lock_wait" and .chain[0].thread == "across" and .chain[1].kind == "woken_by"' ;;
	futex) echo '(.chain[0].kind | test("futex|sleep")) and .chain[1].kind == "woken_by"' ;;
	pipe) echo '.chain[0].kind == "sleep" and (.chain[0].call // "" | test("read of a pipe")) and .chain[1].kind == "woken_by"' ;;
	latch) echo '.chain[0].kind == "sleep" and (.chain[0].call // "" | test("epoll_wait")) and .chain[1].kind == "woken_by"' ;;
	esac
}

# Prints the condition for the function in which the producer was, and for why it was late.
reason_of()	# variant
{
	case $1 in
	slow) echo '(.chain[1].label == "produce")' ;;
	asleep) echo '(.chain[1].label == "rest" and any(.chain[]; .kind == "sleep" and .thread == "producer"))' ;;
	# Instead of waiting for the helper's lock, the producer may wait for the CPU on which the
	# helper runs.
	third) echo '(.chain[1].label == "ask_third" and (any(.chain[]; .kind == "preempted" and .label == "helper") or
		(has("lock_wait"; "producer"; ".*") and has("woken_by"; "helper"; "help"))))' ;;
	esac
}

judge_across()	# primitive variant
{
	record_cause "$1-$2" ./across "$1-$2" "${across_requests:-700}"
	judge_chain "$1-$2" "the process that ended the wait, what it executed, and why it was late" \
		"$(wait_of "$1") and (.chain[1] | .thread == \"producer\" and .pid == .tid and .process == \"producer\") and $(reason_of "$2")"
	judge_no_chain "$1-$2" 'any(.chain[]; .label | test("^(produce|rest|ask_third|help)$")) and .latency_ns > 3e6'
}

for primitive in mutex mapped sem latch; do
	judge_across $primitive slow
done
judge_across pipe asleep
judge_across robust third
judge_across latch third
if [ -n "${LDB_TEST_ALL:-}" ]; then
	judge_across cond slow
	judge_across futex slow
	judge_across pipe slow
	judge_across sem third
	judge_across mapped asleep
fi
# The test can fail: a wrong function is rejected.
count_chains latch-slow '.chain[1].label == "help"' >not.out
case $? in
1) ok "another function is not named" jq -e '.of >= 5' right.json ;;
77) skip "another function is not named" "other programs had the CPUs" ;;
*) fail "another function is not named" ;;
esac
judge_sums
finish
