# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Measures how long it takes from the end of a slow request, which is the trigger, until its dump is
# complete: while the machine is idle, and while eight tasks of the same priority want its CPUs.
# The results are times and not ratios, because a person waits for the dump.
dumps_nr=20
dumps_bound=1000	# ms

dumps_rows()	# file title
{
	sort -n "$1" | awk -v title="$2" -v bound="$dumps_bound" '
		$1 >= 0 { v[++n] = $1; if ($2 > named) named = $2 }
		$1 < 0 { missing++ }
		function at(q) { i = int(n * q + 0.999999); return v[i < 1 ? 1 : i] }
		END {
			printf "  %-50s %6.0f %6.0f %6.0f %6.0f  %s\n", title, v[1], at(0.5), at(0.9), v[n],
				n && !missing && v[n] < bound ? "PASS" : "FAIL"
			printf "    with names after at most %.0f ms; %d dumps, %d missing\n", named, n, missing
			exit !n || missing || v[n] >= bound
		}' || failed=1
}

dumps_run()	# file
{
	rm -f dumps.data.*
	ldb-record -q -o dumps.data --flight 10s --after 0 --trigger 'request>45ms' --max-dumps 1000 \
		--max-dumps-per-minute 1000 -- ./flight-dumps-ldb dumps.data "$dumps_nr" >"$1" 2>record.log
}

bench_dumps()
{
	$cc -O2 -g "$inc" "$plugin" "$programs/flight-dumps.c" -o flight-dumps-ldb -pthread || exit 1
	printf '\n%s\n%-52s %6s %6s %6s %6s\n' "from a trigger to its dump, ms" "" least median 90% most
	dumps_run dumps-idle.txt
	dumps_rows dumps-idle.txt "nothing else runs (load $(cut -d' ' -f1 /proc/loadavg))"
	dumps_hogs=
	for i in 1 2 3 4 5 6 7 8; do
		sh -c 'while :; do :; done' &
		dumps_hogs="$dumps_hogs $!"
	done
	dumps_run dumps-busy.txt
	# shellcheck disable=SC2086	# several
	kill $dumps_hogs
	dumps_rows dumps-busy.txt "eight other tasks run (load $(cut -d' ' -f1 /proc/loadavg))"
	rm -f dumps.data.*
}
