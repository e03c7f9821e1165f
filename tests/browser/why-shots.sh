#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes pictures of the page of ldb-why, of a recording made for them, for
# Documentation/screenshots:
#
#	sh tests/browser/why-shots.sh [FOLDER]
#
# It needs what make check has built.

. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/browser.sh"
need_browser
picture_begin "$@" &&
	ldb-record -q -o ldb.data -- ./figure1 >/dev/null &&
	ldb-why -q -o why.html || exit 1
node "$BROWSER/why-shots.js" why.html "$folder"
