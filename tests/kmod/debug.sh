#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make check-kmod-debug: all tests of tests/kmod in the kernel with KASAN, lockdep and
# kmemleak, with more cycles, larger storms and more of the generator's programs; and
# that this kernel notices.
#
#	tests/kmod/debug.sh [TEST]...
#
# LDB_CYCLES: cycles of load, record and unload, default 1000; LDB_FUZZ_SECONDS: of
# kmod-fuzz, default 300.  Ends in "N passed, N failed" like make check.
# About half an hour on two cores, and 7 minutes more the first time, for the kernel.

. "$(dirname "$0")/lib.sh"
LDB_CYCLES=${LDB_CYCLES:-1000}
LDB_STORM=${LDB_STORM:-3}
LDB_FUZZ_SECONDS=${LDB_FUZZ_SECONDS:-300}
LDB_TEST_TIMEOUT=${LDB_TEST_TIMEOUT:-3000}
LDB_GUEST_TIMEOUT=${LDB_GUEST_TIMEOUT:-4000}
LDB_KMOD_HARNESS=debug
export LDB_CYCLES LDB_STORM LDB_FUZZ_SECONDS LDB_TEST_TIMEOUT LDB_GUEST_TIMEOUT LDB_KMOD_HARNESS

log=$BUILD/tests/log/kmod-debug.log
mkdir -p "${log%/*}"
sh "$KMOD/debug-kernel.sh" kasan >/dev/null || exit 1
{
	sh "$KMOD/run.sh" -k kasan "$@"
	[ $# -gt 0 ] || sh "$KMOD/harness.t"
} 2>&1 | tee "$log"
awk '/^ok / { if (/# SKIP/) s++; else p++ } /^not ok / { f++ } /^1\.\.[0-9]/ { plans++ }
     END { if (plans < 1) f++; printf "%d passed, %d failed\n", p, f; exit f > 0 }' "$log"
