# SPDX-License-Identifier: GPL-2.0-or-later
# Tests notes and events from the program to the reports: a server notes what its requests are, and
# those of one tenant above one size are slow.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/json.sh"
need_build

cc_ldb -O2 -g -Wall "$PROGRAMS/noted.c" -o noted || exit 1
check "the server, alone" "./noted 20" 0 '^noted: [0-9]+ slow of 20$'
check "recorded" "record_apart n.data ./noted 2000" 0 '^noted: 41 slow of 2000$'

ldb-report -q -i n.data --requests --json --top 2000 >all.json
check_jq "each request has its three notes" all.json '[.requests[0].slowest[] | [.notes[].key]] | length == 2000 and
	all(. == ["tenant", "bytes", "shard"])'
check_jq "which are texts and numbers" all.json '[.requests[0].slowest[].notes[]] | all(if .key == "bytes" then .number >= 256 and .number <= 524288
	else (.value | type) == "string" end)'
slow='--note tenant=7 --note bytes>64K'
# shellcheck disable=SC2086	# options
ldb-timeline -q -i n.data $slow --slowest 100 --json >slow.json
check_jq "as many as the program says obey the rule" slow.json 'length == 41'
check_jq "and each has one event, of its size" slow.json 'all(.[]; .notes as $n | (.events | length) == 1 and
	.events[0].name == "compaction" and .events[0].value == ($n[] | select(.key == "bytes") | .number) and
	.events[0].at_ns >= .start_ns and .events[0].at_ns <= .end_ns)'
ldb-timeline -q -i n.data --note 'tenant=[!7]' --slowest 2000 --json >rest.json
check_jq "others have none" rest.json 'length > 1500 and all(.[]; has("events") | not)'

ldb-why -q -i n.data --json >why.json
check_jq "the rule that was planted is what slow ones share" why.json '.shared.found[0].trait == "tenant=7 and bytes>64K"'
diag "$(jq -c '.shared.found[] | [.trait, .slow, .usual, .p_adjusted]' why.json)"

ldb-export -q -i n.data -o n.sqlite sqlite
query()	# sql
{
	sqlite3 n.sqlite "$1"
}
if command -v sqlite3 >/dev/null; then
	ok "the database has the notes" test "$(query 'SELECT count(*) FROM note')" = 6000
	ok "and the events" test "$(query "SELECT count(*) FROM event WHERE name = 'compaction' AND request IS NOT NULL")" = 41
	ok "which the rule finds" test "$(query "SELECT count(DISTINCT e.request) FROM event e JOIN note t ON t.request = e.request
		AND t.key = 'tenant' AND t.text = '7' JOIN note b ON b.request = e.request AND b.key = 'bytes' AND b.number > 65536
		AND b.number = e.value")" = 41
else
	skip "the database has notes and events" "no sqlite3"
fi

ldb-why -q -i n.data --shared --csv >shared.csv
ldb-why -q -i n.data --json | jq -r '.shared.found[] | "\(.trait),\(.slow),\(.usual)"' >shared.json
sed 1d shared.csv | cut -d, -f1,2,4 >shared.rows
ok "CSV has what slow ones share, too" test -s shared.rows -a "$(cat shared.rows)" = "$(cat shared.json)"
ok "... and the notes of each request" test "$(ldb-report -q -i n.data --requests --csv --top 50 | grep -c 'tenant=')" -eq 50
# If notes are independent of latencies, hardly any trait may be found.  To test this, requests
# exchange their notes at random, a hundred times.
: >all.txt
times=0
for seed in $(seq 1 100); do
	"$BUILD/tests/tools/helpers/permute-notes" n.data permuted.data "$seed" || break
	ldb-why -q -i permuted.data --json 2>/dev/null |
		jq -c --arg seed "$seed" '.shared.found[] | [$seed, .trait, .slow, .usual, .p_adjusted]' >>all.txt || break
	times=$((times + 1))
done
# Findings about attributes other than notes are not counted: on a busy machine, requests on a
# certain CPU or with a certain idle time may really be slow.
grep -E '"[^"]*(tenant|bytes)' all.txt >found.txt
diag "$(cat found.txt)"
diag "$(grep -vcE '"[^"]*(tenant|bytes)' all.txt) findings are not about notes"
ok "100 traces with exchanged notes" test "$times" -eq 100
ok "... give at most five findings ($(wc -l <found.txt))" test "$(wc -l <found.txt)" -le 5
"$BUILD/tests/tools/helpers/permute-notes" n.data permuted.data 1
ok "... and have the same notes" test "$("$BUILD/tests/tools/helpers/trace-cat" permuted.data note | sed 's/.*key=//' | sort | md5sum)" \
	= "$("$BUILD/tests/tools/helpers/trace-cat" n.data note | sed 's/.*key=//' | sort | md5sum)"
finish
