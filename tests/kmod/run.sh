#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel module's tests: boots Debian kernels, runs what is in guest/ and
# programs/ in each, prints TAP.  Part of make check.
#
#	tests/kmod/run.sh [-a] [-k KERNEL]... [-o FILE] [TEST]...
#
#	-a	all tests in all kernels, as LDB_KMOD_ALL=1 (make check-kmod)
#	-k	6.1, 6.12 (default: both), kasan or kcsan
#	-o	keeps what the guests printed, unchanged
#
# Without -a, -k or TEST: while the module and its tests are as they were when all of
# them passed, tests of what is no kernel's business are left out in the second kernel
# (left_out below), and one line says so.  That state is kept in the cache.
#
# TEST: name of a file in guest/ (*.t) or of a program in programs/; default: all that
# the kernel's kind is for (stress-*: only the debug kernels and by name).  By hand:
#
#	tests/kmod/run.sh -k 6.1 truth.t
#
# "quick" as TEST: one kernel, and what sees most in half a minute.
#
# LDB_TEST_TIMEOUT is for one test (default 240 s).  In CI, a kernel that cannot be
# had is a failure; elsewhere it is skipped.

. "$(dirname "$0")/lib.sh"

kernels=
keep=
all=${LDB_KMOD_ALL:-}
while getopts ak:o: option; do
	case $option in
	a) all=1 ;;
	k) kernels="$kernels $OPTARG" ;;
	o) keep=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
programs=$KMOD
if [ "${1:-}" = quick ]; then
	kernels=6.1
	programs=$KMOD/programs		# needs neither plugin nor tools
	set -- kmod-api kmod-events kmod-hits
fi
need_guests

work=$(mktemp -d "${TMPDIR:-/tmp}/ldb-kmod.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
next=1
failed=0

result()	# ok|"not ok" text
{
	echo "$1 $next - $2"
	next=$((next + 1))
	[ "$1" = ok ] || failed=1
}

# What is the same for all kernels.
make_tree()
{
	tree=$work/tree
	mkdir -p "$tree/ldb/tests/kmod" "$tree/ldb/build/tests/kmod"
	cp "$TOP/tests/engine.sh" "$TOP/tests/why.sh" "$TOP/tests/hits.sh" "$tree/ldb/tests/" &&
	cp -R "$KMOD/guest" "$KMOD/lib.sh" "$tree/ldb/tests/kmod/" || return 1
	mkdir -p "$tree/ldb/tests/oracle"
	cp -R "$TOP/tests/oracle/bin" "$TOP/tests/oracle/judge.sh" "$tree/ldb/tests/oracle/" || return 1
	for file in "$BUILD"/bin/ldb-* "$BUILD"/lib/libldbtrace.so.0 "$BUILD"/tests/tools/helpers/trace-cat \
		    "$BUILD"/tests/oracle/helpers/oracle \
		    "$BUILD"/tests/kmod/guest/* "$BUILD"/tests/kmod/programs/*; do
		if [ -d "$file" ] || [ ! -x "$file" ]; then continue; fi
		tree_add "$tree" "$file:/ldb/build/${file#"$BUILD"/}" || return 1
	done
	tree_add "$tree" "$(command -v jq):/bin/jq"
}

is_debug()	# kernel
{
	[ "$1" = kasan ] || [ "$1" = kcsan ]
}

# What these look at, the analysis and the scanner, is the same in each kernel; what the
# module tells them is looked at by the others.
left_out="idle.t planted.t why-cpu.t why-locks.t why-memory.t"

default_tests()	# kernel
{
	for file in "$KMOD"/guest/*.t; do
		case ${file##*/} in
		stress-*) is_debug "$1" || continue ;;
		esac
		case " $leave_out " in
		*" $1:${file##*/} "*) continue ;;
		esac
		echo "${file##*/}"
	done
	for file in "$KMOD/programs"/kmod-*.c; do
		[ ! -f "$file" ] || basename "$file" .c
	done
}

guest_path()	# test
{
	case $1 in
	*.t) echo "/ldb/tests/kmod/guest/$1" ;;
	*) echo "/ldb/build/tests/kmod/programs/$1" ;;
	esac
}

# Runs $paths.  False: the emulator failed, and it is worth trying again.
boot_guest()
{
	sh "$KMOD/vm.sh" -d -m "$memory" -t "$boot_limit" -r "$tree" -f "$work/ldb.ko:/ldb/ldb.ko" -c "$work/console" \
		"$image" "$settings sh /ldb/tests/kmod/guest/all.sh -t $limit$paths" >"$work/boot" 2>"$work/err"
	status=$?
	[ -z "$keep" ] || { cp "$work/boot" "$keep.$kernel"; cp "$work/console" "$keep.$kernel.dmesg"; }
	[ "$status" -ne 96 ] || [ "$boots" -ge 8 ]
}

