# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by the tests of exports that show a time: it makes traces to export, and
# compares what ldb-export says it wrote with what ldb-report counts.
PATH=$BUILD/tests/tools/helpers:$PATH
export PATH
unset COLUMNS

export_made()	# makes traces with known content: figure1.data, sched.data, ...
{
	for made in figure1 sched kernelonly hostile empty plain; do
		report-trace $made $made.data || exit 1
	done
}

export_recorded()	# makes traces of real programs: figure1 and a program with queues
{
	cxx_ldb -O2 -g "$PROGRAMS/figure1.cc" -o figure1 -pthread || exit 1
	cxx_ldb -O2 -g "$PROGRAMS/queue.cc" -o queue -pthread || exit 1
	ok "figure1 recorded" eval "ldb-record -q -d 300ms -o real.data -- ./figure1 >record.out 2>&1 || test \$? -eq 143"
	ok "queue recorded" eval "ldb-record -q -o queue.data -- ./queue 1000 >record.out 2>&1"
}

# name trace summary.json: checks for the same counts, and the same sums to the nanosecond
same_as_report()
{
	ldb-report -q -i "$2" --json >same-functions.json 2>/dev/null
	ldb-report -q -i "$2" --mutex --json >same-locks.json 2>/dev/null
	ldb-report -q -i "$2" --requests --json >same-requests.json 2>/dev/null
	ldb-report -q -i "$2" --sched --json >same-sched.json 2>/dev/null || echo null >same-sched.json
	jq -n --slurpfile w "$3" --slurpfile f same-functions.json --slurpfile l same-locks.json \
		--slurpfile q same-requests.json --slurpfile s same-sched.json '
		def total(of): map(of) | add // 0;
		$w[0].written as $w | $f[0].functions as $f | $l[0].locks as $l |
		$q[0].requests as $q | $s[0] as $s |
		{
			functions: [$w.function.count, ($f | total(.count + .open))],
			open: [$w.function.open, ($f | total(.open))],
			functions_ns: [$w.function.total_ns, ($f | total(.total_ns))],
			waits: [$w.lock_wait.count + $w.futex_wait.count, ($l | total(.waits.count))],
			waits_ns: [$w.lock_wait.total_ns + $w.futex_wait.total_ns,
				   ($l | total(.waits.total_ns))],
			holds: [$w.lock_hold.count, ($l | total(.holds.count))],
			holds_ns: [$w.lock_hold.total_ns, ($l | total(.holds.total_ns))],
			requests: [$w.requests, (($q[0].count // 0) + ($q[0].incomplete // 0))],
			runnable_ns: [$w.runnable.total_ns, ([$s.threads[]?.runnable_ns] | add // 0)],
			preempted_ns: [$w.preempted.total_ns, ([$s.threads[]?.preempted_ns] | add // 0)]
		}' >same.json
	diag "$1: $(jq -c . same.json)"
	check_jq "$1: counts and sums are the report's" same.json 'all(.[]; .[0] == .[1])'
}
