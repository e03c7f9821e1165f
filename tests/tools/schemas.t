# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the schemas of JSON documents: they must exist, be strict, and describe what the tools
# print of traces with known content.  What other tests print is checked by
# tests/scripts/check-json.sh.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/json.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
[ -n "$json_python" ] || skip_all "$json_missing"

grep -o '{ "ldb-[a-z-]*", [0-9]* }' "$TOP/tools/cli/document.c" | tr -d '{",}' | sort >formats
for schema in "$SCHEMAS"/ldb-*.json; do
	jq -r '"\(.properties.format.const) \(.properties.version.const)"' "$schema"
done | sort | sed 's/.*/ & /' >schemas
ok "each format has a schema of its version, and there are no others" cmp formats schemas
cut -d' ' -f2 formats | while read -r format; do
	grep -qE "^\.It Li .*\b$format\b" "$TOP/Documentation/ldb-report.1" || echo "$format"
done >unnamed
ok "ldb-report(1) names each format" test ! -s unnamed
check "they are schemas, and strict ones" "json_check" 0
LDB_JSON_KEPT=${LDB_JSON:-}
LDB_JSON=$WORK/json
export LDB_JSON
mkdir json

# Makes most kinds of documents for every trace, and the others for some.
for trace in figure1 empty plain sched kernelonly nokernel twice outlast hostile markup chain calls disk flows noted untagged; do
	report-trace $trace $trace.data || exit 1
	for how in report "report --by=function" "report --mutex" "report --requests" "report --sched" "report --samples" "report --summary" \
		   "timeline --slowest=20" "why" "why --shares --slowest=20" \
		   "why --slice=50" "why --balloons" "why --boxes" "why --queues" "why --cpus" "why --blame" \
		   "why --compare-slices=p90,p50" "why --what-if=snapshot*0.5" "why --what-if=no-preempt" "flows"; do
		# shellcheck disable=SC2086	# a tool with its options
		ldb-$how -q -i $trace.data --json >out 2>err
	done
	for format in chrome ctf folded otlp perfetto pprof speedscope sqlite; do
		ldb-export -q -i $trace.data --json -o $trace.$format $format >out 2>err
	done
done
for req in sched:1 sched:2 sched:3 sched:4 chain:1 chain:2 figure1:4711 calls:100 disk:30 noted:4711; do
	ldb-timeline -q -i ${req%:*}.data --req ${req#*:} --json >out 2>err
done
ldb-why --compare -q nokernel.data figure1.data --json --fail-if p50+5% --fail-if 'max>1ns' >out 2>err
ldb-timeline -q --json figure1.data sched.data >out 2>err
for how in "report --requests" "report --sched" "report --summary" "timeline --slowest=2" "timeline --req=10" why "why --shares"; do
	# shellcheck disable=SC2086
	ldb-$how -q -i untagged.data --request=lookup --json >out 2>err
	# shellcheck disable=SC2086
	ldb-$how -q -i untagged.data --request=loop --json >out 2>err
done
ldb-report --sched -q -i sched.data --request=request_handler --json >out 2>err
report-trace flows slower.data 100000
ldb-flows -q -i slower.data --diff flows.data --json >out 2>err
report-trace noted small.data 1
ldb-why -q -i small.data --json >out 2>err
nr_kept=$(find json -type f | wc -l)
diag "$nr_kept documents"
ok "there is something of each" test "$nr_kept" -gt 200
json_check --unseen "$TOP/tests/json/unseen.txt" json >said
grep -v '^in no document: ' said >wrong
diag "$(cat wrong)"
ok "they are what their schemas say" eval "! grep -qv '^#' wrong"
# ldb-top reads no trace: see e2e/top.t.
grep '^in no document: ' said | grep -v ' ldb-top ' >unseen
diag "$(head -n 30 unseen)"
ok "and have every member that schemas do" test ! -s unseen

# The check must refuse wrong documents.
check "a member that is renamed, removed or of another type is refused" "json_check --mutate json" 0
refused()	# name filter regex [document]
{
	jq "$2" "${4:-f.json}" >changed.json
	check "refused: $1" "json_check changed.json" 1 "$3"
}
ldb-report -q -i figure1.data --json >f.json
ldb-timeline -q -i figure1.data --slowest 3 --json >t.json
refused "one more member" '.more = 1' "'more' was unexpected"
refused "one more, further down" '.functions[1].more = 1' 'functions\[1\].*more'
refused "one less" 'del(.functions[0].p99_ns)' 'functions\[0\].*p99_ns'
refused "a text for a number" '.functions[0].count = "201"' 'functions\[0\].count.*is not of type'
refused "half a nanosecond" '.functions[0].p50_ns = 0.5' "p50_ns.*is not of type 'integer'"
refused "less than nothing" '.functions[0].max_ns = -1' 'max_ns.*less than the minimum'
refused "another version" '.version = 2' 'version.*1 was expected'
refused "no format" 'del(.format)' 'no schema for the format null'
refused "another format" '.format = "ldb-report-locks"' 'ldb-report-locks.*functions'
refused "one of an array of documents" '.[1].segments[0].kind = "nap"' "segments\[0\].kind.*'nap' is not one of" t.json
refused "a kind without what belongs to it" '.[0].segments |= map(if .kind == "lock_wait" then del(.owner) else . end)' \
	"'owner' is a required property" t.json
head -c 400 f.json >changed.json
check "refused: half a document" "json_check changed.json" 1 'not JSON'

echo "ldb-report-functions functions: no reason" >listed
check "what is never seen is said" "json_check --unseen listed f.json" 1 '^in no document: common locks.holders.wakes$'
check "and what is listed as that, and seen" "json_check --unseen listed f.json" 1 'although LIST has it: ldb-report-functions functions$'

LDB_JSON=$LDB_JSON_KEPT
[ ! -d "$LDB_JSON" ] || cp json/* "$LDB_JSON/"
finish
