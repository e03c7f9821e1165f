# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-flows on traces with known content.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS
report-trace flows ldb.data && report-trace flows slower.data 100000 && report-trace figure1 none.data ||
	exit 1

check "a component's self time" "ldb-flows" 0 '^   8\.8 %  23\.0ms     0ns     20  23\.0ms     0ns libz\.so\.1\.3\.1$'
check "calls out of it are not in it" "ldb-flows" 0 '^  10\.0 %  26\.0ms     0ns     20  30\.0ms  4\.00ms libsqlite3\.so\.0\.8\.6$'
check "the wait" "ldb-flows" 0 '^  42\.3 %   110ms     0ns      2   110ms     0ns wait$'
check "a function, and who calls it" "ldb-flows" 0 '^     20  23\.0ms     0ns  1\.15ms  4\.00ms deflate\(\) of libz\.so\.1\.3\.1, from report-trace$'
check "some calls timed: an interval" "COLUMNS=200 ldb-flows" 0 '^   100k  10\.0ms  [23][0-9]\.[0-9]us   100ns .* of libstdc\+\+\.so\.6, from report-trace$'
check "a function that may not return" "ldb-flows" 0 '^      1       -       -       -       - exit\(\) of libc\.so\.6'
check "an unbalanced pool" "ldb-flows" 0 '^      2   160ms   110ms  50\.0ms  31\.2 %  10\.0ms  25\.0ms  40\.0ms   1\.60 worker\*$'
check "what is estimated" "ldb-flows" 0 '^100 k calls between components, counted exactly; 10\.1 % of them timed'
check "what is not known" "ldb-flows" 0 '^1 calls have no time'
check "what was lost" "ldb-flows" 0 '^3 calls were not timed: there was no room'
check "what was not followed" "ldb-flows" 0 '^Not followed: 2 functions whose addresses'
check "--by=wait" "ldb-flows --by=wait" 0 '^      2   110ms     0ns  55\.0ms  70\.0ms pthread_cond_wait\(\)'
check "--by=wait has no other" "ldb-flows --by=wait | grep -c deflate" 1 '^0$'
check "--by=function has no wait" "ldb-flows --by=function | grep -c pthread_cond" 1 '^0$'
check "--by=matrix" "ldb-flows --by=matrix" 0 '^  2 libsqlite3\.so\.0\.8\.6 +\. +\. +\. +\. +\. +4\.00ms +\.$'
check "--by=thread" "ldb-flows --by=thread" 0 '^  80\.0ms  70\.0ms  10\.0ms     0ns  12\.5 %      1 worker-2 3, 70\.0ms in pthread_cond_wait\(\)$'
check "--top" "ldb-flows --by=function --top=1" 0 '^5 more functions: --top=6 shows all\.$'
check "--component" "ldb-flows --by=function --component='libsql*' | grep -c ' from '" 0 '^2$'
check "a narrow screen" "COLUMNS=80 ldb-flows | grep -v '^[A-Z0-9]' | awk 'length > 80' | wc -l" 0 '^0$'

ldb-flows --json >f.json
check_jq "JSON: what it is" f.json '.format == "ldb-flows" and .version == 2 and .threshold_ns == 20000'
check_jq "self times and waits add up to the threads' time, to the nanosecond" f.json '([.components[].self_ns] | add) == .lifetime_ns and .lifetime_ns == 260000000'
check_jq "the wait is one of them" f.json '.wait_ns == (.components[] | select(.wait) | .self_ns)'
check_jq "shares are 1" f.json '[.components[].share] | add | . > 0.999999 and . < 1.000001'
check_jq "the matrix has the time of functions" f.json '([.matrix[].total_ns] | add) == ([.functions[].total_ns] | add)'
check_jq "and all calls" f.json '([.matrix[].calls] | add) == .calls and .calls == 100083'
check_jq "a C++ function has both names" f.json '.functions[] | select(.callee == "libstdc++.so.6") | (.symbol | startswith("_ZNK")) and (.function | endswith("compare"))'
check_jq "its interval has what it is: 100 ns each" f.json '.functions[] | select(.callee == "libstdc++.so.6") | .total_ns == 10000000 and .error_ns > 0 and .p50_ns == 88 and .p99_ns == 120'
check_jq "pools" f.json '[.pools[].pool] == ["main", "worker*"] and .pools[1].imbalance == 1.6'
check_jq "losses" f.json '.lost.no_slot == 3 and .lost.address_taken == 2 and .lost.unknown_calls == 4'
ldb-flows --json --thread 'worker*' >w.json
check_jq "--thread" w.json '.lifetime_ns == 160000000 and (.threads | length) == 2 and ([.components[].self_ns] | add) == .lifetime_ns'
check "CSV: components" "ldb-flows --csv" 0 '^libz\.so\.1\.3\.1,/usr/lib/libz\.so\.1\.3\.1,0,23000000,'
check "CSV: functions" "ldb-flows --csv --by=function" 0 '^deflate,deflate,report-trace,libz\.so\.1\.3\.1,0,20,20,0,23000000,'
check "CSV: waits" "ldb-flows --csv --by=wait | wc -l" 0 '^2$'
check "CSV: the matrix" "ldb-flows --csv --by=matrix" 0 '^libsqlite3\.so\.0\.8\.6,libc\.so\.6,0,20,4000000,0$'
check "CSV: threads" "ldb-flows --csv --by=thread" 0 '^3,worker-2,worker\*,report-trace,80000000,70000000,10000000,'
check "CSV: pools" "ldb-flows --csv --by=pool" 0 '^worker\*,,2,160000000,110000000,50000000,0\.3125,'

