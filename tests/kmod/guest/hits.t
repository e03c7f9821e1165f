# SPDX-License-Identifier: GPL-2.0-or-later
# Page faults and interrupts are recorded by the module, and by perf.
# Slow: e2e/hits.t tests both by BPF programs and perf, and programs/kmod-hits by the module.
. "$(dirname "$0")/../../lib/guest.sh"
. "$TOP/tests/lib/hits.sh"

load
for kernel in module perf; do
	record_hits --kernel $kernel
	diag "recorded by $kernel"
	ok "page faults are recorded" has_meta kernel_faults
	ok "interrupts are recorded" has_meta kernel_irqs
	ok "nothing lost" eval "! trace-cat hits.data lost | grep ."
	judge_faults
	judge_irqs
done

# Without kernel events the trace does not say whether there were page faults or interrupts, so no
# tool may claim that there were none.
record_hits --kernel none
ok "none: not recorded" eval "! has_meta kernel_faults && ! has_meta kernel_irqs"
ok "timelines" eval "ldb-timeline -i hits.data --slowest=100 --json >hits.timelines"
check_jq "not counted" hits.timelines 'all(.[]; has("page_faults") or has("interrupts") | not)'
check "the module unloads" "rmmod ldb"
finish
