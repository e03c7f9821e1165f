# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# A flight recorder does what a recorder does, retains blocks in place of writing them, and follows
# each request and each lock for its triggers.  None of these is met.
flight_triggers="--trigger request>1h --trigger p99>1h --trigger lock>1h"
flight_mb=100		# a second, of records in the rings
flight_seconds=2

flight_record()	# config options... -- command...
{
	flight_config=$1
	shift
	# shellcheck disable=SC2086	# options
	case $flight_config in
	flight)	record --kernel=none --flight 10s $flight_triggers -o flight.data "$@" ;;
	*)	record --kernel=none --no-symbols -o plain.data "$@" ;;
	esac
}

# What the program notices: CPU time of a call, latencies of Figure 1.
flight_program_run()	# config
{
	flight_record "$1" -- ./storm-ldb qsort 1000 "$cpu" >flight.out || return
	awk -v c="$1" '$2 > 0 && $3 > 0 { print c ".call", $3 / $2 }' flight.out
	flight_record "$1" -- ./figure1-ldb -q -l -t 20 -c "$cpu" -s 1.2 >flight.out || return
	awk -v c="$1" '$1 == "latency" { print c ".p50", $2; print c ".p99", $3 }' flight.out
}

# And what the recorder needs itself.
flight_load_run()	# config
{
	flight_record "$1" -- "$BUILD/tests/tools/helpers/recorder-load" figure1-all.data "$flight_mb" \
		"$flight_seconds" "$(recorder_mix all)" >flight.out || return
	tr ' ' '\n' <flight.out | awk -F = -v c="$1" -v mb="$flight_mb" '
		{ v[$1] = $2 }
		END {
			if (!v["raw"]) exit 1
			print c ".cpu", v["cpu_ns"] / (v["raw"] / (mb * 1e6) * 1e9)
			print c ".rss", v["anon_kb"] / 1024
		}'
}

bench_flight()
{
	# shellcheck source=tests/bench/recorder.sh
	. "$TOP/tests/bench/recorder.sh"
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	$cxx -O2 -g "$inc" "$plugin" "$programs/figure1.cc" -o figure1-ldb -pthread || exit 1
	record --mutex=hold --lock-threshold=0 --budget 100% -o figure1-all.data -- taskset -c "$cpu" \
		./figure1-ldb -q -s 2
	interleave flight.txt "$rounds" flight_program_run plain flight plain2
	heading "flight recorder / plain recording"
	row flight.txt plain2.call plain.call "CPU time of a call, the same again (noise)"
	row flight.txt flight.call plain.call "CPU time of a call" 1.02
	row flight.txt plain2.p50 plain.p50 "Figure 1, p50, the same again (noise)"
	row flight.txt flight.p50 plain.p50 "Figure 1, p50" 1.02
	row flight.txt plain2.p99 plain.p99 "Figure 1, p99, the same again (noise)"
	row flight.txt flight.p99 plain.p99 "Figure 1, p99"
	interleave flight-load.txt "$rounds" flight_load_run plain flight
	heading "the recorder itself, $flight_mb MB of records a second: $(recorder_mix all)"
	row flight-load.txt plain.cpu "" "  CPU seconds a second, plain"
	row flight-load.txt flight.cpu "" "  CPU seconds a second, flight recorder"
	row flight-load.txt flight.cpu plain.cpu "  ratio"
	row flight-load.txt flight.rss "" "  MiB of its own memory, without the ring" "" %.0f
}
