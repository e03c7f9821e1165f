# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Measures what perf costs, in the program and in others, on a machine without the kernel
# module.
perf_round()	# kind count file mode...
{
	kind=$1
	count=$2
	file=$3
	shift 3
	for mode; do
		"$pingpong" "$kind" "$count" "$cpu" "$scanner_cpu" "$mode" |
			awk -v r="$round" -v c="$mode" '$2 > 0 { print r, c, $3 / $2 }' >>"$file"
	done
}

perf_table()	# kind title
{
	heading "$2: $(awk '$2 == "none" { s += $3; n++ } END { printf "%.0f", s / n }' "perf-$1.txt") ns without"
	row "perf-$1.txt" none2 none "the same again (noise)"
	row "perf-$1.txt" own none "own switches (no privilege) / not recorded"
	row "perf-$1.txt" all none "switches of all / not recorded"
	row "perf-$1.txt" tracepoints none "tracepoints / not recorded"
	row "perf-$1.txt" bpf none "BPF programs / not recorded" 1.15
	row "perf-$1.txt" bpf-other none "BPF programs, of another process / not recorded"
	row "perf-$1.txt" bpf-sleep bpf "system calls that sleep, by BPF programs / not those"
	row "perf-$1.txt" bpf-calls bpf "all system calls, by BPF programs / not those"
	row "perf-$1.txt" tracepoints-sleep tracepoints "system calls that sleep, by perf / not those"
	row "perf-$1.txt" tracepoints-calls tracepoints "all system calls, by perf / not those"
	row "perf-$1.txt" tracepoints-other none "tracepoints, of another process / not recorded"
}

# Measures the same calls below other tools, if they are here.
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
			-e 'tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @t[tid] = nsecs }
			    tracepoint:raw_syscalls:sys_exit /pid == cpid/ { @ns = hist(nsecs - @t[tid]) }' |
			awk -v r="$round" '$1 == "syscall" && $2 > 0 { print r, "bpftrace", $3 / $2 }' >>perf-syscall.txt
	fi
}

# Prints what a call of the recorded thread costs more than without.
price()	# title configuration
{
	awk -v c="$2" -v title="$1" '$2 == "none" { base[$1] = $3 } $2 == c { it[$1] = $3 }
		END { for (r in it) if (r in base) d[++n] = it[r] - base[r]
			for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (d[j] < d[i]) { x = d[i]; d[i] = d[j]; d[j] = x }
			if (n) printf "  %-60s %8.0f ns more\n", "price of a call: " title, d[int((n + 1) / 2)]
			else printf "  %-60s not here\n", "price of a call: " title }' perf-syscall.txt
}

bench_perf()
{
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	pingpong=$BUILD/tests/tools/helpers/perf-pingpong
	if ! why=$("$pingpong" pipe 10 "$cpu" "$scanner_cpu" tracepoints 2>&1 >/dev/null); then
		printf '\nperf: not measured: %s\n' "$why"
		return 0
	fi
	rm -f perf-pipe.txt perf-futex.txt perf-syscall.txt
	modes="none own all tracepoints bpf bpf-sleep bpf-calls tracepoints-sleep tracepoints-calls bpf-other tracepoints-other none2"
	calls="none bpf-sleep-other tracepoints-sleep-other bpf-calls-other tracepoints-calls-other bpf-sleep bpf-calls tracepoints-sleep tracepoints-calls none2"
	round=1
	while [ "$round" -le "$rounds" ]; do
		# shellcheck disable=SC2086	# a list
		perf_round pipe 30000 perf-pipe.txt $modes
		# shellcheck disable=SC2086	# a list
		perf_round futex 30000 perf-futex.txt $modes
		# shellcheck disable=SC2086	# a list
		perf_round syscall 500000 perf-syscall.txt $calls
		traced_round 20000
		modes="${modes#* } ${modes%% *}"
		calls="${calls#* } ${calls%% *}"
		round=$((round + 1))
	done
	perf_table pipe "perf: a round trip through two pipes, two threads on one CPU"
	perf_table futex "perf: a round trip by futex"
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
