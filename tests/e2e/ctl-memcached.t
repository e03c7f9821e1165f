# SPDX-License-Identifier: GPL-2.0-or-later
# A memcached under load is recorded by a recorder that ldb-ctl changes again and again, and then by
# one recorder after the other.  Its client gets no error, and in the end memcached has as many
# threads and descriptors as at the beginning; during the recorders its memory grows by at most
# 8 MiB, and its address space by at most 1 MiB.
#
# With LDB_CTL_NR=1000 there are a thousand changes and recorders, instead of 30, which takes twelve
# minutes; with LDB_CTL_RECORDERS=400, too, there are fewer recorders, and it takes half of that
# time.
# Long: memcached is built first.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/memcached.sh"
need_build

nr_times=${LDB_CTL_NR:-30}
nr_recorders=${LDB_CTL_RECORDERS:-$nr_times}
memcached_build ldb
$CC -O2 -Wall "$servers/batches.c" -o batches || exit 1

port=$((20000 + $$ % 20000))
set -- "$server" -l 127.0.0.1 -p "$port" -U 0 -t 4 -m 64
[ "$(id -u)" -ne 0 ] || set -- "$@" -u root
LD_PRELOAD=$RUNTIME "$@" >server.log 2>&1 &
pid=$!
at_end "kill $pid 2>/dev/null || :"
wait_for 10 "grep -lx mc-worker /proc/$pid/task/*/comm"
(while [ ! -e stop ]; do
	if [ -e hold ]; then
		touch held
		sleep 0.05
	else
		rm -f held
		./batches "$port" 2 >>load.log 2>>load.err || exit 1
	fi
done) &
load=$!
at_end "touch stop"
# After these runs each worker has served the connection with the batches once, so its buffers have
# their final size.
for run in 1 2 3 4; do
	./batches "$port" 1 >>load.log 2>>load.err || break
done

# On a busy machine the server notices late that its client is gone: then it still has established
# sockets, or sockets that wait to be closed.
no_client()
{
	! awk -v port="$(printf ':%04X' "$port")" 'substr($2, length($2) - 4) == port && ($4 == "01" || $4 == "08") { found = 1 }
		END { exit !found }' /proc/net/tcp
}

# Prints descriptors, threads, kilobytes of address space and of memory, while no client is
# connected.
uses()	# file: the list of descriptors is written to it
{
	touch hold
	wait_for 60 "test -e held"
	wait_for 60 no_client
	sleep 0.2
	find "/proc/$pid/fd" -mindepth 1 -printf '%l\n' | sed 's/\[[0-9]*\]//' | sort | uniq -c >"$1"
	rm hold
	echo "$(awk '{ n += $1 } END { print n }' "$1") $(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" \
		"$(awk '/^VmSize/ { size = $2 } /^VmRSS/ { print size, $2 }' "/proc/$pid/status")"
}
before=$(uses fds-before)

attach()	# file [option...]
{
	attach_to=$1
	shift
	ldb-record -q -p "$pid" "$@" -o "$attach_to" 2>>rec.err &
	recorder=$!
	wait_for 20 "ldb-ctl $pid status"
}

change()	# which
{
	case $(($1 % 14)) in
	0) ldb-ctl "$pid" pause ;;
	1) ldb-ctl "$pid" resume ;;
	2) ldb-ctl "$pid" functions '+process_*' ;;
	3) ldb-ctl "$pid" inside-requests on ;;
	4) ldb-ctl "$pid" threshold lock 10us ;;
	5) ldb-ctl "$pid" min-latency '*' 2us ;;
	6) ldb-ctl "$pid" pause ;;
	7) ldb-ctl "$pid" classes +get ;;
	8) ldb-ctl "$pid" resume ;;
	9) ldb-ctl "$pid" functions -file:slabs.c ;;
	10) ldb-ctl "$pid" inside-requests off ;;
	11) ldb-ctl "$pid" min-latency '*' 0s ;;
	12) ldb-ctl "$pid" functions all ;;
	13) ldb-ctl "$pid" classes all ;;
	esac
}

attach change.data --max-size 16G
failed=0
i=0
while [ "$i" -lt "$nr_times" ]; do
	change "$i" >/dev/null 2>>change.err || failed=$((failed + 1))
	i=$((i + 1))
done
ok "$nr_times changes: none fails" test "$failed" -eq 0
[ "$failed" -eq 0 ] || diag "$failed failed: $(sort change.err | uniq -c | head -n 3)"
ldb-ctl "$pid" resume
sleep 0.3
status_events=$(ldb-ctl --json "$pid" status | jq .events)
ldb-ctl "$pid" stop
wait "$recorder"
status=$?
ok "the recorder ends well" test "$status" -eq 0
ldb-report -q -i change.data --summary --json >sum.json
diag "$(jq -c '{lost, left_out, calls, observed_calls}' sum.json); $status_events events"
check_jq "nothing was lost" sum.json '.lost.total - .lost.kernel == 0'
check_jq "all its pauses are there" sum.json ".left_out.pauses == (($nr_times + 13) / 14 | floor) + (($nr_times + 7) / 14 | floor)"
nr_threads=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)
check_jq "and all its threads" sum.json ".threads | map(select(.has_exited | not)) | length == $nr_threads and all(.[]; .unobserved | not)"
after_changes=$(uses fds-changes)

refused=0
i=0
while [ "$i" -lt "$nr_recorders" ]; do
	"$BUILD/bin/ldb-record" -q -p "$pid" -d 0.05 --no-symbols --ring-size 1M -o next.data 2>>next.err || refused=$((refused + 1))
	i=$((i + 1))
done
ok "$nr_recorders recorders, one after the other: none fails" test "$refused" -eq 0
[ "$refused" -eq 0 ] || diag "$refused failed: $(sort next.err | uniq -c | head -n 3)"
after=$(uses fds-after)
diag "descriptors, threads, address space, memory: before $before, after the changes $after_changes, after the recorders $after"
# shellcheck disable=SC2086	# words
set -- $before $after_changes $after
ok "no descriptor is left" test "$9" -eq "$1"
[ "$9" -eq "$1" ] || diag "$(diff fds-before fds-after)"
ok "no thread is left, and none is lost" test "${10}" -eq "$2"
ok "the address space has not grown since the first of them" test "${11}" -le "$(($7 + 1024))"
ok "nor the memory" test "${12}" -le "$(($8 + 8192))"
touch stop
wait "$load"
status=$?
ok "the client had no error" test "$status" -eq 0
diag "$(awk '{ n[$1] += $2 } END { for (w in n) printf "%s %d ", w, n[w] }' load.log)$(cat load.err)"
ok "the server runs on" kill -0 "$pid"
kill "$pid"
finish
