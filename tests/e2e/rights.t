# SPDX-License-Identifier: GPL-2.0-or-later
# Tests a program that gives up privileges: no thread of ldb's may still have them, whether the
# program is not recorded, was launched by a recorder, or attached to.  tests/programs/drop-rights.c
# examines the threads that it did not create, and attacks them.
# Long: it starts more than twenty recorders.
. "$(dirname "$0")/../lib/engine.sh"
need_build
[ "$(id -u)" -eq 0 ] || skip_all "only root has rights to give up"

# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -O2 -g "$PROGRAMS/drop-rights.c" -o linked -Wl,--no-as-needed $link_runtime || exit 1
cc_ldb -O2 -g "$PROGRAMS/drop-rights.c" -o plain || exit 1
mkdir -m 700 private
chmod 711 "$WORK"

# While there is no recorder, ldb has no thread.
for how in keep glibc syscall raw seccomp caps chroot userns fork; do
	rm -rf jail
	check "dormant, $how: done" "LD_PRELOAD=$RUNTIME ./plain $how" 0 '^changed$'
	ok "dormant, $how: no thread but its own" matches '^0 other threads$'
done
for how in glibc fork raw; do
	check_not "dormant, $how: an attack finds nobody" "./linked $how attack $WORK/private/$how" 0 '^made'
done

# The program is recorded: ldb's threads have the program's credentials, and never a capability.
says()	# name regex
{
	if matches "$2"; then
		pass "$1"
	else
		fail "$1"
		diag "$out"
	fi
}

keeps_nothing()	# label uid
{
	says "$1: done" '^changed$'
	if printf '%s\n' "$out" | grep -E '^ldb-(control|scan) ' | grep -qv "uid=$2 caps=0*  *nnp=1 root=same"; then
		fail "$1: ldb's threads have no more rights than the program"
		diag "$out"
	else
		pass "$1: ldb's threads have no more rights than the program"
	fi
}

for how in keep caps glibc syscall chroot userns impersonate dumpable; do
	rm -rf jail
	uid=0
	case $how in glibc | syscall) uid=65534 ;; userns) uid=65534 ;; esac
	run_cmd "DROP_RIGHTS_SCANNER=1 ldb-record -o $how.data -- ./plain $how"
	keeps_nothing "recorded, $how" "$uid"
	says "recorded, $how: they are there" '^ldb-scan '
	[ "$how" = keep ] || ldb-report -i "$how.data" --json >report.json
	# If the scanner had no CPU, there is nothing else to report.
	check "recorded, $how: to the end" "ldb-report -i $how.data" 0 'ended: exit:0|no call of a function was observed'
done

# On a busy machine the recorder learns of a change only when the program has already made its next
# call.
run_cmd "DROP_RIGHTS_STOP=1 DROP_RIGHTS_SCANNER=1 ldb-record -o late.data -- ./plain glibc"
keeps_nothing "recorded late" 65534
says "recorded late: ldb's threads are there" '^ldb-scan '
check "recorded late: to the end" "ldb-report -i late.data" 0 'ended: exit:0|no call of a function was observed'

# The duration of a recording is counted from its start, and not from the last change.
run_cmd "ldb-record -q -d 1 -o again.data -- ./plain again"
check "recorded, again: for one second" "ldb-report -i again.data" 0 'ended: timeout'

# A change that ldb cannot follow ends the recording, not the program.
for how in seccomp raw; do
	run_cmd "ldb-record -o $how.data -- ./plain $how"
	ok "recorded, $how: the program's own exit status" test "$status" -eq 0
	says "recorded, $how: nobody of ldb's is left" '^0 other threads$'
	says "recorded, $how: and ldb says so" '^ldb-record: .*recording ended'
	check "recorded, $how: what came before is in the trace" "ldb-report -i $how.data" 0 'ended: rights'
done

# The attack works while the program has its privileges.  A thread that is executing the overwritten
# code may crash instead, so there are several tries.
for i in 1 2 3 4 5 6 7 8; do
	run_cmd "ldb-record -q -o a.data -- ./plain keep attack $WORK/private/keep 2>/dev/null"
	! matches '^made as root$' || break
done
says "recorded, keep: an attack has what the program has" '^made as root$'
for how in glibc syscall raw; do
	# If the program damages itself by patching its code, ldb need not prevent that.
	run_cmd "ldb-record -q -o a.data -- ./plain $how attack $WORK/private/$how 2>/dev/null"
	ok "recorded, $how: an attack makes no file in root's folder" test ! -e "private/$how"
done

# The recorder attaches after the change.
./linked glibc wait "$WORK/stop" >attached.out &
pid=$!
at_end "kill $pid 2>/dev/null || :"
wait_for 10 "grep -q 'other threads' attached.out"
check "attached after it: recorded" "ldb-record -p $pid -d 0.5 -o after.data" 0
ldb-record -p "$pid" -d 4 -o during.data >during.log 2>&1 &
rec=$!
wait_for 3 "grep -q ldb-scan /proc/$pid/task/*/comm"
out=$(grep -h -E '^(Name|Uid|CapPrm)' /proc/"$pid"/task/*/status | paste - - - | awk '{ print $2, $4, $NF }')
wait "$rec"
if printf '%s\n' "$out" | grep -q '^ldb-scan 65534 0*$' &&
   ! printf '%s\n' "$out" | grep -v -q ' 65534 0*$'; then
	pass "attached after it: all threads are nobody's"
else
	fail "attached after it: all threads are nobody's"
	diag "$out"
fi
: >stop
chmod 644 stop
wait "$pid"
status=$?
ok "attached after it: exit status 0" test "$status" -eq 0

# A seccomp filter that the program wrote for itself does not permit ldb's system calls.
./linked seccomp wait "$WORK/stop3" >filter.out &
pid=$!
at_end "kill $pid 2>/dev/null || :"
wait_for 10 "grep -q 'other threads' filter.out"
check_one_line "a program under a filter of its own is left alone" \
	"ldb-record -p $pid -d 0.2 -o f.data" 1 '^ldb-record: .*seccomp filter'
ok "and goes on" kill -0 "$pid"
: >stop3

# If the kernel does not permit a user to use ptrace() on the program, ldb offers no other way in,
# either.
if command -v setpriv >/dev/null; then
	chmod 755 linked
	setpriv --reuid 65534 --regid 65534 --clear-groups env LDB=listen ./linked dumpable wait "$WORK/stop2" >nd.out &
	pid=$!
	at_end "kill $pid 2>/dev/null || :"
	wait_for 10 "grep -q 'other threads' nd.out"
	pid=$(pgrep -P "$pid" -x linked || echo "$pid")
	cp "$BUILD/bin/ldb-record" . 2>/dev/null
	mkdir -m 777 nobodys
	check "the same user cannot attach to what is not dumpable" \
		"cd nobodys && setpriv --reuid 65534 --regid 65534 --clear-groups ../ldb-record -p $pid -d 0.2 -o nd.data" 1 '^ldb-record: .*(not dumpable|permission)'
	check "root can" "ldb-record -p $pid -d 0.2 -o nd.data" 0
	: >stop2
	chmod 644 stop2
fi
finish
