# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-timeline -o FILE.html, opened in a browser: what it shows, how it is operated, and
# that its numbers are those of --json.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_build
need_browser
PATH=$BUILD/tests/tools/helpers:$PATH
${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all >/dev/null || exit 1

# This is the paper's Figure 1.  If the scanner had no CPU, it observed little; then the program is
# recorded again.
cxx_ldb -O2 -g "$PROGRAMS/figure1.cc" -o figure1 -pthread || exit 1
for try in 1 2 3 apart; do
	if [ "$try" = apart ]; then
		record_apart figure1.data ./figure1 -s 2 >record.log 2>&1
	else
		ldb-record -o figure1.data -- ./figure1 -s 2 >record.log 2>&1
	fi
	[ $? -eq 0 ] || { sed 's/^/# /' record.log; echo "Bail out! not recorded"; exit 1; }
	ldb-timeline -q -i figure1.data --slowest 1 --json >figure1.json
	jq -e '.[0].segments | any(.kind == "function" and (.name | test("snapshot")) and .blocks_req)' \
		figure1.json >/dev/null && break
done
diag "$(grep 'kernel events' record.log)"
ldb-report -q -i figure1.data --json >figure1-report.json
ldb-report -q -i figure1.data --mutex --json >figure1-locks.json

ldb-timeline -q -i figure1.data -o figure1.html || { echo "Bail out! figure1"; exit 1; }

# This trace has kernel events with known content.
report-trace sched known-sched.data || exit 1
for req in 1 2 3 4 5; do
	ldb-timeline -q -i known-sched.data --req=$req --json
done | jq -s . >known-sched.json
ldb-timeline -q -i known-sched.data -o known-sched.html &&
	ldb-timeline -q -i known-sched.data --req=3 -o known-req3.html || exit 1
report-trace chain known-chain.data && ldb-timeline -q -i known-chain.data -o known-chain.html || exit 1
report-trace waits known-waits.data && ldb-timeline -q -i known-waits.data -o known-waits.html || exit 1
browser_test timeline.js
