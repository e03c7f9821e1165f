# SPDX-License-Identifier: GPL-2.0-or-later
# Tests --queue: items that pass USDT probes of the program, when they are put into a queue and
# taken out, are requests, with the waits, threads and names that the program itself notes.  The
# program takes the time before and after each probe, so it does not matter how long a probe takes.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/json.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
need_build
command -v sqlite3 >/dev/null || skip_all "no sqlite3"
[ "$(id -u)" = 0 ] || skip_all "no right to define probes of the kernel"

cc_ldb -O2 -g -Wall "$PROGRAMS/usdt-pool.c" -o pool && cc_ldb -O0 -g -Wall "$PROGRAMS/usdt-pool.c" -o slow-pool &&
	$CC -O2 -g -Wall -shared -fPIC -Dmain=pool_main "$PROGRAMS/usdt-pool.c" -o libpool.so || exit 1
printf 'int pool_main(int argc, char **argv);\nint main(int argc, char **argv) { return pool_main(argc, argv); }\n' >main.c
cc_ldb -O2 -g main.c -o lib-pool -L. -lpool -Wl,-rpath,"$PWD" || exit 1

record_options='--queue=folly'
record_apart try.data ./pool 2 >try.out 2>&1
grep -q 'tracefs\|uprobe_events' try.out && skip_all "$(grep 'tracefs\|uprobe_events' try.out | head -n 1)"

# Writes the items that the program printed, and those of the trace, into tables of both.db.
read_both()	# file
{
	sed -n 's/^\([0-9-]* [A-Za-z]*Pool\)/\1/p' program.out | tr ' ' , >program.csv
	rm -f both.db
	ldb-export -q -i "$1" -o both.db sqlite
	sqlite3 both.db "create table program (item, pool, producer, worker, put0 integer, put1 integer, taken0 integer,
		taken1 integer, done0 integer, done1 integer)" '.mode csv' '.import program.csv program'
	sqlite3 both.db "create view item as select r.req item, r.class class, r.complete complete, q.queue_name queue,
			a.tid producer, b.tid worker, c.tid ran, q.duration_ns waited, w.duration_ns worked
		from request r join part q on q.request = r.id and q.kind = 'queue' join thread a on a.id = q.thread
			join thread b on b.id = q.to_thread
			left join part w on w.request = r.id and w.kind = 'thread' left join thread c on c.id = w.thread"
	error_ns=$(trace-cat "$1" | sed -n 's/^meta .*queue_err_ns value=//p')
	error_ns=${error_ns:-0}
}

# Prints the program's items that the trace lacks, or for which the condition is not true.
wrong()	# SQL for the id of a request, SQL condition
{
	sqlite3 both.db "select * from program p left join item i on cast(i.item as text) = $1 where i.item is null or not ($2)"
}

exact()	# what, program
{
	exact_what=$1
	check "$exact_what: recorded" "record_apart q.data ./$2 200 50 1000 >program.out" 0
	read_both q.data
	ok "$exact_what: as many as there were" [ "$(sqlite3 both.db 'select count(*) from item')" = 200 ]
	wrong p.item 'i.queue = p.pool and i.class = p.pool and i.complete' >"$WORK/list"
	ok_empty "$exact_what: each in its queue"
	wrong p.item 'i.producer = p.producer and i.worker = p.worker and i.ran = p.worker' >"$WORK/list"
	ok_empty "$exact_what: who put it in, and who took it out"
	wrong p.item "i.waited between p.taken0 - p.put1 - $error_ns and p.taken1 - p.put0 + $error_ns" >"$WORK/list"
	ok_empty "$exact_what: how long it waited"
	wrong p.item "i.worked between p.done0 - p.taken1 - $error_ns and p.done1 - p.taken0 + $error_ns" >"$WORK/list"
	ok_empty "$exact_what: how long it took"
}

exact "in registers" pool
exact "on the stack" slow-pool
exact "in a library" lib-pool
check "the summary says how many" "record_apart q.data ./pool 20 2>&1 >/dev/null" 0 'items of queues: 20 put, 20 taken, 0 lost'
check "a timeline has the queue" "ldb-timeline -q -i q.data --req 1010" 0 'in queue CPUPool +usdt-pool.c:'
check "and what the worker did before" "ldb-timeline -q -i q.data --req 1012" 0 'behind other requests of class CPUPool|in queue CPUPool'

