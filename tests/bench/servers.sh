# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh
#
# memcached and redis run under an open-loop load, at 20 % and 60 % of their peak.  The measure
# is the processing time that the server itself stamps, from the parsing of a request until its
# response has been written (servers/stamps.h): the same patch in the plain and in the
# instrumented build.
#
# With two CPUs, the server is alone on one, and client, scanner and recorder share the other.
# There scanner and recorder run at idle priority, or the client would wait for them: their time
# slice is longer than most requests take.  In the configurations without a scanner an empty loop
# takes its place, because waking a client on an idle CPU costs the server more or less than on a
# busy one, and only ldb should make a difference.  (The row "client's CPU idle" shows how much that
# matters: it is measured without the loop.)
#
# A client that does not get its CPU sends in bursts, which is not the intended load.  So a
# measurement at 20 % of the peak during which too many requests were sent late is repeated, up to
# three times, whatever its result.
#
# Servers are started anew in each round, so that one lucky or unlucky layout of memory does not
# decide.  The variable SERVERS names the servers to measure; the default is "memcached redis".

servers_dir=$TOP/tests/bench/servers
servers_port=${SERVERS_PORT:-21210}
servers_seconds=${SERVERS_SECONDS:-1}
servers_keys=50000

# Starts the server of a configuration (plain, plain2, ldb), writes "PID PORT" to NAME.server, and
# stores the keys.
server_start()	# name
{
	preload=
	variant=plain
	case $1 in ldb) variant=ldb preload=$BUILD/lib/libldbtrace.so.0 ;; esac
	case $1 in plain) port=$servers_port ;; plain2) port=$((servers_port + 1)) ;; *) port=$((servers_port + 2)) ;; esac
	case $server in
	memcached)
		set -- "$1" "$OUT/servers/memcached-$variant/memcached" -l 127.0.0.1 -p "$port" -t 2 -m 256
		[ "$(id -u)" -ne 0 ] || set -- "$@" -u root ;;
	redis)	set -- "$1" "$OUT/servers/redis-$variant/src/redis-server" --bind 127.0.0.1 --port "$port" \
			--save '' --appendonly no --dir "$OUT" ;;
	esac
	name=$1
	shift
	rm -f "$name.stamps"
	# shellcheck disable=SC2086	# nothing, or a command and its arguments
	STAMPS_FILE=$OUT/$name.stamps LD_PRELOAD=$preload $server_on "$@" >"$name.out" 2>&1 &
	echo "$! $port" >"$name.server"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		client "$name" --fill >fill.txt 2>fill.err && return
		sleep 0.1
	done
	servers_fail "cannot fill $server: $(tail -n 1 fill.err): $(tail -n 1 "$name.out")"
}

servers_stop()
{
	for f in *.server; do
		[ -f "$f" ] || continue
		read -r pid port <"$f"
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		rm -f "$f"
	done
}

servers_fail()
{
	echo "bench: $*" >&2
	for pid in ${loop:-} ${recorder:-}; do
		kill "$pid" 2>/dev/null
	done
	servers_stop
	exit 1
}

client()	# name options...
{
	read -r pid port <"$1.server"
	shift
	[ "$server" = redis ] && set -- --redis "$@"
	# shellcheck disable=SC2086	# as above
	$client_on ./client --port "$port" --keys "$servers_keys" --set "$servers_set" "$@"
}

# Starts a process that keeps the client's CPU busy, and yields to the client at once.
loop_start()
{
	taskset -c "$scanner_cpu" chrt -i 0 sh -c 'while :; do :; done' &
	loop=$!
}

loop_stop()
{
	kill "$loop"
	wait "$loop" 2>/dev/null
	loop=
}

recorder_start()	# options...
{
	read -r pid port <ldb.server
	rm -f server.data
	taskset -c "$scanner_cpu" chrt -i 0 ldb-record --scanner-cpu "$scanner_cpu" "$@" -o server.data -p "$pid" 2>record.log &
	recorder=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 0.05
		scanner=$(grep -lx ldb-scan "/proc/$pid/task/"*/comm 2>/dev/null | head -n 1)
		[ -z "$scanner" ] || break
	done
	[ -n "$scanner" ] || servers_fail "ldb-record cannot attach to $server: $(tail -n 1 record.log)"
	scanner=${scanner%/comm}
	chrt -i -p 0 "${scanner##*/}" || servers_fail "cannot give the scanner idle priority"
}

