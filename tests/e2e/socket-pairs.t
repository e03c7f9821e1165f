# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that a request which crosses processes is one timeline by its connections alone: no trace id
# is in it.  Each pair that was joined is compared with the number that the asker has put into its
# message; and the joined trace must say when the requests really began, within the error that it
# states, also if the clocks are 3 ms apart.
. "$(dirname "$0")/../lib/engine.sh"
need_build
oracle_off "a function that lasts as long as its thread is a nanosecond off in some timelines"
PATH=$BUILD/tests/tools/helpers:$PATH

cc_ldb -O1 -g -I"$TOP/libldb/include" "$PROGRAMS/hops.c" -o hops -pthread || exit 1
cc_ldb -O1 -g -I"$TOP/libldb/include" "$PROGRAMS/uncounted.c" -o uncounted || exit 1
cc_ldb -O1 -g -I"$TOP/libldb/include" "$PROGRAMS/shared-upstream.c" -o shared-upstream -pthread || exit 1
port=$((20000 + $$ % 10000 * 2))
cat >waits.sh <<'EOS'
# Waits until a server listens on this port.
until grep -qi ": [0-9A-F]*:$(printf %04X "$1") 0*:0000 0A" /proc/net/tcp; do sleep 0.05; done
EOS

# Records a client, a server, and a second server that the first one asks; each in a recording of
# its own.
record()	# NAME ADDRESS N THREADS
{
	$serve_by ldb-record -q --kernel none --request=socket $options -o "$1-c.data" -- ./hops serve "$2" $((port + 1)) >"$1-c.txt" &
	far=$!
	$serve_by ldb-record -q --kernel none --request=socket $options -o "$1-b.data" -- ./hops serve "$2" "$port" $((port + 1)) >"$1-b.txt" &
	near=$!
	timeout 20 sh waits.sh "$port" && timeout 20 sh waits.sh $((port + 1)) &&
	$ask_by ldb-record -q --kernel none --request=socket $options -o "$1-a.data" -- ./hops ask "$2" "$port" "$3" "$4" >"$1-a.txt" &&
	wait $near && wait $far
}

# Prints for how many requests the joined trace names the right asker: "right N" and "wrong N".  A
# client puts the ids of its requests into its messages, so the path of a server's request contains
# the right id.
pairs()	# FILE
{
	{ trace-cat "$1" note; trace-cat "$1" asked; } | awk '
	function number(text) { sub(/.*=/, "", text); return text }
	$1 == "note" && $6 == "key=path" { path[number($2)] = number($8) }
	$1 == "asked" {
		id = number($2)
		by = number($4)
		sender = (by in path) ? path[by] : "/q/" by
		if (path[id] == sender)
			right++
		else
			wrong++
	}
	END { print "right", right + 0; print "wrong", wrong + 0 }'
}

# Every seventh message belongs to no request of the client; the server asks the other server for
# these, too.
judge_pairs()	# NAME WHAT N THREADS
{
	tagged=$((($3 - $3 / 7) * $4))
	pairs "$1.data" >"$1.pairs"
	diag "$(paste -sd' ' "$1.pairs")" "$(ldb-timeline -i "$1.data" | grep 'by their connection')"
	ok "$2: all pairs are there" test "$(sed -n 's/^right //p' "$1.pairs")" = $((tagged + $3 * $4 + 1))
	ok "$2: none is wrong" test "$(sed -n 's/^wrong //p' "$1.pairs")" = 0
	check "$2: what has no request that sent it is counted" "ldb-timeline -i $1.data --req 100001" 0 \
		"by their connection: $((tagged + $3 * $4 + 1)); not joined: 1 by connections .*, $(($3 / 7 * $4)) of which it is not known"
}

options='' serve_by='' ask_by=''
ok "three processes are recorded" record one 127.0.0.1 100 3
ldb-report --archive one.data one-a.data one-b.data one-c.data >archive.out 2>&1
judge_pairs one "three traces" 100 3
check "a request, and what was asked for it" "ldb-timeline -i one.data --req 100002 --parts" 0 '^3 requests that belong together'
check "-i given three times joins the traces, too" "ldb-timeline -i one-a.data -i one-b.data -i one-c.data --req 100002 --parts" \
	0 '^3 requests that belong together'
