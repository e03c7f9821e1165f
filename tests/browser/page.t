# SPDX-License-Identifier: GPL-2.0-or-later
# Tests what all pages share: data get into the page as they are, and names cannot become markup.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all >/dev/null || exit 1
"$BUILD/tests/tools/helpers/page-sample" sample.html || exit 1
browser_test page.js
