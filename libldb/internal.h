/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the prototypes shared between libldb's folders, grouped by defining file.
 *
 * Two kinds of code live in this library:
 *
 *  - code that runs in the program's own threads (shim, requests, registry,
 *    dlopen hooks).  It may call libc, must leave errno as it found it, must
 *    not allocate on hot paths, and must not take a lock the program can hold
 *    while calling us again from a signal handler.
 *
 *  - code that runs in ldb's own two kinds of threads (control, scanner).
 *    These are raw clone()s with zeroed thread-local memory, so that the
 *    program stays single-threaded for glibc (fast paths, exit when the
 *    last pthread leaves).  They must not call libc at all: only arch/ *.h
 *    (raw system calls), ldb_memcpy and friends.  Files of this kind say
 *    "raw thread" in their head comment and include raw.h.
 */
#ifndef LDB_INTERNAL_H
#define LDB_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <linux/ldb.h>
#include <ldb/abi.h>
#include <ldb/control.h>
#include "order.h"

#define HIDDEN		__attribute__((visibility("hidden")))
#define EXPORT		__attribute__((visibility("default")))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define TLS_IE		__thread __attribute__((tls_model("initial-exec")))

/*
 * These variables are written in a program that is not recorded.  They are next to the tables
 * that the loader writes; together they are less than a page, so only one page is copied when
 * the program starts.
 */
#define DORMANT_PAGE		__attribute__((section(".data.dormant")))

#pragma GCC visibility push(hidden)

/* runtime/thread.c: the registry of the program's threads */

#define HELD_MAX	16

struct held_lock {		/* a lock that this thread holds; for the shim */
	uintptr_t lock;
	uint64_t begin;		/* stamp, or 0: not stamped */
	uint64_t gen;		/* thread_gen() when it was taken */
	uint64_t wait_begin;	/* a wait not yet written, which ended at begin; or 0 */
	uint64_t site_kind;	/* call site | enum ldb_lock_kind << 56: one store */
	uint32_t owner;		/* of that wait */
	uint32_t nr_later;	/* when that wait began, see thread_innermost() */
};

/*
 * The shim's data of a thread, in its thread-local memory.  Only the thread itself accesses it,
 * except in shim_flush().  The words that each lock needs, and the first entry, are one cache line.
 */
struct held_list {
	uint32_t in_hook;
	uint32_t tid;			/* of the thread, if it takes usual mutexes itself; or 0 */
	uint32_t nr_held;		/* of more than HELD_MAX, the newest */
	uint32_t held_epoch;		/* session_active.lock_epoch the entries belong to; 0: forget them */
	struct held_lock held[HELD_MAX];
} __attribute__((aligned(64)));

enum thread_state { THREAD_FREE, THREAD_LIVE, THREAD_DYING };

/* Entries stay until the process ends, and are reused. */
struct thread {
	_Atomic uint32_t state;		/* enum thread_state */
	uint32_t tid;
	uintptr_t tp;			/* thread pointer */
	uintptr_t stack_lo, stack_hi;
	uintptr_t start_routine;
	uint32_t creator;
	int32_t slot;			/* page in the session, -1 none; scanner assigns */
	uint64_t start_tsc;
	char name[16];
	struct thread *next_free;

	struct held_list *list;		/* valid while the thread is registered */
	struct flow_self *flow;		/* the same */

	/* socket/track.c: connections on whose requests the thread works, besides the current one */
	struct {
		int fd;
		uint32_t serial;
	} works[8];
	uint32_t nr_works;

	/* scanner, only touched by the scanner that owns the thread */
	struct scan_state *scan __attribute__((aligned(64)));

	/* request; a cache line of its own: the scanner reads it when it has too much to do */
	_Atomic uint32_t in_request __attribute__((aligned(64)));	/* is in a request */
};

/*
 * Returns the calling thread's entry, or NULL: not registered (yet), a thread made by raw
 * clone(), or one that is exiting.  It is async-signal-safe.
 */
struct thread *thread_self(void);

/*
 * If this is set, it registers the calling thread, which was there before the runtime was loaded;
 * it returns NULL if that is not so, or not possible now.
 */
extern struct thread *(*thread_on_unknown)(void);

/*
 * Returns the generation of the thread's last entered frame in its first block, in the form of
 * ldb_func_rec.gen; 0 if nothing is instrumented.  This is only for the calling thread.
 */
uint64_t thread_gen(void);

/*
 * shim/innermost.c: returns the same, and in *nr_later by how many generations the innermost frame
 * of that block that has not returned is older, plus 1; 0 if that is not known: t is NULL, or this
 * is a stack that the program allocated.  t is the calling thread.  It is async-signal-safe.
 */
