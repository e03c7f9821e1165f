/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that only the files that make the report page use, grouped by file. */
#ifndef PAGE_REPORT_PRIVATE_H
#define PAGE_REPORT_PRIVATE_H

#include "analysis/attribution/attribution.h"
#include "analysis/report/requests.h"
#include "analysis/report/stats.h"
#include "analysis/tracks/tracks.h"
#include "base/intern.h"
#include "facts/ticks.h"
#include "page/report.h"
#include "page/store.h"

/*
 * report-bins.c: time is divided into bins [edge[i], edge[i + 1]) of nanoseconds.  Bins i to j
 * are what ldb-report --from=edge[i] --to=edge[j + 1]-1 shows; as both are turned into ticks,
 * times are compared as ticks.
 */
struct bins {
	unsigned nr;
	int64_t edge[REPORT_BINS + 1];
	int64_t from[REPORT_BINS], to[REPORT_BINS];	/* ticks */
};

void bins_init(struct bins *b, const struct model *m, int64_t from, int64_t to);
/* Returns the first bin that a choice must reach to include the tick; REPORT_BINS: none does. */
unsigned bins_first(const struct bins *b, int64_t tick);
/* Returns the bin before which a choice must begin to include the tick; 0: none does. */
unsigned bins_last(const struct bins *b, int64_t tick);
/* Returns the bin that contains the time. */
unsigned bins_at(const struct bins *b, int64_t ns);
/* There are 1 << bits logarithmic buckets for each power of two, as in dist.h. */
unsigned bins_bucket(uint64_t value, unsigned bits);

/* Bits of the buckets of the heat map, and of those of summed values. */
#define HEAT_BITS	2
#define VALUE_BITS	4

/*
 * report-cells.c sums rows.  The bins of all tables by time become wider together, those of all
 * tables by request, and those of the heat map: each group shares a struct coarse.
 */
struct coarse {
	unsigned shift;			/* bins >> shift */
};

/* The place of a request in the heat map.  Choices consist of whole places. */
struct place {
	uint32_t class;
	uint16_t first, last;		/* bins_first(), bins_last() */
	uint16_t bucket;		/* bins_bucket() */
	bool is_any;			/* false: of no request */
};

struct cell {
	uint32_t key;			/* of the function table, or the node, or the class */
	uint16_t first, last;
	struct place place;
	uint64_t nr, nr_open;
	int64_t sum, min, max, resolution;
	struct cell_value {
		uint16_t bucket;
		uint32_t nr;
	} *values;			/* by bucket */
	size_t nr_values, room_values;
};

struct cells {
	struct coarse *coarse;
	bool has_values;
	unsigned shift;			/* of the rows in it */
	struct cell *cells;
	size_t nr, room;
	size_t nr_values;		/* of all cells: filled buckets */
	struct hash rows;		/* cells */
};

void cells_init(struct cells *c, struct coarse *coarse, bool has_values);
void cells_free(struct cells *c);
/*
 * Adds one value to the row of like's key, bins and place; is_open: it is only counted.  0 or
 * -ENOMEM.
 */
int cells_add(struct cells *c, const struct cell *like, int64_t value, int64_t resolution,
	      bool is_open);
/* Makes bins wider until the table is small enough, and at least as wide as those of its group. */
int cells_bound(struct cells *c);
/* Gives key k of each row the new value keys[k].  Returns 0 or -ENOMEM. */
int cells_rekey(struct cells *c, const uint32_t *keys);
void cells_sort(struct cells *c);
/* Writes the columns of a sorted table; name is that of the key. */
int cells_write(const struct cells *c, struct page *p, const char *id, const char *name);
/* Returns the wide bin that contains one of the narrowest bins. */
unsigned coarse_first(const struct coarse *c, unsigned first);
unsigned coarse_last(const struct coarse *c, unsigned last);

