/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that join traces share these declarations. */
#ifndef TRACE_JOIN_PRIVATE_H
#define TRACE_JOIN_PRIVATE_H

#include "base/intern.h"
#include "base/keyed.h"
#include "trace/cursor-private.h"
#include "trace/join.h"
#include "trace/writer.h"

#define JOIN_ADDRESS_MASK	((1ULL << LDB_ADDRESS_BITS) - 1)

/* Code at these addresses is found under that number. */
struct join_code {
	uint64_t start, end;	/* without a number */
	uint32_t number;
};

/* This is a process, with its address space. */
struct join_space {
	uint32_t from;		/* its number in its own trace */
	struct ldb_row_process row;	/* in the result; texts are the join's */
	struct join_code *code;	/* in order of start, disjoint */
	size_t nr_code, room_code;
};

/* These are the ids of a table of one part, and what they are in the result. */
struct join_ids {
	uint32_t *to;		/* by id; 0: no row had it */
	size_t nr;
};

struct join_part {
	const char *path;
	struct reader *r;
	struct join_space *spaces;
	size_t nr_spaces, room_spaces;
	struct ldb_row_thread *threads;	/* the last row of each, by tid; no names */
	size_t nr_threads, room_threads;
	/* tick = its own * ratio + shift */
	bool is_same_clock;	/* ratio is 1 */
	long double ratio;
	int64_t shift;
	uint64_t clock_err;	/* ticks of the result; UINT64_MAX: not known */
	int64_t from, to;	/* its recording, in ticks of the result */
	uint32_t tid_base;
	uint64_t id_base;
	bool has_ended;		/* its recorder saw the program end */
	struct join_ids apis, ksyms, files;
};

struct join {
	struct join_part *parts;
	size_t nr;
	struct writer *w;
	struct ldb_file_header header;
	bool is_process;	/* several processes: rows have numbers */
	uint64_t id_step;	/* between id_bases; 0: they are spread over all numbers */
	struct intern texts;
	struct ldb_row_module *modules;	/* of the result */
	size_t nr_modules, room_modules;
	struct keyed mapped;		/* where they are: join-plan.c */
	struct intern apis, ksyms, files;	/* of the result, by what makes two the same */
	struct intern symbols, calls;	/* of SYMBOL and CALL rows that were written */
	const struct join_options *options;
	uint64_t bytes_done, bytes_all;
	int error;
};

/* join-clock.c */

/* Finds the clock of the result, and how the ticks of each part become its. */
int join_clocks(struct join *j);
int64_t join_tick(const struct join_part *p, int64_t tick);
uint64_t join_ticks(const struct join_part *p, uint64_t ticks);

/* Are the part's CLOCK rows true of the result? */
bool join_has_clock(const struct join *j, const struct join_part *p);

/* join-links.c: corrects the clocks of other machines by requests that both have; 0 or -ENOMEM */
int join_links(struct join *j);

/* join-plan.c: processes, threads, ids; 0, -ENOMEM, or -EINVAL with a line in err */
int join_plan(struct join *j, char *err, size_t err_size);
int join_write_modules(struct join *j);

/* join-rows.c */

/*
 * Makes rows of the result of those of a part, in place.  Returns how many are left: some are not
 * written.
 */
size_t join_rows(struct join *j, struct join_part *p, unsigned kind, void *rows, size_t nr);

/* Adds the number of the process to an address. */
uint64_t join_data(const struct join_part *p, uint64_t addr);
uint64_t join_code(const struct join_part *p, uint64_t addr);

/* join-ids.c: tables whose ids other rows have; they are written before those */
int join_write_ids(struct join *j);
uint32_t join_id(const struct join_ids *ids, uint32_t id);

/* join-meta.c */
int join_write_metas(struct join *j);
int join_write_processes(struct join *j);
int join_write_scanners(struct join *j);

/* When all was read: what was damaged. */
int join_write_damage(struct join *j);

/* join-sched.c: one kernel event may be in the traces of both of its threads */
struct join_sched {
	struct ldb_row_sched *rows;	/* not written yet */
	const struct join_part **parts;	/* where they are from */
	size_t nr;
};

int join_sched_add(struct join *j, struct join_sched *s, const struct join_part *p,
		   const struct ldb_row_sched *rows, size_t nr);
int join_sched_end(struct join *j, struct join_sched *s);

#endif
