# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# The program of Figure 1 of the LDB paper measures its own requests.  About one in 3,000 meets a
# snapshot and waits for it, so the 99.99th percentile is a wait for a long snapshot: work of the
# background thread under the lock, which a tracer lengthens.
#
# The program stays on one CPU, as in the other sections.  The requests come in bursts, with a sleep
# after each: as soon as a thread that sometimes sleeps wakes up, the scheduler runs it, so it finds
# the lock taken.  A thread that never sleeps first loses the CPU to the snapshot for a time slice.
# Then it waits only for the rest of the snapshot.
figure1_seconds=1.2
figure1_peers="xray-off xray-basic xray-fdr uftrace gprof cyg perf"

figure1_run()	# config
{
	config=$1
	# shellcheck disable=SC2086	# options
	set -- -q -l -t 20 -c "$cpu" -s "$figure1_seconds" $figure1_options
	TMPDIR=$scratch
	export TMPDIR
	case $config in
	base | base2) "./$figure1_name-base" "$@" ;;
	quiet)	"./$figure1_name-ldb" "$@" ;;
	record)	record -o figure1.data -- "./$figure1_name-ldb" "$@" ;;
	alone)	record --kernel=none -o figure1.data -- "./$figure1_name-ldb" "$@" ;;
	*)	peer_run "$config" "$figure1_name" "$@" ;;
	esac >figure1.out || return
	awk -v c="$config" '$1 == "latency" { n++
		print c ".p50", $2; print c ".p99", $3; print c ".p9999", $5 }
		END { exit n != 1 }' figure1.out
}

figure1_row()	# config base title percentile [bound]
{
	paired "$figure1_name.txt" "$1.$4" "$3" -v b="$2.$4" -v bound="${5:-}" \
		-v why="$(cat "$1.why" 2>/dev/null)"
}

figure1_ldb_rows()	# percentile [bound]
{
	figure1_row base2 base "the same again (noise)" "$1"
	figure1_row quiet base "instrumented, not recorded / plain" "$1" "${2:-}"
	figure1_row alone base "recorded, no kernel events / plain" "$1" "${2:-}"
	figure1_row record base "recorded, kernel events as by default / plain" "$1" "${2:-}"
}

figure1_table()	# title
{
	file=$figure1_name.txt
	interleave "$file" "$rounds" figure1_run base quiet alone record base2
	heading "$1: p99.99, $(mean "$file" base.p9999 %.0f) ns without ldb"
	figure1_ldb_rows p9999 1.05
	heading "$1: p50, $(mean "$file" base.p50 %.0f) ns without ldb"
	figure1_ldb_rows p50
	mv "$file" "$figure1_name-ldb.txt"
	# shellcheck disable=SC2086	# a list
	interleave "$file" "$(((rounds + 2) / 3))" figure1_run base clang $figure1_peers
	heading "$1: p99.99 under other tools / plain build of the same compiler"
	for peer in $figure1_peers; do
		figure1_row "$peer" "$(peer_base "$peer")" "$(peer_title "$peer")" p9999
	done
}

bench_figure1()
{
	peer_look
	variants="base ldb pg cyg clang xray"
	compile figure1 c++ "$programs/figure1.cc" "$variants"
	compile figure1-calls c++ "$programs/figure1.cc" "$variants" -DFIGURE1_CALLS
	figure1_name=figure1
	figure1_options=
	figure1_table "Figure 1"
	figure1_name=figure1-calls
	figure1_options="-d 80000"
	figure1_table "Figure 1, a call for each line of the snapshot"
	peer_done
}
