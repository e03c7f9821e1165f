# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-export speedscope: what the format requires, and the same times as in other exports.
# If there is a browser, the file is opened in speedscope itself.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export-same.sh"
. "$TOP/tests/lib/browser.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
report-trace figure1 ldb.data && report-trace sched sched.data && report-trace hostile hostile.data &&
	report-trace empty empty.data && bench-trace many.data 60000 >many.txt || exit 1

# This filter is true if events are in order of time and each close event closes the frame that was
# opened last.
nesting='.shared.frames as $frames | [.profiles[] | .name as $name | reduce .events[] as $e
	({ stack: [], at: -1e18, bad: [] };
	 if $e.at < .at then .bad += ["order"] else . end | .at = $e.at |
	 if $e.frame >= ($frames | length) then .bad += ["frame"] else . end |
	 if $e.type == "O" then .stack += [$e.frame]
	 elif .stack[-1] == $e.frame then .stack |= .[:-1] else .bad += ["nesting"] end) |
	.bad + (if .stack == [] then [] else ["left open"] end)] | add == []'

for trace in ldb sched many; do
	check "$trace: exported" "ldb-export -q -i $trace.data -o $trace.json speedscope" 0 '^$'
	ldb-export -q -i $trace.data -o $trace.folded folded
	ldb-export -q -i $trace.data -o $trace.db sqlite
	check_jq "$trace: the fields of the format" $trace.json '(keys - ["$schema", "shared", "profiles", "name",
		"activeProfileIndex", "exporter"] == []) and (.shared.frames | all(.name | type == "string")) and
		all(.profiles[]; .type == "evented" and .unit == "nanoseconds" and (.name | type) == "string" and
		(.startValue | type) == "number" and .startValue <= .endValue and (.events | length) > 0)'
	check_jq "$trace: events in order, balanced and nested" $trace.json "$nesting"
	check_jq "$trace: begins and ends with its events" $trace.json 'all(.profiles[];
		.startValue == .events[0].at and .endValue == .events[-1].at)'
	# Each open event is a span, with the same start and end as in the spans.
	jq -r '.shared.frames as $f | .profiles[].events[] | [$f[.frame].name, .type, .at] | @tsv' $trace.json | sort >got
	rows $trace.db "SELECT f.name, 'O', s.start_ns FROM span s JOIN function f ON f.id = s.function UNION ALL
		SELECT f.name, 'C', s.end_ns FROM span s JOIN function f ON f.id = s.function" >want
	same "$trace: the spans, to the nanosecond" want got
done
# This wait ends after its function did.
report-trace outlast outlast.data && ldb-export -q -i outlast.data --causes -o outlast.json speedscope
ldb-export -q -i outlast.data --causes -o outlast.folded folded
check_jq "a wait that outlasts its function: nested all the same" outlast.json "$nesting"
jq -r '.shared.frames as $f | .profiles[0].events | reduce .[] as $e ({ stack: ["main"], ns: {} };
	(if .at and (.stack | length) > 1 then .ns[.stack | join(";")] += $e.at - .at else . end) | .at = $e.at |
	if $e.type == "O" then .stack += [$f[$e.frame].name] else .stack |= .[:-1] end) |
	.ns | to_entries[] | select(.value > 0) | .key + " " + (.value | tostring)' outlast.json | sort >got
sort outlast.folded >want
same "and by stack the same times as folded" want got
check_jq "places of the functions" ldb.json '.shared.frames | any(.name == "snapshot" and .line > 0 and (.file | endswith("report-trace.c")))'
ldb-export -q -i sched.data --causes -o causes.json speedscope
check_jq "--causes: nested all the same" causes.json "$nesting"
check_jq "--causes: waits are frames" causes.json '[.shared.frames[].name] | index("[lock db_lock]") and index("[preempted by hog]")'
ldb-export -q --req=4711 -o req.json speedscope
check_jq "--req: a profile for each instance" req.json '[.profiles[].name] == ["req 4711: main 1"]'
ldb-timeline -q --req=4711 --json | jq -r '.segments[] | select(.kind == "function" and (has("blocks_req") | not)) |
	[.start_ns, .end_ns] | @tsv' >want
jq -r '.profiles[0].events | [.[0].at, .[1].at] | @tsv' req.json >got
same "--req: the segments of ldb-timeline" want got
check "--thread" "ldb-export -q --thread='snap*' speedscope | jq -r '.profiles[].name'" 0 '^snapshotter 2$'
ok "hostile names" eval "ldb-export -q -i hostile.data --causes speedscope | jq -e . >/dev/null"
check_one_line "nothing to show" "ldb-export -i empty.data -o e.json speedscope" 1 'no function was observed'
ok "leaves no file" test ! -e e.json
[ ! -w /dev/full ] || check_one_line "a full disk" "ldb-export -o /dev/full speedscope" 1 'cannot write'

if ! has_browser; then
	skip "opened in speedscope" "no browser: $browser_why"
	finish
fi
CHROMIUM=$(command -v chromium)
NODE_PATH=$BROWSER_MODULES/node_modules
export CHROMIUM NODE_PATH
viewer=$NODE_PATH/speedscope/dist/release/index.html
for file in ldb causes outlast req many; do
	ok "$file: speedscope shows it, and the sums of its events" eval "node '$BROWSER/speedscope.js' '$viewer' $file.json >$file.shown"
done
# The viewer's sums must be those of the folded stacks.
ldb-export -q -i sched.data --causes folded | sed 's/ \([0-9]*\)$/	\1/; s/^\([a-z]*\);.*;/\1	/; s/;/	/' |
	awk -F'\t' '{ ns[$1 "\t" $2] += $3 } END { for (k in ns) print k "\t" ns[k] }' | sort >want
sed 's/^\([a-z]*\) [0-9]*	/\1	/' causes.shown | cut -f1,2,4 | sort >got
same "self times as in the folded stacks" want got

finish
