/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the module read chains of frames (LDB_IOC_CHAINS).  As a source it delivers nothing: its
 * records are in the rings of the module's session.
 */
#ifndef RECORD_DEVICE_CHAINS_H
#define RECORD_DEVICE_CHAINS_H

#include "record/kernel-source.h"
#include "record/session.h"

/*
 * is_always: CPUs are interrupted for readings also while the scanner has one.  NULL: the
 * module is of an older release, or there is no memory.
 */
struct kernel_source *device_chains_open(const struct session *s, uint32_t budget_ppm, bool is_always);

#endif