# Tests a semaphore, negative item numbers, a queue without a probe for the end, and a queue with a
# name of its own.
record_options='--queue=mine:put,take'
negative="'18446744073709' || (551616 - p.item)"	# SQL has no numbers near 2^64
check "with semaphores: recorded" "record_apart s.data ./pool 100 50 500 >program.out" 0
read_both s.data
wrong "$negative" "i.queue = 'mine:put' and i.producer = p.producer and i.worker = p.worker and i.complete" >"$WORK/list"
ok_empty "with semaphores: each item"
wrong "$negative" "i.waited between p.taken0 - p.put1 - $error_ns and p.taken1 - p.put0 + $error_ns" >"$WORK/list"
ok_empty "with semaphores: how long it waited"
ok "without a probe for the end it is a request as long as it waits" \
	[ "$(sqlite3 both.db 'select count(*) from request r join item i on i.item = r.req where r.latency_ns != i.waited')" = 0 ]

record_options='--queue=folly --queue=mine:nowhere,take'
check "one of two cannot be recorded" "record_apart two.data ./pool 20 50 2>&1 >program.out" 0 '^ldb-record: warning: --queue=mine:nowhere,take: its items'
check "the other one is" "ldb-report -q -i two.data --requests --json >two.json" 0
check_jq "the other one is: all items" two.json '.requests[0].count == 20'

./pool 60000 50 100 >attached.out &
pid=$!
check "attached" "ldb-record -q --queue=mine:put,take -d 500ms -p $pid -o attached.data && ldb-report -q -i attached.data --requests --json >attached.json" 0
if kill -0 "$pid" 2>/dev/null; then
	check_jq "attached: it has items" attached.json '.requests[0].count > 0'
	wait "$pid"
	check "the semaphores are as before" "tail -n 1 attached.out" 0 '^semaphores 0 0$'
else
	skip "attached: it has items" "the program had ended before"
fi
check "no probe is left" "grep -c ldb_ /sys/kernel/tracing/uprobe_events || true" 0 '^0$|No such file'

# If a queue cannot be followed, one line says so, but the program runs and is recorded.  The
# program runs long enough for a recorder without a CPU to read its files.
not_recorded()	# what, word, program, why
{
	record_options="--queue=$2"
	check "$1" "record_apart none.data ./$3 300 50 2000 2>&1" 0 "warning: --queue=.*: its items are not recorded: $4"
}
cat >odd.c <<'END'
#include <unistd.h>
#include "usdt.h"
int main(void)
{
	USDT_NOTE("odd", "put", "0", "8@(%%rax,%%rbx,8)", USDT_ARG(0));
	USDT_NOTE("odd", "take", "0", "8@%%rax", USDT_ARG(0));
	return usleep(200000);
}
END
cc_ldb -O2 -I"$PROGRAMS" odd.c -o odd || exit 1
objcopy --dump-section .note.stapsdt=notes pool
head -c -20 notes >short
objcopy --update-section .note.stapsdt=short pool truncated 2>/dev/null
printf '\377' | dd of=notes bs=1 seek=20 conv=notrunc 2>/dev/null
objcopy --update-section .note.stapsdt=notes pool elsewhere
not_recorded "no such probe" folly:nowhere,nothing pool 'nowhere: the program has no such probe'
not_recorded "no such provider" nobody:put,take pool 'put: the program has no such probe'
not_recorded "no probe for the end" mine:put,take,nothing pool 'nothing: the program has no such probe'
not_recorded "no such argument" mine:put:2,take pool 'put: it has 1 argument, and no number 2'
not_recorded "an address with an index" odd:put,take odd 'put: its argument 1 is 8@\(%rax,%rbx,8\), which the kernel.s probes cannot read'
not_recorded "notes that are cut off" folly truncated "thread_pool_executor_task_stats: the file.s notes of probes are damaged|.*: the file's notes of probes are damaged"
not_recorded "a place without a nop" mine:put,take elsewhere "put: the file's notes of probes are damaged"
# The program has valid places of the probe, and the library has one that is damaged.
objcopy --dump-section .note.stapsdt=notes libpool.so
printf '\377' | dd of=notes bs=1 seek=20 conv=notrunc 2>/dev/null
mkdir damaged
objcopy --update-section .note.stapsdt=notes libpool.so damaged/libpool.so
cat >both.c <<'END'
#include "usdt.h"
int pool_main(int argc, char **argv);
int main(int argc, char **argv)
{
	USDT_NOTE("mine", "put", "0", "8@%0", USDT_ARG(0L));
	USDT_NOTE("mine", "take", "0", "8@%0", USDT_ARG(0L));
	return pool_main(argc, argv);
}
END
cc_ldb -O2 -I"$PROGRAMS" both.c -o both -Ldamaged -lpool -Wl,-rpath,"$PWD/damaged" || exit 1
not_recorded "a damaged library beside a program that is not" mine:put,take both \
	"put: the file's notes of probes are damaged"

