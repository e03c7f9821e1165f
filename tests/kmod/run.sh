#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# This script runs the kernel module's tests: it boots Debian kernels, runs what is in guest/
# and programs/ in each, and prints TAP.  It is a part of make check.
#
#	tests/kmod/run.sh [-ajn] [-t WHICH] [-k KERNEL]... [-o FILE] [TEST]...
#
#	-a	all tests in all kernels, as LDB_KMOD_ALL=1 (make check-kmod)
#	-j	the kernels' guests side by side, as LDB_KMOD_JOBS=1: where CPUs are to spare
#	-n	only says what would run: a line for each kernel
#	-t	timed: only scripts with a line "# Timed: WHY" or "# Alone: WHY", others: only
#		scripts without, and programs; tests/run.sh lets the latter run beside other tests
#	-k	6.1, 6.12 (default: those of kernels.sh list), kasan or kcsan
#	-o	writes what each guest printed, unchanged, to FILE.KERNEL, and its kernel's
#		messages to FILE.KERNEL.dmesg
#
# Without -a, -k or TEST, tests that do not depend on the kernel run in one of them (one_kernel
# below), and one line says so; those with a line "# Slow: WHY" only in make check-all
# (LDB_TEST_ALL=1).
#
# TEST: name of a file in guest/ (*.t) or of a program in programs/; default: all that
# the kernel's kind is for (stress-*: only the debug kernels and by name).  By hand:
#
#	tests/kmod/run.sh -k 6.1 truth.t
#
# TEST may be "quick": kmod-api, kmod-events and kmod-hits in one kernel, in half a minute.
#
# LDB_TEST_TIMEOUT is for one test (default 240 s); with LDB_LENGTHS=1 calls.t judges how long
# system calls are, too.  In CI, an unavailable kernel is a failure;
# elsewhere it is skipped.

. "$(dirname "$0")/../lib/kmod.sh"

kernels=
keep=
all=${LDB_KMOD_ALL:-}
jobs=${LDB_KMOD_JOBS:-}
list=
which=
while getopts ajnk:o:t: option; do
	case $option in
	a) all=1 ;;
	j) jobs=1 ;;
	n) list=1 ;;
	k) kernels="$kernels $OPTARG" ;;
	o) keep=$OPTARG ;;
	t) which=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
programs=$KMOD
here=$(sh "$KMOD/kernels.sh" list | xargs)
if [ "${1:-}" = quick ]; then
	kernels=${here%% *}
	programs=$KMOD/programs		# this part needs neither plugin nor tools
	set -- kmod-api kmod-events kmod-hits
fi

result()	# ok|"not ok" text
{
	echo "$1 $next - $2"
	next=$((next + 1))
	[ "$1" = ok ] || failed=1
}

# Builds the files that are the same for all kernels.
make_tree()
{
	tree=$work/tree
	for folder in lib oracle/bin json/bin kmod/guest; do
		mkdir -p "$tree/ldb/tests/$folder"
		cp -R "$TOP/tests/$folder/." "$tree/ldb/tests/$folder/" || return 1
	done
	cp "$TOP/tests/json/thin.jq" "$tree/ldb/tests/json/" || return 1
	mkdir -p "$tree/ldb/build/tests/kmod"
	for file in "$BUILD"/bin/ldb-* "$BUILD"/lib/libldbtrace.so.0 "$BUILD"/tests/tools/helpers/trace-cat \
		    "$BUILD"/tests/tools/helpers/partition-sums \
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

# The analysis, the scanner and the recorder's messages are the same in each kernel, and so are most
# other things that these tests check.  So of two similar tests one runs in one kernel, and one in
# the other.  Tests that are not in this list run in both kernels: those of the module's own events
# (e2e.t, truth.t, programs/) and some others.
one_kernel=$(xargs <<EOF
6.1:calls.t 6.1:frames.t 6.1:ftrace-off.t 6.1:idle.t 6.1:storms.t 6.1:wakers-io.t 6.1:why-cpu.t
6.1:why-memory.t
6.12:both.t 6.12:cycles.t 6.12:hits.t 6.12:nobody.t 6.12:planted.t 6.12:rights.t 6.12:wakers-preempted.t
6.12:wakers-slow.t 6.12:why-locks.t
EOF
)
case $here in *' '*) ;; *) one_kernel= ;; esac

default_tests()	# kernel
{
	for file in "$KMOD"/guest/*.t; do
		case ${file##*/} in
		stress-*) is_debug "$1" || continue ;;
		esac
		[ -z "$default" ] || [ -n "${LDB_TEST_ALL:-}" ] || ! grep -q '^# Slow: ' "$file" || continue
		case " $one_kernel " in
		*" $1:${file##*/} "*) ;;
		*":${file##*/} "*) [ -z "$default" ] || continue ;;
		esac
		case $which in
		timed) grep -qE '^# (Timed|Alone): ' "$file" || continue ;;
		others) ! grep -qE '^# (Timed|Alone): ' "$file" || continue ;;
		esac
		echo "${file##*/}"
	done
	[ "$which" != timed ] || return 0
	for file in "$KMOD/programs"/kmod-*.c; do
		[ ! -f "$file" ] || basename "$file" .c
	done
}

