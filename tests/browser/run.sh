#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The browser's part of make check begins here: gets the browser's driver, and shows that
# the harness sees what it is there for.  The pages' own tests are the *.t beside it.

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
