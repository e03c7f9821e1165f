# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that an impossible operation is reported in one line, with the right exit status.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/server.c" -o server -pthread || exit 1
# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/server.c" -o linked -pthread $link_runtime || exit 1
$CC -O2 -I"$TOP/libldb/include" "$PROGRAMS/server.c" -o bare -pthread || exit 1
cxx_ldb -O2 -g "$PROGRAMS/figure1.cc" -o figure1 -pthread || exit 1

# Usage: status 2.
check "no arguments" "ldb-record" 2 'ldb-record'
check_one_line "an unknown option: record" "ldb-record --no-such-option" 2 '^ldb-record: .*no-such-option'
check_one_line "an unknown option: report" "ldb-report --no-such-option" 2 '^ldb-report: .*no-such-option'
check_one_line "an unknown option: timeline" "ldb-timeline --no-such-option" 2 '^ldb-timeline: .*no-such-option'
check_one_line "a budget that is none" "ldb-record --budget much -- true" 2 '^ldb-record: .*much'
check_one_line "an unknown sort key" "ldb-report -i /dev/null --sort beauty" 2 '^ldb-report: .*beauty'
check_one_line "both -p and a command" "ldb-record -p 1 -- true" 2 '^ldb-record: '
check "--help: record" "ldb-record --help" 0 '\-\-budget'
check "--help: report" "ldb-report --help" 0 '\-\-json'
check "--help: timeline" "ldb-timeline --help" 0 '\-\-slowest'
for tool in ldb-record ldb-report ldb-timeline; do
	check "--version: $tool" "$tool --version" 0 '[0-9]+\.[0-9]+'
done

# Wrong targets.
check_one_line "no such process" "ldb-record -p 4194999 -d 1 -o x.data" 1 '^ldb-record: .*4194999'
check_one_line "not a pid" "ldb-record -p abc -d 1 -o x.data" 2 '^ldb-record: .*abc'
check_one_line "no such program" "ldb-record -o x.data -- ./no-such-program" 1 '^ldb-record: .*no-such-program'
echo text >text.txt
check_one_line "not executable" "ldb-record -o x.data -- ./text.txt" 1 '^ldb-record: .*text\.txt'

./bare >bare.out 2>&1 & bare=$!
./server >server.out 2>&1 & server=$!
at_end "kill $bare $server 2>/dev/null || :"
sleep 0.2
check_one_line "no runtime to load" "ldb-record --libldb ./none -p $bare -d 1 -o x.data" 1 '^ldb-record: cannot use ./none as the runtime'
check_one_line "a runtime that is none" "ldb-record --libldb ./text.txt -p $server -d 1 -o x.data" 1 '^ldb-record: process .* cannot load the runtime: .*text.txt'
ok "both run on" kill -0 "$bare" "$server"
run_cmd "ldb-record -o x.data -- ./bare 1"
ok "an uninstrumented program is named in one line" eval \
	"test \"\$(printf '%s\n' \"\$out\" | grep -c '^ldb-record: .*\\(plugin\\|instrument\\)')\" -eq 1"
diag "status $status: $out"

# These tests write the trace to places where there can be none.
check_one_line "no such folder" "ldb-record -o no/such/folder/x.data -- ./server 1" 1 '^ldb-record: .*no/such/folder'
check_one_line "the output is a folder" "ldb-record -o . -- ./server 1" 1 '^ldb-record: '

# Permission.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	./linked >linked.out 2>&1 & linked=$!
	at_end "kill $linked 2>/dev/null || :"
	sleep 0.2
	cp "$BUILD/bin/ldb-record" record-copy
	chmod 755 "$WORK"
	mkdir -m 777 open
	check_one_line "no permission for the process" \
		"setpriv --reuid=65534 --regid=65534 --clear-groups ./record-copy -p $linked -d 1 -o open/x.data" 1 \
		'^[a-z-]*record[a-z-]*: .*(permission|not permitted|not allowed|owner|user)'
	check_one_line "no permission for the output" \
		"setpriv --reuid=65534 --regid=65534 --clear-groups ./record-copy -o /x.data -- ./server 1" 1 \
		'^[a-z-]*record[a-z-]*: .*(ermission|not permitted)'
	ok "the process runs on" kill -0 "$linked"
	check_not "root can still attach" "ldb-record -p $linked -d 0.5 -o root.data" 0 'as root'
	setpriv --reuid=65534 --regid=65534 --clear-groups ./linked >other.out 2>&1 & other=$!
	at_end "kill $other 2>/dev/null || :"
	sleep 0.2
	check "root records another user's program: it says so" \
		"ldb-record -p $other -d 0.5 -o root.data 2>&1 | grep -c ' as root'" 0 '^1$'
	check "in these words" "ldb-record -p $other -d 0.5 -o root.data" 0 \
		"^ldb-record: recording process $other of user 65534 as root$"
	check_not "-q: it does not" "ldb-record -q -p $other -d 0.5 -o root.data" 0 'root'
	check "root starts a program: it says so" "ldb-record -o root.data -- ./linked 1" 0 \
		'^ldb-record: process [0-9]+, ./linked, runs as root, as ldb-record does$'
	kill "$other"
else
	skip "no permission" "needs root and setpriv"
fi

# When the disk is full, the recording ends, or continues and counts its losses; one line says so.
# The program ends as usual.
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=700k none small 2>/dev/null; then
	at_end "umount '$WORK/small'"
	ldb-record -o small/x.data -- ./figure1 -s 4 >full.out 2>full.err
	status=$?
	# Status 1 is right, too: the recording failed.
	ok "full disk: the program's exit status, or 1" test "$status" -le 1
	ok "full disk: the program's output" grep -q '^figure1: ' full.out
	ok "full disk: one line says so" eval \
		"test \"\$(tr '\\r' '\\n' <full.err | grep -c '^ldb-record: .*\\(space\\|full\\|disk\\)')\" -eq 1"
	diag "status $status: $(tr '\r' '\n' <full.err | tail -n 4)"
	run_cmd "ldb-report -i small/x.data"
	ok "full disk: what was written opens" test "$status" -eq 0 -o "$status" -eq 3
	cp /dev/zero small/fill 2>/dev/null
	check "full from the start: one line" \
		"ldb-record -o small/y.data -- ./figure1 -n 1000 2>&1 >/dev/null | grep -c '^ldb-record: .*\\(space\\|full\\|disk\\)'" 0 '^1$'
else
	check_one_line "a file size limit" "(ulimit -f 128; ldb-record -o x.data -- ./server 1)" 1 '^ldb-record: .*large'
fi

finish
