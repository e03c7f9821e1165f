# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-export sqlite: sqlite3 reads it back, and the rows and sums must be those of
# ldb-report and ldb-timeline.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export-same.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS
report-trace figure1 ldb.data && report-trace sched sched.data && report-trace hostile hostile.data &&
	report-trace kernelonly kernelonly.data && report-trace empty empty.data &&
	bench-trace many.data 60000 >many.txt || exit 1

sql()	# db query
{
	sqlite3 -bail "$1" "$2"
}

for trace in ldb sched many; do
	check "$trace: exported" "ldb-export -q -i $trace.data -o $trace.db sqlite" 0 '^$'
	sqlite_as_report $trace.db -i $trace.data
	sqlite_as_locks $trace.db -i $trace.data
	sqlite_as_requests $trace.db -i $trace.data
	check "$trace: no damage" "sql $trace.db 'PRAGMA integrity_check'" 0 '^ok$'
	check "$trace: no reference leads nowhere" "sql $trace.db 'PRAGMA foreign_key_check' | wc -l" 0 '^0$'
	check "$trace: self times add up to the outer spans" "sql $trace.db \
		'SELECT (SELECT sum(self_ns) FROM span) = (SELECT sum(end_ns - start_ns) FROM span WHERE parent IS NULL)'" 0 '^1$'
	check "$trace: spans lie in their parents" "sql $trace.db 'SELECT count(*) FROM span s JOIN span p ON p.id = s.parent
		WHERE s.start_ns < p.start_ns OR s.end_ns > p.end_ns OR s.thread <> p.thread'" 0 '^0$'
done
for trace in sched many; do
	sqlite_as_sched $trace.db -i $trace.data
done
sqlite_as_timeline ldb.db 4711
for req in 1 2 3 4 5; do
	sqlite_as_timeline sched.db $req -i sched.data
done
slow=$(sql many.db 'SELECT req FROM slowest_request LIMIT 1')
sqlite_as_timeline many.db "$slow" -i many.data

# The export must also contain losses, threads, waits and kernel events.
ldb-report -q --json-summary >s.json
check "losses" "sql ldb.db \"SELECT count FROM loss WHERE kind = 'overrun'\"" 0 '^3$'
check "gaps" "sql ldb.db 'SELECT gaps, gap_ns, (SELECT sum(end_ns - start_ns) FROM gap) FROM recording'" 0 '^1\|2000000\|2000000$'
ok "calls and observed calls" test "$(sql ldb.db 'SELECT made, seen, lost, duration_ns FROM recording')" = \
	"$(jq -r '[.calls, .observed_calls, .lost.total, .recording.duration_ns] | join("|")' s.json)"
ok "threads" test "$(sql ldb.db 'SELECT tid, name, made, seen FROM thread')" = \
	"$(jq -r '.threads[] | [.tid, .name, .calls, .observed_calls] | join("|")' s.json)"
check "meta" "sql ldb.db \"SELECT value FROM meta WHERE key = 'cmdline'\"" 0 '^\./figure1 -q$'
check "who waits for whom" "sql ldb.db 'SELECT holder_function, ns FROM wait_hold'" 0 '^snapshot\|12499300$'
check "kernel events: the running task" "sql sched.db \"SELECT by, by_pid, duration_ns FROM off_cpu
	WHERE kind = 'runnable' AND by = 'hog'\"" 0 '^hog\|900\|5000000$'
check "and when" "sql sched.db \"SELECT count(*) > 0, sum(end_ns >= start_ns) = count(*) FROM run WHERE name = 'hog'\"" 0 '^1\|1$'
check "a wake-up" "sql sched.db \"SELECT cpu, waker, waker_tid FROM wakeup WHERE at_ns = 20002000\"" 0 '^0\|snapshotter\|2$'
check "from which CPU to which" "sql sched.db 'SELECT cpu, from_cpu, to_cpu FROM off_cpu WHERE start_ns = 31000000'" 0 '^3\|0\|3$'
check "who woke whom" "sql sched.db \"SELECT waker FROM off_cpu WHERE kind = 'blocked' AND state = 'disk'\"" 0 '^\[interrupt\]$'
check "a migration" "sql sched.db 'SELECT at_ns, from_cpu, to_cpu FROM migration'" 0 '^31005000\|0\|3$'
check "parts of a request: thread, queue, thread" "sql many.db 'SELECT group_concat(kind) FROM part WHERE request = 1'" 0 '^thread,queue,thread$'
check "which add up" "sql many.db 'SELECT count(*) FROM request r WHERE latency_ns <>
	(SELECT sum(duration_ns) FROM part WHERE request = r.id) AND complete'" 0 '^0$'

