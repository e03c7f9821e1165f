#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares the outputs of two builds' tools for the same traces:
#
#	tests/tools/same-outputs.sh OLD NEW TRACE...
#
# OLD and NEW are folders with ldb-report and the other tools.  Both make the reports, pages and
# exports of each trace that are listed at the end of this script.  Each difference is listed with
# its first lines, and then the exit status is 1.  Use it for changes that must not change outputs,
# and to list the changes of one that should.
set -u
[ $# -ge 3 ] || { echo "usage: $0 OLD NEW TRACE..." >&2; exit 2; }
old=$(realpath "$1")
new=$(realpath "$2")
shift 2
LC_ALL=C
export LC_ALL
work=$(mktemp -d "${TMPDIR:-/tmp}/same-outputs.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
nr=0
nr_other=0

run_one()	# old|new folder tool arguments...: files are in $work/out for both
{
	side=$work/$1
	bin=$2
	tool=$3
	shift 3
	rm -rf "$work/out" "$side"
	mkdir "$work/out" "$side"
	(cd "$work/out" && "$bin/$tool" "$@" -i "$trace" >"$side/stdout" 2>"$side/stderr"; echo "exit status $?" >>"$side/stderr")
	# Removes texts that differ in each run, or depend on the time of the run; all other text
	# depends only on the trace.
	sed -i "s/nonce[-=]\"*[0-9a-f]*//g" "$work"/out/*.html 2>/dev/null
	if [ -d "$work/out/ctf" ]; then
		babeltrace2 --clock-cycles "$work/out/ctf" >"$work/out/ctf.txt" 2>&1
		rm -r "$work/out/ctf"
	fi
	[ ! -f "$work/out/t.db" ] || { sqlite3 "$work/out/t.db" .dump >"$work/out/t.sql" && rm "$work/out/t.db"; }
	mv "$work/out" "$side/files"
}

both()	# tool arguments...
{
	nr=$((nr + 1))
	run_one old "$old" "$@"
	run_one new "$new" "$@"
	if ! (cd "$work" && diff -r old new >diff 2>&1); then
		nr_other=$((nr_other + 1))
		echo "differs: $* -i $trace"
		head -n "${LINES_SHOWN:-6}" "$work/diff" | cut -c 1-200 | sed 's/^/  /'
	fi
}

for trace; do
	trace=$(realpath "$trace") || exit 1
	for form in --quiet --json --csv; do
		both ldb-report $form
		both ldb-report $form --by=function --sort=total
		both ldb-report $form --mutex
		both ldb-report $form --requests
		both ldb-report $form --sched
		both ldb-timeline $form
		both ldb-timeline $form --slowest 5
		both ldb-flows $form
		both ldb-why $form
		both ldb-why $form --slowest 3
		both ldb-why $form --slice 50
		both ldb-why $form --compare-slices p99,p50
		both ldb-why $form --blame
		both ldb-why $form --cpus
		both ldb-why $form --queues
		both ldb-why $form --balloons
		both ldb-why $form --boxes
		both ldb-why $form --what-if no-preempt --what-if 'main*0.5'
	done
	both ldb-report -v --summary
	both ldb-report --tree
	both ldb-report --graph
	both ldb-report --json-summary
	both ldb-timeline -v
	both ldb-why --shares --json --slowest 20
	both ldb-why --shares --csv
	both ldb-why --nsight-strict
	both ldb-why --blame --folded
	both ldb-report -o report.html
	both ldb-timeline -o timeline.html --slowest 5
	both ldb-why -o why.html
	for causes in --quiet --causes; do
		both ldb-export speedscope -o t.speedscope.json $causes
		both ldb-export folded -o t.folded $causes
		both ldb-export pprof -o t.pb.gz $causes
	done
	both ldb-export chrome -o t.json
	both ldb-export perfetto -o t.perfetto-trace
	both ldb-export otlp -o t.otlp.json
	both ldb-export sqlite -o t.db
	both ldb-export ctf -o ctf
done
echo "$nr outputs compared, $nr_other differ"
[ "$nr_other" -eq 0 ]
