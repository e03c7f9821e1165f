# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-report -o FILE.html in a browser: it must show the numbers of --json, for all
# requests and for a choice.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
PATH=$BUILD/tests/tools/helpers:$PATH
bench-trace small.data 60000 >/dev/null && bench-trace summed.data 320000 >/dev/null || exit 1
for trace in small summed; do
	ldb-report -q -i $trace.data -o $trace.html || exit 1
done
browser_test report.js small.html small.data summed.html summed.data