# Item 5 is dropped without a probe, and its number is used again.
cat >dropped.c <<'END'
#include <unistd.h>
#include "usdt.h"
int main(void)
{
	for (long i = 0; i < 2; i++) {
		USDT_NOTE("drop", "put", "0", "8@%0", USDT_ARG(5L));
		usleep(100000);
	}
	for (long i = 5; i < 7; i++) {
		USDT_NOTE("drop", "take", "0", "8@%0", USDT_ARG(i));
		usleep(100000);
		USDT_NOTE("drop", "done", "0", "8@%0", USDT_ARG(i));
	}
	return 0;
}
END
cc_ldb -O2 -I"$PROGRAMS" dropped.c -o dropped || exit 1
record_options=--queue=drop:put,take,done
record_apart dropped.data ./dropped >/dev/null 2>&1
rm -f dropped.db
ldb-export -q -i dropped.data -o dropped.db sqlite
dropped=$(sqlite3 dropped.db "select r.req, r.complete, count(q.id) from request r left join part q on
	q.request = r.id and q.kind = 'queue' group by r.id order by r.start_ns" | xargs)
ok "an item that was dropped and the next of its number are two" [ "$dropped" = "5|0|1 5|1|1 6|1|0" ]

# The file was removed, but the program still has it mapped.
cp pool gone
./gone 60000 50 100 >gone.out &
pid=$!
n=0
while [ "$n" -lt 100 ] && ! readlink "/proc/$pid/exe" | grep -q '/gone$'; do
	sleep 0.05
	n=$((n + 1))
done
rm gone
check "a program whose file was removed" "ldb-record --queue=mine:put,take -d 500ms -p $pid -o gone.data 2>&1" 0 \
	'items of queues: [1-9]'
kill "$pid" 2>/dev/null
wait "$pid"

usage()	# what, words, message
{
	check_one_line "$1" "ldb-record $2 -o none.data -- ./pool 2" 2 "$3"
}
usage "one probe" --queue=mine:put 'give two probes'
usage "no provider" --queue=put 'give PROVIDER:PUT,TAKE'
usage "a probe twice" --queue=mine:put,put 'give another probe for each event'
usage "no name" --queue=mine:put,,take 'give names of probes'
usage "no number" --queue=mine:put:x,take 'give 1 to 12 for the argument that is the item'
usage "no name of the queue" --queue=mine:put,take,name=0 "give 1 to 12 for the argument that is the queue's name"
usage "with requests" '--queue=folly --request=loop' 'its items are the requests: leave out --request'
usage "without the runtime" '--queue=folly --kernel-only' 'needs the runtime: leave out --kernel-only'
if command -v setpriv >/dev/null; then
	chmod 755 "$WORK" && chmod 755 pool && mkdir -m 777 open
	check "no right" "setpriv --reuid=65534 --regid=65534 --clear-groups ldb-record -q --queue=folly -o open/n.data -- ./pool 2 2>&1" 0 \
		'warning: --queue=folly: its items are not recorded: .*as root'
else
	skip "no right" "no setpriv"
fi
finish
