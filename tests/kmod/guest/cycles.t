# SPDX-License-Identifier: GPL-2.0-or-later
# Loads, uses and unloads the module many times, with programs and recorders that end normally or
# are killed: nothing may remain.  LDB_CYCLES: default 50.
. "$(dirname "$0")/../../lib/guest.sh"

cycles=${LDB_CYCLES:-50}
oracle_not k.data "its recorder is killed at any time, also before there is anything in it"

# Prints how much memory of the kinds that a session uses the kernel has, in KiB.
kernel_memory()
{
	awk '/^(SUnreclaim|VmallocUsed|Percpu|PageTables|KernelStack):/ { sum += $2 } END { print sum }' /proc/meminfo
}

cycle()	# nr: number of the cycle; prints a line if something is wrong
{
	insmod "$LDB_KO" || { echo "cycle $1: insmod"; return; }
	case $(($1 % 10)) in
	0)	# all is well
		ldb-record -q --ring-size 1M --kernel module -o t.data -- storm brief >log 2>&1 ||
			echo "cycle $1: $(cat log)"
		;;
	1)	# the recorder is killed
		ldb-record -q --ring-size 1M --kernel module -o k.data -- storm forever >log 2>&1 &
		recorder=$!
		usleep $(($1 * 7919 % 300000 + 100000))
		kill -9 $recorder
		wait $recorder 2>/dev/null
		killall -9 storm 2>/dev/null
		;;
	2)	# the program is killed
		ldb-record -q --ring-size 1M --kernel module -o t.data -- storm forever >log 2>&1 &
		recorder=$!
		usleep $(($1 * 7919 % 300000 + 100000))
		wait_for 5 "killall -9 storm"
		wait $recorder 2>/dev/null
		;;
	3)	# nothing uses the module
		;;
	4 | 5)	# recorder and program in one: a program that observes itself, and is killed
		bench-plain all pipe 1000000 >log 2>&1 &
		recorder=$!
		usleep $(($1 * 7919 % 100000))
		kill -9 $recorder
		wait $recorder 2>/dev/null
		;;
	*)	# the same for a program that is not killed
		bench-plain all futex 100 >log 2>&1 || echo "cycle $1: $(cat log)"
		;;
	esac
	# Killed processes end after a moment.
	for try in 1 2 3 4 5 6 7 8 9 10; do
		rmmod ldb 2>rmmod.err && return
		usleep 200000
	done
	echo "cycle $1: $(cat rmmod.err)"
}

# The first cycles fill the kernel's caches.
for i in 1 2 3 4 5 6 7 8 9 10; do
	cycle $i
done >bad
before=$(kernel_memory)
i=10
while [ $i -lt "$cycles" ]; do
	i=$((i + 1))
	uptime0=$(cut -d' ' -f1 /proc/uptime)
	cycle $i
	echo "$((i % 10)) $uptime0 $(cut -d' ' -f1 /proc/uptime)" >>took
done >>bad
sleep 1
after=$(kernel_memory)
ok "$cycles cycles of load, record, unload" test ! -s bad
diag "$(head -n 5 bad)"
diag "memory of the kernel: $before KiB before, $after KiB after"
diag "seconds, by kind: $(awk '{ n[$1]++; t[$1] += $3 - $2 }
	END { for (k = 0; k < 10; k++) printf "%.2f ", t[k] / n[k] }' took)"
ok "no memory stays behind" test $((after - before)) -lt $((cycles * 16 + 4096))
ok "nor an area of the module's" eval "! grep -w ldb /proc/vmallocinfo"
ok "nor its device" test ! -e /dev/ldb
finish
