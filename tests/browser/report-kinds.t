# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-report -o FILE.html with traces of several kinds, with hostile names, and compared with
# another trace.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
PATH=$BUILD/tests/tools/helpers:$PATH
for kind in figure1 sched kernelonly plain empty hostile markup; do
	report-trace $kind $kind.data && ldb-report -q -i $kind.data -o $kind.html || exit 1
done
bench-trace a.data 50000 1 >/dev/null && bench-trace b.data 80000 2 >/dev/null || exit 1
ldb-report -q -i a.data --diff b.data -o diff.html || exit 1
ldb-report -q -i markup.data --diff markup.data -o markup-diff.html || exit 1
ldb-report -q -i a.data --from 5ms --to 15ms -o part.html || exit 1
ldb-report -q -i a.data --thread worker-3 -o thread.html || exit 1
browser_test report-kinds.js
