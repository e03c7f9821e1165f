# SPDX-License-Identifier: GPL-2.0-or-later
# ldb's threads give way to the program's: at SCHED_IDLE, where they can be raised again,
# and raised where the program waits for them.
. "$(dirname "$0")/../engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/give-way.c" -o app -pthread || exit 1

are()	# name policy: control thread and scanner
{
	if matches "^ldb-control $2" && matches "^ldb-scan $2"; then
		pass "$1"
	else
		fail "$1"
		diag "$out"
	fi
}

# Of the recorder, while it records: one line for each thread.
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
	recorder_is "so does the recorder, but for the thread that watches" "IDL TS "
	recorder_is "not when the scanner is pinned (recorder)" "TS " --scanner-cpu=0

	# Who waits raises: before the change its own two, and the watcher the recorder that is
	# to answer.
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

	# A machine that is full: who waits for a thread at SCHED_IDLE waits for seconds.
	# After ten the one or the other gives up, and the recording ends.
	loops=
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		sh -c 'while :; do :; done' &
		loops="$loops $!"
	done
	at_end "kill $loops 2>/dev/null"
	check "full machine: a program that changes its rights five times" \
		"ldb-record -q -o change.data -- ./app change 5" 0 '^longest [0-9]+$'
	diag "$out ms"
	check "... is recorded to its end" "ldb-report -i change.data" 0 'ended: exit:0'
	check "full machine: threads that come and go" \
		"ldb-record -q -o threads.data -- ./app threads 200" 0 '^longest [0-9]+$'
	diag "$out ms"
	check "... all were seen" "ldb-report -i threads.data --summary" 0 'Lost: nothing'
	kill $loops
else
	skip "SCHED_IDLE" "needs root, and a test that is not at another policy itself"
fi
finish
