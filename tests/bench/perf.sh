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
	row "perf-$1.txt" futex none "tracepoints and futexes / not recorded"
	row "perf-$1.txt" tracepoints-other none "tracepoints, of another process / not recorded"
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
	modes="none own all tracepoints bpf bpf-other futex tracepoints-other none2"
	round=1
	while [ "$round" -le "$rounds" ]; do
		# shellcheck disable=SC2086	# a list
		perf_round pipe 30000 perf-pipe.txt $modes
		# shellcheck disable=SC2086	# a list
		perf_round futex 30000 perf-futex.txt $modes
		perf_round syscall 1000000 perf-syscall.txt none tracepoints-other futex-other
		modes="${modes#* } ${modes%% *}"
		round=$((round + 1))
	done
	perf_table pipe "perf: a round trip through two pipes, two threads on one CPU"
	perf_table futex "perf: a round trip by futex"
	heading "perf: getppid() of a process that is not recorded"
	row perf-syscall.txt tracepoints-other none "tracepoints / nothing recorded"
	row perf-syscall.txt futex-other none "tracepoints and futexes / nothing recorded"
}
