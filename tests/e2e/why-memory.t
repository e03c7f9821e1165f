# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that pay for memory: an allocator's slow path, malloc(), page faults.  A guest
# tests what the kernel reports about these.
# Timed: the judged causes are those that the scanner had to observe.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/why.sh"
why_truth=1
need_build
build_why why-functions

record_cause arena ./why-functions arena
judge arena cause=function anomaly=unexpected_function label=arena_grow category=Allocation
record_cause malloc ./why-functions malloc
judge malloc cause=function anomaly=unexpected_function label=make_buffer
record_cause faults ./why-functions faults
judge faults cause=function anomaly=slower label=fill at_most=40

judge_sums
judge_times arena-plant malloc-plant
judge_coverage
finish
