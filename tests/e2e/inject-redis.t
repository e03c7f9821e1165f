# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to redis-server, as packaged and under load: redis-benchmark reports no error, and the
# server exits with status 0.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/inject.sh"
need_build
command -v redis-server >/dev/null || skip_all "no redis-server"
command -v redis-benchmark >/dev/null || skip_all "no redis-benchmark"

oracle_off "the program has no records"

one()
{
	redis-server --port 0 --unixsocket "$WORK/redis.sock" --save '' >redis.log 2>&1 &
	pid=$!
	at_end "kill -9 $pid 2>/dev/null || :"
	wait_for 10 "test -S $WORK/redis.sock"
	redis-benchmark -s "$WORK/redis.sock" -n 5000 -q -t set,get,lpush >bench.out 2>&1 &
	load=$!
	sleep "0.$(($1 * 7 % 3))"
	said="$said$(inject -d 50ms)"
	wait "$load" || said="$said redis-benchmark: $? $(tail -1 bench.out)."
	! grep -qi error bench.out || said="$said redis-benchmark: $(grep -i error bench.out)."
	kill -TERM "$pid"
	wait "$pid" || said="$said redis-server: exit status $?."
	rm -f redis.sock
}

inject_rounds "redis-server" one
finish
