#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make check-kmod-debug runs all tests of tests/kmod in the kernel with KASAN, lockdep and
# kmemleak, with more cycles, larger storms and more of kmod-fuzz's programs; storms.t and most of
# programs/ in the kernel with KCSAN; and harness.t, which tests that both kernels notice faults.
#
#	tests/kmod/debug.sh [TEST]...
#
# LDB_CYCLES: cycles of load, record and unload, default 1000; LDB_FUZZ_SECONDS: how long
# kmod-fuzz runs in each kernel, default 300.  The last line is "N passed, N failed", as of make
# check.  This takes about three quarters of an hour on two cores, and a quarter more the first
# time, when the kernels are built.

. "$(dirname "$0")/../lib/kmod.sh"
LDB_CYCLES=${LDB_CYCLES:-1000}
LDB_STORM=${LDB_STORM:-3}
LDB_FUZZ_SECONDS=${LDB_FUZZ_SECONDS:-300}
LDB_TEST_TIMEOUT=${LDB_TEST_TIMEOUT:-3000}
LDB_GUEST_TIMEOUT=${LDB_GUEST_TIMEOUT:-4000}
LDB_KMOD_HARNESS=debug
export LDB_CYCLES LDB_STORM LDB_FUZZ_SECONDS LDB_TEST_TIMEOUT LDB_GUEST_TIMEOUT LDB_KMOD_HARNESS

log=$BUILD/tests/log/kmod-debug.log
mkdir -p "${log%/*}"
for kernel in kasan kcsan; do
	sh "$KMOD/debug-kernel.sh" $kernel >/dev/null || exit 1
done
# Other tests, which record with the module, are slow in a debug kernel, and find no further races.
races="kmod-api kmod-events kmod-fuzz kmod-hits kmod-join kmod-life kmod-order kmod-race"
{
	sh "$KMOD/run.sh" -k kasan "$@"
	# shellcheck disable=SC2086	# a list
	if [ $# -gt 0 ]; then
		sh "$KMOD/run.sh" -k kcsan "$@"
	else
		sh "$KMOD/run.sh" -k kcsan $races storms.t
	fi
	[ $# -gt 0 ] || sh "$KMOD/harness.t"
} 2>&1 | tee "$log"
awk '/^ok / { if (/# SKIP/) s++; else p++ } /^not ok / { f++ } /^1\.\.[0-9]/ { plans++ }
     END { if (plans < 1) f++; printf "%d passed, %d failed\n", p, f; exit f > 0 }' "$log"
