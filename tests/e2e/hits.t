# SPDX-License-Identifier: GPL-2.0-or-later
# Page faults and interrupts by perf, as far as this user may have them.
. "$(dirname "$0")/../engine.sh"
. "$TOP/tests/hits.sh"

PATH=$BUILD/tests/tools/helpers:$PATH:.
need_build
ok "the program builds" cc_ldb -O2 -g "$PROGRAMS/hits.c" -o hits
record_hits --kernel perf
if has_meta kernel_faults; then
	judge_faults
else
	skip "page faults" "$(trace-cat hits.data meta | sed -n 's/^meta kernel_why=//p')"
fi
if has_meta kernel_irqs; then
	judge_irqs
else
	skip "interrupts" "$(trace-cat hits.data meta | sed -n 's/^meta kernel_why=//p')"
fi
finish
