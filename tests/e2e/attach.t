# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-record -p PID: it attaches and detaches three times in a row; the program, which is
# linked with the runtime, is not disturbed.  The same is done with a preloaded runtime.
# Timed: while others use the CPUs the scanner may observe nothing in such short recordings.
. "$(dirname "$0")/../lib/engine.sh"
need_build

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/server.c" -o linked -pthread $link_runtime || exit 1
cc_ldb -O2 -g "$PROGRAMS/server.c" -o plain -pthread || exit 1

attach_three_times()	# kind
{
	for i in 1 2 3; do
		run_cmd "ldb-record -p $pid -d 0.7 -o $1$i.data"
		ok "$1: attach $i" test "$status" -eq 0
		[ "$status" -eq 0 ] || diag "$out"
		check "$1: trace $i has the functions of the thread" \
			"ldb-report -i $1$i.data" 0 'server\.c:[0-9]+'
		ldb-report -i "$1$i.data" --requests --json >req.json 2>/dev/null
		check_jq "$1: trace $i has requests" req.json '[.. | objects | select(has("latency_ns") or has("count"))] | length > 0'
		ok "$1: the program runs on" kill -0 "$pid"
	done
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	ok "$1: exit status 0" test "$status" -eq 0
	ok "$1: its output is undisturbed" test "$(cat "$1.out")" = "server: served, 0 stalls"
}

./linked >linked.out 2>&1 &
pid=$!
at_end "kill $pid 2>/dev/null || :"
sleep 0.2
attach_three_times linked

LD_PRELOAD=$RUNTIME ./plain >preloaded.out 2>&1 &
pid=$!
at_end "kill $pid 2>/dev/null || :"
sleep 0.2
attach_three_times preloaded

# With two recorders at once, the second prints an error, and the first continues.
./linked >two.out 2>&1 &
pid=$!
at_end "kill $pid 2>/dev/null || :"
sleep 0.2
ldb-record -p "$pid" -d 1.5 -o first.data >/dev/null 2>&1 &
first=$!
sleep 0.5
check_one_line "a second recorder is refused in one line" \
	"ldb-record -p $pid -d 1 -o second.data" 1 '^ldb-record: '
wait "$first"
status=$?
ok "the first recorder is not disturbed" test "$status" -eq 0

# The next recorder may attach while the last one detaches.
refused=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	ldb-record -q -p "$pid" -d 0.05 -o next.data 2>next.err || refused=$((refused + 1))
done
ok "none is refused for the one before it" test "$refused" -eq 0
[ "$refused" -eq 0 ] || diag "$refused of 15: $(cat next.err)"

# Ctrl-C ends a recording without -d cleanly.
ldb-record -p "$pid" -o int.data >int.log 2>&1 &
rec=$!
sleep 1
kill -INT "$rec"
wait "$rec"
status=$?
ok "SIGINT ends the recording with status 0" test "$status" -eq 0
check "and the trace has its functions" "ldb-report -i int.data" 0 'handle'

# The program ends while it is recorded.  The recording begins when the kernel has checked the BPF
# programs.
ldb-record -p "$pid" -o end.data >end.log 2>&1 &
rec=$!
for _ in $(seq 100); do
	! grep -qsx ldb-scan "/proc/$pid/task/"*/comm || break
	sleep 0.1
done
sleep 0.5
kill -TERM "$pid"
wait "$pid"
wait "$rec"
status=$?
ok "the recorder ends when the program does" test "$status" -eq 0
check "and the trace has its functions" "ldb-report -i end.data" 0 'handle'

finish
