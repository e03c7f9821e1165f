# SPDX-License-Identifier: GPL-2.0-or-later
# Tests kernel events in ldb-timeline and ldb-report, on traces with known content.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS
for kind in sched kernelonly nokernel figure1 hostile; do
	report-trace $kind $kind.data || exit 1
done
cp sched.data ldb.data

# The holder of the lock was preempted.
check "the holder was preempted" "ldb-timeline --req=1" 0 '^req 1: 10\.1 ms.*: 10\.0 ms waiting for mutex 0x[0-9a-f]+ \(db_lock\).*, held by snapshot\(\) report-trace\.c:[0-9]+ of thread snapshotter 2 for [0-9.]+ ms, of that 9\.00 ms preempted by hog'
check "in the list" "ldb-timeline --req=1" 0 ' ! .*preempted by hog \(pid 900\), CPU 1'
check "its bar" "ldb-timeline --req=1" 0 '^  off CPU +\|hogppp'
check "what the letters mean" "ldb-timeline --req=1" 0 '^ +r runnable  p preempted  b blocked'
check "the wait has its waker" "ldb-timeline --req=1" 0 'waits for mutex 0x[0-9a-f]+ \(db_lock\), woken by snapshotter 2'
check "which events" "ldb-timeline --req=1" 0 '; kernel events: module$'
ldb-timeline --req=1 --json >1.json
check_jq "preempted, JSON" 1.json '.segments | any(.kind == "preempted" and .tid == 2 and .blocks_req == 1 and .level == 1 and
	.preempted_by == {"tid": 900, "name": "hog", "pid": 900} and .cpu == 1 and .start_ns == 10002000 and .end_ns == 19000000 and
	.running_tasks == [{"tid": 900, "name": "hog", "pid": 900, "ns": 8998000}] and .resolution_ns == 1 and .caller == "snapshot")'
check_jq "the wait, JSON" 1.json '.segments | any(.kind == "lock_wait" and .futex == .lock and .futex_woken and .waker.tid == 2 and
	.asleep_ns == 9998000)'
check_jq "it is one lock" 1.json '[.segments[] | select(.kind == "futex_wait" or .kind == "blocked")] == []'
check_jq "the cause, JSON" 1.json '.causes[0] | .kind == "lock_wait" and .holder == 2 and .holder_off_cpu == "preempted" and
	.holder_off_cpu_ns == 8998000 and .holder_off_cpu_by.name == "hog"'
check_jq "which events, JSON" 1.json '.kernel_events == "module" and .kernel_why == "" and .migrations == []'

# The thread was moved during the request.
check "migrated" "ldb-timeline --req=2" 0 '^migrated: main 1 from CPU 0 to 3 at 1\.00 ms$'
check "behind whom it had to wait then" "ldb-timeline --req=2" 0 '^req 2: 4\.10 ms.*: 3\.00 ms preempted by migration/0 \(pid 918\), then behind hog \(pid 900\) 3\.00ms, CPU 0 -> 3; '
ldb-timeline --req=2 --json >2.json
check_jq "migrations, JSON" 2.json '.migrations == [{"tid": 1, "thread": "main", "at_ns": 31005000, "from_cpu": 0, "to_cpu": 3}] and
	.preempted_ns == 3000000'
check_jq "the CPUs" 2.json '.segments | any(.kind == "preempted" and .from_cpu == 0 and .to_cpu == 3 and .cpu == 3)'
check_jq "own time is on the CPU" 2.json '.causes | any(.kind == "function" and .name == "request_handler" and .total_ns == 1049000)'

# The thread was woken behind a hog.
check "a wake-up delayed" "ldb-timeline --req=3" 0 '^req 3: 7\.10 ms.*: 5\.00 ms runnable behind hog \(pid 900\), CPU 3; 1\.10 ms in .*|1\.00 ms blocked \(disk\) in request_handler\(\), woken by an interrupt'
ldb-timeline --req=3 --json >3.json
check_jq "runnable" 3.json '.segments | any(.kind == "runnable" and .start_ns == 52000000 and .end_ns == 57000000 and
	.running_tasks[0].name == "hog" and .waker.irq == "hard")'
