#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes pictures of the report page, of a recording made for them, for
# Documentation/screenshots:
#
#	sh tests/browser/report-shots.sh [FOLDER]
#
# It needs what make check has built.

. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
picture_begin "$@" &&
	ldb-record -q -o ldb.data -- ./figure1 >/dev/null && mv ldb.data before.data &&
	ldb-record -q -o ldb.data -- ./figure1 >/dev/null &&
	ldb-report -q -o report.html --diff before.data || exit 1
node "$BROWSER/report-shots.js" report.html "$folder"
