# SPDX-License-Identifier: GPL-2.0-or-later
# Tests a user without privileges, where there is no module and the kernel forbids perf and BPF:
# counters tell whether a request computed, waited for a CPU or slept.
# Timed: how often the counters are read depends on whether there is a CPU for the scanner.
. "$(dirname "$0")/../../lib/guest.sh"
. "$TOP/tests/lib/three-ways.sh"

rmmod ldb 2>/dev/null
paranoid=/proc/sys/kernel/perf_event_paranoid
before=$(cat $paranoid)
at_end "echo $before >$paranoid"
ok "perf is forbidden as Debian does" eval "echo 3 >$paranoid && grep -qx 3 $paranoid"
chmod 777 .
as_nobody()	# command
{
	echo "cd $PWD; $1" >as-nobody.sh
	su nobody -s /bin/sh -c "PATH=$PATH sh $PWD/as-nobody.sh"
}

check "recorded, with what there is" "as_nobody 'ldb-record --scanner-cpu 1 -o nobody.data -- three-ways 120 8 >truth'" 0 \
	'kernel events: none, counters from schedstat instead: which other tasks ran is not known \(module: .*bpf: .*perf: '
diag "$out"
ok "which is one line" test "$(printf '%s\n' "$out" | grep -c 'kernel events')" -eq 1
ldb-timeline -i nobody.data --slowest 120 --json >all.json
counts=$(three_ways_judge truth all.json 8000 2>wrong)
diag "requests judged, right, right within the bounds: $counts"
cat wrong
# shellcheck disable=SC2086	# three numbers
set -- $counts
ok "many requests were for one reason" test "$1" -ge 30
ok "most are said to compute, wait or sleep as they did" test $((100 * $2)) -ge $((85 * $1))
ok "most for as long as they did, within the bounds" test $((100 * $3)) -ge $((85 * $1))
for class in compute wait sleep; do
	ok "among them such that $class" eval "awk -v class=$class '\$2 == class' truth | grep -q ."
done
check_jq "times off the CPU have bounds" all.json \
	'[.[].segments[] | select(.kind == "preempted" or .kind == "runnable" or .kind == "blocked")] | length > 0 and all(.resolution_ns > 0)'
check "the reason why not better stays in the trace" "ldb-report -i nobody.data" 0 'Kernel events: none, counters from schedstat.*perf: '
diag "$out"
finish
