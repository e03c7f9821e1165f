#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pictures of the report page, of a recording made for it, for Documentation/screenshots:
#
#	sh tests/browser/report-shots.sh [FOLDER]
#
# Needs what make check has built.

. "$(dirname "$0")/../engine.sh"
. "$TOP/tests/browser/harness.sh"
need_browser
folder=${1:-$TOP/Documentation/screenshots}
mkdir -p "$folder" || exit 1
# Not where this was compiled, but what a reader has.
cxx_ldb -O2 -g "-ffile-prefix-map=$TOP/tests/programs/=" "-ffile-prefix-map=$PWD=." \
	"$TOP/tests/programs/figure1.cc" -o figure1 -pthread &&
	ldb-record -q -o ldb.data -- ./figure1 >/dev/null && mv ldb.data before.data &&
	ldb-record -q -o ldb.data -- ./figure1 >/dev/null &&
	ldb-report -q -o report.html --diff before.data || exit 1
node "$BROWSER/report-shots.js" report.html "$folder"
