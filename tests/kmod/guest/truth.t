# SPDX-License-Identifier: GPL-2.0-or-later
# Compares what the module records of a program that forces its scheduling with what ftrace
# records of the same run, event by event, and with what the program forced.
# Timed: events are lost if the recorder does not get a CPU in time.
. "$(dirname "$0")/../../lib/guest.sh"

[ -d "$TRACING/events/syscalls" ] || skip_all "this kernel's ftrace has no system calls"
rounds=${TRUTH_ROUNDS:-100}
load
ftrace_on
check "recorded" "ldb-record --kernel module -o t.data -- forced $rounds" 0 'fact group'
ftrace_off
printf '%s\n' "$out" | grep '^fact ' >facts
cat "$TRACING/trace" >ftrace
rows t.data >t.rows
diag "$(grep -c '^sched ' t.rows) rows, $(grep -c 'sched_' ftrace) events of ftrace, $(grep -c '^fact task' facts) threads"
ok "nothing lost" eval "! grep '^lost ' t.rows"

compare "module" t.rows

# The comparison must detect a missing event, an additional one, and a changed one.
spoil()	# name awk-program
{
	awk "$2" t.rows >spoiled
	ok "$1: the rows differ" eval "! cmp -s t.rows spoiled"
	check "$1: noticed" "check-truth spoiled ftrace facts" 1 '^not ok'
}
ping=$(sed -n 's/^fact futex tid=\([0-9]*\) .*/\1/p' facts | head -n 1)
mover=$(sed -n 's/^fact migrate tid=\([0-9]*\) .*/\1/p' facts)
spoil "a switch is missing" "/^sched op=1 .* (tid|other)=$ping / && ++k == 200 { next } { print }"
spoil "a switch is there twice" "{ print } /^sched op=1 .* (tid|other)=$ping / && ++k == 200 { print }"
spoil "a waker is another thread" "/^sched op=4 .* other=$ping / && ++k == 50 { sub(/tid=[0-9]+/, \"tid=1\") } { print }"
spoil "a switch is on another CPU" "/^sched op=1 .* tid=$ping / && ++k == 50 { sub(/cpu=0/, \"cpu=1\") } { print }"
spoil "a state is another" "/^sched op=1 .* tid=$ping / && ++k == 50 { sub(/flags=[0-9a-f]+/, \"flags=22\") } { print }"
spoil "a migration is missing" "/^sched op=6 .* tid=$mover / && ++k == 20 { next } { print }"
spoil "a futex wait is missing" "/^sched op=16 .* tid=$ping / && ++k == 20 { next } { print }"
spoil "a futex address is another" "/^sched op=17 .* tid=$ping / && ++k == 20 { sub(/addr=[0-9a-f]+/, \"addr=1234\") } { print }"

check "the module unloads" "rmmod ldb"
finish
