/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts and times the calls from one module to another (ldb-record --flows), by thread.
 *
 * A module calls another through slots of its linkage tables, which hold addresses.  At the
 * beginning of a recording each of these slots that patch.c may change gets the address of an entry
 * stub (arch/CPU/flows.S), which belongs to one struct flow_entry: the function, called by that
 * module.  The stub counts the call in the thread's cell for that entry, and jumps to the function.
 *
 * If the call is timed, the function returns to another stub, that of a struct flow_slot, which has
 * the true return address.  Stubs of both kinds are static code with unwind tables, so exceptions,
 * cancellation, backtrace() and debuggers pass through them.  There is no second stack of return
 * addresses, which could be wrong after a longjmp() or a switch of stacks.  slots.c says when the
 * slot of a call that has ended in one of these ways is used again.
 *
 * All calls are timed, except those of the functions in special.c, those for which there is no
 * slot, and some of a thread's calls through an entry if they are more than about a million per
 * second.  Then 1 of up to 31 calls is timed, at random distances, and represents the calls in
 * between.
 *
 * The functions that count and time calls are async-signal-safe.  Nothing in the program is changed
 * except its linkage tables, and the return addresses of timed calls.
 */
#ifndef FLOWS_FLOWS_H
#define FLOWS_FLOWS_H

#include <link.h>
#include <stddef.h>
#include "flows/layout.h"
#include "internal.h"

#pragma GCC visibility push(hidden)

#define FLOW_E_PLT		2
#define FLOW_E_GOT		4
#define FLOW_E_DLSYM		8
/* the function belongs to libldb and wraps a function of another library */
#define FLOW_E_OURS		16

struct flow_entry {
	uint64_t target;
	uint32_t cell;			/* index in the dictionary; 0: not called yet */
	uint32_t flags;			/* FLOW_E_* */
	const char *name;
	uint16_t from, to;		/* numbers of the calling and of the called module */
	/* number + 1 of the next entry in the same chain (entry.c) */
	uint32_t next;
};

/* Why a slot is not in its thread's list of free slots although its call is not in progress. */
enum flow_away {
	FLOW_IN_PLACE,	/* neither of the following */
	FLOW_ADRIFT,	/* its call returned on another thread */
	/* an exception or a longjmp() ended the call; a coroutine's jump may continue it */
	FLOW_LEFT,
};

struct flow_slot {
	uint64_t ret;			/* the true return address */
	uint64_t sp;			/* the caller's stack pointer; 0: the slot is free */
	/*
	 * the clock at the start; 0: the call has been added to the sums already; of a slot that an
	 * exited thread gave back: slots.c
	 */
	uint64_t start;
	/* the next free slot of the thread; the slot itself while its call is returning */
	struct flow_slot *next;
	uint64_t stub;
	struct flow_slot *up;		/* the innermost timed call when this one was made */
	struct flow_entry *entry;
	uint32_t skipped;		/* number of untimed calls that this call also represents */
	union {
		struct {
			uint8_t cfa;	/* what flows.S adds to sp to get the frame's CFA */
			uint8_t away;	/* enum flow_away */
			/*
			 * number of the region of the thread that owns the slot; 0: it has exited,
			 * or there never was one
			 */
			uint16_t owner;
		};
		/* the three members above as one number, which mostly equals flow_self.tag */
		uint32_t tag;
	};
};

struct flow_self {
	uint64_t off;			/* offset of the thread's region; 0: it has none */
	struct flow_slot *free;
	/* the innermost timed call, which may have been left without a return */
	struct flow_slot *top;
	union {
		struct {
			uint8_t cfa;	/* FLOW_CFA */
			uint8_t away;	/* FLOW_IN_PLACE */
			uint16_t owner;	/* number of the region */
		};
		uint32_t tag;
	};
	uint16_t nr_all;		/* how many slots the thread owns */
	uint32_t all;			/* number of the first of them: slots.c */
	/* number of refills until the thread's slots are searched again */
	uint32_t rest;
	/* number of slots that remained FLOW_LEFT at the last search */
	uint32_t nr_left;
	bool is_leaving;		/* the thread ends */
	/* calls ended without a return, and not through an interposed function */
	bool is_strange;
};

