# SPDX-License-Identifier: GPL-2.0-or-later
# Tests --request='FUNCTION(ARGUMENT)': requests have exactly the ids that the program passed.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/json.sh"
need_build

cc_ldb -O2 -g -Wall "$PROGRAMS/request-ids.c" -o c-ids && cxx_ldb -O2 -g -Wall "$PROGRAMS/request-ids.cc" -o cxx-ids &&
	cc_ldb -O2 -g -no-pie -Wall "$PROGRAMS/request-ids.c" -o fixed &&
	cc_ldb -O2 -Wall "$PROGRAMS/request-ids.c" -o bare || exit 1

requests()	# file words...
{
	ldb-report -q -i "$1" --requests --top 100000 --json
}

# Each observed call has the id that the program passed; which calls are observed depends on the
# scanner's CPU.
exact()	# what, request, program, first id, step
{
	exact_what=$1 exact_word=$2
	record_options="--request=$exact_word"
	check "$exact_what: recorded" "record_apart ids.data ./$3 20" 0
	check_not "$exact_what: nothing to warn of" "ldb-report -i ids.data" 0 'have no ids'
	requests ids.data >ids.json
	diag "$(jq -c '.requests_of' ids.json)"
	check_jq "$exact_what: each has an id" ids.json '.requests_of | .ids and .without_id == 0'
	# Numbers of 64 bits are not exact in jq: the last digits are compared as text.
	ldb-export -q -i ids.data -o ids.db sqlite
	sqlite3 ids.db "select req from request order by start_ns" >got
	i=0
	while [ "$i" -lt 20 ]; do
		printf '%u\n' "$(($4 + $5 * i))"
		i=$((i + 1))
	done >want
	ok_empty_of "$exact_what: no id that was not passed" "grep -vxFf want got"
	ok_empty_of "$exact_what: in their order" "grep -xFf got want | cmp - got"
	[ -s got ] || skip "$exact_what: judged by what was observed" "the scanner had no CPU"
}

ok_empty_of()	# name command
{
	eval "$2" >"$WORK/list" 2>&1
	ok_empty "$1"
}

if [ "$(id -u)" != 0 ] || ! [ -w /sys/kernel/tracing/uprobe_events ]; then
	skip_all "no right to define probes of the kernel"
fi
exact "a parameter" 'plain(id)' c-ids 1000 1
exact "a second integer, negative" 'second(id)' c-ids -1 -1
exact "a member" 'field(r->id)' c-ids 5000000000 1
exact "members on the way" 'field(r->head.parent->head.code)' c-ids -100 -1
exact "at an address that is fixed" 'plain(id)' fixed 1000 1
exact "C++, by reference" 'handle(r.id)' cxx-ids 7000 1
exact "C++, behind this" 'shop::Server::take(id)' cxx-ids 9000 1
exact "without debug information" 'second($2:s32)' bare -1 -1
check "no probe is left" "cat /sys/kernel/tracing/uprobe_events | grep -c ldb_" 1 '^0$'

record_options='--request=plain(id)'
check "a timeline by its id" "record_apart t.data ./c-ids 20 && ldb-timeline -q -i t.data --req \$(ldb-report -q -i t.data --requests --json | jq '.requests[0].slowest[0].req')" 0 '^req 10[01][0-9] plain'

wrong()	# what, word, program, message
{
	record_options="--request=$2"
	check "$1" "record_apart wrong.data ./$3 2 2>&1" 0 "warning: --request='.*': its requests have no ids: $4"
}
wrong "no such function" 'nowhere_to_be_found(id)' c-ids 'the program has no function of that name'
wrong "no such parameter" 'plain(name)' c-ids 'no parameter is named name: there is id'
wrong "no such member" 'field(r->name)' c-ids 'r has no member name'
wrong "no integer" 'second(weight)' c-ids 'weight is a double; it must be an integer'
wrong "a struct" 'field(r->head)' c-ids 'head is a struct; it must be an integer'
wrong "a pointer" 'field(r.id)' c-ids 'r is a pointer: write r->id'
wrong "no debug information" 'plain(id)' bare 'there is no debug information: compile with -g, or write plain\(\$1\)'
check_one_line "no argument" "ldb-record --request='plain(a+b)' -o none.data -- ./c-ids" 2 'give a parameter, as in FUNCTION\(r->id\)'
check_one_line "no such number" "ldb-record --request='plain(\$9)' -o none.data -- ./c-ids" 2 'give \$1 to \$6'

# A recorder that was killed leaves its probes behind.
oracle_cut killed.cut
ldb-record -q --request='plain(id)' -o killed.cut -- ./c-ids 2000 &
pid=$!
i=0
while [ "$i" -lt 100 ] && ! grep -q "ldb_.*_$pid/" /sys/kernel/tracing/uprobe_events; do
	sleep 0.1
	i=$((i + 1))
done
check "its probe is there" "cat /sys/kernel/tracing/uprobe_events" 0 "_$pid/"
kill -9 "$pid"
wait "$pid" 2>/dev/null
record_options='--request=plain(id)'
check "the next recorder removes it" "record_apart next.data ./c-ids 2 && cat /sys/kernel/tracing/uprobe_events; echo end" 0 '^end'
check_not "it is gone" "cat /sys/kernel/tracing/uprobe_events" 0 "_$pid/"
finish
