#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the tests and counts their TAP results.
#
#	tests/run.sh [--quick | --all] [PART | FILE]...
#
# Parts: lint unit runtime tools oracle fuzz plugin browser e2e kmod (default: all).  --quick
# runs the tests that find most faults in five minutes (tests/mutate); drivers get the argument
# "quick".  --all (make check-all) also runs what is too long for each change: scripts with a line
# "# Slow: WHY", and what is asked for in others by LDB_TEST_ALL, which is 1 then.  By its name
# a slow script always runs.  A part has whichever of these exist:
#	tests/PART/Makefile	built first (target "all"); fuzz.t builds its own programs
#	build/tests/PART/*	executables, C and C++ programs
#	tests/PART/run.sh	a driver of its own
#	tests/PART/*.t		scripts
# Each prints TAP, or nothing; then its exit status says 0 (passed), 77 (skipped), else
# (failed).  A test that takes longer than its limit is ended and failed: LDB_TEST_TIMEOUT
# seconds (default 240); LDB_DRIVER_TIMEOUT for a run.sh (default 480, kmod 2400).  A test that
# runs beside others has twice as long.
#
# A script of e2e/ or browser/, or with a line "# Timed: WHY", needs a machine that is fast
# enough: most judge what a live scanner observed.  When it fails, it is run once more at the
# end, with nothing beside it, and that counts; both are shown.  So are two programs of unit/
# that use the live kernel.
#
# All others run first, LDB_TEST_JOBS at a time (default: as many as there are CPUs); the
# guests' are among them.  Each runs in its own run.sh, which prints its result when it is
# done, and writes its counts into a file.  Scripts of e2e/ and browser/ follow, as many at a
# time, because their second try is alone; those with a line "# Long: WHY" begin, so that no CPU
# waits for one of them at the end.  Those with the line Timed then run one after the other, with
# nothing beside them.
#
# Output: one line per test file, with the seconds that it took and those of CPU that it used (its
# daemons' are not counted); failures in full; and last "N passed, N failed" (", N skipped").
# Logs stay in build/tests/log/.
# Exit status 1 when anything failed, a plan was not met, or nothing ran.

TOP=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$TOP/build}
export TOP BUILD
LOG=$BUILD/tests/log
mkdir -p "$LOG"
jobs=${LDB_TEST_JOBS:-$(nproc)}
# The plugin's matrix also runs each program under the scanner.
LDB_MATRIX_RECORD=${LDB_MATRIX_RECORD-1}
export LDB_MATRIX_RECORD
# Missing requirements are downloaded before (scripts/fetch.sh), and never by tests.
LDB_NO_FETCH=1
export LDB_NO_FETCH

build()	# part target: builds with the number of jobs that was passed to make, or one for each CPU
{
	make_jobs=-j$jobs
	case " ${MAKEFLAGS:-}" in *\ -j* | *jobserver*) make_jobs= ;; esac
	${MAKE:-make} $make_jobs --no-print-directory -C "$TOP/tests/$1" "$2" >"$LOG/$1-build.log" 2>&1
}

# The oracle checks each recording: see lib/engine.sh.
if [ "${1:-}" != --one ] && build oracle oracle && build tools "$BUILD/tests/tools/helpers/one-attribution"; then
	LDB_ORACLE_BUILT=1
	export LDB_ORACLE_BUILT
fi
limit=${LDB_TEST_TIMEOUT:-240}
driver_limit=${LDB_DRIVER_TIMEOUT:-480}
passed=0
failed=0
skipped=0
again=

