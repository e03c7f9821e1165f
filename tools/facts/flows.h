/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the calls between components: how often threads called functions of other modules, how long
 * that took, and which of these calls took long.
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
	/* compiled with the plugin, or the program: may have source lines */
	bool has_records;
};

#define FLOW_NO_COMPONENT	UINT32_MAX

struct flow_api {
	uint32_t id;
	unsigned flags;		/* LDB_FLOW_F_* */
	uint32_t caller, callee; /* components */
	int64_t tick;
	uint64_t target;
	bool is_wait;		/* its time is spent waiting, and is not work of the callee */
	/* name: the readable name of the function; raw: the linker's name */
	struct symbol symbol;
};

/* What a thread did with an API.  Times are ticks. */
struct flow_sum {
	const struct thread *thread;
	uint32_t api;		/* index */
	int64_t tick;
	uint64_t calls, timed, sum, shared, min, max, back;
	/* where its lengths begin in lengths[]; they end where those of the next sum begin */
	size_t first_length;
};

/* The number of timed calls of a sum whose duration is in this bucket of a histogram. */
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
	bool has_flows;		/* calls between components were recorded */
	int64_t first;		/* ticks: the first call of an API; INT64_MIN: there was none */
	int64_t threshold_ns;	/* calls that took at least this long have rows of their own */
	struct flow_component *components;	/* [0] is the program */
	size_t nr_components, room_components;
	struct hash by_path;	/* components */
	struct flow_mapped *mapped; /* by start */
	size_t nr_mapped, room_mapped;
	struct flow_api *apis;	/* by id */
	size_t nr_apis, room_apis;
	struct flow_sum *sums;	/* sorted by thread and API */
	size_t nr_sums, room_sums;
	struct flow_length *lengths; /* by sum, bucket */
	size_t nr_lengths, room_lengths;
	/* Calls and functions that were not recorded. */
	uint64_t nr_no_slot;	/* calls counted and not timed for lack of memory */
	/* functions whose calls were not recorded */
	uint64_t nr_address_taken, nr_unresolved, nr_limit;
	uint64_t nr_lost_threads;
	/* calls made before the runtime knew the thread, or at the end of its exit */
	uint64_t nr_unknown_calls;
	uint64_t nr_bad;	/* invalid rows */
};

/* Reads the sums.  Returns NULL if there is no memory. */
struct flows *flows_open(struct model *m);

/* Returns the flows of the model.  The first call reads them, and model_close() frees them. */
struct flows *flows_of(struct model *m);
void flows_close(struct flows *f);

/* Returns the API with this id, or NULL. */
const struct flow_api *flows_api(const struct flows *f, uint32_t id);

/*
 * Returns the component that was mapped at this address at that time, or else at another time;
 * FLOW_NO_COMPONENT if there is none.
 */
uint32_t flows_component_at(const struct flows *f, uint64_t addr, int64_t tick);

/*
 * Returns true if this function is in the list of those that wait: for a thread or a process, a
 * lock, a condition, a barrier, a semaphore, a time, a signal, or (poll(), epoll_wait(),
 * io_getevents()) for events.
 */
bool flow_is_wait(const char *name);

/* Returns true if the trace may contain the places at which the caller calls this API. */
bool flow_has_place(const struct flows *f, const struct flow_api *api);

/* One call that took long. */
struct flow_call {
	uint32_t tid;
	const struct thread *thread;	/* NULL: not in the trace */
	int64_t start, end;		/* ticks */
	const struct flow_api *api;
	/* as in LDB_BLK_FLOW_CALL; site is 0 also if the place is not known */
	uint64_t gen, site;
	uint32_t nr_later;
	bool is_open, was_left;
};

/*
 * Calls call() for each call that took long, in the order of the file.  Returns 0, -ENOMEM, or a
 * result of call() other than 0, which ends this.
 */
int flow_calls_each(const struct flows *f, const struct reader_filter *filter,
		    int (*call)(void *arg, const struct flow_call *c), void *arg);

#endif
