# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the harness itself: what happens in a guest must reach the host, and a failure there
# must not appear as success.  LDB_KMOD_HARNESS=debug: the debug kernels too.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/kmod.sh"
need_guests

vm=$KMOD/vm.sh
kernels=$(sh "$KMOD/kernels.sh" list)
triple=$(sh "$KMOD/kernels.sh" "$(echo "$kernels" | head -n 1)" 2>kernels.err) || cannot "$(cat kernels.err)"
image=$(echo "$triple" | cut -d' ' -f2)
headers=$(echo "$triple" | cut -d' ' -f3)
release=$(echo "$triple" | cut -d' ' -f1)

# A single boot is used for the first three checks.
start=$(date +%s)
check "a command's exit status" "sh $vm -f $(command -v jq) $image 'uname -r; echo one; echo two >&2; echo {} | jq -c .; exit 37'" 37
diag "boot and exit: $(($(date +%s) - start)) s"
ok "its output arrives, of both streams" eval 'printf "%s\n" "$out" | tr "\n" " " | grep -qF "$release one two {} "'
ok "of a program with its libraries, too" eval 'printf "%s\n" "$out" | grep -qx "{}"'

check "a guest that ends in its middle is no success" "sh $vm $image 'echo halfway; reboot -f'" 98 halfway
check "a panic is no success" "sh $vm $image 'echo c >/proc/sysrq-trigger; sleep 5'" 99 'Kernel panic'
check "nor is a guest that hangs" "sh $vm -t 8 $image 'sleep 1000'" 97
check "nor a kernel that is none" "echo >none; sh $vm -t 8 $image.none true" 1 'no kernel'

ok "the bad module builds" build_module "$KMOD/bad" "$headers" "$WORK/bad"
bad="-f $WORK/bad/ldb_bad.ko:/ldb_bad.ko"
check "a module that behaves is none of its business" "sh $vm $bad $image 'insmod /ldb_bad.ko'" 0
check "a WARN fails a command that succeeds" "sh $vm $bad $image 'insmod /ldb_bad.ko how=warn; true'" 99 'WARNING: CPU'
check "an Oops is detected" "sh $vm $bad $image 'insmod /ldb_bad.ko how=oops; true'" 99 'Oops'

# Simulates a breakpoint that never ends: registers in which a CPU is always in the handler.
. "$TOP/tests/lib/storm.sh"
ok "the monitor is asked while a guest runs" eval \
	"LDB_STORM_EVERY=2 LDB_STORM_SAID=$WORK/said sh $vm $image 'grep asm_exc_int3\$ /proc/kallsyms; sleep 12' >kallsyms"
handler=$(storm_handler said)
ok "it knows the handler of breakpoints" grep -q "^$handler T asm_exc_int3" kallsyms
ok "and the registers of both CPUs" test "$(grep -c '^RIP=' said)" -gt $storm_samples
ok "a guest that sleeps is no storm" eval "! storm_is_seen said $handler"
awk -v handler="$handler" '/^CPU#/ { on = /#1/ } /^RIP=/ && on && nr++ % 20 == 0 { sub(/^RIP=[0-9a-f]*/, "RIP=" handler) } { print }' said >storm
ok "a CPU that keeps being there is one" storm_is_seen storm "$handler"

# The output of a guest becomes results; a missing result must not appear as a good one.
merged()	# name regex line...
{
	merged_name=$1
	merged_re=$2
	shift 2
	printf '%s\n' "$@" >printed
	check "$merged_name" "awk -v kernel=k -v tests=/x/a.t -v first=1 -f $KMOD/merge.awk printed" 0 "$merged_re"
}
merged "a result is counted" '^ok 1 - k a.t: one' "@@ begin a.t" "ok 1 - one" "1..1" "@@ end a.t 0 1 clean"
merged "a failure is" '^not ok 1 - k a.t: one' "@@ begin a.t" "not ok 1 - one" "1..1" "@@ end a.t 1 1 clean"
merged "so is a plan that was not met" '^not ok 2 .* 2 results, not 1' "@@ begin a.t" "1..2" "ok 1 - one" "@@ end a.t 0 1 clean"
merged "a test without a plan" '^not ok 2 .*its time was up' "@@ begin a.t" "ok 1 - one" "@@ end a.t 143 1 clean"
merged "a bad exit status after good results" '^not ok 2 .*exit status 139' "@@ begin a.t" "ok 1 - one" "1..1" "@@ end a.t 139 1 clean"
merged "a kernel that complained" '^not ok 2 .*nothing to say' "@@ begin a.t" "ok 1 - one" "1..1" "@@ end a.t 0 1 complained"
merged "a guest that died during it" '^not ok 2 .*the guest did not' "@@ begin a.t" "ok 1 - one"
merged "a test that never ran" '^not ok 1 - k a.t: ran' ""

