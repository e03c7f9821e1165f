# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Measures what it costs to record system calls without the module: calls of another process, calls
# of the recorded one, and, for comparison, calls under other tools.
. "$TOP/tests/bench/perf.sh"

# Measures the same calls under other tools, if these are installed.
traced_round()	# count
{
	if command -v strace >/dev/null; then
		strace -f -o /dev/null "$pingpong" syscall "$1" "$cpu" "$scanner_cpu" none |
			awk -v r="$round" '$2 > 0 { print r, "strace", $3 / $2 }' >>perf-syscall.txt
	fi
	if perf trace -o /dev/null true 2>/dev/null; then
		perf trace -o /dev/null "$pingpong" syscall "$1" "$cpu" "$scanner_cpu" none |
			awk -v r="$round" '$2 > 0 { print r, "perf-trace", $3 / $2 }' >>perf-syscall.txt
	fi
	if command -v bpftrace >/dev/null; then
		bpftrace -c "$pingpong syscall $1 $cpu $scanner_cpu none" \
			-e 'tracepoint:raw_syscalls:sys_enter /comm == "perf-pingpong"/ { @t[tid] = nsecs }
			    tracepoint:raw_syscalls:sys_exit /comm == "perf-pingpong"/ { @ns = hist(nsecs - @t[tid]) }' |
			awk -v r="$round" '$1 == "syscall" && $2 > 0 { print r, "bpftrace", $3 / $2 }' >>perf-syscall.txt
	fi
}

# Prints how much more a call of the recorded thread costs than a call without a recorder.
price()	# title configuration
{
	awk -v c="$2" -v title="$1" '$2 == "none" { base[$1] = $3 } $2 == c { it[$1] = $3 }
		END { for (r in it) if (r in base) d[++n] = it[r] - base[r]
			for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (d[j] < d[i]) { x = d[i]; d[i] = d[j]; d[j] = x }
			if (n) printf "  %-60s %8.0f ns more\n", "price of a call: " title, d[int((n + 1) / 2)]
			else printf "  %-60s not here\n", "price of a call: " title }' perf-syscall.txt
}

bench_syscalls()
{
	perf_ready "system calls" || return 0
	rm -f perf-syscall.txt
	calls="none bpf-sleep-other tracepoints-sleep-other bpf-calls-other tracepoints-calls-other bpf-sleep bpf-calls tracepoints-sleep tracepoints-calls none2"
	round=1
	while [ "$round" -le "$rounds" ]; do
		# shellcheck disable=SC2086	# a list
		perf_round syscall 300000 perf-syscall.txt $calls
		traced_round 10000
		calls="${calls#* } ${calls%% *}"
		round=$((round + 1))
	done
	heading "system calls: getppid(): $(awk '$2 == "none" { s += $3; n++ } END { printf "%.0f", s / n }' perf-syscall.txt) ns"
	row perf-syscall.txt none2 none "the same again (noise)"
	row perf-syscall.txt bpf-sleep-other none "of another process, calls that sleep by BPF programs" 1.05
	row perf-syscall.txt tracepoints-sleep-other none "of another process, calls that sleep by perf" 1.05
	row perf-syscall.txt bpf-calls-other none "of another process, all calls by BPF programs"
	row perf-syscall.txt tracepoints-calls-other none "of another process, all calls by perf"
	price "calls that sleep, BPF programs" bpf-sleep
	price "calls that sleep, perf" tracepoints-sleep
	price "all calls, BPF programs" bpf-calls
	price "all calls, perf" tracepoints-calls
	for tool in strace perf-trace bpftrace; do
		price "$tool" $tool
	done
}
