# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that ldb-record --request=socket finds the requests of a server that uses io_uring and does
# not tag them: as many as its client made and as the same program's tags show, by system calls and
# with liburing, with single and multiple completions, descriptors of the ring and writes without
# completion.  If it cannot follow a program's rings, it says so.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g -pthread "$PROGRAMS/uring-server.c" -o raw
if ! ./raw plain 1 1 >plain.out 2>&1; then
	skip "requests of a server with io_uring" "io_uring is not available here: $(cat plain.out)"
	finish
fi
servers=raw
if echo '#include <liburing.h>' | $CC -E -x c - >/dev/null 2>&1; then
	cc_ldb -O2 -g -pthread -DLIBURING "$PROGRAMS/uring-server.c" -o lib -luring && servers="raw lib"
	cc_ldb -O2 -g -pthread -DLIBURING "$PROGRAMS/uring-server.c" -o static -l:liburing.a
else
	skip "liburing" "liburing-dev is not installed"
fi

nr_of()	# FILE CLASS: how many requests of it are complete
{
	ldb-report -i "$1" --requests --json 2>/dev/null |
		jq --arg class "$2" '[.requests[] | select(.class == $class) | .count - .incomplete] | add // 0'
}

for server in $servers; do
	for mode in plain fixed silent ask deferred polled; do
		[ "$server-$mode" != raw-polled ] || continue
		check "$server, $mode: the server answers as ever" \
			"ldb-record --kernel none --request=socket -o $server-$mode.data -- ./$server $mode 100" 0 '^OK$'
		check "$server, $mode: the summary says how many requests there were" "printf '%s\n' '$out'" 0 \
			'requests from connections: 400$'
		ok "$server, $mode: each GET is a request" test "$(nr_of $server-$mode.data GET)" -eq 400
	done
	# The kernel chooses the buffer for the bytes, and the runtime does not know which one.
	check "$server: buffers that the kernel selects" \
		"ldb-record --kernel none --request=socket -o $server-many.data -- ./$server multishot 100" 0 '^OK$'
	ok "$server: their requests are found by direction" test "$(nr_of $server-many.data "")" -eq 400

	# Requests for which another server was asked were on no thread until that server had
	# answered.
	ldb-report -i $server-ask.data --requests --note path=/ask --json >ask.json 2>/dev/null
	ok "$server: a request that waits for another server takes that long" \
		test "$(jq '.requests[0].p50_ns' ask.json)" -ge 5000000
	check "$server: ... which ldb-why has as the first cause" \
		"ldb-why -i $server-ask.data --class GET" 0 'queue upstream'

	LDB_TAGS=1 ldb-record --kernel none --request=socket -q -o tags.data -- ./$server plain 500 8 >/dev/null
	ok "$server: of 4,000 requests with tags each is found" test "$(nr_of tags.data tagged)" -eq 4000 \
		-a "$(nr_of tags.data GET)" -eq 4000
done
check "without the option there are no requests" \
	"ldb-record --kernel none -o none.data -- ./raw plain 20" 0 '^OK$'
ok "... none at all" test "$(nr_of none.data GET)" -eq 0

./raw plain 3000 >attached.out &
server=$!
sleep 0.3
check "a server that runs already, with its ring" \
	"ldb-record -p $server --kernel none --request=socket -o attached.data" 0 'requests from connections: [0-9]{4,}'
wait $server
ok "... answers as ever" grep -qx OK attached.out

# A function of another library that is called io_uring_enter(), too, must get all its arguments.
echo 'int io_uring_enter(unsigned a, unsigned b, unsigned c, unsigned d, void *e, unsigned long size) { return size; }' >six.c
$CC -shared -fPIC six.c -o libsix.so && cc_ldb -O2 "$PROGRAMS/uring-edges.c" -o six -L. -lsix -Wl,-rpath,"$PWD"
check "a function with one argument more gets it, not recorded" "LD_PRELOAD=$RUNTIME ./six size" 0 '^24$'
check "and recorded" "ldb-record -q --kernel none --request=socket -o six.data -- ./six size" 0 '^24$'
if [ -x static ]; then
	cc_ldb -O2 -DLIBURING "$PROGRAMS/uring-edges.c" -o edges -luring
	check "rings that were never made, and one after the other" \
		"ldb-record -q --kernel none --request=socket -o edges.data -- ./edges exit" 0 '^OK$'
fi

if [ -x static ]; then
	check "with a static liburing it warns that rings are not followed" \
		"ldb-record --kernel none --request=socket -o static.data -- ./static plain 100" 0 \
		'warning: the program uses io_uring, and 0 of its 1 rings were followed'
fi
finish
