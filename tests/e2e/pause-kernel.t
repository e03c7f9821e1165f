# SPDX-License-Identifier: GPL-2.0-or-later
# While a recording is paused, the kernel reports no switches: the BPF programs are detached, or the
# perf events do not count, and they come back when the recording goes on, again and again.
# Timed: the program must run before, during and after the pause.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -std=gnu11 -O2 -g "$PROGRAMS/flight.c" -o flight -pthread || exit 1
$CC -O2 -Wall "$PROGRAMS/perf-counts.c" -o perf-counts || exit 1

links()	# pid: BPF programs that are attached
{
	for fd in "/proc/$1/fd/"*; do
		readlink "$fd"
	done | grep -c 'bpf.link\|bpf-raw-tracepoint\|raw_tracepoint'
}

# Prints the sum of the counts of the recorder's perf events, those for samples included.
count()
{
	./perf-counts "$rec" | cut -d' ' -f2
}

for source in bpf perf; do
	ldb-record -q --kernel "$source" -o "$source.data" -- ./flight 60 >"$source.out" 2>"$source.err" &
	rec=$!
	# shellcheck disable=SC2016	# evaluated later
	if ! wait_for 10 'pid=$(pgrep -P "$rec" -x flight) && ldb-ctl $pid status'; then
		skip "$source" "$(tail -n 1 "$source.err")"
		kill "$rec" 2>/dev/null
		wait "$rec"
		continue
	fi
	sleep 0.5
	attached=$(links "$rec")
	first=$(count)
	sleep 0.2
	second=$(count)
	ldb-ctl "$pid" pause >/dev/null
	ok "$source: the recording is paused" test "$(ldb-ctl --json "$pid" status | jq -r .state)" = paused
	[ "$source" = perf ] || ok "$source: $attached programs are detached" test "$attached" -gt 4 -a "$(links "$rec")" -eq 0
	third=$(count)
	sleep 0.5
	fourth=$(count)
	ldb-ctl "$pid" resume >/dev/null
	sleep 0.2
	fifth=$(count)
	if [ "$source" = bpf ]; then
		:
	elif [ "${first:-0}" -gt 0 ]; then
		ok "$source: before, events count ($first, $second)" test "$second" -gt "$first"
		ok "$source: in the pause none does ($third, $fourth)" test "$third" -eq "$fourth"
		ok "$source: afterwards they count again ($fifth)" test "$fifth" -gt "$fourth"
	else
		skip "$source: events count, in the pause none does, and afterwards again" "their counts cannot be read here"
	fi
	[ "$source" = perf ] || ok "$source: they come back" test "$(links "$rec")" -eq "$attached"
	sleep 0.5
	i=0
	while [ "$i" -lt 10 ]; do
		i=$((i + 1))
		ldb-ctl "$pid" pause >/dev/null
		ldb-ctl "$pid" resume >/dev/null
	done
	[ "$source" = perf ] || ok "$source: also after many pauses" test "$(links "$rec")" -eq "$attached"
	sleep 0.5
	kill "$pid"
	wait "$rec"
	ldb-report -q -i "$source.data" --summary --json >sum.json
	diag "$source: $(jq -c '[.left_out, .lost.total]' sum.json)"
	check_jq "$source: eleven pauses" sum.json '.left_out.pauses == 11'
	ldb-export -q -i "$source.data" -o "$source.db" sqlite
	# The longest time without a switch is the pause.  The program makes a switch each 200 us.
	sqlite3 "$source.db" "SELECT start_ns FROM run ORDER BY 1" >runs
	awk 'NR > 1 && $1 - last > most { most = $1 - last; from = last } { last = $1 }
		END { print most, from, last }' runs >gap
	read -r gap from last <gap
	diag "$source: no switches for $((gap / 1000000)) ms, at $((from / 1000000)) of $((last / 1000000)) ms; $(wc -l <runs) in all"
	ok "$source: no switch is recorded in the pause" test "$gap" -gt 400000000
	ok "$source: but before, and after it" eval 'awk -v t="$from" "\$1 <= t { b++ } \$1 > t { a++ } END { exit !(b > 20 && a > 20) }" runs'
done
finish
