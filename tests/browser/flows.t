# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-flows -o FILE.html in a browser: its tables and matrix must show what ldb-flows --json
# reports, and so must the page of a comparison; bands must be drawn.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
PATH=$BUILD/tests/tools/helpers:$PATH
report-trace flows known.data || exit 1
ldb-flows -q -i known.data -o known.html || exit 1
report-trace flows slower.data 100000 && ldb-flows -q -i known.data --diff slower.data -o diff.html || exit 1
browser_test flows.js known.html known.data diff.html slower.data
