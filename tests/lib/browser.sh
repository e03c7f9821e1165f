# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced after engine.sh by the tests that open pages in a browser.
# shellcheck shell=sh
#
#	has_browser			true if there is a browser
#	need_browser			skips the whole test where there is none
#	browser_test SCRIPT ARGS...	runs SCRIPT with node; SCRIPT prints all of the TAP
#	picture_begin [FOLDER]		for *-shots.sh: sets $folder, compiles ./figure1
#
# browser/driver.sh has installed what drives the browser.

BROWSER=$TOP/tests/browser
BROWSER_MODULES=$BUILD/tests/browser

# If it returns false, $browser_why says why.
has_browser()
{
	browser_why=$(sh "$BROWSER/driver.sh" 2>&1)
}

need_browser()
{
	has_browser || skip_all "no browser: $browser_why"
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
	# The pages show the paths of an installed ldb, and not those of the folder where this was
	# compiled.
	cxx_ldb -O2 -g "-ffile-prefix-map=$TOP/tests/programs/=" "-ffile-prefix-map=$PWD=." \
		"$TOP/tests/programs/figure1.cc" -o figure1 -pthread
}
