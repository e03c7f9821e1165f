# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that compress, encrypt and query: which library, and which of its functions, took
# their time, in ldb-why, ldb-timeline, folded stacks and the database.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH

echo '#include <openssl/evp.h>' >has.c
if $CC -E has.c >/dev/null 2>&1; then
	cc_ldb -O2 -g -DWITH_CRYPTO "$PROGRAMS/flows-request.c" -o flows-request -lz -lsqlite3 -lcrypto || exit 1
	functions="compress2 EVP_EncryptUpdate sqlite3_step"
else
	cc_ldb -O2 -g "$PROGRAMS/flows-request.c" -o flows-request -lz -lsqlite3 || exit 1
	functions="compress2 sqlite3_step"
fi
ldb-record -q --flows --flows-threshold=10us -o ldb.data -- ./flows-request 40 >got.out
ok "recorded" test $? = 0
./flows-request 40 >want.out
ok "same output" cmp want.out got.out

ldb-flows -q --json >f.json
check_jq "self times and waits add up to the threads' time" f.json '([.components[].self_ns] | add) == .lifetime_ns'
for function in $functions; do
	check_jq "$function: once for each request" f.json "[.functions[] | select(.function == \"$function\" and .caller == \"flows-request\") | .calls] == [40]"
	check_jq "and timed" f.json "[.functions[] | select(.function == \"$function\" and .caller == \"flows-request\") | .timed] == [40]"
done
check "shares of requests are exact" "partition-sums ldb.data" 0 '^40 requests, '
check "and those of timelines, stacks and profiles" "one-attribution ldb.data" 0 ' 0 not the same$'
ldb-why -q --slowest=40 --shares --json >w.json
for function in $functions; do
	check_jq "$function is a leaf of each request" w.json "[.requests[] | select(any(.shares[]; .cause == \"library_call\" and (.label | startswith(\"$function() of lib\"))))] | length == 40"
done
ldb-timeline -q --req 7 --json >t.json
check_jq "the timeline has them" t.json '[.segments[] | select(.kind == "library_call") | .name] | contains(["compress2", "sqlite3_step"])'
ldb-export -q -o f.folded folded
check "folded stacks" "cat f.folded" 0 ';compress_it;compress2 [0-9]+$'
ldb-export -q -o f.db sqlite
check "the database" "sqlite3 f.db 'SELECT count(*), count(request) FROM library_call c JOIN function f ON f.id = c.function WHERE f.name = \"compress2\"'" 0 '^40\|40$'
diag "$(ldb-why -q --req 7 | tail -n 14)"
finish
