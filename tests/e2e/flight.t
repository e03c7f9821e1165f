# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the flight recorder: dumps are complete, contain what was asked for and no more, and stay
# complete whatever is killed.
# Timed: what the program did must be in the rings when the trigger is met.
. "$(dirname "$0")/../lib/engine.sh"
need_build

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -std=gnu11 -O2 -g "$PROGRAMS/flight.c" -o flight -pthread $link_runtime || exit 1

count()	# name: how many dumps there are
{
	find . -name "$1.[0-9]*" ! -name '*.tmp' | wc -l
}

meta()	# file key: prints the last value of the key
{
	ldb-report -i "$1" --summary --json | jq -r --arg key "$2" '[.recording.meta[] | select(.key == $key)][-1].value'
}

# One request takes 50 ms, two seconds after the start.  Other load may make further requests slow;
# the program prints a line for each.
ldb-record -v -o one.data --flight 10s --kernel none --trigger 'class:GET>45ms' --trigger 'class:SET>45ms' \
	-- ./flight 4 2000 >one.out 2>one.err
status=$?
diag "$(cat one.out one.err)"
ok "the program's exit status is that of the recorder" test "$status" -eq 0
awk '$4 > 45000000' one.out >slow.out
id=$(awk '{ if ($4 > most) { most = $4; id = $1 } } END { print id }' slow.out)
ok "the program had its slow request" test -n "$id"
if [ "$(wc -l <slow.out)" -eq 1 ]; then
	ok "one slow request makes one dump" test "$(count one.data)" -eq 1
else
	ok "slow requests make dumps" test "$(count one.data)" -ge 1
fi
ok "there is no other trace" test ! -e one.data
ok "and nothing unfinished" test -z "$(find . -name '*.tmp')"
oracle_add one.data.1

ldb-report -i one.data.1 --summary --json >one.json
check_jq "the dump says what its trigger was" one.json \
	'[.recording.meta[] | select(.key == "trigger")][0].value | test("took .* ms .*>45ms")'
check_jq "it reaches seconds back, and one beyond" one.json \
	'[.recording.meta[] | select(.key == "flight")][0].value | split(" ") | map(tonumber) | .[0] > 1.5 and .[1] >= 1'
check_jq "its duration is between 2 and 5 s" one.json '.recording.duration_ns | . > 2e9 and . < 5e9'
check_jq "nothing was lost" one.json '.lost.total == 0'
check "ldb-why says it, too" "ldb-why -i one.data.1" 0 '^Trigger: request .* took .*>45ms'
check "and from when to when the dump reaches" "ldb-why -i one.data.1" 0 '^This dump contains the .* before its first trigger and the .* after it'
ldb-timeline -i one.data.1 --req "$id" --json | jq 'if type == "array" then .[0] else . end' >slow.json
check_jq "the slow request is in it, whole" slow.json '.latency_ns > 45e6 and ([.segments[] | select(.kind == "request" and .is_truncated == true)] | length) == 0'
ldb-why -i one.data.1 --req "$id" --json >why.json
check_jq "its cause is the lock that the other thread held" why.json 'tostring | test("lock_wait|waiting for lock") and test("table")'
mv flight gone
check "names are in the dump itself" "ldb-report -i one.data.1 --by=function" 0 'lookup\(\)'
mv gone flight
check "the holder was in compact()" "ldb-why -i one.data.1 --req $id" 0 'waiting for lock table, held by compact\(\)'

# The request that is open all the time began before what is retained.
ldb-record -q -o old.data --flight 1s --after 0 --kernel none --trigger signal:USR1 -- ./flight 5 >old.out 2>&1 &
rec=$!
sleep 3.5
kill -USR1 "$rec"
wait "$rec"
ok "a signal makes a dump" test "$(count old.data)" -eq 1
oracle_add old.data.1
check "requests that began earlier are counted" "ldb-why -i old.data.1" 0 'began earlier: what .* did until then is cut off'
ldb-report -i old.data.1 --summary --json >old.json
check_jq "no more is retained than was asked for, nearly" old.json \
	'[.recording.meta[] | select(.key == "flight")][0].value | split(" ") | map(tonumber) | .[0] >= 1 and .[0] < 3'
check "a request keeps its beginning" "ldb-timeline -i old.data.1 --req 1" 0 '^started at [0-9.]+ (ms|us|ns) of'

check "and what was noted of it then" "ldb-timeline -i old.data.1 --req 1" 0 '^noted: tenant.*seven'

# Sets triggers of a running recorder.
ldb-record -q -o trig.data --flight 5s --after 0 --kernel none -- ./flight 30 >trig.out 2>&1 &
rec=$!
# shellcheck disable=SC2016	# evaluated later
wait_for 10 'pid=$(cat /proc/$rec/task/$rec/children) && ldb-ctl $pid status'
check "there are none" "ldb-ctl $pid triggers" 0 '^none$'
check "one is added" "ldb-ctl $pid triggers add 'request>1us'" 0 '^request>1us$'
wait_for 10 'test "$(count trig.data)" -ge 1'
ok "and makes a dump" test "$(count trig.data)" -ge 1
check "one is removed" "ldb-ctl $pid triggers remove 'request>1us'" 0 '^none$'
check_one_line "once" "ldb-ctl $pid triggers remove 'request>1us'" 1 'there is no such trigger'
check_one_line "one that is none" "ldb-ctl $pid triggers add 'request>fast'" 1 'no duration'
# shellcheck disable=SC2086	# one or more pids
kill $pid
wait "$rec"
oracle_add trig.data.1

