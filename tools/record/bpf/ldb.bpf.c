// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records kernel events without the kernel module.  The kernel checks and compiles these BPF
 * programs, and runs them at its tracepoints.  They do the same as the module's probes
 * (kmod/switch.c, wake.c, process.c, irq.c, fault.c, call.c, disk.c), by the rules in linux/ldb.h:
 * they drop events that do not concern the program at once, and write the same records for the
 * others.
 *
 * In contrast to the module they record no futexes, and do not write into the pages of threads
 * (k_seq).
 */
#include "sched.h"
#include "process.h"
#include "interruptions.h"
#include "disk.h"

static const char terms[] __attribute__((used)) SEC("license") = "GPL";
