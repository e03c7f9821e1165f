/* SPDX-License-Identifier: MIT */
/*
 * This is the memory in which the runtime sums up calls between libraries (ldb-record --flows).
 * The recorder creates it as a sealed, sparse memfd and sends the descriptor to the runtime
 * (LDB_MSG_FLOWS).  The runtime writes it; the recorder empties the regions of threads that have
 * exited, and may read the memory at any time: each word is always valid, but the words of one cell
 * may have been written at different times.
 *
 *	struct ldb_flow_info		one page
 *	struct ldb_flow_thread		LDB_FLOW_THREADS of them
 *	struct ldb_flow_api		LDB_FLOW_CELLS of them: the dictionary
 *	names				LDB_FLOW_NAMES bytes: NUL-terminated strings
 *	struct ldb_flow_open		two tables of LDB_FLOW_OPENS: calls that have not returned
 *	regions				LDB_FLOW_THREADS x LDB_FLOW_REGION bytes
 *
 * An API is a pair of a calling module and a function of another module.  A thread's region has one
 * struct ldb_flow_state and one struct ldb_flow_cell for each API, at the API's index in the
 * dictionary, and parts of histograms.  Threads that the runtime does not know, or that got no
 * region, write into region 0, of which only the number of calls is reported.  API 0 is not used;
 * the last API stands for all functions for which the dictionary has no room.
 */
#ifndef LDB_FLOWS_H
#define LDB_FLOWS_H

#define LDB_FLOW_CELLS		16384
/* offset of the cells in a region; the states come before them */
#define LDB_FLOW_CELLS_OFF	(16 * LDB_FLOW_CELLS)
#define LDB_FLOW_PARTS_OFF	(LDB_FLOW_CELLS_OFF + 64 * LDB_FLOW_CELLS)
#define LDB_FLOW_PARTS		16384
#define LDB_FLOW_PART		96
#define LDB_FLOW_REGION		(LDB_FLOW_PARTS_OFF + LDB_FLOW_PART * LDB_FLOW_PARTS)

#ifndef __ASSEMBLER__

#include <stdint.h>

#define LDB_FLOW_MAGIC		0x32574f4c46424c44ULL	/* "DLBFLOW2", little-endian */
#define LDB_FLOW_THREADS	2048
#define LDB_FLOW_NAMES		(1 << 20)
#define LDB_FLOW_OPENS		4096
#define LDB_FLOW_MEM_BUCKETS	144	/* buckets of a histogram: 6 parts of 24 */

enum ldb_flow_lost {
	/* calls that are not timed, because there was no slot for one of them */
	LDB_FLOW_LOST_SLOT,
	LDB_FLOW_LOST_THREAD,	/* threads that got no region */
	LDB_FLOW_LOST_API,	/* APIs that got no number */
	/* functions whose calls are not counted, by the reason: */
	LDB_FLOW_LOST_TAKEN,	/* the program may do something else than call their address */
	LDB_FLOW_LOST_LIMIT,	/* there are too many functions */
	LDB_FLOW_LOST_SPECIAL,	/* they must not be intercepted */
	/* their slots are not bound yet, and no module was found that defines them */
	LDB_FLOW_LOST_UNBOUND,
	LDB_FLOW_LOST_LOCKED,	/* the linkage table cannot be made writable */
	LDB_FLOW_NR_LOST
};

struct ldb_flow_info {
	uint64_t magic;			/* written last by the runtime, when it follows calls */
	/* numbers that were assigned, including 0; may exceed LDB_FLOW_CELLS */
	uint64_t nr_apis;
	uint64_t names_used;
	uint64_t nr_followed;		/* (caller, function) pairs */
	uint64_t lost[16];		/* enum ldb_flow_lost */
	uint64_t threshold;		/* ticks */
	/* 0, 1: which of the two tables of open calls is complete; written last */
	uint64_t open_table;
	uint64_t nr_open[2];
};

enum ldb_flow_thread_state {
	LDB_FLOW_FREE,		/* set by the recorder, when the region is empty again */
	LDB_FLOW_LIVE,
	/* the thread has exited; the recorder reads and empties the region */
	LDB_FLOW_DONE,
};

struct ldb_flow_thread {
	uint32_t state;			/* written last */
	uint32_t tid;
	uint64_t end;			/* when the thread exited; 0: it is live */
};