uint64_t thread_innermost(const struct thread *t, uint32_t *nr_later);

/*
 * Stores the calling thread's blocks (one for each instrumented module that does not share
 * another's).  Returns how many were stored.
 */
unsigned blocks_of_self(struct ldb_thread **v, unsigned max);

/* scan/scanner.c */

/* Returns when no scanner still reads a stack that it was reading before. */
void scan_quiesce(void);

/* request/stack.c: registered foreign stacks.  Returns true if addr lies in [*lo, *hi). */
bool stack_foreign(uintptr_t addr, uintptr_t *lo, uintptr_t *hi);

/* runtime/session.c: what a recorder has requested */

/*
 * This is on a separate page that fork() wipes (MADV_WIPEONFORK): a child is inactive before it
 * runs its first instruction.  It is read with relaxed loads.
 */
#define SESSION_ON	1
#define SESSION_LOCKS	2		/* and locks are to be recorded */
#define SESSION_TAGS	4		/* and requests */
#define SESSION_SOCKETS	8		/* and requests are made from connections */
#define SESSION_LOOPS	16		/* and turns of event loops */
#define SESSION_NO_EPOCH UINT32_MAX

struct session_active {
	_Atomic uint32_t on;		/* SESSION_*: a recorder is listening */
	uint32_t mutex_level;		/* enum ldb_mutex_level */
	uint64_t lock_threshold;	/* ticks */
	uint64_t func_threshold;	/* ticks */
	uint32_t epoch;			/* counts attaches; 0 never */
	uint32_t lock_epoch;		/* the same, and how often the recording of locks was resumed */
	uint32_t is_in_requests_only;	/* invocations outside requests are only counted */
	uint32_t clock_id;		/* enum ldb_clock */
	uint32_t is_in_sockets;		/* requests are made from connections */
	uint32_t has_turns;		/* turns of event loops are recorded */
	/* lock_epoch at the mutex_level, SESSION_NO_EPOCH at the others: two tests in one */
	uint32_t level_epoch[LDB_MUTEX_HOLD + 1];
};
union session_page {
	struct session_active a;
	char page[4096];
};
extern union session_page session_page;

static inline bool session_on(void)
{
	return unlikely(order_session_on(&session_page.a.on));
}

/* From here on, requests are recorded, and locks at the mutex_level that is set. */
static inline void session_write(struct session_active *a)
{
	a->lock_epoch++;
	for (uint32_t level = 0; level <= LDB_MUTEX_HOLD; level++)
		a->level_epoch[level] = level == a->mutex_level ? a->lock_epoch : SESSION_NO_EPOCH;
	order_session_set(&a->on, SESSION_ON | SESSION_TAGS |
				  (a->mutex_level != LDB_MUTEX_OFF ? SESSION_LOCKS : 0) |
				  (a->is_in_sockets ? SESSION_SOCKETS : 0) |
				  (a->has_turns ? SESSION_LOOPS : 0));
}

/* The recording goes on, but threads write nothing about locks and requests. */
static inline void session_write_nothing(struct session_active *a)
{
	a->mutex_level = LDB_MUTEX_OFF;
	for (uint32_t level = 0; level <= LDB_MUTEX_HOLD; level++)
		a->level_epoch[level] = SESSION_NO_EPOCH;
	order_session_set(&a->on, SESSION_ON);
}

/* A recording begins. */
static inline void session_publish(struct session_active *a, bool is_paused)
{
	a->epoch++;
	a->lock_epoch++;	/* the locks that threads remember belong to an earlier recording */
	if (is_paused)
		session_write_nothing(a);
	else
		session_write(a);
}

/* The wrappers of the shim need one load and one test. */
static inline bool session_wants_locks(void)
{
	return unlikely(order_session_on(&session_page.a.on) & SESSION_LOCKS);
}

/* ... and so do those that write other events of the program's. */
static inline bool session_wants_tags(void)
{
	return unlikely(order_session_on(&session_page.a.on) & SESSION_TAGS);
}

/* ... and so do those around reads and writes. */
static inline bool session_wants_sockets(void)
{
	return unlikely(order_session_on(&session_page.a.on) & SESSION_SOCKETS);
}

/* ... and so do those around rings of io_uring, in every recording. */
static inline bool session_wants_rings(void)
{
	return session_wants_tags();
}

static inline bool session_wants_loops(void)
{
	return unlikely(order_session_on(&session_page.a.on) & SESSION_LOOPS);
}

