#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# This script runs in the guest: it runs tests one after the other, and prints their output and
# results for tests/kmod/run.sh.
#
#	all.sh [-t SECONDS] TEST...
#
# A TEST is a path: a script (*.t) or a program; both print TAP.  The output of each is enclosed by
# "@@ begin NAME" and "@@ end NAME STATUS SECONDS KERNEL", where KERNEL is "complained" if the
# kernel did so during the test, else "clean".  JSON documents that its tools printed come before
# the end, made smaller by thin.jq, each in a line "# json ...".

TOP=/ldb
BUILD=/ldb/build
PATH=$BUILD/bin:$BUILD/tests/tools/helpers:$BUILD/tests/kmod/guest:$PATH
LDB_KO=/ldb/ldb.ko
# json/bin/keep copies the JSON that the tools print.
LDB_JSON=/tmp/json
export TOP BUILD PATH LDB_KO LDB_JSON
mkdir -p "$LDB_JSON"
. /vm/splat.sh

limit=120
if [ "$1" = -t ]; then
	limit=$2
	shift 2
fi

for test; do
	name=${test##*/}
	echo "@@ begin $name"
	dmesg | wc -l >/tmp/seen
	start=$(date +%s)
	case $test in
	*.t) timeout -k 5 "$limit" sh "$test" ;;
	*) timeout -k 5 "$limit" "$test" ;;
	esac
	status=$?
	for json in "$LDB_JSON"/json.*; do
		[ ! -f "$json" ] || jq -c -f /ldb/tests/json/thin.jq "$json" | sed 's/^/# json /'
	done
	rm -f "$LDB_JSON"/*
	# Cleans up, so that the next test does not depend on this one.
	rmmod ldb 2>/dev/null
	dmesg | tail -n "+$(($(cat /tmp/seen) + 1))" >/tmp/new-messages
	kernel=clean
	if splat /tmp/new-messages >/tmp/complaint; then
		kernel=complained
		sed 's/^/# /' /tmp/complaint
	fi
	echo "@@ end $name $status $(($(date +%s) - start)) $kernel"
done