check_jq "blocked" 3.json '.segments | any(.kind == "blocked" and .state == "disk" and .waker == {"tid": 0, "name": "", "pid": 0, "irq": "hard"})'
check_jq "causes" 3.json '.causes[0] == {"kind": "runnable", "name": "hog", "label": "hog", "total_ns": 5000000, "count": 1, "caller": "request_handler", "state": "disk",
	"by": {"tid": 900, "name": "hog", "pid": 900}, "by_ns": 5000000, "resolution_ns": 1} or (.causes | debug | false)'

# The futex belongs to no known lock.
check "a futex that the shim does not know" "ldb-timeline --req=4" 0 '^req 4: 5\.10 ms.*: 4\.99 ms waiting for futex 0x[0-9a-f]+ \(raw_lock\) in request_handler\(\), held by snapshot\(\) report-trace\.c:[0-9]+ of thread snapshotter 2'
ldb-timeline --req=4 --json >4.json
check_jq "futex_wait" 4.json '.segments | any(.kind == "futex_wait" and .name == "raw_lock" and .lock_kind == "futex" and .owner == 2 and
	.waker.tid == 2 and .futex == .lock and .state == "sleeping" and .start_ns == 60010000 and .end_ns == 65000000)'
ldb-report --mutex --json >m.json
check_jq "--mutex: a lock with waits" m.json 'any(.locks[]; .name == "raw_lock" and .kind == "futex" and .waits.count == 1 and
	.waits.total_ns == 4990000 and .holders[0].tid == 2 and .holders[0].wakes == 1)'
check_jq "the one that both know counts once" m.json 'any(.locks[]; .name == "db_lock" and .waits.count == 1 and .holders[0].wakes == 1)'
check "--mutex" "ldb-report --mutex" 0 '^futex 0x[0-9a-f]+ \(raw_lock\)'

check "nobody came" "ldb-timeline --req=5" 0 'preempted by no task \(a CPU quota\?\)'
check "hidden" "ldb-timeline --req=5" 0 'preempted by another program \(hidden\)'
for req in 1 2 3 4 5; do
	ldb-timeline --req=$req --json >t.json
	check_jq "request $req: the causes add up to the latency" t.json '([.causes[].total_ns] | add) == .latency_ns'
	check_jq "segments in order of their start" t.json '[.segments[].start_ns] | . == sort'
done
check "CSV" "ldb-timeline --req=3 --csv" 0 '^3,1,main,runnable,52000000,57000000,.*,900,hog,900,disk,3,3,3$'
check "80 columns: the picture fits" "COLUMNS=80 ldb-timeline --req=1 | sed -n '/^  *0  */,/^\$/p' | awk 'length > 80' | wc -l" 0 '^0$'

# ldb-report --sched.
ldb-report --sched --json >s.json
check_jq "--sched" s.json '.kernel_events == "module" and .resolution_ns == 1 and .switches == 16 and .broken == 0'
check_jq "a thread" s.json '.threads[] | select(.tid == 1) | .thread == "main" and .voluntary == 3 and .involuntary == 3 and .migrations == 1 and
	.preempted_ns == 3000000 + 999000 + 499000 and .runnable_ns == 38000 + 5000000 + 10000'
check_jq "where its time went" s.json '.threads[] | select(.tid == 1) | .futex_ns == 9998000 + 4990000 and .disk_ns == 1000000 and
	.blocked_ns == .futex_ns + .disk_ns'
check_jq "and all of it" s.json '.threads[] | select(.tid == 1) | .on_cpu_ns + .runnable_ns + .preempted_ns + .blocked_ns == 1000000000 - 100'
check_jq "waits for a CPU" s.json '.threads[] | select(.tid == 1) | .delays.count == 6 and .delays.max_ns == 5000000 and .delays.p50_ns == 499000 and
	.wakeups.count == 3 and .wakeups.p50_ns == 38000'