list_tests()	# prints the default tests of $kernel, or the given ones
{
	[ $# -gt 0 ] || default_tests "$kernel" | tr '\n' ' '
	echo "$*"
}

guest_path()	# test
{
	case $1 in
	*.t) echo "/ldb/tests/kmod/guest/$1" ;;
	*) echo "/ldb/build/tests/kmod/programs/$1" ;;
	esac
}

# Runs $paths.  Returns false if the emulator failed, and it is worth trying again.
boot_guest()
{
	# On some machines the emulator fails each time that code changes which another CPU runs.
	turns=
	[ "$boots" -le 3 ] || turns=-1
	# vm.sh runs in the background, so that a signal need not wait for the guest's end.
	# shellcheck disable=SC2086	# $turns: one word or none
	sh "$KMOD/vm.sh" $turns -d -m "$memory" -t "$boot_limit" -r "$tree" -f "$own/ldb.ko:/ldb/ldb.ko" -c "$own/console" \
		"$image" "LDB_CYCLES=$cycles $settings sh /ldb/tests/kmod/guest/all.sh -t $limit$paths" >"$own/boot" 2>"$own/err" &
	vm=$!
	wait "$vm"
	status=$?
	[ -z "$keep" ] || { cp "$own/boot" "$keep.$kernel"; cp "$own/console" "$keep.$kernel.dmesg"; }
	[ "$status" -ne 96 ] || [ "$boots" -ge 12 ]
}

# Finds the kernel and builds the module.  If that fails, prints a result and returns false.
prepare_guest()	# kernel test...
{
	kernel=$1
	own=$work/$kernel
	shift
	mkdir -p "$own"
	if ! triple=$(sh "$KMOD/kernels.sh" "$kernel" 2>"$own/why"); then
		if [ "${CI:-}" = true ]; then
			result "not ok" "$kernel: the kernel is there"
			sed 's/^/# /' "$own/why"
		else
			result ok "$kernel # SKIP $(tail -n 1 "$own/why")"
		fi
		return 1
	fi
	release=$(echo "$triple" | cut -d' ' -f1)
	image=$(echo "$triple" | cut -d' ' -f2)
	headers=$(echo "$triple" | cut -d' ' -f3)
	# The two debug kernels have the same release.  For them the module is compiled for KCOV.
	kmod_build=$BUILD
	cover=
	if is_debug "$kernel"; then
		kmod_build=$BUILD/$kernel
		cover=KCOV_INSTRUMENT=y
	fi
	ko=$kmod_build/kmod/$release/ldb.ko
	if ! make -C "$TOP" --no-print-directory modules BUILD="$kmod_build" KDIR="$headers" $cover >"$own/build" 2>&1 ||
	   ! [ -f "$ko" ]; then
		result "not ok" "$kernel: the module builds"
		tail -n 30 "$own/build" | sed 's/^/# /'
		return 1
	fi
	result ok "$kernel: the module builds for $release"
	cp "$ko" "$own/ldb.ko" && strip -g "$own/ldb.ko"
	list_tests "$@" >"$own/tests"
}

# Boots the kernel until it has run all of $own/tests; writes $own/out and $own/status.
run_guest()
{
	trap 'kill "$vm" 2>/dev/null; exit 130' TERM
	settings=$(env | grep -E '^LDB_(LENGTHS|STORM|FUZZ_SECONDS|FUZZ_SEED|FUZZ_COVER)=[0-9]+$' | tr '\n' ' ')
	# If all tests are requested, or a kernel or a test by its name, loops are longer.
	cycles=20
	if [ -z "$default" ] || [ -n "${LDB_TEST_ALL:-}" ]; then
		cycles=50
		settings="$settings LDB_TEST_ALL=1"
	elif [ -z "${LDB_FUZZ_SECONDS:-}" ]; then
		settings="$settings LDB_FUZZ_SECONDS=5"
	fi
	cycles=${LDB_CYCLES:-$cycles}
	limit=${LDB_TEST_TIMEOUT:-240}
	boot_limit=${LDB_GUEST_TIMEOUT:-1200}
	# If other tests run at the same time, a guest has half of the machine.
	[ "$which" != others ] || limit=$((2 * limit)) boot_limit=$((2 * boot_limit))
	memory=1536
	if is_debug "$kernel"; then
		memory=2048
		boot_limit=${LDB_GUEST_TIMEOUT:-1500}
	fi
	paths=
	for test in $(cat "$own/tests"); do
		paths="$paths $(guest_path "$test")"
	done
	: >"$own/out"
	boots=1
	until boot_guest; do
		# The emulator failed (status 96): this is not the module's fault, but it is always
		# printed.  The results of completed tests count.
		echo "# $kernel: boot $boots: $(tail -n 1 "$own/err"), from $(sed -n 's/^@@ begin //p' "$own/boot" | tail -n 1) on"
		awk '/^@@ begin / { text = "" } { text = text $0 "\n" } /^@@ end / { printf "%s", text; text = "" }' \
			"$own/boot" >>"$own/out"
		paths=$(for path in $paths; do
			grep -q "^@@ end ${path##*/} " "$own/out" || printf ' %s' "$path"
		done)
		boots=$((boots + 1))
		# The emulator fails when tracepoints are switched on and off: with as many
		# cycles as before, no boot may succeed.
		[ "$cycles" -lt 40 ] || cycles=$((cycles / 2))
	done
	cat "$own/boot" >>"$own/out"
	try_timed
	echo "$status" >"$own/status"
}

