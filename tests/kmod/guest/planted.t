# SPDX-License-Identifier: GPL-2.0-or-later
# ldb-timeline must show, for each request, the cause that the program planted.
# Timed: the planted causes sleep and work for given numbers of milliseconds.
. "$(dirname "$0")/../../lib/guest.sh"

load
check "recorded" "ldb-record --kernel module -o t.data -- planted" 0 'fact worker'
printf '%s\n' "$out" | grep '^fact ' >facts
fact()	# name
{
	sed -n "s/^fact $1 [a-z]*=//p" facts
}
worker=$(fact worker) holder=$(fact holder) hog=$(fact hog) futexholder=$(fact futexholder)
for req in 1 2 3 4; do
	ldb-timeline -i t.data --req $req --json >req$req.json
	diag "$(ldb-timeline -i t.data --req $req 2>&1 | head -n 1)"
done
all='[.. | objects | select(has("kind"))]'
# Matches a segment with at least this length in ms; links of a chain have no times.
long='((.end_ns // 0) - (.start_ns // 0)) > 1000000 *'

# 1: the holder is preempted by the hog while it holds the mutex.
check_jq "request 1: it waits for the mutex" req1.json \
	"$all | any(.[]; .kind == \"lock_wait\" and .tid == $worker and $long 70)"
check_jq "request 1: its holder is preempted by the hog, for that long" req1.json \
	"$all | any(.[]; .kind == \"preempted\" and .tid == $holder and .preempted_by.tid == $hog and $long 70)"
check_jq "request 1: and that blocks the request" req1.json \
	"$all | any(.[]; .kind == \"preempted\" and .tid == $holder and .blocks_req == 1)"
check_jq "request 1: the running task is the hog" req1.json \
	"$all | any(.[]; .kind == \"preempted\" and .tid == $holder and .running_tasks[0].tid == $hog)"

# 2: the thread is moved to the other CPU and back.
check_jq "request 2: moved from CPU 1 to CPU 0" req2.json \
	"$all | any(.[]; .tid == $worker and .from_cpu == 1 and .to_cpu == 0)"
check_jq "request 2: and back" req2.json "$all | any(.[]; .tid == $worker and .from_cpu == 0 and .to_cpu == 1)"

# 3: the thread is woken while the hog runs on its CPU.
check_jq "request 3: runnable, for as long as the hog runs" req3.json \
	"$all | any(.[]; .kind == \"runnable\" and .tid == $worker and $long 60 and .running_tasks[0].tid == $hog)"
check_jq "request 3: before that asleep on a futex, with its address and its waker" req3.json \
	"$all | any(.[]; .kind == \"futex_wait\" and .tid == $worker and .lock == \"0x$(fact gate)\" and .waker.tid == $(fact main))"

# 4: the shim does not know this lock.
check_jq "request 4: waits in the raw lock, its holder wakes it" req4.json \
	"$all | any(.[]; .kind == \"futex_wait\" and .tid == $worker and $long 40 and .lock == \"0x$(fact raw)\" and .waker.tid == $futexholder)"
check "the module unloads" "rmmod ldb"
finish
