#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make demo shows the program of the LDB paper's Figure 1, from compilation to the cause of
# its slowest request.  Every command is shown before it runs.

cd "$(dirname "$0")/../.." || exit 1
OUT=build/demo
mkdir -p "$OUT"

step()
{
	printf '\n\033[1m== %s\033[0m\n' "$1"
}

[ -t 1 ] || step()
{
	printf '\n== %s\n' "$1"
}

run()
{
	echo "\$ $*"
	"$@" || { status=$?; echo "demo: this failed with exit status $status: $*" >&2; exit 1; }
}

step "1. Compile with the plugin: functions get a record in their own stack frame"
run "${CXX:-g++}" -O2 -g -fplugin=build/plugin/ldb.so -Ilibldb/include \
	tests/programs/figure1.cc -o $OUT/figure1 -pthread

step "2. Record: it runs as always, and a scanner thread reads the stacks"
run build/bin/ldb-record -o $OUT/ldb.data -- $OUT/figure1

step "3. Which functions have a tail?"
run build/bin/ldb-report -i $OUT/ldb.data --sort p9999 --top 10

step "4. Which requests were slow?"
run build/bin/ldb-report -i $OUT/ldb.data --requests --top 5

step "5. Why was the slowest one slow?"
run build/bin/ldb-why -i $OUT/ldb.data --slowest 1
run build/bin/ldb-timeline -i $OUT/ldb.data --slowest 1

step "6. Look at it: pages that a browser opens from the disk"
run build/bin/ldb-timeline -q -i $OUT/ldb.data -o $OUT/slowest.html
run build/bin/ldb-report -q -i $OUT/ldb.data -o $OUT/report.html
run build/bin/ldb-why -q -i $OUT/ldb.data -o $OUT/why.html

step "The program is tests/programs/figure1.cc, the trace $OUT/ldb.data.  Next: man Documentation/ldb-intro.7"
