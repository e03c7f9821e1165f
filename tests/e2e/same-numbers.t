# SPDX-License-Identifier: GPL-2.0-or-later
# Tests every output of one recorded trace: the numbers must be the same, to the nanosecond.
# Text for people is rounded: there the number must be within what the digits say.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export-same.sh"
. "$TOP/tests/lib/browser.sh"
need_build
COLUMNS=300
export COLUMNS

# This program has queues, condition variables, threads that wait for each other, and few
# invocations.
cxx_ldb -O2 -g "$PROGRAMS/queue.cc" -o queue -pthread || exit 1
run_cmd "ldb-record -o ldb.data -- ./queue 300"
ok "recorded" test "$status" -eq 0
ldb-report -q --json >functions.json
ldb-report -q --by=function --json >by-function.json
ldb-report -q --mutex --json >locks.json
ldb-report -q --requests --json >requests.json
ldb-timeline -q --slowest=20 --json >timelines.json
check_jq "there is something of each" requests.json '.requests[0].count > 100 and (.requests[0].slowest | length) > 0'
ok "functions, locks, segments" eval "jq -e '.functions | length > 2' functions.json && jq -e '.locks | length > 0' locks.json &&
	jq -e 'all(.[]; .segments | length > 2)' timelines.json >jq.out"

# This compares JSON and CSV; SQLite reads the CSV.
csv()	# file columns...: prints the rows, with tabs between the columns
{
	csv_file=$1
	shift
	sqlite3 -bail -separator "$(printf '\t')" :memory: '.mode csv' ".import $csv_file t" '.mode tabs' "SELECT $* FROM t" | sort
}

ldb-report -q --csv >functions.csv
jq -r '.functions[] | [.function, .line, .count, .p50_ns, .p99_ns, .p999_ns, .p9999_ns, .max_ns, .mean_ns, .total_ns,
	.resolution_ns, .resolution_max_ns, .open] | @tsv' functions.json | sort >want
csv functions.csv 'function, line, count, p50_ns, p99_ns, p999_ns, p9999_ns, max_ns, mean_ns, total_ns, resolution_ns,
	resolution_max_ns, open' >got
same "CSV: functions" want got
ldb-report -q --mutex --csv >locks.csv
jq -r '.locks[] | .lock as $l | .sites[] | [$l, .op, .line, .count, .p50_ns, .p99_ns, .max_ns, .total_ns] | @tsv' locks.json | sort >want
csv locks.csv 'lock, op, line, count, p50_ns, p99_ns, max_ns, total_ns' >got
same "CSV: locks" want got
ldb-report -q --requests --csv >requests.csv
jq -r '.requests[0].slowest[] | [.req, .start_ns, .end_ns, .latency_ns, .lock_wait_ns, .queue_ns, .top_function, .top_function_ns] |
	@tsv' requests.json | sort >want
csv requests.csv 'req, start_ns, end_ns, latency_ns, lock_wait_ns, queue_ns, top_function, top_function_ns' >got
same "CSV: requests" want got
ldb-timeline -q --slowest=20 --csv >timelines.csv
jq -r '.[] | .req as $r | .segments[] | [$r, .tid, .kind, .start_ns, .end_ns, .name, .resolution_ns] | @tsv' timelines.json | sort >want
csv timelines.csv 'req, tid, kind, start_ns, end_ns, name, resolution_ns' >got
same "CSV: segments" want got

# Report and timeline.
jq -r '.requests[0].slowest[] | [.req, .start_ns, .latency_ns, .lock_wait_ns, .queue_ns] | @tsv' requests.json | head -n 10 >want
jq -r '.[] | [.req, .start_ns, .latency_ns, .lock_wait_ns, .queue_ns] | @tsv' timelines.json | head -n "$(wc -l <want)" >got
same "the slowest requests of ldb-report are those of ldb-timeline" want got
jq -r '.[] | [.req, .latency_ns] | @tsv' timelines.json >want
jq -r '.[] | [.req, ([.causes[].total_ns] | add)] | @tsv' timelines.json >got
same "causes add up to the latency" want got

