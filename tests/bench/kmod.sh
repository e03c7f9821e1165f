# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Counts the guest's instructions for a switch of threads, with the kernel module.
bench_kmod()
{
	sh "$TOP/tests/kmod/bench.sh" || failed=1
}
