# SPDX-License-Identifier: GPL-2.0-or-later
# What a thread sleeps in, and slow system calls: their names, files, results and lengths.
# Timed: on a busy machine the scanner may miss a function.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH
ROUNDS=20

ok "the program builds" cc_ldb -O2 -g "$PROGRAMS/syscalls.c" -o syscalls -pthread
record()	# name options...
{
	rec_name=$1
	shift
	ldb-record -q --kernel=bpf "$@" -o "$rec_name.data" -- ./syscalls svc.dat $ROUNDS 2>"$rec_name.err"
}

if ! record sleep; then
	skip "BPF programs" "$(cat sleep.err)"
	finish
fi

# Rows of one system call: those of sleeps, or those with a length.
rows()	# name of the recording, name of the call, flags
{
	trace-cat "$1.data" syscall | grep "^syscall name=$2 file=.* flags=$3 "
}
SLEEP='1[0-7]' WHOLE='[0-7]'

check "the trace says which calls it has" "trace-cat sleep.data meta" 0 '^meta kernel_syscalls=sleep$'
nr_of()	{ rows "$@" | grep -c .; }
for call in fdatasync read poll clock_nanosleep epoll_wait write; do
	ok "sleep: $call" test "$(nr_of sleep $call "$SLEEP")" -ge $ROUNDS
	ok "sleep: $call has no length" test "$(nr_of sleep $call "$WHOLE")" -eq 0
done

# The most frequent label of the class's sleeps, and its part of them.
leaf_of()	# class
{
	ldb-why -i sleep.data --class "$1" --slowest=$ROUNDS --shares --json |
		jq -r '[.requests[].shares[]? | select(.cause == "sleep" or .cause == "io")] | group_by(.label) |
			map({ label: .[0].label, ns: map(.ns) | add }) | sort_by(-.ns)[0].label'
}

judge_leaf()	# class label
{
	check "$1: the leaf" "leaf_of $1" 0 "^$2$"
}
judge_leaf fdatasync 'fdatasync of svc\.dat'
judge_leaf read 'read of a socket'
judge_leaf write 'write of a pipe'
judge_leaf poll 'poll'
judge_leaf clock_nanosleep 'clock_nanosleep'
judge_leaf epoll_wait 'epoll_wait of eventpoll'
check "ldb-timeline says it" "ldb-timeline -i sleep.data --class read --slowest 1" 0 \
	'blocked \(sleeping\).* in read\(a socket, 1\)'

record off --syscalls=off
ok "off: none" test "$(trace-cat off.data syscall | grep -c .)" -eq 0
check "off: sleeps have no names" "ldb-timeline -i off.data --class poll --slowest 1" 0 'blocked \(sleeping\)[^(]*$'

record all --syscalls=all
check "all: the trace says so" "trace-cat all.data meta" 0 '^meta kernel_syscalls_ns=10000$'
for call in fdatasync read poll clock_nanosleep epoll_wait write mmap; do
	ok "all: $call" test "$(nr_of all $call "$WHOLE")" -ge $ROUNDS
done
check "all: results" "rows all write '$WHOLE' | grep -c 'file=a pipe .* result=65536 '" 0 "^[1-9]"
check "all: addresses" "rows all mmap '$WHOLE' | grep -c ' arg=2000000 '" 0 "^$ROUNDS$"
record long --syscalls=all --syscall-threshold=100s
ok "a threshold: none is that long" test "$(trace-cat long.data syscall | grep -vc 'flags=1[0-7] ')" -eq 0

# strace's and ours, of the same calls.  Its stops are around the tracepoints, so ours are not longer.
if ! command -v strace >/dev/null; then
	skip "lengths as of strace -T" "there is no strace"
	finish
fi
strace -f -T -o strace.out ./syscalls svc.dat $((ROUNDS * 3)) 2>strace.err &
tracer=$!
wait_for 5 'grep -q execve strace.out 2>/dev/null'
traced=$(sed -n '1s/ .*//p' strace.out)
check "recorded beside strace" \
	"ldb-record -q --kernel=bpf --kernel-only --syscalls=all --syscall-threshold=0 --clock=monotonic \
	 -o both.data -p $traced" 0
wait $tracer
# "name ns" of all calls of the first thread, from the last one to the first.
sed -n "s/^$traced  *\(<... \)*\([a-z0-9_]*\)[( ].*<\([0-9.]*\)>$/\2 \3/p" strace.out |
	awk '{ print $1, $2 * 1e9 }' | tac >theirs
trace-cat both.data syscall |
	sed -n "s/^syscall name=\([a-z0-9_]*\) .* flags=[0-7] .* tid=$traced start=\([0-9]*\) end=\([0-9]*\) .*/\1 \2 \3/p" |
	awk '{ print $1, $3 - $2 }' | tac >ours
for call in read poll clock_nanosleep epoll_wait write mmap; do
	grep "^$call " theirs | head -n $((ROUNDS * 8)) >theirs.$call
	grep "^$call " ours | head -n $((ROUNDS * 8)) >ours.$call
	paste -d' ' theirs.$call ours.$call | awk '$2 >= 1e6 { nr++; d = $2 - $4; limit = 0.05 * $2 > 5000 ? 0.05 * $2 : 5000
		longer += d < -limit; alike += d <= limit && d >= -limit }
		END { print nr + 0, "calls,", alike + 0, "alike,", longer + 0, "longer" }' >alike.$call
	diag "$call: $(cat alike.$call)"
	ok "not longer than strace says: $call" awk '{ exit !($1 >= 10 && $5 <= 0.02 * $1) }' alike.$call
	# strace itself may have to wait for a CPU.
	ok "most as long: $call" awk '{ exit !($3 >= 0.5 * $1) }' alike.$call
done
finish