# Tests text: prints each number of the text that is not the rounded number of JSON.
rounded='
function unit(text) {
	return text ~ /ns$/ ? 1 : text ~ /us$/ ? 1e3 : text ~ /ms$/ ? 1e6 : text ~ /[0-9]s$/ ? 1e9 : text ~ /k$/ ? 1e3 : 1
}
function is_wrong(text, exact,	digits, half) {
	digits = text
	sub(/[a-z]*$/, "", digits)
	half = 0.5
	if (index(digits, "."))
		half *= 10 ^ -(length(digits) - index(digits, "."))
	return exact < (digits - half) * unit(text) - 0.001 || exact > (digits + half) * unit(text) + 0.001
}
{
	n = split($1, text, " ")
	for (i = 1; i <= n; i++) {
		nr++
		if (is_wrong(text[i], $(i + 1)))
			print "line " NR ": " text[i] " is not " $(i + 1)
	}
}
END { print nr " numbers" }'
ldb-report -q --top=1000 | sed -n '/^ *count /,$p' | sed 1d | awk 'NF > 9 && $1 ~ /^[0-9]/ && $2 ~ /s$/ { print $1, $2, $3, $4, $5, $6, $7, $8, $9 }' >text
jq -r '.functions[] | select(.count > 0) | [.count, .p50_ns, .p99_ns, .p999_ns, .p9999_ns, .max_ns, .mean_ns, .total_ns, .resolution_ns] |
	@tsv' functions.json >numbers
check "text: functions" "paste text numbers | awk -F'\\t' '$rounded'" 0 "^$(($(wc -l <numbers) * 9)) numbers\$"
check_not "none is another number" "paste text numbers | awk -F'\\t' '$rounded'" 0 'is not'
for req in $(jq '.[].req' timelines.json | head -n 5); do
	ldb-timeline -q --req "$req" | sed -n '1s/^req [0-9]*: \([0-9.]*\) \([mun]*s\) .*/\1\2/p'
done >text
jq '.[].latency_ns' timelines.json | head -n 5 >numbers
check "text: latencies" "paste text numbers | awk -F'\\t' '$rounded'" 0 '^5 numbers$'
check_not "none is another number" "paste text numbers | awk -F'\\t' '$rounded'" 0 'is not'

# Tests exports: each must say that it wrote the same numbers as the reports.
functions_ns=$(jq '[.functions[].total_ns] | add' functions.json)
latencies_ns=$(jq '.requests[0].total_ns' requests.json)
jq -n --slurpfile f functions.json --slurpfile l locks.json '{ functions: [$f[0].functions[].count] | add, open: [$f[0].functions[].open] | add,
	function_ns: [$f[0].functions[].total_ns] | add, waits: [$l[0].locks[].waits.count] | add, wait_ns: [$l[0].locks[].waits.total_ns] | add,
	holds: [$l[0].locks[].holds.count] | add, hold_ns: [$l[0].locks[].holds.total_ns] | add }' >want.json
for format in perfetto chrome ctf sqlite; do
	ok "$format: exported" eval "ldb-export -q --json -o out.$format $format >$format.json"
	jq '.written | { functions: (.function.count - .function.open), open: .function.open,
		function_ns: .function.total_ns, waits: (.lock_wait.count + .futex_wait.count),
		wait_ns: (.lock_wait.total_ns + .futex_wait.total_ns), holds: .lock_hold.count,
		hold_ns: .lock_hold.total_ns }' $format.json >got.json
	same "$format: says that it wrote what the reports have" want.json got.json
done
for format in folded speedscope pprof; do
	ldb-export -q --json -o out.$format $format >$format.json
	check "$format: says that it wrote what the reports have" "jq .written.function.total_ns $format.json" 0 "^$functions_ns\$"
done

# The files must also contain these numbers.
sqlite_as_report out.sqlite
sqlite_as_locks out.sqlite
sqlite_as_requests out.sqlite
if ldb-report -q --sched --json | jq -e 'any(.threads[]; .runnable_ns + .preempted_ns > 0)' >jq.out 2>&1; then
	sqlite_as_sched out.sqlite
else
	skip "waits for a CPU" "no kernel events here"
fi
for req in $(jq '.[].req' timelines.json | head -n 5); do
	sqlite_as_timeline out.sqlite "$req"
done
rows out.sqlite 'SELECT f.name, t.tid, s.start_ns, s.end_ns - s.start_ns, s.duration_ns FROM span s
	JOIN function f ON f.id = s.function JOIN thread t ON t.id = s.thread' >spans
rows out.sqlite 'SELECT f.name, sum(self_ns) FROM span s JOIN function f ON f.id = s.function GROUP BY f.name
	HAVING sum(self_ns) > 0' >own
jq -r '.traceEvents[] | select(.cat == "function") | [.name, .tid, (.ts * 1000 | round), (.dur * 1000 | round),
	.args.duration_ns] | @tsv' out.chrome | sort >got
same "chrome: the spans" spans got
# In speedscope's format a thread is a profile, whose name ends with the tid.
jq -r '.shared.frames as $f | .profiles[] | (.name | split(" ")[-1]) as $tid | .events | reduce .[] as $e ({ open: [], out: [] };
	if $e.type == "O" then .open += [$e] else .open[-1] as $o | .open |= .[:-1] |
	.out += [[$f[$e.frame].name, $tid, $o.at, $e.at - $o.at]] end) | .out[] | @tsv' out.speedscope | sort >got
