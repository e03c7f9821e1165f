# SPDX-License-Identifier: GPL-2.0-or-later
# memcached serves up to 20 requests of a connection before it serves another (-R): single GETs
# wait behind the batch that another client sent.  ldb-why must say so of at least 70 % of the
# slowest GETs, and with -R 1 of at most 25 %.  See Documentation/cases/memcached.md.
# Timed: the judged causes are those that the scanner had to observe.
# Slow: ctl-memcached.t records memcached, and why-queues.t tests requests that wait behind a batch.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/memcached.sh"
need_build

[ "$program_cpu" != "$scanner_cpu" ] || skip_all "the server needs a CPU of its own"
memcached_build arrival
$CC -O2 -Wall "$servers/batches.c" -o batches || exit 1

seconds=4

# The worker gets a real-time priority, so that other tasks of the machine do not delay it.
soon=
! chrt -f 1 true 2>/dev/null || soon="chrt -f"
undisturbed()	# pid
{
	[ -n "$soon" ] || return 0
	for task in "/proc/$1/task/"*; do
		[ "$(cat "$task/comm" 2>/dev/null)" != mc-worker ] || $soon -p 1 "${task##*/}"
	done
}

# Records a server with this value of -R under the load; client and scanner share a CPU.
record()	# requests-per-event
{
	record_nr=$((record_nr + 1))
	port=$((20000 + ($$ * 16 + record_nr) % 20000))
	set -- "$1" "$server" -l 127.0.0.1 -p "$port" -U 0 -t 1 -m 64 -R "$1"
	[ "$(id -u)" -ne 0 ] || set -- "$@" -u root
	r=$1
	shift
	rm -f "r$r.data" pid
	# shellcheck disable=SC2016	# the inner shell's
	ldb-record -q --scanner-cpu "$scanner_cpu" -o "r$r.data" -- \
		taskset -c "$program_cpu" sh -c 'echo $$ >pid; exec "$@"' sh "$@" >"r$r.log" 2>&1 &
	recorder=$!
	wait_for 10 'test -s pid && grep -lx mc-worker /proc/$(cat pid)/task/*/comm'
	undisturbed "$(cat pid)"
	# shellcheck disable=SC2086	# several words
	${soon:+$soon 1} taskset -c "$scanner_cpu" ./batches "$port" "$seconds" >"r$r.load" 2>&1
	loaded=$?
	kill "$(cat pid)"
	wait "$recorder"
	[ "$loaded" -eq 0 ] || diag "$(cat "r$r.load" "r$r.log")"
	return "$loaded"
}
record_nr=0

# Sets $share to the percentage of the slowest GETs whose first cause is that they waited behind
# others, and $p99 to the latency in ns from which GETs are among the slowest.
judge()	# requests-per-event
{
	ldb-why -i "r$1.data" --class get --json >"r$1.json" 2>"r$1.err" || diag "$(cat "r$1.err")"
	share=$(jq '[.requests[].first.cause == "head_of_line"] | 100 * (map(select(.)) | length) / length | floor' \
		"r$1.json")
	p99=$(jq '.classes[] | select(.class == "get") | .target_lo_ns' "r$1.json")
	diag "-R $1: $(tr '\n' ' ' <"r$1.load"); p99 $p99 ns; first cause of $share %: head of line"
	diag "$(jq -c '.causes[:3][] | {cause, label, first, median_ns}' "r$1.json")"
	share=${share:-50} p99=${p99:-0}
}

for try in 1 2 3; do
	ok "memcached -R 20 under the load, try $try" record 20
	judge 20
	[ "$share" -lt 70 ] || break
done
p99_20=$p99
ok "-R 20: most of the slowest GETs wait behind others" test "$share" -ge 70
check_jq "which is the first of the causes, and whose: those of the batch" r20.json \
	'.causes[0] | .cause == "head_of_line" and .label == "batch" and .anomaly == "overlap"'
check_jq "little is left unexplained" r20.json '.coverage.median > 0.9 and .coverage.unknown < 0.05'
jq '[.requests[] | select(.first.cause == "head_of_line")][0]' r20.json >slowest.json
check_jq "and says behind how many" slowest.json '.ahead > 1'
check "in words" "ldb-why -i r20.data --class get" 0 'get .*: [0-9.]+m?s behind other requests of class batch'
req=$(jq .req slowest.json)
ldb-why -i r20.data --req "${req:-0}" --json >chain.json
check_jq "the chain goes on to a request of the batch that was ahead" chain.json \
	'.requests[0].chain | .[0].kind == "head_of_line" and .[1].kind == "request" and .[0].ns >= .[1].ns'
ahead=$(jq -r '.requests[0].chain[1].label' chain.json)
ldb-timeline -i r20.data --req "${ahead:-0}" --json >ahead.json
check_jq "which is one" ahead.json '.class == "batch"'
ldb-timeline -i r20.data --req "${req:-0}" --json >timeline.json
check_jq "in its timeline: most of its time in the queue" timeline.json \
	'.latency_ns as $l | [.segments[] | select(.kind == "queue")] | length == 1 and .[0].end_ns - .[0].start_ns > $l / 2 and
	 .[0].name == "socket_buffers"'

for try in 1 2 3; do
	ok "memcached -R 1 under the load, try $try" record 1
	judge 1
	[ "$share" -gt 25 ] || break
done
ok "-R 1: the slowest GETs wait behind others no more" test "$share" -le 25
check_jq "what is left is what they do themselves" r1.json '.causes[0].cause == "function"'
ok "and p99 has fallen by a third at least" test "$((p99 * 3))" -le "$((p99_20 * 2))"

finish
