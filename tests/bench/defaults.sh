# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# This section measures the default options, with which no thread is pinned.
#
# The first program is a server of our own (planted.c) at 60 % of two CPUs.  The section shows
# how long the program's threads wait for ldb's threads, according to the trace itself, and
# what a request costs.  The server's work is counted in steps, not in time, and only the CPU time
# of its own threads is counted.  The second program is the one of Figure 1.
#
# In the table of components each configuration adds one thing to the configuration before it, and
# the row shows how much that adds to the CPU time of a request.
defaults_seconds=2
defaults_busy=1.2		# CPU seconds a second: 60 % of two
defaults_figure1_requests=1000000

defaults_record()	# options... -- command
{
	ldb-record -q -o defaults.data "$@" 2>record.log
}

# Prints, among other figures, for what share of the time for which the program's threads waited for
# a CPU ldb's threads were running.
defaults_waits()
{
	ldb-report -i defaults.data --sched --json >sched.json 2>report.err || return
	ldb-why -i defaults.data --json >why.json 2>report.err || return
	jq -r '([.antagonists[] | select(.name | startswith("ldb-")) | .total_ns] | add // 0) as $ours |
		"behind \(100 * $ours / .all.delays.total_ns)",
		"delay \(.all.delays.total_ns / 1e6)"' sched.json &&
	jq -r '"first_ten \([.causes[:10][] | select(.category == "Recorder")] | length)",
		"causes \(.causes | length)"' why.json &&
	ldb-report -i defaults.data --json-summary 2>report.err |
		jq -r '"lost \(.lost.total)", "seen \(100 * .observed_calls / .calls)"'
}

# Prints the CPU time that ldb takes for itself, in us per request: the time of its threads in the
# program; how much of that they spent on reading what had changed and on walking stacks (half of
# cost_ns, because twice this time is charged: scan/pace.c); and the time of ldb-record.
defaults_own()
{
	looking=$(ldb-report -i defaults.data --json-summary 2>report.err | jq '[.scanners[].cost_ns] | add / 2000') || return
	tree=$(sed 's/[ms]/ /g' times.txt | awk 'NR == 2 { print ($1 * 60 + $2 + $3 * 60 + $4) * 1e6 }')
	awk -v looking="$looking" -v tree="$tree" '{ v[$1] = $2 } END {
		print "inside", v["process"] - v["cpu"]
		print "looking", looking / v["requests"]
		print "recorder", tree / v["requests"] - v["process"] }' planted.out
}

planted_run()	# config
{
	# shellcheck disable=SC2086	# arguments
	set -- "$1" $planted_rate $defaults_seconds $planted_steps
	config=$1
	shift
	case $config in
	plain | plain2) ./planted-plain "$@" ;;
	quiet)	./planted-ldb "$@" ;;
	loaded)	LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 ./planted-ldb "$@" ;;
	tags)	defaults_record --kernel=none --mutex=off --budget 0.0001% -- ./planted-ldb "$@" ;;
	locks)	defaults_record --kernel=none --budget 0.0001% -- ./planted-ldb "$@" ;;
	scan)	defaults_record --kernel=none -- ./planted-ldb "$@" ;;
	record)	(defaults_record -- ./planted-ldb "$@" && times >times.txt) ;;
	esac >planted.out || return
	if [ "$config" = record ]; then
		defaults_own >own.txt && defaults_waits >>own.txt || return
		cat own.txt >>planted.out
	fi
	sed "s/^/$config /; s/ /./" planted.out
}

figure1_defaults_run()	# config
{
	began_ns=$(now_ns)
	case $1 in
	plain | plain2) ./figure1-plain -q -l -n "$defaults_figure1_requests" ;;
	record)	defaults_record -- ./figure1 -q -l -n "$defaults_figure1_requests" ;;
	esac >figure1.out || return
	echo "$1.wall $(($(now_ns) - began_ns))"
	awk -v c="$1" '$1 == "latency" { print c ".p9999", $5; n++ } END { exit n != 1 }' figure1.out
}

# The CPU time of a request decides the rate, so that every machine has the same load.
planted_rate_find()
{
	planted_steps=$(./planted-plain 0 0 0) || return
	planted_rate=$(./planted-plain 2000 1 "$planted_steps" |
		awk -v busy="$defaults_busy" '$1 == "cpu" { printf "%d", busy * 1e6 / $2 }')
	[ "${planted_rate:-0}" -gt 0 ]
}

