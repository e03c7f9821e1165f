/* SPDX-License-Identifier: MIT */
/*
 * This is the memory in which the runtime sums up calls between libraries (ldb-record --flows).
 * The recorder makes it (a sealed memfd, sparse) and sends it to the runtime (LDB_MSG_FLOWS);
 * the runtime writes, and the recorder reads whenever it likes: nothing there is ever half
 * written, but for what is being added to a sum.
 *
 *	struct ldb_flow_info		one page
 *	struct ldb_flow_thread		LDB_FLOW_THREADS of them
 *	struct ldb_flow_api		LDB_FLOW_CELLS of them: the dictionary
 *	names				LDB_FLOW_NAMES bytes: NUL-terminated strings
 *	struct ldb_flow_open		two tables of LDB_FLOW_OPENS: calls that have not returned
 *	regions				LDB_FLOW_THREADS x LDB_FLOW_REGION bytes
 *
 * A thread's region has one struct ldb_flow_state and one struct ldb_flow_cell for each API that
 * was called by any thread, at the index of that API in the dictionary, and parts of histograms.
 * Region 0 is for threads that the runtime does not know, and is not read; API 0 is none, and the
 * last is for those that found no room.
 */
#ifndef LDB_FLOWS_H
#define LDB_FLOWS_H

#define LDB_FLOW_CELLS		16384
#define LDB_FLOW_CELLS_OFF	(16 * LDB_FLOW_CELLS)	/* in a region; states come before */
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
#define LDB_FLOW_MEM_BUCKETS	144	/* of a histogram: 6 parts of 24 */

enum ldb_flow_lost {
	LDB_FLOW_LOST_SLOT,	/* calls that were to be timed, but too many are in progress */
	LDB_FLOW_LOST_THREAD,	/* threads that got no region */
	LDB_FLOW_LOST_API,	/* APIs that got no number */
	LDB_FLOW_LOST_TAKEN,	/* functions not followed: their address is used otherwise */
	LDB_FLOW_LOST_LIMIT,	/* there are too many functions */
	LDB_FLOW_LOST_SPECIAL,	/* functions that must not be intercepted */
	LDB_FLOW_LOST_UNBOUND,	/* not bound yet, and not found */
	LDB_FLOW_LOST_LOCKED,	/* the table cannot be written to */
	LDB_FLOW_NR_LOST
};

struct ldb_flow_info {
	uint64_t magic;			/* written last by the runtime, when it follows calls */
	uint64_t nr_apis;		/* numbers given, 0 included; may exceed LDB_FLOW_CELLS */
	uint64_t names_used;
	uint64_t nr_followed;		/* (caller, function) pairs */
	uint64_t lost[16];		/* enum ldb_flow_lost */
	uint64_t threshold;		/* ticks */
	uint64_t open_table;		/* 0, 1: the one that is complete; written last */
	uint64_t nr_open[2];
};

enum ldb_flow_thread_state {
	LDB_FLOW_FREE,		/* set by the recorder, when the region is empty again */
	LDB_FLOW_LIVE,
	LDB_FLOW_DONE,		/* the thread has exited; the recorder reads the region and empties it */
};

struct ldb_flow_thread {
	uint32_t state;			/* written last */
	uint32_t tid;
	uint64_t end;			/* DONE: when; 0: live */
};

/* As LDB_FLOW_F_* of ldb/trace-format.h. */
#define LDB_FLOW_API_PLT	1
#define LDB_FLOW_API_GOT	2
#define LDB_FLOW_API_DLSYM	4
#define LDB_FLOW_API_NOTIME	8

struct ldb_flow_api {
	uint32_t ready;			/* 1: the rest is written; written last */
	uint32_t flags;			/* LDB_FLOW_API_* */
	uint64_t tsc;			/* of the first call */
	uint64_t caller;		/* start of the module */
	uint64_t target;
	uint32_t name;			/* offset in the names */
	uint32_t pad[7];
};

struct ldb_flow_state {
	int32_t left;			/* calls until the next that is timed; then < 0 */
	uint32_t skipped;		/* calls before the next that is timed, for which it stands too */
	uint32_t stride;		/* after that one, how many are not timed */
	uint32_t last;			/* ticks / 16 of the last that was timed & ~15, log2 of the stride */
};

/*
 * sum and shared are of the calls that were timed, each multiplied by its weight: estimates for
 * all calls.  part[i] is the number, from 1, of the part that has buckets 24 i ... of uint32_t.
 */
struct ldb_flow_cell {
	uint64_t calls, timed, sum, shared;
	uint64_t back;			/* as in struct ldb_row_flow */
	uint64_t max;
	uint32_t min;			/* at most UINT32_MAX */
	uint16_t part[6];
};

/*
 * A call that had not returned at the last poll of the runtime, one every 20 ms: if the program
 * is killed, nothing else tells that it was made.  It has not returned since, if the cell of its
 * function has as many timed calls as then.
 */
struct ldb_flow_open {
	uint64_t start;
	uint64_t timed;
	uint64_t site;			/* the return address */
	uint32_t api;
	uint32_t back;			/* to the sums of this API the time is added; 0: none */
	uint32_t weight;		/* calls that it stands for */
	uint32_t region;
};

/*
 * Buckets: 4 to an octave, from 64 ticks on.  Bucket b has the durations from its lower end,
 * (4 + b % 4) << (b / 4 + 4), up to that of the next; the first one also shorter ones.
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
