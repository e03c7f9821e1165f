# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# This file is sourced by engine.sh and by oracle/bin/ldb-record: it runs the oracle on
# recordings.
#
#	oracle_add FILE		a recording will be written there: the present file is judged first
#	oracle_judge		judges all that are there
#
# The folder $LDB_ORACLE of a test has these files.  Without this folder nothing is judged.
#
#	files		what was written, by its full path
#	cut		those whose recorder is killed, by name (engine.sh: oracle_cut)
#	not		those that are not judged, and why (oracle_not)
#	results		what came out: TAP without numbers

# Builds the oracle, once for each test, if run.sh has not built it.  In guests it is already there.
oracle_build()
{
	ORACLE=$BUILD/tests/oracle/helpers/oracle
	[ -z "${LDB_ORACLE_BUILT:-}" ] && [ ! -e "$LDB_ORACLE/built" ] || return 0
	: >"$LDB_ORACLE/built"
	[ -f "$TOP/tests/oracle/Makefile" ] || return 0
	mkdir -p "$BUILD/tests/oracle"
	(
		flock 9
		env -u LD_PRELOAD "${MAKE:-make}" -s --no-print-directory -C "$TOP/tests/oracle" oracle
	) 9>"$BUILD/tests/oracle/.lock" >"$LDB_ORACLE/build" 2>&1
}

oracle_is_listed()	# list file
{
	[ -f "$LDB_ORACLE/$1" ] && cut -d' ' -f1 "$LDB_ORACLE/$1" | grep -qxF -e "${2##*/}"
}

oracle_look()	# file
{
	oracle_of=$1
	[ -f "$oracle_of" ] && ! oracle_is_listed not "$oracle_of" || return 0
	oracle_build
	oracle_option=
	! oracle_is_listed cut "$oracle_of" || oracle_option=--cut
	# shellcheck disable=SC2086	# one word or none
	if "$ORACLE" $oracle_option "$oracle_of" >"$LDB_ORACLE/said" 2>&1; then
		echo "ok - oracle: ${oracle_of##*/}"
		sed 's/^/# /' "$LDB_ORACLE/said"
	else
		echo "not ok - oracle: ${oracle_of##*/}"
		sed 's/^/# /' "$LDB_ORACLE/said"
		[ ! -s "$LDB_ORACLE/build" ] || head -n 5 "$LDB_ORACLE/build" | sed 's/^/# /'
		[ -z "${LDB_ORACLE_KEEP:-}" ] || cp "$oracle_of" "$LDB_ORACLE_KEEP/$$.${oracle_of##*/}"
	fi >>"$LDB_ORACLE/results"
	[ -n "$oracle_option" ] || oracle_explain "$oracle_of" >>"$LDB_ORACLE/results"
}

# Checks that there is one attribution: the timelines, stacks and profiles of the slowest requests,
# each from its own part of the recording, must equal the partition of all of it.  Guests have no
# helper for that.
oracle_explain()	# file
{
	oracle_same=$BUILD/tests/tools/helpers/one-attribution
	[ -x "$oracle_same" ] || return 0
	if "$oracle_same" "$1" >"$LDB_ORACLE/said" 2>&1; then
		echo "ok - one attribution: ${1##*/}"
		tail -n 1 "$LDB_ORACLE/said" | sed 's/^/# /'
	else
		echo "not ok - one attribution: ${1##*/}"
		tail -n 8 "$LDB_ORACLE/said" | sed 's/^/# /'
		[ -z "${LDB_ORACLE_KEEP:-}" ] || cp "$1" "$LDB_ORACLE_KEEP/$$.${1##*/}"
	fi
}

oracle_add()	# file
{
	[ -d "${LDB_ORACLE:-}" ] || return 0
	case $1 in
	/*) oracle_path=$1 ;;
	*) oracle_path=$PWD/$1 ;;
	esac
	if [ -f "$LDB_ORACLE/files" ] && grep -qxF -e "$oracle_path" "$LDB_ORACLE/files"; then
		oracle_look "$oracle_path"
	else
		echo "$oracle_path" >>"$LDB_ORACLE/files"
	fi
}

oracle_judge()
{
	[ -f "${LDB_ORACLE:-}/files" ] || return 0
	while read -r oracle_next; do
		oracle_look "$oracle_next"
	done <"$LDB_ORACLE/files"
}
