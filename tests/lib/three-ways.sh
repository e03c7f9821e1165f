# SPDX-License-Identifier: GPL-2.0-or-later
# Judges what ldb reports about tests/programs/three-ways.c, whose requests compute, wait for a CPU
# or sleep.  Sourced by tests, on the host and in guests.

# Prints a line for each request: "ID COMPUTES WAITS SLEEPS RESOLUTION", in us.
three_ways_said()	# FILE of ldb-timeline --json
{
	jq -r '
	def sum(k): [.causes[] | select(.kind as $x | k | index($x)) | .total_ns] | add // 0;
	(if type == "array" then .[] else . end) |
	[ .req, (sum(["function", "irq"]), sum(["runnable", "preempted", "throttled"]),
	  sum(["sleep", "io", "futex_wait", "lock_wait"]), ([.causes[].resolution_ns] | max)) / 1000 |
	  floor ] | join(" ")' "$1"
}

# Prints "JUDGED RIGHT WITHIN".  JUDGED is the number of requests that took $3 us for one reason.
# RIGHT is the number of these for which ldb names this reason as the greatest part.  WITHIN is the
# number for which ldb's duration is right, to within the error that ldb states.  The program's own
# counters are the truth.  A request that the machine disturbed for a third of this time is not
# judged.
three_ways_judge()	# FILE of the program, FILE of ldb-timeline --json, us
{
	three_ways_said "$2" >said
	awk -v least="$3" '
	function greatest(a, i, best) { for (i = best = 1; i <= 3; i++) if (a[i] > a[best]) best = i; return best }
	function diff(a, b) { return a > b ? a - b : b - a }
	NR == FNR { truth[$1] = $3 " " $4 " " $5; class[$1] = $2; next }
	$1 in truth {
		split(truth[$1], is)
		for (i = 1; i <= 3; i++) said[i] = $(i + 1)
		way = greatest(is)
		if (is[way] < least * 0.9 || is[1] + is[2] + is[3] - is[way] > least / 3) next
		judged++
		right += greatest(said) == way
		within += diff(said[way], is[way]) <= $5 + least / 20
		if (greatest(said) != way)
			printf "# request %d, %s: is %s, said %d %d %d +-%d\n", $1, class[$1], truth[$1], said[1], said[2], said[3], $5 >"/dev/stderr"
	}
	END { print judged + 0, right + 0, within + 0 }' "$1" said
}
