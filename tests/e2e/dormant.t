# SPDX-License-Identifier: GPL-2.0-or-later
# A program that loads the runtime and is not recorded must behave as one that does not load it.
# Some programs are recorded, too: ones that change their user namespace, refuse a system call of
# the recorder's, have left main(), or have the same pid in different namespaces.
. "$(dirname "$0")/../lib/engine.sh"
need_build

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/dormant.c" -o linked -pthread $link_runtime || exit 1
cc_ldb -O2 -g "$PROGRAMS/dormant.c" -o plain -pthread || exit 1
$CC -O2 "$PROGRAMS/refuse.c" -o refuse || exit 1
preloaded="env LD_PRELOAD=$RUNTIME ./plain"
chmod 755 . linked plain

# The runtime is compared with a similar library, because any library costs a mapping for its
# thread-local memory and for the loader's lists.
echo '__thread long own[2]; long *get(void) { return own; }' >other.c
$CC -shared -fPIC other.c -o libother.so || exit 1
LD_PRELOAD=$WORK/libother.so ./plain look >want
for how in ./linked "$preloaded"; do
	run_cmd "$how look"
	ok "${how##*/}: threads, descriptors and mappings are the program's own" \
		test "$out" = "$(cat want)"
	[ "$out" = "$(cat want)" ] || diag "$out" "wanted: $(cat want)"
done

# Pages make exec and fork slow: each page that is touched costs a page fault, and fork() copies
# each mapping.  The least of many runs is taken, because addresses differ; among eight runs the
# numbers differ by up to three.
least()	# file: "NAME NUMBER" of each name
{
	awk '!($1 in n) || $2 < n[$1] { n[$1] = $2 } END { for (i in n) print i, n[i] }' "$1" | sort
}
echo 'int nothing;' >nothing.c
$CC -shared -fPIC nothing.c -o libnothing.so || exit 1
for i in $(seq 40); do
	LD_PRELOAD=$WORK/libnothing.so ./plain faults >>faults.nothing
	LD_PRELOAD=$RUNTIME ./plain faults >>faults.ldb
done
least faults.nothing >nothing.least
least faults.ldb >ldb.least
# The child runs ldb's fork handler, which is one page of code.  At its start the program touches
# the pages where libc stores such handlers, and the pages with the symbols that the runtime uses.
while read -r name bound; do
	ok "as an empty library: $name, and $bound" \
		test "$(awk -v n="$name" '$1 == n { print $2 }' ldb.least)" -le \
		"$(($(awk -v n="$name" '$1 == n { print $2 }' nothing.least) + bound))"
done <<-EOF
	start 5
	child 3
	mappings 0
EOF
diag "$(paste -d' ' nothing.least ldb.least)"

# The user nobody cannot read a library in a private folder, so there is a copy.
cp "$RUNTIME" runtime.so && chmod 755 runtime.so
nobody=
[ "$(id -u)" -ne 0 ] || nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
check "mlockall() within 8 MB, plain" "$nobody sh -c 'ulimit -l 8192; exec ./plain lock'" 0 '^locked$'
check "mlockall() within 8 MB, preloaded" \
	"$nobody sh -c 'ulimit -l 8192; LD_PRELOAD=./runtime.so exec ./plain lock'" 0 '^locked$'
newuser=$(./plain newuser)
check "unshare(CLONE_NEWUSER), preloaded" "$preloaded newuser" 0 "^$newuser\$"
check "unshare(CLONE_NEWUSER), recorded" "ldb-record -q -o u.data -- ./plain newuser" 0 "^$newuser\$"
# The kernel still counts one of ldb's threads for a moment after its end, and does not permit
# unshare(CLONE_NEWUSER) to a process with several threads.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	ldb-record -q --kernel none -o u.data -- ./plain newuser 2>/dev/null
done >newusers
ok "twenty times" test "$(grep -cx "$newuser" newusers)" -eq 20

# This constructor runs before the runtime's, and removes the environment.
echo '#include <stdlib.h>
__attribute__((constructor)) static void blank(void) { clearenv(); }' >blank.c
$CC -shared -fPIC blank.c -o libblank.so || exit 1
# shellcheck disable=SC2086
cc_ldb -O2 -g "$PROGRAMS/dormant.c" -o unset -pthread -Wl,--no-as-needed $link_runtime -L. -lblank -Wl,-rpath,"$WORK" || exit 1
check "no environment at all" "./unset blank" 0

