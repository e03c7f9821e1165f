# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by the tests of page faults and interrupts (hits.t), after engine.sh or
# guest.sh.
#
#	record_hits OPTION...	records programs/hits.c into hits.data, with these options
#	judge_faults		each page it touched is a fault, of its thread, request and code
#	judge_irqs		the request that computes has interrupts
#	has_meta KEY		true if the trace has KEY=1

hits_pages=500
hits_rounds=20
hits_ms=600

record_hits()	# option...
{
	rm -f hits.data
	ldb-record -q "$@" -o hits.data -- hits $hits_pages $hits_rounds $hits_ms >hits.facts 2>hits.err ||
		diag "$(cat hits.err)"
	region=$(sed -n 's/^region //p' hits.facts)
}

has_meta()	# key
{
	trace-cat hits.data meta | grep -q "^meta $1=1\$"
}

# Addresses have 12 digits, so they can be sorted as text.
faults_of_region()
{
	trace-cat hits.data fault | awk -v from="${region% *}" -v to="${region#* }" '{
		addr = substr($5, 6)
		if (length(addr) == length(from) && addr "" >= from "" && addr "" < to "")
			print
	}'
}

judge_faults()
{
	faults_of_region >region.faults
	found=$(grep -c . region.faults)
	diag "$found page faults in $region, $(trace-cat hits.data fault | grep -c .) in all"
	ok "each page touched is a page fault" test "$found" -eq $((hits_pages * hits_rounds))
	ok "of one thread" test "$(cut -d' ' -f2 region.faults | sort -u | grep -c .)" -eq 1
	ok "at one place of the program" test "$(sed 's/.* pc=//' region.faults | sort -u | grep -c .)" -eq 1
	ok "timelines" eval "ldb-timeline -i hits.data --slowest=100 --json >hits.timelines"
	check_jq "a request has those of its pages, and few others" hits.timelines \
		"[.[] | select(.req <= $hits_rounds)] | length == $hits_rounds and
		 all(.[]; .page_faults >= $hits_pages and .page_faults < $hits_pages + 100)"
	check_jq "one that touches none has few" hits.timelines \
		".[] | select(.req == $hits_rounds + 1) | .page_faults < 100"
	ok "threads" eval "ldb-report -i hits.data --sched --json >hits.sched"
	check_jq "the thread has all of them" hits.sched \
		"[.threads[] | .page_faults] | max >= $hits_pages * $hits_rounds"
	check "in words" "ldb-timeline -i hits.data --req=1" 0 'page faults: [0-9]'
}

judge_irqs()
{
	diag "$(trace-cat hits.data irq | sed 's/.*name=//' | sort | uniq -c | tr '\n' ' ')"
	ok "timelines" eval "ldb-timeline -i hits.data --slowest=100 --json >hits.timelines"
	# A second should have at least 100 ticks, but a busy host delays some.
	check_jq "interrupts hit the request that computes" hits.timelines \
		".[] | select(.req == $hits_rounds + 1) | .interrupts >= 10 and .interrupt_ns > 0 and
		 .interrupt_ns < .latency_ns"
	check "in words" "ldb-timeline -i hits.data --req=$((hits_rounds + 1))" 0 'interrupts: [0-9]'
	ok "threads" eval "ldb-report -i hits.data --sched --json >hits.sched"
	check_jq "its thread" hits.sched '[.threads[] | .interrupts] | max >= 10'
	check "the threads in words" "ldb-report -i hits.data --sched" 0 'page faults, interrupts'
}
