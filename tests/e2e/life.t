# SPDX-License-Identifier: GPL-2.0-or-later
# Tests birth and death: the ways to exit, fork, vfork, exec, daemons, signals, threads that
# come and go.  Their output or exit status must be as without ldb.
. "$(dirname "$0")/../lib/engine.sh"
need_build

for p in exits forker signals many-threads; do
	cc_ldb -O2 -g "$PROGRAMS/$p.c" -o $p -pthread || exit 1
	$CC -O2 -I"$TOP/libldb/include" "$PROGRAMS/$p.c" -o bare-$p -pthread || exit 1
done

for way in return exit _exit quick_exit abort signal exit-thread main-thread cancel; do
	./bare-exits $way >want.out 2>/dev/null
	want=$?
	./exits $way >got.out 2>/dev/null
	got=$?
	ok "$way, alone: status $want" test "$got" -eq "$want"
	record_apart exits.data ./exits $way >got.out 2>got.err
	got=$?
	ok "$way, recorded: status $want" test "$got" -eq "$want"
	[ "$got" -eq "$want" ] || diag "status $got: $(tail -n 3 got.err)"
	ok "$way, recorded: same output" cmp want.out got.out
	check "$way: the trace is whole" "ldb-report -i exits.data" 0 'work_us'
done

for how in "fork 20" "threads 20" "vfork 10"; do
	# shellcheck disable=SC2086	# how is two words
	./bare-forker $how >want.out
	check "$how, recorded" "record_apart fork.data ./forker $how 2>fork.err" 0 "$(cat want.out)"
	check "$how: the parent is in the trace" "ldb-report -i fork.data" 0 'work_us'
done
ldb-report -i fork.data --json >fork.json
rm -f done.txt
check "a daemon: without children, the recorder ends with the program it started" \
	"ldb-record --no-children -o d.data -- ./forker daemon done.txt" 0
ok "a daemon: the child goes on" wait_for 10 "grep -q done done.txt"
check "exec of an uninstrumented program" "ldb-record -o x.data -- ./forker exec echo after exec" 0 '^after exec$'
check "exec of an instrumented program" "record_apart x.data ./forker exec ./exits return" 7 'exit handler'
check "exec: the trace opens" "ldb-report -i x.data" 0 'work_us'

check "signals, alone" "./signals 300" 0 '^signals: worked, interrupted, 0 wrong$'
check "signals, recorded" "record_apart s.data ./signals 1000" 0 '^signals: worked, interrupted, 0 wrong$'
check "signals: the handler is in the trace" "ldb-report -i s.data --function on_alarm" 0 'on_alarm'

check "500 threads, alone" "./many-threads 500 50" 0 '^many-threads: 500 worked$'
check "2000 threads, recorded" "record_apart m.data ./many-threads 2000 64" 0 '^many-threads: 2000 worked$'
ldb-report -i m.data --json >m.json
check_jq "their functions are in the report" m.json '[.functions[] | select(.function == "descend") | .count] | add > 100'
check "600 threads at once, recorded" "ldb-record -o m.data -- ./many-threads 2000 600" 0 '^many-threads: 2000 worked$'

# Here the program is linked with the runtime, and is not recorded.
# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/many-threads.c" -o dormant -pthread $link_runtime || exit 1
check "dormant" "./dormant 2000 64" 0 '^many-threads: 2000 worked$'

finish
