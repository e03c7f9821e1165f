# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-ctl: a recording is paused, resumed, filtered and stopped while the program runs; and
# the options of ldb-record that do this from the beginning.
# Timed: what is left out by name must have been observed.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/server.c" -o server -pthread || exit 1

start()	# file [option...]: records the server; sets pid, recorder
{
	file=$1
	shift
	rm -f pid
	# shellcheck disable=SC2016	# the inner shell's
	ldb-record -q "$@" -o "$file" -- sh -c 'echo $$ >pid; exec ./server' >server.out 2>rec.err &
	recorder=$!
	wait_for 10 'test -s pid && ldb-ctl $(cat pid) status'
	pid=$(cat pid)
	at_end "kill $pid 2>/dev/null || :"
}

stop()	# ends the server; its requests, and the report's summary
{
	kill "$pid"
	wait "$recorder"
	status=$?
	ok "$file: the server ends as always" test "$status" -eq 0
	ok "$file: and says so" grep -q '^server: served, 0 stalls' server.out
	summary
}

summary()
{
	ldb-report -q -i "$file" --summary --json >sum.json 2>/dev/null
	ldb-report -q -i "$file" --requests --json >req.json 2>/dev/null
	requests=$(jq '[.. | objects | select(has("class") and has("count")) | .count] | add // 0' req.json)
	diag "$file: $requests requests, $(jq -c '.left_out' sum.json)"
}

# If the recording is paused from the beginning and never resumed, the trace has the threads, and
# nothing else.
start never.data --paused
check "status says that it is paused" "ldb-ctl $pid status" 0 '^state +paused'
check "and as JSON" "ldb-ctl --json $pid status | jq -r .state" 0 '^paused$'
sleep 0.5
stop
ok "paused from the beginning: no request" test "${requests:-1}" -eq 0
check_jq "one pause, as long as the recording; nothing is lost" sum.json \
	'.left_out.pauses == 1 and .left_out.paused_ns > 400000000 and .lost.total == 0'
check_jq "its threads are there" sum.json '.threads | length == 3'

# Resumed, paused and resumed again.
start pause.data --paused
check "resume" "ldb-ctl $pid resume" 0 '^$'
sleep 0.5
check "pause" "ldb-ctl $pid pause" 0 '^$'
check "once more changes nothing" "ldb-ctl $pid pause" 0 '^$'
sleep 0.5
check "resume again" "ldb-ctl $pid resume" 0 '^$'
sleep 0.3
stop
check_jq "two pauses" sum.json '.left_out.pauses == 2 and .left_out.paused_ns > 400000000 and .lost.total == 0'
ok "requests of the time in between" test "$requests" -gt 100
check "the report says how long it was paused" "ldb-report -i pause.data" 0 \
	'^Recording was paused for [0-9.]+ ?m?s in 2 pauses: requests that were open then are incomplete\.$'
check "and so does ldb-why" "ldb-why -i pause.data" 0 'Recording was paused'
# 2000 requests a second are served: none that is complete spans a pause.
ldb-report -q -i pause.data --requests --json --top 100000 >all.json 2>/dev/null
check_jq "no request is as long as a pause" all.json '[.. | objects | .max_ns? // empty] | max < 450000000'

# Selects functions by name, file and module; then all functions.
start func.data --functions '+handle'
sleep 1
check "the list is shown" "ldb-ctl $pid functions" 0 '^\+handle$'
check "another list" "ldb-ctl $pid functions -module:server" 0 '^-module:server$'
check "by file" "ldb-ctl $pid functions +file:server.c -compute" 0 '^\+file:server\.c -compute$'
check "all" "ldb-ctl $pid functions all" 0 '^all$'
check "shorter calls of one function" "ldb-ctl $pid min-latency compute 5ms" 0 '^$'
check "of all functions" "ldb-ctl $pid min-latency '*' 1us" 0 '^$'
check "short waits" "ldb-ctl $pid threshold lock 1ms" 0 '^$'
check "only inside requests" "ldb-ctl $pid inside-requests on" 0 '^$'
sleep 1
check "status has all of it" "ldb-ctl $pid status" 0 '^inside_requests +on$'
check_one_line "an unknown command" "ldb-ctl $pid frobnicate" 1 '^ldb-ctl: there is no command frobnicate'
check_one_line "a command that lacks a time" "ldb-ctl $pid threshold lock" 1 '^ldb-ctl: give a time'
check_one_line "a word without a glob" "ldb-ctl $pid functions +" 1 '^ldb-ctl: a word has no glob'
check "commands from a file, one a line" "printf 'inside-requests off\nstatus\n' | ldb-ctl $pid" 0 '^inside_requests +off$'
check_one_line "who is not recorded" "ldb-ctl $$ status" 1 '^ldb-ctl: process [0-9]+ is not being recorded'
check_one_line "wrong usage" "ldb-ctl 12x status" 2 '^ldb-ctl: 12x is not the number'
stop
check_jq "left out: functions, short ones, locks" sum.json \
	'.left_out | .functions > 0 and .short > 0 and .locks > 0'
check_jq "and nothing is lost" sum.json '.lost.total == 0'
check "each report says so" "ldb-report -i func.data --mutex" 0 '^Left out as requested: '

# The command stop ends the recording, but not the program.
start stop.data
check "stop" "ldb-ctl $pid stop" 0 '^$'
wait_for 10 'test -s stop.data && ! ldb-ctl $pid status'
ok "the program runs on" kill -0 "$pid"
ok "and is not recorded any more" eval "! ldb-ctl $pid status 2>/dev/null"
kill "$pid"
wait "$recorder"
check_one_line "a wrong word for functions is refused at the start" "ldb-record --functions + -- ./server 0.1" 2 \
	'^ldb-record: --functions: a word has no glob'

# Another user's commands are refused.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	start other.data
	check "another user is refused" \
		"setpriv --reuid 65534 --regid 65534 --clear-groups $BUILD/bin/ldb-ctl $pid status" 1 '^ldb-ctl: '
	stop
else
	skip "another user is refused" "this needs root"
fi
finish
