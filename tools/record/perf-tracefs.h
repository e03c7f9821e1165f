/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the tracepoints' formats come from. */
#ifndef RECORD_PERF_TRACEFS_H
#define RECORD_PERF_TRACEFS_H

#include "record/perf-private.h"

/* futex: that one too.  False: why is one line. */
bool perf_tracefs_read(struct perf_formats *f, bool futex, char *why, size_t why_size);

#endif
