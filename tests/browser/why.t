# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-why -o FILE.html in a browser: its pictures must be drawn, and its numbers must be
# those of ldb-why --json.  One trace is known, with kernel events; the second one has requests
# that waited behind others; the names of the third one contain HTML.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
PATH=$BUILD/tests/tools/helpers:$PATH
bench-trace known.data 60000 >/dev/null || exit 1
cxx_ldb -O2 -g "$PROGRAMS/queue.cc" -o queue -pthread || exit 1
ldb-record -q -o queue.data -- ./queue >/dev/null || exit 1
report-trace markup markup.data || exit 1
for trace in known queue markup; do
	ldb-why -q -i $trace.data --slowest=60 -o $trace.html || exit 1
done
ldb-why -q -i known.data --class=nothing -o none.html || exit 1
browser_test why.js known.html known.data queue.html queue.data markup.html none.html
