// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Holds facts of the process: one part of the runtime sets each, and many read it.  This file uses
 * no other, so that all others may use it.
 */
#include "runtime.h"

DORMANT_PAGE bool inert;
DORMANT_PAGE bool initialised;
DORMANT_PAGE uint32_t control_pid;
DORMANT_PAGE struct raw_thread control_thread;
_Atomic uint32_t control_leaving;
int control_kick = -1;
