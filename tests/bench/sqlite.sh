# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# SQLite's own speedtest1 runs in memory.  It is built from Debian's source.  A figure is CPU time,
# user and system: of the program's only thread; of its process, which includes ldb's scanner; and
# of the process and the recorder together.
#
# The data of this size stay in the caches.  So no waits for memory hide the cost of calls, and the
# load of other machines on the memory bus has little effect (at four times the size the interval is
# ten times as wide).  Runs are short, so there are many rounds.
sqlite_size=20
sqlite_peer_size=10
sqlite_peers="xray-off xray-fdr uftrace gprof cyg perf coz"

sqlite_source()
{
	[ ! -f sqlite/.complete ] || return 0
	if ! command -v tclsh >/dev/null; then
		echo "not here: apt-get install tcl"
		return 1
	fi
	tree=$(sh "$TOP/tests/bench/source.sh" sqlite3 2>&1) || {
		echo "$tree"
		return 1
	}
	rm -rf sqlite
	mkdir sqlite
	if ! (
		cd sqlite && "$tree/configure" --disable-readline && ${MAKE:-make} sqlite3.c &&
			cp "$tree/test/speedtest1.c" . && touch .complete
	) >sqlite.log 2>&1; then
		echo "cannot make sqlite3.c: see sqlite.log in build/bench"
		return 1
	fi
}

sqlite_record()	# options...
{
	record "$@" -o sqlite.data -- taskset -c "$cpu" ./sqlite-ldb --memdb --size "$sqlite_size"
}

sqlite_config()	# config
{
	case $1 in
	base | base2) taskset -c "$cpu" ./sqlite-base --memdb --size "$sqlite_size" ;;
	quiet)	taskset -c "$cpu" ./sqlite-ldb --memdb --size "$sqlite_size" ;;
	record)	sqlite_record --kernel=auto && cp sqlite.data sqlite-record.data ;;
	alone)	sqlite_record --kernel=none ;;
	hold)	sqlite_record --mutex=hold ;;
	esac
}

# Prints "CONFIG SECONDS", "CONFIG.process SECONDS" and "CONFIG.tree SECONDS".
sqlite_run()	# config
{
	rm -f cpu.txt
	(
		BENCH_CPU=$OUT/cpu.txt
		export BENCH_CPU
		sqlite_config "$1" >/dev/null || exit
		times >times.txt
	) || return
	sed 's/[ms]/ /g' times.txt | awk -v c="$1" '
		NR == 2 { print c ".tree", $1 * 60 + $2 + $3 * 60 + $4 }'
	awk -v c="$1" '{ print c, $1 / 1e9; print c ".process", $2 / 1e9 }' cpu.txt
}

sqlite_peer_run()	# config
{
	rm -f cpu.txt
	BENCH_CPU=$OUT/cpu.txt
	export BENCH_CPU
	case $1 in
	base)	./sqlite-base --memdb --size "$sqlite_peer_size" ;;
	quiet)	./sqlite-ldb --memdb --size "$sqlite_peer_size" ;;
	record)	record -o sqlite.data -- taskset -c "$cpu" ./sqlite-ldb --memdb --size "$sqlite_peer_size" ;;
	*)	peer_run "$1" sqlite --memdb --size "$sqlite_peer_size" ;;
	esac >/dev/null || return
	awk -v c="$1" '{ print c, $1 / 1e9 }' cpu.txt
}

sqlite_table()
{
	ldb-report -i sqlite-record.data --summary --json >sqlite.json || exit 1
	heading "sqlite speedtest1 --memdb --size $sqlite_size: $(mean sqlite.txt base %.2f) s of CPU without ldb"
	row sqlite.txt base2 base "the same again (noise)"
	row sqlite.txt quiet base "instrumented, not recorded / plain" 1.03
	row sqlite.txt alone base "recorded, no kernel events / plain" 1.08
	row sqlite.txt record base "recorded, kernel events: $(jq -r .kernel_events sqlite.json) / plain" 1.08
	row sqlite.txt hold base "recorded with --mutex=hold / plain"
	row sqlite.txt record.process base.process "recorded, with the scanner's CPU time / plain"
	row sqlite.txt record.tree base.tree "recorded, and with ldb-record's / plain"
	jq -r '"\(.calls) \(.observed_calls) \(.lost.total)"' sqlite.json |
		awk '{ printf "  %.1f M invocations with a record, %.2g %% of them observed; %d events lost\n", $1 / 1e6, 100 * $2 / $1, $3 }'
}

bench_sqlite()
{
	if ! why=$(sqlite_source); then
		printf '\nsqlite: not measured: %s\n' "$why"
		return 0
	fi
	peer_look
	compile sqlite c sqlite/speedtest1.c "base ldb pg cyg coz clang xray" \
		sqlite/sqlite3.c -Isqlite -ldl -lm
	interleave sqlite.txt "$((3 * rounds))" sqlite_run base quiet alone record hold base2
	sqlite_table

	# The runs are short, because the other tools write gigabytes and take ten times as long.
	# shellcheck disable=SC2086	# a list
	interleave sqlite-peers.txt "$((rounds < 7 ? rounds : 7))" sqlite_peer_run base clang quiet record $sqlite_peers
	heading "sqlite speedtest1 --size $sqlite_peer_size, CPU time / plain build of the same compiler"
	row sqlite-peers.txt quiet base "ldb, not recorded"
	row sqlite-peers.txt record base "ldb, recorded"
	for peer in $sqlite_peers; do
		row sqlite-peers.txt "$peer" "$(peer_base "$peer")" "$(peer_title "$peer")"
	done
	peer_done
}
