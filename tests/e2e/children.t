# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that children are recorded: forked and executed ones, pipelines, daemons, children that
# change their user or end at once.  Output and status are as without ldb, in each of them.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/family.c" -o family || exit 1
cc_ldb -O2 -g "$PROGRAMS/forker.c" -o forker -pthread || exit 1
$CC -O2 -g -I"$TOP/libldb/include" "$PROGRAMS/forker.c" -o bare-forker -pthread || exit 1
$CC -O2 -g "$PROGRAMS/family.c" -o bare-family || exit 1

# Traces of children: each whose name is the first one's and a number.
traces()	# file
{
	for t in "$1".*; do
		case $t in *.old) continue ;; esac
		[ ! -e "$t" ] || echo "$t"
	done
}

# How many of them contain calls of a function.
nr_with()	# file, function
{
	nr_with=0
	for t in $(traces "$1"); do
		if ldb-report -i "$t" --function "$2" 2>/dev/null | grep -q "$2"; then
			nr_with=$((nr_with + 1))
		fi
	done
	echo $nr_with
}

count()		# how many, command: prints that many lines
{
	eval "$2" | wc -l | tr -d ' '
}

./family prefork 3 10 >want.out
check "prefork: output and status" "ldb-record -o p.data -- ./family prefork 3 1500 2>p.err" 0 "$(cat want.out)"
ok "prefork: three more traces" test "$(count 3 'traces p.data')" -eq 3
ok "prefork: each worker's functions are in one" test "$(nr_with p.data worker)" -eq 3
check "prefork: the summary names them" "cat p.err" 0 '^ldb-record: 3 more processes recorded:'
for t in $(traces p.data); do
	check "prefork: the trace says whose child it is" "ldb-export -i $t -o meta.db sqlite && ldb-report -i $t" 0 'worker'
done

check "a pipeline of three: output and status" \
	"ldb-record -o l.data -- sh -c 'seq 300 | ./family stage a | ./family stage b | ./family stage c; exit 4' 2>l.err | tail -n 1; tail -n 1 l.err" 0 \
	'^c b a 300$'
ok "a pipeline: two more traces" test "$(count 2 'traces l.data')" -eq 2
ok "a pipeline: their functions" test "$(nr_with l.data stage)" -eq 2
check "a pipeline: the first one's, too" "ldb-report -i l.data --function stage" 0 stage
check "a pipeline: who has no records is named" "cat l.err" 0 '^  not recorded: without records: .*1 seq'
check "the shell's status" "ldb-record -o l2.data -- sh -c './family stage a </dev/null; exit 4'" 4

rm -f done.txt
check "a daemon: the command's status" "ldb-record -o d.data -- ./family daemon $WORK/done.txt 1500 2>d.err" 0
ok "a daemon: the recording ends with it" grep -q done done.txt
ok "a daemon: its functions" test "$(nr_with d.data worker)" -eq 1

check "exec: status and output" "ldb-record -o x.data -- ./forker exec ./family stage x <want.out" 3 '^x family'
ok "exec: the second program has a trace" test "$(count 1 'traces x.data')" -eq 1
check "vfork, posix_spawn, system, popen" "ldb-record -o w.data -- ./family ways </dev/null 2>w.err" 0 '^family: 12$'
ok "each of them has a trace" test "$(count 4 'traces w.data')" -eq 4
check "children of children" "ldb-record -o g.data -- ./family deep 3 1200" 5
ok "each of them has a trace" test "$(count 2 'traces g.data')" -eq 2

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
	ok "its functions" test "$(nr_with u.data worker)" -eq 1
else
	skip "a child that changes its user" "not root"
fi
check "a child that filters its system calls" "ldb-record -o b.data -- ./family filter 1000 2>b.err" 6

# The environment is the user's own, also behind env -i.
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
ok "there are no more traces" test "$(count 0 'traces n.data')" -eq 0
check "without children a pipeline does not wait" \
	"ldb-record --no-children -o n.data -- sh -c 'echo 1 | timeout 8 ./family stage a | timeout 8 ./family stage b'" 3 '^b a 1$'

# A process dies, or its recorder does: all other traces are whole, and nothing hangs.
for victim in first child recorder; do
	ldb-record -o k.data -- ./family prefork 2 4000 >k.out 2>k.err &
	recorder=$!
	wait_for 20 "[ \$(traces k.data | wc -l) -eq 2 ]"
	first=$(pgrep -P $recorder -x family | head -n 1)
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
	ok "kill -9 of the $victim: all three traces are readable" \
		eval 'for t in k.data $(traces k.data); do ldb-report -i $t >/dev/null 2>&1 || [ $? -eq 3 ] || exit 1; done'
	rm -f k.data k.data.*
done

finish
