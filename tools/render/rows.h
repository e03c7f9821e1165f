/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the tables for people, and the heads over their columns. */
#ifndef RENDER_ROWS_H
#define RENDER_ROWS_H

#include "render/render.h"

/* One line, and one more for the name and for the call site where they do not fit. */
void rows_function_head(const struct render *r, enum stats_by by);
void rows_function(const struct render *r, const struct stats_entry *e, enum stats_by by);

/* Waits or holds; name: of what, NULL: of the function where; where may be NULL. */
void rows_times_head(const struct render *r, const char *what);
void rows_times(const struct render *r, const char *what, const struct lock_times *t,
		const char *name, const struct symbol *where);

void rows_class_head(const struct render *r);
void rows_class(const struct render *r, const struct request_class *c, const char *name);

void rows_request_head(const struct render *r);
void rows_request(const struct render *r, const struct model *m, const struct timeline *t);

#endif
