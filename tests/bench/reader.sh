# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# This section measures the reader, with a trace of 2 GB as a busy server would make it
# (bench-trace.c).  Two figures, of ldb-report and of ldb-timeline --req, are also given as ratios
# to the time in which one thread decompresses the same bytes.  This time is measured in the same
# round, so the ratios do not depend on the speed of the machine at that time.  BENCH_EVENTS is the
# number of events in the trace, for example for a smaller one.

reader_cost()	# file name command...: adds "ROUND NAME-s/-cpu/-mb VALUE" to file
{
	reader_file=$1
	reader_name=$2
	shift 2
	"$reader_helpers/run-cost" "$@" >reader.cost 2>reader.err || {
		echo "bench: $* failed: $(tail -n 1 reader.err)" >&2
		exit 1
	}
	awk -v r="$round" -v n="$reader_name" '{ print r, n "-s", $1; print r, n "-cpu", $2
		print r, n "-mb", $3 }' reader.cost >>"$reader_file"
}

# Times are wall-clock times, unless a row says CPU time; the tools may use all CPUs, and the trace
# is in the page cache.
bench_reader()
{
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	reader_helpers=$BUILD/tests/tools/helpers
	reader_trace=$OUT/reader.data
	reader_rounds=$((rounds < 6 ? rounds : 6))
	reader_made=$("$reader_helpers/bench-trace" "$reader_trace" "${BENCH_EVENTS:-170000000}") || exit 1
	events=${reader_made%% *}
	reader_request=$(echo "$reader_made" | sed 's/.*; \([0-9]*\) requests.*/\1/')
	heading "reader: $(($(wc -c <"$reader_trace") / 1000000)) MB, $reader_made"

	: >reader.txt
	round=1
	while [ "$round" -le "$reader_rounds" ]; do
		reader_cost reader.txt inflate "$reader_helpers/bench-inflate" "$reader_trace"
		reader_cost reader.txt report ldb-report -q -i "$reader_trace"
		reader_cost reader.txt req ldb-timeline -q -i "$reader_trace" --req $((reader_request / 2))
		reader_cost reader.txt slowest ldb-timeline -q -i "$reader_trace" --slowest 10
		for what in mutex requests sched; do
			reader_cost reader.txt "$what" ldb-report -q -i "$reader_trace" "--$what"
		done
		round=$((round + 1))
	done
	awk -v e="$events" '$2 == "report-s" { print $1, "per-100M", $3 * 1e8 / e; print $1, "eps", e / $3 }
		$2 == "report-cpu" { print $1, "cpu-ns", $3 * 1e9 / e }' reader.txt >>reader.more
	cat reader.more >>reader.txt
	rm -f reader.more
	row reader.txt report-s inflate-s "ldb-report / decompressing the trace"
	row reader.txt req-s inflate-s "ldb-timeline --req / decompressing the trace"
	row reader.txt eps "" "ldb-report: events per second" "" %.0f
	row reader.txt cpu-ns "" "ldb-report: ns of CPU time for each event" "" %.1f
	row reader.txt per-100M "" "ldb-report: s for 100 M events" 5
	row reader.txt req-s "" "ldb-timeline --req N: s" 1
	row reader.txt slowest-s "" "ldb-timeline --slowest 10: s" 5
	for what in mutex requests sched; do
		row reader.txt "$what-s" "" "ldb-report --$what: s"
	done
	for what in report mutex requests sched; do
		reader_option=" --$what"
		[ "$what" != report ] || reader_option=
		row reader.txt "$what-mb" "" "ldb-report$reader_option: memory, MB" 500 %.0f
	done
	row reader.txt req-mb "" "ldb-timeline --req N: memory, MB" 500 %.0f
	rm -f "$reader_trace" "$reader_trace.old"
}
