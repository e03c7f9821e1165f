/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that only the files that make the report page use, grouped by file. */
#ifndef PAGE_REPORT_PRIVATE_H
#define PAGE_REPORT_PRIVATE_H

#include "analysis/attribution/attribution.h"
#include "analysis/partition/pieces.h"
#include "analysis/report/requests.h"
#include "analysis/report/stats.h"
#include "analysis/tracks/tracks.h"
#include "base/intern.h"
#include "facts/ticks.h"
#include "page/report.h"
#include "page/store.h"

/*
 * report-bins.c: divides time into bins [edge[i], edge[i + 1]) of nanoseconds.  Bins i to j
 * correspond to ldb-report --from=edge[i] --to=edge[j + 1]-1.  ldb-report converts these two times
 * to ticks, so times are compared as ticks here, too.
 */
struct bins {
	unsigned nr;
	int64_t edge[REPORT_BINS + 1];
	int64_t from[REPORT_BINS], to[REPORT_BINS];	/* ticks */
};

void bins_init(struct bins *b, const struct model *m, int64_t from, int64_t to);
/*
 * Returns the first bin that ends at this tick or later; REPORT_BINS: there is none.  A choice of
 * bins i to j includes a row if j is at least bins_first() of its start, and i is less than
 * bins_last() of its end.
 */
unsigned bins_first(const struct bins *b, int64_t tick);
/* Returns the number of bins that begin at this tick or earlier; 0: none. */
unsigned bins_last(const struct bins *b, int64_t tick);
/* Returns the bin that contains the time. */
unsigned bins_at(const struct bins *b, int64_t ns);
/*
 * Returns the bucket of a value: 1 << bits logarithmic buckets for each power of two, as in dist.h.
 */
unsigned bins_bucket(uint64_t value, unsigned bits);

/* bits for the buckets of the heat map, and for those of summed values */
#define HEAT_BITS	2
#define VALUE_BITS	4

/*
 * report-cells.c: sums rows.  All tables by time have bins of the same width, which a struct coarse
 * stores.  All tables by request share another struct coarse, and the heat map has one of its own.
 */
struct coarse {
	/* a bin of this group is 1 << shift of the narrowest bins */
	unsigned shift;
};

/* The place of a request in the heat map.  The user's choice consists of complete places. */
struct place {
	uint32_t class;
	uint16_t first, last;		/* columns from bins_first() and bins_last() */
	uint16_t bucket;		/* bucket from bins_bucket() */
	bool is_any;			/* false: the place has no request */
};

struct cell {
	/* number in the function table, of the node, or of the class */
	uint32_t key;
	uint16_t first, last;
	struct place place;
	uint64_t nr, nr_open;
	int64_t sum, min, max, resolution;
	struct cell_value {
		uint16_t bucket;
		uint32_t nr;
	} *values;			/* values by bucket */
	size_t nr_values, room_values;
};

struct cells {
	struct coarse *coarse;
	bool has_values;
	unsigned shift;			/* width of the bins in the rows, see struct coarse */
	struct cell *cells;
	size_t nr, room;
	size_t nr_values;		/* filled buckets of all cells */
	struct hash rows;		/* cells */
};

void cells_init(struct cells *c, struct coarse *coarse, bool has_values);
void cells_free(struct cells *c);
/*
 * Adds one value to the row with the key, bins and place of `like`.  is_open: the value is only
 * counted.  Returns 0 or -ENOMEM.
 */
int cells_add(struct cells *c, const struct cell *like, int64_t value, int64_t resolution,
	      bool is_open);
/* Widens the bins until the table is small enough, at least to the width in its group. */
int cells_bound(struct cells *c);
/* Replaces the key k of each row by keys[k].  Returns 0 or -ENOMEM. */
int cells_rekey(struct cells *c, const uint32_t *keys);
void cells_sort(struct cells *c);
/* Writes the columns of a sorted table; name is that of the key's column. */
int cells_write(const struct cells *c, struct page *p, const char *id, const char *name);
/* Return `first` and `last` of narrow bins as those of wide bins. */
unsigned coarse_first(const struct coarse *c, unsigned first);
unsigned coarse_last(const struct coarse *c, unsigned last);

/* report-requests.c */
struct request {
	uint64_t id;
	int64_t start, end;		/* ticks */
	int64_t latency_ns;
	uint32_t class;
	uint16_t first, last;
	uint32_t number;		/* by order of start */
	bool is_complete, has_lost_handoff;
};

struct report_requests {
	struct request *at;		/* sorted by id, start */
	size_t nr, room;
	/* requests beyond REPORT_INSTANCES_MAX, which are only in the cells */
	uint64_t nr_not_followed;
	bool is_each;			/* the page contains each request, and not only sums */
	struct cells cells;		/* sums of requests, if not is_each */
	const char **classes;
	size_t nr_classes;
};

struct report;

struct place report_place(const struct request *q);
/* Reads the requests and, for the flame graphs, their pieces; flame_init() comes before. */
int report_requests_read(struct report *r);
int report_requests_write(struct report *r);
void report_requests_free(struct report_requests *q);
/* Returns the request instance with this id that overlaps these ticks; NULL: not known. */
const struct request *report_request(const struct report_requests *q, uint64_t id,
				     int64_t from, int64_t to);

/* report-calls.c: invocations, individually or summed */
struct call {
	uint32_t key, request;		/* request: number + 1; 0: none */
	uint32_t thread;
	uint16_t first, last;
	struct place place;		/* place of its request */
	int64_t duration_ns, resolution_ns;
	bool is_open;
};

struct report_calls {
	bool is_each;
	struct call *at;
	size_t nr, room;
	struct cells by_time, by_request;
	struct hash rows;		/* entries of the stats */
	/* results of the last searches for keys, by a hash of the two symbols */
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
	/* number of the parent; 0: the root, whose own number is 0 */
	uint32_t parent;
	uint32_t name;			/* number in names */
	unsigned kind;			/* enum leaf_kind; of the root: UNKNOWN */
};

struct flame {
	struct model *m;
	const struct bins *bins;
	const struct report_requests *requests;
	bool marks_requests;		/* true: requests have no separate places */
	struct cells by_time;		/* key: node; first: bin; sum: ns */
	struct cells by_request;	/* key: node; only time for requests */
	struct flame_node *nodes;	/* parents first */
	size_t nr_nodes, room_nodes;
	struct hash by_path;		/* numbers of nodes */
	struct intern names;
	/* nodes with at most this time may have been merged into their parents */
	int64_t folded_ns;
	struct attribution attribution;
	struct ticks_last last;
	struct pieces pieces;		/* of all requests; time outside of these belongs to none */
	size_t piece;			/* cache: the index that was found last */
	uint32_t tid;			/* thread of the last segment */
};

void flame_init(struct flame *f, struct model *m, const struct bins *bins,
		const struct report_requests *requests, struct coarse *by_time,
		struct coarse *by_request);
/* `pieces` must be set before the first segment. */
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
	 * Widths of bins: of the heat map, of tables by time, and of tables by request.  Those of
	 * tables are at least that of the heat map.
	 */
	struct coarse heat, coarse, request_coarse;
	struct stats stats;
	/* in the page's order; the keys of calls are indices into it */
	const struct stats_entry **rows;
	struct requests requests;
	struct report_requests instances;
	struct report_calls calls;
	struct flame flame;
	uint32_t thread;		/* number of the current thread in the model */
};

#endif
