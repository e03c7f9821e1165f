# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# This section measures what a call costs.  The bounds are a few nanoseconds, and two rounds
# differ by more than that; so there are many short rounds.
#
#	leaf	the program calls a function that contains one asm statement (a comment),
#		which the plugin treats as a call; the result of one call is the argument
#		of the next, so the CPU cannot execute several calls at the same time
#	fib	recursion to a depth of ten: half of the invocations make two calls each; the
#		other half make none, and need no record
#	qsort	libc calls the program back, at a depth of ten calls
#
# An AMD CPU has bounds of its own, because there some stores of a call take time that the call
# itself does not hide.
if grep -q AuthenticAMD /proc/cpuinfo; then
	calls_bound_quiet=0.4
	calls_bound_record=0.6
else
	calls_bound_quiet=0.3
	calls_bound_record=0.5
fi

# A function that makes no calls gets no record, which costs nothing.  "records per call" is the
# share of the calls that had a record, by ldb-report's count.
records_per_call()	# kind count
{
	calls=$(./storm-base "$1" "$2" "$cpu" | awk '{ print $2 }')
	record -o made.data -- ./storm-ldb "$1" "$2" "$cpu" >/dev/null
	ldb-report -i made.data --summary --json >made.json || exit 1
	jq -r --arg calls "$calls" '"\(.calls) \(.observed_calls) \($calls)"' made.json | awk '{
		printf "%-52s %9.2f  ", "records per call", $1 / $3
		if ($1 / $3 < 0.01) printf "(the plugin gives it none: the rows show what a skipped function costs)\n"
		else printf "(the others cost nothing; observed by the scanner: %.2g %% of the calls)\n", 100 * $2 / $3 }'
}

calls_storm()	# kind count
{
	storm "$1" "$2" "calls-$1.txt" "$((6 * rounds))" base quiet record base2
	heading "calls, $1: $(mean "calls-$1.txt" base %.2f) ns per call without ldb"
	added "calls-$1.txt" base2 base "ns: the same again (noise)"
	if [ "$1" = qsort ]; then
		added "calls-$1.txt" quiet base "ns added per call, not recorded"
		added "calls-$1.txt" record base "ns added per call, recorded"
	else
		added "calls-$1.txt" quiet base "ns added per call, not recorded" "$calls_bound_quiet"
		added "calls-$1.txt" record base "ns added per call, recorded at the default budget" "$calls_bound_record"
	fi
	row "calls-$1.txt" quiet base "not recorded / plain"
	row "calls-$1.txt" record base "recorded / plain"
	if [ "$1" = leaf ]; then
		row "calls-$1.txt" record quiet "recorded / not recorded"
	else
		row "calls-$1.txt" record quiet "recorded / not recorded" 1.10
	fi
	records_per_call "$1" "$2"
}

bench_calls()
{
	calls_storm leaf 30000000
	calls_storm fib 60000
	calls_storm qsort 1000
	nr_full=$((rounds < 6 ? rounds : 6))
	storm qsort 3000 calls-full.txt "$nr_full" quiet full
	heading "at --budget 100%, for comparison"
	row calls-full.txt full quiet "qsort, recorded at --budget 100% / not"
}
