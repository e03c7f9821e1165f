# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Measures what following calls between libraries (ldb-record --flows) costs: one call, and
# programs as Debian ships them.  The figures of a program are the CPU time of its process, from
# start to end, and its memory; the recorder is not counted.

flows_record()	# command...
{
	ldb-record -q --flows --kernel none --samples off -o flows.data -- "$@" 2>flows.log
}

flows_usage()	# round name config command...
{
	usage_round=$1 usage_name=$2 usage_config=$3
	shift 3
	rm -f usage.txt
	case $usage_config in
	flows) set -- ldb-record -q --flows --kernel none --samples off -o flows.data -- "$@" ;;
	esac
	FLOWS_USAGE=$OUT/usage.txt LD_PRELOAD=$OUT/flows-usage.so "$@" >/dev/null 2>flows.log
	awk -v r="$usage_round" -v name="$usage_name" -v c="$usage_config" '$1 == name {
		print r, name "-" c, $2 >>"flows-cpu.txt"; print r, name "-" c, $3 >>"flows-memory.txt"; exit }' usage.txt
}

# Each line is a program and its arguments.
flows_programs()
{
	cat <<-END
		sqlite3 :memory: create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<200000) insert into t select x, hex(x) from c; create index i on t(b); select sum(a), max(b) from t;
		xz -3 -k -c flows-input
		zstd -q -c -5 flows-input
		perl -MDigest::MD5=md5_hex -e my %h; \$h{md5_hex(\$_)} = sprintf("%.3f", sqrt(\$_)) for 1..200000; print scalar keys %h
		git -C $TOP log -p -300
		cc1 -quiet -O2 -fpreprocessed flows.i -o flows.s
		python3 $OUT/flows-work.py
		redis-server --port 17777 --save
		convert-im6.q16 rose: -resize 900x900 -blur 0x5 -rotate 30 ppm:-
	END
}

# Runs a server with its benchmark, and measures the server's CPU time for a fixed number of
# requests.
flows_redis()	# round config
{
	(
		sleep 1
		redis-benchmark -p 17777 -q -n 30000 -t set,get,lpush,zadd >/dev/null 2>&1
		redis-cli -p 17777 shutdown nosave >/dev/null 2>&1
	) &
	flows_usage "$1" redis-server "$2" redis-server --port 17777 --save ''
	wait
}

flows_program_round()	# round
{
	flows_programs | while read -r program arguments; do
		[ "$program" = cc1 ] || command -v "$program" >/dev/null || continue
		for config in ${flows_order:-none flows none2}; do
			case $program in
			sqlite3) flows_usage "$1" "$program" "$config" sqlite3 :memory: "${arguments#:memory: }" ;;
			redis-server) flows_redis "$1" "$config" ;;
			python3) flows_usage "$1" python3 "$config" /usr/bin/python3 $arguments ;;
			cc1) flows_usage "$1" cc1 "$config" "$($cc -print-prog-name=cc1)" $arguments ;;
			perl) flows_usage "$1" perl "$config" perl -MDigest::MD5=md5_hex -e "${arguments#*-e }" ;;
			# shellcheck disable=SC2086	# a list
			*) flows_usage "$1" "$program" "$config" "$program" $arguments ;;
			esac
		done
	done
}

flows_call_round()	# round
{
	for config in ${flows_order:-none flows none2}; do
		for kind in "hot 30000000" "spaced 20000"; do
			run=
			[ "$config" != flows ] || run=flows_record
			# shellcheck disable=SC2086	# two words
			$run ./flows-calls $kind "$cpu" |
				awk -v r="$1" -v c="$config" '{ print r, $1 "-" c, $2 }' >>flows-call.txt
		done
	done
}

# Prints a row: the geometric mean of the ratios of all programs, formed in each round.
flows_mean()	# file name bound
{
	awk '{ n = split($2, w, "-"); v[$1, w[1], w[n]] = $3; p[w[1]]; r[$1] }
		END { for (i in r) { s = k = 0
			for (j in p) if ((i, j, "flows") in v && (i, j, "none") in v && v[i, j, "none"] > 0) {
				s += log(v[i, j, "flows"] / v[i, j, "none"]); k++ }
			if (k) { print i, "mean", exp(s / k); print i, "one", 1 } } }' "$1" >mean.txt
	row mean.txt mean one "$2" "$3"
}

# In the same rounds one call is measured with ldb and other tools: ltrace and uftrace follow all
# calls of libraries, bpftrace those of one function, and perf takes samples.  The tools also do work
# in other processes or in the kernel, so the elapsed time is measured.
flows_peers="ldb perf ltrace uftrace bpftrace"

flows_peer_title()
{
	case $1 in
	ldb)	echo "ldb-record --flows" ;;
	perf)	echo "perf record -g (samples)" ;;
	ltrace)	echo "ltrace, every call" ;;
	uftrace) echo "uftrace record --force (PLT), every call" ;;
	bpftrace) echo "bpftrace, uprobe and uretprobe, histogram" ;;
	esac
}

flows_peer_package()
{
	case $1 in
	ldb)	;;
	perf)	command -v perf >/dev/null || echo linux-perf ;;
	*)	command -v "$1" >/dev/null || echo "$1" ;;
	esac
}

