# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-record with a stand-in for the runtime, which writes a known number of events,
# hangs, lies, dies, or fills the session with garbage.
. "$(dirname "$0")/../lib/engine.sh"
oracle_off "the stand-in invents what it writes"
PATH=$BUILD/tests/tools/helpers:$PATH
LDB_LIBLDB=${LDB_LIBLDB:-$RUNTIME}
[ -e "$LDB_LIBLDB" ] || LDB_LIBLDB=$(ldd "$BUILD/bin/ldb-record" | sed -n 's/.*=> \(.*libzstd[^ ]*\).*/\1/p')
export LDB_LIBLDB

rows()	# file kind
{
	trace-cat "$1" "$2" | wc -l
}

sum_lost()	# file what
{
	trace-cat "$1" lost | sed -n "s/^lost what=$2 .*count=//p" | awk '{ n += $1 } END { print n + 0 }'
}

# Checks numbers.
check "400000 events of four threads" "ldb-record -o f.data -- fake-runtime funcs 100000" 0 'funcs=400000'
ok "arrive, or are counted as lost" test \
	$(($(rows f.data func) * 3 + $(sum_lost f.data 1))) -eq 1200000
ldb-record -q -o k.data -- fake-runtime kinds
trace-cat k.data >k.txt
status=$?
ok "the trace is whole" test "$status" -eq 0
for line in \
	'^module flags=1 .* 400000-500000 bias=0 id=deadbeef /fake/module$' \
	'^thread tid=5 flags=0 .* made=1000 seen=12 .* creator=4 name=worker$' \
	'^thread tid=8 flags=1 .* made=3 .* name=short$' \
	'^func tid=5 flags=0 pc=401010 ret=402000 gen=10000 .* depth=1 ' \
	'^func tid=5 flags=1 pc=401000 .* gen=320000 parent=0 depth=0 ' \
	'^func tid=5 flags=1 pc=401010 .* gen=330000 parent=320000 depth=1 ' \
	'^lock op=1 flags=1 tid=5 lock=abc0 owner=6 .* gen=30000 site=7f1200345678$' \
	'^note id=77 tid=5 tick=[0-9]* flags=0 key=tenant-with-16by number=0 text=123e4567-e89b-12d3-a456-426614174000$' \
	'^note id=77 tid=5 tick=[0-9]* flags=1 key=bytes number=65537 text=$' \
	'^event tid=5 tick=[0-9]* value=-7 name=cache miss$' \
	'^reqname id=77 .* name=GET /index.html HTTP/1$' \
	'^reqname id=77 trace=112233445566778899aabbccddeeff00 span=1122334455667788 name=$' \
	'^gap tid=0 ' '^lost what=5 ring=0 count=12$' '^scan scanner=0 looks=4711 ' \
	'^reqtab id=77 .* segments=1 complete=1$' '^meta end=exit:0$' '^meta kernel_events=(module|bpf|perf|none)$'; do
	ok "$line" grep -Eq "$line" k.txt
done
ok "requests come in order of time, whatever ring they were in" eval \
	'test "$(sed -n "s/^req op=\([0-9]\).*/\1/p" k.txt | tr "\n" " ")" = "1 3 "'
check "records never finished" "ldb-record -q -o h.data -- fake-runtime holes 1000" 0 'funcs=1000'
ok "do not hold up the others" test "$(rows h.data func)" -eq 1000
ok "and are counted, each" test "$(sum_lost h.data 2)" -eq 3000
check "a record finished late" "ldb-record -q -o l.data -- fake-runtime late 300" 0
ok "is not lost" test "$(rows l.data func)" -eq 101
check "a ring that overflows" "ldb-record -q --kernel=none --ring-size 1M -o o.data -- fake-runtime funcs 200000" 0
ok "every record is in the trace or counted" test \
	$(($(rows o.data func) * 3 + $(sum_lost o.data 1) + $(sum_lost o.data 2))) -eq 2400000
diag "$(rows o.data func) rows, $(sum_lost o.data 1) records overwritten"


# The recorder is stopped while the rings are filled: nothing waits for it.
check "1400000 records while nobody reads" \
	"ldb-record -q --ring-size 1G -o fl.data -- fake-runtime flood 200000" 0 'slots=1400000'
ok "requests of many slices of two rings come in order of time" eval \
	'test "$(trace-cat fl.data req | sed "s/.*tick=\([0-9]*\).*/\1/" | awk "\$1 < last { n++ } { last = \$1 } END { print NR, n + 0 }")" = "400000 0"'