recorder_stop()
{
	kill -INT "$recorder"
	wait "$recorder" || servers_fail "ldb-record failed: $(tail -n 1 record.log)"
	recorder=
}

# Prints figures of the recording: MB per second, lost events, seconds, and the share of the
# invocations that were observed.
trace_values()	# config
{
	awk -v c="$1" -v size="$(stat -c %s server.data)" '/events, / {
		for (i = 2; i <= NF; i++) if ($i == "s,") s = $(i - 1)
		print c, "mb", size / 1e6 / s
		for (i = 2; i <= NF; i++) if ($i == "lost,") print c, "lost", $(i - 1)
		print c, "seconds", s }
		/calls observed/ { gsub(/[(%)]/, ""); for (i = 2; i <= NF; i++) if ($i == "observed") print c, "seen", $(i + 1) }' record.log
}

# The recording is so long that work which ldb-report does only once (reading symbols) does not
# dominate.
report_rounds()
{
	server_start ldb
	rate=$((server_peak * 20 / 100))
	recorder_start --kernel=none
	client ldb --rate "$rate" --seconds 6 >/dev/null
	recorder_stop
	servers_stop
	: >"$server-report.txt"
	seconds=$(awk '/events, / { for (i = 2; i <= NF; i++) if ($i == "s,") print $(i - 1) }' record.log)
	for n in 1 2 3 4 5 6 7; do
		begin=$(now_ns)
		ldb-report -i server.data >/dev/null 2>report.err || servers_fail "ldb-report failed: $(tail -n 1 report.err)"
		awk -v n="$n" -v ns="$(($(now_ns) - begin))" -v s="$seconds" \
			'BEGIN { print n, "report", ns / 1e9 / s }' >>"$server-report.txt"
	done
}

load_values()	# config name
{
	for _ in 1 2 3 4; do
		client "$2" --rate "$rate" --seconds "$servers_seconds" --seed "$round_seed" --stamps "$2.stamps" >load.txt 2>load.err ||
			servers_fail "the client failed: $(tail -n 1 load.err)"
		# At 60 % of the peak the client cannot do better, so it measures only once.
		[ "$percent" -eq 20 ] || break
		awk '{ v[$1] = $2 } END { exit v["late"] > 0.01 * v["requests"] }' load.txt && break
	done
	sed "s/^/$1 /" load.txt
}

server_config()	# config: prints "CONFIG METRIC VALUE"
{
	case $percent-$1 in 60-idle | 60-perf | 60-plain2) return ;; esac
	case $1 in
	plain | plain2)
		loop_start
		load_values "$1" "$1"
		loop_stop ;;
	quiet)
		loop_start
		load_values quiet ldb
		loop_stop ;;
	idle)	load_values idle plain ;;
	perf)
		read -r pid port <plain.server
		taskset -c "$scanner_cpu" chrt -i 0 perf record -q -F 999 -g -o perf.data -p "$pid" >perf.log 2>&1 &
		recorder=$!
		loop_start
		sleep 0.2
		load_values perf plain
		loop_stop
		kill -INT "$recorder"
		wait "$recorder"	# 130, as of any program that is interrupted
		recorder= ;;
	*)
		case $1 in
		record) recorder_start --kernel=none ;;
		hold)	recorder_start --kernel=none --mutex=hold ;;
		kernel) recorder_start ;;
		esac
		load_values "$1" ldb
		recorder_stop
		trace_values "$1" ;;
	esac
}

# Runs each configuration at each load, with new servers, and appends lines "ROUND CONFIG METRIC
# VALUE" to $server-$percent.txt.
server_round()	# round runner config...
{
	round_seed=$1
	runner=$2
	shift 2
	for name in plain plain2 ldb; do
		server_start "$name"
	done
	for percent in 20 60; do
		rate=$((server_peak * percent / 100))
		for config; do
			"$runner" "$config" >config.txt || exit 1
			sed "s/^/$round_seed /" config.txt >>"$server-$percent.txt"
		done
	done
	servers_stop
}

# Runs the closed loop on the plain build three times, for one second each, and sets server_peak to
# the best result.
find_peak()
{
	server_start plain
	server_peak=0
	for _ in 1 2 3; do
		now=$(client plain --seconds 1 | awk '$1 == "rate" { printf "%d", $2 }') || exit 1
		[ "${now:-0}" -gt "$server_peak" ] && server_peak=$now
	done
	servers_stop
	[ "$server_peak" -gt 0 ] || servers_fail "no peak of $server"
}

