/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Presents results.  A report is a complete document that is written to r->out; the caller has
 * chosen its contents.  Text is for people: if has_width is set, it is at most r->width columns
 * wide, and names in it contain no characters that control a terminal.  JSON and CSV are for
 * programs: they contain all columns, and times as integers in nanoseconds.
 */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include <stdio.h>
#include "facts/interruption-sums.h"
#include "analysis/report/locks.h"
#include "facts/model.h"
#include "analysis/report/requests.h"
#include "analysis/report/schedstats.h"
#include "analysis/report/stats.h"
#include "analysis/timeline/timeline.h"
#include "cli/document.h"

enum render_form { RENDER_TEXT, RENDER_JSON, RENDER_CSV };

struct render {
	FILE *out;
	enum render_form form;
	unsigned width;		/* columns */
	bool has_width;		/* longer lines must be wrapped */
	bool has_color;
	bool is_verbose;
	bool has_estimates;	/* latencies of requests are estimates */
	bool is_kernel_only;	/* the trace has only kernel events */
};

/* Sets width and colour according to the terminal behind out, $COLUMNS and $NO_COLOR. */
void render_init(struct render *r, FILE *out);

/*
 * Says how a report is printed in each format.  If its columns use row_model() (columns.h), the
 * struct of the report begins with a pointer to the model.
 */
struct printer {
	enum document document;
	const struct column *columns;	/* columns of the report for JSON and CSV */
	void (*text)(const struct render *r, const void *report);
	/* indentation of continued lines; 0: text() wraps lines itself */
	unsigned indent;
};

/* render_show() prints the report in the selected format, render_as() in a given one. */
void render_show(const struct render *r, const struct printer *p, const void *report);
void render_as(const struct render *r, enum render_form form, const struct printer *p,
	       const void *report);

/* The report on functions: rows[0 .. nr) of stats, in this order; nr_hidden more are not shown. */
struct render_functions {
	const struct model *model;
	const struct stats *stats;
	const struct stats_entry *const *rows;
	size_t nr, nr_hidden;
	enum stats_by by;
	const char *sorted_by;
};

extern const struct printer functions_printer;

/* Returns the nth key of --sort, of which the first is the default; NULL after the last. */
const char *functions_sort_key(size_t n);

/* Sorts by the column with this key.  Equal rows are in a defined order, the same in each run. */
void functions_sort(const struct stats_entry **rows, size_t nr, const char *key);

/* The report on locks.  It shows the first nr entries. */
struct render_locks {
	const struct model *model;
	const struct locks *locks;
	size_t nr;
};

extern const struct printer locks_printer;

/* The report on requests.  timelines[i] belongs to request instance i. */
struct render_requests {
	const struct model *model;
	const struct requests *requests;
	const struct timeline *timelines;
};

extern const struct printer requests_printer;

/*
 * The report on kernel events: shows the first nr threads, and nr_contexts each of preempting and
 * waking tasks.
 */
struct render_sched {
	const struct model *model;
	const struct schedstats *stats;
	size_t nr, nr_contexts;
};

extern const struct printer sched_printer;

/* The report on the properties of a recording. */
struct render_summary {
	const struct model *model;
	const struct stats *stats;	/* NULL: not known */
};

extern const struct printer summary_printer;

/* The following print parts of the reports above, for ldb-top. */
void text_function_heads(const struct render *r, enum stats_by by);
void text_function_row(const struct render *r, const struct stats_entry *e, enum stats_by by);
void text_classes(const struct render *r, const struct requests *requests, size_t nr);
void text_slowest(const struct render *r, const struct model *m, const struct timeline *timelines,
		  size_t nr);
/*
 * text_times() prints waits or holds.  `name` is the object's name; NULL: the function of `where`
 * is named.  `where` may be NULL.
 */
void text_times_heads(const struct render *r, const char *what);
void text_times(const struct render *r, const char *what, const struct lock_times *t,
		const char *name, const struct symbol *where);

/* Prints the lines with which most text reports begin: what was observed, and what was lost. */
void text_head(const struct render *r, const struct model *m, const struct stats *stats);

/* A timeline. */
struct render_timeline {
	const struct model *model;
	const struct timeline *timeline;
	/* median latency of the requests of its class; -1: not known */
	int64_t p50_ns;
	size_t nth, nr_occurrences;	/* the nth request instance of the id, from 1 */
	size_t nr_lines;		/* greatest number of lines of the list of segments */
	/* number of requests of other processes that belong to the request and are not shown */
	size_t nr_parts;
	struct interruptions interruptions;		/* page faults and interrupts, if they were recorded */
};

void text_timeline(const struct render *r, const struct render_timeline *t);

/*
 * Prints the requests of a distributed trace, or others that belong together: how each request
 * spent its time, and all of them as one timeline.  `which` follows "N requests" in the first line:
 * "of this trace" or "that belong together".
 */
void text_trace(const struct render *r, const struct render_timeline *each, size_t nr,
		const struct render_timeline *all, const char *which);

/* Lists requests that were open at a tick. */
void text_open(const struct render *r, const struct model *m, const struct instance *instances, size_t nr, int64_t at);

/* timeline-picture.c: draws a timeline. */
void text_picture(const struct render *r, const struct render_timeline *t);

/*
 * text_explanation() prints the first line of a timeline, which says where the time went; text_cause()
 * prints one of the causes as a part of a sentence.
 */
void text_explanation(const struct render *r, const struct render_timeline *t);
void text_cause(const struct render *r, const struct model *m, const struct timeline_cause *c);

/* Prints the segments of nr timelines. */
void csv_timeline(const struct render *r, const struct render_timeline *t, size_t nr);

/* Prints one object, or, if is_array, an array of nr objects. */
void json_timelines(const struct render *r, const struct render_timeline *t, size_t nr,
		    bool is_array);

/* Prints the request instances with the same id, one line each. */
void text_instances(const struct render *r, const struct model *m, const struct instance *instances, size_t nr,
		size_t nth);

#endif
