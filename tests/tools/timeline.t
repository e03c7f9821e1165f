# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-timeline on traces with known content.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS
report-trace figure1 ldb.data && report-trace plain plain.data && report-trace hostile hostile.data ||
	exit 1

check "the sentence" "ldb-timeline" 0 '^req 4711: 12\.8 ms \(p50 .*\): 12\.5 ms waiting for mutex 0x[0-9a-f]+ \(db_lock\).*, held by snapshot\(\) report-trace\.c:[0-9]+ of thread snapshotter 2'
check "the picture: the request's thread" "ldb-timeline" 0 '^main 1 works on the request'
check "its functions" "ldb-timeline" 0 '^ +\|request_handler=='
check "its wait" "ldb-timeline" 0 '^  waits for +\|db_lockwww'
check "a thread that blocks the request" "ldb-timeline" 0 '^snapshotter 2 blocks the request'
check "its lock" "ldb-timeline" 0 '^  holds +\|db_lock###'
check "the list" "ldb-timeline" 0 '^ +200ns +12\.5ms .* main 1 .* waits for mutex'
check "what held it up is marked" "ldb-timeline" 0 ' ! .*snapshot\(\) \(a part\)'
check "observed calls of calls" "ldb-timeline" 0 'observed calls: 20 of 2\.00 k'
check "losses" "ldb-timeline" 0 '3 records lost'
check "80 columns: the picture fits" "COLUMNS=80 ldb-timeline | sed -n '/^  *0  */,/^\$/p' | awk 'length > 80' | wc -l" 0 '^0$'

check "an id that occurs twice is listed" "ldb-timeline --req=4711" 0 '^req 4711 occurs 2 times'
check "the slowest is shown" "ldb-timeline --req=4711" 0 '^req 4711: 12\.8 ms'
check "--nth" "ldb-timeline --req=4711 --nth=2" 0 '^req 4711: 500 ns'
check_one_line "--nth too far" "ldb-timeline --req=4711 --nth=3" 1 'occurs 2 times'
ldb-timeline --req 4711 --json >t.json
check_jq "an object" t.json '.req == 4711 and .occurrences == 2 and .nth == 1 and .complete and .p50_ns > 0'
check_jq "times" t.json '.start_ns == 30000000 and .end_ns == 42750000 and .latency_ns == 12750000'
check_jq "the function" t.json '.segments | any(.kind == "function" and .name == "request_handler" and .tid == 1 and
	.thread == "main" and .start_ns == 30000100 and .end_ns == 42700000 and .resolution_ns == 50 + 50
	and .line == .call_line and .func_line > 0 and (has("blocks_req") | not))'
check_jq "the wait" t.json '.segments | any(.kind == "lock_wait" and .name == "db_lock" and .owner == 2 and
	.end_ns - .start_ns == 12499800 and .lock_kind == "mutex")'
check_jq "the hold" t.json '.segments | any(.kind == "lock_hold" and .tid == 2 and .blocks_req == 4711 and
	.start_ns == 30000200 and .end_ns == 42499500 and .full_start_ns == 29940000 and (.inferred | not))'
check_jq "what the holder executed" t.json '.segments | any(.kind == "function" and .name == "snapshot" and .tid == 2 and
	.blocks_req == 4711 and .end_ns == 42499000)'
check_jq "segments in order of their start" t.json '[.segments[].start_ns] | . == sort'
check_jq "the causes add up to the latency" t.json '([.causes[].total_ns] | add) == .latency_ns'
check "--slowest --json is an array" "ldb-timeline --slowest=3 --json | jq -c '[.[].req]'" 0 '^\[4711,'
check "--slowest" "ldb-timeline --slowest=3 | grep -c '^req '" 0 '^3$'
check "--class" "ldb-timeline --class=GET --json | jq -r '.[0].class'" 0 '^GET$'
check "--from" "ldb-timeline --from=45ms --json | jq '.[0].latency_ns'" 0 '^500$'
check "--csv" "ldb-timeline --csv" 0 '^4711,2,snapshotter,lock_hold,30000200,42499500,db_lock,'
check "--top" "ldb-timeline --top=1" 0 'shorter ones are not listed'
check "-o" "ldb-timeline --req 4711 -o out.json --json && jq .req out.json" 0 '^4711$'

