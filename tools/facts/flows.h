/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls between components: how often and how long threads called functions of other modules, and
 * which of these calls took long.
 *
 * A component is a file: the program, or a library.  An API is a function of one component that
 * another one calls; it has an entry for each component that calls it.
 */
#ifndef FACTS_FLOWS_H
#define FACTS_FLOWS_H

#include "base/hash.h"
#include "model.h"

struct flow_component {
	const char *name;	/* "libz.so.1.3.1" */
	const char *path;
	bool has_records;	/* or it is the program: places in it may have lines */
};

#define FLOW_NO_COMPONENT	UINT32_MAX

struct flow_api {
	uint32_t id;
	unsigned flags;		/* LDB_FLOW_F_* */
	uint32_t caller, callee; /* components */
	int64_t tick;
	uint64_t target;
	bool is_wait;		/* its time is waiting, and not work of the callee */
	struct symbol symbol;	/* the same for outputs of functions; raw: the linker's name */
};

/* What a thread did with an API.  Times are ticks. */
struct flow_sum {
	const struct thread *thread;
	uint32_t api;		/* index */
	int64_t tick;
	uint64_t calls, timed, sum, shared, min, max, back;
	size_t first_length;	/* in lengths[], up to that of the next sum */
};

/* Calls of a sum that were in a bucket of lengths. */
struct flow_length {
	uint32_t sum;		/* index */
	uint32_t bucket;
	uint64_t nr;
};

/* A component's address range. */
struct flow_mapped {
	uint64_t start, end;
	int64_t from, to;	/* ticks */
	uint32_t component;
};

struct flows {
	struct model *m;
	bool has_flows;		/* they were recorded */
	int64_t first;		/* ticks: when the first call was followed; INT64_MIN: none was */
	int64_t threshold_ns;	/* calls that took so long are known one by one */
	struct flow_component *components;	/* [0] is the program */
	size_t nr_components, room_components;
	struct hash by_path;	/* components */
	struct flow_mapped *mapped; /* by start */
	size_t nr_mapped, room_mapped;
	struct flow_api *apis;	/* by id */
	size_t nr_apis, room_apis;
	struct flow_sum *sums;	/* by thread, api */
	size_t nr_sums, room_sums;
	struct flow_length *lengths; /* by sum, bucket */
	size_t nr_lengths, room_lengths;
	/* What was not recorded. */
	uint64_t nr_no_slot;	/* calls counted and not timed for lack of memory */
	uint64_t nr_address_taken, nr_unresolved, nr_limit;	/* functions that were not followed */
	uint64_t nr_lost_threads;
	uint64_t nr_bad;	/* rows that make no sense */
};

/* Reads the sums.  Returns NULL if there is no memory. */
struct flows *flows_open(struct model *m);

/* Does so once for a model, which closes them. */
struct flows *flows_of(struct model *m);
void flows_close(struct flows *f);

/* NULL: there is none. */
const struct flow_api *flows_api(const struct flows *f, uint32_t id);

/* The component that has this address at that time, or at another; FLOW_NO_COMPONENT: none. */
uint32_t flows_component_at(const struct flows *f, uint64_t addr, int64_t tick);

/* Does a call of this function wait for another thread, for time, or for input? */
bool flow_is_wait(const char *name);

/* May it be known where in its file the caller calls it? */
bool flow_has_place(const struct flows *f, const struct flow_api *api);

/* A call that took long. */
struct flow_call {
	uint32_t tid;
	const struct thread *thread;	/* NULL: not in the trace */
	int64_t start, end;		/* ticks */
	const struct flow_api *api;
	uint64_t gen, site;		/* as in LDB_BLK_FLOW_CALL; site 0: also where no place is known */
	uint32_t nr_later;
	bool is_open, was_left;
};

/* Calls call() for each of them, in the order of the file.  Returns 0, -ENOMEM or what it returned. */
int flow_calls_each(const struct flows *f, const struct reader_filter *filter,
		    int (*call)(void *arg, const struct flow_call *c), void *arg);

#endif
