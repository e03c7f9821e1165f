# SPDX-License-Identifier: GPL-2.0-or-later
# Tests request tags through several versions of <ldb/ldb.h> in one program, programs that
# meet an older or a newer runtime than that of their header, how many instructions a call of the
# header takes without the runtime, and a program that pauses its own recording or asks for a dump.
. "$(dirname "$0")/../lib/engine.sh"
need_build

build()	# name options...: the object name.o of api-tags.c
{
	build_name=$1
	shift
	cc_ldb -O2 -g -Wall "$@" -c "$PROGRAMS/api-tags.c" -o "$build_name.o"
}

old='-DHEADER="api-ldb-1.h"'
new='-DHEADER=<ldb/ldb.h>'
build old-main "$old" -DTAG=tag -DNAME='"old"' -DMAIN || exit 1
build old-mixed "$old" -DTAG=tag -DNAME='"old"' -DMAIN -DOTHER || exit 1
build new-main "$new" -DTAG=tag -DNAME='"new"' -DMAIN || exit 1
build new-other "$new" -DTAG=tag_other -DNAME='"new"' || exit 1
cc_ldb -O2 -g -Wall -c "$PROGRAMS/api-future.c" -o future.o || exit 1

# There are 20 requests of the old header.  The new header has 10 requests that begin at
# ldb_req_start(), and 10 that begin at their arrival.
is_old='any(.requests[]; .class == "old" and .count == 20 and .p50_ns < 40000000)'
is_new='any(.requests[]; .class == "new" and .count == 10 and .p50_ns < 40000000) and
	any(.requests[]; .class == "new early" and .count == 10 and .p50_ns > 52000000 and .p50_ns < 200000000)'

recorded()	# what objects...: a program of these, recorded
{
	what=$1
	shift
	cc_ldb "$@" -o prog || exit 1
	check "$what, alone" "./prog" 0 '^api-tags: done$'
	check "$what, recorded" "record_apart t.data ./prog" 0 '^api-tags: done$'
	ldb-report -i t.data --requests --json >t.json
}

recorded "the first header" old-main.o
check_jq "its requests are there" t.json "$is_old"
recorded "this header" new-main.o
check_jq "its requests are there, from their arrival" t.json "$is_new"
# The linker uses the tables of the first object that contains tables.
recorded "both headers, the first one first" old-mixed.o new-other.o
check_jq "the requests of both are there" t.json "$is_old and $is_new"
recorded "both headers, this one first" new-other.o old-mixed.o
check_jq "the requests of both are there as well" t.json "$is_old and $is_new"

recorded "a later header" old-mixed.o future.o
ok "what the runtime does not know is left alone" matches '^api-future: 0 filled$'
check_jq "and the rest is there" t.json "$is_old"

$CC -O2 -Wall -fPIC -shared "$PROGRAMS/api-runtime-1.c" -o runtime-1.so || exit 1
cc_ldb new-main.o -o new || exit 1
check "this header with the first runtime" "LD_PRELOAD=./runtime-1.so ./new" 0 \
	'^runtime 1: 1 tables, 20 starts, 20 ends$'
cc_ldb old-mixed.o new-other.o -o mixed || exit 1
check "both headers with the first runtime" "LD_PRELOAD=./runtime-1.so ./mixed" 0 \
	'^runtime 1: 1 tables, 40 starts, 40 ends$'

# Without the runtime each call is a load, a test and a branch, whatever its function and arguments
# are.
$CC -O2 -Wall "-I$TOP/libldb/include" "$PROGRAMS/api-steps.c" -o steps || exit 1
check "a child that is stepped runs as usual" "./steps" 0 '^ldb_record_dump [0-9.]*$'
printf '%s\n' "$out" >steps.txt
ok "each call is three instructions" eval \
	'test "$(awk "NF == 2 && \$2 >= 1 && \$2 < 4 { n++ } END { print n + 0, NR }" steps.txt)" = "9 9"'
ok "as many as a tag's" eval 'test "$(awk "{ print \$2 }" steps.txt | sort -u | wc -l)" = 1'
check "with the runtime, not recorded, the program prints the same names" \
	"LD_PRELOAD=$RUNTIME ./steps | awk '{ print \$1 }' | tr '\n' ' '" 0 \
	'^ldb_req_start ldb_req_end ldb_req_class ldb_req_note ldb_req_note_u64 ldb_event ldb_record_start ldb_record_stop ldb_record_dump $'

# The program pauses its own recording.
cc_ldb -O2 -g -Wall "$PROGRAMS/record-control.c" -o control || exit 1
check "a program that controls its recording, alone" "./control" 0 '^record-control: errno 4242$'
check "recorded" "record_apart c.data ./control" 0 '^record-control: errno 4242$'
ldb-report -q -i c.data --requests --json >c.json
check_jq "what it did while paused is not in the trace, and the rest is" c.json \
	'[.requests[1:][] | [.class, .count]] | sort == [["after", 10], ["before", 10]]'

# The program triggers the flight recorder; without one, the call does nothing.
check "with a flight recorder" "ldb-record -q -o f.data --flight 10s --after 0 --kernel none -- ./control" 0 '^record-control: errno 4242$'
ok "one dump is written" test -e f.data.1 -a ! -e f.data.2
ldb-report -q -i f.data.1 --summary --json >f.json
check_jq "and says why" f.json '[.recording.meta[] | select(.key == "trigger")][0].value | test("all is said")'
ldb-report -q -i f.data.1 --requests --json >f.json
check_jq "what was done before is in it" f.json 'any(.requests[]; .class == "after" and .count == 10)'

finish
