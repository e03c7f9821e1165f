# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# This section measures the timeline's page of a trace with a million invocations, in Debian's
# chromium without a GPU: how large the page is, how soon it is ready, and how long a frame takes
# while zooming from the whole trace to microseconds, panning and scrolling, in all three views
# (tests/browser/frames.js).  BENCH_PAGE_EVENTS is the number of events in the trace, for example
# for a smaller one.

page_run()	# config
{
	node "$TOP/tests/browser/frames.js" "$page_file" 2>page.log
}

bench_page()
{
	page_why=$(sh "$TOP/tests/browser/driver.sh" 2>&1) && page_why=
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all >/dev/null || exit 1
	heading "page: the timeline of a million invocations in a browser"
	if [ -n "$page_why" ]; then
		note "not here: $page_why"
		return
	fi
	CHROMIUM=$(command -v chromium)
	NODE_PATH=$BUILD/tests/browser/node_modules
	export CHROMIUM NODE_PATH
	page_trace=$OUT/page.data
	page_file=$OUT/page.html
	page_made=$("$BUILD/tests/tools/helpers/bench-trace" "$page_trace" "${BENCH_PAGE_EVENTS:-1136000}") || exit 1
	note "$page_made"
	page_began=$(now_ns)
	ldb-timeline -q -i "$page_trace" -o "$page_file" || exit 1
	page_took=$(($(now_ns) - page_began))
	interleave page.txt "$((rounds < 6 ? rounds : 6))" page_run page
	[ ! -s page.why ] || { echo "bench: the page was not measured: $(cat page.why)" >&2; failed=1; }
	note "$(mean page.txt spans %.0f) invocations on it; $(mean page.txt frames %.0f) frames a round; written in $((page_took / 1000000)) ms"
	row page.txt page-mb "" "the page: MB" 10 %.2f
	row page.txt ready-ms "" "ready: ms" 2000 %.0f
	row page.txt median-ms "" "a frame: ms, median" 16 %.2f
	row page.txt p99-ms "" "a frame: ms, p99" "" %.2f
	row page.txt worst-ms "" "a frame: ms, the longest" 50 %.2f
	rm -f "$page_trace" "$page_trace.old"
}