check "more than the rings hold" \
	"ldb-record -q --kernel=none --ring-size 1M -o ov.data -- fake-runtime flood 500000" 0 'slots=3500000'
ok "what was overwritten is counted, to the record" test \
	$(($(rows ov.data func) * 3 + $(rows ov.data req) * 2 + $(sum_lost ov.data 1))) -eq 3500000
ok "and much was" test "$(sum_lost ov.data 1)" -gt 2000000
ok "but not what there was room for" test "$(rows ov.data func)" -gt 300000
check "memory stays bounded" "ldb-record -q --ring-size 1G -o me.data -- fake-runtime memory 1000000 >me.out" 0
ok "whatever is in the rings" test "$(sed -n 's/^anon_kb=//p' me.out)" -lt 90000
diag "$(tr '\n' ' ' <me.out)"

# Checks how recordings end.
check "the program is killed: its status" "ldb-record -q -o x.data -- fake-runtime kill 5000" 137
ok "all its events are there" test "$(rows x.data func)" -eq 5000
ok "the trace says how it ended" eval 'trace-cat x.data meta | grep -q "^meta end=signal:9$"'
check "-d: the program runs on, its status is passed on" \
	"ldb-record -d 300ms -q -o d.data -- fake-runtime forever 100" 5
ok "the trace says that the time was over" eval 'trace-cat d.data meta | grep -q "^meta end=timeout$"'
check "--max-size" "ldb-record -q --max-size 1M -o s.data -- fake-runtime forever" 5 \
	'^ldb-record: s.data has reached --max-size \(1.00 MiB\): recording stopped$'
ok "the trace is whole" eval "trace-cat s.data meta >/dev/null"
ok "and not much larger" test "$(wc -c <s.data)" -lt 4000000

ldb-record -o t.data -- fake-runtime forever 100 >t.out 2>t.err &
rec=$!
wait_for 5 'grep -q attached t.out'
kill -TERM $rec
wait $rec
status=$?
ok "SIGTERM is passed on to the program" test "$status" -eq 143
ok "and the trace is whole" eval 'trace-cat t.data meta | grep -q "^meta end="'
ldb-record -q -o i.data -- fake-runtime forever 100 >i.out 2>&1 &
rec=$!
wait_for 5 'grep -q attached i.out'
sleep 1.3
kill -9 $rec
wait $rec 2>/dev/null
trace-cat i.data >i.txt 2>i.err
status=$?
ok "the recorder is killed: the trace opens as damaged" test "$status" -eq 3
ok "and has events" grep -q '^func' i.txt
ok "and its modules" grep -q '^module.*/fake/module' i.txt
ok "and one line says so" eval 'test "$(cat i.err)" = "trace-cat: the recording ended without being closed"'

# Attaches to running programs.
fake-runtime -l forever 100 >a.out & fake=$!
at_end "kill -9 $fake 2>/dev/null || :"
wait_for 5 'grep -q listening a.out'
check "-p -d" "ldb-record -q -p $fake -d 0.5 -o a.data" 0
ok "events arrive" test "$(rows a.data func)" -gt 0
wait $fake
ok "the trace says that the time was over" eval 'trace-cat a.data meta | grep -q "^meta end=timeout$"'
fake-runtime -l kill 100 >b.out 2>&1 & fake=$!
wait_for 5 'grep -q listening b.out'
check "the process dies while it is recorded" "ldb-record -q -p $fake -o b.data" 0
ok "all its events are there" test "$(rows b.data func)" -eq 100
wait $fake 2>/dev/null

# These programs violate the protocol.
check_one_line "another version" "ldb-record -o y.data -- fake-runtime version 9" 1 "protocol 9.*needs protocol $(sed -n 's/^#define LDB_CONTROL_VERSION[[:space:]]*//p' "$TOP/libldb/include/ldb/control.h")"
check_one_line "no records" "ldb-record -o y.data -- fake-runtime bare" 1 '-fplugin=ldb.so'
check_one_line "refused: the reason is shown, without its escapes" \
	"ldb-record -o y.data -- fake-runtime refuse" 1 'another ldb-record is recording this program\?\[31m$'
for n in 0 1 2 3; do
	check_one_line "nonsense $n" "ldb-record -o y.data -- fake-runtime nonsense $n" 1 'violates the protocol'
done
check "strings without an end" "ldb-record -o y.data -- fake-runtime nonsense 4" 0 'warning: AAAA'
check_one_line "a connection closed at once" "ldb-record -o y.data -- fake-runtime nonsense 5" 1 'not instrumented'
for n in 1 2; do
	check "garbage in the session, run $n" "timeout 60 ldb-record -q -o g.data -- fake-runtime garbage 1" 0 garbage
	ok "the trace is whole all the same" eval "trace-cat g.data scan >/dev/null"
