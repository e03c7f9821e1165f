#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make fuzz runs the targets one after the other, each for FUZZ_TIME seconds (60) or FUZZ_RUNS
# executions.
#
#	FUZZ_TARGETS="trace perf"	only these targets
#	FUZZ_SEED=N			the seed; default: a new one, which is printed
#	FUZZ_CPU=N			all targets run on this CPU
#	FUZZ_TRACES="a.data b.data"	make fuzz makes further seeds of these recordings
#
# The inputs that were found stay in build/fuzz/corpus.  build/fuzz/log has one line for each run:
# executions, seconds, edges covered, peak memory.  An input that breaks something stays in
# build/fuzz/found.  When the fault is mended, the input must be moved to tests/fuzz/corpus.

: "${TOP:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILD:=$TOP/build}"
FUZZ=$BUILD/fuzz
# The call stacks of allocations are needed only for a finding, and a finding is run again.
ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
failed=0

max_len()
{
	case $1 in
	symbol) echo 16384 ;;
	*) echo 1024 ;;
	esac
}

number()	# name log
{
	sed -n "s/^stat::$1: *//p" "$2"
}

fuzz()	# target
{
	seed=${FUZZ_SEED:-$(($(date +%s) % 100000 * 10000 + $$ % 10000))}
	mkdir -p "$FUZZ/corpus/$1" "$FUZZ/found" "$FUZZ/seeds/$1"
	begin=$(date +%s)
	set -- "$1" -seed="$seed" -max_len="$(max_len "$1")" -rss_limit_mb=1024 -timeout=10 -entropic=0 \
		-print_final_stats=1 -artifact_prefix="$FUZZ/found/$1-"
	if [ -n "${FUZZ_RUNS:-}" ]; then
		set -- "$@" -runs="$FUZZ_RUNS"
	else
		set -- "$@" -max_total_time="${FUZZ_TIME:-60}"
	fi
	target=$1
	shift
	known=$TOP/tests/fuzz/corpus/$target
	[ -d "$known" ] || known=
	${FUZZ_CPU:+taskset -c "$FUZZ_CPU"} "$FUZZ/fuzz-$target" "$@" "$FUZZ/corpus/$target" "$FUZZ/seeds/$target" \
		${known:+"$known"} >"$FUZZ/$target.log" 2>&1
	rc=$?
	line="$target: seed $seed, $(number number_of_executed_units "$FUZZ/$target.log") executions,"
	line="$line $(($(date +%s) - begin)) s, $(grep -o 'cov: [0-9]*' "$FUZZ/$target.log" | tail -n 1 |
		sed 's/cov: //') edges, $(number peak_rss_mb "$FUZZ/$target.log") MB at most"
	if [ $rc -eq 0 ]; then
		line="$line: nothing found"
	else
		line="$line: FOUND $(sed -n 's/.*Test unit written to //p' "$FUZZ/$target.log")"
		failed=1
	fi
	echo "$line"
	echo "$(date -u '+%Y-%m-%d %H:%M:%S') $line" >>"$FUZZ/log"
	[ $rc -eq 0 ] || sed -n '/ERROR\|runtime error\|broken: \|SUMMARY\|^ *#[0-9] /p' "$FUZZ/$target.log" | head -n 30
}

for target in ${FUZZ_TARGETS:-trace perf control symbol runtime}; do
	if ! [ -x "$FUZZ/fuzz-$target" ]; then
		echo "ldb: there is no $FUZZ/fuzz-$target: install clang with its libFuzzer (make deps)" >&2
		exit 1
	fi
	fuzz "$target"
done
exit $failed
