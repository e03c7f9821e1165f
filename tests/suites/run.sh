#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make check-suites tests whether other programs still pass their own tests.
#
#	tests/suites/run.sh [memcached|redis|sqlite|flows-sqlite|flows-zstd]...
#
# It runs each program's own test suite as Debian ships it: twice plain, then compiled with the
# plugin while every server (or, for sqlite, the test program) that the suite starts is
# recorded; and compares the outcome of every single test.  A test whose outcome differs
# between the two plain runs is flaky, is listed, and does not count.  The exit status is 1
# when another test differs, when nothing was recorded, or when a trace cannot be read.
#
# flows-sqlite and flows-zstd are not compiled with the plugin: the calls between the libraries of
# the same programs are followed (ldb-record --flows).  flows-sqlite is a selection of its tests,
# and flows-zstd runs Debian's zstd.
#
# Each takes about ten minutes, and is therefore no part of make check.  Logs, traces and
# lists of outcomes are in $BUILD/suites.  SUITES_WRAP is a command to run the suites under
# (nice, taskset).

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$TOP/build}
OUT=$BUILD/suites
LC_ALL=C
export BUILD LC_ALL
PATH=$BUILD/bin:$PATH
mkdir -p "$OUT" || exit 1
failed=0

fail()
{
	echo "check-suites: $*" >&2
	exit 1
}

# Makes a copy to run in: the suites write into their folder, and a server is replaced.
copy_of()	# program variant
{
	rm -rf "$OUT/$1-$2"
	cp -a "$BUILD/bench/servers/$1-$2" "$OUT/$1-$2"
}

# Replaces a server by a program that becomes this server, and is recorded.
record_binary()	# file
{
	mkdir -p "${1%/*}/real" && mv "$1" "${1%/*}/real/" &&
		gcc -O2 -g "$TOP/tests/suites/recorded.c" -o "$1" || fail "cannot replace $1"
}

prepare_server()	# program
{
	for v in original ldb; do
		sh "$TOP/tests/bench/servers/build.sh" "$1" "$v" >/dev/null || exit 1
		copy_of "$1" "$v"
	done
}

prepare_memcached()
{
	prepare_server memcached
	record_binary "$OUT/memcached-ldb/memcached-debug"
	# This test checks the indentation of the source, which our patch changes.
	rm -f "$OUT"/memcached-*/t/whitespace.t
}

prepare_redis()
{
	command -v tclsh >/dev/null || fail "tclsh is missing: apt-get install tcl"
	prepare_server redis
	record_binary "$OUT/redis-ldb/src/redis-server"
}

prepare_sqlite()
{
	build_sqlite original ldb
}

build_sqlite()	# variant...
{
	[ -f /usr/lib/tcl8.6/tclConfig.sh ] || fail "Tcl's headers are missing: apt-get install tcl-dev"
	src=$(sh "$TOP/tests/bench/source.sh" sqlite3) || exit 1
	for v; do
		dir=$OUT/sqlite-$v
		[ "$dir/.complete" -nt "$BUILD/plugin/ldb.so" ] && continue
		cc=gcc
		[ "$v" = original ] || cc=$BUILD/bin/ldb-gcc
		rm -rf "$dir" && cp -a "$src" "$dir" && rm -f "$dir/.complete" && (
			cd "$dir" &&
			./configure CC="$cc" CFLAGS="-O2 -g" --with-tcl=/usr/lib/tcl8.6 --disable-shared &&
			make -j"$(nproc)" testfixture && touch .complete
		) >"$dir.log" 2>&1 || fail "cannot build sqlite: see $dir.log"
	done
	# The suite refuses to run as root.
	unprivileged=
	[ "$(id -u)" -ne 0 ] || {
		unprivileged="setpriv --reuid=65534 --regid=65534 --clear-groups"
		chown -R 65534:65534 "$OUT"/sqlite-* "$RECORDED"
	}
}

prepare_flows_sqlite()
{
	build_sqlite original
	rm -rf "$OUT/flows-sqlite-original" && cp -a "$OUT/sqlite-original" "$OUT/flows-sqlite-original"
}

# Each zstd of the suite is replaced by one that records the calls of Debian's zstd.
prepare_flows_zstd()
{
	src=$(sh "$TOP/tests/bench/source.sh" libzstd) || exit 1
	dir=$OUT/flows-zstd-original
	rm -rf "$dir" "$dir-bin" && cp -a "$src" "$dir" && make -C "$dir/tests" datagen >"$dir.log" 2>&1 ||
		fail "cannot build zstd's datagen: see $dir.log"
	mkdir -p "$dir-bin/real" && gcc -O2 -g "$TOP/tests/suites/followed.c" -o "$dir-bin/zstd" ||
		fail "cannot build the program that follows"
	for name in zstd zstdcat zcat gzip gunzip gzcat xz unxz lzma unlzma lz4 unlz4; do
		ln -s "$(command -v zstd)" "$dir-bin/real/$name"
	done
}

