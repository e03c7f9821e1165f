# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# This section measures what is known of a program that leaves no CPU free for the scanner: two
# threads that compute, on two CPUs and on one (crowded.c), with each of --kernel-frames=off, auto
# and on.  The program itself writes down what it did, and crowded-check compares the trace with
# that.
#
# The last rows are of the server of section defaults, at 60 % of both CPUs.
# shellcheck source=tests/bench/defaults.sh
. "$TOP/tests/bench/defaults.sh"
crowded_stages=4000

crowded_values()	# config
{
	ldb-report -i crowded.data --json-summary >crowded.json 2>report.err || return
	./crowded-check crowded.data crowded.log "$(jq '.observed_95pct_from_ns / 1000' crowded.json)" >>crowded.out || return
	jq -r '"resolution \(.resolution_ns / 1000)", "calls \(100 * .observed_calls / .calls)",
		"polls \(100 * ([.scanners[].cost_ns] | add) / .recording.duration_ns / 2)", "lost \(.lost.total)"' crowded.json >>crowded.out
}

# The recorder is on the program's CPUs, too.
crowded_run()	# config
{
	# shellcheck disable=SC2086	# a command
	case $1 in
	plain | plain2) $crowded_on ./crowded-plain 2 "$crowded_stages" "$crowded_steps" ;;
	*) $crowded_on ldb-record -q -o crowded.data --kernel=bpf --kernel-frames="$1" -- \
			./crowded-ldb 2 "$crowded_stages" "$crowded_steps" crowded.log 2>record.log ;;
	esac >crowded.out || return
	case $1 in off | auto | on) crowded_values "$1" || return ;; esac
	sed "s/^/$1 /; s/ /./" crowded.out
}

crowded_rows()	# file title
{
	f=$1
	heading "$2: $(mean "$f" plain.cpu %.0f) us of CPU, $(mean "$f" on.waits %.0f) waits, $(mean "$f" on.long %.0f) long invocations"
	for c in off auto on; do
		[ "$c" != off ] && placed=99 observed=95 || placed='' observed=''
		paired "$f" "$c.placed" "  waits in the right function, %; readings $c" -v least="$placed" -v fmt=%.2f
		paired "$f" "$c.observed" "  500 us without a switch: observed, %; $c" -v least="$observed" -v fmt=%.2f
		row "$f" "$c.calls" "" "  all invocations: observed, %; $c" "" %.2f
		row "$f" "$c.resolution" "" "  resolution, us; $c" "" %.1f
		row "$f" "$c.from" "" "  95 % are observed from here on, us; $c" "" %.0f
		row "$f" "$c.claim" "" "  ... according to the report, us; $c" "" %.0f
		row "$f" "$c.at_claim" "" "  ... observed from there to twice that, %; $c" "" %.1f
		row "$f" "$c.outside" "" "  invocations outside of their bounds; $c" 0 %.0f
		row "$f" "$c.lost" "" "  events lost; $c" 0 %.0f
	done
	row "$f" auto.resolution off.resolution "  resolution: auto / off" 0.5
	row "$f" on.resolution off.resolution "  resolution: on / off" 0.5
	row "$f" plain2.cpu plain.cpu "  CPU time: the same again (noise)"
	row "$f" off.cpu plain.cpu "  CPU time: recorded, off / plain"
	row "$f" auto.cpu off.cpu "  CPU time: auto / off" 1.05
	row "$f" on.cpu off.cpu "  CPU time: on / off" 1.05
	row "$f" on.polls "" "  cost of polls, % of the time; on" "" %.2f
}

crowded_make()
{
	$cc -O2 -g "$inc" "$programs/planted.c" -o planted-plain -pthread -lm &&
	$cc -O2 -g "$inc" "$plugin" "$programs/planted.c" -o planted-ldb -pthread -lm &&
	$cc -O2 -g "$inc" -DPLAIN "$programs/crowded.c" -o crowded-plain -pthread &&
	$cc -O2 -g "$inc" "$plugin" "$programs/crowded.c" -o crowded-ldb -pthread &&
	$cc -std=gnu11 -O2 -D_GNU_SOURCE -I"$TOP/tools" "$inc" -I"$TOP/kmod/uapi" "$TOP/tests/bench/crowded-check.c" \
		"$BUILD/lib/libldbtools.a" -lzstd -ldw -lelf -lstdc++ -lm -lpthread -o crowded-check
}

crowded_server_run()	# config
{
	case $1 in
	plain | plain2) ./planted-plain "$planted_rate" "$defaults_seconds" "$planted_steps" ;;
	*) defaults_record --kernel-frames="$1" -- ./planted-ldb "$planted_rate" "$defaults_seconds" "$planted_steps" ;;
	esac >planted.out || return
	sed "s/^/$1 /; s/ /./" planted.out
}

crowded_server_rows()
{
	f=crowded-server.txt
	heading "A server at 60 % of two CPUs ($planted_rate requests/s), defaults: $(mean "$f" plain.cpu %.1f) us of CPU a request"
	for m in cpu p50 p99; do
		[ "$m" = p99 ] && bound=1.05 || bound=
		row "$f" "plain2.$m" "plain.$m" "  $m: the same again (noise)"
		row "$f" "off.$m" "plain.$m" "  $m: recorded, readings off / plain"
		row "$f" "auto.$m" "plain.$m" "  $m: recorded, readings auto / plain" "$bound"
		row "$f" "on.$m" "plain.$m" "  $m: recorded, readings on / plain"
		row "$f" "auto.$m" "off.$m" "  $m: auto / off"
		row "$f" "on.$m" "off.$m" "  $m: on / off"
	done
}

bench_crowded()
{
	rm -f plain.why plain2.why off.why auto.why on.why
	crowded_make || return 1
	crowded_steps=$(./crowded-plain 0 0 0) || return 1
	if ! ldb-record -q --kernel=bpf -o crowded.data -- ./crowded-ldb 2 10 "$crowded_steps" >crowded.out 2>record.log; then
		printf '\ncrowded: not measured: %s\n' "$(cat record.log)"
		return 0
	fi
	for crowded_cpus in 2 1; do
		crowded_on=
		[ "$crowded_cpus" -eq 2 ] || crowded_on="taskset -c $cpu"
		interleave "crowded-$crowded_cpus.txt" "$rounds" crowded_run plain off auto on plain2
		crowded_rows "crowded-$crowded_cpus.txt" "Two busy threads, CPUs: $crowded_cpus"
	done
	planted_rate_find || return 1
	interleave crowded-server.txt "$rounds" crowded_server_run plain off auto on plain2
	crowded_server_rows
}
