# SPDX-License-Identifier: GPL-2.0-or-later
# Tests --request from the program to the reports: calls of a function are the same requests as
# those that the program tags, as far as the scanner observed them, and a program without tags has
# nearly as many.  Turns of an event loop are requests, too.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/json.sh"
need_build

cc_ldb -O2 -g -Wall -DTAGS "$PROGRAMS/untagged.c" -o tagged -pthread &&
	cc_ldb -O2 -g -Wall "$PROGRAMS/untagged.c" -o untagged -pthread || exit 1

# Prints for which percentage of the time no scanner ran.
away()	# file
{
	ldb-report -q -i "$1" --summary --json | jq '100 * (.observation_gap_ns + ([.scanners[].paused_ns] | add // 0)) / .recording.duration_ns | floor'
}

requests()	# file options...
{
	requests_file=$1
	shift
	ldb-report -q -i "$requests_file" --requests --top 100000 --json "$@"
}

record_options='--request=handle'
check "recorded, with tags" "record_apart t.data ./tagged 400" 0 '^untagged: 400 requests$'
requests t.data --request=tags >tags.json
requests t.data >calls.json
check_jq "the trace says what requests are" calls.json '.requests_of.what == "handle"'
check_jq "each request was tagged" tags.json '.requests[0].count == 400'
diag "no scanner ran for $(away t.data) % of the time; $(jq -c '.requests_of' calls.json)"
# Each tagged request is compared with the call that overlaps it most.  They may differ by the
# stated errors, and by the time for which the thread was off its CPU between the tag and the call.
jq -n --slurpfile t tags.json --slurpfile c calls.json '
	[$c[0].requests[0].slowest[] | . + {tid: .threads[0].tid}] as $calls |
	[$t[0].requests[0].slowest[] | . as $tag |
		([$calls[] | select(.tid == $tag.threads[0].tid and .start_ns < $tag.end_ns and .end_ns > $tag.start_ns)] |
		 max_by([.end_ns, $tag.end_ns] | min)) as $call |
		{found: ($call != null), off: (if $call then ($tag.latency_ns - $call.latency_ns | fabs) else 0 end),
		 allowed: (($call.latency_resolution_ns // 0) + 20000)}] |
	{nr: length, found: ([.[] | select(.found)] | length), within: ([.[] | select(.found and .off <= .allowed)] | length),
	 median: ([.[] | select(.found) | .off] | sort | .[length / 2 | floor])}' >matched.json
diag "$(jq -c . matched.json)"
# If the scanner can run all the time, 99 % are observed.  If another program sometimes takes its
# CPU, some are missed.
if [ "$(away t.data)" -lt 10 ]; then
	check_jq "most of the tagged requests are calls" matched.json '.found >= 320'
	check_jq "and no others" calls.json '.requests[0].count <= 404'
else
	skip "judged by what was observed" "the scanner had no CPU"
fi
# This must be true however little was observed.
check_jq "95 % are as long as the tags say, within the stated error and 20 us" matched.json '.within >= 0.95 * .found'
ldb-why -q -i t.data --shares --slowest 50 --json >why.json
check_jq "shares add up to the latency, to the nanosecond" why.json '.requests | length > 0 and
	all(.[]; ([.shares[].ns] | add) == .latency_ns)'
check "slow ones are explained" "ldb-why -q -i t.data" 0 '^req [0-9]+ handle [0-9.]+ms.*(asleep|sleep|wait_a_bit)'

record_options=
check "recorded, without tags, and without saying what requests are" "record_apart u.data ./untagged 400" 0 '^untagged: 400 requests$'
check "then ldb-why says what to type" "ldb-why -i u.data" 1 "^  ldb-why -i u\.data --request='handle'    # [0-9]+ calls, together"
check "and ldb-report" "ldb-report -i u.data --requests" 0 "^  ldb-report -i u\.data --requests --request='handle'"
eval "$(ldb-why -i u.data 2>&1 | sed -n "s/^  \(.*--request='handle'\).*/\1/p") --json" >typed.json
check_jq "which works" typed.json '.requests | length > 0 and all(.[]; .class == "handle")'
requests u.data --request=handle >calls.json
diag "no scanner ran for $(away u.data) % of the time; $(jq -c '.requests_of' calls.json)"
if [ "$(away u.data)" -lt 10 ]; then
	check_jq "nearly as many as there were" calls.json '.requests[0].count >= 320 and .requests[0].count <= 404'
else
	skip "judged by what was observed" "the scanner had no CPU"
fi

record_options='--request=loop'
check "an event loop" "record_apart l.data ./untagged loop 100" 0 '^untagged: 100 turns$'
if ldb-report -q -i l.data --sched --json >sched.json 2>/dev/null && [ "$(jq -r .kernel_events sched.json)" != schedstat ]; then
	requests l.data >loop.json
	diag "$(jq -c '.requests_of, .requests[0].count' loop.json)"
	check_jq "its turns are requests" loop.json '.requests_of.loop and .requests[0].count >= 50 and .requests[0].count <= 101 and
		.requests[1].class == "loop"'
	check "the stall has a name" "ldb-why -q -i l.data --slowest 1" 0 'main;on_event'
else
	skip "turns" "no kernel events here"
fi
check "an event loop that never sleeps" \
	"ldb-record -q --kernel none --request=loop -o b.data -- ./untagged busy 100" 0 '^untagged: 100 turns$'
requests b.data >busy.json
check_jq "each of its turns is a request, without kernel events as well" busy.json \
	'.requests_of.loop and .requests[0].count == 99 and .requests[0].incomplete == 1 and .requests[1].class == "loop"'
check "the stall is the slowest" "ldb-why -q -i b.data --slowest 1" 0 'loop (3[0-9]|[4-9][0-9])\.[0-9]ms'
check_not "turns are no events of the program's" "ldb-timeline -i b.data --slowest 1" 0 'ldb:turn'

# Here the functions are named when recording, as in the README.
ldb-record -q --kernel none --request=nothing -o n.data -- ./untagged busy 10 >nothing.out 2>&1
for tool in "ldb-why -q" "ldb-report -q --requests" "ldb-timeline -q --slowest 1"; do
	check "a function that was not called: $tool" "$tool -i n.data 2>&1 || :" 0 \
		'no call of a function that matches nothing was observed: ldb-report lists the functions .an inlined one is part'
done
finish
