/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the files that join traces share. */
#ifndef TRACE_JOIN_PRIVATE_H
#define TRACE_JOIN_PRIVATE_H

#include "base/intern.h"
#include "base/keyed.h"
#include "trace/cursor-private.h"
#include "trace/join.h"
#include "trace/writer.h"

#define JOIN_ADDRESS_MASK	((1ULL << LDB_ADDRESS_BITS) - 1)

/* A range of code, and the process whose number its addresses get in the result. */
struct join_code {
	uint64_t start, end;	/* addresses without the number of the process */
	uint32_t number;
};

/* Memory that the process shares with an earlier process, and its address in the result. */
struct join_shared {
	uint64_t start, end;	/* addresses without the number of the process */
	/* the address of start in the result, with a number; 0: not known */
	uint64_t address;
};

/* A process, which has an address space of its own. */
struct join_space {
	uint32_t from;		/* its number in the part's own trace */
	struct ldb_row_process row;	/* its row in the result; the texts belong to the join */
	struct join_code *code;	/* in order of start, disjoint */
	size_t nr_code, room_code;
	struct join_shared *shared;	/* in order of start, disjoint */
	size_t nr_shared, room_shared;
};

/* The ids of a table in one part, and what they become in the result. */
struct join_ids {
	uint32_t *to;		/* the new ids by old id; 0: no row had that id */
	size_t nr;
};

struct join_part {
	const char *path;
	struct reader *r;
	struct join_space *spaces;
	size_t nr_spaces, room_spaces;
	/* the last row of each thread, sorted by tid; their names are not valid */
	struct ldb_row_thread *threads;
	size_t nr_threads, room_threads;
	/* A tick of the result is a tick of the part * ratio + shift. */
	bool is_same_clock;	/* ratio is 1 */
	long double ratio;
	int64_t shift;
	uint64_t clock_err;	/* ticks of the result; UINT64_MAX: not known */
	int64_t to;		/* the end of its recording, in ticks of the result */
	uint32_t tid_base;	/* is added to tids, and id_base to request ids */
	uint64_t id_base;
	bool has_ended;		/* the program ended, or executed another one */
	struct join_ids apis, ksyms, files;
};

struct join {
	struct join_part *parts;
	size_t nr;
	struct writer *w;
	struct ldb_file_header header;
	/* there are several processes, so addresses contain their numbers */
	bool is_process;
	/* distance between the id_bases of two parts; 0: id_bases are spread over all numbers */
	uint64_t id_step;
	struct intern texts;
	struct ldb_row_module *modules;	/* the modules of the result */
	size_t nr_modules, room_modules;
	struct keyed mapped;		/* where modules are mapped: see join-plan.c */
	struct intern apis, ksyms, files;	/* ids of the result, by the keys of rows */
	/* the keys of SYMBOL and CALL rows that have been written */
	struct intern symbols, calls;
	const struct join_options *options;
	uint64_t bytes_done, bytes_all;
};

/* join-clock.c */

/* Finds the clock of the result, and how to convert the ticks of each part. */
int join_clocks(struct join *j);
int64_t join_tick(const struct join_part *p, int64_t tick);
uint64_t join_ticks(const struct join_part *p, uint64_t ticks);

/* Returns true if the part's CLOCK rows are valid in the result. */
bool join_has_clock(const struct join *j, const struct join_part *p);

/*
 * join-links.c: corrects the clocks of machines by requests that occur in two parts, and by
 * messages between two parts.  Returns 0 or -ENOMEM.
 */
int join_links(struct join *j);

/*
 * join-messages.c: a request of part `server` was made from a message that a request of part
 * `client` has sent.  Times are ticks of the result.
 */
struct join_pair {
	uint32_t client, server;
	uint64_t client_id, server_id;	/* ids in the two parts */
	int64_t sent, came;
	/* the first bytes of the answer, if both ends have them */
	bool has_answer;
	int64_t answer_sent, answer_came;
};

/* Numbers of messages from which requests were made, by what is known of their senders. */
struct join_messages {
	bool any;		/* there are rows of messages */
	uint64_t joined;
	uint64_t elsewhere;	/* the other end of the connection is in no part */
	uint64_t unknown;	/* it is not known which request has sent the message */
	uint64_t refused;	/* it, or its answer, would have been received before it was sent */
};

typedef int join_pair_fn(void *arg, const struct join_pair *p);
/*
 * Calls fn() for each pair, and counts messages in *count.  has_clocks: the clocks of all parts are
 * known; otherwise only pairs that are certain without clocks are passed.  Returns 0, -ENOMEM, or
 * what fn() returned.
 */
int join_messages_each(struct join *j, bool has_clocks, join_pair_fn *fn, void *arg, struct join_messages *count);
/* Writes ASKED rows. */
int join_write_messages(struct join *j);

/*
 * join-plan.c: plans the numbers of processes, threads and requests.  Returns 0, or -errno with a
 * line in err.
 */
int join_plan(struct join *j, char *err, size_t err_size);
int join_write_modules(struct join *j);

/* join-shared.c: finds memory that processes share.  Returns 0 or -ENOMEM. */
int join_find_shared(struct join *j);
/*
 * Returns what an address of shared memory (without a process number) becomes in the result, or 0.
 */
uint64_t join_shared_at(const struct join_space *space, uint64_t plain);

/* join-rows.c */

/*
 * Converts rows of a part to rows of the result, in place.  Returns the number of remaining rows:
 * some are dropped.
 */
size_t join_rows(struct join *j, struct join_part *p, unsigned kind, void *rows, size_t nr);

/* Returns what an address of data becomes in the result. */
uint64_t join_data(const struct join_part *p, uint64_t addr);

/* join-ids.c: writes the tables to whose ids other rows refer, and those of names of addresses. */
int join_write_ids(struct join *j);
uint32_t join_id(const struct join_ids *ids, uint32_t id);

/* join-meta.c */
int join_write_metas(struct join *j);
int join_write_processes(struct join *j);
int join_write_scanners(struct join *j);

/* Writes which parts are damaged, after all of them were read. */
int join_write_damage(struct join *j);

/* join-sched.c: joins a kernel event that is in the traces of both of its threads. */
struct join_sched {
	struct ldb_row_sched *rows;	/* rows that are not written yet */
	const struct join_part **parts;	/* the parts from which they come */
	size_t nr;
};

int join_sched_add(struct join *j, struct join_sched *s, const struct join_part *p,
		   const struct ldb_row_sched *rows, size_t nr);
int join_sched_end(struct join *j, struct join_sched *s);

#endif
