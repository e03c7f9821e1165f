# SPDX-License-Identifier: GPL-2.0-or-later
# Executes what the table of ldb-intro(7) for users of XRay names: each command and each option
# exists.
. "$(dirname "$0")/../lib/engine.sh"
need_build

page=$TOP/Documentation/ldb-intro.7
sed -n '/^\.It Sy XRay/,/^\.El/p' "$page" >table
ok "there is a table" test "$(grep -c '^\.It' table)" -gt 15
# Finds the options by their tools: in "ldb-report --graph (DOT), --tree" both options belong to
# ldb-report.
sed -n 's/^\.It .* Ta //p' table | awk '{
	tool = ""
	for (i = 1; i <= NF; i++) {
		w = $i
		gsub(/[,;:()]/, "", w)
		if (w ~ /^ldb-(report|why|export|record|ctl|top)$/) tool = w
		else if (w ~ /^--[a-z]/ && tool != "") { sub(/=.*/, "", w); print tool, w }
		else if (w ~ /^--[a-z]/) { sub(/=.*/, "", w); print "ldb-report", w }
	}
}' | sort -u >options
while read -r tool option; do
	ok "$tool has $option" eval '"$BUILD/bin/$tool" --help | grep -q -- "$option\b"'
done <options

cc_ldb -std=gnu11 -O2 -g "$PROGRAMS/flight.c" -o flight -pthread || exit 1
ldb-record -q --kernel none -o a.data -- ./flight 2 >/dev/null 2>&1
ldb-record -q --kernel none -o b.data --func-threshold 1us -- ./flight 2 >/dev/null 2>&1
check "account" "ldb-report -q -i a.data --by=function --sort=total --csv" 0 '^function,|^.*,serve,|serve'
check "graph" "ldb-report -q -i a.data --graph" 0 '^digraph'
check "tree" "ldb-report -q -i a.data --tree" 0 'serve'
check "the colours of --top" "ldb-report -q -i a.data --graph --top 3" 0 'color'
check "graph-diff" "ldb-report -q -i a.data -o diff.html --diff b.data" 0 '^'
ok "... is a page" test -s diff.html
check "... and as text" "ldb-why -q --compare a.data b.data" 0 .
check "stack" "ldb-report -q -i a.data --tree --function 'serve*'" 0 'serve'
for format in folded speedscope chrome perfetto sqlite; do
	check "convert: $format" "ldb-export -q -i a.data -o out.$format $format" 0 '^'
	ok "... $format is written" test -s "out.$format"
done
check "convert: ctf" "ldb-export -q -i a.data -o out.ctf ctf" 0 '^'
check "extract" "ldb-report -q -i a.data --archive a.tar" 0 '^'
ok "... the files of the program" test -s a.tar

ldb-record -q --kernel none --paused --flight 5s --after 0 -o live.data -- ./flight 30 >/dev/null 2>&1 &
rec=$!
# shellcheck disable=SC2016	# evaluated later
wait_for 10 'pid=$(pgrep -P "$rec" -x flight) && ldb-ctl $pid status'
check "on" "ldb-ctl $pid resume" 0 '^'
check "a function" "ldb-ctl $pid functions '+serve*'" 0 '^'
check "a least duration" "ldb-ctl $pid min-latency '*' 1us" 0 '^'
sleep 1
check "flight data recorder: a dump" "ldb-ctl $pid dump" 0 '^'
wait_for 10 "test -e live.data.1"
ok "... is a file" test -e live.data.1
check "off" "ldb-ctl $pid stop" 0 '^'
kill "$pid"
wait "$rec"
check "profiling mode" "ldb-top --batch -n 1 -d 1 -- ./flight 3" 0 'serve'
finish
