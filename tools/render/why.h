/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presents the causes of slow requests. */
#ifndef RENDER_WHY_H
#define RENDER_WHY_H

#include "analysis/why/traits.h"
#include "analysis/why/why.h"
#include "render/render.h"

struct render_why {
	const struct model *model;
	const struct why *why;
	const struct why_options *options;
	size_t nr_causes, nr_requests;	/* greatest numbers of rows that text shows */
	const struct traits *traits;	/* NULL: not requested */
};

/*
 * CSV has a row for each request and cause.  why_shares_printer: JSON and CSV contain the whole
 * partition of each request.  why_shared_printer: CSV has a row for each trait that slow requests
 * share.
 */
extern const struct printer why_printer, why_shares_printer, why_shared_printer;

/* why-data.c: columns of struct render_why */
extern const struct column why_columns[], why_shares_columns[], why_shared_columns[];

/* Columns of parts of these: of struct why_cause, and of struct why. */
extern const struct column why_cause_columns[], why_classes_columns[];

#define WHY_SENTENCE_MAX	2048

/* Writes one sentence without a newline, of at most WHY_SENTENCE_MAX bytes; returns buf. */
char *why_target_sentence(const struct why *w, const struct why_target *t, char *buf);
char *why_cause_sentence(const struct why *w, const struct why_cause *c, char *buf);

/*
 * Writes the advice for a cause, and which thread held the lock or ended the wait in the slowest
 * request; "" if there is no advice.
 */
char *why_cause_advice(const struct why_cause *c, char *buf);

/* Returns the kind of a cause in words, such as "a lock", "head-of-line blocking". */
const char *why_kind_text(const struct why_cause *c);

/* Returns the kind of a cause in JSON, such as "function", "lock_wait", "page_faults". */
const char *why_cause_name(const struct why_cause *c);

#endif