/* report-requests.c */
struct request {
	uint64_t id;
	int64_t start, end;		/* ticks */
	int64_t latency_ns;
	uint32_t class;
	uint16_t first, last;
	uint32_t number;		/* in order of start */
	bool is_complete, has_lost_handoff;
};

struct report_requests {
	struct request *at;		/* by id, start */
	size_t nr, room;
	uint64_t nr_not_followed;	/* beyond REPORT_LIVES_MAX: only in the cells */
	bool is_each;			/* requests are in the page individually */
	struct cells cells;		/* !is_each */
	const char **classes;
	size_t nr_classes;
};

struct report;

struct place report_place(const struct request *q);
int report_requests_read(struct report *r);
int report_requests_write(struct report *r);
void report_requests_free(struct report_requests *q);
/* Returns the request instance of id that overlaps these ticks; NULL: none is known. */
const struct request *report_request(const struct report_requests *q, uint64_t id,
				     int64_t from, int64_t to);

/* report-calls.c: invocations, one by one or summed */
struct call {
	uint32_t key, request;		/* request: number + 1; 0: none */
	uint32_t thread;
	uint16_t first, last;
	struct place place;		/* of its request */
	int64_t duration_ns, resolution_ns;
	bool is_open;
};

struct report_calls {
	bool is_each;
	struct call *at;
	size_t nr, room;
	struct cells by_time, by_request;
	struct hash rows;		/* entries of the stats */
	/* This is the key of the last search. */
	struct call_memo {
		const struct symbol *func, *site;
		uint32_t key;
	} memo[4096];
};

int report_calls_init(struct report *r);
int report_calls_add(struct report *r, const struct segment *s);
int report_calls_write(struct report *r);
void report_calls_free(struct report_calls *c);

/* report-flame.c: time by stack, bin and request */
struct flame_node {
	uint32_t parent;		/* number; 0: the root, which has number 0 */
	uint32_t name;			/* of names */
	unsigned kind;			/* enum leaf_kind; the root: UNKNOWN */
};

struct flame {
	struct model *m;
	const struct bins *bins;
	const struct report_requests *requests;
	bool marks_requests;		/* all requests are in one place */
	struct cells by_time;		/* key: node; first: bin; sum: ns */
	struct cells by_request;	/* key: node; of requests alone */
	struct flame_node *nodes;	/* parents first */
	size_t nr_nodes, room_nodes;
	struct hash by_path;		/* nodes */
	struct intern names;
	int64_t folded_ns;		/* frames up to this may be merged into callers */
	struct attribution attribution;
	struct ticks_last last;
};

void flame_init(struct flame *f, struct model *m, const struct bins *bins,
		const struct report_requests *requests, struct coarse *by_time,
		struct coarse *by_request);
int flame_segment(void *arg, const struct segment *s);
/* Ends open items at the end of a thread. */
int flame_finish(struct flame *f);
/* Writes elements PREFIX_names, PREFIX_nodes, PREFIX_cells, PREFIX_request_cells. */
int flame_write(struct flame *f, struct page *p, const char *prefix);
void flame_free(struct flame *f);

/* report-nodes.c: the frames of a flame graph */
int flame_name(struct flame *f, const char *text, uint32_t *number);
int flame_child(struct flame *f, uint32_t parent, uint32_t name, unsigned kind, uint32_t *number);
/* Merges the thinnest three quarters of the nodes into their parents. */
int flame_fold(struct flame *f);

/* report.c */
struct report {
	struct model *m;
	const struct report_options *o;
	struct page page;
	struct bins bins;
	/*
	 * Widths of bins: of the heat map, and of tables by time and by request, which are at least
	 * as wide.
	 */
	struct coarse heat, coarse, request_coarse;
	struct stats stats;
	const struct stats_entry **rows;	/* in the page's order: keys of calls */
	struct requests requests;
	struct report_requests lives;
	struct report_calls calls;
	struct flame flame;
	uint32_t thread;		/* number, in the model, of the current thread */
};

#endif