# If allocations fail on purpose, the kernel's message about them does not count as a complaint,
# unless the module made the allocation.
. "$TOP/tests/lib/splat.sh"
failed_allocation()	# function that made the allocation
{
	printf '[1.0] %s\n' "futex_wake_op: tries to shift" "kmod-fuzz: vmalloc error: size 32768, vm_struct allocation failed, mode:0xdc0" \
		"Call Trace:" " <TASK>" " $1" " </TASK>" "Mem-Info:"
}
failed_allocation copy_process+0x588 >log
ok "an allocation that was made to fail" eval '! splat log'
failed_allocation 'ldb_ioctl+0x10/0x20 [ldb]' >log
ok "but not the module's" splat log
{ failed_allocation copy_process+0x588; echo '[2.0] BUG: KASAN: use-after-free'; } >log
ok "nor what comes after it" splat log

# Each test must run in one of the kernels at least, and those of the module itself in all.
runs()	# option...: prints a line "TEST KERNEL" for each test
{
	sh "$KMOD/run.sh" -n "$@" | while read -r kernel tests; do
		for test in $tests; do
			echo "$test ${kernel%:}"
		done
	done | sort
}
tests=$(cd "$KMOD" && printf '%s\n' guest/*.t programs/kmod-*.c | grep -v '/stress-' | sed 's|.*/||; s|\.c$||' | sort)
LDB_TEST_ALL=
export LDB_TEST_ALL
runs >check.runs
LDB_TEST_ALL=1
runs >default.runs
runs -a >all.runs
ok "every test runs in a kernel" test "$(cut -d' ' -f1 default.runs | sort -u)" = "$tests"
ok "all in both, when asked for all" \
	test "$(for test in $tests; do for kernel in $kernels; do echo "$test $kernel"; done; done)" = "$(cat all.runs)"
ok "tests of the module itself always run in both" \
	test "$(grep -c -e '^kmod-' -e '^truth' -e '^e2e' default.runs)" -eq $(($(echo "$kernels" | wc -l) * $(echo "$tests" | grep -c -e '^kmod-' -e '^truth' -e '^e2e')))
ok "those with a time and those without are all of them" \
	test "$({ runs -t timed; runs -t others; } | sort)" = "$(cat default.runs)"
ok "make check leaves out those that are slow, and no others" \
	test "$(comm -23 default.runs check.runs | cut -d' ' -f1 | sort -u)" = "$(cd "$KMOD/guest" && grep -l '^# Slow: ' -- *.t | sort)"
ok "it has wakers in each kernel" \
	test "$(grep '^wakers-' check.runs | cut -d' ' -f2 | sort -u)" = "$(echo "$kernels" | sort)"
diag "in one: $(cut -d' ' -f1 default.runs | uniq -u | tr '\n' ' ')"

if [ "${LDB_KMOD_HARNESS:-}" = debug ]; then
	vm="$vm -t 300"
	bad_module()	# kernel
	{
		image=$(sh "$KMOD/kernels.sh" "$1" image) || exit 1
		ok "the bad module builds for the $1 kernel" \
			build_module "$KMOD/bad" "$(sh "$KMOD/kernels.sh" "$1" headers)" "$WORK/bad"
	}
	bad_module kasan
	check "two CPUs" "sh $vm $image 'test \$(nproc) = 2'" 0
	check "lockdep sees an order of locks" "sh $vm $bad $image 'insmod /ldb_bad.ko how=lock'" 99 'possible circular'
	check "KASAN sees a use after free" "sh $vm $bad $image 'insmod /ldb_bad.ko how=free'" 99 'KASAN: .*use-after-free'
	check "kmemleak sees a leak" "sh $vm $bad $image 'insmod /ldb_bad.ko how=leak'" 99 'unreferenced object'
	bad_module kcsan
	check "KCSAN has nothing to say of a module that behaves" "sh $vm $bad $image 'insmod /ldb_bad.ko'" 0
	check "KCSAN sees a race" "sh $vm $bad $image 'insmod /ldb_bad.ko how=race'" 99 'KCSAN: data-race in .*increment'
	check "lockdep is there too" "sh $vm $bad $image 'insmod /ldb_bad.ko how=lock'" 99 'possible circular'
fi
finish
