# SPDX-License-Identifier: GPL-2.0-or-later
# While a recording is paused, hardly any events come from the module; afterwards they come again.
# With LDB_TEST_ALL, prints the cost of a paused recording for a program that mostly switches, as a
# ratio to the program without a recording.
# Timed: the program must run before, while and after the pause.
. "$(dirname "$0")/../../lib/guest.sh"

# The emulator may execute a breakpoint that was removed, so the many short pauses below should not
# remove the probes.
load disarm_delay_ms=400
pause >load.out &
pid=$!
at_end "kill $pid 2>/dev/null || :"
wait_for 10 "test -s load.out"

events()
{
	ldb-ctl --json "$pid" status | jq .events
}

record()	# file
{
	ldb-record -q --kernel module -p "$pid" -o "$1" 2>rec.err &
	recorder=$!
	wait_for 20 "ldb-ctl $pid status"
}

record t.data
sleep 0.5
check "the recording is paused" "ldb-ctl $pid pause"
sleep 0.5
before=$(events)
sleep 1
after=$(events)
# A few events may be counted in the pause, while the module wrote more than ten thousand before.
ok "hardly any event comes in the pause ($before and $after)" test "$before" -gt 10000 -a "$after" -le $((before + 1000))
check "and goes on" "ldb-ctl $pid resume"
sleep 0.5
again=$(events)
ok "then they come again ($again)" test "$again" -gt $((after + 1000))
i=0
while [ $i -lt 20 ]; do
	i=$((i + 1))
	ldb-ctl "$pid" pause >/dev/null || break
	ldb-ctl "$pid" resume >/dev/null || break
done
ok "also after many pauses" test $i -eq 20
sleep 0.5
last=$(events)
ok "there are more ($last)" test "$last" -gt $((again + 1000))
ldb-ctl "$pid" stop >/dev/null
wait "$recorder"
ldb-report -q -i t.data --summary --json >sum.json
check_jq "twenty-one pauses" sum.json '.left_out.pauses == 21'
check_jq "the kernel's events are the module's, and none is lost" sum.json '.kernel_events == "module" and .lost.total == 0'
diag "$(jq -c .left_out sum.json)"

# Prints the median of the turns between two times.
turn_ns()	# from to
{
	awk -v from="$1" -v to="$2" '$1 > from && $1 <= to { print $2 }' load.out | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

now()
{
	tail -n 1 load.out | cut -d' ' -f1
}

ratios()
{
	i=0
	: >ratios
	while [ $i -lt 3 ]; do
		i=$((i + 1))
		a=$(now)
		sleep 0.7
		b=$(now)
		record c.data
		sleep 0.3
		c=$(now)
		sleep 0.7
		d=$(now)
		ldb-ctl "$pid" pause >/dev/null
		sleep 1
		e=$(now)
		sleep 0.7
		f=$(now)
		ldb-ctl "$pid" stop >/dev/null
		wait "$recorder"
		echo "$(turn_ns "$a" "$b") $(turn_ns "$c" "$d") $(turn_ns "$e" "$f")" >>ratios
	done
	diag "ns of a turn, not recorded, recorded, paused: $(tr '\n' ';' <ratios)"
	diag "$(awk '{ print $3 / $1 }' ratios | sort -n | awk '{ v[NR] = $1 } END { printf "paused / not recorded %.3f (%.3f to %.3f)", v[2], v[1], v[NR] }'), $(
		awk '{ print $2 / $1 }' ratios | sort -n | awk '{ v[NR] = $1 } END { printf "recorded %.3f (%.3f to %.3f)", v[2], v[1], v[NR] }')"
}
[ -z "${LDB_TEST_ALL:-}" ] || ratios
kill "$pid"
wait "$pid" 2>/dev/null
check "the module unloads" "rmmod ldb"
finish
