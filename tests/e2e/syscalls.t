# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the system calls in which a thread sleeps, and slow system calls: their names, files,
# results and lengths, by BPF programs and by perf.
# Timed: on a busy machine the scanner may miss a function.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/calls.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH
calls_program=./syscalls calls_file='svc\.dat' calls_map='svc\.dat\.map'
# Needs a file system that is on exactly one device.
calls_device=$(lsblk -no KNAME "$(df --output=source . | tail -1)" 2>/dev/null)

ok "the program builds" cc_ldb -O2 -g "$PROGRAMS/syscalls.c" -o syscalls -pthread
for source in bpf perf; do
	# With perf, some of the wake-ups by timers may be missing, and then the system call of that
	# sleep is not known.  So the program makes 100 rounds, most of which are complete.
	[ "$source" = bpf ] || ROUNDS=100
	if ! record "$source-sleep" || trace-cat "$source-sleep.data" meta | grep -q 'kernel_why=.*no system calls'; then
		skip "$source" "$(cat "$source-sleep.err")"
		continue
	fi
	if [ "$source" = perf ] && ! record_well; then
		skip "$source" "it drops most wake-ups by timers here"
		continue
	fi
	judge_sleeps
	judge_disks
	ROUNDS=20
	record "$source-all" --syscalls=all
	if trace-cat "$source-all.data" meta | grep -q '^meta kernel_syscalls=all'; then
		judge_all
		judge_lengths
	else
		skip "$source: all" "$(trace-cat "$source-all.data" meta | grep kernel_why)"
	fi
done
finish
