// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Contains variables that describe the process.  Each is set by one part of the runtime, and read
 * by many.  This file depends on no other, so that all others may depend on it.
 */
#include "runtime.h"

DORMANT_PAGE bool inert;
DORMANT_PAGE bool initialised;
DORMANT_PAGE uint32_t control_pid;
DORMANT_PAGE struct raw_thread control_thread;
_Atomic uint32_t control_leaving;
int control_kick = -1;
