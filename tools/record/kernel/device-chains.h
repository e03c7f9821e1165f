/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the kernel module read chains of frames (LDB_IOC_CHAINS).  This source delivers no events
 * itself: the module writes the readings into the rings of its session.
 */
#ifndef RECORD_KERNEL_DEVICE_CHAINS_H
#define RECORD_KERNEL_DEVICE_CHAINS_H

#include "record/kernel/source.h"
#include "record/session/session.h"

/*
 * is_always: interrupt CPUs to read frames even while the scanner runs.  Returns NULL if the
 * module is too old, or if there is no memory.
 */
struct kernel_source *device_chains_open(const struct session *s, uint32_t budget_ppm, bool is_always);

#endif