ldb-timeline --json -i one.data --req 100002 --parts >t.json
check_jq "as data" t.json 'length == 3 and .[0].req == 100002 and ([.[].segments | .[0].pid] | unique | length == 3)'
req=$(jq '.[2].req' t.json)
check_jq "one begins after the other, and before its end" t.json '.[0].start_ns <= .[1].start_ns and
	.[1].start_ns <= .[2].start_ns and .[2].start_ns <= .[1].end_ns and .[1].start_ns <= .[0].end_ns'
ldb-timeline --json -i one.data --req "$req" --parts >u.json
ok "from any of them" test "$(jq -c '[.[].req]' t.json)" = "$(jq -c '[.[].req]' u.json)"
check "a request alone says that there is more" "ldb-timeline -i one.data --req 100002" 0 '^2 requests of other processes belong to it'
check "one that has no other part" "ldb-timeline -i one-a.data --req 100002 --parts" 0 '^req 100002'
check_one_line "--parts and --slowest" "ldb-timeline -i one.data --parts --slowest=3" 2 'parts goes with --req'
ldb-report --archive two.data one-a.data one-b.data >archive.out 2>&1 &&
	ldb-report --archive again.data two.data one-c.data >archive.out 2>&1
judge_pairs again "a trace that was joined before" 100 3
# Without the trace of the server in between nothing can be joined.
ldb-report --archive gap.data one-a.data one-c.data >archive.out 2>&1
check "the other end is in no trace" "ldb-timeline -i gap.data --req 100002" 0 'connection: 0; not joined: 301 by connections on which no other process has sent'

cat >all.sh <<EOS
./hops serve 127.0.0.1 $((port + 1)) &
./hops serve 127.0.0.1 $port $((port + 1)) &
sh waits.sh $port
sh waits.sh $((port + 1))
./hops ask 127.0.0.1 $port 100 3
wait
EOS
check "processes of one recording" "ldb-record -q --kernel none --request=socket -o kids.data -- sh all.sh" 0
pairs kids.data >kids.pairs
diag "$(paste -sd' ' kids.pairs)"
# The client is not the first process of the joined trace, so its ids there are greater than those
# in the paths.
id=$(trace-cat kids.data req | sed -n 's/^req op=1 .* id=\([0-9]*100002\) .*/\1/p' | head -n 1)
check "... a request and its parts" "ldb-timeline -i kids.data --req $id --parts" 0 '^3 requests that belong together'

# Tests a thread that works on several requests.
ldb-record -q --kernel none --request=socket -o mix-b.data -- ./hops serve 127.0.0.1 "$port" >mix.txt &
server=$!
ok "a thread with several requests: recorded" eval 'timeout 20 sh waits.sh "$port" &&
	ldb-record -q --kernel none --request=socket -o mix-a.data -- ./hops mix 127.0.0.1 "$port" && wait $server'
ldb-report --archive mix.data mix-a.data mix-b.data >archive.out 2>&1
pairs mix.data >mix.pairs
ok "... only what it sends while it has one belongs to it" test "$(paste -sd' ' mix.pairs)" = "right 3 wrong 0"

# Tests one connection to another server that serves two requests at the same time.
ldb-record -q --kernel none --request=socket -o shared-b.data -- ./hops serve 127.0.0.1 "$port" >shared.txt &
server=$!
ok "a connection for several requests: recorded" eval 'timeout 20 sh waits.sh "$port" &&
	ldb-record -q --kernel none --request=socket -o shared-a.data -- ./shared-upstream $((port + 1)) "$port" && wait $server'
ldb-report --archive shared.data shared-a.data shared-b.data >archive.out 2>&1
pairs shared.data >shared.pairs
ok "... after its answer it is not known whose message is sent" test "$(paste -sd' ' shared.pairs)" = "right 2 wrong 0"

# The server's count of bytes is wrong from the first message on, and its connection is never
# closed.
ldb-record -q --kernel none --request=socket -o uncounted-b.data -- ./uncounted serve "$port" 30 >uncounted.txt &
server=$!
ok "bytes that the hooks do not observe: recorded" eval 'timeout 20 sh waits.sh "$port" &&
	ldb-record -q --kernel none --request=socket -o uncounted-a.data -- ./uncounted ask "$port" 30 && wait $server'
