# SPDX-License-Identifier: GPL-2.0-or-later
# Tests kernel events by BPF programs: who may use them, that their tids are those that the program
# sees, and that the program goes on when the recorder is killed.  A test in the guests
# (tests/kmod/guest/both.t) shows that the events equal the module's.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH

[ "$(id -u)" -eq 0 ] || skip_all "not root"
cat >life.c <<'EOC'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int pipes[2], rounds = 100;

/* Sleeps until main() writes into the pipe. */
__attribute__((noinline)) void nap(void)
{
	char c;

	if (read(pipes[0], &c, 1) != 1)
		perror("read");
}

static void *sleeper(void *arg)
{
	prctl(PR_SET_NAME, "sleeper");
	for (int i = 0; i < rounds; i++)
		nap();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1)
		rounds = atoi(argv[1]);
	printf("main %d\n", (int)gettid());
	fflush(stdout);
	if (pipe(pipes) || pthread_create(&t, NULL, sleeper, NULL))
		return 1;
	for (int i = 0; i < rounds; i++) {
		usleep(2000);
		if (write(pipes[1], "", 1) != 1)
			return 1;
	}
	pthread_join(t, NULL);
	if (!fork())
		_exit(0);
	wait(NULL);
	return 0;
}
EOC
ok "the program builds" cc_ldb -g -O1 life.c -o life -pthread
if ! ldb-record -q --kernel=bpf -o life.data -- ./life >life.out 2>life.err; then
	skip_all "$(cat life.err)"
fi

judge_life()	# name trace out
{
	main=$(sed -n 's/^main //p' "$3")
	sleeper=$(trace-cat "$2" task | sed -n 's/.*tid=\([0-9]*\) .*name=sleeper$/\1/p' | head -n 1)
	trace-cat "$2" sched >sched
	trace-cat "$2" meta >meta
	diag "$1: main is $main, the sleeper $sleeper; $(grep -c . sched) rows; $(grep kernel_ meta | tr '\n' ' ')"
	ok "$1: the trace says where they are from" grep -qx 'meta kernel_events=bpf' meta
	ok "$1: and how exact they are" grep -q '^meta kernel_err_ns=[0-9]' meta
	ok "$1: the sleeper has its name, as the program numbers it" test -n "$sleeper"
	ok "$1: main woke it each time" test \
		"$(grep -c "op=4 .*tid=$main other=$sleeper " sched)" -ge 95
	ok "$1: each sleep has its switch" test \
		"$(grep -c "op=1 .*flags=[0-9a-f]*1 .*tid=$sleeper " sched)" -ge 95
	ok "$1: a thread and a process were created" test "$(grep -c "op=32 .*tid=$main " sched)" -ge 2
	ok "$1: one thread was the last" test "$(grep -c "op=34 .*value=1" sched)" -eq 1
	ok "$1: nothing lost" eval '! trace-cat "$2" lost | grep .'
}

judge_life "here" life.data life.out

# Tids must be as the program sees them: first while recorder and program are in a pid namespace,
# then while only the program is in one.
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	unshare --pid --fork --mount-proc ldb-record -q --kernel=bpf -o inner.data -- ./life >inner.out
	ok "in a pid namespace its number is small" grep -qx 'main [2-9]' inner.out
	judge_life "inside" inner.data inner.out
	# shellcheck disable=SC2086	# link_runtime is several words
	cc_ldb -g -O1 life.c -o "outer$$" -pthread -Wl,--no-as-needed $link_runtime
	unshare --pid --fork --mount-proc sh -c "./outer$$ 1000; :" >outer.out & outside=$!
	at_end "kill $outside 2>/dev/null || :"
	wait_for 5 "pidof outer$$ >pid"
	ldb-record -q --kernel=bpf --kernel-only -p "$(cat pid)" -o outer.data
	wait "$outside"
	trace-cat outer.data sched >sched
	main=$(sed -n 's/^main //p' outer.out)
	ok "looked at from outside, too ($main)" test "$(grep -c "op=1 .*tid=$main " sched)" -ge 20
	ok "and tasks outside of its namespace are hidden" \
		eval 'awk "/^sched op=1 / { sub(/.*flags=/, \"\"); print \$1 }" sched | grep -q "[89a-f].\$"'
else
	skip "pid namespaces" "not permitted"
fi

if command -v setpriv >/dev/null; then
	check "without the rights it is one line" \
		"setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-bpf,-perfmon,-sys_admin \
			ldb-record --kernel=bpf -o no.data -- ./life" 1 \
		'kernel events are not available: bpf: needs CAP_BPF and CAP_PERFMON \(run it as root\)$'
	ok "and nothing was written" test ! -e no.data
	oracle_not less.data "perf shows a thread's own switches alone, and not the last"
	check "other kernel events are used instead, and why is reported" \
		"setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-bpf,-perfmon,-sys_admin \
			ldb-record -o less.data -- ./life" 0 'bpf: needs CAP_BPF and CAP_PERFMON'
else
	skip "rights" "no setpriv"
fi

# When a recorder is killed, its BPF programs end, too, because nothing but its descriptors holds
# them.  This does not test their end; it tests that the recorder had descriptors of BPF programs,
# and that the recorded program goes on.
cp life "life$$"
ldb-record -q --kernel=bpf -o killed.data -- "./life$$" >/dev/null 2>&1 & recorder=$!
oracle_cut killed.data
wait_for 5 '[ -s killed.data ]'
fds=$(find "/proc/$recorder/fd" -lname 'anon_inode:*bpf*' 2>/dev/null | grep -c .)
ok "while it records it holds programs ($fds descriptors)" test "$fds" -ge 10
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
ok "the program it recorded goes on and ends" wait_for 5 "! pidof life$$"
finish
