// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel events without the module: programs that the kernel checks, compiles and runs at
 * its tracepoints.  They do what the module's probes do (kmod/switch.c, wake.c, process.c,
 * irq.c, fault.c), by the rules in linux/ldb.h: what does not concern the program is
 * dropped where it happens, and the rest becomes the same records.
 *
 * What the module has and this has not: the innermost frame at a switch, futexes, and the
 * pages of threads (k_seq).
 */
#include "sched.h"
#include "process.h"
#include "hits.h"

static const char terms[] __attribute__((used)) SEC("license") = "GPL";
