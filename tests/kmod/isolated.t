# SPDX-License-Identifier: GPL-2.0-or-later
# Tests a machine that isolates a CPU (isolcpus): a user without privileges cannot arm the module's
# hooks, which interrupts every CPU; with the hooks armed, sessions of a program on another CPU do
# not interrupt the isolated one.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/kmod.sh"
need_guests
check "the guests' programs build" "make -s --no-print-directory -C $KMOD all BUILD=$BUILD" 0
cat >inside.sh <<'END'
insmod /ldb.ko max_user_rate=0 disarm_delay_ms=60000 mode=0666
echo "isolated: $(cat /sys/devices/system/cpu/isolated)"
# Prints how often other CPUs have interrupted CPU 1: for function calls, TLB flushes, rescheduling.
interrupts() { awk '/^ *(CAL|TLB|RES):/ { n += $3 } END { print n }' /proc/interrupts; }
sessions() { taskset 1 sessions-plain "$@"; }
echo "nobody: $(sessions 1 65534)"
echo 1 >/sys/module/ldb/parameters/arm_isolated
before=$(interrupts)
echo "allowed: $(sessions 1 65534)"
[ "$(interrupts)" = "$before" ] || echo "which interrupted it"
echo 0 >/sys/module/ldb/parameters/arm_isolated
echo "armed: $(sessions 1 65534)"
sleep 1
before=$(interrupts)
echo "many: $(sessions 50 65534)"
echo "interrupts: $(($(interrupts) - before))"
rmmod ldb
insmod /ldb.ko max_user_rate=0 disarm_delay_ms=60000
echo "root: $(sessions 1 0)"
rmmod ldb
END
for series in $(sh "$KMOD/kernels.sh" list); do
	if ! triple=$(sh "$KMOD/kernels.sh" $series 2>kernels.err); then
		skip "$series" "$(tail -n 1 kernels.err)"
		continue
	fi
	check "$series: the module builds" "make -s -C $TOP modules BUILD=$BUILD KDIR=$(echo "$triple" | cut -d' ' -f3)" 0
	check "$series: in a guest with CPU 1 isolated" \
		"sh $KMOD/vm.sh -a 'isolcpus=nohz,domain,managed_irq,1' -f inside.sh:/inside.sh -f $BUILD/tests/kmod/guest/sessions-plain \
			-f $BUILD/kmod/$(echo "$triple" | cut -d' ' -f1)/ldb.ko:/ldb.ko \
			$(echo "$triple" | cut -d' ' -f2) 'sh /inside.sh'" 0 '^isolated: 1$'
	diag "$out"
	for line in "nobody: Operation not permitted" "allowed: 1 sessions" "which interrupted it" "armed: 1 sessions" \
		    "many: 50 sessions" "interrupts: 0" "root: 1 sessions"; do
		ok "$series: $line" eval "printf '%s\n' \"\$out\" | grep -qx '$line'"
	done
done
finish
