# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that children are recorded: forked and executed ones, pipelines, daemons, children that
# change their user or end at once.  Their output or exit status must be as without ldb.
# Long: it waits for children, and for those of killed recorders.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/family.c" -o family || exit 1
cc_ldb -O2 -g "$PROGRAMS/forker.c" -o forker -pthread || exit 1
$CC -O2 -g -I"$TOP/libldb/include" "$PROGRAMS/forker.c" -o bare-forker -pthread || exit 1
$CC -O2 -g "$PROGRAMS/family.c" -o bare-family || exit 1

# Prints the number of recorded children in the summary.
nr_more()	# summary
{
	sed -n 's/^ldb-record: \([0-9]*\) more process.*recorded in the same file$/\1/p' "$1"
}

has_more()	# summary, number
{
	[ "$(nr_more "$1")" = "$2" ] && return
	diag "$(cat "$1")"
	return 1
}

has_function()	# trace, function
{
	ldb-report -i "$1" --function "$2" 2>/dev/null | grep -q "$2"
}

all_readable()	# trace: it and its children's traces
{
	for t in "$1" $(traces "$1"); do
		ldb-report -i "$t" >/dev/null 2>&1 || [ $? -eq 3 ] || return 1
	done
}

# Lists the children's traces, which exist while they are recorded.
traces()	# file
{
	for t in "$1".*; do
		case $t in *.old) continue ;; esac
		[ ! -e "$t" ] || echo "$t"
	done
}

./family prefork 3 10 >want.out
check "prefork: output and status" "ldb-record -o p.data -- ./family prefork 3 1500 2>p.err" 0 "$(cat want.out)"
ok "prefork: three more processes" has_more p.err 3
ok "prefork: the workers' functions are in the trace" has_function p.data worker
ok "prefork: there is one file" test -z "$(traces p.data)"

check "a pipeline of three: output and status" \
	"ldb-record -o l.data -- sh -c 'seq 300 | ./family stage a | ./family stage b | ./family stage c; exit 4' 2>l.err | tail -n 1; tail -n 1 l.err" 0 \
	'^c b a 300$'
ok "a pipeline: two more processes" has_more l.err 2
ok "a pipeline: their functions" has_function l.data stage
check "a pipeline: who is not instrumented is named" "cat l.err" 0 '^  not recorded: not instrumented: .*1 seq'
check "the shell's status" "ldb-record -o l2.data -- sh -c './family stage a </dev/null; exit 4'" 4

rm -f done.txt
check "a daemon: the command's status" "ldb-record -o d.data -- ./family daemon $WORK/done.txt 1500 2>d.err" 0
ok "a daemon: the recording ends with it" grep -q done done.txt
ok "a daemon: one more process" has_more d.err 1
ok "a daemon: its functions" has_function d.data worker

check "exec: status and output" "ldb-record -o x.data -- ./forker exec ./family stage x <want.out 2>x.err" 3 '^x family'
ok "exec: both programs are recorded" has_more x.err 1
check "vfork, posix_spawn, system, popen" "ldb-record -o w.data -- ./family ways </dev/null 2>w.err" 0 '^family: 12$'
ok "each of them is recorded" has_more w.err 4
check "children of children" "ldb-record -o g.data -- ./family deep 3 1200 2>g.err" 5
ok "each of them is recorded" has_more g.err 2

./bare-family storm 300 >want.out
check "300 children that end at once" "ldb-record -o s.data -- ./family storm 300 2>s.err" 0 "$(cat want.out)"
check "they are counted" "sed -n 's/.*ended at once: //p' s.err | awk '{ exit \$1 < 100 }'" 0
for how in "fork 20" "threads 20" "vfork 10"; do
	# shellcheck disable=SC2086	# how is two words
	./bare-forker $how >want.out
	check "$how" "ldb-record -o f.data -- ./forker $how 2>f.err" 0 "$(cat want.out)"
done