# Prints "passed failed skipped" for a TAP log and its exit status.
count()
{
	awk -v rc="$2" '
	/^ok( |$)/ { nr++; if (/# *[Ss][Kk][Ii][Pp]/) s++; else p++ }
	/^not ok( |$)/ { nr++; if (/# *[Tt][Oo][Dd][Oo]/) s++; else f++ }
	/^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; has_plan = 1; if (plan == 0) all = 1 }
	/^Bail out!/ { bail = 1 }
	END {
		if (rc == 77 && nr == 0) { print 0, 0, 1; exit }
		if (!has_plan && nr == 0) {	# not TAP: the exit status is the result
			print (rc == 0 && !bail), (rc != 0 || bail), 0
			exit
		}
		if (!has_plan) f++		# the test ended before it printed its plan
		else if (nr != plan) f += plan > nr ? plan - nr : 1
		if (bail) f++
		if (rc != 0 && f == 0) f++	# e.g. crashed after its last result
		if (has_plan && all && rc == 0) s++
		print p + 0, f + 0, s + 0
	}' "$1"
}

# Sets $cpu to the CPU time, in tenths of a second, of the commands for which this shell has waited.
cpu_used()	# scratch
{
	# In a command substitution, the time would be the subshell's.
	times >"$1"
	cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); printf "%d", 10 * (60 * ($1 + $3) + $2 + $4) }' "$1")
	rm "$1"
}

# If $timed is set, a failure is only printed.
run_one()	# name limit cmd...
{
	name=$1
	secs=$2
	shift 2
	log=$LOG/$(printf %s "$name" | tr / -).log
	cpu_used "$log.times"
	cpu_before=$cpu
	start=$(date +%s)
	timeout -k 10 "$secs" "$@" >"$log" 2>&1 </dev/null
	rc=$?
	took=$(($(date +%s) - start))
	cpu_used "$log.times"
	cpu=$((cpu - cpu_before))
	took="${took}s, CPU $((cpu / 10)).$((cpu % 10))s"
	set -- $(count "$log" "$rc")
	verdict=FAIL
	if [ "$2" -gt 0 ] && [ -n "${timed:-}" ]; then
		verdict=AGAIN
	else
		passed=$((passed + $1))
		failed=$((failed + $2))
		skipped=$((skipped + $3))
	fi
	if [ "$2" -gt 0 ]; then
		echo "$verdict $name: $1 passed, $2 failed, $3 skipped ($took, exit status $rc)"
		[ "$rc" -ne 124 ] && [ "$rc" -ne 137 ] || echo "  ended after $secs s"
		# Prints each failure with the comment lines after it; if there is none, the
		# end of the log.
		awk '/^not ok/ { on = 1; print "  " $0; next }
		     /^#/ && on { print "  " $0; next }
		     /^Bail out!/ { print "  " $0 }
		     { on = 0 }' "$log" | head -n 200
		grep -q '^not ok' "$log" || tail -n 15 "$log" | sed 's/^/  | /'
	else
		verdict=ok
		skips=
		[ "${took%%s*}" -lt 40 ] || sed -n 's/^# slowest step: /  slowest step: /p' "$log"
		[ "$3" -eq 0 ] || skips=", $3 skipped"
		echo "ok   $name: $1 passed$skips ($took)"
		sed -n 's/^\(ok\|1\.\.0\).*# *[Ss][Kk][Ii][Pp] */  skipped: /p' "$log" | sort | uniq -c | sed 's/^ *1 / /'
	fi
}

run_script()	# path [shell]
{
	timed=
	! is_timed "$1" || timed=1
	# shellcheck disable=SC2086	# one word or none
	run_one "$name" "$limit" ${2:-} "$1"
	timed=
	[ "$verdict" != AGAIN ] || again="$again $1"
}

run_file()	# path [timed | others: of the guests' scripts]
{
	name=${1#"$TOP"/tests/}
	name=${name#"$BUILD"/tests/}${2:+-$2}
	case $1 in
	*/kmod/run.sh)	run_one "$name" "${LDB_DRIVER_TIMEOUT:-2400}" sh "$1" ${2:+-t "$2"} ${quick:+quick} ;;
	*/run.sh)	run_one "$name" "$driver_limit" sh "$1" ${quick:+quick} ;;
	*.t)		run_script "$1" sh ;;
	*)		run_script "$1" ;;
	esac
}

is_timed()	# path: true if the script gets a second try
{
	case $1 in
	*/e2e/* | */browser/*) return 0 ;;
	# These tests compare two tracers of a live kernel; a tracer that is not read in time loses
	# events.
	*/unit/record-perf-live | */unit/record-perf-ftrace) return 0 ;;
	*.t) grep -q '^# Timed: ' "$1" ;;
	*) return 1 ;;
	esac
}

# Adds a line for each file to the list of tests to run.
add_file()	# path
{
	case $quick$1 in
	*/kmod/run.sh)
		if [ -z "$quick" ]; then
			echo "$1 others" >>"$lists/first"
			echo "$1 timed" >>"$lists/timed"
		else
			echo "$1" >>"$lists/first"
		fi
		;;
	# This script takes long, with two jobs at a time, so shorter tests run during its end.
	*/plugin/run.sh) echo "$1" >>"$lists/first" ;;
	# Guests boot there, one after the other.
	*/kmod/*.t) echo "$1" >>"$lists/first" ;;
	*/browser/run.sh) echo "$1" >>"$lists/timed" ;;
	*)	if [ "${1%.t}" != "$1" ] && grep -q '^# Timed: ' "$1"; then
			echo "$1" >>"$lists/timed"
		elif is_timed "$1" && grep -qs '^# Long: ' "$1"; then
			echo "$1" >>"$lists/long"
		elif is_timed "$1"; then
			echo "$1" >>"$lists/live"
		else
			echo "$1" >>"$lists/others"
		fi
		;;
	esac
}

