# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the shape of the machine-readable outputs, and sums that must hold in them.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cxx_ldb -O2 -g "$PROGRAMS/queue.cc" -o queue -pthread || exit 1
run_cmd "ldb-record -o t.data -- ./queue 300"
ok "recorded" test "$status" -eq 0

ok "report --json" eval "ldb-report -i t.data --json >report.json"
check_jq "says what it is" report.json '.format == "ldb-report-functions" and .version == 1 and (.functions | length > 0)'
check_jq "with all the keys, of the right type" report.json 'all(.functions[];
	(.function | type) == "string" and has("caller") and has("file") and has("line") and
	([.count, .p50_ns, .p99_ns, .p999_ns, .p9999_ns, .max_ns, .mean_ns, .total_ns, .resolution_ns] | all(type == "number")))'
check_jq "percentiles in order" report.json 'all(.functions[] | select(.count > 0); .p50_ns <= .p99_ns and .p99_ns <= .p999_ns
	and .p999_ns <= .p9999_ns and .p9999_ns <= .max_ns and .mean_ns <= .max_ns)'
check_jq "a row without a count is one of open invocations" report.json 'all(.functions[]; .count > 0 or .open > 0)'
check_jq "total is count times mean" report.json 'all(.functions[]; (.total_ns - .count * .mean_ns | fabs) <= .count + .total_ns / 1000)'
check_jq "no negative time" report.json 'all(.functions[] | .p50_ns, .total_ns, .resolution_ns; . >= 0)'

ok "report --csv" eval "ldb-report -i t.data --csv >report.csv"
ok "as many rows, and a heading" eval \
	'test "$(wc -l <report.csv)" -ge "$(jq ".functions | length" report.json)" && head -n 1 report.csv | grep -q function'
for by in count p50 p99 p999 p9999 max mean total; do
	ok "--sort $by" eval "ldb-report -i t.data --json --sort $by >sorted.json"
	key=${by}_ns
	[ "$by" != count ] || key=count
	check_jq "sorted by $by, largest first" sorted.json "[.functions[].$key] | . == (sort | reverse)"
done
check "--top 3 shows three" "ldb-report -i t.data --json --top 3 | jq '.functions | length'" 0 '^3$'

for what in mutex requests; do
	ok "report --$what --json" eval "ldb-report -i t.data --$what --json >$what.json"
	ok "is JSON" eval "jq -e . $what.json >/dev/null"
	check "--$what --csv" "ldb-report -i t.data --$what --csv | head -n 1" 0 ','
done

# Request 300 is one of the slow ones (every 50th) and ends last.
ok "timeline --req 300 --json" eval "ldb-timeline -i t.data --req 300 --json >t.json"
check_jq "an object with the keys" t.json 'type == "object" and .req == 300 and
	([.start_ns, .end_ns, .latency_ns] | all(type == "number")) and (.segments | type) == "array"'
check_jq "every segment has its keys" t.json '.segments | length > 0 and all(.[];
	has("tid") and has("thread") and (.kind | type) == "string" and has("name") and has("file") and has("line")
	and .start_ns <= .end_ns)'
check_jq "it has functions" t.json 'any(.segments[]; .kind == "function" and (.name | test("work")))'
check_jq "it has queues" t.json 'any(.segments[]; .kind == "queue")'
check_jq "it touched several threads" t.json '[.segments[].tid] | unique | length >= 2'
check_jq "and took over 3 ms" t.json '.latency_ns > 3000000 and .latency_ns == .end_ns - .start_ns'
check "--slowest 3" "ldb-timeline -i t.data --slowest 3" 0 'work'
check_one_line "a request that is not there" "ldb-timeline -i t.data --req 999999" 1 '^ldb-timeline: .*999999'

ok "nothing else is on stdout" eval "ldb-report -i t.data --json 2>/dev/null | jq -e . >/dev/null"

finish
