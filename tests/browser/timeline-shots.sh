#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes pictures of the timeline page, of a recording and of a generated trace, for
# Documentation/screenshots:
#
#	sh tests/browser/timeline-shots.sh [FOLDER]
#
# It needs what make check has built.

. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
picture_begin "$@" &&
	ldb-record -q -o ldb.data -- ./figure1 >/dev/null &&
	ldb-timeline -q -o figure1.html || exit 1
${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all >/dev/null &&
	"$BUILD/tests/tools/helpers/bench-trace" busy.data 300000 >/dev/null &&
	ldb-timeline -q -i busy.data -o busy.html || exit 1
browser_test timeline-shots.js "$folder"
