/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the data of the timeline's page before it is written, for the files that make this page.
 */
#ifndef PAGE_TIMELINE_PRIVATE_H
#define PAGE_TIMELINE_PRIVATE_H

#include "analysis/tracks/tracks.h"
#include "base/intern.h"
#include "page/store.h"
#include "page/timeline.h"

#define CONTEXT_MEMOS	256
#define DEPTH_MAX	1023	/* nested invocations; deeper ones are left out and counted */

enum span_column { SPAN_THREAD, SPAN_DEPTH, SPAN_START, SPAN_LENGTH, SPAN_CALL, SPAN_RES,
	SPAN_EXTRA, SPAN_DRES, SPAN_FLAGS };
enum request_column { REQUEST_SEQ, REQUEST_START, REQUEST_LENGTH, REQUEST_CLASS, REQUEST_FLAGS,
	REQUEST_ID_HIGH, REQUEST_ID_LOW };

/* X(name, value) becomes tl.F.name in the page. */
#define PAGE_FLAGS(X)								\
	X(TRUNCATED, 1) X(CLIPPED, 2) X(INFERRED, 4) X(FAILED, 8) X(FUTEX_WOKEN, 16) X(LOST, 32) \
	X(THROTTLED, 64) X(MAJOR, 128)						\
	X(COMPLETE, 1) X(LOST_HANDOFF, 2)	/* flags of requests */		\
	X(QUEUE, 1) X(OPEN, 2)			/* flags of their spans */		\
	X(EDGE_WAIT, 1) X(EDGE_HELD, 2)		/* flags of edges */	\
	X(NO_START, 1) X(NO_END, 2)		/* flags of runs */

#define FLAG(name, value) PAGE_F_##name = value,
enum page_flags { PAGE_FLAGS(FLAG) };
#undef FLAG

/* Identifies a thread; its place in `threads` is its number in the page. */
struct page_thread {
	uint32_t tid;
	int64_t start, end;	/* ns */
};

struct timeline_data {
	struct model *m;
	const struct timeline_page_options *o;
	struct intern strings;
	struct intern functions;	/* int64_t[4]: numbers of name, file and shown text; line */
	struct intern sites;		/* int64_t[3]: numbers of function and file; line */
	struct intern calls;		/* int64_t[2]: numbers of function and site */
	/* pointers to symbols, to find the number of a function and a call quickly */
	struct intern symbols, call_symbols;
	/* by number in symbols; by number in call_symbols */
	int64_t *function_of, *site_of;
	struct intern threads;		/* struct page_thread */
	struct page_thread_more { int64_t name; uint64_t made, seen; bool is_unobserved; } *threads_more;
	/* int64_t[5]: kind, tid, pid, numbers of the name and of the text */
	struct intern contexts;
	/* contexts whose numbers were found last: most are in many rows, and a text takes long to make */
	struct context_memo { struct context context; int64_t number; bool is_known; } context_memo[CONTEXT_MEMOS];
	struct intern locks;		/* int64_t[2]: numbers of the name and of the text */
	struct store spans, others, running, runs, wakeups, migrations, requests, parts, gaps;
	struct store tracks;		/* of spans: thread, depth, count */
	struct tracks_result result;
	int64_t open_end[DEPTH_MAX + 1]; /* ns: ends of the enclosing invocations */
	unsigned nr_open, depth_max;	/* depth_max: greatest depth so far */
	uint64_t nr_too_deep;
	int64_t thread;			/* the thread whose segments follow */
	int64_t nr_requests_seen;
	size_t nr_noted;		/* requests with notes */
};

/* timeline-names.c: return numbers, or -1 if out of memory */
int64_t names_string(struct timeline_data *d, const char *s);
int64_t names_call(struct timeline_data *d, const struct symbol *func, const struct symbol *site);
int64_t names_site(struct timeline_data *d, const struct symbol *site);	/* NULL: number 0 */
int64_t names_thread(struct timeline_data *d, uint32_t tid, const struct thread *thread);
int64_t names_context(struct timeline_data *d, const struct context *p);
int64_t names_lock(struct timeline_data *d, const struct segment *s);
int names_init(struct timeline_data *d);
void names_free(struct timeline_data *d);
void names_write(struct timeline_data *d, struct json *j);

/* timeline-collect.c: collects the segments of the recording.  Returns 0 or -errno. */
int collect(struct timeline_data *d);
int collect_write(struct timeline_data *d, struct page *p);
void collect_free(struct timeline_data *d);

/* timeline-causes.c: writes "about", and the causes of o->requests' instances. */
void explanation_about(struct timeline_data *d, struct json *j);
int explanation_write(struct timeline_data *d, struct json *j);

#endif
