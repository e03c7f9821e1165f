# SPDX-License-Identifier: GPL-2.0-or-later
# Each trigger of the flight recorder makes a dump when its condition is met.  Requests need not be
# tagged: they may be calls (--request=FUNCTION), turns of an event loop, or those of connections.
# Sums for monitoring and ldb-top know these, too.  flight.t tests class:NAME, signal, crash and
# end, and api.t tests a dump that the program itself requests.
# Timed: what the program did must have been observed.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/why.sh"
need_build

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -std=gnu11 -O2 -g "$PROGRAMS/flight.c" -o flight -pthread $link_runtime || exit 1
cc_ldb -O2 -g -fno-optimize-sibling-calls "$PROGRAMS/looping.c" -o looping || exit 1
cc_ldb -O2 -g -pthread "$PROGRAMS/socket-server.c" -o sockets || exit 1

flown()	# name options... -- command...: runs the command under a flight recorder
{
	flown_name=$1
	shift
	ldb-record -o "$flown_name.data" --flight 20s --after 0 --max-dumps-per-minute 100 "$@" >"$flown_name.out" 2>"$flown_name.err"
	flown_status=$?
	diag "$(grep -v '^[0-9]' "$flown_name.err" | head -n 8)"
	return $flown_status
}

says()	# name regex: checks that a dump has a trigger that matches
{
	for says_file in "$1.data."[0-9]*; do
		[ ! -e "$says_file" ] || ldb-report -q -i "$says_file" --summary --json
	done | jq -r '.recording.meta[] | select(.key == "trigger").value' >"$1.says"
	diag "$(head -n 3 "$1.says")"
	grep -Eq "$2" "$1.says"
}

flown lock --kernel none --trigger 'lock>40ms' -- ./flight 2 1000
ok "lock: a thread waited for a lock" says lock '^thread [0-9]+ waited [0-9.]+ ms for the lock at 0x[0-9a-f]+ \(lock>40ms\)$'
check "... and the cause is in the dump" "ldb-report -i lock.data.1 --mutex" 0 'table'

# Each fifth request does 6 ms of work.
flown percentile --kernel none --trigger 'p60:GET>1h' --trigger 'p95:GET>5ms' -- ./flight 3 -1 5
ok "percentile: it is crossed" says percentile '^[0-9]+ of the last [0-9]+ requests of GET took more than .* \(p95:GET>5ms\)$'
ok_not()	# what command...
{
	ok_not_what=$1
	shift
	if "$@"; then ok "$ok_not_what" false; else ok "$ok_not_what" true; fi
}
[ "$(grep -c . percentile.says)" -eq 0 ] || ok_not "... and one that was not, makes none" grep -q 'p60' percentile.says

ldb-record -q -o command.data --flight 5s --after 0 --kernel none -- ./flight 20 >command.out 2>&1 &
rec=$!
# shellcheck disable=SC2016	# evaluated later
wait_for 10 'pid=$(cat /proc/$rec/task/$rec/children) && ldb-ctl $pid status'
check "command: ldb-ctl dump" "ldb-ctl $pid dump because of a test" 0 "^"
wait_for 10 "test -e command.data.1"
ok "... makes a dump" test -e command.data.1
# The dump may be without names at first, but gets them soon.
wait_for 20 "! ls command.data.*.tmp"
ok "... that says why" says command '^because of a test$'
# shellcheck disable=SC2086	# one or more pids
kill $pid
wait "$rec"
oracle_add command.data.1

# Requests are calls of a function.
flown call --kernel none --request=handle --trigger 'request>90ms' -- ./looping 2 300
ok "request=handle: a call that takes long" says call '^handle of thread [0-9]+ took [0-9.]+ ms \(request>90ms\)$'
if [ -e call.data.1 ]; then
	ldb-report -q -i call.data.1 --requests --json >call.json
	check_jq "... is a request of the dump" call.json 'any(.requests[]; .max_ns > 90e6)'
	ldb-why -i call.data.1 --slowest 1 --json >why.json
	check_jq "... whose cause is in work()" why.json '.requests[0].first.cause == "function"'
fi
flown calls --kernel none --request='hand*' --trigger 'class:handle>90ms' --trigger 'class:other>1us' --trigger 'p50:handle>200us' \
	-- ./looping 3 300
ok "... by its class, which is its name" says calls '^handle of thread [0-9]+ took .* \(class:handle>90ms\)$'
ok "... and a percentile of its calls" says calls '^[0-9]+ of the last [0-9]+ requests of handle took more than .* \(p50:handle>200us\)$'
ok_not "... another name is another class" grep -q other calls.says
flown outer --kernel none --request='work()' --trigger 'request>90ms' --trigger 'request>1h' -- ./looping 2 300
ok "... the name may have parentheses" says outer '^work of thread'

# Requests are made from connections: /ask waits for another server for 5 ms or longer.
flown socket --kernel none --request=socket --trigger 'class:GET>4ms' -- ./sockets epoll 100
ok "request=socket: a request of a connection" says socket '^request [0-9]+ \(GET\) took [0-9.]+ ms \(class:GET>4ms\)$'
check "... is in the dump" "ldb-why -i socket.data.1" 0 '^Trigger: request'

