# SPDX-License-Identifier: GPL-2.0-or-later
# While a recording is paused, --flows counts nothing: the sums have exactly the calls before and
# after the pause, also those of threads that ended during the pause; and no time contains the
# pause.
. "$(dirname "$0")/../lib/engine.sh"
need_build

$CC -O2 -fno-builtin "$PROGRAMS/flows-pause.c" -o calls -pthread || exit 1

begin()	# name option...
{
	name=$1
	shift
	rm -f to from
	mkfifo to from
	ldb-record --flows --kernel none -q "$@" -o "$name.data" -- ./calls <to >from 2>"$name.err" &
	rec=$!
	exec 3>to 4<from
	# shellcheck disable=SC2016	# evaluated later
	wait_for 20 'pid=$(pgrep -P "$rec" -x calls) && ldb-ctl $pid status'
}

call()	# calls milliseconds
{
	echo "$1 $2" >&3
	read -r answer <&4
}

end()	# name calls what
{
	exec 3>&- 4<&-
	wait "$rec"
	diag "$(cat "$1.err")"
	ldb-flows -q -i "$1.data" --json >"$1.json"
	diag "$(jq -c '[.functions[] | select(.symbol == "getppid" or .symbol == "usleep" or .symbol == "pthread_join") | [.symbol, .calls, .total_ns]]' "$1.json")"
	check_jq "$3" "$1.json" "([.functions[] | select(.symbol == \"getppid\").calls] | add) == $2"
}

# The program learns of a command a little later than the recorder answers it.
ctl()	# command
{
	ldb-ctl "$pid" "$1"
	sleep 0.3
}

begin p
call 1000 0
ctl pause
call 50000 3000
call 20000 0
ctl resume
call 300 0
ctl pause
ctl resume
call 20 0
end p 1320 "calls in pauses are not counted, all others are"
ldb-report -q -i p.data --summary --json >sum.json
check_jq "two pauses" sum.json '.left_out.pauses == 2 and .left_out.paused_ns > 3e9'
# The pause lasted for more than three seconds, during which a thread slept and another one waited
# for it.
check_jq "nobody's time has the pause in it" p.json '.lifetime_ns < 4e9 and ([.components[].self_ns] | add) < 4e9'

# A call that is still running at the pause is in the sums up to the pause.
begin l
(sleep 0.5; ldb-ctl "$pid" pause; sleep 0.5; ldb-ctl "$pid" resume) &
call 10 2000
wait "$!"
end l 10 "a call that a pause interrupts"
check_jq "... has its time before the pause" l.json \
	'[.functions[] | select(.symbol == "usleep")][0] | .calls == 1 and .total_ns > 1e8 and .total_ns < 1.5e9'

begin s --paused
call 400 0
ctl resume
call 30 0
end s 30 "a recording that begins paused"
finish
