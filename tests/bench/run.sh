#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: what ldb costs, as ratios measured in one run.
#
#	tests/bench/run.sh [ROUNDS] [SECTION]...
#
# Sections: calls scan trace locks perf kmod (default: all).  ROUNDS: default 15.
#
# Method (Documentation/overhead.md): in each round every configuration runs once,
# in an order that rotates from round to round, so that a drift of the machine hits
# all of them; a ratio is formed within a round; the table shows the median and its
# 95 % interval.  Times of the storms are CPU times of the one thread that works.
# The program stays on one CPU and the scanner on another.
#
# A row with a bound ends in PASS or FAIL; the exit status is 1 when one failed.

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$TOP/build}
OUT=$BUILD/bench
PATH=$BUILD/bin:$PATH
LC_ALL=C
export LC_ALL PATH
mkdir -p "$OUT"
cd "$OUT" || exit 1
rounds=15
case ${1:-} in [0-9]*) rounds=$1; shift ;; esac
sections=${*:-calls scan trace locks perf kmod}
failed=0

# The first two CPUs we may use: the program's and the scanner's.
cpus=$(awk '/^Cpus_allowed_list/ { n = split($2, part, ","); for (i = 1; i <= n; i++) {
	m = split(part[i], r, "-"); for (c = r[1]; c <= (m > 1 ? r[2] : r[1]); c++) printf "%d ", c } }' /proc/self/status)
# shellcheck disable=SC2086	# a list
set -- $cpus
cpu=$1
scanner_cpu=${2:-}
if [ -z "$scanner_cpu" ]; then
	echo "bench: only one CPU: a scanner without a core of its own is not what the bounds are about" >&2
	exit 1
fi

cc=${CC:-gcc}
cxx=${CXX:-g++}
programs=$TOP/tests/programs
inc=-I$TOP/libldb/include
plugin=-fplugin=$BUILD/plugin/ldb.so
$cc -O2 -g "$inc" "$programs/call-storm.c" -o storm-base -pthread &&
$cc -O2 -g "$inc" "$plugin" "$programs/call-storm.c" -o storm-ldb -pthread &&
$cxx -O2 -g "$inc" "$plugin" "$programs/figure1.cc" -o figure1 -pthread || exit 1

row()	# file a b name [bound] [format]
{
	awk -v a="$2" -v b="$3" -v name="$4" -v bound="${5:-}" -v fmt="${6:-}" \
		-f "$TOP/tests/bench/paired.awk" "$1" || failed=1
}

heading()
{
	printf '\n%s\n%-52s %9s  %-22s\n' "$1" "" median "95 % interval"
}

record()	# options... -- command; its messages go to record.log
{
	ldb-record --scanner-cpu "$scanner_cpu" "$@" 2>record.log || {
		echo "bench: ldb-record failed: $(tail -n 1 record.log)" >&2
		exit 1
	}
}

run_config()	# config kind count: prints "KIND CALLS NS"
{
	case $1 in
	base)	./storm-base "$2" "$3" "$cpu" ;;
	base2)	./storm-base "$2" "$3" "$cpu" ;;
	quiet)	./storm-ldb "$2" "$3" "$cpu" ;;
	dormant) LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 ./storm-ldb "$2" "$3" "$cpu" ;;
	record)	record -o storm.data -- ./storm-ldb "$2" "$3" "$cpu" ;;
	full)	record --budget 100% -o storm.data -- ./storm-ldb "$2" "$3" "$cpu" ;;
	hold)	record --mutex=hold -o storm.data -- ./storm-ldb "$2" "$3" "$cpu" ;;
	esac
}

# Runs each configuration once a round and writes "ROUND CONFIG NS-PER-CALL".
storm()	# kind count file rounds config...
{
	kind=$1
	count=$2
	file=$3
	nr=$4
	shift 4
	: >"$file"
	round=1
	while [ "$round" -le "$nr" ]; do
		for config; do
			run_config "$config" "$kind" "$count" |
				awk -v r="$round" -v c="$config" '$2 > 0 { print r, c, $3 / $2 }' >>"$file"
		done
		# Next round starts with the next configuration.
		first=$1
		shift
		set -- "$@" "$first"
		round=$((round + 1))
	done
}

