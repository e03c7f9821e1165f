# SPDX-License-Identifier: GPL-2.0-or-later
# Each allocation that the kernel makes for a session fails once (fail-nth-plain.c).
. "$(dirname "$0")/../../lib/guest.sh"

debugfs=/sys/kernel/debug
[ -d $debugfs/failslab ] || skip_all "a kernel without fault injection"
for kind in failslab fail_page_alloc; do
	# Switches off the kernel's message about failed allocations, which would look like a
	# complaint, and lets allocations that may sleep fail, too.
	echo 0 >$debugfs/$kind/verbose
	echo N >$debugfs/$kind/ignore-gfp-wait
done
echo 0 >$debugfs/fail_page_alloc/min-order

load
fail-nth-plain >out 2>&1
ok "the program ended well" test $? -eq 0
sed 's/^\(ok\|not ok\) [0-9]* - /\1 - /; /^1\.\./d' out
nr=$((nr + $(grep -cE '^(not )?ok ' out)))
nr_failed=$((nr_failed + $(grep -c '^not ok ' out)))
ok "the module unloads" wait_for 20 "rmmod ldb"
finish