# Number of calls that take some tenths of a second.
flows_peer_calls()
{
	case $1 in
	none | ldb | perf) echo 20000000 ;;
	uftrace) echo 1000000 ;;
	ltrace)	echo 5000 ;;
	bpftrace) echo 50000 ;;
	esac
}

flows_peer_run()	# peer command...
{
	flows_peer=$1
	shift
	libc=$(ldd ./flows-calls | awk '$1 ~ /^libc\.so/ { print $3 }')
	case $flows_peer in
	none)	"$@" ;;
	ldb)	flows_record "$@" ;;
	perf)	perf record -q -g -o flows-perf.data -- "$@" ;;
	ltrace)	ltrace -o flows-ltrace.txt "$@" ;;
	uftrace) rm -rf flows-uftrace && uftrace record --force -d flows-uftrace "$@" ;;
	bpftrace)
		bpftrace -o flows-bpftrace.txt -e "uprobe:$libc:rand_r { @from[tid] = nsecs; }
			uretprobe:$libc:rand_r { @took = hist(nsecs - @from[tid]); }" -c "$*"
		;;
	esac
}

flows_peer_round()	# round
{
	for peer in none $flows_peers; do
		[ -s "flows-$peer.why" ] && continue
		flows_peer_run "$peer" ./flows-calls wall "$(flows_peer_calls "$peer")" "$cpu" 2>flows-peer.log |
			awk -v r="$1" -v c="flows-$peer" '$1 == "wall" { print r, c, $2; n++ } END { exit !n }' >>flows-peer.txt ||
			echo "it failed: $(tail -n 1 flows-peer.log)" >"flows-$peer.why"
	done
}

flows_peer_table()
{
	heading "peers, one call of rand_r() after the other: time that passes, / $(mean flows-peer.txt flows-none %.1f) ns without"
	for peer in $flows_peers; do
		row flows-peer.txt "flows-$peer" flows-none "$(flows_peer_title "$peer")"
		[ ! -s "flows-$peer.why" ] || note "$(flows_peer_title "$peer"): $(cat "flows-$peer.why")"
	done
	paired flows-peer.txt flows-ltrace,flows-uftrace,flows-bpftrace \
		"added by the cheapest that records each call / by ldb" -v b=flows-ldb -v base=flows-none -v fmt=%.0f
	rm -f flows-*.why
}

bench_flows()
{
	rm -f flows-call.txt flows-cpu.txt flows-memory.txt flows-peer.txt flows-*.why
	for peer in $flows_peers; do
		package=$(flows_peer_package "$peer")
		[ -z "$package" ] || echo "not here: apt-get install $package" >"flows-$peer.why"
	done
	# flows-calls calls a function of libc, through the linkage table.
	$cc -O2 -fno-builtin "$TOP/tests/bench/flows-calls.c" -o flows-calls || exit 1
	$cc -O2 -fPIC -shared "$TOP/tests/bench/flows-usage.c" -o flows-usage.so || exit 1
	[ -s flows-input ] || head -c 20000000 "$BUILD/lib/libldbtools.a" >flows-input
	$cc -E -I"$TOP/tools" -I"$TOP/libldb/include" -I"$TOP/kmod/uapi" -D_GNU_SOURCE "$TOP/tools/record/rows/pack.c" -o flows.i || exit 1
	echo 'import json, hashlib, re, zlib
d = [str(i * i) for i in range(200000)]
s = json.dumps(d)
print(hashlib.sha256(s.encode()).hexdigest(), zlib.crc32(s.encode()), len(re.findall("1+", s)))' >flows-work.py
	flows_order="none flows none2"
	round=1
	while [ "$round" -le "$rounds" ]; do
		flows_call_round "$round"
		flows_peer_round "$round"
		flows_program_round "$round"
		flows_order="${flows_order#* } ${flows_order%% *}"
		round=$((round + 1))
	done
	# Reading the clock takes most of the time that is added to a timed call, and takes longer
	# on some machines than on others.
	flows_clock=$(./flows-calls clock)
	heading "calls between libraries: one call of rand_r(), ns: $(mean flows-call.txt hot-none %.1f) without"
	added flows-call.txt hot-none2 hot-none "the same again (noise)"
	added flows-call.txt hot-flows hot-none "one call after the other, some are timed" 8
	added flows-call.txt spaced-flows spaced-none "each is timed (two readings of the clock and 6 ns: $flows_clock each)" \
		"$(echo "$flows_clock" | awk '{ print 2 * $1 + 6 }')"
	flows_peer_table
	heading "programs with calls between libraries followed: CPU time"
	for program in $(flows_programs | cut -d ' ' -f 1); do
		row flows-cpu.txt "$program-flows" "$program-none" "$program"
	done
	flows_mean flows-cpu.txt "geometric mean" 1.10
	heading "programs with calls between libraries followed: memory"
	for program in $(flows_programs | cut -d ' ' -f 1); do
		row flows-memory.txt "$program-flows" "$program-none" "$program"
	done
	flows_mean flows-memory.txt "geometric mean" 1.10
}
