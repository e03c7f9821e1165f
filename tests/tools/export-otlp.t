# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-export otlp: messages must have the published schema, and the numbers of ldb-timeline.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export-same.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
report-trace figure1 ldb.data && report-trace sched sched.data && report-trace hostile hostile.data &&
	report-trace empty empty.data && bench-trace many.data 60000 >many.txt || exit 1

# Prints all spans, one a line.
spans()	# file
{
	jq -c '.resourceSpans[].scopeSpans[].spans[]' "$1"
}

# Makes an object of a span's attributes, for jq.
attributes='def attributes: [.attributes[] | { key, value: (.value | to_entries[0] |
	if .key == "intValue" then .value | tonumber else .value end) }] | from_entries;'

for trace in ldb sched many hostile; do
	check "$trace: exported" "ldb-export -q -i $trace.data -o $trace.jsonl --all otlp" 0 '^$'
	check "$trace: a message a line, as the schema has them" \
		"jq -c -f '$TOP/tests/tools/otlp-schema.jq' $trace.jsonl | sort | uniq -c" 0 "^ *$(wc -l <$trace.jsonl) \\[\\]\$"
	ok "$trace: there are some" test -s $trace.jsonl
	spans $trace.jsonl >$trace.spans
	jq -s '. as $all | ([.[].spanId] | unique | length) == ($all | length)' $trace.spans >unique.json
	check_jq "$trace: no span id twice" unique.json .
	jq -s 'group_by(.traceId) | all(.[]; [.[] | select(has("parentSpanId") | not)] as $roots | ($roots | length) == 1 and
		all(.[] | select(has("parentSpanId")); .parentSpanId == $roots[0].spanId and
			(.startTimeUnixNano | tonumber) >= ($roots[0].startTimeUnixNano | tonumber) and
			(.endTimeUnixNano | tonumber) <= ($roots[0].endTimeUnixNano | tonumber)))' $trace.spans >tree.json
	check_jq "$trace: one root each, and the other spans below and inside it" tree.json .
	ldb-report -q -i $trace.data --requests --json >requests.json
	jq -s --slurpfile r requests.json "$attributes"' [.[] | select(has("parentSpanId") | not)] |
		(length == $r[0].requests[0].count + $r[0].requests[0].incomplete) and
		(map(select(attributes["ldb.request.complete"])) |
		 (map((.endTimeUnixNano | tonumber) - (.startTimeUnixNano | tonumber)) | add) == $r[0].requests[0].total_ns and
		 (map(attributes["ldb.latency_ns"]) | add) == $r[0].requests[0].total_ns)' $trace.spans >sums.json
	check_jq "$trace: every request, and their sum is the report's" sums.json .
done