# Each request is a trigger.
ldb-record -o cap.data --flight 2s --after 0 --kernel none --trigger 'request>1us' --max-dumps 3 -- ./flight 3 >cap.out 2>cap.err
diag "$(cat cap.err)"
ok "as many dumps as a minute may have" test "$(count cap.data)" -eq 2
ok "thousands of triggers were counted" \
	test "$(sed -n 's/^  \([0-9]*\) triggers:.*/\1/p' cap.err)" -gt 1000
ok "and those that made no dump" grep -q 'suppressed [0-9]* by --max-dumps-per-minute' cap.err
ldb-record -q -o cap.data --flight 2s --after 0 --kernel none --trigger 'request>1us' --max-dumps 3 -- ./flight 1 >cap.out 2>cap.err
ok "dumps of earlier recordings count" test "$(count cap.data)" -eq 3
ldb-record -o cap.data --flight 2s --after 0 --kernel none --trigger 'request>1us' --max-dumps 3 -- ./flight 1 >cap.out 2>cap.err
ok "there are never more than --max-dumps" test "$(count cap.data)" -eq 3
ok "which is said" grep -q 'there are 3 dumps named cap.data' cap.err
ldb-record -q -o size.data --flight 2s --after 0 --kernel none --trigger 'request>1us' --max-dumps 1000 \
	--max-dumps-per-minute 1000 --max-size 1M -- ./flight 3 >cap.out 2>cap.err
ok "with --max-size 1M all together are not larger than 1.6 MB" \
	test "$(find . -name 'size.data.*' -size +0 -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')" -le 1600000

# The ring is in a file, and not in memory.
ldb-record -q -o file.data --flight 60s --flight-file ring --flight-size 1M --kernel none --trigger end -- ./flight 2 >file.out 2>&1 &
rec=$!
wait_for 2 "test -e ring"
ok "--flight-file has its size from the beginning" test "$(stat -c %s ring)" -eq 1048576
wait "$rec"
ok "and is gone at the end" test ! -e ring
ok "the end of a recording can be a trigger" test "$(count file.data)" -eq 1
oracle_add file.data.1

# The program crashes.
ldb-record -q -o crash.data --flight 60s --kernel none --trigger crash -- ./flight 30 >crash.out 2>&1 &
rec=$!
sleep 2
# shellcheck disable=SC2046	# one or more pids
kill -SEGV $(cat /proc/"$rec"/task/"$rec"/children)
wait "$rec"
ok "a crash makes a dump" test "$(count crash.data)" -eq 1
check "which says so" "ldb-report -i crash.data.1" 0 'Trigger: the recording has ended: signal:11'
oracle_add crash.data.1

# The recorder is killed at any time: only complete dumps have their final names.
LDB=listen ./flight "$((100 + 10 * ${FLIGHT_KILLS:-6}))" >kills.out 2>&1 &
pid=$!
at_end "kill -9 $pid 2>/dev/null || :"
n=0
while [ "$n" -lt "${FLIGHT_KILLS:-6}" ]; do
	n=$((n + 1))
	"$BUILD/bin/ldb-record" -q -o kills.data --flight 5s --after 0 --kernel none --trigger 'request>1us' --max-dumps 100000 \
		--max-dumps-per-minute 10000 -p "$pid" >kill.log 2>&1 &
	rec=$!
	sleep "$(awk -v n="$n" 'BEGIN { srand(n); print 0.4 + rand() }')"
	kill -9 "$rec"
	wait "$rec" 2>/dev/null
done
ok "the program runs on" kill -0 "$pid"
diag "$(count kills.data) dumps of $n recorders that were killed, $(find . -name 'kills.data.*.tmp' | wc -l) unfinished"
bad=0
for file in kills.data.*[0-9]; do
	[ -e "$file" ] || continue
	"$BUILD/bin/ldb-report" -i "$file" >report.out 2>&1 || bad=$((bad + 1))
done
ok "some dumps were made" test "$(count kills.data)" -gt 0
ok "all are whole" test "$bad" -eq 0
check "the next recorder takes over" "ldb-record -q -d 1 -o kills.data --flight 5s --kernel none --trigger end --max-dumps 100000 -p $pid" 0
ok "and removes what was left" test -z "$(find . -name 'kills.data.*.tmp')"
kill -9 "$pid"

check_one_line "a trigger that is none" "ldb-record --flight 5s --trigger 'request>fast' -- ./flight 1" 2 'no duration'
check_one_line "a trigger without a flight recorder" "ldb-record --trigger end -- ./flight 1" 2 'need --flight'
finish