# A program that gains privileges when it is executed never loads ldb.
if [ "$(id -u)" -eq 0 ]; then
	cp "$RUNTIME" libldbtrace.so.0 && chmod 755 libldbtrace.so.0
	cc_ldb -O2 -g "$PROGRAMS/dormant.c" -o suid -pthread ./libldbtrace.so.0 -Wl,-rpath,"$WORK" || exit 1
	chmod 4755 suid
	check "set-user-ID: its environment says nothing to ldb" \
		"$nobody env LDB=listen LDB_RECORD=somebody ./suid look" 0 '^threads 1$'
	check "the same program, not set-user-ID" "chmod 755 suid; LDB=listen ./suid look" 0 '^threads 2$'
else
	skip "set-user-ID" "only root can make one of another user's"
fi

# These tools examine a program, or replace the kernel for it.
for tool in "valgrind -q --error-exitcode=9" "strace -f -o trace.out" "gdb -q -batch -ex run --args"; do
	if ! command -v "${tool%% *}" >/dev/null; then
		skip "${tool%% *}" "it is not there"
		continue
	fi
	check "under ${tool%% *}, linked" "$tool ./linked look" 0 '^descriptors'
done
cc_ldb -O1 -g -fsanitize=address "$PROGRAMS/dormant.c" -o asan -pthread
check "with AddressSanitizer, recorded" "ldb-record -q -o asan.data -- ./asan look" 0 '^descriptors'

# If close_range() is refused, inherited descriptors must be closed in another way, or the reader of
# a pipe waits for ever.  cat ends when the last writer's end is closed.
for how in "" "./refuse close_range"; do
	# shellcheck disable=SC2086	# how is words or none
	check "${how:-no refusal}: a pipe ends when the program closes it" \
		"ldb-record -q -o r.data -- $how ./plain pipe 2>r.err | timeout 20 sh -c 'cat; : >ended'; test -e ended" 0 '^x$'
	check "${how:-no refusal}: and it is recorded" "ldb-report -i r.data" 0 'main\(\)'
	rm -f ended
done
before=$(date +%s%N)
ldb-record -q -o r.data -- ./refuse close_range ./plain pipe 2>r.err | cat >/dev/null
ok "refused: the reader of the pipe ends within 20 s" test $((($(date +%s%N) - before) / 1000000)) -lt 20000

# main() has left by pthread_exit(); the process continues.
mkfifo input
./linked leave-main <input >left.out &
pid=$!
exec 8>input
at_end "kill $pid 2>/dev/null || :"
wait_for 10 "grep -q 'State:.*Z' /proc/$pid/status"
check "attached after main() has left" "ldb-record --clock=monotonic -p $pid -d 0.5 -o left.data" 0
check "and its threads are recorded" "ldb-report -i left.data" 0 'work\(\)'
exec 8>&-
wait "$pid"
status=$?
ok "exit status as without ldb" test "$status" -eq 3
ok "its output too" test "$(cat left.out)" = worked

# Two processes have the same pid, in two pid namespaces that share a network namespace.  The test
# finds them by a name that no other program has.
named=ns$$
ln -s linked "$named"
if [ "$(id -u)" -eq 0 ] && unshare --pid --fork --mount-proc true 2>/dev/null; then
	for mode in attach listen; do
		for i in 1 2; do
			LDB=$mode unshare --pid --fork --mount-proc "./$named" stay >ns$i.out &
		done
		wait_for 10 '[ "$(pgrep -c -x $named)" -ge 2 ]'
		sleep 0.3
		for pid in $(pgrep -x "$named"); do
			check "LDB=$mode, process 1 of its pid namespace" \
				"ldb-record -p $pid -d 0.2 -o ns.data && ldb-report -i ns.data" 0 'work\(\)'
		done
		pkill -KILL -x "$named"
		wait_for 5 "! pgrep -x $named"
	done
else
	skip "pid namespaces" "not allowed here"
fi
finish
