# SPDX-License-Identifier: GPL-2.0-or-later
# Tests --request on a trace with known content: calls of a function, and turns of an event loop,
# are requests; and all reports on requests treat them like tagged requests.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS
report-trace untagged ldb.data && report-trace figure1 tagged.data || exit 1

ldb-report --requests --request=lookup --top=1000 --json >calls.json
check_jq "what requests are, and how many" calls.json '.requests_of | .what == "lookup" and (.loop | not) and .requests == 81 and
	.inner == 40 and .begun_before == 1'
check_jq "how many calls their threads made, and how many were observed" calls.json '.requests_of | .calls == 2000 and .observed_calls == 20'
check_jq "complete ones, and the one that had not ended" calls.json '.requests[0] | .count == 80 and .incomplete == 1'
check_jq "the class is the function's name" calls.json '[.requests[1:][].class] == ["lookup"]'
check_jq "ids count in order of start" calls.json '[.requests[0].slowest | sort_by(.start_ns)[].req] == [range(1; 81)]'
check_jq "latencies are those of the calls" calls.json '[.requests[0].slowest[].latency_ns] | unique == [1000, 300000, 800000]'
check_jq "and say how exact they are" calls.json '[.requests[0].slowest[].latency_resolution_ns] | unique == [100]'
ldb-report --requests --request=lookup --top=1000 --json >again.json
ok "the numbers are the same each time" cmp -s calls.json again.json
check "the text report says so" "ldb-report --requests --request=lookup" 0 '^Requests are calls of lookup: 81, latencies \+-100 ns \(median\), at most \+-100 ns\.$'
check "also of calls that may have been missed" "ldb-report --requests --request=lookup" 0 '^Their threads made 2\.00 k calls, of which 20 were observed \(1\.0 %\)'
check "and of those inside of others" "ldb-report --requests --request=lookup" 0 '^40(\.0)? more calls were inside of a request'
check "a column has the error of each" "ldb-report --requests --request=lookup" 0 ' latency +\+- +locks'
check_not "but not if requests are tagged" "ldb-report -i tagged.data --requests" 0 ' latency +\+- +locks'

check "a timeline of one" "ldb-timeline --request=lookup --req=19" 0 '^req 19 lookup: 800 us \+-100 ns \(p50'
ldb-timeline --request=lookup --slowest=5 --json >timelines.json
check_jq "the causes add up to the latency" timelines.json 'length == 5 and all(.[]; ([.causes[].total_ns] | add) == .latency_ns)'
check_jq "its function lasts as long as it" timelines.json 'all(.[]; .start_ns as $s | .end_ns as $e | .segments |
	any(.kind == "function" and .name == "lookup" and .start_ns == $s and .end_ns == $e))'
ldb-why --request=lookup --shares --slice=50 --json >shares.json
check_jq "shares add up to the latency, to the nanosecond" shares.json '.requests | length > 3 and all(.[]; ([.shares[].ns] | add) == .latency_ns)'
check "why" "ldb-why --request=lookup --slowest=1" 0 '^req [0-9]+ lookup 800us \+-100ns \(usual 1\.00us\): 749us slower lookup'
check "a class" "ldb-why --request=lookup --class=none" 0 'no request matches'
check "a glob" "ldb-report --requests --request='look*'" 0 'Requests are calls of look\*: 81,'
check "arguments are no part of the name" "ldb-report --requests --request='lookup(r->id)'" 0 'Requests are calls of lookup: 81,'
check "several functions: the outermost call counts" "ldb-report --requests --request=lookup --request=request_handler --json | jq -c '.requests_of | .requests, .inner'" 0 '^81$'
check "only the inner one" "ldb-report --requests --request=request_handler --json | jq .requests_of.requests" 0 '^40$'
check_one_line "no such function" "ldb-why --request=nothing" 1 'no call of a function that matches nothing was observed: ldb-report lists the functions'
check_one_line "functions or turns" "ldb-why --request=loop --request=lookup" 1 'give functions, or loop, or tags'

ldb-report --requests --request=loop --json >loop.json
check_jq "turns of an event loop" loop.json '.requests_of.loop and .requests[0].count == 9 and .requests[0].incomplete == 0 and
	[.requests[1:][].class] == ["loop"]'
check_jq "the stall" loop.json '.requests[0].slowest[0].latency_ns == 8000000'
check "it is explained by what ran" "ldb-why --request=loop --slowest=1" 0 '^req 5 loop 8\.00ms'
check_one_line "a trace without system calls" "ldb-why -i tagged.data --request=loop" 1 'no system calls.*record with --request=loop, or kernel events'

report-trace asked asked.data
check "the recorder was asked for what is not possible: tags" "ldb-report -i asked.data --requests --json 2>asked.err | jq '.requests[0].count'" 0 '^202$'
check_one_line "which is said" "ldb-report -i asked.data" 0 'warning: the program.s tags define the requests.*no system calls'
check_one_line "but an option must be possible" "ldb-report -i asked.data --request=loop" 1 'no system calls'
check "and may be another" "ldb-report -q -i asked.data --requests --request=request_handler --json | jq '.requests[0].count'" 0 '^201$'
check_one_line "the recorder refuses tags with others" "ldb-record -o none.data --request=tags --request=f -- true" 2 'give functions, or loop, or tags'
check_one_line "and too many" "ldb-record -o none.data $(seq -f --request=f%g -s ' ' 65) -- true" 2 'at most 64'

check "calls in place of tags" "ldb-report -i tagged.data --requests --request=request_handler --json | jq '.requests[0].count'" 0 '^201$'
check "tags all the same" "ldb-report -i tagged.data --requests --request=tags --json | jq '.requests[0].count'" 0 '^202$'
check_jq "which have no error" "$(ldb-report -i tagged.data --requests --request=tags --json >tags.json; echo tags.json)" '(has("requests_of") | not) and
	all(.requests[0].slowest[]; has("latency_resolution_ns") | not)'
for format in chrome speedscope perfetto otlp sqlite folded pprof; do
	check "ldb-export $format" "ldb-export --request=lookup --slowest=2 -o out.$format $format" 0
done
check "sqlite has the error" "ldb-export -q --request=lookup -o out.db sqlite && sqlite3 out.db 'select distinct latency_resolution_ns from request where complete'" 0 '^100$'
check "a page" "ldb-why -q --request=lookup -o why.html && head -n 1 why.html" 0 '^<!DOCTYPE html>$'
check "compared with another recording" "ldb-why --compare -q --request=request_handler tagged.data tagged.data" 0

check "who tags nothing is told what to type" "ldb-why" 1 "^  ldb-why --request='lookup'    # 120 calls, together 14\.4 ms, the longest 800 us"
check "the best guess comes first" "ldb-why 2>&1 | sed -n 2p" 0 "request='lookup'"
check "also in ldb-timeline" "ldb-timeline -i ldb.data" 0 "^  ldb-timeline -i ldb\.data --request='lookup'"
check "and in ldb-report" "ldb-report --requests" 0 "^  ldb-report --requests --request='lookup'"
check "of loops, too" "ldb-why" 1 '^  ldb-why --request=loop'
check_one_line "not with -q" "ldb-why -q" 1 'no request was tagged'
finish
