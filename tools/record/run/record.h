/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the command lines call. */
#ifndef RECORD_RUN_RECORD_H
#define RECORD_RUN_RECORD_H

#include "record/output/options.h"

/* Makes a recording; returns the exit status. */
int record_run(const struct record_options *o);

#endif
