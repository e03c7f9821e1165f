# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

recorder_mb=250		# MB of records that are written into the rings per second
recorder_seconds=2

# Prints which shares of the bytes that recorder-load writes are functions, locks, requests, and
# scheduling (the last only if the replayed trace has it).
recorder_mix()	# config
{
	case $1 in
	all)	echo func:60,lock:15,req:20,sched:5 ;;
	func)	echo func:100 ;;
	lock)	echo lock:100 ;;
	req)	echo req:100 ;;
	esac
}

# Prints the CPU time of ldb-record for each 250 MB that it stores, and other figures.
recorder_run()	# config
{
	ldb-record -q --kernel none --max-size 8G -o recorder.data -- \
		"$BUILD/tests/tools/helpers/recorder-load" figure1-all.data "$recorder_mb" \
		"$recorder_seconds" "$(recorder_mix "$1")" >recorder.out || return
	lost=$(ldb-report -i recorder.data --summary --json | jq .lost.total) || return
	bytes=$(wc -c <recorder.data)
	tr ' ' '\n' <recorder.out | awk -F = -v c="$1" -v lost="$lost" -v bytes="$bytes" -v mb="$recorder_mb" '
		{ v[$1] = $2 }
		END {
			if (!v["raw"]) exit 1
			# Each lost record has 32 bytes; the row "records lost" shows their number.
			stored = v["raw"] - 32 * lost
			print c, v["cpu_ns"] / (stored / (mb * 1e6) * 1e9)
			print c "-rate", v["raw"] / v["ns"] * 1e3
			print c "-bpe", bytes / v["events"]
			print c "-rss", v["anon_kb"] / 1024
			print c "-lost", lost
		}'
}

# This section measures the recorder's own pipeline: rings -> columns -> zstd -> file.
bench_recorder()
{
	${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all || exit 1
	record --mutex=hold --lock-threshold=0 --budget 100% -o figure1-all.data -- taskset -c "$cpu" \
		./figure1 -q -s 4
	interleave recorder.txt "$rounds" recorder_run all func lock req
	heading "recorder: $recorder_mb MB of records a second, replayed from figure1"
	for what in all func lock req; do
		note "$(recorder_mix "$what"), $(mean recorder.txt "$what-rate" %.0f) MB/s"
		bound=
		[ "$what" != all ] || bound=0.25
		row recorder.txt "$what" "" "  CPU seconds a second" "$bound"
		row recorder.txt "$what-bpe" "" "  bytes per event in the file" "" %.2f
		row recorder.txt "$what-rss" "" "  MiB of its own memory" "" %.0f
		row recorder.txt "$what-lost" "" "  records lost" 0 %.0f
	done
}