# Tests pages; tests/browser/timeline.t tests them in a browser.
check "-o FILE.html writes a page" "ldb-timeline -o out.html && head -n 1 out.html" 0 '^<!DOCTYPE html>$'
check_not "which loads nothing: there is no address in it" "grep -oE '(src|href)=[^ >]*' out.html | grep -v 'href=\"data:,\"'" 1 '.'
check "and so does -o FILE.HTM" "ldb-timeline --req=4711 -o OUT.HTM && head -n 1 OUT.HTM" 0 '^<!DOCTYPE html>$'
check "--json is JSON, whatever the name" "ldb-timeline --req 4711 --json -o json.html && jq .req json.html" 0 '^4711$'
check_one_line "a page of a request that is not there" "ldb-timeline --req=999 -o none.html" 1 '999.*ldb-report --requests'
ln -s /dev/full full.html
check_one_line "a full disk is reported" "ldb-timeline -o full.html" 1 '^ldb-timeline: cannot write full.html: No space left'
check_one_line "a folder that is not there" "ldb-timeline -o missing/out.html" 1 'cannot write missing/out.html'
ln ldb.data same.html
check_one_line "the trace itself" "ldb-timeline -i ldb.data -o same.html" 1 'is the trace itself'
check "no requests: a page all the same" "ldb-timeline -q -i plain.data -o plain.html && grep -c '</html>' plain.html" 0 '^1$'
check_not "no control characters in a page" "ldb-timeline -q -i hostile.data -o hostile.html; cat hostile.html" 0 "$(printf '\033')"

check_one_line "a request that is not there" "ldb-timeline --req=999" 1 '999.*ldb-report --requests'
check "no requests" "ldb-timeline -i plain.data" 0 'ldb_req_start'
check "no such class" "ldb-timeline --class=NONE" 0 '^no request matches --class'
check "none in that time" "ldb-timeline --from=90ms" 0 '^no request matches --from'
check_not "which does not mean that none was tagged" "ldb-timeline --from=90ms --class=GET" 0 'ldb_req_start'
check_one_line "--req of another class" "ldb-timeline --req=4711 --class=GET" 1 '4711 in this selection'
check "no requests, JSON" "ldb-timeline -i plain.data --slowest 2 --json | jq -c ." 0 '^\[\]$'
check_not "no control characters in the text" "ldb-timeline -q -i hostile.data" 0 "$(printf '\033')"
check "the greatest id" "ldb-timeline -q -i hostile.data --req=18446744073709551615" 0 '^req 18446744073709551615'
ok "and it is JSON" eval "ldb-timeline -q -i hostile.data --slowest 1 --json | jq -e . >/dev/null"
# This trace has more than one block of each table, and a request needs few of them.
bench-trace many.data 300000 >many.txt || exit 1
cp many.data hurt.data
# The middle of the file has functions of much later requests than the third one, and is damaged
# here.
printf 'damaged here' | dd of=hurt.data bs=1 seek=$(($(wc -c <many.data) / 2)) conv=notrunc 2>/dev/null
ldb-timeline -i many.data --req 3 --json >whole.json
check "--req: damage elsewhere does not matter" "ldb-timeline -i hurt.data --req 3 --json | cmp - whole.json" 0
check_one_line "--verify: but is reported" "ldb-timeline -i hurt.data --req 3 --verify" 3 'damaged: 1 block left out'
check "--verify: of a whole trace" "ldb-timeline -q -i many.data --req 3 --verify" 0 '^req 3'
check_one_line "without --req it is reported" "ldb-timeline -i hurt.data" 3 'damaged: 1 block left out'
middle=$(($(sed 's/.*; \([0-9]*\) requests.*/\1/' many.txt) / 2))
check_one_line "damage in what --req needs is reported" "ldb-timeline -i hurt.data --req $middle" 3 'damaged: 1 block left out'
check_one_line "--verify alone" "ldb-timeline --verify" 2 'goes with --req'

check_one_line "--req and --slowest" "ldb-timeline --req=1 --slowest=1" 2 'give one'
check_one_line "--nth alone" "ldb-timeline --nth=1" 2 'goes with --req'
check_one_line "no number" "ldb-timeline --req=abc" 2 "'abc'"
check_one_line "no trace" "ldb-timeline -i missing" 1 '^ldb-timeline: .*missing'
size=$(wc -c <ldb.data)
head -c $((size - 10)) ldb.data >cut.data
check_one_line "a trace without its end" "ldb-timeline -i cut.data" 3 '^ldb-timeline: '
check "is shown all the same" "ldb-timeline -i cut.data 2>/dev/null" 3 '^req 4711: '
report-trace calls calls.data
check "a system call" "ldb-timeline -i calls.data --req=100" 0 ' read\(a pipe, 4096\) = 512 '
check "and its error" "ldb-timeline -i calls.data --req=7" 0 ' poll\(4096\) = EINTR '
check "and the sleep in it" "ldb-timeline -i calls.data --req=100" 0 ' blocked \(sleeping\) in read\(a pipe\), woken by an interrupt '
check "in the sentence, too" "ldb-timeline -i calls.data --req=100" 0 \
	'^req 100: 5\.10 ms .*: 5\.00 ms blocked \(sleeping\) in request_handler\(\), in read\(a pipe\), until an interrupt woke it$'
