// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records kernel events without the module: BPF programs, which the kernel checks, compiles and
 * runs at its tracepoints, do the same as the module's probes (kmod/switch.c, wake.c, process.c,
 * irq.c, fault.c, call.c, disk.c), by the rules in linux/ldb.h: events that do not concern the
 * program are dropped at once, and for the others the same records are written.
 *
 * Unlike the module it does not record futexes, and the pages of threads (k_seq).  Unlike the
 * module it records all frames at a switch (chain.h).
 */
#include "sched.h"
#include "process.h"
#include "hits.h"
#include "disk.h"

static const char terms[] __attribute__((used)) SEC("license") = "GPL";
