# SPDX-License-Identifier: GPL-2.0-or-later
# Tests chrome JSON: rows nest, arrows have two ends, nothing is rounded, the numbers are the
# report's; and an export that is too large for the viewers is refused.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export.sh"
need_build

conforms()	# name file.json
{
	if jq -c -f "$TOP/tests/tools/chrome-check.jq" "$2" >checked.out 2>jq.err; then
		check "$1: conforms" "head -c 1000 checked.out" 0 '^\[\]$'
	else
		fail "$1: it is JSON"
		diag "$(head -n 3 jq.err)"
	fi
}

export_made
export_recorded
for kind in figure1 sched hostile empty plain queue; do
	ok "$kind: exported" eval "ldb-export -q -i $kind.data -o $kind.chrome --json chrome >$kind.json"
	conforms $kind $kind.chrome
	same_as_report $kind $kind.data $kind.json
	jq -s '.[0].written as $w | [.[1].traceEvents[] | select(.ph == "X")] as $x | {
		functions: [$w.function.count, ([$x[] | select(.cat == "function")] | length)],
		functions_ns: [$w.function.total_ns, ([$x[] | select(.cat == "function" and (.args | has("open") | not))
			| .args.duration_ns] | add // 0)],
		locks: [$w.lock_wait.count + $w.lock_hold.count, ([$x[] | select(.cat == "lock")] | length)],
		requests: [$w.requests, ([$x[] | select(.args | has("latency_ns"))] | length)],
		flows: [$w.flows, ([.[1].traceEvents[] | select(.ph == "s")] | length)]
	}' $kind.json $kind.chrome >inside.json
	check_jq "$kind: it says what is in it" inside.json 'all(.[]; .[0] == .[1])'
done

# The duration of a function that is not clipped must be exact to the nanosecond.
check_jq "times are exact" figure1.chrome '[.traceEvents[] | select(.cat == "function") | (.dur * 1000 | round) - .args.duration_ns] | all(. == 0)'
check_jq "since the start of the recording" figure1.chrome 'any(.traceEvents[]; .name == "snapshot" and .ts == 29900)'
check_jq "threads have their names" sched.chrome '[.traceEvents[] | select(.name == "thread_name") | .args.name] | contains(["main", "snapshotter"])'
check_jq "the cause in words" sched.chrome 'any(.traceEvents[]; .args.cause? == "preempted by hog (pid 900), CPU 1")'
check_jq "who held the lock" figure1.chrome 'any(.traceEvents[]; .name == "waits for db_lock" and (.args.held_by | test("snapshotter")))'
check_jq "queue: arrows from queue to worker" queue.chrome '[.traceEvents[] | select(.ph == "f")] | length >= 1000'
check "control characters are escaped" "grep -c '[[:cntrl:]]' hostile.chrome" 1 '^0$'

report-trace chain chain.data
ldb-export -q -i chain.data -o chain.chrome chrome
conforms "interrupts and page faults" chain.chrome
check_jq "interrupts: when, and of what" chain.chrome 'any(.traceEvents[]; .cat? == "interrupt" and .name == "eth0" and
	.dur == 1 and .args.kind == "hard" and .args.cpu == 1)'
check_jq "page faults: when, and where" chain.chrome 'any(.traceEvents[]; .cat? == "page-fault" and .name == "page fault" and
	.dur == 0 and .args.address == "0x1000")'
report-trace calls calls.data
ldb-export -q -i calls.data -o calls.chrome chrome
conforms "system calls" calls.chrome
check_jq "system calls: each, and what it returned" calls.chrome '[.traceEvents[] | select(.cat? == "syscall")] |
	length == 100 and any(.name == "read" and .dur == 5002 and .args.call == "read(a pipe, 4096) = 512" and .args.result == 512)'

# The checker must find errors.
mutated()	# name filter
{
	jq "$2" figure1.chrome >mutated.chrome
	check "the checker: $1" "jq -c -f $TOP/tests/tools/chrome-check.jq mutated.chrome | cut -c1-200" 0 '^\["'
}
mutated "events that cross" '.traceEvents |= map(if .name == "snapshot" then .ts = 1, .dur = 0.5 else . end)
	| .traceEvents += [.traceEvents[] | select(.ph == "X") | .ts += .dur / 2][:1]'
mutated "a row without a name" 'del(.traceEvents[] | select(.name == "thread_name"))'
jq '.traceEvents |= map(select(.ph != "f"))' queue.chrome >mutated.chrome
check "the checker: half an arrow" "jq -c -f $TOP/tests/tools/chrome-check.jq mutated.chrome" 0 'flows do not match'

for part in --slowest=3 "--from=20ms --to=60ms"; do
	ldb-export -q -i queue.data -o part.chrome $part chrome
	conforms "queue $part" part.chrome
done

# Exports that are too large are refused.
check_one_line "more than the limit" "ldb-export -q -i figure1.data -o big.chrome --limit=10K chrome" 1 \
	'^ldb-export: more than 0\.00977 MB of chrome JSON, and its viewers read it whole: take perfetto, or a part'
ok "nothing is left of it" test ! -e big.chrome
check "a part fits" "ldb-export -i figure1.data -o part.chrome --limit=10K --from=1ms --to=1500us chrome" 0 'part.chrome: '
conforms "a part" part.chrome
report-trace big big.data 600000
check_one_line "100 MB without --limit" "ldb-export -q -i big.data -o big.chrome chrome" 1 'more than 100 MB'
check "the longest of them fit" "ldb-export -i big.data -o few.chrome --max-functions=1000 chrome" 0 'functions shorter than [0-9]+ ns were left out'
check_one_line "full disk" "ldb-export -q -i figure1.data -o /dev/full chrome" 1 'cannot write /dev/full: No space left on device'
finish