check "--diff: the library" "ldb-flows -i slower.data --diff ldb.data" 0 '^   23\.0ms   25\.0ms   2\.00ms     0ns     20     20 libz\.so\.1\.3\.1$'
check "--diff: the function" "ldb-flows -i slower.data --diff ldb.data" 0 '^   23\.0ms   25\.0ms   2\.00ms     0ns     20     20 deflate\(\) of libz'
ldb-flows -i slower.data --diff ldb.data --json >d.json
check_jq "JSON of two" d.json '.format == "ldb-flows-diff" and .components[0].delta_ns == 2000000 and .components[0].beyond_error and .components[1].delta_ns == -2000000'
check "CSV of two" "ldb-flows -i slower.data --diff ldb.data --csv" 0 '^deflate,report-trace,libz\.so\.1\.3\.1,23000000,25000000,2000000,0,1,20,20$'
check "a trace and itself" "ldb-flows --diff ldb.data --json | jq -c '[.functions[].delta_ns] | unique'" 0 '^\[0\]$'
check "-o" "ldb-flows -o out.txt; grep -c libz out.txt" 0 '^2$'

# Calls that took long are leaves of requests.
check "a cause of a slow request" "ldb-why --slowest 1" 0 '^req 119 6\.50ms \(usual 3\.50ms\): 3\.00ms in deflate\(\) of libz\.so\.1$'
check "it has the category of the function" "ldb-why --slowest 1" 0 '^ +1 +1 +3\.00ms +3\.00ms  Compression +library call: deflate\(\) of libz\.so\.1$'
check "all time of the request" "ldb-why --slowest 1" 0 '^  1\.30ms  20\.0 % +1  library_call sqlite3_step\(\) of libsqlite3\.so\.0 in request_handler$'
check "sums are exact" "partition-sums ldb.data" 0 '^20 requests, 120 shares$'
check "and those of timelines, stacks and profiles" "one-attribution ldb.data" 0 ' 0 not the same$'
check "the timeline's sentence" "ldb-timeline --slowest 1" 0 '^req 119: 6\.50 ms \(p50 3\.50 ms\): 4\.00 ms in deflate\(\) of libz\.so\.1; 1\.30 ms in sqlite3_step\(\)'
check "its picture" "ldb-timeline --slowest 1" 0 '^  libraries .*deflate\+'
check "its list" "ldb-timeline --slowest 1" 0 '^   5\.00ms    200us           main 1              pread64\(\) of libc\.so\.6'
ldb-timeline --slowest 1 --json >t.json
check_jq "JSON: causes" t.json '[.[0].causes[] | select(.kind == "library_call") | [.label, .total_ns]] ==
	[["deflate() of libz.so.1", 4000000], ["sqlite3_step() of libsqlite3.so.0", 1300000],
	 ["EVP_EncryptUpdate() of libcrypto.so.3", 500000], ["pread64() of libc.so.6", 200000]]'
check_jq "JSON: segments" t.json '[.[0].segments[] | select(.kind == "library_call") | .name] ==
	["deflate", "EVP_EncryptUpdate", "sqlite3_step", "pread64"]'
ldb-export -q -o f.folded folded
check "folded: a frame below the function" "cat f.folded" 0 '^main;request_handler;sqlite3_step;pread64 4000000$'
ldb-why -q --slowest=20 --shares --json |
	jq -r '[.requests[].shares[] | select(.cause == "library_call")] | group_by(.label)[] | "\(.[0].label | split("(")[0]) \([.[].ns] | add)"' |
	sort >why.sums
