# SPDX-License-Identifier: GPL-2.0-or-later
# The flight recorder on the program of Figure 1 and on memcached, at the same time and for long:
# one request that is made slow makes exactly one dump, with the whole request and the seconds
# before, and ldb-why names the cause; a thousand triggers make two dumps; and the recorders' memory
# does not grow, which is tested only if the test runs for ten minutes or longer.
#
#	LDB_TEST_TIMEOUT=2600 LDB_FLIGHT_MINUTES=30 sh tests/run.sh tests/e2e/flight-long.t
#
# Without LDB_FLIGHT_MINUTES it is one minute.
#
# Slow: flight.t does this for some seconds, with a program of its own.
# Timed: what the programs did must be in the rings when the trigger is met.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/memcached.sh"
need_build

minutes=${LDB_FLIGHT_MINUTES:-1}
# Only the planted request may be slow, whatever else this machine does.
soon()	# pid: threads of the program come before all others
{
	for task in "/proc/$1/task/"*; do
		case $(cat "$task/comm" 2>/dev/null) in
		ldb-*) ;;
		*) chrt -f -p 1 "${task##*/}" ;;
		esac
	done >/dev/null 2>&1
}
retain=$((minutes > 2 ? 60 : 15))

cxx_ldb -O2 -g "$PROGRAMS/figure1.cc" -o figure1 -pthread || exit 1
memcached_build ldb
$CC -O2 -o client -I "$TOP/libldb/include" -I "$servers" "$servers/client.c" "$servers/drive.c" "$servers/wire.c" -lm || exit 1

# Writes a get of several keys to plant.get; plant_memcached() sends it.
make_get()	# keys
{
	awk -v n="$1" 'BEGIN {
		printf "get"
		for (i = 0; i < n; i++) printf " %032x", i
		printf "\r\n" }' >plant.get
}

plant_memcached()
{
	timeout 10 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" && cat plant.get >&3 && grep -aq "^END" <&3' bash "$port"
}

port=$((20000 + $$ % 20000))
set -- "$server" -l 127.0.0.1 -p "$port" -U 0 -t 2 -m 64
[ "$(id -u)" -ne 0 ] || set -- "$@" -u root
LD_PRELOAD=$RUNTIME "$@" >server.log 2>&1 &
pid=$!
at_end "kill $pid 2>/dev/null || :"
wait_for 10 "grep -lx mc-worker /proc/$pid/task/*/comm"
soon "$pid"
# Finds a number of keys for which the server needs 100 ms.  Memory that a worker allocates for its
# first request is available for the next one.
n=4000
while make_get "$n" && [ "$n" -lt 1000000 ]; do
	plant_memcached; plant_memcached; plant_memcached
	begin=$(date +%s%N)
	plant_memcached
	[ $((($(date +%s%N) - begin) / 1000000)) -lt 100 ] || break
	n=$((n * 3 / 2))
done
diag "the planted get has $n keys"
ldb-record -v -p "$pid" -o mc.data --flight ${retain}s --flight-size 16M --after 0 --trigger 'request>45ms' \
	--max-dumps 100 2>mc.err &
mc=$!
wait_for 20 "ldb-ctl $pid status"
# Snapshots are written to memory if possible, because a real disk would make further requests slow.
disk=$WORK
[ ! -w /dev/shm ] || disk=$(mktemp -d /dev/shm/ldb-test.XXXXXX)
at_end "[ \"$disk\" = \"$WORK\" ] || rm -rf \"$disk\""

# 3000 requests a second, and a snapshot of 1200 lines each 10 ms.
# The loop below ends earlier, also on a busy machine.
seconds=$((minutes * 60 + 30))
TMPDIR=$disk ldb-record -v -o fig.data --flight ${retain}s --flight-size 16M --flight-file fig.ring --after 0 \
	--trigger 'request>45ms' -- ./figure1 -q -d 1200 -t 10000 -s "$seconds" >fig.out 2>fig.err &
fig=$!
wait_for 20 'figure1=$(pgrep -P "$fig" figure1) && grep -lx background /proc/$figure1/task/*/comm'
soon "$figure1"

./client -p "$port" --keys 1000 -v 4-64 --fill >fill.out 2>&1
(while [ ! -e stop ]; do
	./client -p "$port" -c 4 -r 300 -k 1000 -S 10 -v 4-64 -s 10 >>load.log 2>>load.err || exit 1
done) &
load=$!
at_end "touch stop; kill $load 2>/dev/null || :"

dumps()	# name: number of dumps
{
	find . -name "$1.[0-9]*" ! -name '*.tmp' | wc -l
}

memory()	# pid: kilobytes of its own, without what is shared with the program
{
	awk '/^RssAnon/ { n = $2 } END { print n + 0 }' "/proc/$1/status"
}

