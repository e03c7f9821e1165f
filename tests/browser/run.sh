#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# This script begins the browser's part of make check: it installs the browser's driver, and
# shows that the harness detects what it should.  The tests of the pages are the *.t beside it.

. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
printf '<!DOCTYPE html><title>t</title><p>good\n' >good.html
printf '<!DOCTYPE html><title>t</title><img src="http://ldb.invalid/x.png">\n' >network.html
printf '<!DOCTYPE html><title>t</title><script>nothing.there()</script>\n' >throws.html
printf '<!DOCTYPE html><title>t</title><script>console.error("no")</script>\n' >console.html
cp good.html other.html
printf '<!DOCTYPE html><title>t</title><script src="other.html"></script>\n' >file.html
browser_test harness.js
