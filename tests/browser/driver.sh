#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs playwright-core, which drives the browser, and speedscope, which an export is opened
# in: once, into the build folder, from the lock file, whose checksums npm verifies.
#
#	tests/browser/driver.sh
#
# The exit status is 0 when they and the browser are installed; otherwise it is 1 and a line
# says why.

: "${TOP:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${BUILD:=$TOP/build}"
lock_file=$TOP/tests/browser/package-lock.json
modules=$BUILD/tests/browser

fail()
{
	echo "driver.sh: $1" >&2
	exit 1
}

for tool in chromium node; do
	command -v $tool >/dev/null 2>&1 || fail "no $tool: make deps"
done
mkdir -p "$modules" && cd "$modules" || exit 1
exec 9>.lock
flock 9
if [ -d node_modules/playwright-core ] && cmp -s package-lock.json "$lock_file"; then
	exit 0
fi
[ -z "${LDB_NO_FETCH:-}" ] || fail "the browser's driver is not installed, and tests fetch nothing: make deps"
command -v npm >/dev/null 2>&1 || fail "no npm: make deps"
cp "$TOP/tests/browser/package.json" "$lock_file" . &&
timeout 180 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1 && exit 0
rm -f package-lock.json
fail "npm could not install playwright-core: $(grep -v '^npm warn' npm.log | head -n 1)"
