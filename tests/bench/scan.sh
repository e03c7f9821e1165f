# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Prints what a recording says about its scanner, as lines "ROUND NAME VALUE".  A poll reads
# (gen, top) of a thread and has one of four results:
#
#	valid	the stack at the time of the poll is known: nothing had changed, or the stack was
#		walked and did not change meanwhile
#	invalid	the stack was walked, and the thread changed it meanwhile
#	moving	a change was found, and the stack was not read yet
#	(rest)	the chain could not be followed
#
# Rates are relative to the time in which the scanner was on its CPU, without observation gaps.
scan_figures()	# round trace
{
	ldb-report -i "$2" --summary --json >scan.json || exit 1
	jq -r --arg r "$1" '
		([.threads[].scans] | add) as $scans | ([.threads[].invalid] | add) as $invalid
		| ([.scanners[].polls] | add) as $looks | ([.scanners[].moving] | add) as $moving
		| ([.threads[] | .disorder + .foreign] | add) as $bad
		| ([.scanners[].rounds] | add) as $rounds | ([.scanners[].pages] | add) as $pages
		| (.recording.duration_ns - .observation_gap_ns) as $ns
		| "\($r) rate \($scans / $ns * 1e9)",
		  "\($r) granularity \($ns / ([$looks - $invalid - $moving - $bad, 1] | max))",
		  "\($r) look \($ns / ([$looks, 1] | max))",
		  "\($r) walked \(100 * ($scans + $invalid) / ([$looks, 1] | max))",
		  "\($r) invalid \(100 * $invalid / ([$looks, 1] | max))",
		  "\($r) moving \(100 * $moving / ([$looks, 1] | max))",
		  "\($r) frames \(([.scanners[].frames] | add) / ([$scans + $invalid, 1] | max))",
		  "\($r) away \(100 * .observation_gap_ns / .recording.duration_ns)",
		  "\($r) round \($ns / ([$rounds, 1] | max))",
		  "\($r) pages \($pages / ([$rounds, 1] | max))",
		  "\($r) resolution \(.resolution_ns)",
		  "\($r) from \(.observed_95pct_from_ns)",
		  "\($r) spent \(([.threads[].cost_ns] | max) / .recording.duration_ns * 100)",
		  "\($r) seen \(100 * (.observed_calls + .below_threshold) / ([.calls, 1] | max))"' scan.json
}

scan_rounds()	# file options... -- program...
{
	scan_file=$1
	shift
	: >"$scan_file"
	round=1
	while [ "$round" -le "$((rounds < 8 ? rounds : 8))" ]; do
		record -o scan.data "$@"
		scan_figures "$round" scan.data >>"$scan_file"
		round=$((round + 1))
	done
}

# This section measures the scanner on 20 frames that are replaced every microsecond.  The
# stack20 program has one thread and makes 20 million invocations a second.  Writing all of these
# also exercises the rings and the recorder, so this is shown in a table of its own.
bench_scan()
{
	scan_rounds scan.txt --budget 100% --func-threshold 20us -- ./storm-ldb stack20 1.5 "$cpu"
	heading "scanner at --budget 100%: 20 frames, rebuilt every us (paper: 119 ns, 6 %)"
	row scan.txt granularity "" "ns between two valid polls" 60 %.0f
	row scan.txt invalid "" "invalid, % of polls" 5 %.1f
	row scan.txt moving "" "moving, not walked, % of polls" "" %.1f
	row scan.txt walked "" "walked the stack, % of polls" "" %.1f
	row scan.txt frames "" "records read per walk" "" %.1f
	row scan.txt look "" "ns per poll" "" %.0f
	row scan.txt rate "" "valid walks per second" "" %.0f
	row scan.txt away "" "scanner off its CPU, % of the time" "" %.1f

	scan_rounds scan-all.txt --budget 100% -- ./storm-ldb stack20 1 "$cpu"
	heading "the same, every invocation written"
	row scan-all.txt granularity "" "ns between two valid polls" "" %.0f
	row scan-all.txt seen "" "observed, % of the invocations" "" %.1f
	row scan-all.txt away "" "scanner off its CPU, % of the time" "" %.1f

	scan_rounds scan-default.txt -- ./storm-ldb stack20 1 "$cpu"
	heading "the same at the default budget"
	row scan-default.txt granularity "" "ns between two valid polls" "" %.0f
	row scan-default.txt resolution "" "resolution of what is observed, ns (median)" "" %.0f
	row scan-default.txt from "" "95 % are observed from ns on" "" %.0f
	row scan-default.txt spent "" "charged to the thread, % of its time" 5 %.1f

	storm deep 300000 scan-deep.txt "$rounds" quiet record full
	heading "20 frames, then a us of work: what the program pays"
	row scan-deep.txt record quiet "recorded at the default budget / not"
	row scan-deep.txt full quiet "recorded at --budget 100% / not"

	$cc -O2 -g "$plugin" "$programs/sleepers.c" -o sleepers -pthread || exit 1
	scan_rounds scan-idle.txt -- taskset -c "$cpu" ./sleepers 1000 2 1
	heading "1,000 threads, two of which run, no module"
	row scan-idle.txt round "" "ns per round over those that run" "" %.0f
	row scan-idle.txt pages "" "pages touched per round" "" %.1f
	row scan-idle.txt resolution "" "resolution of what is observed, ns (median)" "" %.0f
	row scan-idle.txt away "" "scanner off its CPU, % of the time" "" %.1f
}
