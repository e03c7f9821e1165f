/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides by their classes which requests are written; see filter.h. */
#ifndef RECORD_FILTER_REQUESTS_H
#define RECORD_FILTER_REQUESTS_H

struct filter_ids;

struct filter_ids *filter_ids_alloc(void);
void filter_ids_free(struct filter_ids *t);

#endif