# Slow requests have causes, as in ldb-timeline.
ldb-export -q -i sched.data --slowest=5 otlp >slow.jsonl
spans slow.jsonl >slow.spans
ldb-timeline -q -i sched.data --slowest=5 --json | jq -r '.[] | .req as $q | .start_ns as $s | .latency_ns as $l |
	.lock_wait_ns as $w | .causes[] | [$q, $s + 5, $l, $w, .kind, .name // "", .total_ns, .count, .holder // 0,
	.holder_function // "", .file // "", .line // 0] | @tsv' | sort >want
jq -r "$attributes"' select(has("parentSpanId") | not) | attributes as $r | .startTimeUnixNano as $s | .events[] | attributes |
	[$r["ldb.request.id"], $s, $r["ldb.latency_ns"], $r["ldb.lock_wait_ns"], .["ldb.kind"], .["ldb.name"] // "",
	 .["ldb.total_ns"], .["ldb.count"], .["ldb.holder.tid"] // 0, .["ldb.holder.function"] // "",
	 (if .["ldb.state"] then "" else .["code.file.path"] // "" end),
	 if .["ldb.state"] then 0 else .["code.line.number"] // 0 end] | @tsv' slow.spans | sort >got
same "causes, to the nanosecond" want got
check "who held the lock had lost its CPU" "jq -c '$attributes"' select(has("events")) | .events[] | attributes |
	[.["ldb.holder.off_cpu"], .["ldb.holder.off_cpu_by"]]'"' slow.spans" 0 '\["preempted","hog \(pid 900\)"\]'
check "waits are events of their part" "jq -r '$attributes"' select(has("parentSpanId")) | .events[]? |
	.name + " " + .timeUnixNano + " " + (attributes["ldb.duration_ns"] | tostring)'"' slow.spans" 0 \
	'^ldb\.lock_wait 10002005 10048000$'

# Interruptions are counted as in ldb-timeline.
report-trace chain chain.data
ldb-export -q -i chain.data --req=1 otlp | spans /dev/stdin | jq -r "$attributes"' select(has("parentSpanId") | not) |
	attributes | [.["ldb.page_faults"], .["ldb.major_faults"], .["ldb.interrupts"], .["ldb.interrupt_ns"]] | @tsv' >got
ldb-timeline -q -i chain.data --req=1 --json | jq -r '[.page_faults, .major_faults, .interrupts,
	.interrupt_ns] | @tsv' >want
same "page faults and interrupts, as ldb-timeline counts them" want got

# Each interval in which a request was in a thread or in a queue is a span.
jq -r 'select(has("parentSpanId")) | (.attributes[] | select(.key == "ldb.part") | .value.stringValue) + "	" +
	((.endTimeUnixNano | tonumber) - (.startTimeUnixNano | tonumber) | tostring)' many.spans | sort >got
ldb-export -q -i many.data -o many.db sqlite
rows many.db 'SELECT kind, duration_ns FROM part' >want
same "a span for each part" want got

# By default only slow requests are exported.
ldb-export -q -i many.data otlp | spans /dev/stdin | jq -r 'select(has("parentSpanId") | not) | .name + "	" +
	((.endTimeUnixNano | tonumber) - (.startTimeUnixNano | tonumber) | tostring)' | sort >got
ldb-report -q -i many.data --requests --json >requests.json
for class in $(jq -r '.requests[] | select(.class != null and .count > 0) | .class' requests.json); do
	p99=$(jq ".requests[] | select(.class == \"$class\") | .p99_ns" requests.json)
	rows many.db "SELECT class, latency_ns FROM request WHERE class = '$class' AND complete AND latency_ns >= $p99"
done | sort >want
same "by default those at or over the 99th percentile of their class" want got

# Ids are the same each time, differ between recordings, and are the program's own if it names a
# trace.
ldb-export -q --all otlp >again.jsonl
ok "the same ids again" cmp ldb.jsonl again.jsonl
report-trace otherhost other.data && ldb-export -q -i other.data --all otlp >other.jsonl
spans other.jsonl >other.spans
check "the same requests of another recording have others" "jq -r '.spanId, .traceId' ldb.spans other.spans | sort | uniq -c |
	awk '{ print \$1 }' | sort | uniq -c" 0 "^ *$((2 * $(wc -l <ldb.spans))) 1\$"
check "the same spans, though" "wc -l <other.spans" 0 "^$(wc -l <ldb.spans)\$"
cc_ldb -O1 "$PROGRAMS/requests.c" -o requests && ldb-record -o own.data -- ./requests 20 >/dev/null 2>&1
ldb-export -q -i own.data --all otlp >own.jsonl
spans own.jsonl >own.spans
id='select(.attributes[] | .key == "ldb.request.id" and .value.stringValue'
check "the trace the program named" "jq -r '$id == \"1\") | .traceId + \" \" + .parentSpanId' own.spans" 0 \
	'^30313233343536373839616263646566 3736353433323130$'
check "for all of the request's spans" "jq -r .traceId own.spans | grep -c '^30313233343536373839616263646566\$'" 0 '^2$'
check "and for no other" "jq -r '$id == \"2\") | has(\"parentSpanId\")' own.spans" 0 '^false$'
check "the process" "jq -r '.resourceSpans[0].resource.attributes[] | .key + \"=\" + (.value.stringValue // .value.intValue)' own.jsonl" \
	0 "^service\\.name=requests\$"
jq -s 'all(.[]; (.startTimeUnixNano | tonumber) / 1e9 - now | fabs < 86400)' own.spans >day.json
check_jq "times are of the day" day.json .

check "--req" "ldb-export -q --req=4711 otlp | wc -l" 0 '^2$'
check "--class" "ldb-export -q --class=GET otlp | jq -r '.resourceSpans[0].scopeSpans[0].spans[0].name' | sort -u" 0 '^GET$'
check "--from" "ldb-export -q --from=29ms --all otlp | wc -l" 0 '^2$'
check "an empty trace" "ldb-export -q -i empty.data otlp | wc -c" 0 '^0$'
[ ! -w /dev/full ] || check_one_line "a full disk" "ldb-export -o /dev/full --all otlp" 1 'cannot write'

finish