# Event loops need system calls.
ldb-record -q -o probe.data -- ./looping 1 >/dev/null 2>&1
if [ "$(ldb-report -q -i probe.data --summary --json | jq -r '.recording.meta | any(.key == "kernel_syscalls")')" = true ]; then
	# Each wait takes 4 ms or longer, and belongs to no turn.
	ldb-report -q -i probe.data --request=loop --requests --json >turns.json
	ldb-report -q -i probe.data --summary --json >probe.json
	diag "$(jq -c '.requests[0] | [.count, .p50_ns, .total_ns]' turns.json) $(jq -c .recording.duration_ns probe.json)"
	ok "turns of an event loop do not contain its waits" test \
		"$(jq '.requests[0] | .total_ns + (.count - 1) * 3900000 | floor' turns.json)" -lt "$(jq .recording.duration_ns probe.json)"
	flown stall --trigger 'stall>90ms' -- ./looping 2 300
	ok "stall: the loop worked long without waiting" says stall '^the event loop of thread [0-9]+ worked for [0-9.]+ ms without waiting \(stall>90ms\)$'
	flown loop --request=loop --trigger 'request>90ms' -- ./looping 2 300
	ok "request=loop: a turn that takes long" says loop '^loop of thread [0-9]+ took [0-9.]+ ms \(request>90ms\)$'
	check "... is a request of the dump" "ldb-report -i loop.data.1 --requests" 0 'loop'
	ldb-record -q --metrics loop.txt --request=loop -- ./looping 2 300 >/dev/null 2>&1
	check "... and counted in sums for monitoring" "cat loop.txt" 0 '^ldb_request_duration_seconds_count.class="loop". [1-9][0-9]'
else
	skip "event loops" "there are no system calls here"
fi

# The sums for monitoring must be those of a trace of the same run.
compare()	# what trace class: compares counts, and the median to within 2 %
{
	ldb-report -q -i "$2" --requests --json >sums.json
	want=$(jq -r --arg c "$3" '.requests[] | select(.class == $c) | "\(.count - .incomplete) \(.p50_ns)"' sums.json)
	got="$(sed -n "s/^ldb_request_duration_seconds_count{class=\"$3\"} //p" sums.txt) $(
		sed -n "s/^ldb_request_duration_quantile_seconds{class=\"$3\",quantile=\"0.5\"} //p" sums.txt)"
	diag "$1: trace $want, sums $got"
	ok "$1: as many in the sums as in the trace, and the same median" eval 'echo "$want $got" |
		awk "NF == 4 { m = \$4 * 1e9; d = m - \$2; if (d < 0) d = -d; ok = \$1 == \$3 && d <= m * 0.02 } END { exit !ok }"'
}
ldb-record -q -o sums.data --kernel none --metrics sums.txt --request=socket -- ./sockets epoll 200 >/dev/null 2>&1
compare "connections" sums.data GET
ldb-record -q -o sums.data --kernel none --metrics sums.txt --request=handle -- ./looping 2 30 >/dev/null 2>&1
compare "calls" sums.data handle
ok "... and no class of others" test "$(grep -c '^ldb_request_duration_seconds_count' sums.txt)" -eq 1
ldb-record -q --metrics slow.json --request=handle -- ./looping 2 60 >/dev/null 2>&1
check_jq "the slowest calls are exemplars" slow.json '[.resourceMetrics[].scopeMetrics[].metrics[] |
	select(.name == "ldb.request.duration").histogram.dataPoints[].exemplars[]] | length >= 1 and
	all(.[]; any(.filteredAttributes[]; .key == "thread") and .asDouble > 0)'
# On a busy machine the trigger comes too late, after the end of the recording.
jq '[.resourceMetrics[].scopeMetrics[].metrics[] | select(.name == "ldb.request.duration").histogram.dataPoints[].exemplars[] |
	{ seconds: .asDouble, parts: [.filteredAttributes[] | select(.key != "thread").value.stringValue | tonumber] } |
	select(.parts != [])]' slow.json >parts.json
what="... with what they spent their time on, which adds up"
if [ "$(jq length parts.json)" -gt 0 ]; then
	check_jq "$what" parts.json 'all(.[] | (.parts | add) / .seconds; . > 0.9 and . < 1.1)'
else
	skip "$what" "it came too late for the end"
fi

# ldb-top.
ldb-top --json -n 2 -d 1 --request=handle -- ./looping 4 60 2>top.err | jq -s . >top.json
check_jq "ldb-top --request=handle: its calls" top.json '[.[].requests[].slowest[]] | any(.class == "handle")'
ldb-top --json -n 1 -d 1 --request=socket -- ./sockets epoll 5000 >top.json 2>top.err
check_jq "ldb-top --request=socket" top.json '.requests | any(.class == "GET" and .count > 0)'
check_one_line "ldb-top has no event loops" "ldb-top --request=loop -- ./looping 1" 2 'needs system calls'
check_one_line "two kinds" "ldb-top --request=socket --request=handle -- ./looping 1" 2 'give socket'
finish
