# SPDX-License-Identifier: GPL-2.0-or-later
# Tests recordings without any privilege: the kernel's counters say whether a request computed,
# waited for a CPU or slept.  A guest (tests/kmod/guest/nobody.t) tests what happens where perf is
# forbidden.
# Timed: how often the counters are read depends on whether there is a CPU for the scanner.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/three-ways.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH

read -r _ _ runs <"/proc/$$/schedstat" 2>/dev/null && [ "$runs" -gt 0 ] || skip_all "this kernel does not count (CONFIG_SCHEDSTATS)"
ok "the program builds" cc_ldb -O2 -g "$PROGRAMS/three-ways.c" -o three-ways || exit 1
chmod 711 "$WORK"
mkdir -m 777 nobodys
cd nobodys || exit 1

as_nobody()	# command
{
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}
if ! as_nobody sh -c "test -r $RUNTIME -a -x $BUILD/bin/ldb-record"; then
	skip_all "nobody may not read the build"
fi

rate=95
try=0
while :; do
	try=$((try + 1))
	check "recorded as nobody" "as_nobody ldb-record --kernel schedstat -o nobody.data -- ../three-ways 90 8 >truth" 0 \
		'kernel events: none, counters from schedstat instead: which other tasks ran is not known'
	ldb-timeline -i nobody.data --slowest 90 --json >all.json
	counts=$(three_ways_judge truth all.json 8000 2>wrong)
	diag "requests judged, right, right within the bounds: $counts"
	# shellcheck disable=SC2086	# three numbers
	set -- $counts
	[ "$1" -lt 20 ] && [ "$try" -lt 5 ] || break
done
cat wrong
[ "$1" -ge 20 ] || { skip "$rate % are right" "the machine disturbed nearly all requests"; finish; exit; }
ok "$rate % are said to compute, wait or sleep as they did" test $((100 * $2)) -ge $((rate * $1))
ok "$rate % for as long as they did, within the bounds" test $((100 * $3)) -ge $((rate * $1))

trace-cat nobody.data schedstat >rows
# The hog is a process of its own, with one thread.
ok "there are readings of the one thread of each process" \
	test "$(sed 's/.* tid=\([0-9]*\).*/\1/' rows | sort -u | wc -l)" -eq 2
ok "and no events" test -z "$(trace-cat nobody.data sched)"
check_jq "which task ran instead is not said" all.json \
	'[.[].causes[] | select(.kind == "preempted" or .kind == "runnable")] | length > 0 and all(.by == null)'
check_jq "nor a CPU" all.json '[.[].segments[] | select(.kind == "preempted")] | all(.cpu == null and .running_tasks == [])'
check_jq "times off the CPU have bounds" all.json \
	'[.[].segments[] | select(.kind == "preempted" or .kind == "runnable" or .kind == "blocked")] | all(.resolution_ns > 0)'
check "ldb-why says so, too" "ldb-why -i nobody.data --class sleep" 0 'Kernel events: none, counters from schedstat'
ldb-why -i nobody.data --json >why.json
check_jq "with bounds" why.json '.requests | all(.off_cpu_resolution_ns >= 0)'
check "a report on scheduling" "ldb-report -i nobody.data --sched" 0 '^three-ways'
check "nothing without the program's help" "ldb-record --kernel-only --kernel schedstat -o x.data -- ../three-ways 1 1" 2 'nothing to record'
finish
