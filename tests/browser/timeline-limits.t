# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-timeline -o FILE.html in a browser: names that are markup, what was lost, damaged
# or left out, and more invocations than a page holds.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_build
need_browser
PATH=$BUILD/tests/tools/helpers:$PATH
${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all >/dev/null || exit 1

for kind in figure1 markup hostile kernelonly plain empty; do
	report-trace $kind "known-$kind.data" || exit 1
	ldb-timeline -q -i "known-$kind.data" -o "known-$kind.html" || { echo "Bail out! $kind"; exit 1; }
done
ldb-timeline -q -i known-figure1.data --from=29ms --to=51ms -o known-window.html
head -c $(($(wc -c <known-figure1.data) - 10)) known-figure1.data >cut.data
ldb-timeline -q -i cut.data -o cut.html 2>cut.err
echo $? >cut.status
bench-trace big.data 1250000 >/dev/null || exit 1
ldb-timeline -q -i big.data -o big.html || { echo "Bail out! big"; exit 1; }
browser_test timeline-limits.js