ldb-report --archive uncounted.data uncounted-a.data uncounted-b.data >archive.out 2>&1
ok "... there are messages" eval 'trace-cat uncounted-b.data message | grep -q "^message "'
trace-cat uncounted.data asked | awk '{ sub(/id=/, "", $2); sub(/by=/, "", $4); if ($2 % 1000000 != $4) print }' >uncounted.wrong
ok "... make no wrong pair" test ! -s uncounted.wrong

# Tests two clocks, in a separate network whose address is not one that every machine has.
$CC -O1 -g -I"$TOP/libldb/include" "$PROGRAMS/two-sides.c" -o bare-sides || exit 1
if [ "$(id -u)" -ne 0 ] || ! unshare -n ip address add 192.0.2.1/32 dev lo 2>/dev/null || ! ./bare-sides away 3000000 true; then
	skip "two clocks" "no namespaces here"
	finish
fi
$CC -O1 -shared -fPIC "$PROGRAMS/ahead.c" -o ahead.so || exit 1
echo 01234567-89ab-cdef-0123-456789abcdef >boot_id
cat >other.sh <<'EOS'
mount --bind boot_id /proc/sys/kernel/random/boot_id && LD_PRELOAD=$PWD/ahead.so exec "$@"
EOS
in_network()	# NAME: does what record() does, in a separate network
{
	# shellcheck disable=SC2016	# the other shell's
	unshare -n sh -c '. ./functions; ip link set lo up; ip address add 192.0.2.1/32 dev lo; record "$1" 192.0.2.1 150 2' sh "$1"
}

# Prints how long after a message was sent the server had received it: "JOINED TRUE" in ns.
differences()	# NAME
{
	for n in 100005 100054 100100 200005 200054 200100; do
		ldb-timeline --json --req $n --parts -i "$1.data" >t.json || return 1
		joined=$(jq 'if length == 3 then .[1].start_ns - .[0].start_ns else "parts" end' t.json)
		sent=$(sed -n "s/^$n //p" "$1-a.txt")
		came=$(sed -n "s/^$n //p" "$1-b.txt")
		echo "$joined $((came - sent))"
	done
}

stated()	# NAME: the error in ns; 0: one clock
{
	ldb-timeline --req 100005 -i "$1.data" >stated.txt || return 1
	awk '/another clock: off by at most/ { unit["ns"] = 1; unit["us"] = 1e3; unit["ms"] = 1e6; unit["s"] = 1e9
		ns = $(NF - 1) * unit[$NF] } END { print ns + 0 }' stated.txt
}

judge_clock()	# NAME WHAT
{
	ldb-report --archive "$1.data" "$1-a.data" "$1-b.data" "$1-c.data" >archive.out 2>&1
	judge_pairs "$1" "$2" 150 2
	differences "$1" >"$1.txt"
	error=$(stated "$1") || error=none
	diag "$2: stated +-$error ns; in truth, ns: $(awk '{ print $1 - $2 }' "$1.txt" | paste -sd' ')"
	ok "$2: right within the stated error" \
		awk -v e="$error" '{ d = $1 - $2; if (d < 0) d = -d; if (d <= e + 20000) n++ } END { exit n < 5 }' "$1.txt"
	ok "$2: which is less than the clocks are apart" test "${error%.*}" -lt 1000000
}

serve_by="./bare-sides away 3000000" options=--clock=monotonic
{
	sed -n '/^record()/,/^}/p' "$0"
	echo "port=$port"
} >common
{ cat common; echo "serve_by='$serve_by' ask_by='' options='$options'"; } >functions
ok "time namespaces: recorded" in_network names
judge_clock names "time namespaces"
if unshare -m sh -c 'mount --bind boot_id /proc/sys/kernel/random/boot_id' 2>/dev/null; then
	{ cat common; echo "serve_by='unshare -m sh other.sh' ask_by='' options='$options'"; } >functions
	ok "two machines: recorded" in_network hosts
	judge_clock hosts "two machines"
	check "it is said that there are two clocks" "ldb-timeline -i hosts.data --req 100005" 0 'are of another clock: off by at most'
else
	skip "two machines" "no mount namespaces here"
fi
finish
