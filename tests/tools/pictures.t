# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the pictures of ldb-why as text, CSV, JSON and folded stacks: they must say the same,
# and text must fit its width.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS NO_COLOR
${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" all >/dev/null || exit 1
bench-trace ldb.data 15000 >/dev/null || exit 1
why="ldb-why -q --slowest=60"

fits()	# columns option...
{
	columns=$1
	shift
	COLUMNS=$columns $why "$@" >text.out 2>err.out
	if [ -s text.out ] && [ "$(awk -v w="$columns" 'length > w' text.out | wc -l)" -eq 0 ]; then
		pass "$columns columns: $*"
	else
		fail "$columns columns: $*"
		diag "$(awk -v w="$columns" 'length > w { print length ": " $0 }' text.out | head -n 5; cat err.out)"
	fi
}

for columns in 60 80 120 200; do
	for picture in balloons boxes queues cpus blame; do
		fits "$columns" "--$picture"
	done
done
COLUMNS=200 $why --balloons >wide.out
COLUMNS=80 $why --balloons >narrow.out
ok "a wider plot shows more" test "$(awk '/\+---/ { print length }' wide.out)" -gt 150
ok "a plot has its rows" test "$(grep -c '|' narrow.out)" -eq 16
esc=$(printf '\033')
for picture in balloons boxes queues cpus blame; do
	check_not "no colour into a pipe: --$picture" "$why --$picture" 0 "$esc"
	check "--$picture --json: a document" "$why --$picture --json | jq -e '.format == \"ldb-why-$picture\" and .version == 1 and has(\"$picture\")'" 0
	check "--$picture --csv: each row has all columns" \
		"$why --$picture --csv | awk -F, 'NR == 1 { n = NF } /\"/ { next } NF != n { bad = 1 } END { exit bad || NR < 1 }'" 0
	$why --$picture --json >one.json
	$why --$picture --json >two.json
	ok "--$picture: the same each time" cmp one.json two.json
done

# Pictures must agree with --json without a picture.
$why --json >why.json
$why --boxes --json >boxes.json
$why --balloons --json >balloons.json
$why --blame --json >blame.json
$why --cpus --json >cpus.json
check "boxes: each cause, with all of its time" \
	"jq -n --slurpfile w why.json --slurpfile b boxes.json '
		[\$b[0].boxes[].causes[] | [.number, .box.count, .box.total_ns]] | sort ==
		[\$w[0].causes | to_entries[] | [.key, .value.requests, .value.total_ns]]'" 0 true
check "boxes: medians are those of the causes" \
	"jq -n --slurpfile w why.json --slurpfile b boxes.json '
		[\$b[0].boxes[].causes[] | [.number, .box.median_ns]] | sort ==
		[\$w[0].causes | to_entries[] | [.key, .value.median_ns]]'" 0 true
check "boxes: a group is the sum of its causes" \
	"jq -e '.boxes | all(.box.total_ns == ([.causes[].box.total_ns] | add))' boxes.json" 0
check "boxes: quartiles are in order" \
	"jq -e '[.boxes[] | .box, .causes[].box] | all(.min_ns <= .q1_ns and .q1_ns <= .median_ns and .median_ns <= .q3_ns and .q3_ns <= .max_ns)' boxes.json" 0
check "balloons: each target, its latency and its first causes" \
	"jq -n --slurpfile w why.json --slurpfile b balloons.json '
		([\$b[0].balloons.targets[] | [.req, .class, .start_ns, .latency_ns, .deviation_ns, [.causes[].ns]]] | sort) ==
		([\$w[0].requests[] | [.req, .class, .start_ns, .latency_ns, .deviation_ns, [.amounts[:3][].ns]]] | sort)'" 0 true
check "balloons: in order of arrival" \
	"jq -e '[.balloons.targets[].start_ns] | . == sort' balloons.json" 0
check "balloons: bins have each request once" \
	"jq -e '.balloons | ([.bins[].count] | add) == .requests' balloons.json" 0
check "blame: all of the deviation, and what causes explain beyond it" \
	"jq -n --slurpfile w why.json --slurpfile b blame.json '
		\$b[0].blame[0].all_ns == ([\$w[0].requests[] | [.deviation_ns, ([.amounts[].ns] | add // 0)] | max] | add)'" 0 true
check "blame: frames are what is in them" \
	"jq -e '.blame as \$b | [range(1; \$b | length)] | group_by(\$b[.].parent) | all(.[0] as \$first | \$b[\$b[\$first].parent] as \$p |
		\$p.all_ns == \$p.own_ns + ([.[] | \$b[.].all_ns] | add))' blame.json" 0
check "sums: all of the deviation" "jq -e '([.sums[].total_ns] | add) == .blame[0].all_ns' blame.json" 0
check "sums: most first, and no more than there is" "jq -e '([.sums[].total_ns] | . == (sort | reverse)) and
	(.sums | all(.own_ns <= .total_ns and .own_ns >= 0 and .requests <= .count and (.tid == 0 or .threads == 1)))' blame.json" 0
$why --blame --sums --csv >sums.csv
ok "sums: the same as CSV" test "$(awk -F, 'NR > 1 { s += $(NF - 1) } END { printf "%d", s }' sums.csv)" = "$(jq '[.sums[].total_ns] | add' blame.json)"
check "sums: JSON alone" "$why --blame --sums --json | jq -ce '[.sums == \$b[0].sums, has(\"blame\")]' --slurpfile b blame.json" 0 '^\[true,false\]$'
check "sums: alone" "ldb-why --sums" 2 '^ldb-why: --sums goes with --blame'
$why --blame --folded >folded.out
ok "folded: a line is a stack and a number" sh -c "test -s folded.out && ! grep -vE '^[^ ;][^;]*(;[^;]+)* [0-9]+\$' folded.out"
ok "folded: all of it" test "$(awk '{ s += $NF } END { printf "%d", s }' folded.out)" = "$(jq '.blame[0].all_ns' blame.json)"
ok "folded: locks are named" grep -q ';\[lock_wait [a-z]*_lock\]' folded.out
check "CPUs: no task ran for longer than the targets took" \
	"jq -e '.cpus.lifetime_ns as \$all | (.cpus.cpus | length) > 0 and (.cpus.cpus | all(.known_ns <= \$all and .known_ns == ([.contexts[].ns] | add)))' cpus.json" 0
ok "CPUs: the instances of all targets" test "$(jq '.cpus.lifetime_ns' cpus.json)" = "$(jq '[.requests[].latency_ns] | add' why.json)"

# Pictures as text must agree, too.
COLUMNS=400 $why --boxes >boxes.out
ok "text: each cause that is not left out has its requests" sh -c \
	"jq -r '.boxes[] | .causes[:12][] | .box.count' boxes.json | sort -n >wanted &&
	 sed -n 's/^[A-Z*] *\([0-9][0-9]*\)  .*/\1/p' boxes.out | sort -n >got && test -s got && cmp wanted got"
COLUMNS=400 $why --blame >blame.out
ok "text: frames of the tree" sh -c \
	"jq -r '.blame[] | select(.depth == 1 and .all_ns > 5000000) | .name' blame.json | while read -r class; do grep -Eq \"%   \$class\$\" blame.out || exit 1; done"

# Tests wrong usage, and traces with nothing to show.
check "two pictures" "ldb-why --boxes --blame" 2 '^ldb-why: .*give one'
check "--folded alone" "ldb-why --folded" 2 '^ldb-why: --folded goes with --blame'
check "--folded of JSON" "ldb-why --blame --folded --json" 2 '^ldb-why: --folded goes with'
check "a page of one picture" "ldb-why --blame -o x.html" 2 '^ldb-why: -o FILE.html has all pictures'
check "no request: one line" "ldb-why -q --class=nothing --boxes" 0 '^no request matches'
check "no request: JSON is whole" "ldb-why -q --class=nothing --blame --json | jq -e '.blame | length == 1'" 0
check "no request: a page" "ldb-why -q --class=nothing -o none.html && grep -q 'id=\"why\"' none.html" 0
check "a request that is not there" "ldb-why -q --req=999999 --boxes" 1 '^ldb-why: no request 999999'
check "one request has a balloon" "ldb-why -q --req=$(jq '.requests[0].req' why.json) --balloons --json | jq -e '.balloons.targets | length == 1'" 0
finish
