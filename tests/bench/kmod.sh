# SPDX-License-Identifier: GPL-2.0-or-later
# Section of make bench: sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# A switch of threads with the kernel module, in guest instructions.
bench_kmod()
{
	sh "$TOP/tests/kmod/bench.sh" || failed=1
}
