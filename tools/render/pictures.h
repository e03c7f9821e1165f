/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the pictures of ldb-why as text, JSON, CSV and folded stacks; analysis/why/pictures.h
 * computes their contents.
 */
#ifndef RENDER_PICTURES_H
#define RENDER_PICTURES_H

#include "analysis/why/pictures.h"
#include "render/render.h"

enum picture {
	PICTURE_BALLOONS,	/* latencies in order of arrival, and causes of the slow ones */
	PICTURE_BOXES,		/* time that each cause added */
	PICTURE_QUEUES,		/* how many more requests than usual were ahead */
	PICTURE_CPUS,		/* which tasks ran on the CPUs */
	PICTURE_BLAME,		/* a tree of paths, locks, holders, and what blocked the holders */
	NR_PICTURES
};

struct render_picture {
	const struct why *why;
	const void *of;		/* the analysis's struct for this picture */
};

/* PICTURE_BLAME can also be printed as folded stacks, for flame graph programs, or as sums only. */
enum picture_form {
	PICTURE_WHOLE,
	PICTURE_FOLDED,
	PICTURE_SUMS,
};

/* Prints a complete document.  Returns 0 or -errno. */
int picture_show(const struct render *r, enum picture which, enum picture_form form,
		 const struct why *w);

/* pictures-text.c, pictures-plots.c: print a struct render_picture */
void text_balloons(const struct render *r, const void *picture);
void text_boxes(const struct render *r, const void *picture);
void text_queues(const struct render *r, const void *picture);
void text_cpus(const struct render *r, const void *picture);
void text_blame(const struct render *r, const void *picture);
void text_blamed(const struct render *r, const void *picture);

/* Returns how many bins text_balloons() needs: one for each column of the plot. */
size_t text_balloons_columns(const struct render *r);

/* pictures-data.c: columns of a struct render_picture, which may be part of a document */
extern const struct column *const picture_columns[NR_PICTURES];
extern const struct column picture_sums[];
void picture_put_json(struct json *j, enum picture which, const struct why *w, const void *of);
void folded_blame(const struct render *r, const struct blametree *b);

/*
 * Returns a description such as "waiting for db_lock in look_up()", "parse(): slower"; buf has
 * TEXT_ROOM bytes.
 */
const char *picture_cause(const struct why *w, const struct why_cause *c, char *buf);

/* Returns a name such as "worker", "idle", "another program (hidden)". */
const char *picture_context(const struct cpu_context *c);

/*
 * Returns a description such as "snapshot() app.c:20 of thread snapshotter 2, which held a lock";
 * buf has TEXT_ROOM bytes.
 */
const char *picture_blamed(const struct blamed *b, char *buf);

/*
 * Returns the name in folded stacks, such as "parse", "[lock_wait db_lock]"; buf has TEXT_ROOM
 * bytes.
 */
const char *picture_frame(const struct blametree_frame *f, char *buf);

#endif
