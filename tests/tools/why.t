# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-why on traces with known content.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS
report-trace figure1 ldb.data && report-trace plain plain.data && report-trace hostile hostile.data ||
	exit 1

check "the sentence" "ldb-why" 0 '^req 4711 12\.8ms \(usual 500ns\): 12\.5ms waiting for lock db_lock, held by snapshot\(\) of thread snapshotter 2 for 12\.5ms$'
check "the reference is said" "ldb-why" 0 '^1 of 2 requests, 12\.8ms to 12\.8ms, against the usual 500ns \(1 requests\)$'
check "the cause" "ldb-why" 0 '^ +1 +1 +12\.5ms +12\.5ms  Locking +lock: db_lock$'
check "what helps, and whom it concerns" "ldb-why" 0 '^Locking: .* \(in the slowest thread snapshotter held it, which was in snapshot\(\)\)$'
check "coverage" "ldb-why --class=" 0 '^explained: median 99\.6 %, at least 99\.6 %'
check "losses" "ldb-why" 0 '3 records overwritten'
check "one request: where all of its time went" "ldb-why --slowest 1" 0 '^  12\.5ms  98\.0 % +1  lock_wait db_lock in request_handler$'
check "the only one of its kind" "ldb-why -i hostile.data" 0 'the only one of its class'
check "names do not steer the terminal" "ldb-why -i hostile.data | tr -d '\n' | LC_ALL=C grep -c '[[:cntrl:]]'" 1 '^0$'

ldb-why --json >w.json
check_jq "JSON: what it is" w.json '.format == "ldb-why" and .version == 2 and .options.target == [99, 100]'
check_jq "the request" w.json '.requests[0] | .req == 4711 and .latency_ns == 12750000 and .deviation_ns == 12749500'
check_jq "its first cause" w.json '.requests[0].first | .cause == "lock_wait" and .label == "db_lock" and
	.anomaly == "gap" and .category == "Locking" and .root == "function" and .root_label == "snapshot"'
check_jq "its chain, and how each step is known" w.json '[.requests[0].chain[] | [.kind, .label, .source]] ==
	[["lock_wait", "db_lock", "shim"], ["held_by", "snapshot", "shim"]]'
check_jq "confidence and resolution" w.json '.requests[0].chain | all(.confidence > 0.99 and .confidence <= 1 and has("resolution_ns"))'
check_jq "who" w.json '.requests[0].chain[1] | .tid == 2 and .thread == "snapshotter" and (.file | test("^report-trace.c:[0-9]+$"))'
check_jq "amounts explain no more than there is" w.json '.requests | all((([.amounts[].ns] | add) // 0) <= .deviation_ns or .deviation_ns < 0)'
check_jq "causes count requests" w.json '.causes[0] | .requests == 1 and .first == 1 and .median_ns == .total_ns'
check_jq "without --shares there are none" w.json '.requests | all(has("shares") | not)'
ldb-why --slice 50 --shares --json >s.json
check_jq "--slice" s.json '.options.target == [45, 55] and (.requests | length) > 10'
check_jq "shares sum up to the latency" s.json '.requests | all(([.shares[].ns] | add) == .latency_ns)'
ldb-why --slowest 3 --json >n.json
check_jq "--slowest" n.json '[.requests[].latency_ns] | length == 3 and . == (sort | reverse)'
ldb-why --req 4711 --json >r.json
check_jq "--req: both instances, with their shares" r.json '.requests | length == 2 and all(.req == 4711 and has("shares"))'
check "CSV: a row for each cause" "ldb-why --csv | grep -c '^4711,'" 0 '^3$'
check "CSV: the first" "ldb-why --csv" 0 '^4711,,30000000,12750000,12749500,1,lock_wait,gap,db_lock,Locking,12499800,function,snapshot$'
check "CSV: shares" "ldb-why --csv --shares" 0 '^4711,,30000000,12750000,12749500,lock_wait,db_lock,request_handler,12499800,1,0$'
check "--class" "ldb-why --class=GET --json | jq -c '[.requests[].class] | unique'" 0 '^\["GET"\]$'
check "--from, --to" "ldb-why --from 40ms --json | jq -c '[.requests[].start_ns] | min >= 40000000'" 0 '^true$'
check "--top" "ldb-why --top 1 | grep -c '^req '" 0 '^1$'
check "-o" "ldb-why -o out.txt; grep -c db_lock out.txt" 0 '^[2-9]$'
check "--chains=0 follows none" "ldb-why --chains 0 --json | jq -c '.chains'" 0 '^0$'
check "--nsight-strict" "ldb-why --nsight-strict --json | jq -c '.requests[0].first.label'" 0 '^"db_lock"$'

for form in "" --json --csv --blame "-o plain.html" --req=1 --class=none --uncategorised --compare-slices=p99,p50; do
	check_one_line "no request was tagged${form:+: $form}" "ldb-why -i plain.data $form" 1 'no request was tagged'