#define CHECK(type, member, value)	_Static_assert(offsetof(type, member) == (value), #value)
CHECK(struct flow_entry, target, FLOW_E_TARGET);
CHECK(struct flow_entry, cell, FLOW_E_CELL);
CHECK(struct flow_entry, flags, FLOW_E_FLAGS);
CHECK(struct flow_slot, ret, FLOW_S_RET);
CHECK(struct flow_slot, sp, FLOW_S_SP);
CHECK(struct flow_slot, start, FLOW_S_START);
CHECK(struct flow_slot, next, FLOW_S_NEXT);
CHECK(struct flow_slot, stub, FLOW_S_STUB);
CHECK(struct flow_slot, up, FLOW_S_UP);
CHECK(struct flow_slot, entry, FLOW_S_ENTRY);
CHECK(struct flow_slot, skipped, FLOW_S_SKIPPED);
CHECK(struct flow_slot, cfa, FLOW_S_CFA);
CHECK(struct ldb_flow_state, left, FLOW_T_LEFT);
CHECK(struct ldb_flow_state, skipped, FLOW_T_SKIPPED);
CHECK(struct ldb_flow_state, stride, FLOW_T_STRIDE);
CHECK(struct flow_self, off, FLOW_SELF_OFF);
CHECK(struct flow_self, free, FLOW_SELF_FREE);
CHECK(struct flow_self, top, FLOW_SELF_TOP);
_Static_assert(sizeof(struct flow_entry) == 1 << FLOW_E_SHIFT, "flows.S");
_Static_assert(sizeof(struct flow_slot) == 1 << FLOW_S_SHIFT, "flows.S");
#undef CHECK

/*
 * fork() wipes this page, like session_page, so that from its first instruction on a child does not
 * count calls.  The first word is the one that the stubs read.
 */
union flow_page {
	struct {
		uint64_t base;		/* region 0; 0: no calls are counted */
		uint64_t share;		/* 2^32 / number of threads */
		/* ticks: calls that take this long or longer have an event */
		uint64_t threshold;
		/* ticks that two readings of the clock measure for an empty function */
		uint64_t cost;
		/* clock: calls that began earlier do not belong to this recording */
		uint64_t begun;
		/* ticks: a shorter call has no event, and its bucket is in the cell's part[0] */
		uint64_t usual;
		_Atomic bool is_on;	/* a recording runs; while it is paused, base is 0 */
	};
	char page[4096];
};
extern union flow_page flow_page;

extern struct flow_entry *flow_entries;
extern struct flow_slot flow_slots[FLOW_SLOTS + 1];
extern TLS_IE struct flow_self flow_self;

/* arch/CPU/flows.S */
extern const char flow_entry_stubs[], flow_slot_stubs[];

static inline uint64_t flow_stub_of(const struct flow_entry *e)
{
	return (uintptr_t)flow_entry_stubs + (e - flow_entries) * FLOW_STUB;
}

/* memory.c */

extern char *flow_memory;		/* NULL: it was never mapped */
/* tid of the thread that has, or last had, each region */
extern uint32_t flow_tids[LDB_FLOW_THREADS];

static inline struct ldb_flow_info *flow_info(void)
{
	return (struct ldb_flow_info *)flow_memory;
}

uint64_t flow_threshold(void);		/* of events, in ticks */
void flow_lose(enum ldb_flow_lost what, uint64_t nr);

/* thread.c */
/*
 * Gives the threads that exist when a recording begins their regions.  Returns false if the
 * registry is locked.
 */
bool flow_thread_all(void);
void flow_thread_end(void);		/* called by a raw thread */
/* Called in a fork child by its only thread, which retains the number of its region. */
void flow_thread_fork_child(void);
uint32_t flow_thread_kept(void);	/* returns that number; 0: it had no region */

/* dictionary.c: called by flows.S. */
void flow_first_c(struct flow_entry *e);

/* slots.c */

/*
 * Gets free slots for the calling thread, which makes a call with stack pointer sp.  Returns 0 if
 * the call cannot be timed; then *state says when the next one may be.
 */
int flow_refill_c(uint64_t sp, struct ldb_flow_state *state);
void flow_slots_return(void);		/* called when the calling thread exits */
/*
 * Called when the thread makes a call with stack pointer sp, although timed calls with the same or
 * a lower stack pointer have not returned.  Returns the innermost timed call that has not ended, as
 * far as is known; NULL: none.
 */
struct flow_slot *flow_left_c(uint64_t sp);
/* Called if a call returns on another thread than the owner of its slot. */
void flow_slot_adrift(struct flow_slot *s);
/* Writes the table of calls that have not returned, in case the program is killed.  Raw thread. */
void flow_slots_note(void);
/* Adds calls that have not returned to the sums at base, as if they ended now. */
void flow_slots_close(uint64_t base, uint64_t now);
/*
 * Called in a fork child before it counts calls: takes the slots from all threads except the one
 * that has region `own`, because only this one exists in the child.  Slots without a call are
 * freed.  Raw thread.
 */
