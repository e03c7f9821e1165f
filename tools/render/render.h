/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How results look.  Every function writes one whole document to r->out; what
 * is shown was decided before.  Text is for people: it fits r->width and shows
 * nothing that could steer a terminal.  JSON and CSV are for programs: all
 * columns, integers in nanoseconds.
 */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include <stdio.h>
#include "facts/hits.h"
#include "analysis/report/locks.h"
#include "facts/model.h"
#include "analysis/report/requests.h"
#include "analysis/report/schedstats.h"
#include "analysis/report/stats.h"
#include "analysis/timeline/timeline.h"
#include "cli/json.h"

struct render {
	FILE *out;
	unsigned width;		/* columns */
	bool has_width;		/* somebody said so: what is longer goes on in the next line */
	bool has_color;
	bool is_verbose;
	bool is_kernel_only;	/* of the trace: nothing to show but kernel events */
};

/* Width and colour as the terminal behind out has them, $COLUMNS and $NO_COLOR. */
void render_init(struct render *r, FILE *out);

/* Functions: rows[0 .. nr) of stats in the order to show; nr_hidden more exist. */
struct render_functions {
	const struct model *model;
	const struct stats *stats;
	const struct stats_entry *const *rows;
	size_t nr, nr_hidden;
	enum stats_by by;
	const char *sorted_by;
};

void text_functions(const struct render *r, const struct render_functions *f);
void json_functions(const struct render *r, const struct render_functions *f);
void csv_functions(const struct render *r, const struct render_functions *f);

/* Order of two entries by the column of that key; greater numbers, lesser texts first. */
int functions_compare(const char *key, const struct stats_entry *a, const struct stats_entry *b);
extern const char *const functions_sort_keys[];	/* ends with NULL */

/* Locks: the first nr entries. */
struct render_locks {
	const struct model *model;
	const struct locks *locks;
	size_t nr;
};

void text_locks(const struct render *r, const struct render_locks *l);
void json_locks(const struct render *r, const struct render_locks *l);
void csv_locks(const struct render *r, const struct render_locks *l);

/* Requests: timelines[i] is the one of requests->lives[i]. */
struct render_requests {
	const struct model *model;
	const struct requests *requests;
	const struct timeline *timelines;
};

void text_requests(const struct render *r, const struct render_requests *q);
void json_requests(const struct render *r, const struct render_requests *q);
void csv_requests(const struct render *r, const struct render_requests *q);

/* The same as a part of a document. */
void json_put_functions(struct json *j, const char *key, const struct render_functions *f);
void json_put_locks(struct json *j, const char *key, const struct render_locks *l);
void json_put_requests(struct json *j, const char *key, const struct render_requests *q);

/* Kernel events: the first nr threads, nr_parties antagonists and wakers. */
struct render_sched {
	const struct model *model;
	const struct schedstats *stats;
	size_t nr, nr_parties;
};

void text_sched(const struct render *r, const struct render_sched *s);
void json_sched(const struct render *r, const struct render_sched *s);
void csv_sched(const struct render *r, const struct render_sched *s);

/* The recording itself. */
struct render_summary {
	const struct model *model;
	const struct stats *stats;	/* NULL: not known */
};

void text_summary(const struct render *r, const struct render_summary *s);
void json_summary(const struct render *r, const struct render_summary *s);

void json_put_sched(struct json *j, const char *key, const struct render_sched *s);
void json_put_summary(struct json *j, const char *key, const struct render_summary *s);

/* The lines every text report begins with: what was seen, what was lost. */
void text_head(const struct render *r, const struct model *m, const struct stats *stats);

/* A timeline. */
struct render_timeline {
	const struct model *model;
	const struct timeline *timeline;
	int64_t p50_ns;			/* of the requests of its class; -1: not known */
	size_t nth, nr_occurrences;	/* this is the nth life of the id, from 1 */
	size_t nr_lines;		/* of the list of segments */
	struct hits hits;		/* page faults, interrupts, where the trace has them */
};

void text_timeline(const struct render *r, const struct render_timeline *t);

/* Its first line: where the time went.  And one of the causes as a part of a sentence. */
void text_story(const struct render *r, const struct render_timeline *t);
void text_cause(const struct render *r, const struct model *m, const struct timeline_cause *c);

/* The segments of nr of them. */
void csv_timeline(const struct render *r, const struct render_timeline *t, size_t nr);

/* One object, or with is_array an array of nr. */
void json_timelines(const struct render *r, const struct render_timeline *t, size_t nr,
		    bool is_array);

/* The lives of one id, one line each. */
void text_lives(const struct render *r, const struct model *m, const struct life *lives, size_t nr,
		size_t nth);

/* Kinds of losses, as model.lost counts them; NULL: not used. */
extern const char *const lost_names[MODEL_NR_LOST];

/* "function", "lock_wait", ... */
const char *segment_kind_name(enum segment_kind kind);

#endif
