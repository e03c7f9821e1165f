# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# A flight recorder works like a recorder, but it retains blocks and does not write them, and
# follows each request and each lock for its triggers.  No trigger fires here.
flight_triggers="--trigger request>1h --trigger p99>1h --trigger lock>1h"
flight_mb=50		# MB of records that are written into the rings per second
flight_seconds=2

flight_record()	# config options... -- command...
{
	flight_config=$1
	shift
	# shellcheck disable=SC2086	# options
	case $flight_config in
	flight)	record --kernel=none --flight 10s $flight_triggers -o flight.data "$@" ;;
	*)	record --kernel=none --no-symbols -o "$flight_config.data" "$@" ;;
	esac
}

# To compare two recorders, two programs run at the same time on one CPU, each with its recorder;
# their scanners share the other CPU.  So any other load on the machine, and the time that the
# hypervisor takes, is the same for both within milliseconds, and hardly changes the ratio of a
# round.  "same" compares two plain recordings.
#
# The program's own CPU time cannot be compared in this way.  The two scanners may take turns on one
# CPU in the same rhythm as the two programs on the other CPU.  Then one program always runs at the
# same time as its own scanner and the other one never does, for a whole round.  So for this
# comparison the programs run one after the other.
flight_begin()	# config side: sets $flight_pid
{
	flight_record "$1" -- "$BUILD/tests/tools/helpers/recorder-load" figure1-all.data "$flight_mb" \
		"$flight_seconds" "$(recorder_mix all)" >"flight-$2.out" &
	flight_pid=$!
}

flight_load_run()	# config: flight-a.out is plain, flight-b.out is the other one
{
	flight_begin plain a
	flight_a=$flight_pid
	case $1 in
	flight) flight_begin flight b ;;
	same) flight_begin plain2 b ;;
	esac
	wait "$flight_a"
	flight_status=$?
	wait "$flight_pid" && [ "$flight_status" -eq 0 ] || return
	for flight_side in a b; do
		tr ' ' '\n' <"flight-$flight_side.out" | awk -F = -v c="$1.$flight_side" -v mb="$flight_mb" '
			{ v[$1] = $2 }
			END {
				if (!v["raw"]) exit 1
				print c ".cpu", v["cpu_ns"] / (v["raw"] / (mb * 1e6) * 1e9)
				print c ".rss", v["anon_kb"] / 1024
			}'
	done
}

# Measures the CPU time of a call.
flight_program_run()	# config
{
	flight_record "$1" -- ./storm-ldb qsort 600 "$cpu" >flight.out || return
	awk -v c="$1" '$2 > 0 && $3 > 0 { print c, $3 / $2 }' flight.out
}

bench_flight()
{
	# shellcheck source=tests/bench/recorder.sh
	. "$TOP/tests/bench/recorder.sh"
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	$cxx -O2 -g "$inc" "$plugin" "$programs/figure1.cc" -o figure1-ldb -pthread || exit 1
	record --mutex=hold --lock-threshold=0 --budget 100% -o figure1-all.data -- taskset -c "$cpu" \
		./figure1-ldb -q -s 2
	interleave flight.txt $((3 * rounds)) flight_program_run plain plain2 flight
	heading "flight recorder / plain recording, one after the other"
	row flight.txt plain2 plain "CPU time of a call, the same again (noise)"
	row flight.txt flight plain "CPU time of a call" 1.02
	interleave flight-load.txt $((3 * rounds)) flight_load_run same flight
	heading "the recorder itself, $flight_mb MB of records a second: $(recorder_mix all)"
	row flight-load.txt flight.a.cpu "" "  CPU seconds a second, plain"
	row flight-load.txt flight.b.cpu "" "  CPU seconds a second, flight recorder"
	row flight-load.txt same.b.cpu same.a.cpu "  ratio, the same again (noise)"
	row flight-load.txt flight.b.cpu flight.a.cpu "  ratio" 1.02
	row flight-load.txt flight.b.rss "" "  MiB of its own memory, without the ring" "" %.0f
}
