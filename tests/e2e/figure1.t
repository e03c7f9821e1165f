# SPDX-License-Identifier: GPL-2.0-or-later
# Tests Figure 1 of the LDB paper: the report shows the tail, the timeline its cause.
# Timed: the recorder must run before a ring is full.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cxx_ldb -O2 -g "$PROGRAMS/figure1.cc" -o figure1 -pthread || exit 1

# If other load takes the scanner's CPU, it observes little.  So the program is recorded again until
# the scanner has run for most of the time; this condition does not depend on what the scanner
# observed.  In the last try the program runs on another CPU than the scanner.
for try in 1 2 3 4 apart; do
	if [ "$try" = apart ]; then
		run_cmd "record_apart t.data ./figure1"
	else
		run_cmd "ldb-record -o t.data -- ./figure1"
	fi
	ldb-report -i t.data --summary --json >summary.json
	gaps=$(jq '100 * .observation_gap_ns / .recording.duration_ns | floor' summary.json)
	diag "try $try: exit status $status, scanner away $gaps % of the time"
	[ "$status" -eq 0 ] && [ "${gaps:-100}" -gt 25 ] || break
done
ok "recorded" test "$status" -eq 0
diag "$out"

ok "report" eval "ldb-report -i t.data --json >report.json 2>report.err"
ok "a whole trace has nothing to warn of" test ! -s report.err
jq '[.functions[] | select(.function | test("^request_handler"))] | max_by(.count)' report.json >handler.json
diag "request_handler: $(jq -c '{count, p50_ns, p99_ns, p9999_ns, max_ns, resolution_ns}' handler.json)"
check_jq "request_handler is in the report" handler.json '.count > 10'
check_jq "its p99.99 is at least 100 times its p50" handler.json '.p9999_ns >= 100 * .p50_ns and .p50_ns > 0'
check_jq "with file and line" handler.json '(.file | test("figure1.cc$")) and .line > 0'
check_jq "and its caller" handler.json '.caller | test("^main")'
check_jq "snapshot takes milliseconds" report.json \
	'[.functions[] | select(.function | test("^snapshot"))] | length > 0 and .[0].p50_ns > 1000000'

check "the report states observed calls of all calls" "ldb-report -i t.data" 0 '[0-9].* observed of .*[0-9]'
check "and per thread" "ldb-report -i t.data" 0 'observed/all calls: +figure1 [0-9]+ .*/.* background [0-9]+ .*/'
check "and what was lost: nothing" "ldb-report -i t.data" 0 '^Lost: nothing'
check_jq "nothing lost" summary.json '.lost.total == 0'
check_jq "observed calls are at most all, in every thread" summary.json 'all(.threads[]; .observed_calls <= .calls) and .observed_calls > 0'

ok "timeline" eval "ldb-timeline -i t.data --slowest 1 --json >raw.json 2>timeline.err"
jq 'if type == "array" then .[0] else . end' raw.json >timeline.json
diag "slowest: $(jq -c '{req, latency_ns}' timeline.json)"
check_jq "the slowest request took over a millisecond" timeline.json '.latency_ns > 1000000'
check_jq "its latency is end - start" timeline.json '.latency_ns == .end_ns - .start_ns'
check_jq "most of it is a lock wait" timeline.json \
	'.latency_ns as $l | [.segments[] | select(.kind == "lock_wait")] | max_by(.end_ns - .start_ns) | .end_ns - .start_ns > $l / 2'
# The holder must be another thread, with a hold that blocks this request...
jq '.req as $r | .segments as $s | ($s[] | select(.kind == "lock_wait" and (has("blocks_req") | not)) | .tid) as $waiter
    | [$s[] | select(.kind == "lock_hold" and .blocks_req == $r and .tid != $waiter)] | max_by(.end_ns - .start_ns)' \
	timeline.json 2>/dev/null | jq -s 'max_by(.end_ns - .start_ns)' >hold.json
check_jq "the holder's thread shows its hold" hold.json 'type == "object" and .tid > 0'
# ... and the timeline says what it was executing.
holder=$(jq .tid hold.json)
jq --argjson tid "${holder:-0}" '[.segments[] | select(.kind == "function" and .tid == $tid and .blocks_req)]' \
	timeline.json >holder.json
check_jq "snapshot was running in it" holder.json 'any(.[]; (.name | test("snapshot")) and .line > 0)'
check_jq "with its file" holder.json 'any(.[]; (.name | test("snapshot")) and (.file | test("figure1.cc$")))'

req=$(jq .req timeline.json)
check "the timeline in the terminal names snapshot" "ldb-timeline -i t.data --req $req" 0 'snapshot'
check "--mutex names the place of the lock" "ldb-report -i t.data --mutex" 0 'request_handler|figure1\.cc'
check "--requests lists the slowest" "ldb-report -i t.data --requests" 0 "(^|[^0-9])$req([^0-9]|\$)"

finish
