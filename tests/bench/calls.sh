# SPDX-License-Identifier: GPL-2.0-or-later
# Section of make bench: sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# What a call costs.
bench_calls()
{
	for spec in "leaf 100000000" "fib 200000" "qsort 3000"; do
		# shellcheck disable=SC2086	# kind and count
		set -- $spec
		storm "$1" "$2" "calls-$1.txt" "$rounds" base quiet record base2
		heading "calls, $1: $(awk '$2 == "base" { s += $3; n++ } END { printf "%.2f", s / n }' "calls-$1.txt") ns per call without ldb"
		row "calls-$1.txt" base2 base "the same again (noise)"
		row "calls-$1.txt" quiet base "instrumented, nobody looking / plain"
		row "calls-$1.txt" record base "recorded / plain"
		if [ "$1" = leaf ]; then
			row "calls-$1.txt" record quiet "recorded / nobody looking"
		else
			# The bound is close to the noise of a round: more of them.
			storm "$1" "$2" "bound-$1.txt" "$((3 * rounds))" quiet record
			row "bound-$1.txt" record quiet "recorded / nobody looking" 1.10
		fi
		awk '{ v[$1, $2] = $3; r[$1] = 1 } END { for (i in r) {
			if ((i, "base") in v && (i, "quiet") in v) print i, "quiet", v[i, "quiet"] - v[i, "base"]
			if ((i, "base") in v && (i, "record") in v) print i, "record", v[i, "record"] - v[i, "base"] } }' \
			"calls-$1.txt" >"added-$1.txt"
		row "added-$1.txt" quiet "" "ns added per call, nobody looking" "" "%.2f"
		row "added-$1.txt" record "" "ns added per call, recorded" "" "%.2f"
	done
	nr_full=$((rounds < 6 ? rounds : 6))
	storm qsort 3000 calls-full.txt "$nr_full" quiet full
	heading "without pacing, for comparison"
	row calls-full.txt full quiet "qsort, recorded at --budget 100% / not"
}
