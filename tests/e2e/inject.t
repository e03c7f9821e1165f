# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to programs that were started without the runtime: it is loaded into them.  Their
# results and exit status must be right, whatever they are doing and also if the recorder is killed
# meanwhile; then their locks are recorded, and their functions if they are instrumented.  If the
# runtime cannot be loaded, one line says so, and the program goes on.
# Long: it attaches some seventy times.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/inject.sh"
need_build

delays="02 05 08 12"
[ -z "${LDB_TEST_ALL:-}" ] || delays="01 02 03 04 05 06 07 08 10 12 14 16 18 20 25"

oracle_not k.data "its recorder is killed at any time, also before there is anything in it"
oracle_off "most of these programs have no records, and end at any time"

$CC -O2 -g "$PROGRAMS/stopped.c" -o stopped -pthread || exit 1
$CC -O2 -g "$PROGRAMS/injected.c" -o injected -pthread || exit 1
cc_ldb -O2 -g "$PROGRAMS/injected.c" -o recorded -pthread || exit 1

said=
for kind in compute epoll poll nanosleep futex pipe rcvtimeo sigwait signals; do
	./stopped $kind >out 2>err &
	pid=$!
	sleep 0.1
	said="$said$(inject -d 20ms)"
	grep -q libldbtrace "/proc/$pid/maps" || said="$said $kind: it is not there."
	kill -TERM "$pid"
	wait "$pid" || said="$said $kind: $? $(cat out err)."
done
ok "whatever a thread is doing, it notices nothing" test -z "$said"
[ -z "$said" ] || diag "$said"

said=
for kind in locks loader malloc; do
	./injected $kind 1500 >out 2>err &
	pid=$!
	sleep 0.1
	said="$said$(inject -d 100ms)"
	wait "$pid" || said="$said $kind: $? $(cat out err)."
done
ok "threads that lock, load libraries or allocate notice nothing, either" test -z "$said"
[ -z "$said" ] || diag "$said"

said=
for kind in "stopped compute" "stopped poll" "stopped futex" "injected loader 2500" "injected malloc 2500"; do
	for delay in $delays; do
		# shellcheck disable=SC2086	# the words of kind
		./$kind >out 2>err &
		pid=$!
		[ "${kind#stopped}" = "$kind" ] || wait_for 5 "grep -q '^SigCgt:.*[1-9a-f]' /proc/$pid/status"
		sleep 0.02
		ldb-record -q --kernel none -p "$pid" -d 1 -o k.data 2>/dev/null &
		rec=$!
		sleep "0.0$delay"
		pkill -KILL -P "$rec" 2>/dev/null
		kill -KILL "$rec" 2>/dev/null
		wait "$rec" 2>/dev/null
		[ "${kind#stopped}" = "$kind" ] || { sleep 0.05 && kill -TERM "$pid"; }
		wait "$pid" || said="$said $kind: $? $(cat out err)."
	done
done
ok "a recorder that is killed meanwhile changes nothing" test -z "$said"
[ -z "$said" ] || diag "$said"

# Checks what is recorded
./injected locks 3000 >out &
pid=$!
sleep 0.2
check "a program without records" "ldb-record --kernel none -p $pid -d 1 -o locks.data" 0
wait "$pid"
check "its locks are recorded" "ldb-report -i locks.data --mutex --json" 0 '"kind": "mutex"'
./recorded locks 3000 >out &
pid=$!
sleep 0.2
check "a program with records" "ldb-record --kernel none -p $pid -d 1 -o calls.data" 0
wait "$pid"
check "its functions are observed, in threads that were there before" \
	"ldb-report -i calls.data" 0 'under_lock'

# If the runtime cannot be loaded, one line says so, and the program continues.
goes_on()	# label
{
	ok "$1: it goes on" kill -0 "$pid"
	kill -TERM "$pid"
	kill -CONT "$pid" 2>/dev/null
	wait "$pid"
}

