# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that a request which crosses two processes is one timeline if their clocks are 3 ms apart:
# in different time namespaces, or with a recorder that reads another time of day, as on another
# machine.  Both processes print when their part of each request really began, and the joined trace
# must agree within the error that it states, in all but one of seven requests.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH

[ "$(id -u)" -eq 0 ] || skip_all "not root"
$CC -O1 -g -I"$TOP/libldb/include" "$PROGRAMS/two-sides.c" -o bare-sides || exit 1
cc_ldb -O1 -g -I"$TOP/libldb/include" "$PROGRAMS/two-sides.c" -o two-sides || exit 1
./bare-sides away 3000000 true || skip_all "no time namespaces here"

# Runs a recorder as on a machine whose time of day is ahead by 3 ms.  The program itself reads the
# true time from the kernel.
$CC -O1 -shared -fPIC "$PROGRAMS/ahead.c" -o ahead.so || exit 1
echo 01234567-89ab-cdef-0123-456789abcdef >boot_id

# Records both sides; $ask_by and $serve_by are the commands that start the recorders.
record()	# name options...
{
	name=$1
	shift
	rm -f sock
	$serve_by ldb-record -q --kernel none "$@" -o "$name-s.data" -- ./two-sides serve "$WORK/sock" >"$name-s.txt" &
	server=$!
	wait_for 20 '[ -S sock ]'
	$ask_by ldb-record -q --kernel none "$@" -o "$name-c.data" -- ./two-sides ask "$WORK/sock" 300 >"$name-c.txt" &&
		wait $server
}

other_machine()
{
	unshare -m sh -c 'mount --bind boot_id /proc/sys/kernel/random/boot_id && LD_PRELOAD=$PWD/ahead.so exec "$@"' sh "$@"
}

trace_of()	# number
{
	printf '4bf92f0000000000%016x' "$1"
}

# Prints how long after the client's part of a request the server's part began, by the joined trace
# and by the processes' own stamps, in ns: "NUMBER JOINED TRUE".  awk's numbers have too few digits
# for a time of day.
differences()	# name
{
	ldb-report --archive "$1.data" "$1-c.data" "$1-s.data" >archive.out 2>&1 || return 1
	for i in 5 50 100 150 200 250 295; do
		ldb-timeline --json --trace "$(trace_of $i)" -i "$1.data" >t.json || return 1
		joined=$(jq 'if length == 2 then (map({key: (.req < 1000 | tostring), value: .start_ns}) | from_entries | .false - .true) else "parts" end' t.json)
		asked=$(sed -n "s/^$i \([0-9]*\) .*/\1/p" "$1-c.txt")
		served=$(sed -n "s/^$i \([0-9]*\) .*/\1/p" "$1-s.txt")
		echo "$i $joined $((served - asked))"
	done
}

# Prints the error that a timeline states, in ns; 0 if the trace has one clock.  Fails if there is
# no timeline.
stated()	# name
{
	ldb-timeline --trace "$(trace_of 50)" -i "$1.data" >stated.txt || return 1
	awk '/another clock: off by at most/ {
		unit["ns"] = 1; unit["us"] = 1e3; unit["ms"] = 1e6; unit["s"] = 1e9; ns = $(NF - 1) * unit[$NF] } END { print ns + 0 }' stated.txt
}

# For each request the joined trace must agree with the true time, to within the stated error and
# the time between a tag and its stamp.
judge()	# name what
{
	differences "$1" >"$1.txt" 2>"$1.err"
	error=$(stated "$1") || error=none
	diag "$2: stated +-$error ns; in truth, ns: $(awk '{ print $2 - $3 }' "$1.txt" | paste -sd' ')"
	ok "$2: requests are one timeline" eval "test \"\$(wc -l <$1.txt)\" -eq 7 && ! grep -q parts $1.txt"
	ok "$2: and right within the stated error" \
		awk -v e="$error" '{ d = $2 - $3; if (d < 0) d = -d; if (d <= e + 20000) n++ } END { exit n < 6 }' "$1.txt"
	ok "$2: which is less than the clocks are apart" test "${error%.*}" -lt 1000000
}

ask_by='' serve_by="./bare-sides away 3000000"
for clock in auto monotonic; do
	ok "time namespaces, --clock=$clock: recorded" record "names-$clock" --clock=$clock
	judge "names-$clock" "time namespaces, --clock=$clock"
done
ok "one clock is one in all time namespaces" test "$(stated names-auto)" = 0
if unshare -m sh -c 'mount --bind boot_id /proc/sys/kernel/random/boot_id' 2>/dev/null; then
	serve_by=other_machine
	ok "two machines: recorded" record hosts --clock=monotonic
	judge hosts "two machines"
	check "it is said that there are two clocks" "ldb-timeline --trace $(trace_of 50) -i hosts.data" 0 \
		'^times of two-sides .* are of another clock: off by at most'
	# In its own trace the server began 3 ms later than in reality.  The joined trace corrects
	# this by the trace ids.
	ldb-timeline --json --trace "$(trace_of 50)" -i hosts-s.data >t.json
	alone=$(date -d "$(jq -r '.[0].start_time' t.json)" +%s%N)
	ahead=$((alone - $(sed -n 's/^50 \([0-9]*\) .*/\1/p' hosts-s.txt)))
	diag "ahead by $ahead ns"
	ok "their times of day are 3 ms apart" test $ahead -gt 2900000 -a $ahead -lt 3100000
else
	skip "two machines" "no mount namespaces here"
fi
finish
