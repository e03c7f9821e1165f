# SPDX-License-Identifier: GPL-2.0-or-later
# Kills the program, the recorder, or both with kill -9: what was written must open, the loss
# must be stated, and the other process must continue.
. "$(dirname "$0")/../lib/engine.sh"
need_build

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/server.c" -o server -pthread $link_runtime || exit 1

# The program is killed.
./server >server.out 2>&1 &
pid=$!
at_end "kill -9 $pid 2>/dev/null || :"
sleep 0.2
ldb-record -p "$pid" -o program.data >program.log 2>&1 &
rec=$!
sleep 1.5
kill -9 "$pid"
wait "$rec"
status=$?
ok "program killed: the recorder ends by itself, exit status 0 or 1" test "$status" -le 1
check "program killed: the trace opens" "ldb-report -i program.data; test \$? -eq 0 -o \$? -eq 3" 0 'handle'
wait "$pid" 2>/dev/null

# If the program was launched, the signal is passed on.
ldb-record -o launched.data -- ./server >launched.log 2>&1 &
rec=$!
sleep 1
# Finds the recorder's child without pgrep.
child=$(cat /proc/"$rec"/task/"$rec"/children)
# shellcheck disable=SC2086	# one or more pids
kill -9 $child
wait "$rec"
status=$?
ok "launched program killed: exit status 137" test "$status" -eq 137
check "launched program killed: the trace opens" "ldb-report -i launched.data; test \$? -eq 0 -o \$? -eq 3" 0 'handle'

# The recorder is killed.
oracle_cut recorder.data both.data
oracle_not early.data "its recorder may be killed before there is anything in it"
./server >survivor.out 2>&1 &
pid=$!
at_end "kill -9 $pid 2>/dev/null || :"
sleep 0.2
ldb-record -p "$pid" -o recorder.data >recorder.log 2>&1 &
rec=$!
sleep 2.5
kill -9 "$rec"
wait "$rec" 2>/dev/null
sleep 0.5
ok "recorder killed: the program goes on" kill -0 "$pid"
check "recorder killed: the trace opens as damaged" "ldb-report -i recorder.data" 3 'handle'
check_one_line "recorder killed: the loss is one line" "ldb-report -i recorder.data" 3 '^ldb-report: '
check "recorder killed: the timeline still has requests" "ldb-timeline -i recorder.data --slowest 1" 3 'works on the request|handle|compute'
check "recorder killed: another one can attach" "ldb-record -p $pid -d 0.7 -o again.data" 0
check "recorder killed: and records" "ldb-report -i again.data" 0 'handle'
kill -TERM "$pid"
wait "$pid"
status=$?
ok "recorder killed: the program's exit status is its own" test "$status" -eq 0
ok "recorder killed: and so is its output" test "$(cat survivor.out)" = "server: served, 0 stalls"

# Both are killed.
./server >both.out 2>&1 &
pid=$!
at_end "kill -9 $pid 2>/dev/null || :"
sleep 0.2
ldb-record -p "$pid" -o both.data >both.log 2>&1 &
rec=$!
sleep 2.5
kill -9 "$rec" "$pid"
wait "$rec" "$pid" 2>/dev/null
check "both killed: the trace opens as damaged" "ldb-report -i both.data" 3 'handle'

# If the recorder is killed at once, perhaps nothing was written, and then a message must say so.
./server 20 >early.out 2>&1 &
pid=$!
at_end "kill -9 $pid 2>/dev/null || :"
sleep 0.2
for after in 0.02 0.05 0.1 0.3; do
	rm -f early.data
	ldb-record -p "$pid" -o early.data >early.log 2>&1 &
	rec=$!
	sleep "$after"
	kill -9 "$rec" 2>/dev/null
	wait "$rec" 2>/dev/null
	run_cmd "ldb-report -i early.data"
	ok "recorder killed after $after s: status 1 or 3" test "$status" -eq 1 -o "$status" -eq 3
	diag "$(printf '%s\n' "$out" | head -n 2)"
done
check "and one more recorder is welcome" "ldb-record -p $pid -d 0.5 -o again.data" 0
kill -TERM "$pid"

finish
