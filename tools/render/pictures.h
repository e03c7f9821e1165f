/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pictures of ldb-why as text, JSON, CSV and folded stacks; what they show is in
 * analysis/why/pictures.h.
 */
#ifndef RENDER_PICTURES_H
#define RENDER_PICTURES_H

#include "analysis/why/pictures.h"
#include "render/render.h"

enum picture {
	PICTURE_BALLOONS,	/* latencies in order of arrival, and the causes of the targets */
	PICTURE_BOXES,		/* what each cause added */
	PICTURE_QUEUES,		/* how many more were ahead */
	PICTURE_CPUS,		/* who had the CPUs */
	PICTURE_BLAME,		/* paths, locks, holders, their causes */
	NR_PICTURES
};

enum picture_form { PICTURE_TEXT, PICTURE_JSON, PICTURE_CSV, PICTURE_FOLDED /* BLAME */ };

/* One whole document.  against: as for queues_build().  0 or -errno of what it reads. */
int picture_show(const struct render *r, enum picture which, enum picture_form form,
		 const struct why *w, const struct partition *against);

/* pictures-text.c, pictures-plots.c */
void text_balloons(const struct render *r, const struct why *w, const struct balloons *b);
void text_boxes(const struct render *r, const struct why *w, const struct boxes *b);
void text_queues(const struct render *r, const struct why *w, const struct queues *q);
void text_cpus(const struct render *r, const struct why *w, const struct cpus *c);
void text_blame(const struct render *r, const struct why *w, const struct blametree *b);

/* The columns of a plot of text_balloons(): of its bins. */
size_t text_balloons_columns(const struct render *r);

/* pictures-data.c: a part of a document */
void json_put_balloons(struct json *j, const char *key, const struct why *w, const struct balloons *b);
void json_put_boxes(struct json *j, const char *key, const struct why *w, const struct boxes *b);
void json_put_queues(struct json *j, const char *key, const struct why *w, const struct queues *q);
void json_put_cpus(struct json *j, const char *key, const struct cpus *c);
void json_put_blame(struct json *j, const char *key, const struct blametree *b);
void csv_balloons(const struct render *r, const struct why *w, const struct balloons *b);
void csv_boxes(const struct render *r, const struct why *w, const struct boxes *b);
void csv_queues(const struct render *r, const struct why *w, const struct queues *q);
void csv_cpus(const struct render *r, const struct cpus *c);
void csv_blame(const struct render *r, const struct blametree *b);
void folded_blame(const struct render *r, const struct blametree *b);

/* "waiting for db_lock in look_up()", "parse(): slower"; buf has TEXT_ROOM bytes. */
const char *picture_cause(const struct why *w, const struct why_cause *c, char *buf);

/* "worker", "idle", "another program (hidden)" */
const char *picture_context(const struct cpu_context *c);

/* "parse", "[lock_wait db_lock]": as in folded stacks; buf has TEXT_ROOM bytes. */
const char *picture_frame(const struct blametree_frame *f, char *buf);

#endif