# (a), (b): what a call costs.
bench_calls()
{
	for spec in "leaf 100000000" "fib 200000" "qsort 3000"; do
		# shellcheck disable=SC2086	# kind and count
		set -- $spec
		storm "$1" "$2" "calls-$1.txt" "$rounds" base quiet record base2
		heading "calls, $1: $(awk '$2 == "base" { s += $3; n++ } END { printf "%.2f", s / n }' "calls-$1.txt") ns per call without ldb"
		row "calls-$1.txt" base2 base "the same again (noise)"
		row "calls-$1.txt" quiet base "instrumented, nobody looking / plain"
		row "calls-$1.txt" record base "recorded / plain"
		if [ "$1" = leaf ]; then
			row "calls-$1.txt" record quiet "recorded / nobody looking"
		else
			# The bound is close to the noise of a round: more of them.
			storm "$1" "$2" "bound-$1.txt" "$((3 * rounds))" quiet record
			row "bound-$1.txt" record quiet "recorded / nobody looking" 1.10
		fi
		awk '{ v[$1, $2] = $3; r[$1] = 1 } END { for (i in r) {
			if ((i, "base") in v && (i, "quiet") in v) print i, "quiet", v[i, "quiet"] - v[i, "base"]
			if ((i, "base") in v && (i, "record") in v) print i, "record", v[i, "record"] - v[i, "base"] } }' \
			"calls-$1.txt" >"added-$1.txt"
		row "added-$1.txt" quiet "" "ns added per call, nobody looking" "" "%.2f"
		row "added-$1.txt" record "" "ns added per call, recorded" "" "%.2f"
	done
	nr_full=$((rounds < 6 ? rounds : 6))
	storm qsort 3000 calls-full.txt "$nr_full" quiet full
	heading "without pacing, for comparison"
	row calls-full.txt full quiet "qsort, recorded at --budget 100% / not"
}

# (c): the scanner, 20 frames refreshed every microsecond.  The stack20 program has
# one thread.  A look reads (gen, top); one that found a change also walked the
# stack; a walk during which the thread moved on is invalid.
bench_scan()
{
	: >scan.txt
	round=1
	while [ "$round" -le "$((rounds < 8 ? rounds : 8))" ]; do
		record --budget 100% -o stack20.data -- ./storm-ldb stack20 2 "$cpu"
		ldb-report -i stack20.data --summary --json >stack20.json || exit 1
		jq -r --arg r "$round" '
			([.threads[].scans] | add) as $scans | ([.threads[].invalid] | add) as $invalid
			| (.recording.duration_ns - .gap_ns) as $ns | ([.scanners[].looks] | add) as $looks
			| "\($r) rate \($scans / $ns * 1e9)",
			  "\($r) granularity \($ns / ([$looks - $invalid, 1] | max))",
			  "\($r) look \($ns / ([$looks, 1] | max))",
			  "\($r) walked \(100 * ($scans + $invalid) / ([$looks, 1] | max))",
			  "\($r) invalid \(100 * $invalid / ([$looks, 1] | max))",
			  "\($r) away \(100 * .gap_ns / .recording.duration_ns)",
			  "\($r) seen \(100 * .seen / ([.made, 1] | max))"' stack20.json >>scan.txt
		round=$((round + 1))
	done
	heading "scanner at --budget 100%: 20 frames, rebuilt every us (paper: 119 ns, 6 %, 21 %)"
	row scan.txt granularity "" "ns between two valid looks" "" %.0f
	row scan.txt invalid "" "invalid, % of looks" "" %.1f
	row scan.txt walked "" "walked the stack, % of looks" "" %.1f
	row scan.txt look "" "ns per look" "" %.0f
	row scan.txt rate "" "valid walks per second" "" %.0f
	row scan.txt seen "" "seen, % of the invocations made" "" %.1f
	row scan.txt away "" "scanner off its CPU, % of the time" "" %.1f
}