./stopped poll >out 2>err &
pid=$!
sleep 0.1
kill -STOP "$pid"
check_one_line "a stopped program" "ldb-record -p $pid -d 10ms -o s.data" 1 "is stopped.*kill -CONT"
ok "it is still stopped" grep -q '^State:.T' "/proc/$pid/status"
ok "and has no runtime" eval "! grep -q libldbtrace /proc/$pid/maps"
goes_on "stopped"
if command -v strace >/dev/null; then
	./stopped poll >out 2>err &
	pid=$!
	strace -o /dev/null -p "$pid" 2>strace.err &
	tracer=$!
	wait_for 5 "grep -q attached strace.err"
	check_one_line "a traced program" "ldb-record -p $pid -d 10ms -o s.data" 1 "is traced by process $tracer"
	kill "$tracer"
	wait "$tracer" 2>/dev/null
	goes_on "traced"
fi
cat >filtered.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog p = { 1, all };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 1;
	for (;;)
		pause();
}
END
$CC -O2 filtered.c -o filtered || exit 1
./filtered &
pid=$!
sleep 0.1
check_one_line "a program with a seccomp filter" "ldb-record -p $pid -d 10ms -o s.data" 1 "seccomp"
goes_on "filtered"
cat >mapped.c <<'END'
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	char *at = mmap(NULL, 600 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 600; i += 2)
		if (mprotect(at + i * 4096, 4096, PROT_READ | PROT_EXEC))
			return 1;
	for (;;)
		pause();
}
END
$CC -O2 mapped.c -o mapped || exit 1
./mapped &
pid=$!
sleep 0.1
check_one_line "a program with too many executable mappings" "ldb-record -p $pid -d 10ms -o s.data" 1 \
	"too many executable mappings"
goes_on "mapped"
if $CC -O2 -static "$PROGRAMS/stopped.c" -o static -pthread 2>/dev/null; then
	./static poll >out 2>err &
	pid=$!
	sleep 0.1
	check_one_line "a static program" "ldb-record -p $pid -d 10ms -o s.data" 1 "static"
	goes_on "static"
fi
if [ "$(id -u)" -eq 0 ]; then
	mkdir -p root/lib64 root/lib
	cp -L /lib64/ld-linux-x86-64.so.2 root/lib64/
	cp -L "$(ldd stopped | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')" root/lib64/
	cp stopped root/
	LD_LIBRARY_PATH=/lib64 chroot root /stopped poll >out 2>err &
	pid=$!
	sleep 0.2
	check_one_line "a program with another root" "ldb-record -p $pid -d 10ms -o s.data" 1 "does not see the runtime"
	goes_on "another root"
fi

# A process may be unreadable even for other processes of the same user.
as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
chmod 711 .
if [ "$(id -u)" -eq 0 ] && $as_nobody test -x "$BUILD/bin/ldb-record"; then
	cat >private.c <<-'END'
		#include <sys/prctl.h>
		#include <unistd.h>
		int main(void)
		{
			prctl(PR_SET_DUMPABLE, 0);
			return sleep(20);
		}
	END
	$CC -O2 private.c -o private || exit 1
	$as_nobody ./private &
	pid=$!
	wait_for 5 "grep -qx private /proc/$pid/comm && grep -q 'State:.S' /proc/$pid/status"
	check_one_line "a program that may not be read" \
		"$as_nobody ldb-record -p $pid -d 10ms -o /dev/null" 1 "no permission to read process $pid"
	kill "$pid"
	wait "$pid"
else
	skip "a program that may not be read" "it needs root, and nobody must be able to execute the build"
fi

# The program sleeps when the recorder attaches, and ends at any time after that.
: >said
for ms in $(seq 50 8 250); do
	sleep "$(printf 0.%03d "$ms")" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null && ! grep -qs "(sleep) S" "/proc/$pid/stat"; do :; done
	timeout 20 ldb-record -q --kernel none -p "$pid" -d 5ms -o e.data 2>e.err || cat e.err >>said
	wait "$pid" || echo "exit status $?" >>said
done
ok "a program that ends meanwhile: ended, and nothing else" eval \
	"! grep -v -e 'process [0-9]* has ended\$' -e 'there is no process' said >other"
diag "$(cat other)" "$(grep -c ended said) of 26 had ended"
finish