# The suites' output goes to the log; the result is one line a test: "OUTCOME NAME".  Long
# tests of redis that show nothing beyond the others are left out.
redis_units="unit/printver unit/dump unit/auth unit/protocol unit/keyspace unit/scan unit/info
	unit/type/string unit/type/incr unit/type/list unit/type/list-2 unit/type/set unit/type/zset
	unit/type/hash unit/type/stream unit/type/stream-cgroups unit/sort unit/expire unit/other
	unit/multi unit/quit unit/aofrw unit/acl unit/latency-monitor integration/rdb integration/aof
	integration/shutdown integration/logging integration/redis-cli integration/replication-4
	unit/pubsub unit/slowlog unit/scripting unit/functions unit/maxmemory unit/introspection
	unit/limits unit/obuf-limits unit/bitops unit/bitfield unit/geo unit/hyperloglog unit/lazyfree
	unit/wait unit/pause unit/querybuf unit/tracking unit/shutdown unit/networking"

# A few lines of this suite's output are hundreds of megabytes long.
suite_memcached()
{
	{
		${SUITES_WRAP:-} prove -v t/*.t
		echo "status $?"
		${SUITES_WRAP:-} ./testapp
		echo "status $?"
	} 2>&1 | grep -a -E '^(not )?ok |^t/|^Bail|^Result:|^status ' | cut -c 1-300
}

# Each name is in the list once, because some suites repeat a test as often as the timing allows.
# Numbers and the random letters of values are removed.
list_memcached()
{
	awk '/^t\/[^ ]*\.t \.+/ { name = $1 }
		/^(not )?ok [0-9]+/ {
			outcome = /# *(skip|SKIP)/ ? "skip" : $1
			sub(/^(not )?ok [0-9]+( - )?/, ""); gsub(/[0-9]+/, "N"); sub(/[A-Z][A-Z][A-Z][A-Z][A-Z][A-Z].*/, "X")
			if (!seen[outcome, name, $0]++) print outcome, name, $0 }
		/^Result:|^Bail out|^status / { print; if ($1 == "status") name = "testapp" }' "$1"
}

suite_redis()
{
	units=
	for u in $redis_units; do
		units="$units --single $u"
	done
	# shellcheck disable=SC2086	# a list
	${SUITES_WRAP:-} ./runtest --clients 2 --timeout 300 $units
}

list_redis()
{
	sed 's/\x1b\[[0-9;]*m//g' "$1" |
		sed -n 's/^\[\(ok\|err\|exception\|timeout\|skip\|ignore\)\]: */\1 /p' |
		sed -E 's/ \([0-9]+ ms\)$//; s/ in tests\/.*//'
}

suite_sqlite()
{
	# shellcheck disable=SC2086	# commands
	${SUITES_WRAP:-} $unprivileged $recorder ./testfixture "$src/test/veryquick.test"
}

# The suite's threads print dots before the name.
list_sqlite()
{
	sed -n -E 's/^\.*([^ ]+)\.\.\. Ok$/ok \1/p; s/^! ([^ ]+) .*/err \1/p; s/^([0-9]+ errors) out of ([0-9]+) tests.*/\1 \2/p' "$1"
}

