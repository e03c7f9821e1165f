# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that ldb-record --request=socket finds the requests of a program that does not tag them: as
# many as its client made, of the right classes, with epoll, poll, a thread for each connection, and
# threads that answer what another one has read.  And the program does not notice: what it observes
# of the interposed functions is the same, also when signals, cancellation and vfork() come in
# between.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g -pthread "$PROGRAMS/socket-server.c" -o server
cxx_ldb -O2 -g -pthread -Wno-unused-result "$PROGRAMS/socket-same.cc" -o same

nr_of()	# FILE CLASS: how many requests of it are complete
{
	ldb-report -i "$1" --requests --json 2>/dev/null |
		jq --arg class "$2" '[.requests[] | select(.class == $class) | .count - .incomplete] | add // 0'
}

for mode in epoll poll; do
	check "$mode: the server answers as ever" \
		"ldb-record --kernel none --request=socket -o $mode.data -- ./server $mode 100" 0 '^OK$'
	check "$mode: the summary says how many requests there were" "printf '%s\n' '$out'" 0 \
		'requests from connections: 610$'
	ok "$mode: each GET is a request, two in one read are two" test "$(nr_of $mode.data GET)" -eq 410
	ok "$mode: so is each HEAD" test "$(nr_of $mode.data HEAD)" -eq 100
	ok "$mode: and each POST, whose body came later" test "$(nr_of $mode.data POST)" -eq 100
done
for mode in threads pool; do
	check "$mode: the server answers as ever" \
		"ldb-record --kernel none --request=socket -o $mode.data -- ./server $mode 200" 0 '^OK$'
	check "$mode: one request for each of another protocol" "printf '%s\n' '$out'" 0 \
		'requests from connections: 200$'
	ok "$mode: all are complete" test "$(nr_of $mode.data "")" -eq 200
done

# A request for which another server was asked was on no thread until that server had answered.
ldb-report -i epoll.data --requests --note path=/ask --json >ask.json 2>/dev/null
ok "the path is a note" test "$(jq '.requests[0].count' ask.json)" -eq 10
ok "a request that waits for another server takes that long" \
	test "$(jq '.requests[0].p50_ns' ask.json)" -ge 5000000
req=$(jq '.requests[0].slowest[0].req' ask.json)
check "... and is in a queue meanwhile, which says for what" \
	"ldb-timeline -i epoll.data --req $req" 0 'upstream'
check "... which ldb-why has as the first cause" \
	"ldb-why -i epoll.data --class GET" 0 'in the queue upstream|in queue upstream|queue upstream'

check "without the option there are no requests" \
	"ldb-record --kernel none -o none.data -- ./server epoll 20" 0 '^OK$'
ok "... none at all" test "$(nr_of none.data GET)" -eq 0
check "functions beside it are refused" "ldb-record --request=socket --request=main -- ./server" 2 'give socket'
check "so are requests without the runtime" "ldb-record --request=socket --kernel-only -- ./server" 2 'leave out --kernel-only'

./same >plain.out 2>plain.err
ok "the functions' program runs by itself" test -s plain.out
for try in 1 2 3; do
	ldb-record --kernel none --request=socket -q -o same.data -- ./same >same.out 2>same.err
	ok "errno, signals, cancellation, jumps and vfork() are as ever, try $try" cmp plain.out same.out
done
finish
