# SPDX-License-Identifier: GPL-2.0-or-later
# Three recorders record one run at the same time, by the module, BPF programs and perf: they must
# record the same switches.
# Alone: three recorders begin while the program runs, which ends after some seconds.
. "$(dirname "$0")/../../lib/guest.sh"

load
ftrace_on
ldb-record --kernel module -o m.data -- forced 100 8000 >facts 2>m.err &
recorder=$!
at_end "kill $recorder 2>/dev/null || :"
wait_for 5 "pidof forced >pid" || diag "$(cat m.err)"
ldb-record --kernel bpf --kernel-only -p "$(cut -d' ' -f1 pid)" -o b.data >b.err 2>&1 &
second=$!
at_end "kill $second 2>/dev/null || :"
wait_for 10 "[ -s b.data ]" || diag "$(cat b.err)"
check "the third recorder, by perf, of the same program" \
	"ldb-record --kernel perf --kernel-only -p $(cut -d' ' -f1 pid) -o p.data" 0 'kernel events: perf'
diag "$out"
wait "$second"
status=$?
ok "the second one, by BPF programs" eval '[ $status -eq 0 ] && grep -q "kernel events: bpf$" b.err'
diag "$(cat b.err)"
wait "$recorder"
status=$?
ok "the first one, by the module" test "$status" -eq 0
diag "$(cat m.err)"
ftrace_off
cat "$TRACING/trace" >ftrace
for trace in m b p; do
	rows $trace.data >$trace.rows
	ok "$trace: nothing lost" eval "[ -s $trace.rows ] && ! grep '^lost ' $trace.rows"
	diag "$trace: $(grep -c '^sched op=1 ' $trace.rows) switches, $(grep -c '^sched ' $trace.rows) rows"
done
compare "module and perf" m.rows p.rows
compare "perf and module" p.rows m.rows
compare "module and BPF" m.rows b.rows
compare "BPF and module" b.rows m.rows
ping=$(sed -n 's/^fact futex tid=\([0-9]*\) .*/\1/p' facts | head -n 1)
awk "/^sched op=1 .* (tid|other)=$ping / && ++k == 200 { next } { print }" p.rows >less.rows
check "one switch less in one of them is noticed" "check-truth less.rows ftrace facts m.rows" 1 '^not ok'
check "the module unloads" "rmmod ldb"
finish
