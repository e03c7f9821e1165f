// SPDX-License-Identifier: GPL-2.0-or-later
/* Defines the module's parameters, in a separate file because all parts of the module read them. */
#include <linux/moduleparam.h>
#include "ldb_internal.h"

unsigned int ldb_max_mb = 1024;
module_param_named(max_mb, ldb_max_mb, uint, 0644);
MODULE_PARM_DESC(max_mb, "memory that one session can have, in MiB (1024)");

unsigned int ldb_mlock_kb = 516;
module_param_named(mlock_kb, ldb_mlock_kb, uint, 0644);
MODULE_PARM_DESC(mlock_kb, "memory that a user can have per CPU, in KiB, beside RLIMIT_MEMLOCK (516)");

unsigned int ldb_max_sessions = 64;
module_param_named(max_sessions, ldb_max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "sessions at a time (64)");

unsigned int ldb_max_user_sessions = 16;
module_param_named(max_user_sessions, ldb_max_user_sessions, uint, 0644);
MODULE_PARM_DESC(max_user_sessions, "sessions of a user without CAP_SYS_RESOURCE (16)");

unsigned int ldb_max_user_rate = 10;
module_param_named(max_user_rate, ldb_max_user_rate, uint, 0644);
MODULE_PARM_DESC(max_user_rate, "sessions a second of a user without CAP_SYS_RESOURCE; 0: any (10)");

unsigned int ldb_disarm_delay_ms = 5000;
module_param_named(disarm_delay_ms, ldb_disarm_delay_ms, uint, 0644);
MODULE_PARM_DESC(disarm_delay_ms, "how long the probes stay after the last session (5000)");

unsigned int ldb_irq_min_ns = 1000;
module_param_named(irq_min_ns, ldb_irq_min_ns, uint, 0644);
MODULE_PARM_DESC(irq_min_ns, "interrupts shorter than this are counted and not recorded (1000)");

bool ldb_arm_isolated;
module_param_named(arm_isolated, ldb_arm_isolated, bool, 0644);
MODULE_PARM_DESC(arm_isolated, "users without CAP_PERFMON may interrupt isolated CPUs (N)");

bool ldb_force_tsc;
module_param_named(force_tsc, ldb_force_tsc, bool, 0644);
MODULE_PARM_DESC(force_tsc, "use the TSC even if the kernel does not trust it; for tests (N)");