/* As LDB_FLOW_F_* of ldb/trace-format.h. */
#define LDB_FLOW_API_PLT	1
#define LDB_FLOW_API_GOT	2
#define LDB_FLOW_API_DLSYM	4
#define LDB_FLOW_API_NOTIME	8

struct ldb_flow_api {
	uint32_t ready;			/* 1: the other members are valid; written last */
	uint32_t flags;			/* LDB_FLOW_API_* */
	uint64_t tsc;			/* time of the first call */
	uint64_t caller;		/* start of the module */
	uint64_t target;
	uint32_t name;			/* offset in the names */
	uint32_t pad[7];
};

struct ldb_flow_state {
	/* number of calls before the next timed one; <= 0: the next call is timed */
	int32_t left;
	/* number of untimed calls that the next timed call also represents */
	uint32_t skipped;
	uint32_t stride;		/* how many calls after the next timed one are not timed */
	/*
	 * (time of the last timed call / 16, without the low 4 bits) | 8: function of libldb | log2
	 * of the stride
	 */
	uint32_t last;
};

/*
 * sum and shared are estimates for all calls: each timed call is multiplied by the number of calls
 * that it represents.  part[i] is the number, from 1, of the part of the region's histograms that
 * has the counts (uint32_t) of buckets 24 * i to 24 * i + 23; 0: none.
 */
struct ldb_flow_cell {
	uint64_t calls, timed, sum, shared;
	uint64_t back;			/* see struct ldb_row_flow */
	uint64_t max;
	uint32_t min;			/* limited to UINT32_MAX */
	uint16_t part[6];
};

/*
 * A call that had not returned when the runtime last wrote the table of open calls, which it does
 * every 20 ms, or with LDB_TUNE_SLOW every 100 ms.  If the program is killed, nothing else shows
 * how long the call has taken.  The call has not returned since then if its cell still has the same
 * count `timed`.
 */
struct ldb_flow_open {
	uint64_t start;
	uint64_t timed;
	uint64_t site;			/* the return address */
	uint32_t api;
	uint32_t back;			/* the API to whose `back` the time is added; 0: none */
	uint32_t weight;		/* the number of calls that it represents */
	uint32_t region;
};

/*
 * Returns the histogram bucket of a duration.  From 64 ticks on, each power of two has 4 buckets;
 * the shortest duration in bucket b is (4 + b % 4) << (b / 4 + 4).  The first bucket also has all
 * shorter durations, the last one all longer ones.
 */
static inline unsigned flow_mem_bucket(uint64_t ticks)
{
	unsigned log, b;

	if (ticks < 64)
		return 0;
	log = 63 - __builtin_clzll(ticks);
	b = (log - 6) * 4 + (ticks >> (log - 2) & 3);
	return b < LDB_FLOW_MEM_BUCKETS ? b : LDB_FLOW_MEM_BUCKETS - 1;
}

#define LDB_FLOW_THREADS_OFF	4096
#define LDB_FLOW_APIS_OFF	(LDB_FLOW_THREADS_OFF + LDB_FLOW_THREADS * sizeof(struct ldb_flow_thread))
#define LDB_FLOW_NAMES_OFF	(LDB_FLOW_APIS_OFF + LDB_FLOW_CELLS * sizeof(struct ldb_flow_api))
#define LDB_FLOW_OPENS_OFF	(LDB_FLOW_NAMES_OFF + LDB_FLOW_NAMES)
#define LDB_FLOW_REGIONS_OFF	(LDB_FLOW_OPENS_OFF + 2 * LDB_FLOW_OPENS * sizeof(struct ldb_flow_open))
#define LDB_FLOW_SIZE		(LDB_FLOW_REGIONS_OFF + (uint64_t)LDB_FLOW_THREADS * LDB_FLOW_REGION)

_Static_assert(sizeof(struct ldb_flow_info) <= 4096, "one page");
_Static_assert(sizeof(struct ldb_flow_thread) == 16, "no padding");
_Static_assert(sizeof(struct ldb_flow_api) == 64, "one cache line");
_Static_assert(sizeof(struct ldb_flow_open) == 40, "no padding");
_Static_assert(sizeof(struct ldb_flow_state) == 16, "as flows.S has it");
_Static_assert(sizeof(struct ldb_flow_cell) == 64, "one cache line");
_Static_assert(LDB_FLOW_REGIONS_OFF % 4096 == 0 && LDB_FLOW_REGION % 4096 == 0, "pages");

#endif /* __ASSEMBLER__ */
#endif /* LDB_FLOWS_H */