# Runs all configurations in each round, in an order that rotates.  The command RUNNER CONFIG prints
# lines "CONFIG METRIC VALUE" for $server at $percent % of its peak.
server_rounds()	# rounds runner config...
{
	nr=$1
	runner=$2
	shift 2
	rm -f "$server"-*.txt
	find_peak
	server_done=1
	while [ "$server_done" -le "$nr" ]; do
		server_round "$server_done" "$runner" "$@"
		first=$1
		shift
		set -- "$@" "$first"
		server_done=$((server_done + 1))
	done
}

metric()	# load metric: the file with "ROUND CONFIG VALUE"
{
	awk -v m="$2" '$3 == m { print $1, $2, $4 }' "$server-$1.txt" >"$server-$1-$2.txt"
	echo "$server-$1-$2.txt"
}

ratio_rows()	# load metric bound
{
	f=$(metric "$1" "$2")
	[ "$1" -ne 20 ] || row "$f" plain2 plain "$2: the same again (noise)"
	[ "$1" -ne 20 ] || row "$f" idle plain "$2: client's CPU idle / plain"
	row "$f" quiet plain "$2: not recorded / plain"
	row "$f" record plain "$2: recording / plain" "$3"
	row "$f" hold plain "$2: recording, --mutex=hold / plain"
	row "$f" kernel plain "$2: recording, kernel events / plain"
	[ "$1" -ne 20 ] || [ ! -f perf.log ] || row "$f" perf plain "$2: perf record -F 999 -g / plain"
}

server_table()
{
	for percent in 20 60; do
		bound50='' bound99=''
		[ "$percent" -ne 20 ] || bound50=1.05 bound99=1.10
		f=$(metric "$percent" sent.p50)
		heading "$server at $percent % of its peak: $((server_peak * percent / 100)) requests/s; in the server $(mean "$f" plain %.2f) us, p99 $(mean "$(metric "$percent" sent.p99)" plain %.1f) us"
		ratio_rows "$percent" sent.p50 "$bound50"
		ratio_rows "$percent" sent.p99 "$bound99"
		note "up to the response, without writing it to the socket ($(mean "$(metric "$percent" done.p50)" plain %.2f) us):"
		ratio_rows "$percent" done.p50 ''
		note "end to end, the client on the scanner's CPU ($(mean "$(metric "$percent" latency.p50)" plain %.1f) us, p99 $(mean "$(metric "$percent" latency.p99)" plain %.0f) us):"
		for m in latency.p50 latency.p99; do
			f=$(metric "$percent" "$m")
			[ "$percent" -ne 20 ] || row "$f" plain2 plain "$m: the same again (noise)"
			row "$f" record plain "$m: recording / plain"
		done
		row "$(metric "$percent" rate)" record plain "requests answered a second: recording / plain"
		[ "$percent" -eq 20 ] || continue
		row "$(metric 20 mb)" record "" "trace, MB per second of recording" 30 %.2f
		row "$(metric 20 mb)" hold "" "trace with --mutex=hold, MB per second" "" %.2f
		row "$(metric 20 lost)" record "" "events lost" 0 %.0f
		row "$(metric 20 lost)" hold "" "events lost, --mutex=hold" 0 %.0f
		row "$(metric 20 seen)" record "" "invocations observed, %" "" %.2f
		row "$server-report.txt" report "" "ldb-report, seconds per second of trace" 0.1 %.3f
	done
}

servers_make_client()
{
	"$cc" -O2 -g -I"$TOP/libldb/include" "$servers_dir/client.c" "$servers_dir/drive.c" "$servers_dir/wire.c" \
		-lm -o client || exit 1
}

servers_make()
{
	for variant in plain ldb; do
		BUILD=$BUILD sh "$servers_dir/build.sh" "$server" "$variant" >/dev/null || exit 1
	done
	case $server in memcached) servers_set=100 ;; redis) servers_set=50 ;; esac
}

bench_servers()
{
	server_on="taskset -c $cpu" client_on="taskset -c $scanner_cpu"
	servers_make_client
	for server in ${SERVERS:-memcached redis}; do
		servers_make
		rm -f perf.log
		set -- plain record quiet hold plain2 kernel idle
		! command -v perf >/dev/null || set -- "$@" perf
		server_rounds "$((rounds < 10 ? rounds : 10))" server_config "$@"
		report_rounds
		server_table
	done
}
