# SPDX-License-Identifier: GPL-2.0-or-later
# Tests kernel.ftrace_enabled=0: a session must not claim futex calls that are not delivered, and
# after a change back to 1 the next session records them, without loading the module anew.
. "$(dirname "$0")/../../lib/guest.sh"

switch=/proc/sys/kernel/ftrace_enabled
load disarm_delay_ms=60000
# "forced" writes marks, which the test before may have switched off.
echo 1 >"$TRACING/tracing_on"
at_end "echo 1 >$switch"

run()	# name: sets $out to the recorder's output, and $nr_futexes to the number of futex calls
{
	check "$1: recorded" "ldb-record --kernel module -o $1.data -- forced 50 100" 0
	trace-cat "$1.data" sched >"$1.rows"
	# LDB_SCHED_OP_FUTEX_WAIT and _WAKE
	nr_futexes=$(grep -cE '^sched op=1[67] ' "$1.rows")
	diag "$1: $nr_futexes futex calls of $(wc -l <"$1.rows") events"
}

says_so()
{
	printf '%s\n' "$out" | grep -q 'ftrace delivers no futex calls: sysctl kernel.ftrace_enabled=1'
}

run on
ok "there are futex calls" test "$nr_futexes" -gt 50
ok "and nothing is said" eval "! says_so"
echo 0 >$switch
run off
ok "switched off there are none" test "$nr_futexes" -eq 0
ok "and it is said, with what to do" says_so
ok "the rest is there" eval "grep -q '^sched op=1 ' off.rows"
echo 1 >$switch
run again
ok "switched on again there are" test "$nr_futexes" -gt 50
ok "and nothing is said any more" eval "! says_so"
# Tests the same switch while a recording is paused: when it resumes, the recorder must report which
# events do not come again, and later that they do.
forced 50 8000 >forced.out &
pid=$!
ldb-record --kernel module -o paused.data -p "$pid" 2>paused.err &
recorder=$!
wait_for 20 "ldb-ctl $pid status"
ldb-ctl "$pid" pause >/dev/null
echo 0 >$switch
check "it goes on without futex calls" "ldb-ctl $pid resume"
ldb-ctl "$pid" pause >/dev/null
echo 1 >$switch
check "and with them" "ldb-ctl $pid resume"
wait "$recorder"
ldb-report -q -i paused.data --summary --json >paused.json
diag "$(jq -r .kernel_why paused.json)"
ok "it is said at once" grep -q 'after a pause there are no futex calls from .*sysctl kernel.ftrace_enabled=1' paused.err
check_jq "and in the trace, with their end" paused.json '.kernel_why | test("no futex calls from.*all kernel events are recorded again from")'
check "the module unloads" "rmmod ldb"
finish
