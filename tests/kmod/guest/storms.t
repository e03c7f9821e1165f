# SPDX-License-Identifier: GPL-2.0-or-later
# Records a program that creates thousands of threads, one that forks hundreds of children, and a
# chain of execs: their traces must be readable.  Then kills a program that forks, or its recorder,
# at random moments: afterwards the module must still record, and unload.
# Timed: there are thousands of threads on two emulated CPUs, whose clocks drift apart under
# the host's load.  LDB_STORM scales the amount, default 1; without LDB_TEST_ALL it is a quarter.
# Slow: kmod-life, kmod-race and kmod-join also start and end programs in both kernels, e2e/kills.t
# kills them.
. "$(dirname "$0")/../../lib/guest.sh"

much=$((4 * ${LDB_STORM:-1}))
[ -n "${LDB_TEST_ALL:-}" ] || much=$((much / 4))
load
# A recording ends with the first exec, perhaps before a function was observed.
record()	# name command...
{
	storm_name=$1
	shift
	check "$storm_name" "ldb-record --kernel module -o t.data -- $*" 0 'storm: done'
	printf '%s\n' "$out" | grep -q 'storm: done' || diag "$out"
	diag "$(printf '%s\n' "$out" | sed -n 's/^ldb-record: //p')"
	check "$storm_name: a trace that can be read" "ldb-report -i t.data" 0 '^Kernel events: module|^no call of a function was observed'
}

threads=$((much < 4 ? 2500 : 10000))
record "$threads threads" storm threads $threads
record "a storm of forks" storm fork $((100 * much))
record "a chain of execs" storm exec $((25 * much / 2))

killed=0
oracle_not k.data "its recorder is killed at any time, also before there is anything in it"
i=0
while [ $i -lt $((5 * much / 2)) ]; do
	i=$((i + 1))
	ldb-record -q --kernel module -o k.data -- storm fork 100000 >/dev/null 2>&1 &
	recorder=$!
	usleep $((i * 104729 % 500000 + 50000))
	if [ $((i % 2)) -eq 0 ]; then
		kill -9 $recorder 2>/dev/null
	else
		killall -9 storm 2>/dev/null
	fi
	usleep 20000
	killall -9 storm 2>/dev/null
	kill -9 $recorder 2>/dev/null
	wait $recorder 2>/dev/null
	killed=$((killed + 1))
done
ok "killed $killed times" test $killed -gt 0
check "and it still records" "ldb-record --kernel module -o t.data -- storm brief" 0 'storm: done'

# No session uses the module, but its probes may still be being removed.
ok "the module unloads" wait_for 10 "rmmod ldb"
finish
