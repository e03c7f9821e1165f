# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the module's main use: ldb-record attaches to a running instrumented program, and the
# timeline of the slowest request shows when the request was off the CPU, and why.
# Alone: unloading is tried while a recorder records for two seconds.
. "$(dirname "$0")/../../lib/guest.sh"

load
ok "the device is there" test -c /dev/ldb
server 60 >server.out 2>&1 &
pid=$!
at_end "kill $pid 2>/dev/null || :"
sleep 0.5
# This load competes with the program for the CPUs.
(while :; do :; done) &
hog=$!
at_end "kill $hog 2>/dev/null || :"
check "attached for three seconds" "ldb-record --kernel module -p $pid -d 3 -o t.data" 0
diag "$out"
kill $hog
ok "nothing lost" eval "! trace-cat t.data lost | grep ."

check "the report says where kernel events are from" "ldb-report -i t.data" 0 'Kernel events: module'
ok "timeline" eval "ldb-timeline -i t.data --slowest 1 --json >timeline.json"
off='[.. | objects | select(.kind? == "runnable" or .kind? == "preempted" or .kind? == "blocked" or .kind? == "futex_wait")]'
diag "$(jq -c "$off | group_by(.kind) | map({kind: .[0].kind, nr: length})" timeline.json)"
check_jq "an off-CPU segment" timeline.json "$off | length > 0"
check_jq "with its cause" timeline.json \
	"$off | any(.[]; .preempted_by.tid? > 0 or .waker.tid? > 0 or .running_tasks[0].tid? > 0)"
check "in the terminal too" "ldb-timeline -i t.data --slowest 1" 0 'preempted|runnable|waits for a CPU'
diag "$out"
check "--sched" "ldb-report -i t.data --sched" 0 'server'

is_used()
{
	grep -q '^ldb [0-9]* [1-9]' /proc/modules
}
check "unloading while a recorder has it open is refused" \
	"ldb-record --kernel module -p $pid -d 2 -o again.data & wait_for 30 is_used; rmmod ldb; rc=\$?; wait \$!; exit \$rc" 1
kill -TERM "$pid"
wait "$pid"
status=$?
ok "the program ends well" test "$status" -eq 0
ok "undisturbed" grep -q 'served, 0 stalls' server.out
check "the module unloads" "rmmod ldb"
finish