add_part()
{
	if [ -f "$TOP/tests/$1/Makefile" ] && [ "$1" != fuzz ] && ! build "$1" all; then
		failed=$((failed + 1))
		echo "FAIL $1: its programs do not build"
		tail -n 20 "$LOG/$1-build.log" | sed 's/^/  | /'
	fi
	# A part with its own driver decides itself what it runs.
	if [ -f "$TOP/tests/$1/run.sh" ]; then
		add_file "$TOP/tests/$1/run.sh"
	else
		for file in "$BUILD/tests/$1"/*; do
			[ -f "$file" ] && [ -x "$file" ] || continue
			case $file in *.so | *.o | *.d) continue ;; esac
			add_file "$file"
		done
	fi
	for file in "$TOP/tests/$1"/*.t; do
		# Exports read the same data as the reports, and take a third of the time.
		case $quick/$file in 1/*/tools/export-*.t | 1/*/tools/width.t) continue ;; esac
		[ -f "$file" ] || continue
		[ -z "${LDB_TEST_ALL:-}" ] && grep -q '^# Slow: ' "$file" || add_file "$file"
	done
}

# Runs one of the files that run at the same time as others.  Prints its results at once, and writes
# its counts.
if [ "${1:-}" = --one ]; then
	quick=${LDB_TEST_QUICK:-}
	limit=$((2 * limit))
	driver_limit=$((2 * driver_limit))
	said=$(mktemp "$LDB_TEST_COUNTS/said.XXXXXX")
	run_file "$2" "${3:-}" >"$said"
	flock "$LDB_TEST_COUNTS/lock" cat "$said"
	echo "$passed $failed $skipped$again" >"$LDB_TEST_COUNTS/counts.${said##*.}"
	exit 0
fi

run_beside()	# FILE with lines "PATH [ARGUMENT]"
{
	LDB_TEST_COUNTS=$lists
	LDB_TEST_QUICK=$quick
	export LDB_TEST_COUNTS LDB_TEST_QUICK
	xargs -r -P "$jobs" -L 1 sh "$TOP/tests/run.sh" --one <"$1" &
	beside=$!
	wait "$beside"
	nr_done=0
	for counts in "$lists"/counts.*; do
		[ -f "$counts" ] || continue
		read -r one_passed one_failed one_skipped one_again <"$counts"
		[ -z "$one_again" ] || again="$again $one_again"
		rm "$counts"
		passed=$((passed + one_passed))
		failed=$((failed + one_failed))
		skipped=$((skipped + one_skipped))
		nr_done=$((nr_done + 1))
	done
	nr_lost=$(($(wc -l <"$1") - nr_done))
	if [ "$nr_lost" -ne 0 ]; then
		echo "FAIL $nr_lost of the files above came to no result"
		failed=$((failed + 1))
	fi
}

# Each JSON document that the tools print is copied, for scripts/check-json.sh: see json/bin/keep.
LDB_JSON=$(mktemp -d "$BUILD/tests/json.XXXXXX")
export LDB_JSON
lists=$(mktemp -d "$BUILD/tests/lists.XXXXXX")
beside=
trap 'rm -rf "$LDB_JSON" "$lists"' EXIT
trap 'kill $beside 2>/dev/null; exit 130' INT TERM HUP
: >"$lists/first" >"$lists/others" >"$lists/long" >"$lists/live" >"$lists/timed"

parts=
quick=
for arg; do
	case $arg in
	--quick) quick=1 ;;
	--all) LDB_TEST_ALL=1 ;;
	-*) echo "run.sh: unknown option $arg: see the head of $0" >&2; exit 2 ;;
	*) parts="$parts $arg" ;;
	esac
done
[ -z "${LDB_TEST_ALL:-}" ] || export LDB_TEST_ALL
all=
if [ -z "$parts" ]; then
	all=1
	rm -f "$LOG"/*.log
	parts="lint unit runtime tools oracle"
	if [ -n "$quick" ]; then
		parts="$parts $TOP/tests/e2e/truth.t $TOP/tests/kmod/run.sh"
	else
		parts="$parts fuzz plugin browser e2e kmod"
	fi
fi

for part in $parts; do
	if [ -f "$part" ]; then
		add_file "$(cd "$(dirname "$part")" && pwd)/$(basename "$part")"
	else
		add_part "$part"
	fi
done
cat "$lists/others" >>"$lists/first"
run_beside "$lists/first"
cat "$lists/live" >>"$lists/long"
run_beside "$lists/long"
while read -r file which; do
	run_file "$file" "$which"
done <"$lists/timed"

# Runs the failed tests that get a second try, one at a time.
if [ -n "$again" ]; then
	echo "once more, with nothing beside them:"
	for file in $again; do
		name=${file#"$TOP"/tests/}
		name=${name#"$BUILD"/tests/}
		case $file in
		*.t) run_one "$name" "$limit" sh "$file" ;;
		*) run_one "$name" "$limit" "$file" ;;
		esac
	done
fi

# Runs a check of all documents.
over_all()	# name argument...
{
	over=$1
	shift
	run_one "$over" "$limit" sh "$TOP/tests/scripts/$over" "$@"
	grep '^# ' "$LOG/$over.log" | sed 's/^#/ /'
}
if [ -n "$all" ] && [ -z "$quick" ]; then
	over_all coverage.sh "$LOG"/*.log
	over_all check-json.sh all
elif [ -n "$(ls "$LDB_JSON")" ]; then
	over_all check-json.sh
fi

total="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || total="$total, $skipped skipped"
echo "$total"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
