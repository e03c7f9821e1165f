# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by tests that attach to programs which were started without the runtime.

# Attaches to $pid while it runs.  Prints the recorder's messages if it failed, else nothing.
inject()	# [option...]
{
	timeout 60 ldb-record -q --kernel none -p "$pid" -o d.data "$@" 2>rec.err || cat rec.err
}

# Makes two rounds with a program from a package, or a hundred in make check-all.  Each round starts
# the program anew, and attaches to it at another time.  The function is called with the number of
# the round, and adds to $said what is wrong.
inject_rounds()	# label function
{
	rounds=2
	[ -z "${LDB_TEST_ALL:-}" ] || rounds=100
	said= round=0
	while [ "$round" -lt "$rounds" ]; do
		round=$((round + 1))
		"$2" "$round"
	done
	ok "$1, $round times" test -z "$said"
	[ -z "$said" ] || diag "$said"
}

# Makes such rounds with a program that ends by itself; run_program is a function that executes it.
# Its output and exit status must be the same as without ldb.  The recorder attaches after DELAY0,
# DELAY1, ... seconds, up to DELAY(NR-1).
inject_same_output()	# label delay nr
{
	(run_program) >ref.out 2>&1
	same_delay=$2
	same_nr=$3
	same_label=$1
	inject_rounds "$1" same_output
}

same_output()	# round
{
	(run_program) >out 2>&1 &
	pid=$!
	sleep "$same_delay$(($1 * 7 % same_nr))"
	said="$said$(inject_or_ended -d 20ms)"
	wait "$pid" || said="$said $same_label: exit status $?."
	cmp -s out ref.out || said="$said $same_label: other output: $(head -c 1000 out)."
}

# Does what inject() does, for a program that may just have ended.
inject_or_ended()
{
	inject "$@" | grep -v -e 'has ended' -e 'no process'
}
