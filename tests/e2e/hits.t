# SPDX-License-Identifier: GPL-2.0-or-later
# Tests page faults and interrupts without the module, as far as this user may record them.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/hits.sh"

PATH=$BUILD/tests/tools/helpers:$PATH:.
need_build
ok "the program builds" cc_ldb -O2 -g "$PROGRAMS/hits.c" -o hits
ok "the one that talks to itself too" cc_ldb -O2 -g "$PROGRAMS/loopback.c" -o loopback

# Counts the soft interrupts after this part of the time for which the trace has events.
nr_soft()	# part, 0 to 1
{
	end=$(trace-cat loop.data sched | sed 's/.* tick=\([0-9]*\).*/\1/' | sort -n | tail -n 1)
	trace-cat loop.data irq | sed -n 's/^irq kind=2 .* start=\([0-9]*\).*/\1/p' |
		awk -v from="$1" -v end="$end" '$1 > from * end { n++ } END { print n + 0 }'
}

# If interrupts are too expensive they are left out, and the recorder says so.
judge_budget()	# source
{
	left_out='interrupts are left out from [0-9.]* s on, they cost [0-9.]* % of the program.s CPU time \(--kernel-budget 0\.01%\)'
	check "$1: a budget that they do not keep to" \
		"ldb-record -q --kernel=$1 --kernel-budget=0.01% -o loop.data -- loopback 3000 2>&1" 0 "^ldb-record: warning: .*$left_out"
	check "$1: reports say so" "ldb-report -i loop.data 2>&1" 0 "$left_out"
	ok "$1: there were some before" test "$(nr_soft 0)" -gt 100
	ok "$1: and none is reported after" test "$(nr_soft 0.8)" -eq 0
	ok "$1: other kernel events go on" test "$(trace-cat loop.data sched | grep -c .)" -gt 10
	check "$1: all of them, with another budget" \
		"ldb-record -q --kernel=$1 --kernel-budget=100% -o loop.data -- loopback 2500 2>&1" 0 '^$'
	ok "$1: to the end" test "$(nr_soft 0.8)" -gt 100
}

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
		judge_budget "$1"
	else
		skip "interrupts by $1" "$(trace-cat hits.data meta | sed -n 's/^meta kernel_why=//p')"
	fi
}

judge bpf
judge perf
finish