planted_rows()
{
	f=planted.txt
	heading "A server at 60 % of two CPUs ($planted_rate requests/s), nothing pinned, defaults: $(mean "$f" plain.cpu %.1f) us of CPU a request"
	row "$f" record.behind "" "  waits for a CPU: behind ldb's threads, % of all" 0.5 %.3f
	row "$f" record.delay "" "  ... all of them, ms" "" %.1f
	row "$f" record.first_ten "" "  Recorder among the first ten causes" 0 %.0f
	row "$f" record.causes "" "  ... of so many causes" "" %.0f
	row "$f" record.lost "" "  events lost" 0 %.0f
	row "$f" record.seen "" "  invocations observed, %" "" %.1f
	for m in cpu p50 p99; do
		case $m in cpu) bound=1.05 ;; p50) bound=1.06 ;; p99) bound=1.15 ;; esac
		row "$f" "plain2.$m" "plain.$m" "  $m: the same again (noise)"
		row "$f" "quiet.$m" "plain.$m" "  $m: not recorded / plain"
		row "$f" "record.$m" "plain.$m" "  $m: recorded / plain" "$bound"
	done
	heading "Where the CPU time of a request goes, us more than the configuration before"
	added "$f" plain2.cpu plain.cpu "  the same again (noise)"
	added "$f" quiet.cpu plain.cpu "  call path"
	added "$f" loaded.cpu quiet.cpu "  runtime loaded"
	added "$f" tags.cpu loaded.cpu "  tags, and a recorder that has little to do"
	added "$f" locks.cpu tags.cpu "  locks"
	added "$f" scan.cpu locks.cpu "  polling and walks, and what they give to record"
	added "$f" record.cpu scan.cpu "  kernel events"
	heading "What ldb takes for itself, us of CPU a request, while no other program needs it"
	row "$f" record.inside "" "  its threads in the program: scanner, which polls, and control" "" %.2f
	row "$f" record.looking "" "  ... of that, reading what had changed, and walks" "" %.2f
	row "$f" record.recorder "" "  ldb-record, from its start to its end" "" %.2f
}

# memcached and redis run under the load of servers.sh, with ldb-record -p and no options; no
# thread is pinned.

# Prints the CPU time of a server's own threads, in ns.
server_cpu()	# pid
{
	for task in /proc/"$1"/task/*; do
		case $(cat "$task/comm") in
		ldb-*) ;;
		*)	cat "$task/schedstat" ;;
		esac
	done | awk '{ ns += $1 } END { printf "%.0f", ns }'
}

defaults_attach()	# pid
{
	ldb-record -q -o server.data -p "$1" 2>record.log &
	recorder=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 0.1
		! grep -qx ldb-scan "/proc/$1/task/"*/comm || return 0
	done
	servers_fail "ldb-record cannot attach to $server: $(tail -n 1 record.log)"
}

defaults_load()	# config: prints "CONFIG METRIC VALUE"
{
	name=$1
	[ "$1" != record ] || name=ldb
	read -r server_pid port <"$name.server"
	[ "$1" != record ] || defaults_attach "$server_pid"
	cpu_before=$(server_cpu "$server_pid")
	client "$name" --rate "$rate" --seconds "$servers_seconds" --seed "$round_seed" --stamps "$name.stamps" >load.txt 2>load.err ||
		servers_fail "the client failed: $(tail -n 1 load.err)"
	cpu_after=$(server_cpu "$server_pid")
	[ "$1" != record ] || recorder_stop
	awk -v c="$1" -v ns="$((cpu_after - cpu_before))" '{ print c, $1, $2 }
		$1 == "requests" { print c, "cpu", ns / 1000 / $2 }' load.txt
}

defaults_server()
{
	servers_make
	server_rounds "$rounds" defaults_load plain record plain2
	for percent in 20 60; do
		heading "$server at $percent % of its peak, nothing pinned, defaults: $((server_peak * percent / 100)) requests/s"
		for m in cpu:1.05 latency.p50:1.06 latency.p99:1.15 sent.p50 sent.p99; do
			case $m in *:*) bound=${m#*:} ;; *) bound= ;; esac
			m=${m%:*}
			f=$(metric "$percent" "$m")
			row "$f" plain2 plain "  $m: the same again (noise)"
			row "$f" record plain "  $m: recorded / plain" "$bound"
		done
	done
}

bench_defaults()
{
	rm -f plain.why plain2.why quiet.why loaded.why tags.why locks.why scan.why record.why
	$cc -O2 -g "$inc" "$programs/planted.c" -o planted-plain -pthread -lm &&
	$cc -O2 -g "$inc" "$plugin" "$programs/planted.c" -o planted-ldb -pthread -lm &&
	$cxx -O2 -g "$inc" "$programs/figure1.cc" -o figure1-plain -pthread || return 1
	planted_rate_find || return 1
	interleave planted.txt "$rounds" planted_run plain quiet loaded tags locks scan record plain2
	planted_rows
	interleave figure1-defaults.txt "$rounds" figure1_defaults_run plain record plain2
	f=figure1-defaults.txt
	heading "Figure 1, nothing pinned, defaults: p99.99 $(mean "$f" plain.p9999 %.0f) ns"
	for m in p9999 wall; do
		row "$f" "plain2.$m" "plain.$m" "  $m: the same again (noise)"
		row "$f" "record.$m" "plain.$m" "  $m: recorded / plain" 1.05
	done
	# shellcheck source=tests/bench/servers.sh
	. "$TOP/tests/bench/servers.sh"
	server_on='' client_on=''
	servers_make_client
	for server in ${SERVERS:-memcached redis}; do
		defaults_server
	done
}
