# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-top: it shows what the program does, it leaves nothing in the program, and the
# terminal is restored.
# Long: it presses keys in full screens.
. "$(dirname "$0")/../lib/engine.sh"
need_build
unset COLUMNS
TERM=xterm
export TERM
esc=$(printf '\033')

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/server.c" -o server -pthread $link_runtime || exit 1
cc_ldb -O2 -g "$PROGRAMS/server.c" -o plain -pthread || exit 1
gcc -O2 -g "$PROGRAMS/sleepers.c" -o foreign -pthread -I"$TOP/libldb/include" || exit 1

start()	# sets $pid
{
	./server >server.out 2>&1 &
	pid=$!
	at_end "kill -9 $pid 2>/dev/null || :"
	wait_for 5 "grep -q ldb-control /proc/$pid/task/*/comm"
}

nr_threads()	# number of threads of the program, without ldb's control thread
{
	cat /proc/$pid/task/*/comm | grep -vc ldb-control
}

end_server()	# name
{
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	ok "$1: the program ends as ever" test "$status" -eq 0
	ok "$1: none of its requests took more than a second" grep -q ', 0 stalls' server.out
}

start
threads_before=$(nr_threads)
fds_before=$(find /proc/$pid/fd -mindepth 1 | wc -l)

# JSON has a line for each second; each event is in one of them, and in one only.
ldb-top -p "$pid" -d 1 -n 3 --json >top.json 2>err
status=$?
ok "-n 3: ends by itself" test "$status" -eq 0
ok "nothing is said on stderr" test ! -s err
ok "a line each" test "$(wc -l <top.json)" -eq 3
jq -s . top.json >all.json
check_jq "the times follow each other" all.json '[.[1:], .[:-1]] | transpose | all(.[0].from_ns == .[1].to_ns)'
check_jq "of a second each" all.json 'all(.[]; (.to_ns - .from_ns) > 900000000)'
check_jq "whose numbers they are" all.json "all(.[]; .pid == $pid and .ended == null and .threads == 3)"
check_jq "handle() every time" all.json 'all(.[]; any(.functions[]; .function == "handle" and .caller == "worker" and
	(.file | endswith("server.c")) and .count > 0 and .max_ns >= .p50_ns and .resolution_ns > 0))'
check_jq "and compute(), of which every 50th takes 10 ms" all.json \
	'[.[] | .functions[] | select(.function == "compute") | .max_ns] | max >= 10000000'
check_jq "only what has ended" all.json 'all(.[].functions[]; .count > 0)'
check_jq "what still runs: main() waits for its threads" all.json 'any(.[1:][].running[]; .function == "main" and
	.so_far_ns > 500000000 and .at_least)'
check_jq "requests: the slowest first" all.json 'all(.[]; .requests[0] | .count > 0 and
	([.slowest[].latency_ns] | length > 0 and . == (sort | reverse)) and .slowest[0].latency_ns == .max_ns)'
check_jq "a request is in one line only" all.json '[.[] | .requests[0].slowest[].req] | length == (unique | length)'
check_jq "the numbers of requests go on" all.json '[.[] | [.requests[0].slowest[].req] | min] as $m | $m[0] < $m[1] and $m[1] < $m[2]'
check_jq "the lock by name" all.json 'any(.[]; any(.locks[]; .name == "lock" and .waits.count > 0))'
# A call that began in one second may end in the next one; each of the three threads has a few such
# calls.
check_jq "observed calls of all" all.json 'all(.[]; .calls + 15 >= .observed_calls and .observed_calls > 0) and
	([.[].calls] | add) + 15 >= ([.[].observed_calls] | add)'

# No request may be counted twice: there must not be more than the program can make.
first=$(jq -s '[.[] | .requests[0].slowest[].req] | min' top.json)
ok "(ids)" test "$first" -ge 1
total=$(jq -s '[.[] | .requests[0] | .count] | add' top.json)
span=$(jq -s '(.[2].to_ns - .[0].from_ns) / 1000000' top.json)
# Each of the two threads makes at most one request in 500 us.
ok "as many requests as there can be ($total in $span ms)" test "$total" -le $((${span%.*} * 4 + 10))

check_one_line "no thread can be created" \
	"(ulimit -s 200000000000; ldb-top -p $pid --batch -d 0.5 -n 1)" 1 '^ldb-top: cannot create a thread: '

# Text.
check "--batch" "ldb-top -p $pid --batch -d 0.5 -n 1" 0 'handle\(\)'
check "its head" "ldb-top -p $pid --batch -d 0.5 -n 1" 0 "^\./server  process $pid: last [0-9.]+m?s of"
check "the slowest requests" "ldb-top -p $pid --batch -d 0.5 -n 1" 0 '^ +slowest +start latency'
check_not "no escapes into a pipe" "ldb-top -p $pid -d 0.5 -n 1" 0 "$esc"
check "80 columns" "COLUMNS=80 ldb-top -p $pid --batch -d 0.5 -n 2 | awk 'length > 80' | wc -l" 0 '^0$'
check "--sort, --top" "ldb-top -p $pid --batch -d 0.5 -n 1 --sort=count --top=1" 0 'Sorted by count'
check "a pipe that is closed early is no error" "ldb-top -p $pid --batch -d 0.3 | head -n 1" 0 '^\./server'

if [ -w /dev/full ]; then
	check_one_line "a full disk" "ldb-top -p $pid --batch -d 0.3 -o /dev/full" 1 'cannot write'
fi

# ldb-top is interrupted.
ldb-top -p "$pid" -d 0.5 --batch >int.out 2>&1 &
top=$!
wait_for 10 "grep -q handle int.out"
kill -INT $top
wait $top
status=$?
ok "SIGINT: a clean end" test "$status" -eq 0
ldb-top -p "$pid" -d 0.5 --batch >kill.out 2>&1 &
top=$!
wait_for 10 "grep -q handle kill.out"

# While one tool records, no other one can.
check_one_line "already recorded" "ldb-top -p $pid" 1 '^ldb-top: .*record'
kill -KILL $top
wait $top 2>/dev/null
wait_for 5 "! grep -q ldb-scan /proc/$pid/task/*/comm"
check "after SIGKILL the next one can" "ldb-top -p $pid --batch -d 0.5 -n 1" 0 'handle\(\)'

# Nothing of ldb may be left in the program.
wait_for 5 "! grep -q ldb-scan /proc/$pid/task/*/comm"
ok "no scanner is left" test "$(nr_threads)" -eq "$threads_before"
ok "no descriptor is left" test "$(find /proc/$pid/fd -mindepth 1 | wc -l)" -eq "$fds_before"
end_server "at the end"

# The program ends while it is recorded.
start
ldb-top -p "$pid" -d 30 --batch >killed.out 2>&1 &
top=$!
sleep 1
kill -KILL "$pid"
wait $top
status=$?
ok "killed target: ldb-top ends" test "$status" -eq 0
ok "and shows what it had, and that this was all" grep -q "process $pid: .*, which has ended" killed.out
ok "with its functions" grep -q 'handle()' killed.out

# ldb-top starts the program itself.
check "-- CMD, -o" "ldb-top -d 0.4 --json -o own.json -- ./plain 1" 0 '^server: served'
check "-o has the numbers, the last ones say how it ended" "jq -r .ended own.json | tail -n 1" 0 '^exit:0$'
check "-- CMD: its status is passed on" "ldb-top --batch -- sh -c './plain 1 >/dev/null; exit 7' >/dev/null" 7
check "a shell goes on when its program has ended" \
	"ldb-top --batch -- sh -c './plain 1 >/dev/null; sleep 1; echo went on >on.out; exit 7' >/dev/null; cat on.out" 0 '^went on$'
ldb-top -d 0.4 -n 1 --batch -- ./plain >own.out 2>&1
status=$?
ok "-n: the program that was started for it is ended" test "$status" -eq 0
ok "(and was observed)" grep -q 'handle()' own.out
ok "politely: it says good bye" grep -q '^server: served' own.out

# Wrong usage.
check_one_line "no such process" "ldb-top -p 4194303" 1 '^ldb-top: there is no process 4194303'
check_one_line "neither a process nor a command" "ldb-top" 2 'nothing to observe'
check_one_line "both" "ldb-top -p 1 -- true" 2 'not both'
check_one_line "a program without records" "ldb-top -p $$" 1 '^ldb-top: process .* is not instrumented'
check_one_line "a command without records" "ldb-top -- ./foreign 1 0 1" 1 'is not instrumented'
check_one_line "a command that is none" "ldb-top -- ./no-such-program" 1 'no-such-program'
check_one_line "nowhere to write" "ldb-top -p $$ -o no/such/file" 1 'no/such/file'
check_one_line "nonsense as interval" "ldb-top -p 1 -d often" 2 'interval'
check_one_line "--memory too small" "ldb-top -p 1 --memory=1k" 2 'memory'

# Tests the full screen.
if ! command -v script >/dev/null; then
	skip "a full screen" "no script(1)"
	finish
fi
start

on_screen()	# file keys... : runs ldb-top in a pseudo terminal, and sends the keys
{
	file=$1
	shift
	rm -f ended
	for key; do
		# If ldb-top has ended already, this does not wait.
		for _ in 1 2 3 4 5; do
			[ -e ended ] || sleep 0.2
		done
		printf '%b' "$key"
	done | script -qec "stty rows 24 cols 80; stty -a >before; sh -c 'echo \$\$ >top.pid; exec ldb-top -p $pid -d 0.5 $options'; echo \"status \$?\"; stty -a >after; touch ended" "$file" >/dev/null 2>&1
}

options=
on_screen keys.out '' s p ' ' h h '\033[C' '\033[B' q
ok "q: status 0" grep -q 'status 0' keys.out
ok "the other screen was entered and left" test "$(grep -o "1049[hl]" keys.out | tr '\n' ' ')" = "1049h 1049l "
ok "the cursor is back" test "$(grep -o '?25[hl]' keys.out | tail -n 1)" = "?25h"
ok "the terminal is as it was" cmp -s before after
ok "functions were shown" grep -q 'handle()' keys.out
ok "s and right: another order" sh -c "grep -q 'sorted by p9999' keys.out && grep -q 'sorted by p999 ' keys.out && grep -q 'sorted by p99 ' keys.out"
ok "p: held" grep -q PAUSED keys.out
ok "h: help" grep -q 'another column' keys.out
for sig in INT TERM HUP QUIT SEGV; do
	rm -f top.pid
	(wait_for 10 "grep -q 'handle()' $sig.out" && kill -"$sig" "$(cat top.pid)") &
	on_screen $sig.out '' '' ''
	wait $!
	ok "SIG$sig: the screen is left" test "$(grep -o "1049[hl]" $sig.out | tail -n 1)" = "1049l"
	ok "SIG$sig: the terminal is as it was" cmp -s before after
done
options="-n 2"
on_screen times.out '' '' ''
ok "-n 2: ends by itself" grep -q 'status 0' times.out
(sleep 2; kill -KILL "$pid") &
options=
on_screen gone.out '' '' ''
ok "killed target: the screen is left" test "$(grep -o "1049[hl]" gone.out | tail -n 1)" = "1049l"
ok "and a line says why" grep -q "ldb-top: process $pid has ended" gone.out
options=--batch
start
# The data on the screen are written into a trace.
options="--dump seen.data"
on_screen dump.out '' d q
options=
ok "d: a dump, and one at the end" sh -c 'ls seen.data.1 seen.data.2 >/dev/null'
check "which is a trace with names" "ldb-report -i seen.data.1" 0 'handle\(\)'
check "and says what it is" "ldb-report -i seen.data.1" 0 '^Trigger: what ldb-top showed'
check "--batch --dump: of the last interval" "ldb-top -p $pid -d 0.4 -n 1 --batch --dump batch.data && ldb-why -i batch.data.1" 0 'batch.data.1 is written'

check "--batch on a terminal: no full screen" "script -qec 'ldb-top -p $pid -d 0.4 -n 1 --batch' /dev/null | grep -c 1049" 1 '^0$'
end_server "after the screen"

finish