# Calls from two lines of one function are two rows, as in the report.
cat >nap.c <<'EOS'
#include <unistd.h>
__attribute__((noinline)) void nap(void) { usleep(3000); __asm__ volatile("" ::: "memory"); }
int main(void)
{
	for (int i = 0; i < 20; i++) {
		nap();
		nap();
	}
	return 0;
}
EOS
cc_ldb -g -O1 nap.c -o nap && run_cmd "ldb-record -o nap.data -- ./nap"
check "a program is recorded" "ldb-export -q -i nap.data -o nap.db sqlite" 0 '^$'
sqlite_as_report nap.db -i nap.data
check "each call site is a row" "sql nap.db \"SELECT count(*), count(DISTINCT line) FROM function_stats WHERE function = 'nap'\"" 0 '^2\|2$'

# The definitions of tables are made from lists of columns: keys, texts, references.
check "a column refers to the table of its name, or to another" "sql ldb.db \"SELECT group_concat(\\\"from\\\" || '>' || \\\"table\\\")
	FROM (SELECT * FROM pragma_foreign_key_list('span') ORDER BY \\\"from\\\")\"" 0 '^function>function,parent>span,request>request,site>site,thread>thread$'
check "keys and texts" "sql ldb.db .schema" 0 '^CREATE TABLE lock \(id INTEGER PRIMARY KEY, address TEXT, kind TEXT, name TEXT\);$'
check "a text that is the key" "sql ldb.db .schema" 0 '^CREATE TABLE loss \(kind TEXT PRIMARY KEY, count INTEGER\);$'
check "a key of two columns" "sql ldb.db .schema" 0 'self_ns INTEGER, PRIMARY KEY \(request, function\)\) WITHOUT ROWID;$'
check "a column of either" "sql ldb.db \"SELECT type FROM pragma_table_info('request') WHERE name = 'req'\"" 0 '^$'

# Indexes and views.
for view in $(sql ldb.db "SELECT name FROM sqlite_schema WHERE type = 'view' AND name <> 'off_cpu_disk'"); do
	check "view $view" "sql many.db 'SELECT count(*) > 0 FROM $view'" 0 '^1$'
done
check "the slowest are found by index" "sql many.db 'EXPLAIN QUERY PLAN SELECT * FROM request ORDER BY latency_ns DESC LIMIT 1'" \
	0 'USING INDEX request_by_latency'
check "so are a request's spans" "sql many.db 'EXPLAIN QUERY PLAN SELECT * FROM span WHERE request = 3'" 0 'USING INDEX span_by_request'
check "time by function of a request" "sql ldb.db 'SELECT function, self_ns FROM request_function WHERE req = 4711'" \
	0 '^request_handler\|12699900$'

# Exports a part of the trace.

# shellcheck disable=SC2086 # options are words
for window in "--from=5ms" "--to=5ms" "--from=3ms --to=4ms"; do
	check "$window" "ldb-export -q -i many.data -o part.db $window sqlite" 0 '^$'
	sqlite_as_report part.db -i many.data $window
	sqlite_as_requests part.db -i many.data $window
done
check "--thread" "ldb-export -q -i many.data -o part.db --thread=worker-3 sqlite" 0 '^$'
sqlite_as_report part.db -i many.data --thread=worker-3
check "--slowest" "ldb-export -q -i many.data -o part.db --slowest=5 sqlite && sql part.db 'SELECT (SELECT count(*) FROM request),
	(SELECT count(*) FROM span WHERE request IS NULL), (SELECT count(DISTINCT request) FROM cause)'" 0 '^5\|0\|5$'
sqlite_as_timeline part.db "$slow" -i many.data
ldb-export -q -i many.data -o one.db --req "$slow" sqlite
ldb-export -q -i many.data --req "$slow" folded >one.folded
sed 's/ \([0-9]*\)$/	\1/; s/.*;//' one.folded | awk -F'\t' '{ ns[$1] += $2 } END { for (f in ns) print f "\t" ns[f] }' | sort >same.report
rows one.db 'SELECT function, sum(self_ns) FROM request_function GROUP BY function' >same.sqlite
same "--req: time by function, as folded" same.report same.sqlite

# Tests the tables of interruptions, system calls and disks.
report-trace chain chain.data
ldb-export -q -i chain.data -o chain.db sqlite
check "interrupts" "sql chain.db 'SELECT i.kind, i.name, i.cpu, t.tid, r.req, i.start_ns, i.duration_ns FROM interrupt i
	JOIN thread t ON t.id = i.thread JOIN request r ON r.id = i.request'" 0 '^hard\|eth0\|1\|1\|1\|97000\|1000$'
check "page faults" "sql chain.db 'SELECT f.address, f.in_kernel, f.from_disk IS NULL, t.tid, r.req, f.at_ns FROM page_fault f
	JOIN thread t ON t.id = f.thread JOIN request r ON r.id = f.request'" 0 '^0x1000\|0\|1\|1\|1\|96000$'
report-trace calls calls.data
ldb-export -q -i calls.data -o calls.db sqlite
check "system calls" "sql calls.db 'SELECT c.name, c.descriptor, c.result, r.req, c.duration_ns, s.function IS NOT NULL FROM syscall c
	JOIN request r ON r.id = c.request JOIN span s ON s.id = c.span WHERE c.result > 0'" 0 '^read\|a pipe\|512\|100\|5002000\|1$'
check "what a thread slept in" "sql calls.db 'SELECT syscall, descriptor, count(*) FROM off_cpu GROUP BY syscall'" 0 '^poll\|\|99$'

report-trace disk disk.data
ldb-export -q -i disk.data -o disk.db sqlite
check "what disks did" "sql disk.db 'SELECT d.device, d.op, t.tid, d.tid, d.start_ns, d.duration_ns, d.bytes, d.failed FROM disk d
	LEFT JOIN thread t ON t.id = d.thread ORDER BY d.start_ns, d.tid LIMIT 1'" 0 '^nvme0n1\|write\|1\|1\|6000000\|1010000\|4096\|0$'
check "of threads of the kernel" "sql disk.db 'SELECT count(*) FROM disk WHERE thread IS NULL AND tid = 800'" 0 '^2$'
check "and in which sleeps" "sql disk.db 'SELECT group_concat(v.device || v.count || \" \" || v.bytes || \" \" || v.device_ns) FROM off_cpu_disk v
	JOIN off_cpu o ON o.id = v.off_cpu WHERE o.duration_ns = 3000000 ORDER BY o.start_ns'" 0 \
	'^nvme0n12 12288 2000000,sda1 512 100000,nvme0n11 512 1500000$'

# The contents of a trace cannot be trusted.
check "hostile names" "ldb-export -q -i hostile.data -o hostile.db sqlite && sql hostile.db 'PRAGMA integrity_check'" 0 '^ok$'
ok "all texts are UTF-8" eval "sql hostile.db .dump | iconv -f UTF-8 -t UTF-8 >dump.txt"
check "the greatest id" "sql hostile.db 'SELECT req, typeof(req) FROM request'" 0 '^18446744073709551615\|text$'
for trace in empty kernelonly; do
	check "$trace" "ldb-export -q -i $trace.data -o $trace.db sqlite && sql $trace.db 'SELECT count(*) FROM span'" 0 '^0$'
done

# Wrong usage.
check_one_line "not without a file" "ldb-export sqlite" 2 'give -o'
check_one_line "nowhere to write" "ldb-export -o no/such/folder sqlite" 1 'no/such/folder'
# A pipe is used: a tool that fails this test with a device would replace this machine's device.
mkfifo pipe
check_one_line "not over what is no file" "ldb-export -o pipe sqlite" 1 'pipe: not a file'
ok "which is left alone" test -p pipe
ln -s linked.db link.db
echo before >linked.db
check "a link stays one" "ldb-export -q -o link.db sqlite && test -L link.db && sql linked.db 'SELECT count(*) FROM request'" 0 '^202$'
echo before >kept.db
check_one_line "a disk that is full" "(ulimit -f 40; trap '' XFSZ; ldb-export -i many.data -o kept.db sqlite)" 1 'cannot write kept\.db: '
check "leaves what was there" "cat kept.db" 0 '^before$'
check "and nothing else" "ls | grep -c tmp" 1 '^0$'
check "a database is replaced" "ldb-export -q -o many.db sqlite && sql many.db 'SELECT count(*) FROM request'" 0 '^202$'

finish
