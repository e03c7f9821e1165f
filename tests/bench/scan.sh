# SPDX-License-Identifier: GPL-2.0-or-later
# Section of make bench: sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# The scanner, 20 frames refreshed every microsecond.  The stack20 program has
# one thread.  A look reads (gen, top); one that found a change also walked the
# stack; a walk during which the thread moved on is invalid.
bench_scan()
{
	: >scan.txt
	round=1
	while [ "$round" -le "$((rounds < 8 ? rounds : 8))" ]; do
		record --budget 100% -o stack20.data -- ./storm-ldb stack20 2 "$cpu"
		ldb-report -i stack20.data --summary --json >stack20.json || exit 1
		jq -r --arg r "$round" '
			([.threads[].scans] | add) as $scans | ([.threads[].invalid] | add) as $invalid
			| (.recording.duration_ns - .gap_ns) as $ns | ([.scanners[].looks] | add) as $looks
			| "\($r) rate \($scans / $ns * 1e9)",
			  "\($r) granularity \($ns / ([$looks - $invalid, 1] | max))",
			  "\($r) look \($ns / ([$looks, 1] | max))",
			  "\($r) walked \(100 * ($scans + $invalid) / ([$looks, 1] | max))",
			  "\($r) invalid \(100 * $invalid / ([$looks, 1] | max))",
			  "\($r) away \(100 * .gap_ns / .recording.duration_ns)",
			  "\($r) seen \(100 * .seen / ([.made, 1] | max))"' stack20.json >>scan.txt
		round=$((round + 1))
	done
	heading "scanner at --budget 100%: 20 frames, rebuilt every us (paper: 119 ns, 6 %, 21 %)"
	row scan.txt granularity "" "ns between two valid looks" "" %.0f
	row scan.txt invalid "" "invalid, % of looks" "" %.1f
	row scan.txt walked "" "walked the stack, % of looks" "" %.1f
	row scan.txt look "" "ns per look" "" %.0f
	row scan.txt rate "" "valid walks per second" "" %.0f
	row scan.txt seen "" "seen, % of the invocations made" "" %.1f
	row scan.txt away "" "scanner off its CPU, % of the time" "" %.1f
}