# The snapshot's file becomes a pipe, which nobody reads for 50 ms: so the server waits as for a
# slow disk.
plant_figure1()
{
	mkfifo "$disk/plant"
	mv "$disk/plant" "$disk/figure1-$figure1.snapshot"
	timeout 10 sh -c '{ sleep 0.055; cat >/dev/null; } <"$1"' sh "$disk/figure1-$figure1.snapshot"
	rm "$disk/figure1-$figure1.snapshot"
}

# Prints the size in KiB of the unnamed file in which a recorder retains its events in memory.
ring()	# pid
{
	for fd in "/proc/$1/fd/"*; do
		case $(readlink "$fd") in
		*memfd:ldb-flight*) echo $(($(stat -Lc %b "$fd") / 2)) ;;
		esac
	done
}

# The slow requests are planted after this number of seconds.
plant=$(((minutes * 60 - 20) * 9 / 10))
every=$((minutes > 2 ? 60 : 10))
passed=0 planted='' began=$(date +%s) next=$every
while [ "$passed" -lt "$((minutes * 60))" ]; do
	sleep 10
	passed=$(($(date +%s) - began))
	if [ -z "$planted" ] && [ "$passed" -ge "$plant" ]; then
		before="$(dumps fig.data) $(dumps mc.data)"
		plant_figure1
		plant_memcached
		planted=$(date +%s)
	fi
	[ "$passed" -ge "$next" ] || continue
	next=$((next + every))
	echo "$passed $(memory "$fig") $(($(stat -c %b fig.ring) / 2)) $(dumps fig.data)" \
		"$(memory "$mc") $(ring "$mc") $(dumps mc.data)" >>memory.txt
	diag "$(tail -n 1 memory.txt | awk '{ printf "after %d s: Figure 1: memory %d KiB, file %d KiB, %d dumps; memcached: memory %d KiB, of which the ring is outside: %d KiB, %d dumps", $1, $2, $3, $4, $5, $6, $7 }')"
done

ok "before that there were no dumps" test "$before" = "0 0"
ok "one of Figure 1" test "$(dumps fig.data)" -eq 1
ok "one of memcached" test "$(dumps mc.data)" -eq 1

# At most two dumps are made in a minute.  So the test waits until the dump of the planted request
# is a minute old: then a thousand triggers must make two dumps.
while [ $(($(date +%s) - planted)) -le 61 ]; do
	sleep 1
done
begin=$(date +%s)
i=0
while [ "$i" -lt 1000 ]; do
	echo "dump number $i"
	i=$((i + 1))
done | ldb-ctl "$pid" >many.out 2>many.err
diag "1000 triggers took $(($(date +%s) - begin)) s: $(dumps mc.data) dumps"
sleep 3
ok "1000 more triggers make two dumps" test "$(dumps mc.data)" -eq 3
touch stop
ldb-ctl "$pid" stop
wait "$mc"
status=$?
ok "the recorder of memcached ends well" test "$status" -eq 0
kill "$pid"
wait "$fig"
status=$?
ok "that of Figure 1, too" test "$status" -eq 0
diag "$(cat fig.err mc.err)"
# The first third is left out, because tables grow in that time.
grows()	# column
{
	awk -v c="$1" '{ v[NR] = $c } END { a = v[int(NR / 3) + 1]; print (v[NR] - a) / a * 100 }' memory.txt
}
for c in 2 5; do
	diag "column $c of memory has grown by $(grows $c) %"
	[ "$minutes" -lt 10 ] || ok "memory does not grow (column $c)" awk -v g="$(grows $c)" 'BEGIN { exit !(g < 15) }'
done
oracle_add fig.data.1
oracle_add mc.data.1

judge()	# name
{
	ldb-why -i "$1.data.1" --slowest 1 --json >"$1.json"
	ldb-timeline -i "$1.data.1" --slowest 1 --json | jq 'if type == "array" then .[0] else . end' >"$1.slow"
	diag "$1: $(jq -r '.requests[0].sentence' "$1.json")"
	check_jq "$1: the request is there as a whole" "$1.slow" \
		'.latency_ns > 45e6 and ([.segments[] | select(.kind == "request" and .is_truncated == true)] | length) == 0'
	ldb-report -i "$1.data.1" --summary --json >"$1.sum"
	check_jq "$1: and the seconds before" "$1.sum" \
		"[.recording.meta[] | select(.key == \"flight\")][0].value | split(\" \") | map(tonumber) | .[0] >= $retain"
}
judge fig
check_jq "fig: it waited for the lock" fig.json '.requests[0].first | .cause == "lock_wait" and .label == "lock"'
check_jq "fig: that snapshot() held" fig.json 'any(.requests[0].chain[]; .kind == "held_by" and .label == "snapshot")'
judge mc
check_jq "mc: it is what the server does for a get" mc.json '.requests[0].first.cause == "function"'
finish