cut -f1-4 spans | sort >want
same "speedscope: the spans" want got
sed 's/ \([0-9]*\)$/	\1/; s/^[^	]*;//' out.folded | awk -F'\t' '{ ns[$1] += $2 } END { for (f in ns) print f "\t" ns[f] }' | sort >got
same "folded: the self times of functions" own got
if command -v go >/dev/null; then
	HOME=$WORK go tool pprof -top -unit=ns -nodefraction=0 -nodecount=0 out.pprof 2>pprof.err | sed '1,/ flat  flat%/d' |
		awk '{ ns = $1; sub(/ns$/, "", ns); $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); if (ns > 0) print $0 "\t" ns }' | sort >got
	# A wait belongs to the function in which it began.  By the ends of spans alone, it might
	# belong to a caller.
	ldb-export -q --causes -o out.causes folded
	sed 's/;\[[^;]*\]\( [0-9]*\)$/\1/; s/ \([0-9]*\)$/	\1/' out.causes | awk -F'\t' '{ n = split($1, f, ";") }
		n > 1 { ns[f[n]] += $2 } END { for (k in ns) if (ns[k]) print k "\t" ns[k] }' | sort >own
	same "pprof: the self times of functions" own got
else
	skip "pprof" "no go tool pprof: apt-get install golang-go"
fi
if command -v protoc >/dev/null; then
	protoc --proto_path="$TOP/tests/tools" --decode=Trace perfetto.proto <out.perfetto 2>protoc.err |
		awk -f "$TOP/tests/tools/perfetto-check.awk" >perfetto.txt
	check "perfetto: functions" "cat perfetto.txt" 0 "^sum function: $functions_ns\$"
	check "perfetto: requests" "cat perfetto.txt" 0 "^sum request instances: $latencies_ns\$"
else
	skip "perfetto" "no protoc: apt-get install protobuf-compiler"
fi
if command -v babeltrace2 >/dev/null; then
	babeltrace2 out.ctf 2>babeltrace.err | sed -n 's/.* function_begin: { vtid = \([0-9]*\),.* name = "\([^"]*\)", duration_ns = \([0-9]*\),.*/\2	\1	\3/p' |
		sort >got
	cut -f1,2,5 spans | sort >want
	same "ctf: the spans" want got
else
	skip "ctf" "no babeltrace2"
fi
jq -r '.[] | [.req, .start_ns, .latency_ns] | @tsv' timelines.json | sort >want
ldb-export -q --slowest=20 otlp | jq -r '.resourceSpans[0].scopeSpans[0].spans[0] | [(.attributes[] | select(.key == "ldb.request.id").value.stringValue),
	.startTimeUnixNano, .endTimeUnixNano] | @tsv' |
	awk -F'\t' -v day="$(ldb-report -q --json-summary | sed -n 's/.*"realtime_ns": \([0-9]*\).*/\1/p')" '
	function less(a, b,	n, d) {	# numbers have 19 digits, which are too many for awk
		n = length(a) - 9
		d = (substr(a, 1, n) - substr(b, 1, length(b) - 9)) * 1000000000
		return d + substr(a, n + 1) - substr(b, length(b) - 8)
	}
	{ printf("%s\t%.0f\t%.0f\n", $1, less($2, day), less($3, $2)) }' | sort >got
same "otlp: the requests" want got

# Pages.
if has_browser; then
	CHROMIUM=$(command -v chromium)
	NODE_PATH=$BROWSER_MODULES/node_modules
	export CHROMIUM NODE_PATH
	ldb-timeline -q -o timeline.html && ldb-report -q -o report.html
	node "$BROWSER/columns.js" timeline.html spans start length length+extra | sort >got
	cut -f3-5 spans | sort >want
	same "the timeline's page: the spans" want got
	node "$BROWSER/columns.js" timeline.html requests id_low start length | sort >got
	rows out.sqlite 'SELECT req, start_ns, latency_ns FROM request' >want
	same "the timeline's page: the requests" want got
	node "$BROWSER/columns.js" report.html requests id_low start latency | sort >got
	same "the report's page: the requests" want got
	node "$BROWSER/columns.js" report.html calls sum resolution open | sort >got
	rows out.sqlite 'SELECT duration_ns, resolution_ns, open FROM span' | awk -F'\t' '$3 { $1 = 0; $2 = 0 } { print $1 "\t" $2 "\t" $3 }' | sort >want
	same "the report's page: the functions" want got
else
	skip "pages" "no browser: $browser_why"
fi

finish
