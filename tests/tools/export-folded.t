# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-export's stacks for flame graph programs: sums, and a flame graph made from them.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export-same.sh"
. "$TOP/tests/lib/browser.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
report-trace figure1 ldb.data && report-trace sched sched.data && report-trace hostile hostile.data &&
	report-trace empty empty.data && bench-trace many.data 60000 >many.txt || exit 1

# Sums the rows of a file by innermost frame.
by_leaf()	# file
{
	sed 's/ \([0-9]*\)$/	\1/; s/^[^	]*;//' "$1" | awk -F'\t' '{ ns[$1] += $2 } END { for (f in ns) print f "\t" ns[f] }' | sort
}

for trace in ldb sched many; do
	check "$trace: exported" "ldb-export -q -i $trace.data -o $trace.folded folded" 0 '^$'
	ldb-export -q -i $trace.data -o $trace.db sqlite
	check_not "$trace: stacks and numbers, nothing else" "cat $trace.folded" 0 '^$|^[^ ;]*$|;;| 0$|[^0-9]$'
	check "$trace: each stack once" "sed 's/ [0-9]*\$//' $trace.folded | sort | uniq -d | wc -l" 0 '^0$'
	by_leaf $trace.folded >got
	rows $trace.db 'SELECT f.name, sum(self_ns) FROM span s JOIN function f ON f.id = s.function
		GROUP BY f.name HAVING sum(self_ns) > 0' >want
	same "$trace: self time by function, as in the spans" want got
	awk '{ sum += $NF } END { print sum }' $trace.folded >got
	rows $trace.db 'SELECT sum(end_ns - start_ns) FROM span WHERE parent IS NULL' >want
	same "$trace: all together are the outermost spans" want got
done
ldb-report -q --by=function --json | jq -r '.functions[] | [.function, .total_ns] | @tsv' | sort >want
by_leaf ldb.folded >got
same "no calls below: the totals of the report" want got

ldb-export -q -i sched.data --causes -o causes.folded folded
check "--causes: what a function waited for" "cat causes.folded" 0 '^main;request_handler;\[lock db_lock\] 10010000$'
check "who took its CPU" "cat causes.folded" 0 '^snapshotter;snapshot;\[preempted by hog\] 9995000$'
check "what it slept in" "cat causes.folded" 0 '^main;request_handler;\[disk\] 1000000$'
check "a futex that is no lock" "cat causes.folded" 0 '^main;request_handler;\[futex raw_lock\] 4990000$'
check "also outside of functions" "cat causes.folded" 0 '^main;\[preempted\] 499000$'
check "a CPU quota is told apart" "cat causes.folded" 0 '^main;\[throttled\] 999000$'
# If the causes, in brackets, are removed, the sums are those of the export without --causes.
sed 's/;\[[^;]*\] / /' causes.folded | grep -v '^[a-z]* [0-9]*$' | awk '{ ns[$1] += $2 } END { for (s in ns) print s " " ns[s] }' | sort >got
sort sched.folded >want
same "no time is lost or made" want got

check "--thread" "ldb-export -q -i sched.data --thread='snap*' folded" 0 '^snapshotter;snapshot 32000000$'
check "--req" "ldb-export -q --req=4711 folded" 0 '^main;request_handler 12699900$'
check "--slowest" "ldb-export -q --slowest=1 folded | wc -l" 0 '^1$'
check "--from" "ldb-export -q --from=29ms folded" 0 '^main;request_handler 12699900$'
check "nothing to fold" "ldb-export -q -i empty.data folded | wc -c" 0 '^0$'
ldb-export -q -i hostile.data --causes folded >hostile.folded
check "nothing steers the terminal" "tr -d '\\n -~' <hostile.folded | wc -c" 0 '^0$'
check "a name has no part of a stack in it" "cat hostile.folded" 0 '^\?\]0\?owned[?0]*;[^;]* [0-9]*$'
[ ! -w /dev/full ] || check_one_line "a full disk" "ldb-export -o /dev/full folded" 1 'cannot write'

if has_browser; then
	CHROMIUM=$(command -v chromium)
	NODE_PATH=$BROWSER_MODULES/node_modules
	export CHROMIUM NODE_PATH
	for trace in sched many; do
		ok "$trace: d3-flame-graph draws it" eval "node '$BROWSER/folded.js' '$TOP/tools/page/vendor' $trace.folded >drawn"
		# Here no function calls itself, so the time below a name is the sum of its spans.
		[ $trace != many ] || continue
		grep -v '	root	' drawn | cut -f2,3 | sort >got
		rows $trace.db 'SELECT f.name, sum(end_ns - start_ns) FROM span s JOIN function f ON f.id = s.function
			GROUP BY f.name UNION SELECT t.name, sum(s.end_ns - s.start_ns) FROM span s
			JOIN thread t ON t.id = s.thread WHERE s.parent IS NULL GROUP BY t.name' >want
		same "$trace: and says how long each function took" want got
	done
	check "many: all of it" "grep '	root	' drawn" 0 "	$(awk '{ sum += $NF } END { print sum }' many.folded)\$"
else
	skip "a flame graph is drawn" "no browser: $browser_why"
fi

finish