done
fake-runtime -l mute >m.out & fake=$!
wait_for 5 'grep -q listening m.out'
check_one_line "a runtime that never answers" "timeout 30 ldb-record -q -p $fake -o m.data" 1 'does not answer'
kill -9 $fake 2>/dev/null
fake-runtime -l stuck >n.out & fake=$!
wait_for 5 'grep -q listening n.out'
check "a runtime that does not detach" "timeout 30 ldb-record -q -p $fake -d 0.2 -o n.data" 0 'does not answer'
ok "the trace is whole" eval "trace-cat n.data meta >/dev/null"
kill -9 $fake 2>/dev/null

# Paths of modules come from the program, which may be hostile to the recorder.
mkfifo fifo
# This file has a build-id.
cp -L "$(ldd "$BUILD/bin/ldb-record" | sed -n 's/.*=> \(.*libc\.so[^ ]*\).*/\1/p')" real && ln -s /dev/zero device && ln -s real link
FAKE_PATHS="$WORK/fifo $WORK/device /dev/zero /proc/kmsg $WORK/link $WORK/real $WORK/" \
	check "modules that are pipes and devices do not hold the recorder up" \
	"timeout -k 1 30 ldb-record -q -d 300ms -o pa.data -- fake-runtime paths" 0
trace-cat pa.data module >pa.txt
ok "they are in the trace, without a build-id" test "$(grep -Ec 'id= (.*/fifo|.*/device|/dev/zero|/proc/kmsg)$' pa.txt)" -eq 4
ok "a file has its own" eval 'test "$(grep -Ec "id=[0-9a-f]{40} .*/(link|real)$" pa.txt)" -eq 2'
if [ "$(id -u)" -eq 0 ] && chroot / true 2>/dev/null; then
	# This program is in a chroot, and its libraries link to files outside.
	mkdir -p jail/lib jail/away
	ldd "$(command -v fake-runtime)" | grep -oE '/[^ ]+' | while read -r file; do
		mkdir -p "jail$(dirname "$file")" && cp -L "$file" "jail$file"
	done
	cp "$(command -v fake-runtime)" jail && cp real jail/lib/inside.so
	ln -s "$WORK/real" jail/outside.so && ln -s ../real jail/up.so && ln -s /lib/inside.so jail/link.so
	# The name of the runtime's socket contains its pid namespace.
	mkdir jail/proc && mount -t proc none jail/proc && at_end "umount '$WORK/jail/proc'"
	FAKE_PATHS="/outside.so /up.so /../real $WORK/real /link.so /lib/inside.so" \
		chroot jail /fake-runtime -l paths >ja.out 2>&1 & fake=$!
	at_end "kill -9 $fake 2>/dev/null || :"
	wait_for 5 'grep -q listening ja.out'
	check "a program in a chroot" "timeout -k 1 30 ldb-record -q -p $fake -d 300ms -o ja.data" 0
	trace-cat ja.data module >ja.txt
	ok "no file outside of it is read" eval '! grep -E "id=[0-9a-f]{40} .*real|id=[0-9a-f]{40} .*(outside|up)\.so$" ja.txt'
	ok "and those inside are" eval 'test "$(grep -Ec "id=[0-9a-f]{40} /(link|lib/inside)\.so$" ja.txt)" -eq 2'
else
	skip "a chroot" "not root"
fi

# This is the worked example of the format's manual page.
grep -E '^000[0-9a-f]{5}: ' "$TOP/Documentation/ldb.data.v2.5" | cut -d: -f2 | tr -d ' \n' |
	sed 's/../\\x&/g' >example.hex
# shellcheck disable=SC2059	# the format is the data
env printf "$(cat example.hex)" >example.data
check "the example in ldb.data.v2(5) is a trace" "trace-cat example.data" 0 '^gap tid=7 begin=1000 end=1250$'
check "its second row" "trace-cat example.data gap" 0 '^gap tid=0 begin=900 end=950$'

# Every option must be in the manual page, and the page may have no others.  A text may have an
# option at the beginning of a line, too, further to the right.
ldb-record --help | sed -n 's/^ \{1,8\}\(-[a-zA-Z], \)\{0,1\}--\([a-z-]*\).*/\2/p' | sort >help.txt
sed -n 's/^\.It .*Fl -\([a-z-]*\).*/\1/p' "$TOP/Documentation/ldb-record.1" | sort >man.txt
ok "the manual page and --help have the same options" diff help.txt man.txt
finish
