# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Measures what kernel events by perf and by BPF programs, and samples, cost the recorded program
# and other programs, on a machine without the kernel module.
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
	row "perf-$1.txt" samples none "samples, 199 a second / not recorded" 1.01
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

# Builds the programs that measure; returns false if nothing can be measured here.
perf_ready()
{
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	pingpong=$BUILD/tests/tools/helpers/perf-pingpong
	"$pingpong" pipe 10 "$cpu" "$scanner_cpu" tracepoints >/dev/null 2>perf.why && return 0
	printf '\n%s: not measured: %s\n' "$1" "$(cat perf.why)"
	return 1
}

bench_perf()
{
	perf_ready perf || return 0
	rm -f perf-pipe.txt perf-futex.txt perf-compute.txt
	modes="none samples own all tracepoints bpf bpf-sleep bpf-calls tracepoints-sleep tracepoints-calls bpf-other tracepoints-other none2"
	round=1
	while [ "$round" -le "$rounds" ]; do
		# shellcheck disable=SC2086	# a list
		perf_round pipe 30000 perf-pipe.txt $modes
		# shellcheck disable=SC2086	# a list
		perf_round futex 30000 perf-futex.txt $modes
		perf_round compute 300000000 perf-compute.txt none samples none2
		modes="${modes#* } ${modes%% *}"
		round=$((round + 1))
	done
	perf_table pipe "perf: a round trip through two pipes, two threads on one CPU"
	perf_table futex "perf: a round trip by futex"
	heading "samples: a thread that computes"
	row perf-compute.txt none2 none "the same again (noise)"
	row perf-compute.txt samples none "199 samples a second / none" 1.01
}
