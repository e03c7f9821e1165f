#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's PostgreSQL, built with the plugin and not edited: its processes wait for one another, and
# ldb-why must say for which process each one waits, and what that process did until then.
#
#	sh tests/bench/postgres.sh [SECONDS]
#
# A backend holds a row, or an LWLock, for 50 ms in a function whose name the test knows
# (servers/pg_hold.c), and other clients need the same row or lock.  The requests of these clients
# that took more than 25 ms are judged: ldb-why must name the backend that held it, and its
# function.  Then the same work is done while nothing is held, and ldb-why must not name it: for a
# row, by the same function after its transaction; for an LWLock, by another function.
#
# The test needs root, for the kernel's events, and a user for the server, which refuses to run as
# root.
#
# PG_BIN=FOLDER PG_INCLUDE=FOLDER take a server that was built otherwise, perhaps uninstrumented
# like Debian's package.  Functions of the server are not known then, and PG_REQUEST="change_row
# take_lock" makes calls of functions of pg_hold.c the requests.  PG_USER is the server's user.
# PG_WAITERS is the number of clients that wait (1).  Those that wait for a row form a queue, and
# only the first in the queue waits for the holder.
. "$(dirname "$0")/../lib/engine.sh"
need_build
seconds=${1:-8}
user=${PG_USER:-nobody}
waiters=${PG_WAITERS:-1}
[ "$(id -u)" = 0 ] || skip_all "not root: PostgreSQL is recorded as another user"
command -v setpriv >/dev/null || skip_all "no setpriv"

if [ -z "${PG_BIN:-}" ]; then
	run_cmd "sh $TOP/tests/bench/servers/build.sh postgres unedited"
	[ "$status" -eq 0 ] || skip_all "$(printf '%s\n' "$out" | tail -n 1)"
	PG_BIN=$(dirname "$(printf '%s\n' "$out" | tail -n 1)")
fi
export PATH="$PG_BIN:$PATH"
requests=
for f in ${PG_REQUEST:-exec_simple_query}; do
	requests="$requests --request=$f"
done
"$BUILD/bin/ldb-gcc" -O2 -g -fno-ipa-icf -fPIC -shared -I"${PG_INCLUDE:-$(pg_config --includedir-server)}" \
	"$TOP/tests/bench/servers/pg_hold.c" -o pg_hold.so || exit 1
chmod 755 "$WORK" pg_hold.so
mkdir data sock && chown "$user" data sock
as_user="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups"
export PGHOST=$WORK/sock PGDATABASE=postgres PGUSER=$user PGPORT=5432
$as_user initdb -D data -A trust -U "$user" >initdb.out 2>&1 || { cat initdb.out; exit 1; }
cat >>data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$WORK/sock'
shared_preload_libraries = '$WORK/pg_hold.so'
shared_buffers = 16MB
autovacuum = off
fsync = off
END

# Writes the statements that each client repeats.
echo "BEGIN; UPDATE t SET v = v + 1 WHERE id = 1; SELECT hold_row(50); COMMIT;" >row-plant-holder.sql
echo "BEGIN; UPDATE t SET v = v + 1 WHERE id = 1; COMMIT; SELECT hold_row(50);" >row-clean-holder.sql
echo "SELECT change_row();" >row-waiter.sql
echo "SELECT hold_lock(50);" >lwlock-plant-holder.sql
echo "SELECT hold_lock(0); SELECT work_alone(50);" >lwlock-clean-holder.sql
echo "SELECT take_lock();" >lwlock-waiter.sql
for f in *-holder.sql; do
	sed -i 's/; /;\n/g' "$f"
	echo '\sleep 60 ms' >>"$f"
done
for f in *-waiter.sql; do
	echo '\sleep 7 ms' >>"$f"
done

client()	# name script how-many
{
	PGAPPNAME=$1 pgbench -n -M simple -c "$3" -T "$seconds" -f "$2" >"$1.out" 2>&1
}

# Records the server with a holder and a waiter; NAME.pids has the processes that served them.
record()	# what plant|clean
{
	name=$1-$2
	# shellcheck disable=SC2086	# words
	ldb-record $requests --kernel-frames=on -o "$name.data" -- \
		$as_user "$PG_BIN/postgres" -D data >"$name.log" 2>&1 &
	recorder=$!
	wait_for 60 'psql -c "SELECT 1" >/dev/null 2>&1'
	psql -q -c "CREATE TABLE IF NOT EXISTS t (id int PRIMARY KEY, v int)" \
		-c "INSERT INTO t VALUES (1, 0) ON CONFLICT DO NOTHING" >psql.out 2>&1
	for f in "hold_row(int)" "hold_lock(int)" "take_lock()" "change_row()" "work_alone(int)"; do
		psql -q -c "CREATE OR REPLACE FUNCTION $f RETURNS void AS '$WORK/pg_hold.so' LANGUAGE C" >>psql.out 2>&1
	done
	client holder "$name-holder.sql" 1 &
	holder=$!
	client waiter "$1-waiter.sql" "$waiters" &
	waiter=$!
	sleep "$((seconds / 2))"
	psql -At -F ' ' -c "SELECT application_name, pid FROM pg_stat_activity WHERE application_name IN ('holder', 'waiter')" >"$name.pids"
	wait $holder $waiter
	kill -INT "$(head -n 1 data/postmaster.pid)"
	wait $recorder
}

pids()	# name client: as JSON
{
	sed -n "s/^$2 //p" "$1.pids" | jq -sc .
}

# Prints how many requests of the waiters are judged, and how many name the right waker and the
# right function.
count()	# what function
{
	jq -c --argjson waiters "$(pids "$1" waiter)" --argjson holder "$(pids "$1" holder | jq '.[0]')" \
		--arg function "$2" '[.requests[] | select(.latency_ns > 25e6 and (.chain[0].pid | IN($waiters[])))] |
		{ judged: length, waker: map(select(any(.chain[]; .pid == $holder and (.kind | test("woken_by|held_by"))))) | length,
		  function: map(select(any(.chain[]; .pid == $holder and .label == $function))) | length }' "$1.why"
}

judge()	# what function
{
	for kind in plant clean; do
		ok "$1-$kind: recorded" record "$1" "$kind"
		grep -h 'kernel events\|more process\|not recorded' "$1-$kind.log" | sed 's/^ */# /'
		ok "$1-$kind: explained" eval "ldb-why --slowest=400 -i $1-$kind.data --json 2>why.err >$1-$kind.why"
		diag "$1-$kind: $(tr "\n" " " <"$1-$kind.pids")$(count "$1-$kind" "$2")"
		jq -r '.requests[:3][].sentence' "$1-$kind.why" | cut -c1-300 | sed 's/^/#   /'
	done
	ok "$1: of the waits 95 % have the process that woke them, and what it executed" \
		eval "count $1-plant $2 | jq -e '.judged >= 10 and .waker * 20 >= .judged * 19 and .function * 20 >= .judged * 19' >/dev/null"
	# The holder's own statements are requests, too, if functions of the server are known.
	ok "$1: it is not named where nothing is held" \
		jq -e --argjson waiters "$(pids "$1-clean" waiter)" --arg function "$2" \
		'[.requests[] | select(.chain[0].pid | IN($waiters[]))] | length >= 10 and
			all(all(.chain[]; .label != $function or .ns <= 5e6))' "$1-clean.why"
}

judge row hold_row
judge lwlock hold_lock
finish
