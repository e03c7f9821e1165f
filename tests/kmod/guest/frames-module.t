# SPDX-License-Identifier: GPL-2.0-or-later
# The module reads the chains of threads that leave their CPU, while no CPU is free for the scanner:
# at least 75 % of the waits are in the right function with all its callers, as the program itself
# wrote them down, and no row is outside of its bounds.
. "$(dirname "$0")/../../lib/guest.sh"
# In an emulator reading the frames takes so long that it would rarely fit into the usual budget.
# The program stamps with the time stamp counter, which no kernel trusts in an emulator.
load force_tsc=1
steps=$(crowded 0 0 0)
value()	# name
{
	awk -v n="$1" '$1 == n { print $2 }' values
}
for when in off auto on; do
	check "--kernel-frames=$when: recorded" \
		"ldb-record --kernel module --budget=100% --kernel-frames=$when -o $when.data -- crowded 2 300 $steps $when.log >out 2>facts" 0
	check_not "... with nothing missing" "cat facts" 0 'no readings'
	ok "... compared" eval "crowded-check $when.data $when.log 0 >values"
	sed 's/^/# /' facts values
	ok "... no row is outside of its bounds" test "$(value outside)" -eq 0
	[ "$when" = off ] || ok "... most waits are in the right function with all its callers" \
		sh -c "echo $(value placed) | awk '{ exit !(\$1 >= 75) }'"
done
check "the module unloads" "rmmod ldb" 0
finish
