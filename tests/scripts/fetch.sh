#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetches what make check uses and no package installs: the images of the guests' kernels, the
# browser's driver, memcached's and sqlite's sources.  Each is fetched once and stays
# (XDG_CACHE_HOME, build/).  What is not available is printed, and the tests that need it are
# skipped; the exit status is 0.

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$TOP/build}
export TOP BUILD
unset LDB_NO_FETCH

for series in $(sh "$TOP/tests/kmod/kernels.sh" list); do
	sh "$TOP/tests/kmod/kernels.sh" "$series" >/dev/null
done
sh "$TOP/tests/browser/driver.sh"
if pkg-config --exists libevent 2>/dev/null; then
	sh "$TOP/tests/bench/source.sh" memcached >/dev/null
fi
if command -v tclsh >/dev/null; then
	sh "$TOP/tests/bench/source.sh" sqlite3 >/dev/null
fi
exit 0
