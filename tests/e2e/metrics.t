# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-record --metrics: the percentiles and counts for monitoring are those of a trace of the
# same run, the former within 2 %, as OpenMetrics text and as OTLP's JSON; without -o no trace is
# written.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/server.c" -o server -pthread || exit 1

# Prints "NAME QUANTILE NS" of a family.
quantiles()	# file family label
{
	sed -n "s/^$2_quantile_seconds{\($3=\"\([^\"]*\)\",\)\{0,1\}quantile=\"\([0-9.]*\)\"} \(.*\)/\2 \3 \4/p" "$1" |
		awk '{ printf "%s %s %.0f\n", (NF > 2 ? $1 : "all"), $(NF - 1), $NF * 1e9 }' | sort
}

within()	# what want got: each value of want is in got, to within 2 % and 20 ns
{
	awk -v what="$1" 'NR == FNR { want[$1 " " $2] = $3; next } { got[$1 " " $2] = $3 }
		END {
			for (k in want) {
				off = got[k] - want[k]
				if (off < 0) off = -off
				if (!(k in got) || off > want[k] * 0.02 + 20) { print what, k, want[k], got[k]; bad = 1 }
				n++
			}
			print what ": " n + 0 " compared"
			exit bad || !n
		}' "$2" "$3" >within.out
	within_status=$?
	diag "$(cat within.out)"
	return $within_status
}

for form in txt json; do
	ldb-record -q -o $form.data --metrics metrics.$form -- ./server 4 >server.out 2>rec.err
	status=$?
	ok "$form: recorded, with a trace" test "$status" -eq 0
	diag "$(cat rec.err)"
done
check "it ends as it should" "tail -n 1 metrics.txt" 0 '^# EOF$'
ok "only its owner may read it" test "$(stat -c %a metrics.txt)" = 600
check_not "each series once" "grep -v '^#' metrics.txt | sed 's/ [^ ]*\$//' | sort | uniq -d" 0 .

ldb-report -q -i txt.data --by=function --json | jq -r '.functions[] | select(.count > 0) |
	"\(.function) 0.5 \(.p50_ns)", "\(.function) 0.99 \(.p99_ns)", "\(.function) 0.999 \(.p999_ns)"' >want
quantiles metrics.txt ldb_function_duration function >got
ok "functions: as in the trace" within functions want got
ldb-report -q -i txt.data --mutex --json | jq -r '.locks[] | select(.waits.count > 0 and .waits.failed == 0) | .lock = (if .name == "" then .lock else .name end) |
	"\(.lock) 0.5 \(.waits.p50_ns)", "\(.lock) 0.99 \(.waits.p99_ns)"' >want
quantiles metrics.txt ldb_lock_wait lock >got
if [ -s want ]; then
	ok "waits for locks" within locks want got
else
	skip "waits for locks" "there were none"
fi
ldb-report -q -i txt.data --requests --csv >requests.csv
ldb-export -q -i txt.data -o txt.db sqlite
for q in 0.5 0.9 0.99 0.999; do
	sqlite3 txt.db "SELECT end_ns - start_ns FROM request WHERE complete ORDER BY 1" |
		awk -v q=$q '{ v[NR] = $1 } END { n = NR * q; i = int(n) < n ? int(n) + 1 : int(n); print "all", q, v[i] }'
done >want
quantiles metrics.txt ldb_request_duration class >got
ok "requests" within requests want got
if [ "$(ldb-report -q -i txt.data --summary --json | jq -r .kernel_events)" = none ]; then
	skip "waits for a CPU" "there are no kernel events"
else
	ldb-report -q -i txt.data --sched --json | jq -r '.all.delays | "all 0.5 \(.p50_ns)", "all 0.99 \(.p99_ns)"' >want
	quantiles metrics.txt ldb_cpu_wait none >got
	ok "waits for a CPU" within cpu want got
	check "as many of them" "sed -n 's/^ldb_cpu_wait_seconds_count //p' metrics.txt" 0 \
		"^$(ldb-report -q -i txt.data --sched --json | jq .all.delays.count)\$"
fi
slow=$(sed -n 's/^ldb_slowest_request_seconds{.*request="\([0-9]*\)",rank="1"} .*/\1/p' metrics.txt)
slowest=$(sqlite3 txt.db "SELECT req FROM request WHERE complete ORDER BY end_ns - start_ns DESC LIMIT 5")
ok "the slowest requests are named" eval "echo \"$slowest\" | grep -qx '$slow'"

check_jq "OTLP: histograms" metrics.json '[.resourceMetrics[].scopeMetrics[].metrics[] | select(.histogram)] | length >= 2'
check_jq "of cumulative sums, with one bucket more than bounds" metrics.json \
	'[.resourceMetrics[].scopeMetrics[].metrics[].histogram | .aggregationTemporality == 2 and
	(.dataPoints | all(.[]; (.bucketCounts | length) == (.explicitBounds | length) + 1 and
	(.bucketCounts | map(tonumber) | add) == (.count | tonumber) and (.explicitBounds | . == sort)))] | all'
jq -r '.resourceMetrics[].scopeMetrics[].metrics[] | select(.name == "ldb.function.duration").histogram.dataPoints[] |
	"\(.attributes[0].value.stringValue) count \(.count)"' metrics.json | sort >got
ldb-report -q -i json.data --by=function --json | jq -r '.functions[] | select(.count > 0) | "\(.function) count \(.count)"' | sort >want
ok "OTLP: the counts of functions" cmp want got

# Without -o there is no trace.
rm -f ldb.data
"$BUILD/bin/ldb-record" --metrics only.txt -- ./server 2 >server.out 2>rec.err
status=$?
ok "without -o: recorded" test "$status" -eq 0
ok "the program is undisturbed" test "$(cat server.out)" = "server: served, 0 stalls"
ok "no trace" test ! -e ldb.data
check "but sums" "cat only.txt" 0 '^ldb_request_duration_seconds_count\{class=""\} [1-9]'
check_one_line "a folder that is not there" "$BUILD/bin/ldb-record --metrics no/x.txt -- ./server 1 >/dev/null" 1 \
	'^ldb-record: warning: cannot write no/x\.txt: No such file'
finish