if [ "$(id -u)" = 0 ]; then
	chmod 755 "$WORK"
	check "a child that changes its user" "ldb-record -o u.data -- ./family user 1000 1500 2>u.err" 4
	ok "it is recorded" has_more u.err 1
	ok "its functions" has_function u.data worker

	# Another user fills the recorder's socket with connections that say nothing.
	cat >crowd.py <<-'END'
		import os, socket, time
		pid = os.getppid()
		while open(f"/proc/{pid}/comm").read() != "ldb-record\n":
		    pid = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])
		own = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
		rows = [line.split() for line in open("/proc/net/unix")]
		name = next(r[7][1:] for r in rows if f"socket:[{r[6]}]" in own and r[7:] and r[7].startswith("@ldb-record"))
		os.setuid(65534)
		held = []
		until = time.time() + 90
		while time.time() < until and not os.path.exists("stop"):
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    s.setblocking(False)
		    try:
		        s.connect("\0" + name)
		        held = held[-200:] + [s]
		    except OSError:
		        time.sleep(0.005)
		print(len(held) == 201, "were connected", flush=True)
	END
	if command -v python3 >/dev/null; then
		check "another user's connections: the recording ends" "timeout 60 ldb-record -o y.data -- sh -c \
			'python3 crowd.py >crowd.out & sleep 0.5; ./family prefork 3 1500' 2>y.err" 0
		touch stop
		ok "there were more connections than the recorder accepts" wait_for 20 "grep -q True crowd.out"
		ok "children are recorded all the same" has_more y.err 3
	else
		skip "another user's connections" "no python3"
	fi
else
	skip "a child that changes its user" "not root"
fi
check "a child that filters its system calls" "ldb-record -o b.data -- ./family filter 1000 2>b.err" 6

# The environment is the user's own, also after env -i.
check "children do not see ldb's variables" \
	"ldb-record -o e.data -- env -i PATH=\"\$PATH\" ./forker exec env" 0 'PATH='
check_not "not one of them" "ldb-record -o e.data -- env -i PATH=\"\$PATH\" ./forker exec env" 0 'LDB_|LD_PRELOAD'
if $CC -O1 -g -fsanitize=address "$PROGRAMS/family.c" -o asan-family 2>/dev/null; then
	check "a child with AddressSanitizer runs" "ldb-record -o a.data -- sh -c './asan-family stage x <want.out'" 3 '^x '
else
	skip "a child with AddressSanitizer runs" "no libasan"
fi
if $CC -O1 -g -static "$PROGRAMS/family.c" -o static-family 2>/dev/null; then
	check "a static child runs" "ldb-record -o a.data -- ./forker exec ./static-family stage x <want.out" 3 '^x '
else
	skip "a static child runs" "no static libc"
fi

check "without children" "ldb-record --no-children -o n.data -- ./family prefork 2 300" 0 '^family: 3$'
ok "there is one trace" test -z "$(traces n.data)"
check "without children a pipeline does not wait" \
	"ldb-record --no-children -o n.data -- sh -c 'echo 1 | timeout 8 ./family stage a | timeout 8 ./family stage b'" 3 '^b a 1$'

# A process or its recorder is killed: all traces must be readable, and nothing may hang.
for victim in first child recorder; do
	ldb-record -o k.data -- ./family prefork 2 4000 >k.out 2>k.err &
	recorder=$!
	wait_for 20 "[ \$(traces k.data | wc -l) -eq 2 ]"
	first=$(pgrep -P $recorder -x family | head -n 1)
	# A recorder may preempt a request, and then the cause is the recorder's name.
	ok "recorders of children have its name, too" wait_for 20 '[ "$(pgrep -P $recorder -c -x ldb-record)" -eq 2 ]'
	case $victim in
	first) kill -9 "$first" ;;
	child) kill -9 "$(pgrep -P "$first" | head -n 1)" ;;
	recorder)
		oracle_cut k.data
		kill -9 $recorder
		;;
	esac
	wait $recorder
	status=$?
	case $victim in
	first) ok "the first process is killed: status 137" test $status -eq 137 ;;
	child) ok "a child is killed: status 0" test $status -eq 0 ;;
	recorder) ok "the recorder is killed: status 137" test $status -eq 137 ;;
	esac
	wait_for 20 "! pgrep -f '[l]db-record -o k.data' >/dev/null"
	ok "kill -9 of the $victim: what was recorded is readable" \
		all_readable k.data
	rm -f k.data k.data.*
done

finish
