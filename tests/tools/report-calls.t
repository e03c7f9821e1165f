# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-report --tree and --graph: numbers of a known trace, and the functions and calls of
# another, which must be those of the report on functions and of the folded stacks.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
report-trace figure1 ldb.data && report-trace sched sched.data && report-trace hostile hostile.data &&
	report-trace empty empty.data && bench-trace many.data 60000 >many.txt || exit 1

check "a tree" "ldb-report -i sched.data --tree" 0 '^ +26\.2 ms +45\.1% +26\.2 ms +4    request_handler\(\)$'
check "below its thread, which has no time of its own" "ldb-report -i sched.data --tree" 0 '^ +32\.0 ms +54\.9% +0 ns +snapshotter$'
check "what was observed is said first" "ldb-report -i sched.data --tree" 0 '^Percentiles are of observed calls: 20 observed of 2\.00 k'
check "only one function, and the way to it" "ldb-report -i sched.data --tree --function='snap*' | tail -n 2" 0 'snapshot\(\)$'
check_not "not the others" "ldb-report -i sched.data --tree --function='snap*'" 0 'request_handler'
check "so many lines" "ldb-report -i sched.data --tree --top=1" 0 '^and 3 more lines \(--top\)$'
check "of one thread" "ldb-report -i sched.data --tree --thread=main | tail -n 2" 0 '100\.0% .* main$'
check "an empty trace" "ldb-report -i empty.data --tree" 0 'function$'

# The graph must have a vertex for each function of the report.
ldb-report -i many.data --graph >many.dot
check "a graph" "cat many.dot" 0 '^digraph calls \{$'
made=$(ldb-report -i sched.data --summary --json | jq '[.threads[] | select(.name == "snapshotter").calls] | add')
check "a thread has the exact number of its calls" "ldb-report -i sched.data --graph" 0 \
	"label=\"snapshotter\\\\ncalls made: $made, total 32\.0 ms\" shape=ellipse"
ldb-report -i many.data --by=function --json | jq -r '.functions[].function' | sort -u >want
sed -n 's/^	n[0-9]* \[label="\([^"]*\)()\\n.*/\1/p' many.dot | sort -u >got
ok "a vertex for each function" cmp want got
sed -n 's/^	n\([0-9]*\) \[.*/\1/p' many.dot | sort >vertices
ok "none twice" test "$(uniq -d vertices | wc -l)" -eq 0
sed -n 's/^	n\([0-9]*\) -> n\([0-9]*\) .*/\1\n\2/p' many.dot | sort -u >ends
ok "edges are between them" test -z "$(comm -13 vertices ends)"
# Each pair of neighbours in a stack must be an edge.
ldb-export -q -i many.data -o many.folded folded
sed 's/ [0-9]*$//' many.folded | awk -F';' '{ for (i = 2; i <= NF; i++) print (i > 2 ? "f" : "t") $(i - 1) " " $i }' | sort -u >want
awk -F'"' '/shape=ellipse fillcolor/ { split($1, w, /[\t ]/); sub(/\\n.*/, "", $2); name[w[2]] = "t" $2; next }
	/\[label=/ && !/->/ { split($1, w, /[\t ]/); sub(/\(\)\\n.*/, "", $2); name[w[2]] = "f" $2; next }
	/->/ { split($1, w, /[\t ]/); print name[w[2]] " " substr(name[w[4]], 2) }' many.dot | sort -u >got
# Stacks that took no time are only in the graph.
ok "an edge for each call of a function by another" test -z "$(comm -23 want got)"
check "the top functions only" "ldb-report -i many.data --graph --top=2 | grep -c '^.n[0-9]* .label='" 0 '^2$'
if command -v dot >/dev/null; then
	# To place all of these functions would take minutes.
	check "Graphviz reads it" "nop many.dot" 0 digraph
	check "Graphviz draws it" "ldb-report -i many.data --graph --top=20 | dot -Tsvg" 0 '<svg'
	check "names of any kind, too" "ldb-report -i hostile.data --graph | dot -Tsvg" 0 '<svg'
else
	skip "Graphviz takes it" "no dot"
fi
check_not "names cannot end their string" "ldb-report -i hostile.data --graph | sed 's/\\\\n//g'" 0 '\\\\|[[:cntrl:]]\['
check_one_line "not as JSON" "ldb-report -i ldb.data --tree --json" 2 'ldb-export folded'
check_one_line "one report at a time" "ldb-report -i ldb.data --tree --graph" 2 'give one: '
finish
