# SPDX-License-Identifier: GPL-2.0-or-later
# For tests that attach to programs which were started without the runtime.

# Attaches to $pid while it runs.  The result is "" if nothing went wrong.
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

# Does what inject() does, for a program that may just have ended.
inject_or_ended()
{
	inject "$@" | grep -v -e 'has ended' -e 'no process'
}