void flow_slots_reclaim(uint32_t own);
/*
 * Called in a fork child before flow_slots_reclaim(): frees the slots of calls that other threads
 * had in progress on their own stacks.  threads[] has the thread of each region.
 */
void flow_slots_fork_child(struct thread *const *threads);

/* call.c */

/* The result of a function, in the registers that C functions use. */
struct flow_result {
	uint64_t a, b;
};
/*
 * Adds a call that ended at time `now` to the sums if calls are counted, frees its slot, and
 * returns a and b.
 */
struct flow_result flow_return_c(struct flow_slot *s, uint64_t now, uint64_t unused, uint64_t now_too,
				 uint64_t a, uint64_t b);
void flow_call_prepare(void);		/* called when threshold and cost are known */
/* Calls flow_event_c(), with the vector registers saved (arch/CPU/flows.S). */
void flow_event(const struct flow_slot *s, uint64_t now, uint64_t start);
/* Adds the call of a slot to the sums at base, if it has not returned, as if it ended now. */
void flow_close(struct flow_slot *s, uint64_t base, uint64_t now);
/*
 * Describes the call of a slot; returns false if no call of this recording is in progress, or calls
 * are not counted.  Raw thread.
 */
bool flow_is_open(const struct flow_slot *s, struct ldb_flow_open *o);

/* event.c */
void flow_event_c(const struct flow_slot *s, uint64_t now, uint64_t start, bool is_open);

/* patch.c: only threads of the program call these, except where noted. */
bool flow_patch_prepare(void);		/* false: there is no memory */
void flow_patch_started(void);		/* patches the modules with which the program started */
/* Calls begin() under the loader's lock, in a running program. */
void flow_patch_running(void (*begin)(void));
void flow_patch_all(void);		/* patches all modules, in a running program */
void flow_patch_later(void);		/* patches modules that were loaded after the others */
void flow_unpatch(void);		/* restores tables; called by a raw thread */

/* modules.c: functions on the list of modules. */
uint64_t flow_module_start(uint32_t number);	/* returns a module's start; 0: no such module */
/* returns the number of this code's module; 0: none */
uint32_t flow_module_of(uint64_t addr);
bool flow_is_function(uint32_t module, const void *fn, const char *name);

/* entry.c */

/*
 * Returns the entry for a function and the module that calls it; NULL, after counting the reason,
 * if calls of the function are not counted.
 */
struct flow_entry *flow_entry_find(uint32_t from, uint32_t to, uint64_t target, const char *name,
				   uint32_t flags);
/* Returns the function that a wrapper of libldb stands for, or the function itself. */
uint64_t flow_entry_real(uint64_t target, const char *name, uint32_t flags);
typedef void *flow_dlsym_fn(void *handle, const char *name);
extern flow_dlsym_fn *flow_entry_dlsym;	/* called in place of dlsym() */
uint64_t flow_nr_entries(void);
/* called when a recording begins: forgets the cells of all entries */
void flow_entry_begin(void);
bool flow_entry_prepare(void);		/* false: there is no memory */
void flow_entry_fork_child(void);

/* dlsym.c */
extern bool flow_dlsym_follows;		/* functions that dlsym() returns are counted, too */
void *flow_dlsym(void *handle, const char *name);

/* search.c */

struct flow_scope {		/* describes the symbols that a module defines */
	uint64_t bias;
	const ElfW(Sym) *sym;
	const char *str;
	const ElfW(Half) *versym;
	const ElfW(Verdef) *verdef;
	const uint32_t *hash;
};

/* Returns false if the module cannot be searched. */
bool flow_scope_read(struct flow_scope *s, const void *dynamic, uint64_t bias);
/*
 * Returns the address of the function in the first of these modules that defines it; 0: none does.
 * version NULL: the oldest version, or a newer one if there is only one.
 */
uint64_t flow_scope_search(const struct flow_scope *scopes, uint32_t nr, const char *name,
			   const char *version);

/* special.c */
enum flow_special {
	FLOW_USUAL,
	FLOW_NEVER_TIMED,
	FLOW_NEVER_TOUCHED,
	FLOW_DLSYM,
};
enum flow_special flow_special_of(const char *name);

#pragma GCC visibility pop
#endif /* FLOWS_FLOWS_H */
