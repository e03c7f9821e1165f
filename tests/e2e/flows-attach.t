# SPDX-License-Identifier: GPL-2.0-or-later
# Checks ldb-record --flows -p PID: from then on, each call of the running program is counted, also
# in threads that existed before, or counted as one of a thread that was not known yet.  A program
# that calls libraries in all ways is attached to and left again: its results are right, and
# afterwards it has its own tables again.
# Long: it attaches to programs under load.
. "$(dirname "$0")/../lib/engine.sh"
need_build

rounds=2
[ -z "${LDB_TEST_ALL:-}" ] || rounds=100
oracle_not k.data "its recorder is killed at any time, also before there is anything in it"

build()	# option of the linker, libraries...
{
	link=$1
	shift
	$CXX -O2 -fno-builtin -fPIC -shared "$link" -DLIBRARY "$PROGRAMS/flows-attached.cc" -o libattached.so &&
		$CXX -O2 -fno-builtin -fPIC -shared "$link" -DPLUGIN "$PROGRAMS/flows-attached.cc" -o libplugin.so &&
		$CXX -O2 -fno-builtin "$link" "$PROGRAMS/flows-attached.cc" -o attached -L. -lattached \
			"-Wl,-rpath,$PWD" -pthread "$@"
}

# Three threads call lib_add() 1000 times each when the program reads a line, which it gets as soon
# as it is recorded.
counts()	# name, command...
{
	name=$1
	shift
	mkfifo go
	"$@" <go >out 2>err &
	pid=$!
	exec 3>go
	ldb-record --flows -v --kernel none -p "$pid" -o c.data 2>rec.err &
	rec=$!
	ok "$name: it is attached to" wait_for 30 "grep -q 'calls between libraries are followed' rec.err"
	echo >&3
	exec 3>&-
	wait "$pid"
	wait "$rec"
	ok "$name: the program's output" test "$(cat out)" = right
	ldb-flows -q -i c.data --json >c.json
	# A thread that was not known is registered in its first call, or in a later one if other
	# threads are registering at that time.
	check_jq "$name: each call is counted, or is one of a thread that was not known yet" c.json \
		'([.functions[] | select(.symbol == "lib_add").calls] | add) as $n | $n >= 1 and $n <= 3000 and
		 $n + .lost.unknown_calls >= 3000'
	rm -f go
}

build -Wl,-z,lazy || exit 1
counts "loaded into it, lazy" ./attached counts 1000
counts "preloaded, lazy" env "LD_PRELOAD=$RUNTIME" ./attached counts 1000
build -Wl,-z,now || exit 1
counts "loaded into it, bound at once" ./attached counts 1000
# shellcheck disable=SC2086	# link_runtime is several words
build -Wl,-z,now $link_runtime || exit 1
counts "linked with it" ./attached counts 1000

# To register a thread ldb makes system calls, for which a seccomp filter of its own may kill the
# thread.  So a thread with a filter is not registered.
$CC -O2 -Wall "$PROGRAMS/own-filter.c" -o own-filter -pthread || exit 1
./own-filter >out 2>err &
pid=$!
sleep 0.2
check "one thread has a seccomp filter: recorded" "ldb-record -q --flows --kernel none -p $pid -d 0.3 -o f.data" 0
touch stop
ok "it goes on" wait "$pid"
ok "and that thread, too" test "$(cat out)" = right
check "its calls are counted as those of a thread that is not known" \
	"ldb-flows -q -i f.data --json | jq .lost.unknown_calls" 0 '^[1-9]'

# The recorder attaches again and again, under load.
storm()	# name, command...
{
	name=$1
	shift
	"$@" >out 2>err &
	pid=$!
	at_end "kill -KILL $pid 2>/dev/null || :"
	sleep 0.2
	said=
	for i in $(seq "$rounds"); do
		timeout 60 ldb-record -q --flows --kernel none -p "$pid" -d 0.05 -o s.data 2>rec.err || said="$said $(cat rec.err)"
	done
	ok "$name: attached to $rounds times" test -z "$said"
	[ -z "$said" ] || diag "$said"
	check "$name: there are calls" "ldb-flows -q -i s.data --json | jq .calls" 0 '^[1-9][0-9]+$'
	sleep 0.1
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	ok "$name: exit status 0" test "$status" -eq 0
	ok "$name: it noticed nothing, and its tables are its own again" test "$(cat out)" = "right, stubs were there
now 0"
	[ ! -s err ] || diag "$(cat err)"
}

build -Wl,-z,lazy || exit 1
storm "loaded into it, lazy" ./attached storm
build -Wl,-z,now || exit 1
storm "preloaded, bound at once" env "LD_PRELOAD=$RUNTIME" ./attached storm

# The recorder is killed at any time: the program goes on, and can be attached to again.
./attached storm >out 2>err &
pid=$!
at_end "kill -KILL $pid 2>/dev/null || :"
sleep 0.2
for delay in 0.03 0.06 0.09 0.12 0.2 0.3; do
	ldb-record -q --flows --kernel none -p "$pid" -d 5 -o k.data 2>/dev/null &
	rec=$!
	sleep $delay
	pkill -KILL -P "$rec" 2>/dev/null
	kill -KILL "$rec" 2>/dev/null
	wait "$rec" 2>/dev/null
done
# On a busy machine it takes a moment until the program notices that the last recorder is gone.
wait_for 20 "ldb-record -q --kernel none -p $pid -d 0.01 -o s.data 2>/dev/null"
check "after recorders that were killed" "timeout 60 ldb-record -q --flows --kernel none -p $pid -d 0.3 -o s.data" 0
check "there are calls" "ldb-flows -q -i s.data --json | jq .calls" 0 '^[1-9][0-9]+$'
kill -TERM "$pid"
wait "$pid"
status=$?
ok "it goes on" test "$status" -eq 0
ok "and noticed nothing" test "$(cat out)" = "right, stubs were there
now 0"
finish