done
head -c $(($(wc -c <plain.data) - 300)) plain.data >plaincut.data
check "where the rest is missing they may have been tagged: status 3" "ldb-why -q -i plaincut.data" 3 '^no request ended'
check "in that time none was, but others may have been" "ldb-why -i plain.data --from 1ms" 0 '^no request matches'
check "none of that class" "ldb-why --class=none" 0 'no request matches'
check_one_line "no such request" "ldb-why --req=99999" 1 'no request 99999'
check_one_line "no trace" "ldb-why -i none.data" 1 'none\.data'
check_one_line "not onto the trace itself" "ldb-why -o ldb.data" 1 'the trace itself'
check_one_line "two choices" "ldb-why --req=1 --slowest=2" 2 'give one'
check_one_line "--shares needs a form for programs" "ldb-why --shares" 2 '--json or --csv'
check_one_line "an argument is a trace" "ldb-why 4711" 1 'cannot open 4711'
check_one_line "no such file of categories" "ldb-why --categories=none.csv" 1 'none\.csv'
printf 'a,b\n' >bad.csv
check_one_line "a bad one" "ldb-why --categories=bad.csv" 1 'bad\.csv:1: '
printf 'db_*,lock,Mine,app,do something\n' >mine.csv
check "one's own category counts first" "ldb-why --categories=mine.csv" 0 ' Mine +lock: db_lock$'
head -c $(($(wc -c <ldb.data) - 300)) ldb.data >cut.data
check "a trace that was cut: what is left, and status 3" "ldb-why -q -i cut.data" 3
report-trace disk disk.data
check "what the disk did" "ldb-why -i disk.data --slowest 1" 0 \
	'in I/O in request_handler \(fdatasync of svc\.dat\), of this 3\.50ms in nvme0n1'
ldb-why -i disk.data --slowest 1 --json >d.json
check_jq "in JSON" d.json '.requests[0].chain[0] | .device == "nvme0n1" and .device_ns == 3500000 and .device_ns <= .ns'

check "blame: the holder, not the lock" "ldb-why --blame --sums" 0 \
	'^ *12\.5ms +98\.0 % +1  snapshot\(\) report-trace\.c:[0-9]+ of thread snapshotter 2, which held a lock$'
check "blame: a request's own" "ldb-why --blame --sums" 0 '^ *200us +1\.6 % +1  request_handler\(\)$'
report-trace chain chain.data
ldb-why -i chain.data --slowest 9 --blame --json >b.json
ldb-why -i chain.data --slowest 9 --json >w.json
check_jq "blame: what all of them lost" b.json '([.sums[].total_ns] | add) == .blame[0].all_ns and (.sums | length) > 1'
report-trace calls calls.data
check "blame: a sleep that an interrupt ends" "ldb-why -i calls.data --slowest 1 --blame --sums" 0 'request_handler\(\).*, asleep \(read of a pipe\)$'
# Requests of tenant 7 above 64K are slow, and only one other; all other properties are random.
report-trace noted noted.data
check "what slow requests share" "ldb-why -i noted.data" 0 '^ +95\.5 % +0 % +>[0-9]+x +0\.001  tenant=7 and bytes>64K$'
check "and how that is known" "ldb-why -i noted.data" 0 '^22 slow and 402 usual ones compared; p is adjusted for [0-9]+ traits by [0-9]+ draws$'
ldb-why -q -i noted.data --json >noted.json
check_jq "the rule that was planted is first" noted.json '.shared | .found[0] | .trait == "tenant=7 and bytes>64K" and .slow == 21 and .usual == 0 and
	(has("lift") | not) and .p_adjusted <= 0.0034 and .parts == [{source: "note", name: "tenant", is: "7"},
	{source: "note", name: "bytes", above: 65536}]'
check_jq "then its parts, and nothing else" noted.json '[.shared.found[1:][].trait] | sort == ["bytes>64K", "tenant=7"]'
check_jq "shares and lift are those of the counts" noted.json '.shared as $s | all($s.found[]; (.slow / $s.slow - .slow_share | fabs) < 1e-12 and
	(.usual / $s.usual - .usual_share | fabs) < 1e-12 and (if .usual > 0 then (.slow_share / .usual_share - .lift | fabs) < 1e-9 else true end))'
ldb-why -q -i noted.data --slice 50 --json >slice.json
check_jq "requests that are slow for nothing share nothing" slice.json '.shared.found == [] and .shared.tests > 100 and .shared.noted == 3'
check "which is said" "ldb-why -q -i noted.data --slice 50" 0 '^no note distinguishes the [0-9]+ slow requests from [0-9]+ usual ones'
ldb-why -q -i noted.data --req 4711 --json >one.json
check_jq "of one request nothing is said" one.json '.shared == {slow: 0, usual: 0, tests: 0, draws: 0, noted: 0, dropped_notes: 0, found: []}'

finish
