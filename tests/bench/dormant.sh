# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

dormant_calls="fork exec setuid prctl syscall mlockall thread"

# Any library that is preloaded makes exec, fork and mlockall a little slower; so ldb is compared
# with a library that has as much code, and does nothing.
dormant_run()	# config: prints "CALL-CONFIG NS"
{
	case $1 in
	base | base2) out=$(LD_PRELOAD=$OUT/libnothing.so ./dormant-plain 400) ;;
	dormant) out=$(LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 ./dormant-ldb 400) ;;
	esac || return
	echo "$out" | awk -v c="$1" 'NF == 2 { print $1 "-" c, $2; n++ } END { exit n != 7 }'
}

# Measures how long a recording of a running program takes, besides the 10 ms that it is to last.
attach_time()	# config: prints "attach MS"
{
	from=$(date +%s%N)
	ldb-record --kernel none -q -p "$attach_pid" -d 10ms -o attach.data 2>attach.log || return
	echo "attach $((($(date +%s%N) - from) / 1000000 - 10))"
}

# Measures a program that calls the functions of <ldb/ldb.h>, without the runtime.
api_run()	# config: prints "api-CONFIG NS"
{
	case $1 in
	base | base2) out=$(./api-none 1000000) ;;
	*) out=$("./api-$1" 1000000) ;;
	esac || return
	echo "api-$1 $out"
}

bench_api()
{
	$cc -O2 "$inc" "$programs/api-loop.c" -o api-none &&
	$cc -O2 "$inc" -DTAGS "$programs/api-loop.c" -o api-tags &&
	$cc -O2 "$inc" -DTAGS -DNOTES "$programs/api-loop.c" -o api-notes || exit 1
	interleave api.txt "$rounds" api_run base base2 tags notes
	heading "requests of a program without the runtime, with calls of ldb.h / without"
	note "one request: $(mean api.txt api-base %.0f) ns"
	row api.txt api-base2 api-base "  the same again"
	row api.txt api-tags api-base "  two tags"
	row api.txt api-notes api-base "  two tags, two notes, an event" 1.02
}

bench_dormant()
{
	bench_api
	length=$(size -A "$BUILD/lib/libldbtrace.so.0" | awk '$1 == ".text" { print $2 }')
	echo "int nothing; __asm__(\".text; .skip $length\");" | $cc -shared -fPIC -x c - -o libnothing.so &&
	$cc -O2 -g "$inc" "$programs/dormant-calls.c" -o dormant-plain -pthread &&
	$cc -O2 -g "$inc" "$plugin" "$programs/dormant-calls.c" -o dormant-ldb -pthread || exit 1
	interleave dormant.txt "$rounds" dormant_run base base2 dormant
	heading "calls of a program with ldb that is not recorded / with a library that does nothing"
	for call in $dormant_calls; do
		note "$call: $(mean dormant.txt "$call-base" %.0f) ns"
		row dormant.txt "$call-base2" "$call-base" "  the same again"
		row dormant.txt "$call-dormant" "$call-base" "  carrying ldb"
	done
	LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 ./storm-ldb leaf 100000000000 "$cpu" >/dev/null &
	attach_pid=$!
	sleep 0.3
	interleave attach.txt "$rounds" attach_time once
	kill "$attach_pid"
	heading "ldb-record -p, from its start until it has ended, but for the 10 ms recorded"
	note "$(mean attach.txt attach %.0f) ms (bound 200)"
}
