# SPDX-License-Identifier: GPL-2.0-or-later
# Tests what ldb-flows shows of six performance problems in a program that was not compiled for ldb:
# each problem must be visible in the counts, times or waits of functions, threads or pools.
# Slow: flows.t tests the counts and times from which the findings follow.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH

$CC -O2 -fPIC -shared "$PROGRAMS/flows-pool.c" -o libpool.so -pthread || exit 1
$CXX -O2 "$PROGRAMS/flows-findings.cc" -o flows-findings -L. -lpool -Wl,-rpath,"$PWD" -pthread || exit 1

find_in()	# way
{
	./flows-findings "$1" >want.out
	ldb-record -q --flows -o "$1.data" -- ./flows-findings "$1" >got.out
	ok "$1: recorded" test $? = 0
	ok "$1: same output" cmp want.out got.out
	ldb-flows -q -i "$1.data" --json >"$1.json"
	check_jq "$1: self times and waits add up to the threads' time" "$1.json" '([.components[].self_ns] | add) == .lifetime_ns and .calls > 0'
	check_jq "$1: no thread was lost" "$1.json" '.lost.threads == 0 and .lost.bad_rows == 0'
}

find_in map
check_jq "most calls compare" map.json '.functions | max_by(.calls) | .function | test("^(memcmp|.*compare)$")'
check_jq "they are hundreds of thousands" map.json '[.functions[] | select(.function | test("^(memcmp|.*compare)$")) | .calls] | add > 500000'
diag "$(ldb-flows -q -i map.data --by=function --top=5 | tail -n 8)"

find_in blocks
check_jq "read() and write() are counted exactly" blocks.json '[.functions[] | select(.caller == "flows-findings" and (.function | test("^(read|write)$"))) | .calls] == [8192, 8192]'
check_jq "they are where the program's calls are longest" blocks.json '[.functions[:2][].function] | sort == ["read", "write"]'

find_in madvise
check_jq "madvise() is called for each block" madvise.json '.functions[] | select(.function == "madvise" and .caller == "libpool.so") | .calls == 4000'
check_jq "the allocator's longest call" madvise.json '[.functions[] | select(.caller == "libpool.so")][0].function == "madvise"'

find_in pipeline
check_jq "a pool of each stage" pipeline.json '[.pools[] | select(.threads == 2) | .pool] | sort == ["extract", "rank", "seg", "vec"]'
check_jq "the stage that has the work" pipeline.json '[.pools[] | select(.threads == 2)] | max_by(.effective_ns) | .pool == "rank"'
check_jq "it works ten times as long as another" pipeline.json '[.pools[] | select(.threads == 2)] | (max_by(.effective_ns).effective_ns) > 10 * (min_by(.effective_ns).effective_ns)'
diag "$(ldb-flows -q -i pipeline.data --by=pool | tail -n 9)"

find_in lock
check_jq "the longest wait, but for the end of threads, is for the allocator's lock" lock.json '[.functions[] | select(.wait and .function != "pthread_join")][0] |
	.function == "pthread_mutex_lock" and .caller == "libpool.so"'
diag "$(ldb-flows -q -i lock.data --by=wait | tail -n 6)"
check_jq "of these calls the count is exact" lock.json '[.functions[] | select(.function == "pthread_mutex_lock" and .caller == "libpool.so") | .calls] == [2400]'

find_in dry
check_jq "workers wait for more" dry.json '[.threads[] | select(.pool == "consumes") | .longest] | unique == ["pthread_cond_wait"]'
check_jq "most of their time" dry.json '[.pools[] | select(.pool == "consumes") | .wait_ns > .lifetime_ns / 2] == [true]'
check_jq "and who fills the queue sleeps" dry.json '.threads[] | select(.tid and .component == "flows-findings" and .pool != "consumes") | .longest == "usleep" or .longest == "nanosleep" or .longest == "clock_nanosleep"'
finish
