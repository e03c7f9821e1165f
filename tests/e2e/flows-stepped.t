# SPDX-License-Identifier: GPL-2.0-or-later
# --flows is paused while a thread is at each of the first 200 instructions of a call, which are the
# function and the runtime's code around it: no call is timed twice, or for longer than a minute.
# A call that is returning when the pause begins may be counted and not timed.
. "$(dirname "$0")/../lib/engine.sh"
need_build

$CC -O2 -fPIC -shared -DLIBRARY "$PROGRAMS/flows-stepped.c" -o libstepped.so || exit 1
$CC -O2 -Wall -I"$TOP/libldb/include" "$PROGRAMS/flows-stepped.c" -o stepped -L. -lstepped "-Wl,-rpath,$PWD" -pthread || exit 1

stepped()	# name argument...
{
	name=$1
	shift
	ldb-record -q --flows --kernel none -o "$name.data" -- ./stepped "$@" >out
	ok "$name: recorded" test $? -eq 0
	ok "$name: pauses were in calls" test "$(cat out)" -gt 10
	ldb-flows -q -i "$name.data" --json >"$name.json"
	jq '[.functions[] | select(.symbol | startswith("step_"))]' "$name.json" >steps.json
	diag "not timed: $(jq -c '[.[] | select(.timed != 2) | .symbol] | sort' steps.json)"
	# On a busy machine the recording may resume too late for some.
	check_jq "$name: most functions are counted" steps.json 'length > 100 and all(.calls <= 2)'
	check_jq "$name: no call is timed twice" steps.json 'all(.timed <= .calls)'
	check_jq "$name: no time is longer than a minute" steps.json 'all(.max_ns < 6e10)'
}
stepped resumed
stepped later later
finish
