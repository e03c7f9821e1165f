#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures what recording switches, page faults and interrupts costs, in guest instructions: part of
# make bench.
#
#	tests/kmod/bench.sh [KERNEL]...		default: 6.1 6.12
#
# Times mean nothing in an emulated guest.  But with one CPU and a virtual time that is the
# count of instructions (-icount), two threads that wake each other do the same in every run;
# the table has ratios to the same kernel without a recorder.  Caches and the cost of a locked
# instruction are not counted.
#
# The exit status is 1 if a bound is exceeded.

. "$(dirname "$0")/../lib/kmod.sh"
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/ldb-kmod.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

${MAKE:-make} -s --no-print-directory -C "$KMOD" all BUILD="$BUILD" >&2 || exit 1
mkdir -p "$work/tree/ldb"
cp "$KMOD/guest/bench.sh" "$work/tree/ldb/"
tree_add "$work/tree" "$BUILD/tests/kmod/guest/bench-plain:/ldb/build/tests/kmod/guest/bench-plain"
if command -v perf >/dev/null; then
	tree_add "$work/tree" "$(command -v perf)"
else
	note "no perf: package linux-perf: its rows are missing"
fi

[ $# -gt 0 ] || set -- 6.1 6.12
for kernel; do
	triple=$(sh "$KMOD/kernels.sh" "$kernel") || continue
	release=$(echo "$triple" | cut -d' ' -f1)
	image=$(echo "$triple" | cut -d' ' -f2)
	headers=$(echo "$triple" | cut -d' ' -f3)
	ko=
	if make -C "$TOP" --no-print-directory modules BUILD="$BUILD" KDIR="$headers" >"$work/build" 2>&1; then
		cp "$BUILD/kmod/$release/ldb.ko" "$work/ldb.ko" && strip -g "$work/ldb.ko"
		ko="-f $work/ldb.ko:/ldb/ldb.ko"
	else
		note "the module does not build: $(tail -n 1 "$work/build")"
	fi
	# shellcheck disable=SC2086	# $ko: two words or none
	sh "$KMOD/vm.sh" -i -t 400 $ko -r "$work/tree" "$image" "sh /ldb/bench.sh ${LDB_BENCH_ROUNDS:-2000}" \
		>"$work/out" || { cat "$work/out"; failed=1; continue; }
	awk -v release="$release" -f "$KMOD/bench.awk" "$work/out" || failed=1
done
exit "$failed"
