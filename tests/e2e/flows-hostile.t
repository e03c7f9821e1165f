# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that the stubs between libraries do the program no harm: signals at each of their
# instructions, a thousand threads, recursion deeper than there is room for, small stacks,
# exceptions, longjmp(), cancellation, fork(), vfork() and coroutines in the middle of calls.
# Long: a program is single-stepped.
. "$(dirname "$0")/../lib/engine.sh"
need_build

build()	# option of the linker
{
	$CXX -O2 -fno-builtin -Wno-psabi -fPIC -shared "$1" -DLIBRARY "$PROGRAMS/flows-hostile.cc" -o libhostile.so &&
		$CXX -O2 -fno-builtin -Wno-psabi "$1" "$PROGRAMS/flows-hostile.cc" -o hostile -L. -lhostile \
			"-Wl,-rpath,$PWD" -pthread
}

record()	# what
{
	timeout 60 ldb-record --flows -q -o h.data -- ./hostile "$1"
}

lost()	# name: number of calls that were not timed for lack of room
{
	ldb-flows -q -i h.data --json | jq -r .lost.no_slot
}

build -Wl,-z,lazy || exit 1
check "alone" ./hostile 0 '^alarms: right$'
check_not "alone, all is right" ./hostile 0 ': [^r]'
check "signals at each instruction, unwinding and calling" "record steps" 0 '^stepped through the runtime$'
check "the same: right" "record steps" 0 '^steps: right$'
for what in values threads small-stack exceptions longjumps cancellation forking coroutines slices alarms; do
	check "$what" "record $what" 0 "^$what: right$"
	[ $what = alarms ] || [ $what = slices ] || check "$what: no call lacked room" lost 0 '^0$'
done
check "recursion, deeper than there is room" "record recursion" 0 '^recursion: right$'
check "this is counted" lost 0 '^[1-9]'
check "all are counted nevertheless" \
	"ldb-flows -q -i h.data --json | jq '.functions[] | select(.symbol == \"call_back\").calls'" 0 '^30100$'

# Coroutines are left and continued in the middle of calls.
$CC -O2 -Wall -U_FORTIFY_SOURCE "$PROGRAMS/flows-jumps.c" -o jumps -pthread || exit 1
for what in stack fork; do
	check "coroutines by longjmp(): $what, alone" "./jumps $what" 0 "^$what: right$"
	check "coroutines by longjmp(): $what" "timeout 60 ldb-record --flows -q -o h.data -- ./jumps $what" 0 "^$what: right$"
	check "... calls are counted" "ldb-flows -q -i h.data --json | jq '.functions[] | select(.symbol == \"qsort\").calls'" 0 '^[1-9]'
done

build "-Wl,-z,now" || exit 1
check "bound at once: signals at each instruction" "record steps" 0 '^steps: right$'
check "bound at once: exceptions" "record exceptions" 0 '^exceptions: right$'
finish
