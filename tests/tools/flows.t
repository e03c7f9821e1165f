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
check "what was lost" "ldb-flows" 0 '^3 calls were not timed: no place was left'
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
check_jq "JSON: what it is" f.json '.format == "ldb-flows" and .version == 1 and .threshold_ns == 20000'
check_jq "self times and wait are all time, to the nanosecond" f.json '([.components[].self_ns] | add) == .life_ns and .life_ns == 260000000'
check_jq "the wait is one of them" f.json '.wait_ns == (.components[] | select(.wait) | .self_ns)'
check_jq "shares are 1" f.json '[.components[].share] | add | . > 0.999999 and . < 1.000001'
check_jq "the matrix has the time of functions" f.json '([.matrix[].total_ns] | add) == ([.functions[].total_ns] | add)'
check_jq "and all calls" f.json '([.matrix[].calls] | add) == .calls and .calls == 100083'
check_jq "a C++ function has both names" f.json '.functions[] | select(.callee == "libstdc++.so.6") | (.symbol | startswith("_ZNK")) and (.function | endswith("compare"))'
check_jq "its interval has what it is: 100 ns each" f.json '.functions[] | select(.callee == "libstdc++.so.6") | .total_ns == 10000000 and .error_ns > 0 and .p50_ns == 88 and .p99_ns == 120'
check_jq "pools" f.json '[.pools[].pool] == ["main", "worker*"] and .pools[1].imbalance == 1.6'
check_jq "losses" f.json '.lost.no_slot == 3 and .lost.address_taken == 2'
ldb-flows --json --thread 'worker*' >w.json
check_jq "--thread" w.json '.life_ns == 160000000 and (.threads | length) == 2 and ([.components[].self_ns] | add) == .life_ns'
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

check_one_line "no flows" "ldb-flows -i none.data" 1 'none\.data has no calls between components: record with ldb-record --flows'
check_one_line "none in the other" "ldb-flows --diff none.data" 1 'none\.data has no calls between components'
check_one_line "no trace" "ldb-flows -i nothing.data" 1 'nothing\.data'
check_one_line "an argument" "ldb-flows x" 2 "unexpected argument 'x'"
check_one_line "--diff and --by" "ldb-flows --diff ldb.data --by=pool" 2 'does not go with --by'
head -c $(($(wc -c <ldb.data) - 40)) ldb.data >cut.data
check "a trace that was cut" "ldb-flows -q -i cut.data" 3 'libz'
finish
