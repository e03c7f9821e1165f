# SPDX-License-Identifier: GPL-2.0-or-later
# ldb's threads yield to the program's: they run at SCHED_IDLE, where they can be raised again,
# and are raised where the program waits for them.
# Timed: on a machine that is both full and shared, threads wait for minutes.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/give-way.c" -o app -pthread -ldl || exit 1
echo 'volatile unsigned long sum; void late_function(void) { for (int i = 0; i < 100000; i++) sum += i; }' >late.c
cc_ldb -O2 -g -shared -fPIC late.c -o late.so || exit 1

are()	# name policy: control thread and scanner
{
	if matches "^ldb-control $2" && matches "^ldb-scan $2"; then
		pass "$1"
	else
		fail "$1"
		diag "$out"
	fi
}

cpus_are()	# name regex
{
	if matches "^ldb-control $2\$" && matches "^ldb-scan $2\$"; then
		pass "$1"
	else
		fail "$1"
		diag "$out"
	fi
}

# Compares the scheduling classes of the recorder's threads while it records, sorted, with the
# wanted ones.
recorder_is()	# name regex options...
{
	recorder_name=$1
	recorder_regex=$2
	shift 2
	ldb-record -q "$@" -o r.data -- ./app wait 2 &
	recorder_pid=$!
	recorder_was=
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		sleep 0.1
		recorder_was=$(ps -L -o cls= -p "$recorder_pid" | tr -d ' ' | sort | tr '\n' ' ')
		[ "$recorder_was" != "$recorder_regex" ] || break
	done
	wait "$recorder_pid"
	if [ "$recorder_was" = "$recorder_regex" ]; then
		pass "$recorder_name"
	else
		fail "$recorder_name"
		diag "$recorder_was"
	fi
}

if [ "$(id -u)" -eq 0 ] && [ "$(chrt -p $$ | head -1 | sed 's/.*: //')" = SCHED_OTHER ]; then
	run_cmd "ldb-record -q -o look.data -- ./app look"
	are "by default they give way" idle
	run_cmd "ldb-record -q --kernel=none -o slices.data -- ./app slices"
	if [ -n "$out" ]; then
		are "and a yield costs them little: a short slice" 100000
	else
		skip "and a yield costs them little: a short slice" "this kernel has one for all"
	fi
	run_cmd "ldb-record -q --scanner-cpu=0 -o look.data -- ./app look"
	are "not when the scanner is pinned" other
	run_cmd "prlimit --nice=0 setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice ldb-record -q --kernel=none -o look.data -- ./app look"
	are "not where nobody could raise them" other
	if prlimit --nice=20 true 2>/dev/null; then
		run_cmd "prlimit --nice=20 setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice ldb-record -q --kernel=none -o look.data -- ./app look"
		are "but with RLIMIT_NICE" idle
	else
		skip "but with RLIMIT_NICE" "this root may not raise limits"
	fi

	# A seccomp filter may kill a thread for the call that raises a priority.  So if any thread
	# of the program has a filter, no priority is lowered.
	# shellcheck disable=SC2154	# link_runtime is engine.sh's
	LD_PRELOAD=$RUNTIME ./app filtered >filtered.out &
	pid=$!
	at_end "kill $pid 2>/dev/null"
	sleep 0.3
	ldb-record -q --kernel=none -p "$pid" -d 1 -o f.data 2>/dev/null
	wait "$pid"
	run_cmd "cat filtered.out"
	are "not where any thread has a seccomp filter" other

	# This simulates a kernel that isolates the second of two CPUs, and then both.
	isolate='mount --bind isolated /sys/devices/system/cpu/isolated'
	# shellcheck disable=SC2154	# of engine.sh
	if [ "$program_cpu" != "$scanner_cpu" ] && echo >isolated && unshare -m sh -c "$isolate" 2>/dev/null; then
		echo "$scanner_cpu" >isolated
		run_cmd "unshare -m sh -c '$isolate && exec taskset -c $program_cpu,$scanner_cpu ldb-record -q --kernel=none -o cpus.data -- ./app cpus'"
		cpus_are "isolated CPUs are left alone" "$program_cpu"
		echo "$program_cpu,$scanner_cpu" >isolated
		run_cmd "unshare -m sh -c '$isolate && exec taskset -c $program_cpu,$scanner_cpu ldb-record -q --kernel=none -o cpus.data -- ./app cpus'"
		cpus_are "unless there are no others" "$program_cpu[-,]$scanner_cpu"
	else
		skip "isolated CPUs are left alone" "one CPU, or no mount namespaces"
	fi

	recorder_is "so does the recorder, but for the thread that watches" "IDL TS "
	recorder_is "not when the scanner is pinned (recorder)" "TS " --scanner-cpu=0

	# A thread that waits raises the priority of the threads for which it waits: the program
	# raises ldb's two threads before it changes its user, and the watcher raises the recorder
	# that must answer.
	if command -v strace >/dev/null; then
		strace -f -o trace.out -e trace=sched_setscheduler,setresgid \
			ldb-record -q -o traced.data -- ./app change 2 >/dev/null
		awk '{ pid = $1; split($2, call, "[(,]") }
			/SCHED_IDLE/ { low[call[2] ? call[2] : pid] = 1 }
			/SCHED_OTHER/ && call[2] && call[2] != pid && call[2] in low { print "raised", pid, call[2] }
			/setresgid/ { print "changed", pid }' trace.out >calls
		app=$(awk '$1 == "changed" { print $2; exit }' calls)
		ok "the program raises a thread of ldb's before it changes" \
			test "$(awk -v a="$app" '$2 == a { print $1 }' calls | uniq | head -1)" = raised
		ok "the recorder is raised when the program calls" \
			awk -v a="$app" '$1 == "raised" && $2 != a { n++ } END { exit !n }' calls
	else
		skip "who waits raises" "no strace"
	fi

	# On a machine without an idle CPU, a thread that waits for a thread at SCHED_IDLE waits for
	# seconds.  After ten seconds one side gives up, and the recording ends.  Looking up names
	# would take minutes.
	loops=
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		sh -c 'while :; do :; done' &
		loops="$loops $!"
	done
	at_end "kill $loops 2>/dev/null"
	check "full machine: a program that changes its rights five times" \
		"ldb-record -q --no-symbols -o change.data -- ./app change 5" 0 '^longest [0-9]+$'
	diag "$out ms"
	check "... is recorded to its end" "ldb-report -i change.data" 0 'ended: exit:0'
	check "full machine: threads that come and go" \
		"ldb-record -q --no-symbols -o threads.data -- ./app threads 200" 0 '^longest [0-9]+$'
	diag "$out ms"
	check "... and nothing is lost" "ldb-report -i threads.data --summary" 0 'Lost: nothing'
	run_cmd "ldb-record -q --no-symbols --kernel=none -o fork.data -- ./app raw-fork"
	are "a child of a raw fork leaves its parent's threads as they are" idle
	late=0
	for _ in 1 2 3; do
		ldb-record -q --no-symbols --kernel=none -o load.data -- ./app load ./late.so
		! grep -aqF "$PWD/late.so" load.data || late=$((late + 1))	# the path, not the argument
	done
	ok "full machine: a library that is loaded late is known" test "$late" -eq 3
	[ "$late" -eq 3 ] || diag "$late of 3"
	kill $loops
else
	skip "SCHED_IDLE" "needs root, and a test that is not at another policy itself"
fi
finish
