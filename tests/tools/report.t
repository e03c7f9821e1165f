# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-report on traces with known content: figures, formats, options, errors.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS
report-trace figure1 ldb.data && report-trace empty empty.data && report-trace plain plain.data &&
	report-trace hostile hostile.data || exit 1

# Functions.
check "the default trace is ldb.data" "ldb-report" 0 'request_handler\(\)'
check "observed calls of all calls" "ldb-report" 0 '20 observed of 2\.00 k'
check "by thread" "ldb-report" 0 'main 1 10/1\.00 k  snapshotter 2 10/1\.00 k'
check "what was lost" "ldb-report" 0 '^Lost: 3 records overwritten'
check "and unobserved" "ldb-report" 0 '^Observation gaps: 2\.00 ms in 1 '
check "what the percentiles are of" "ldb-report" 0 '^Percentiles are of observed calls'
ldb-report --json >f.json
check_jq "two calls" f.json '.format == "ldb-report-functions" and .version == 1 and (.functions | length) == 2'
check_jq "the worst p99.99 comes first" f.json '.functions[0].function == "request_handler" and .functions[1].function == "snapshot"'
check_jq "count, percentiles, resolution" f.json '.functions[0] | .count == 201 and .p50_ns == 900 and .p99_ns == 900 and
	.max_ns == 12699900 and .resolution_ns == 100 and .open == 0 and .exact'
check_jq "call site" f.json '.functions[0] | .caller == "lookup" and (.file | endswith("report-trace.c")) and .line > 0 and
	.func_line > 0 and .symbol == "request_handler" and .module == "report-trace"'
check_jq "without a call site, the definition" f.json '.functions[1] | .line == .func_line and (.file | endswith("report-trace.c"))'
ldb-report --csv >f.csv
ok "CSV has the columns of JSON" test "$(head -n 1 f.csv)" = "$(jq -r '.functions[0] | keys_unsorted | join(",")' f.json)"
ok "and its values" test "$(sed -n 2p f.csv | cut -d, -f5,6)" = "201,900"
check "--sort=count" "ldb-report --sort=count --json | jq -r '.functions[0].function'" 0 '^request_handler$'
check "--sort=function" "ldb-report --sort=function --json | jq -r '.functions[1].function'" 0 '^snapshot$'
check "--sort=total --top=1" "ldb-report --sort=total --top=1 --json | jq '.functions | length'" 0 '^1$'
check "hidden rows are counted" "ldb-report --top=1" 0 '^1 more rows: --top=2'
check "--by=function" "ldb-report --by=function --json | jq -c '.functions[0].caller'" 0 '^""$'
check "--by=module" "ldb-report --by=module" 0 'report-trace$'
check "--function" "ldb-report --function='snap*' --json | jq -r '.functions[].function'" 0 '^snapshot$'
check "--thread by name" "ldb-report --thread='snap*' --json | jq '.functions | length'" 0 '^1$'
check "--from" "ldb-report --from=29ms --json | jq -c '[.functions[].count] | add'" 0 '^2$'
check "--to" "ldb-report --to=5ms --json | jq -c '[.functions[].count] | add'" 0 '^5[01]$'

# Locks.
ldb-report --mutex --json >m.json
check_jq "one lock, by the name of its variable" m.json '.version == 1 and (.locks | length) == 1 and .locks[0].name == "db_lock" and .locks[0].kind == "mutex"'
check_jq "waits and holds" m.json '.locks[0] | .waits.count == 1 and .waits.total_ns == 12499800 and .holds.count == 1 and
	.holds.max_ns == 12559500'
check_jq "who made others wait" m.json '.locks[0].holders[0] | .tid == 2 and .thread == "snapshotter" and .wait_ns == 12499800'
check "--mutex" "ldb-report --mutex" 0 '^mutex 0x[0-9a-f]+ \(db_lock\)'
check "--mutex --csv" "ldb-report --mutex --csv" 0 '^0x[0-9a-f]+,db_lock,wait,mutex,'
check_one_line "--mutex has other orders" "ldb-report --mutex --sort=caller" 2 'sort=caller'

# Requests.
ldb-report --requests --json >r.json
check_jq "all, then classes" r.json '[.requests[] | .class] == [null, "GET", "SET", ""] or [.requests[] | .class] == [null, "", "GET", "SET"] or
	[.requests[] | .class] == [null, "", "SET", "GET"] or [.requests[] | .class] == [null, "SET", "GET", ""]'
check_jq "how many" r.json '.requests[0].count == 202 and .requests[0].p50_ns == 1100 and .requests[0].max_ns == 12750000'
check_jq "the slowest" r.json '.requests[0].slowest | length == 10 and .[0].req == 4711 and .[0].lock_wait_ns == 12499800 and
	.[0].top_function == "request_handler" and .[0].threads == [{"tid": 1, "thread": "main"}]'
