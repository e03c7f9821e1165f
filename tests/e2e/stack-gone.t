# SPDX-License-Identifier: GPL-2.0-or-later
# Tests a thread that unmaps the stack it came from, with its callers' records on it: the
# scanner does not read there, and the program continues.
. "$(dirname "$0")/../lib/engine.sh"
need_build

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/stack-gone.c" -o gone -pthread $link_runtime || exit 1

for how in munmap mprotect mremap trim; do
	check "$how, alone" "./gone $how" 0 '^went on$'
	check "$how, recorded" "record_apart g.data ./gone $how 2>g.err" 0 '^went on$'
	check "$how: what came before is in the trace" "ldb-report -i g.data" 0 'work\(\)'
	rm -f stop
	./gone "$how" stop >gone.out &
	pid=$!
	at_end "kill -9 $pid 2>/dev/null || :"
	sleep 0.6
	check "$how, attached to afterwards" "ldb-record -q --budget 100% -p $pid -d 0.5 -o a.data" 0
	: >stop
	wait "$pid"
	status=$?
	ok "$how: the program went on" test "$status" -eq 0
done
check "trim: the stack is still read" "ldb-report -i a.data" 0 'work\(\)'
finish