ldb-timeline -q -i calls.data --req=100 --json >c.json
check_jq "in JSON" c.json '(.segments | any(.kind == "syscall" and .name == "read" and .syscall == "read" and
	.descriptor == "a pipe" and .result == 512 and .arg0 == "0x3" and .end_ns - .start_ns == 5002000)) and
	(.segments | any(.kind == "blocked" and .syscall == "read" and .descriptor == "a pipe" and (has("result") | not)))'
check_jq "and as a cause" c.json '.causes[0] | .kind == "sleep" and .label == "read of a pipe" and .total_ns == 5000000'
# The call took 22 us, in 20 of which the thread slept.  The rest belongs to the function that made
# the call.
check_jq "how much of a function was in system calls" c.json '[.causes[] | select(.kind == "function" and .name == "request_handler") |
	[.syscall_ns, .syscalls]] == [[2000, 1]]'
check "in words" "ldb-timeline -i calls.data --req=7" 0 'of self time in request_handler\(\)[^;]*, 2\.00 us of it in 1 system call;'
report-trace disk disk.data
check "a sleep says how much of it the disk worked" "ldb-timeline -i disk.data --req=30" 0 \
	'  3\.00ms .* blocked \(disk\) in fdatasync\(svc\.dat\), of this 2\.00 ms in nvme0n1, woken by '
check "for its second sleep, too" "ldb-timeline -i disk.data --req=30" 0 ', of this 1\.50 ms in nvme0n1, woken by jbd2/nvme0n1'
check "and the sentence" "ldb-timeline -i disk.data --req=30" 0 'in fdatasync\(svc\.dat\), of this 3\.50 ms in nvme0n1'
ldb-timeline -q -i disk.data --req=30 --json >d.json
check_jq "in JSON: of each sleep" d.json '[.segments[] | select(.kind == "blocked") | [.device, .device_ns, .device_bytes, .device_requests]] ==
	[["nvme0n1", 2000000, 12288, 2], ["nvme0n1", 1500000, 512, 1]]'
check_jq "and of all" d.json '.causes[0] | .kind == "io" and .total_ns == 6000000 and .device_requests == 3 and .device == "nvme0n1" and .device_ns == 3500000'
check_jq "no sleep without a disk has one" c.json '.segments | all(has("device") | not)'
report-trace noted noted.data
check "what was noted of a request" "ldb-timeline -i noted.data --note tenant=7 --note 'bytes>64K'" 0 '^noted: tenant=7, bytes=[0-9]+, shard='
check "and what it marked" "ldb-timeline -i noted.data --note tenant=7" 0 '^events: compaction [0-9]+ at 1\.00 ms \(.*\)$'
check "in the picture, too" "ldb-timeline -i noted.data --note tenant=7" 0 '^  events +\^$'
check_not "a note that was replaced is not shown" "ldb-timeline -i noted.data --slowest 50" 0 'not the last'
check_not "nor one of a request that is over" "ldb-timeline -i noted.data --req 4711" 0 'late|of no request'
check "a control of two bytes is one character, and nothing is printed twice" "ldb-timeline -i noted.data --req 4711" 0 \
	'^noted: bytes=18446744073709551615, shard=a\?z$'
ldb-timeline -q -i noted.data --req 4711 --json >n.json
check_jq "events of the request and of what blocked it" n.json '[.events[] | [.name, .value, .at_ns - 12000000000, has("blocks_req")]] ==
	[["merge", 3, 5000000, true], ["retry", -1, 9500000, false]]'
ok "the greatest number is as it was noted" grep -q '"number": *18446744073709551615' n.json
selected()	# condition: prints how many ended requests match
{
	ldb-report -q -i noted.data --requests --json --note "$1" | jq '.requests[0].count // 0'
}
all=$(ldb-report -q -i noted.data --requests --json | jq '.requests[0].count')
ok "a number is above, at or below another" test "$(($(selected 'bytes>64K') + $(selected 'bytes=64K') + $(selected 'bytes<64K')))" = "$all"
ok "with the number itself" test "$(selected 'bytes<=64K')" = "$(($(selected 'bytes=65536') + $(selected 'bytes<65536')))"
ok "a text matches a glob" test "$(($(selected 'shard=l*') + $(selected 'shard=?ight')))" = "$((all - 1))"
ok "no text is above a number" test "$(selected 'tenant>0')" = 0
check "no such note" "ldb-timeline -i noted.data --note tenant=99" 0 '^no request matches --note'
check_one_line "no condition" "ldb-timeline -i noted.data --note tenant" 2 'KEY=GLOB'
check_one_line "no number to compare with" "ldb-timeline -i noted.data --note 'bytes>many'" 2 'KEY>NUMBER'
check "--help has examples" "ldb-timeline --help" 0 '^examples:'

finish