check_jq "which task ran instead" s.json '.antagonists[0] | .name == "hog" and .pid == 900 and .count == 3 and .max_ns == 9995000 and
	.total_ns == 9995000 + 2995000 + 5000000'
check_jq "who woke" s.json '[.wakers[] | [.tid, .irq, .count, .total_ns]] == [[2, null, 2, 14988000], [0, "hard", 1, 1000000]]'
check "text" "ldb-report --sched" 0 '^main 1 +974ms +5\.05ms +4\.50ms +16\.0ms +1\.00ms +15\.0ms +3 +3 +1$'
check "antagonists" "ldb-report --sched" 0 '^ +18\.0ms +3 +10\.0ms  hog \(pid 900\)$'
check "resolution" "ldb-report --sched" 0 '^Times between two kernel events: \+-1 ns'
check "CSV" "ldb-report --sched --csv" 0 '^antagonist,900,hog,900,3,'
ok "as many cells in each row" test "$(ldb-report --sched --csv | awk -F, '{ print NF }' | sort -u | wc -l)" = 1
check "--thread" "ldb-report --sched --thread=snap* --json | jq -c '[.threads[].tid]'" 0 '^\[2\]$'
check "--from, --to" "ldb-report --sched --from=50ms --to=58ms --thread=main --json | jq '.threads[0].runnable_ns'" 0 '^5000000$'
check "--sort" "ldb-report --sched --sort=count --json | jq '.threads[0].tid'" 0 '^1$'
check_one_line "--sort=caller" "ldb-report --sched --sort=caller" 2 'sort=caller'
check "80 columns" "COLUMNS=80 ldb-report --sched | awk 'length > 80' | wc -l" 0 '^0$'

# Tests a trace without kernel events.
check_one_line "--sched without them" "ldb-report --sched -i nokernel.data" 1 'no kernel events: no /dev/ldb; perf_event_paranoid is 3$'
check_one_line "--sched of an older trace" "ldb-report --sched -i figure1.data" 1 'no kernel events'
for what in "" --mutex --requests --summary; do
	check "the head says so ${what:-(functions)}" "ldb-report -i nokernel.data $what" 0 '^Kernel events: none \(no /dev/ldb; perf_event_paranoid is 3\)\.$'
done
check "and of this trace" "ldb-report" 0 '^Kernel events: module\.$'
ldb-report -i nokernel.data --json-summary >n.json
check_jq "JSON" n.json '.kernel_events == "none" and .kernel_why == "no /dev/ldb; perf_event_paranoid is 3"'
check "the timeline, too" "ldb-timeline -i nokernel.data" 0 '; kernel events: none \(no /dev/ldb'
check_not "an older trace looks as it did" "ldb-timeline -i figure1.data" 0 'kernel events'
check_jq "and has no times off the CPU" n.json 'has("runnable_ns") | not'

check_not "nothing steers the terminal" "ldb-timeline -q -i hostile.data; ldb-report -q -i hostile.data --sched" 0 "$(printf '\033')"
ok "and it is JSON" eval "ldb-report -q -i hostile.data --sched --json | jq -e . >/dev/null"

check "kernel events alone: a thread has the name of its task" "ldb-report -i kernelonly.data --sched" 0 '^nginx \(pid 7\) '
for what in ldb-report "ldb-report --mutex" "ldb-report --requests" ldb-timeline; do
	check "and $what says where to look" "$what -i kernelonly.data" 0 '^this recording has kernel events only: ldb-report --sched$'
done

# A request in a big file must be found within 20 s.
report-trace bigsched big.data 3000000
check "a request in three million switches" "timeout 20 ldb-timeline -i big.data --req=2999500 --json | jq -e '.preempted_ns > 20000'" 0 true

finish
