# SPDX-License-Identifier: GPL-2.0-or-later
# Tests Perfetto traces: protoc reads them by the public schema, a checker of our own tests
# what readers rely on, and the numbers are the report's.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export.sh"
CHECKER=$TOP/tests/tools/perfetto-check.awk
need_build

decode()	# trace.pftrace: writes its text to trace.txt
{
	protoc --proto_path="$TOP/tests/tools" --decode=Trace perfetto.proto <"$1" >"${1%.pftrace}.txt"
}

conforms()	# name file.pftrace
{
	if decode "$2" 2>protoc.err && awk -f "$CHECKER" "${2%.pftrace}.txt" >checked.out; then
		check "$1: conforms" "grep '^bad ' checked.out | head -5; tail -n 1 checked.out" 0 '^count bad: 0$'
	else
		fail "$1: protoc reads it"
		diag "$(head -n 3 protoc.err)"
	fi
}

counted()	# what: prints its number from the checker's lines
{
	sed -n "s/^$1: //p" checked.out
}

export_made
report-trace chain chain.data
for made in figure1 sched kernelonly hostile empty plain; do
	ok "$made: exported" eval "ldb-export -q -i $made.data -o $made.pftrace --json perfetto >$made.json"
	conforms $made $made.pftrace
	[ $made = kernelonly ] || same_as_report $made $made.data $made.json
	ok "$made: as many functions as it says" \
		test "$(jq .written.function.count $made.json)" = "$(counted 'count begin function' | grep . || echo 0)"
done

# These tests check the contents of the export.
ldb-export -q -i sched.data -o sched.pftrace perfetto
conforms "kernel events" sched.pftrace
ldb-report -i sched.data --sched --json >sched.json
ok "threads were on the CPUs as long as the report says" \
	test "$(($(counted 'on_cpu 1') + $(counted 'on_cpu 2')))" = "$(jq .all.on_cpu_ns sched.json)"
ok "wake-ups" test "$(counted 'count waking')" -eq 3
ok "an arrow from the lock's holder" test "$(counted 'count flows')" -eq 1
check "the running task is named" "grep -c 'next_comm: \"hog\"' sched.txt" 0 '^[1-9]'
check "what is not known is not invented" "grep -c 'next_comm: \"\[not recorded\]\"' sched.txt" 0 '^[1-9]'
check "the hidden task" "grep -c 'comm: \"\[hidden\]\"' sched.txt" 0 '^[1-9]'
check "the cause in words" "cat sched.txt" 0 'string_value: "preempted by hog \(pid 900\), CPU 1"'
check "a source location" "cat sched.txt" 0 'file_name: ".*report-trace\.c"'
check "the state in which it left" "grep -A1 'prev_prio' sched.txt" 0 'prev_state: [12]$'
check "requests by their class" "cat figure1.txt" 0 '^ +name: "GET"$'
check "and by their number" "cat figure1.txt" 0 'correlation_id: 4711$'
check "lanes are used again" "grep -c '^    name: \"\(GET\|SET\|request\)\"\$' figure1.txt" 0 '^[1-4]$'
check "names that try to steer the terminal do not" "grep -c '[[:cntrl:]]' hostile.pftrace; protoc --proto_path=$TOP/tests/tools --decode=Trace perfetto.proto <hostile.pftrace | grep -c '\\\\033'" 1 '^0$'

ldb-export -q -i chain.data -o chain.pftrace --json perfetto >chain.json
decode chain.pftrace
# Requests of this trace are handed over before they are put into a queue: arrows are not checked.
check "interrupts and page faults: conforms" "awk -f $CHECKER chain.txt | grep -c '^bad [^f]'" 1 '^0$'
check_jq "interrupts and page faults: how many" chain.json \
	'.written | .interrupt == { count: 1, total_ns: 1000 } and .page_fault.count == 1'
check "interrupts: their name, on a track" "grep -c 'name: \"\(eth0\|interrupts\)\"' chain.txt" 0 '^2$'
check "page faults: their address" "cat chain.txt" 0 'pointer_value: 4096'
report-trace calls calls.data
ldb-export -i calls.data -o calls.pftrace perfetto --json >calls.json
decode calls.pftrace
check "system calls: conforms" "awk -f $CHECKER calls.txt | grep -c ^bad" 1 '^0$'
check_jq "system calls: each" calls.json '.written.syscall.count == 100'
check "system calls: on a track of their own" "grep -c 'name: \"system calls\"' calls.txt" 0 '^1$'

# Exports parts of the trace.
ldb-export -q -i figure1.data -o req.pftrace --json --req=4711 --nth=1 perfetto >req.json
conforms "--req" req.pftrace
check_jq "--req: the request, and what happened meanwhile" req.json \
	'.written | .requests == 1 and .function.count == 2 and .lock_wait.count == 1 and .lock_hold.count == 1 and .flows == 1'
ldb-export -q -i figure1.data -o slow.pftrace --json --slowest=3 perfetto >slow.json
conforms "--slowest" slow.pftrace
check_jq "--slowest: as many" slow.json '.written.requests == 3'
ldb-export -q -i figure1.data -o class.pftrace --json --class=GET perfetto >class.json
check_jq "--class: those of it" class.json '.written.requests == 100'
ldb-export -q -i figure1.data -o window.pftrace --json --from=1ms --to=2ms perfetto >window.json
conforms "--from and --to" window.pftrace
ldb-report -q -i figure1.data --from=1ms --to=2ms --json >part.json
ok "--from and --to: as the report has them" \
	test "$(jq .written.function.count window.json)" = "$(jq '.functions | map(.count + .open) | add' part.json)"