now_ns()
{
	date +%s%N
}

# (d), (e): the trace.
bench_trace()
{
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	heading "trace"
	: >trace.txt
	round=1
	while [ "$round" -le "$((rounds < 6 ? rounds : 6))" ]; do
		for what in figure1 qsort; do
			rm -f "$what.data"
			start=$(now_ns)
			case $what in
			figure1) ldb-record -o figure1.data -- ./figure1 -q -s 2 2>record.log || exit 1 ;;
			qsort)	record --budget 100% -o qsort.data -- ./storm-ldb qsort 20000 "$cpu" >/dev/null ;;
			esac
			took=$(($(now_ns) - start))
			bytes=$(wc -c <"$what.data")
			ldb-report -i "$what.data" --summary --json >"$what.json"
			events=$("$BUILD/tests/tools/helpers/trace-cat" "$what.data" | wc -l)
			echo "$bytes $took $events $(jq .lost.total "$what.json")" |
				awk -v r="$round" -v w="$what" '{
					print r, w "-bps", $1 / ($2 / 1e9)
					print r, w "-eps", $3 / ($2 / 1e9)
					print r, w "-bpe", $3 ? $1 / $3 : 0
					print r, w "-lost", $4 }' >>trace.txt
		done
		round=$((round + 1))
	done
	for what in figure1 qsort; do
		label=$what
		[ "$what" != qsort ] || label="qsort at --budget 100%"
		row trace.txt "$what-bps" "" "$label: bytes per second" "" %.0f
		row trace.txt "$what-eps" "" "$label: events per second" "" %.0f
		row trace.txt "$what-bpe" "" "$label: bytes per event" "" %.1f
		row trace.txt "$what-lost" "" "$label: events lost" "" %.0f
	done

	# Long enough that starting up and reading symbols do not count for much.
	ldb-record -o long.data -- ./figure1 -q -s 10 2>record.log || exit 1
	events=$("$BUILD/tests/tools/helpers/trace-cat" long.data | wc -l)
	: >read.txt
	for round in 1 2 3 4 5 6; do
		start=$(now_ns)
		ldb-report -i long.data --json >/dev/null
		echo "$round read $(($(now_ns) - start))" | awk -v e="$events" '{ print $1, $2, e / ($3 / 1e9) }' >>read.txt
	done
	row read.txt read "" "ldb-report: events read per second ($((events / 1000)) k events)" "" %.0f
}

# (f): lock and unlock, uncontended.
bench_locks()
{
	storm lock 10000000 locks.txt "$rounds" base quiet dormant record hold
	heading "uncontended lock and unlock: $(awk '$2 == "base" { s += $3; n++ } END { printf "%.2f", s / n }' locks.txt) ns without ldb"
	row locks.txt quiet base "instrumented, nobody looking / plain"
	row locks.txt dormant base "runtime loaded, nobody looking / plain"
	row locks.txt record base "recorded / plain"
	row locks.txt hold base "recorded with --mutex=hold / plain"
}

# What perf costs where the module is not there: the program, and others.
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
	modes="none own all tracepoints futex tracepoints-other none2"
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

# A switch of threads with the kernel module, in guest instructions.
bench_kmod()
{
	sh "$TOP/tests/kmod/bench.sh" || failed=1
}

echo "bench: $rounds rounds, program on CPU $cpu, scanner on CPU $scanner_cpu, load $(cut -d' ' -f1 /proc/loadavg)"
sed -n 's/^model name[ \t]*: /bench: /p' /proc/cpuinfo | head -n 1
for section in $sections; do
	"bench_$section" || exit 1
done
echo
[ "$failed" -eq 0 ] && echo "bench: all bounds hold" || echo "bench: a bound was exceeded"
exit "$failed"