# Runs some tests of each kind: statements, transactions, full text, threads, faults of memory and
# files.  SQLITE_TESTS selects others.
sqlite_tests=${SQLITE_TESTS:-"select1 select2 select3 select4 select6 insert update delete index join where trans vacuum
	wal fts3aa fts3ab json101 func expr date collate1 trigger1 view cast savepoint backup shared thread001 thread002
	thread003 thread1 malloc3 ioerr io pager1 printf sort tkt1435 utf16align window1 with1"}

suite_flows_sqlite()
{
	for t in $sqlite_tests; do
		# shellcheck disable=SC2086	# commands
		${SUITES_WRAP:-} $unprivileged ${recorder:+$recorder -o "$RECORDED/$t.data" --} ./testfixture "$src/test/$t.test"
		echo "status $? $t"
	done
}

list_flows_sqlite()
{
	list_sqlite "$1"
	sed -n 's/^status \([0-9]*\) /status-\1 /p' "$1"
}

suite_flows_zstd()
{
	bin=$(command -v zstd)
	[ -z "$recorder" ] || bin=$OUT/flows-zstd-original-bin/zstd
	(cd tests && ZSTD_BIN=$bin DATAGEN_BIN=./datagen ${SUITES_WRAP:-} sh ./playTests.sh)
	echo "status $?"
}

# The suite ends at the first failure.
list_flows_zstd()
{
	awk '/^===> |^test[: ]/ && !seen[$0]++ { print "ok", $0 } /^status [0-9]+$/' "$1"
}

run_suite()	# program variant log
{
	begin=$(date +%s)
	# The folder is always the same: some tests depend on the length of its name.
	rm -rf "$OUT/$1" && mv "$OUT/$1-$2" "$OUT/$1" || fail "cannot move $OUT/$1-$2"
	(cd "$OUT/$1" && "suite_$function") >"$3" 2>&1 </dev/null
	echo "$?" >"$3.status"
	mv "$OUT/$1" "$OUT/$1-$2"
	"list_$function" "$3" | sort >"$3.list"
	echo "$1: $(wc -l <"$3.list") outcomes, exit status $(cat "$3.status"), $(($(date +%s) - begin)) s: ${3##*/}"
}

# Waits up to ten seconds for the recorders, which end when their processes have ended.
wait_recorders()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		running=0
		for log in "$RECORDED"/*.log; do
			fuser -s "$log" 2>/dev/null && running=1
		done
		[ "$running" -eq 0 ] && return
		sleep 1
	done
}

# Checks that the servers were recorded, and that the traces can be read.
judge_traces()	# program
{
	nr=0 bad=0 short=0
	for data in "$RECORDED"/*.data; do
		[ -f "$data" ] || continue
		nr=$((nr + 1))
		"$reader" -i "$data" >"$OUT/report.txt" 2>&1 || {
			bad=$((bad + 1))
			echo "$1: $data: $(tail -n 1 "$OUT/report.txt")"
		}
	done
	for log in "$RECORDED"/*.log; do
		[ -f "$log" ] && [ ! -f "${log%.log}.data" ] && short=$((short + 1))
	done
	echo "$1: $nr processes recorded, $short ended before the recorder attached, $bad traces unreadable"
	[ "$nr" -gt 0 ] && [ "$bad" -eq 0 ] || failed=1
}

compare()	# program
{
	a=$OUT/$1-plain1.log.list
	b=$OUT/$1-plain2.log.list
	c=$OUT/$1-recorded.log.list
	comm -3 "$a" "$b" | sed 's/^\t*//' | sed 's/^[^ ]* //' | sort -u >"$OUT/$1.flaky"
	comm -3 "$a" "$c" | sed 's/^\t*//' >"$OUT/$1.both"
	sed 's/^[^ ]* //' "$OUT/$1.both" | sort -u | comm -23 - "$OUT/$1.flaky" >"$OUT/$1.differ"
	[ ! -s "$OUT/$1.flaky" ] || {
		echo "$1: differ between two plain runs, and do not count:"
		sed 's/^/	/' "$OUT/$1.flaky" | head -n 20
	}
	if [ ! -s "$a" ]; then
		echo "$1: FAIL: the plain suite did not run"
		failed=1
	elif [ -s "$OUT/$1.differ" ]; then
		echo "$1: FAIL: differ when recorded (< plain, > recorded):"
		diff -a "$a" "$c" | grep -a '^[<>]' | grep -a -F -f "$OUT/$1.differ" | head -n 40
		failed=1
	else
		echo "$1: PASS: $(wc -l <"$c") outcomes, the same as plain"
	fi
}

[ -x "$BUILD/bin/ldb-record" ] || fail "no ldb in $BUILD: run make"
for program in ${*:-memcached redis sqlite flows-sqlite flows-zstd}; do
	case $program in memcached | redis | sqlite | flows-sqlite | flows-zstd) ;; *) fail "no suite '$program'" ;; esac
	function=$(echo "$program" | tr - _)
	RECORDED=$OUT/$program-traces
	ATTACH=$TOP/tests/suites/attach.sh
	export RECORDED ATTACH
	rm -rf "$RECORDED" && mkdir -p "$RECORDED"
	"prepare_$function"
	recorder=
	run_suite "$program" original "$OUT/$program-plain1.log"
	run_suite "$program" original "$OUT/$program-plain2.log"
	case $program in
	flows-*)
		reader=ldb-flows
		recorder="ldb-record -q --flows --kernel none --samples off"
		run_suite "$program" original "$OUT/$program-recorded.log"
		;;
	*)
		reader=ldb-report
		recorder="ldb-record --kernel=none --max-size 8G -o $RECORDED/$program.data"
		run_suite "$program" ldb "$OUT/$program-recorded.log"
		;;
	esac
	wait_recorders
	judge_traces "$program"
	compare "$program"
done
exit "$failed"
