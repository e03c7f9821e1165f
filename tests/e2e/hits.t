# SPDX-License-Identifier: GPL-2.0-or-later
# Page faults and interrupts without the module, as far as this user may have them.
. "$(dirname "$0")/../engine.sh"
. "$TOP/tests/hits.sh"

PATH=$BUILD/tests/tools/helpers:$PATH:.
need_build
ok "the program builds" cc_ldb -O2 -g "$PROGRAMS/hits.c" -o hits
judge()	# source
{
	record_hits --kernel "$1"
	if ! [ -f hits.data ]; then
		skip "$1" "$(cat hits.err)"
		return
	fi
	if has_meta kernel_faults; then
		judge_faults
	else
		skip "page faults by $1" "$(trace-cat hits.data meta | sed -n 's/^meta kernel_why=//p')"
	fi
	if has_meta kernel_irqs; then
		judge_irqs
	else
		skip "interrupts by $1" "$(trace-cat hits.data meta | sed -n 's/^meta kernel_why=//p')"
	fi
}

judge bpf
judge perf
finish