ldb-export -q -i figure1.data -o thread.pftrace --json --thread=snapshotter perfetto >thread.json
conforms "--thread" thread.pftrace
check_jq "--thread: only its own" thread.json '.written | .threads == 1 and .function.count == 1 and .flows == 0'
ldb-export -q -i figure1.data -o few.pftrace --json --max-functions=2 perfetto >few.json
conforms "--max-functions" few.pftrace
check_jq "--max-functions: the longest, and it says so" few.json \
	'.written.function.count == 2 and .left_out.functions == 200 and .left_out.functions_shorter_than_ns > 900'

# The checker must find errors.
mutated()	# name sed-script what
{
	sed "$2" figure1.txt >mutated.txt
	if cmp -s mutated.txt figure1.txt; then
		fail "the checker: $1 (nothing was changed)"
	else
		check "the checker: $1" "awk -f $CHECKER mutated.txt | grep '^bad' | head -n 3" 0 "^bad $3"
	fi
}
mutated "an end is missing" '0,/TYPE_SLICE_END/s//TYPE_INSTANT/' balance
mutated "a name without a meaning" '0,/name_iid: [0-9]*/s//name_iid: 9999/' interned
mutated "time goes back" '0,/  timestamp: 30000000$/s//  timestamp: 1/' time
mutated "a flow does not end" 's/ terminating_flow_ids: .*/ flow_ids: 5/' flow
mutated "a track of nobody" '0,/    uuid: [0-9]*/s//    uuid: 5/' track
mutated "an unknown field" '0,/sequence_flags: 2/s//77: 2/' unknown
mutated "state that was not cleared" 's/sequence_flags: 1$/sequence_flags: 0/' state

# Real programs.
export_recorded
for real in real queue; do
	ok "$real: exported" eval "ldb-export -q -i $real.data -o $real.pftrace --json perfetto >$real.json"
	conforms $real $real.pftrace
	same_as_report $real $real.data $real.json
	ok "$real: as many functions in it as it says" \
		test "$(jq .written.function.count $real.json)" = "$(counted 'count begin function')"
	# On a busy machine perhaps no request has ended.
	ok "$real: as long" test "$(jq .written.function.total_ns $real.json)" = "$(counted 'sum function' | grep . || echo 0)"
	ok "$real: and requests" test "$(jq .written.requests $real.json)" = "$(counted 'count request instances')"
	ok "$real: as many arrows" test "$(jq .written.flows $real.json)" = "$(counted 'count flows' | grep . || echo 0)"
	diag "$real: $(tr '\n' ' ' <checked.out | cut -c1-600)"
done
# Exports a part of the traces: no arrow may lose an end.
for part in --slowest=3 "--from=20ms --to=60ms" "--thread=queue" "--min-duration=1ms"; do
	ldb-export -q -i queue.data -o part.pftrace --json $part perfetto >part.json 2>part.err
	conforms "queue $part" part.pftrace
	diag "$(jq -c '.written | {function, queue, flows, requests}' part.json)"
done
check_jq "queue: each hand-off has an arrow" queue.json '.written | .flows >= 1000 and .queue.count >= 1000'
check "queue: the depth of the queue is counted" "cat queue.txt" 0 '^ +name: "requests in '
check_jq "figure1: the lock went from hand to hand" real.json '.written.flows > 0'

# Errors are one line each.
check_one_line "unknown format: it lists them" "ldb-export -i figure1.data nonsense" 2 "unknown format 'nonsense': there are perfetto, chrome, ctf, speedscope, folded, pprof, otlp, sqlite"
check_one_line "no format" "ldb-export -i figure1.data" 2 'give a FORMAT'
check_one_line "two formats" "ldb-export -i figure1.data perfetto chrome" 2 "unexpected argument 'chrome'"
check_one_line "no such request" "ldb-export -i figure1.data -o x.pftrace --req=99999 perfetto" 1 'no request 99999 in this recording: ldb-report --requests'
ok "nothing was written for it" test ! -e x.pftrace
check_one_line "no such instance" "ldb-export -i figure1.data -o x.pftrace --req=4711 --nth=3 perfetto" 1 'request 4711 occurs 2 times'
check_one_line "no request of that class" "ldb-export -i figure1.data -o x.pftrace --class=PUT perfetto" 1 'no request ended in this selection'
check_one_line "full disk" "ldb-export -q -i figure1.data -o /dev/full perfetto" 1 'cannot write /dev/full: No space left on device'
check_one_line "full disk, stdout" "ldb-export -q -i figure1.data perfetto >/dev/full" 1 'cannot write to stdout: No space left on device'
check_one_line "a file that cannot be made" "ldb-export -i figure1.data -o nowhere/x perfetto" 1 'cannot write nowhere/x: No such file'
check_one_line "the trace itself" "ldb-export -i figure1.data -o figure1.data perfetto" 1 'figure1.data is the trace itself'
check_one_line "--json without a file" "ldb-export -i figure1.data --json perfetto" 2 'give -o FILE'
report-trace big big.data 600000
check_one_line "no room for temporary files" "TMPDIR=nowhere ldb-export -q -i big.data -o x.pftrace perfetto" 1 \
	'cannot sort in a temporary file in nowhere'
head -c $(($(wc -c <figure1.data) * 3 / 4)) figure1.data >damaged.data
check "a damaged trace: what is left, and status 3" "ldb-export -i damaged.data -o damaged.pftrace perfetto" 3 'damaged.data: |damaged'
conforms "a damaged trace" damaged.pftrace
(trap '' XFSZ; ulimit -f 8; ldb-export -q -i figure1.data -o part.pftrace perfetto 2>part.err)
ok "a part of a file is removed" test ! -e part.pftrace
check "and it says why" "cat part.err" 0 'cannot write part.pftrace: File too large'
finish
