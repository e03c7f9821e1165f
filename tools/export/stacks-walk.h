/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time by stack, of what the options select. */
#ifndef EXPORT_STACKS_WALK_H
#define EXPORT_STACKS_WALK_H

#include "export/export.h"
#include "export/stacks.h"

/* 0 or -errno. */
int stacks_walk(struct stacks *s, struct model *m, const struct export_options *o);

#endif