# only() prints the output of one test, all_but() that of all others.
only()		# test
{
	awk -v test="$1" '/^@@ begin / { on = $3 == test } on; /^@@ end / { on = 0 }' "$own/out"
}

all_but()	# test
{
	awk -v test="$1" '/^@@ begin / { off = $3 == test } !off; /^@@ end / { off = 0 }' "$own/out"
}

# Scripts with a line "# Timed: WHY" that failed have a second try, as in tests/run.sh, in another
# guest, unless the kernel had complained.
try_timed()
{
	paths=
	for test in $(grep -l '^# Timed: ' "$KMOD"/guest/*.t | sed 's|.*/||'); do
		only "$test" >"$own/only"
		grep -q "^@@ end $test .* clean\$" "$own/only" || continue
		if grep -q '^not ok' "$own/only" || ! grep -q "^@@ end $test 0 " "$own/only"; then
			paths="$paths $(guest_path "$test")"
			echo "# $kernel $test: failed, and is run once more:"
			sed 's/^@@ /# /; s/^not ok/# not ok/; /^#.*not ok/!s/^ok/# ok/; /^# json/d; /^1\.\./d' "$own/only" |
				grep -A 12 -e '^# not ok' -e '^# end'
			all_but "$test" >"$own/others" && mv "$own/others" "$own/out"
		fi
	done
	[ -n "$paths" ] || return 0
	boots=3
	until boot_guest; do
		boots=$((boots + 1))
	done
	cat "$own/boot" >>"$own/out"
}

report_guest()	# kernel
{
	kernel=$1
	own=$work/$kernel
	status=$(cat "$own/status")
	awk -v kernel="$kernel" -v tests="$(cat "$own/tests")" -v first="$next" -f "$KMOD/merge.awk" \
		"$own/out" >"$own/tap"
	next=$(($(sed -n 's/^@@ total //p' "$own/tap") + 1))
	! grep -q '^not ok' "$own/tap" || failed=1
	[ ! -d "${LDB_JSON:-}" ] || sed -n 's/^# json //p' "$own/tap" >"$LDB_JSON/$kernel${which:+-$which}"
	sed '/^@@ total/d; /^# json /d' "$own/tap"
	if [ "$status" -eq 0 ]; then
		result ok "$kernel: the guest ended well"
	else
		result "not ok" "$kernel: the guest ended well (vm.sh: exit status $status)"
		sed 's/^/# /' "$own/err"
		grep -v '^@@' "$own/out" | tail -n 20 | sed 's/^/#   /'
	fi
}

report_all()	# reports the guests of $running, in the order in which they were started
{
	for guest in $running; do
		wait "${guest#*:}"
		report_guest "${guest%%:*}"
	done
	running=
}

default=
[ -n "$all$kernels$*" ] || default=1
if [ -n "$list" ]; then
	for kernel in ${kernels:-$here}; do
		echo "$kernel: $(list_tests "$@")"
	done
	exit 0
fi
need_guests
work=$(mktemp -d "${TMPDIR:-/tmp}/ldb-kmod.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
running=
trap 'for guest in $running; do kill "${guest#*:}" 2>/dev/null; done; exit 130' INT TERM HUP
next=1
failed=0
if ! ${MAKE:-make} --no-print-directory -C "$programs" all BUILD="$BUILD" >"$work/build" 2>&1; then
	result "not ok" "the guests' programs build"
	tail -n 20 "$work/build" | sed 's/^/# /'
	echo "1..1"
	exit 1
fi
make_tree || die "cannot make the guests' tree"
[ -z "$default" ] || [ "$which" = timed ] || echo "# in one kernel, being the same in both: $one_kernel (make check-kmod: in both)"
for kernel in ${kernels:-$here}; do
	prepare_guest "$kernel" "$@" || continue
	run_guest &
	running="$running $kernel:$!"
	[ -n "$jobs" ] || report_all
done
report_all
echo "1..$((next - 1))"
exit "$failed"