check "--requests" "ldb-report --requests" 0 '^ +4711 +30\.0 ms +12\.8ms +12\.5ms'
check "--requests --class" "ldb-report --requests --class=GET --json | jq '.requests[0].count'" 0 '^100$'
check "--requests --top" "ldb-report --requests --top=3 --csv | wc -l" 0 '^4$'

# Summary.
ldb-report --json-summary >s.json
check_jq "an object" s.json '.calls == 2000 and .observed_calls == 20 and .lost.overrun == 3 and
	.observation_gaps == 1 and .observation_gap_ns == 2000000'
check_jq "threads" s.json '[.threads[] | .name] == ["main", "snapshotter"] and .threads[0].calls == 1000'
check_jq "the recording" s.json '.recording.damaged == false and any(.recording.meta[]; .key == "cmdline")'
check "--summary" "ldb-report --summary" 0 '^cmdline +\./figure1 -q'

# Formats.
check "80 columns: no line is wider" "COLUMNS=80 ldb-report | awk 'length > 80' | wc -l" 0 '^0$'
check "also locks" "COLUMNS=80 ldb-report --mutex | awk 'length > 80' | wc -l" 0 '^0$'
check "200 columns: call sites on the same line" "COLUMNS=200 ldb-report" 0 'request_handler\(\) <- lookup\(\)'
check_not "no colour into a pipe" "ldb-report" 0 "$(printf '\033')"
check "-o" "ldb-report -o out.json --json && jq '.functions | length' out.json" 0 '^2$'

# Tests traces with nothing to show.
check "no functions" "ldb-report -i empty.data" 0 '^no call .*-fplugin'
check "no locks" "ldb-report -i plain.data --mutex" 0 '^no thread waited'
check "no requests" "ldb-report -i plain.data --requests" 0 'ldb_req_start'
for what in :functions --mutex:locks --requests:requests; do
	check "an empty array, ${what#*:}" "ldb-report -i empty.data ${what%:*} --json | jq -c .${what#*:}" 0 '^\[\]$'
done

# A trace may contain hostile text, such as ESC, and the bytes that 8-bit terminals treat like
# ESC [: a report must print none of them.
controls()	# file: prints the characters in it that are no text, or that control a terminal
{
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || echo "bytes that are no text"
	LC_ALL=C.UTF-8 grep -aPo '[\x{01}-\x{08}\x{0b}-\x{1f}\x{7f}-\x{9f}]' "$1" | od -An -c | head -n 5
}

for how in "report" "report --mutex" "report --requests" "report --sched" "report --summary" \
	   "report --csv" "report --csv --mutex" "report --json" "report --json --sched" \
	   "report --json-summary" "timeline" "timeline --json" "timeline --sched" "why" "why --json" \
	   "export chrome" "export folded" "export otlp --all" "export speedscope"; do
	ldb-$how -i hostile.data >steer.out 2>steer.err
	ok "no control reaches the terminal: $how" test -z "$(controls steer.out)" -a -z "$(controls steer.err)"
	[ -z "$(controls steer.out)$(controls steer.err)" ] || diag "$(controls steer.out)$(controls steer.err)"
done
for how in "" --mutex --requests --summary; do
	check_not "nothing steers the terminal ${how:-(functions)}" "ldb-report -q -i hostile.data $how" 0 "$(printf '\033')"
	ok "and it is JSON" eval "ldb-report -q -i hostile.data $how --json | jq -e . >/dev/null"
done

# Wrong usage.
check_one_line "an unknown option" "ldb-report --nonsense" 2 'nonsense'
check_one_line "-i and an argument" "ldb-report -i ldb.data ldb.data" 2 'not both'
check_one_line "two reports" "ldb-report --mutex --requests" 2 'give one'
check_one_line "two formats" "ldb-report --json --csv" 2 'give one'
check_one_line "no such order" "ldb-report --sort=colour" 2 'colour'
check_one_line "no trace" "ldb-report -i missing" 1 '^ldb-report: .*missing'
check_one_line "nowhere to write" "ldb-report -o no/such/folder" 1 'no/such/folder'
if [ -w /dev/full ]; then
	check_one_line "a full disk" "ldb-report >/dev/full" 1 'cannot write'
	check_one_line "a full disk, -o" "ldb-report -o /dev/full" 1 'cannot write'
fi
head -c $(($(wc -c <ldb.data) * 3 / 4)) ldb.data >cut.data
check "a damaged trace is shown as far as it goes" "ldb-report -i cut.data --summary 2>err; test \$? -eq 3 && wc -l <err" 0 '^1$'
check "--help has examples" "ldb-report --help" 0 '^examples:'

# The program is copied before it runs and removed after it, so its symbols cannot be found.
cp "$(command -v report-trace)" ./report-trace
(PATH=$PWD:$PATH; report-trace figure1 own.data)
rm report-trace
check_one_line "the program is gone: one hint" "ldb-report -i own.data" 0 'report-trace: no symbols'
check "its functions are offsets" "ldb-report -q -i own.data" 0 'report-trace\+0x[0-9a-f]+'
ok "-q: no hint" test -z "$(ldb-report -q -i own.data 2>&1 >/dev/null)"

finish
