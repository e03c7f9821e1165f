# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# This section runs ldb-why on a million requests: once with ten observed invocations each, and once
# with eighty.  BENCH_REQUESTS is another number of requests, for example for smaller traces.

why_trace()	# name, invocations a request, events a request: makes NAME.data
{
	"$why_helpers/bench-trace" "$OUT/$1.data" $((${BENCH_REQUESTS:-1000000} * $3)) 1 "$2" || exit 1
}

why_rows()	# name bound-seconds
{
	: >"$1.txt"
	round=1
	while [ "$round" -le "$why_rounds" ]; do
		"$why_helpers/run-cost" ldb-why -q -i "$1.data" >why.cost 2>why.err || {
			echo "bench: ldb-why failed: $(tail -n 1 why.err)" >&2
			exit 1
		}
		awk -v r="$round" '{ print r, "s", $1; print r, "cpu", $2; print r, "mb", $3 }' why.cost >>"$1.txt"
		round=$((round + 1))
	done
	row "$1.txt" s "" "  ldb-why: s" "$2"
	row "$1.txt" cpu "" "  CPU seconds"
	row "$1.txt" mb "" "  memory, MB" 1000 %.0f
	rm -f "$1.data"
}

bench_why()
{
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	why_helpers=$BUILD/tests/tools/helpers
	why_rounds=$((rounds < 6 ? rounds : 6))
	why_made=$(why_trace why-10 10 19) || exit 1
	heading "why: $why_made"
	why_rows why-10 10
	why_made=$(why_trace why-80 80 79) || exit 1
	heading "why: $why_made"
	why_rows why-80 ""
}