/* ... and those around waits: of an event loop, or of a thread that waits for one descriptor. */
static inline bool session_wants_waits(bool is_loop)
{
	return unlikely(order_session_on(&session_page.a.on) & (SESSION_LOOPS | (is_loop ? SESSION_SOCKETS : 0)));
}

static inline uint32_t session_mutex_level(void)
{
	return session_on() ? session_page.a.mutex_level : LDB_MUTEX_OFF;
}

/* Returns the session's clock.  It is only valid while session_on(). */
uint64_t session_clock(void);

/*
 * Writes nr slots (commit words are filled in here) into the ring of the CPU the caller runs on.
 * It never blocks, never fails, and is safe in signal handlers and after the session has ended.
 * Slot 0's tid must be set by the caller.
 */
void ring_write(struct ldb_rec *slots, unsigned nr);

/* shim/: interposed functions.  This resolves all next functions, in the constructor. */
void shim_init(void);
/*
 * Sets where thread_gen() is, without its low 16 bits, from the thread pointer of each thread.
 * It is called before the first recording.
 */
void shim_locate(intptr_t gen_off);
intptr_t shim_gen_off(void);
/* The calling thread has an entry now. */
void shim_thread_enter(struct thread *t);
/* The calling thread has created another, while it is recorded. */
void shim_not_alone(void);
/* The calling thread exits: writes its last waits, forgets its held locks. */
void shim_thread_exit(struct thread *t);
/* In a fork child no thread waits for anything, and there is no other thread. */
void shim_fork_child(void);
/*
 * The recording ends (session_on() is false, the rings are still mapped):  writes the waits of
 * another thread that are deferred while a lock is held.  Raw thread.
 */
void shim_flush(struct thread *t);

/* Begins a recording: forgets what is known of locks and conditions.  Raw thread. */
void shim_begin(void);

/* shim/own.c implements ldb_lock_wait() and its partners of <ldb/ldb.h>. */
void own_wait(const volatile void *lock, const void *site);
void own_acquired(const volatile void *lock, const void *site);
void own_released(const volatile void *lock, const void *site);

/* request/request.c: fills an object's table of functions, if it knows that version. */
void request_fill(uint64_t version, void *table);
void request_thread_exit(struct thread *t);

/* socket/conn.c: what was known of descriptors is forgotten.  Raw thread; in the child. */
void conn_begin(void);
void conn_fork_child(void);
/*
 * socket/uring-find.c: the rings that exist are found, unless a filter for system calls is installed;
 * raw thread.  And the program is about to unmap memory.
 */
void uring_begin(void);
void uring_unmapped(uintptr_t lo, uintptr_t hi);
void uring_forget_all(void);
void uring_fork_child(void);	/* socket/uring.c */
/* socket/uring-wrap.c: the program calls syscall() for a ring. */
typedef long syscall_fn(long number, long a, long b, long c, long d, long e, long f);
long uring_syscall(syscall_fn *real, uintptr_t site, long number, long a, long b, long c, long d, long e,
		   long f);
bool uring_is_call(long number);

/* flows/: sums of calls between modules. */

/* The recorder has sent the memory: raw thread.  Returns 0 or -errno. */
int flow_map(int fd, uint64_t threshold_ns);
bool flow_is_mapped(void);		/* the recorder sees it */
/*
 * The recording has begun: program threads only.  is_running: main() has, too, and the loader is
 * asked; else it is a constructor that calls this.
 */
void flow_begin(bool is_running);
/* The same in a child of fork(), which has the tables of its parent: raw thread. */
void flow_begin_child(void);
void flow_poll(void);		/* every now and then, by the raw thread that will call flow_end() */
/* Nothing is counted in a pause; the stubs stay in the tables, and lead to the functions.  Raw thread. */
void flow_pause(bool pause);
/* The recording ends; session_on() is false, but the rings are still mapped.  Raw thread. */
void flow_end(void);
/* The session is over although no raw thread is there to end it. */
void flow_stop(void);
void flow_unmap(void);
void flow_thread_enter(struct thread *t);	/* under registry_lock */
void flow_thread_exit(struct thread *t);
void flow_at_exit(void);
void flow_fork_child(void);
/*
 * Control is about to go to a frame of the calling thread, with this stack pointer, past those that
 * are further in, down to here.
 */
void flow_leave(uintptr_t sp, uintptr_t here);
/* Returns the true return address of a call, whose return address may be that of a stub. */
uintptr_t flow_site(uintptr_t ret);

/* shim/unwind.c: pops records below sp from every block of this thread. */
void unwind_pop_below(uintptr_t sp);

#pragma GCC visibility pop
#endif /* LDB_INTERNAL_H */
