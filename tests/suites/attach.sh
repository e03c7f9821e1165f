#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Attaches to the process that a test suite has just started (recorded.c).
#
#	attach.sh PID
#
# From the environment: BUILD, and RECORDED, the folder for the trace, PID.data, and for
# what ldb-record says, PID.log.

pid=$1
exec >"$RECORDED/$pid.log" 2>&1
# The process must have become the server before it can be attached to.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	"$BUILD/bin/ldb-record" --kernel=none --max-size 500M -o "$RECORDED/$pid.data" -p "$pid" && break
	[ -d "/proc/$pid" ] || break
	sleep 0.02
done
