# SPDX-License-Identifier: GPL-2.0-or-later
# Tests CTF: babeltrace2 must read it back, begins and ends must match in each stream, and the
# numbers must be the report's.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export.sh"
need_build

# Writes babeltrace2's text, with times in seconds, to DIRECTORY.txt.
read_back()	# directory
{
	babeltrace2 --clock-seconds "$1" >"$1.txt" 2>"$1.err"
}

# Counts begins and ends of each kind in each thread; counts segments and sums their durations.
cat >check.awk <<'AWK'
function number(name,  m) {
	if (!match($0, "[{ ,]" name " = -?[0-9]+")) return 0
	m = substr($0, RSTART, RLENGTH); sub(/.*= /, "", m); return m + 0
}
{
	time = $1; gsub(/[\[\]]/, "", time)
	if (time < last) { print "bad time " $0; bad++ }
	last = time
	match($0, /[a-z_]+_(begin|end): /)
	event = substr($0, RSTART, RLENGTH - 2)
	kind = event; sub(/_(begin|end)$/, "", kind)
	tid = number("vtid")
	if (event ~ /_begin$/) {
		open[tid, kind]++
		nr[kind]++
		if (kind == "request") sum[kind] += number("latency_ns")
		else if (kind != "function" || !number("open")) sum[kind] += number("duration_ns")
	} else if (--open[tid, kind] < 0) { print "bad end " $0; bad++ }
}
END {
	for (k in open) if (open[k]) { print "bad " open[k] " begins without an end"; bad++ }
	for (k in nr) { printf("nr_%s=%d\n", k, nr[k]); printf("ns_%s=%.0f\n", k, sum[k]) }
	printf("bad=%d\n", bad)
}
AWK

export_made
export_recorded
for kind in figure1 sched kernelonly hostile empty plain real queue; do
	ok "$kind: exported" eval "ldb-export -q -i $kind.data -o $kind.ctf --json ctf >$kind.json"
	ok "$kind: babeltrace2 reads it" read_back $kind.ctf
	ok "$kind: without a warning" test ! -s $kind.ctf.err
	awk -f check.awk $kind.ctf.txt >checked.out
	check "$kind: in order of time, begins and ends match" "grep bad checked.out" 0 '^bad=0$'
	[ $kind = kernelonly ] || same_as_report $kind $kind.data $kind.json
	nr_function=0 ns_function=0 nr_lock_wait=0 ns_lock_wait=0 nr_lock_hold=0 nr_request=0 nr_queue=0
	eval "$(grep '^n[rs]_' checked.out)"
	check_jq "$kind: it says what is in it" $kind.json ".written |
		[.function.count, .function.total_ns, .lock_wait.count, .lock_wait.total_ns, .lock_hold.count, .requests, .queue.count] ==
		[$nr_function, $ns_function, $nr_lock_wait, $ns_lock_wait, $nr_lock_hold, $nr_request, $nr_queue]"
done

check "threads by name and tid" "grep snapshot figure1.ctf.txt | head -n 1" 0 'function_begin: .*vtid = 2, procname = "snapshotter" .*name = "snapshot", duration_ns = 12599000'
check "times to the nanosecond" "grep -A1 'name = \"snapshot\"' figure1.ctf.txt" 0 '^\[0\.029900005\]'
check "requests with class and number" "cat figure1.ctf.txt" 0 'request_begin: \{ class = "request", request = 4711, latency_ns = 12750000, complete = 1 \}'
check "locks: which and whose" "grep lock_wait_begin figure1.ctf.txt" 0 'name = "waits for db_lock".*kind = "mutex", held_by = 2, failed = 0'
check "the cause in words" "grep preempted_begin sched.ctf.txt" 0 'cause = "preempted by hog \(pid 900\), CPU 1"'
check "what it is a trace of" "babeltrace2 -c sink.text.details figure1.ctf" 0 'tracer_name.*ldb|ldb'
check "queue: what was in it" "grep -c ' queue_begin' queue.ctf.txt" 0 '^[1-9][0-9]{3}'
report-trace chain chain.data
ldb-export -q -i chain.data -o chain.ctf ctf
read_back chain.ctf
check "interrupts" "grep interrupt_begin chain.ctf.txt" 0 'name = "eth0", duration_ns = 1000, .*kind = "hard", cpu = 1'
check "page faults" "grep page_fault_begin chain.ctf.txt" 0 'name = "page fault", duration_ns = 0, .*address = 0x1000, pc = 0x0, in_kernel = 0'
report-trace calls calls.data
ldb-export -q -i calls.data -o calls.ctf ctf
read_back calls.ctf
check "system calls" "grep syscall_begin calls.ctf.txt" 0 'name = "read", duration_ns = 5002000, .*call = "read\(a pipe, 4096\) = 512", .*result = 512'
ldb-export -q -i figure1.data -o req.ctf --req=4711 --nth=1 ctf
read_back req.ctf
check "--req" "grep -c request_begin req.ctf.txt" 0 '^1$'

# The checker must find errors.
sed '0,/function_end/{/function_end/d}' figure1.ctf.txt >mutated.txt
check "the checker: an end is missing" "awk -f check.awk mutated.txt | grep bad" 0 '^bad 1 begins'
sort -r figure1.ctf.txt >mutated.txt
check "the checker: time goes back" "awk -f check.awk mutated.txt | grep bad | head -n 1" 0 '^bad (time|end)'

# Errors.
check_one_line "there is something in the directory" "ldb-export -i figure1.data -o sched.ctf ctf" 1 'sched.ctf is not empty: give a new directory'
mkdir new.ctf
check "an empty directory will do" "ldb-export -q -i figure1.data -o new.ctf ctf && test -s new.ctf/metadata"
check_one_line "a file is no directory" "ldb-export -i figure1.data -o figure1.json ctf" 1 'cannot write figure1.json: Not a directory'
check_one_line "a directory that cannot be made" "ldb-export -i figure1.data -o nowhere/x ctf" 1 'cannot write nowhere/x: No such file'
check_one_line "no -o" "ldb-export -i figure1.data ctf" 2 'ctf is written to files: give -o FILE'
(trap '' XFSZ; ulimit -f 8; ldb-export -q -i figure1.data -o part.ctf ctf 2>part.err)
check "no room" "cat part.err" 0 '^ldb-export: cannot write part.ctf: '
ok "a part of a trace is removed" test ! -e part.ctf
finish