grep 'request_handler;' f.folded | sed 's/.*;//' | sort >folded.sums
ok "the same times as in ldb-why" cmp why.sums folded.sums
ldb-export -q -o f.pb.gz pprof
if command -v go >/dev/null; then
	check "pprof" "go tool pprof -raw f.pb.gz 2>/dev/null | grep -c sqlite3_step" 0 '^[1-9]'
else
	check "pprof" "gzip -dc f.pb.gz | grep -c sqlite3_step" 0 '^[1-9]'
fi
ldb-export -q -o f.db sqlite
check "SQLite: calls" "sqlite3 f.db 'SELECT f.name, f.module, r.req, c.self_ns, c.duration_ns, s.id IS NOT NULL FROM library_call c
	JOIN function f ON f.id = c.function JOIN request r ON r.id = c.request JOIN span s ON s.id = c.span WHERE r.req = 119 AND c.duration_ns = 1500000'" \
	0 '^sqlite3_step\|libsqlite3\.so\.0\.8\.6\|119\|1300000\|1500000\|1$'
check "SQLite: sums" "sqlite3 f.db 'SELECT f.calls, f.total_ns, f.wait FROM flow f JOIN component c ON c.id = f.callee
	JOIN component p ON p.id = f.caller WHERE c.name LIKE \"libz%\" AND p.name = \"report-trace\"'" 0 '^20\|23000000\|0$'
check "SQLite: time of functions and libraries" "sqlite3 f.db 'SELECT function, self_ns FROM request_function WHERE req = 119'" 0 '^deflate\|4000000$'
ldb-export -q -o f.chrome chrome
check "Chrome: slices" "jq -r '.traceEvents[] | select(.name == \"deflate\") | .args.library' f.chrome" 0 '^libz\.so\.1\.3\.1$'
ldb-export -q -o f.pftrace perfetto
check "Perfetto: slices" "grep -c EVP_EncryptUpdate f.pftrace" 0 '^[1-9]'
if command -v babeltrace2 >/dev/null; then
	ldb-export -q -o f.ctf ctf
	check "CTF: events" "babeltrace2 f.ctf | grep -c 'library_call.*deflate'" 0 '^[1-9]'
else
	skip "CTF: events" "no babeltrace2"
fi
ldb-export -q -o f.speedscope speedscope
check "speedscope: frames" "jq -r '.shared.frames[].name' f.speedscope" 0 '^sqlite3_step$'

# The page.
report-trace markup markup.data
ldb-flows -q -o out.html
check "a page" "head -c 15 out.html" 0 '^<!DOCTYPE html>'
check "its end" "tail -n 1 out.html" 0 '^</html>'
check "nothing that a network gives" "grep -cE '(src|href)=\"?(https?:)?//' out.html" 1 '^0$'
sed -n 's|.*<script type="application/json" id="flows">\(.*\)</script>.*|\1|p' out.html | jq -S 'del(.title, .version_of_ldb, .duration_ns)' >a
jq -S 'del(.format, .version)' f.json >b
ok "it has what --json has" cmp a b
for option in --by=pool --top=3 --json --csv; do
	check_one_line "$option does not go with it" "ldb-flows $option -o no.html" 2 'a page has all tables'
done

ldb-flows -q --diff slower.data -o diff.html
sed -n 's|.*<script type="application/json" id="flows-diff">\(.*\)</script>.*|\1|p' diff.html |
	jq -S 'del(.title, .before, .version_of_ldb)' >a
ldb-flows -q --diff slower.data --json | jq -S 'del(.format, .version)' >b
ok "a page of the changes has what --json has" cmp a b

check_one_line "no flows" "ldb-flows -i none.data" 1 'none\.data has no calls between components: record with ldb-record --flows'
check_one_line "none in the other" "ldb-flows --diff none.data" 1 'none\.data has no calls between components'
check_one_line "no trace" "ldb-flows -i nothing.data" 1 'nothing\.data'
check_one_line "an argument that is no file" "ldb-flows x" 1 'x: No such file'
check "an argument" "ldb-flows -q ldb.data" 0 'libz'
check_one_line "--diff and --by" "ldb-flows --diff ldb.data --by=pool" 2 'does not go with --by'
head -c $(($(wc -c <ldb.data) - 40)) ldb.data >cut.data
check "a trace that was cut" "ldb-flows -q -i cut.data" 3 'libz'
finish
