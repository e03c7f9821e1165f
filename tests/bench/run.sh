#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: what ldb costs, as ratios measured in one run.
#
#	tests/bench/run.sh [ROUNDS] [SECTION]...
#
# Each section is one file with a function bench_SECTION; the default is all, in the order
# below.  ROUNDS is 15 by default, and may come from the environment (make bench ROUNDS=5).
#
# Method (Documentation/overhead.md): in each round every configuration runs once, in an order that
# rotates from round to round, so that a drift of the machine affects all of them; a ratio is formed
# within a round; the table shows the median and its 95 % interval.  Times of call-storm
# (tests/programs/call-storm.c) are CPU times of the one thread that works.  The program stays on
# one CPU and the scanner on another.
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
rounds=${ROUNDS:-15}
case ${1:-} in [0-9]*) rounds=$1; shift ;; esac
case $rounds in
*[!0-9]* | 0*) echo "bench: ROUNDS is a number from 1 on, not '$rounds'" >&2; exit 2 ;;
esac
sections=$*
if [ -z "$sections" ]; then
	for section in calls dormant sockets ids peers sqlite figure1 defaults crowded servers text scan locks recorder start forks flight dumps trace reader why page perf syscalls flows kmod; do
		[ -f "$TOP/tests/bench/$section.sh" ] && sections="$sections $section"
	done
fi
failed=0
rm -f ./*.why

# The first two CPUs that we may use: one is for the program and one for the scanner.
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
$cc -O2 -c "$TOP/tests/bench/cpu-time.c" -o cpu-time.o.new || exit 1
cmp -s cpu-time.o.new cpu-time.o || mv cpu-time.o.new cpu-time.o
# A function that spans one cache line more costs up to a nanosecond, with records or without;
# aligned functions do not depend on that.
align=-falign-functions=64
$cc -O2 -g "$align" "$inc" "$programs/call-storm.c" -o storm-base -pthread &&
$cc -O2 -g "$align" "$inc" "$plugin" "$programs/call-storm.c" -o storm-ldb -pthread &&
$cxx -O2 -g "$inc" "$plugin" "$programs/figure1.cc" -o figure1 -pthread || exit 1

# shellcheck source=tests/lib/bench.sh
. "$TOP/tests/lib/bench.sh"
# shellcheck source=tests/lib/bench-peers.sh
. "$TOP/tests/lib/bench-peers.sh"
# Section "text" also measures the program of section "sqlite", and calls sqlite_source().
# shellcheck source=tests/bench/sqlite.sh
. "$TOP/tests/bench/sqlite.sh"
for section in $sections; do
	[ -f "$TOP/tests/bench/$section.sh" ] || {
		echo "bench: no section '$section': there is no tests/bench/$section.sh" >&2
		exit 2
	}
	# shellcheck source=/dev/null
	. "$TOP/tests/bench/$section.sh"
done

echo "bench: $rounds rounds, program on CPU $cpu, scanner on CPU $scanner_cpu, load $(cut -d' ' -f1 /proc/loadavg)"
sed -n 's/^model name[ \t]*: /bench: /p' /proc/cpuinfo | head -n 1
began=$(date +%s)
for section in $sections; do
	"bench_$section" || exit 1
done
printf '\nbench: %d minutes\n' "$((($(date +%s) - began + 30) / 60))"
[ "$failed" -eq 0 ] && echo "bench: all bounds hold" || echo "bench: a bound was exceeded"
exit "$failed"