run_guest()	# kernel
{
	kernel=$1
	shift
	if ! triple=$(sh "$KMOD/kernels.sh" "$kernel" 2>"$work/why"); then
		if [ "${CI:-}" = true ]; then
			result "not ok" "$kernel: the kernel is there"
			sed 's/^/# /' "$work/why"
		else
			result ok "$kernel # SKIP $(tail -n 1 "$work/why")"
			whole=
		fi
		return
	fi
	release=$(echo "$triple" | cut -d' ' -f1)
	image=$(echo "$triple" | cut -d' ' -f2)
	headers=$(echo "$triple" | cut -d' ' -f3)
	# The two debug kernels have the same release.  Their module tells what of it ran.
	kmod_build=$BUILD
	cover=
	if is_debug "$kernel"; then
		kmod_build=$BUILD/$kernel
		cover=KCOV_INSTRUMENT=y
	fi
	ko=$kmod_build/kmod/$release/ldb.ko
	if ! make -C "$TOP" --no-print-directory modules BUILD="$kmod_build" KDIR="$headers" $cover >"$work/build" 2>&1 ||
	   ! [ -f "$ko" ]; then
		result "not ok" "$kernel: the module builds"
		tail -n 30 "$work/build" | sed 's/^/# /'
		return
	fi
	result ok "$kernel: the module builds for $release"
	cp "$ko" "$work/ldb.ko" && strip -g "$work/ldb.ko"

	settings=$(env | grep -E '^LDB_(CYCLES|STORM|FUZZ_SECONDS|FUZZ_SEED|FUZZ_COVER)=[0-9]+$' | tr '\n' ' ')
	limit=${LDB_TEST_TIMEOUT:-240}
	boot_limit=${LDB_GUEST_TIMEOUT:-1200}
	memory=1024
	if is_debug "$kernel"; then
		memory=2048
		boot_limit=${LDB_GUEST_TIMEOUT:-1500}
	fi
	tests=${*:-$(default_tests "$kernel")}
	paths=
	for test in $tests; do
		paths="$paths $(guest_path "$test")"
	done
	: >"$work/out"
	boots=1
	until boot_guest; do
		# Not the module's fault, but always said.  What came to its end counts.
		echo "# $kernel: boot $boots: $(tail -n 1 "$work/err"), from $(sed -n 's/^@@ begin //p' "$work/boot" | tail -n 1) on"
		awk '/^@@ begin / { text = "" } { text = text $0 "\n" } /^@@ end / { printf "%s", text; text = "" }' \
			"$work/boot" >>"$work/out"
		paths=$(for path in $paths; do
			grep -q "^@@ end ${path##*/} " "$work/out" || printf ' %s' "$path"
		done)
		boots=$((boots + 1))
	done
	cat "$work/boot" >>"$work/out"
	awk -v kernel="$kernel" -v tests="$(echo "$tests" | tr '\n' ' ')" -v first="$next" -f "$KMOD/merge.awk" \
		"$work/out" >"$work/tap"
	next=$(($(sed -n 's/^@@ total //p' "$work/tap") + 1))
	! grep -q '^not ok' "$work/tap" || failed=1
	sed '/^@@ total/d' "$work/tap"
	if [ "$status" -eq 0 ]; then
		result ok "$kernel: the guest ended well"
	else
		result "not ok" "$kernel: the guest ended well (vm.sh: exit status $status)"
		sed 's/^/# /' "$work/err"
		grep -v '^@@' "$work/out" | tail -n 20 | sed 's/^/#   /'
	fi
}

if ! ${MAKE:-make} --no-print-directory -C "$programs" all BUILD="$BUILD" >"$work/build" 2>&1; then
	result "not ok" "the guests' programs build"
	tail -n 20 "$work/build" | sed 's/^/# /'
	echo "1..1"
	exit 1
fi
make_tree || die "cannot make the guests' tree"
leave_out=
if [ -z "$all$kernels$*" ] && module_is_unchanged; then
	for test in $left_out; do
		leave_out="$leave_out 6.12:$test"
	done
	echo "# left out, since neither the module nor its tests changed:$leave_out (make check-kmod runs them)"
fi
whole=
[ -n "$kernels$leave_out$*" ] || whole=1
for kernel in ${kernels:-6.1 6.12}; do
	run_guest "$kernel" "$@"
done
if [ -n "$whole" ] && [ "$failed" -eq 0 ]; then
	mkdir -p "$CACHE" && rm -f "$CACHE"/kmod-passed-* && : >"$CACHE/kmod-passed-$(module_state)"
fi
echo "1..$((next - 1))"
exit "$failed"
