# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching stops a thread and sends it through the runtime's door (ldb/control.h).  A program
# that knows the result of each of its calls and computations must observe no difference,
# whatever it was doing, even when the recorder is killed in the midst of it.
. "$(dirname "$0")/../lib/engine.sh"
need_build

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/stopped.c" -o stopped -pthread $link_runtime || exit 1
chmod 755 . stopped

oracle_not k.data "its recorder is killed at any time, also before there is anything in it"

ends_well()	# label
{
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	ok "$1: it noticed nothing" test "$status" -eq 0
	[ "$status" -eq 0 ] || diag "exit status $status" "$(cat stopped.err stopped.out)"
}

# There are twenty delays.  Each kind is tested with a quarter of them, or with half of them in make
# check-all.
phases=4 delays="0 4 8 12 16" attached="1 2 3"
[ -z "${LDB_TEST_ALL:-}" ] || phases=2 delays="0 2 4 6 8 10 12 14 16 18" attached="1 2 3 4 5 6"
phase=-1
for kind in compute epoll poll nanosleep futex pipe rcvtimeo sigwait signals; do
	./stopped $kind >stopped.out 2>stopped.err &
	pid=$!
	at_end "kill -9 $pid 2>/dev/null || :"
	sleep 0.1
	refused=0
	: >d.err
	for i in $attached; do
		ldb-record -q --kernel none -p "$pid" -d 10ms -o d.data 2>>d.err || refused=$((refused + 1))
	done
	ok "$kind: attached $i times" test "$refused" -eq 0
	[ "$refused" -eq 0 ] || diag "$refused refused: $(cat d.err)"
	# The first and the last call of ptrace are some 5 to 40 ms apart.
	phase=$(((phase + 1) % phases))
	nr_killed=0
	for i in $delays; do
		nr_killed=$((nr_killed + 1))
		ldb-record -q --kernel none -p "$pid" -d 1 -o k.data 2>/dev/null &
		rec=$!
		sleep 0.0$(printf %02d $(((i + phase) * 2)))
		# The recorder's helper process is killed, too, unless the kernel ends a call for
		# good when a tracer stops it.
		case $kind in epoll | rcvtimeo | sigwait) ;; *) pkill -KILL -P "$rec" 2>/dev/null ;; esac
		kill -KILL "$rec" 2>/dev/null
		wait "$rec" 2>/dev/null
	done
	check "$kind: and once more after $nr_killed killed recorders" \
		"ldb-record -q --kernel none -p $pid -d 10ms -o d.data" 0
	ends_well "$kind"
done

# A user without privileges attaches to his own process.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 777 nobodys
	cp -r "$BUILD/bin/ldb-record" nobodys/ && chmod 755 nobodys/ldb-record
	as="setpriv --reuid 65534 --regid 65534 --clear-groups"
	cp "$RUNTIME" nobodys/runtime.so && chmod 755 nobodys/runtime.so
	cc_ldb -O2 -g "$PROGRAMS/stopped.c" -o nobodys/plain -pthread || exit 1
	$as env LD_PRELOAD="$WORK/nobodys/runtime.so" nobodys/plain poll >stopped.out 2>stopped.err &
	pid=$!
	sleep 0.3
	if [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -eq 0 ]; then
		check "a user attaches to his own process" \
			"cd nobodys && $as ./ldb-record -q --kernel none -p $pid -d 100ms -o own.data" 0
	else
		check "Yama keeps him from it, in one line" \
			"cd nobodys && $as ./ldb-record -q --kernel none -p $pid -d 100ms -o own.data" 1 'yama'
	fi
	ends_well "a user's own process"
	./stopped poll >stopped.out 2>stopped.err &
	pid=$!
	sleep 0.1
	check_one_line "not to root's" \
		"cd nobodys && $as ./ldb-record -q --kernel none -p $pid -d 100ms -o own.data" 1 'no permission|belongs to user'
	ends_well "root's process"
fi

# A process that is stopped, or traced by another one, is recognised as such, and continues.
./stopped nanosleep >stopped.out 2>stopped.err &
pid=$!
sleep 0.2
kill -STOP "$pid"
check_one_line "a stopped process" "ldb-record -p $pid -d 10ms -o s.data" 1 "is stopped.*kill -CONT"
kill -CONT "$pid"
if command -v strace >/dev/null; then
	strace -o /dev/null -p "$pid" 2>strace.err &
	tracer=$!
	wait_for 5 "grep -q attached strace.err"
	check_one_line "a traced process" "ldb-record -p $pid -d 10ms -o s.data" 1 "is traced by process"
	kill "$tracer"
	wait "$tracer" 2>/dev/null
fi
kill -TERM "$pid"
wait "$pid"
finish
