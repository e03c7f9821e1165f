# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced after engine.sh by the tests that look at pages in a browser.
# shellcheck shell=sh
#
#	need_browser			skips the whole test where there is none
#	browser_test SCRIPT ARGS...	runs it with node; it prints all of the TAP
#	picture_begin [FOLDER]		for *-shots.sh: sets $folder, compiles ./figure1
#
# playwright-core, which drives the browser, and speedscope, which an export is opened in,
# are installed once, into the build folder, from the lock file: npm checks the bytes.

BROWSER=$TOP/tests/browser
BROWSER_MODULES=$BUILD/tests/browser

# Prints why there can be none, or nothing.
browser_setup()
{
	for browser_tool in chromium node npm; do
		command -v "$browser_tool" >/dev/null 2>&1 || {
			echo "no $browser_tool: sh tests/deps.sh"
			return
		}
	done
	mkdir -p "$BROWSER_MODULES" || return
	(
		flock 9
		cd "$BROWSER_MODULES" || exit 1
		if [ -d node_modules/playwright-core ] &&
		   cmp -s package-lock.json "$BROWSER/package-lock.json"; then
			exit 0
		fi
		if [ -n "$(find npm.failed -mmin -10 2>/dev/null)" ]; then
			cat npm.failed
			exit
		fi
		cp "$BROWSER/package.json" "$BROWSER/package-lock.json" . &&
		timeout 180 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1 && exit 0
		rm -f package-lock.json
		echo "npm could not install playwright-core: $(grep -v '^npm warn' npm.log | head -n 1)" |
			tee npm.failed
	) 9>"$BROWSER_MODULES/.lock"
}

need_browser()
{
	browser_why=$(browser_setup)
	[ -z "$browser_why" ] || skip_all "no browser: $browser_why"
	CHROMIUM=$(command -v chromium)
	NODE_PATH=$BROWSER_MODULES/node_modules
	export CHROMIUM NODE_PATH
}

# The script's results become the test's: it must be the last command.
browser_test()
{
	browser_script=$1
	shift
	node "$BROWSER/$browser_script" "$@" >browser.tap
	browser_status=$?
	sed '/^1\.\./d' browser.tap
	nr=$(grep -cE '^(not )?ok ' browser.tap)
	nr_failed=$(grep -c '^not ok ' browser.tap)
	browser_plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' browser.tap)
	[ "$browser_status" -eq 0 ] && [ "${browser_plan:-none}" = "$nr" ] || exit 1
	finish
}

picture_begin()
{
	folder=${1:-$TOP/Documentation/screenshots}
	mkdir -p "$folder" || return
	# Not where this was compiled, but what a reader has.
	cxx_ldb -O2 -g "-ffile-prefix-map=$TOP/tests/programs/=" "-ffile-prefix-map=$PWD=." \
		"$TOP/tests/programs/figure1.cc" -o figure1 -pthread
}
