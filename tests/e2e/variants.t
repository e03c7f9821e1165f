# SPDX-License-Identifier: GPL-2.0-or-later
# Tests programs that are built or loaded in other ways: many dlopen'ed libraries, C11 threads,
# -no-pie with tags, queues, convoys.
. "$(dirname "$0")/../lib/engine.sh"
need_build

# There are 100 instrumented libraries, with and without the runtime.
$CC -O2 "$PROGRAMS/dlopen-main.c" -o dlopen-bare -pthread || exit 1
cc_ldb -O2 -g "$PROGRAMS/dlopen-main.c" -o dlopen-main -pthread || exit 1
i=0
while [ "$i" -lt 100 ]; do
	cc_ldb -O2 -g -fPIC -shared -DLIB_NR=$i "$PROGRAMS/dlopen-lib.c" -o lib$i.so || exit 1
	i=$((i + 1))
done
want='^dlopen-main: 100 libraries, sum 10000$'
check "100 libraries, main not instrumented, alone" "./dlopen-bare . 100" 0 "$want"
check "100 libraries, alone" "./dlopen-main . 100" 0 "$want"
check "100 libraries, runtime preloaded" "LD_PRELOAD=$RUNTIME ./dlopen-main . 100" 0 "$want"
check "100 libraries, recorded" "record_apart dl.data ./dlopen-main . 100" 0 "$want"
ldb-report -i dl.data --json >dl.json
check_jq "functions of the libraries are in the report" dl.json \
	'[.functions[] | select(.function | test("lib_work|spin_1ms"))] | map(.count) | add >= 20'
check_jq "and their lines" dl.json 'any(.functions[]; (.function | test("spin_1ms")) and (.file | test("dlopen-lib.c$")) and .line > 0)'
run_cmd "ldb-record -o dlb.data -- ./dlopen-bare . 100"
ok "100 libraries, main not instrumented, under the recorder: same output" matches "$want"
diag "status $status: $out"

# C11 threads call functions of other names than pthread's.
cc_ldb -O2 -g "$PROGRAMS/c11-threads.c" -o c11 -pthread || exit 1
check "C11 threads, alone" "./c11 100" 0 '^c11-threads: 200 passes$'
check "C11 threads, recorded" "record_apart c11.data ./c11 200" 0 '^c11-threads: 400 passes$'
ldb-report -i c11.data --json >c11.json
check_jq "C11: both players are in the report" c11.json \
	'any(.functions[]; .function | test("^pass_ball")) and any(.functions[]; .function | test("^hold_long"))'
ldb-report -i c11.data --mutex --json >c11-mutex.json
check_jq "C11: waits for mtx_lock are observed" c11-mutex.json '[.. | objects | to_entries[] | select(.key | test("wait")) | .value | numbers] | any(. > 0)'

# With -no-pie, undefined weak functions stay 0, but the tags must be recorded.
for kind in "-no-pie -fno-pie" "-pie -fPIE" "-no-pie -fno-pie -O0" "-flto"; do
	# shellcheck disable=SC2086	# kind is several words
	cc_ldb -O2 -g $kind "$PROGRAMS/requests.c" -o requests || exit 1
	check "requests $kind, alone" "./requests 10" 0 '^requests: errno 77$'
	check "requests $kind, recorded" "record_apart r.data ./requests 100" 0 '^requests: errno 77$'
	ldb-timeline -i r.data --req 100 --json >r.json
	check_jq "requests $kind: the last takes 100 ms" r.json '.req == 100 and .latency_ns > 100000000 and .latency_ns < 10000000000'
	check_jq "requests $kind: it has the function" r.json 'any(.segments[]; .kind == "function" and .name == "serve")'
	ldb-report -i r.data --requests --json >requests.json
	check_jq "requests $kind: 100 are counted" requests.json '[.. | objects | .count? // empty] | any(. == 100) or (add == 100)'
done
$CC -O2 -I"$TOP/libldb/include" "$PROGRAMS/requests.c" -o requests-bare || exit 1
check "an annotated program without the plugin and the runtime" "./requests-bare 10" 0 '^requests: errno 77$'

# Requests are handed from thread to thread.
cxx_ldb -O2 -g "$PROGRAMS/queue.cc" -o queue -pthread || exit 1
check "queue, recorded" "record_apart q.data ./queue 300" 0 '^queue: 300 answered$'
ldb-timeline -i q.data --req 101 --json >q.json
check_jq "request 101 waited in the queue behind 100" q.json \
	'[.segments[] | select(.kind == "queue") | .end_ns - .start_ns] | add > 500000'
ldb-timeline -i q.data --req 100 --json >q.json
check_jq "request 100 was slow in work() itself" q.json \
	'[.segments[] | select(.kind == "function" and (.name | test("^work"))) | .end_ns - .start_ns] | max > 2500000'

# A request waits for several holders one after the other.
cc_ldb -O2 -g "$PROGRAMS/convoy.c" -o convoy -pthread || exit 1
check "convoy, recorded" "record_apart v.data ./convoy 50" 0 '^convoy: 200 turns$'
ldb-timeline -i v.data --slowest 1 --json | jq 'if type == "array" then .[0] else . end' >v.json
check_jq "the slowest waited for a lock" v.json 'any(.segments[]; .kind == "lock_wait" and .end_ns - .start_ns > 300000)'
check_jq "behind at least two holders" v.json \
	'.req as $r | [.segments[] | select(.kind == "lock_hold" and .blocks_req == $r) | .tid] | unique | length >= 2'
check_jq "whose threads have names" v.json 'any(.segments[]; .thread | test("^convoy[0-3]$"))'
check_jq "and who executed critical_section()" v.json \
	'.req as $r | any(.segments[]; .kind == "function" and .blocks_req == $r and (.name | test("^critical_section")))'

# Another clock is used, because ThreadSanitizer replaces clock_gettime().
cc_ldb -O1 -g -fsanitize=thread -DSANITIZED "$TOP/tests/plugin/control.c" -o control -pthread 2>/dev/null || exit 1
./control >control.plain 2>&1
status_plain=$?
for i in 1 2 3; do
	check "--clock monotonic, -fsanitize=thread, $i" \
		"ldb-record -q --clock monotonic -o mono.data -- ./control >control.out; [ \$? -eq $status_plain ] && cmp control.plain control.out" 0
done
check "a trace of the other clock" "ldb-report -i mono.data --summary" 0 'nothing'

finish
