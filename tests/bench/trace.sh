# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Measures how many bytes and events a recording writes per second, the bytes per event, and how
# fast ldb-report reads.
bench_trace()
{
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	heading "trace"
	: >trace.txt
	round=1
	while [ "$round" -le "$((rounds < 6 ? rounds : 6))" ]; do
		for what in figure1 qsort; do
			rm -f "$what.data"
			start=$(now_ns)
			case $what in
			figure1) ldb-record -o figure1.data -- ./figure1 -q -s 2 2>record.log || exit 1 ;;
			qsort)	record --budget 100% -o qsort.data -- ./storm-ldb qsort 20000 "$cpu" >/dev/null ;;
			esac
			took=$(($(now_ns) - start))
			bytes=$(wc -c <"$what.data")
			ldb-report -i "$what.data" --summary --json >"$what.json"
			events=$("$BUILD/tests/tools/helpers/trace-cat" "$what.data" | wc -l)
			echo "$bytes $took $events $(jq .lost.total "$what.json")" |
				awk -v r="$round" -v w="$what" '{
					print r, w "-bps", $1 / ($2 / 1e9)
					print r, w "-eps", $3 / ($2 / 1e9)
					print r, w "-bpe", $3 ? $1 / $3 : 0
					print r, w "-lost", $4 }' >>trace.txt
		done
		round=$((round + 1))
	done
	for what in figure1 qsort; do
		label=$what
		[ "$what" != qsort ] || label="qsort at --budget 100%"
		row trace.txt "$what-bps" "" "$label: bytes per second" "" %.0f
		row trace.txt "$what-eps" "" "$label: events per second" "" %.0f
		row trace.txt "$what-bpe" "" "$label: bytes per event" "" %.1f
		row trace.txt "$what-lost" "" "$label: events lost" "" %.0f
	done

	# The recording is so long that starting up and reading symbols do not count for much.
	ldb-record -o long.data -- ./figure1 -q -s 10 2>record.log || exit 1
	events=$("$BUILD/tests/tools/helpers/trace-cat" long.data | wc -l)
	: >read.txt
	for round in 1 2 3 4 5 6; do
		start=$(now_ns)
		ldb-report -i long.data --json >/dev/null
		echo "$round read $(($(now_ns) - start))" | awk -v e="$events" '{ print $1, $2, e / ($3 / 1e9) }' >>read.txt
	done
	row read.txt read "" "ldb-report: events read per second ($((events / 1000)) k events)" "" %.0f
}
