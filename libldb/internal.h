/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares what libldb's directories share, grouped by the file that defines it.
 *
 * Two kinds of code live in this library:
 *
 *  - code that runs in the program's own threads (shim, requests, registry,
 *    dlopen hooks).  It may call libc, must leave errno as it found it, must
 *    not allocate on hot paths, and must not take a lock that the interrupted
 *    code may hold if the program calls libldb from a signal handler.
 *
 *  - code that runs in ldb's own two kinds of threads (control, scanner).
 *    These are raw clone()s with zeroed thread-local memory, so that the
 *    program stays single-threaded for glibc (fast paths, exit when the
 *    last pthread exits).  They must not call libc at all: they use raw
 *    system calls (arch/ *.h) and the functions of raw.h.  Files of this
 *    kind, and most such functions in other files, say "raw thread" in
 *    their comment.
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
 * For variables that are written even in a program that is not recorded.  The linker puts them next
 * to the tables that the loader writes; together they are less than a page, so copy-on-write copies
 * only one page when the program starts.
 */
#define DORMANT_PAGE		__attribute__((section(".data.dormant")))

#pragma GCC visibility push(hidden)

/* runtime/thread.c: the registry of the program's threads */

#define HELD_MAX	16

struct held_lock {		/* a lock that the thread holds; for the shim */
	uintptr_t lock;
	uint64_t begin;		/* stamp, or 0: not stamped */
	uint64_t gen;		/* thread_gen() when it was taken */
	/*
	 * start of the wait for the lock that ended at `begin`, if that wait has yet to be written;
	 * else 0
	 */
	uint64_t wait_begin;
	/* call site | enum ldb_lock_kind << 56, so that one store sets both */
	uint64_t site_kind;
	uint32_t owner;		/* tid of the lock's holder when that wait began */
	uint32_t nr_later;	/* nr_later of thread_innermost() when that wait began */
};

/*
 * The shim's data of a thread, in its thread-local memory.  Only the thread itself accesses it,
 * except in shim_flush().  The words that are used each time a lock is taken, and the first entry,
 * share a cache line.
 */
struct held_list {
	uint32_t in_hook;
	/* the thread's tid if the shim takes normal mutexes without calling glibc; else 0 */
	uint32_t tid;
	uint32_t nr_held;		/* if more than HELD_MAX are held, the newest HELD_MAX */
	uint32_t held_epoch;		/* lock_epoch of the entries; 0: they are invalid */
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
	/* page in the session, which recording.c assigns; -1: none */
	int32_t slot;
	uint64_t start_tsc;
	char name[16];
	struct thread *next_free;

	struct held_list *list;		/* valid while the thread is registered */
	struct flow_self *flow;		/* valid while the thread is registered */

	/*
	 * socket/track.c: connections on whose requests the thread works, besides the current one,
	 * which may be among them
	 */
	struct {
		int fd;
		uint32_t serial;
	} works[8];
	uint32_t nr_works;

	/* request/request.c: the requests that the thread has tagged; not valid in another epoch */
	uint32_t tag_epoch, nr_tags;
	uint32_t nr_more_tags;		/* number of further tags for which there was no room */
	uint64_t tags[4];

	/* only the scanner that owns the thread changes the state; NULL: the thread has no page */
	struct scan_state *scan __attribute__((aligned(64)));

	/*
	 * 1: the thread works on a request.  This is in a cache line of its own, because the
	 * scanner reads it.
	 */
	_Atomic uint32_t in_request __attribute__((aligned(64)));
};

/*
 * Returns the calling thread's entry; NULL if the thread is not registered (yet), was made by raw
 * clone(), or is exiting.  It is async-signal-safe.
 */
struct thread *thread_self(void);

/*
 * NULL, unless the runtime was loaded into a running program: then this function registers the
 * calling thread, which existed before.  It returns NULL if the thread cannot be registered now.
 */
extern struct thread *(*thread_on_unknown)(void);

/*
 * Returns the generation of the thread's last entered frame in its first block, in the form of
 * ldb_func_rec.gen; 0 if nothing is instrumented.  This is only for the calling thread.
 */
uint64_t thread_gen(void);

/*
 * shim/innermost.c: returns thread_gen() of the calling thread t.  *nr_later gets the difference
 * between this generation and that of the innermost frame of the same block that has not returned,
 * plus 1; or 0 if it is not known, because t is NULL or the innermost record is not in the used
 * part of the thread's own stack.  It is async-signal-safe.
 */
uint64_t thread_innermost(const struct thread *t, uint32_t *nr_later);

/*
 * Stores the calling thread's blocks (one for each instrumented module that does not share
 * another's).  Returns how many were stored.
 */
unsigned blocks_of_self(struct ldb_thread **v, unsigned max);

/* scan/scanner.c */

/* Waits until each scanner has finished a walk that was under way at the call. */
void scan_quiesce(void);

/*
 * request/stack.c: if addr lies in a registered foreign stack, stores the stack's bounds [*lo, *hi)
 * and returns true.
 */
bool stack_foreign(uintptr_t addr, uintptr_t *lo, uintptr_t *hi);

/* runtime/session.c: what a recorder has requested */

/*
 * session_page is a separate page that fork() zeroes (MADV_WIPEONFORK), so that from its first
 * instruction on a child is not recorded.  It is read with relaxed loads.
 */
#define SESSION_ON	1
#define SESSION_LOCKS	2		/* locks are to be recorded */
#define SESSION_TAGS	4		/* requests, notes and events are to be recorded */
#define SESSION_SOCKETS	8		/* requests are to be derived from connections */
#define SESSION_LOOPS	16		/* turns of event loops are to be recorded */
#define SESSION_NO_EPOCH UINT32_MAX

struct session_active {
	_Atomic uint32_t on;		/* SESSION_*; 0: nothing is recorded */
	uint32_t mutex_level;		/* enum ldb_mutex_level */
	uint64_t lock_threshold;	/* ticks */
	uint64_t func_threshold;	/* ticks */
	uint32_t epoch;			/* number of recordings so far; 0: none */
	/* changed when a recording begins, is paused, and is resumed */
	uint32_t lock_epoch;
	uint32_t is_in_requests_only;	/* invocations outside requests are only counted */
	uint32_t clock_id;		/* enum ldb_clock */
	uint32_t is_in_sockets;		/* requests are derived from connections */
	uint32_t has_turns;		/* turns of event loops are recorded */
	/*
	 * lock_epoch at the index mutex_level, SESSION_NO_EPOCH at the others: so one comparison
	 * with held_epoch tests both the level and the epoch
	 */
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

/* Starts recording requests, and locks at the mutex_level that is set. */
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

/* Pauses: the recording goes on, but threads write nothing about locks and requests. */
static inline void session_write_nothing(struct session_active *a)
{
	a->mutex_level = LDB_MUTEX_OFF;
	for (uint32_t level = 0; level <= LDB_MUTEX_HOLD; level++)
		a->level_epoch[level] = SESSION_NO_EPOCH;
	order_session_set(&a->on, SESSION_ON);
}

/* Begins a recording. */
static inline void session_publish(struct session_active *a, bool is_paused)
{
	a->epoch++;
	a->lock_epoch++;	/* the locks that threads remember belong to an earlier recording */
	if (is_paused)
		session_write_nothing(a);
	else
		session_write(a);
}

/*
 * While nothing is recorded, a wrapper costs only one of these tests: a load, a comparison and a
 * branch.
 */
static inline bool session_wants_locks(void)
{
	return unlikely(order_session_on(&session_page.a.on) & SESSION_LOCKS);
}

/* For requests, notes and events of the program. */
static inline bool session_wants_tags(void)
{
	return unlikely(order_session_on(&session_page.a.on) & SESSION_TAGS);
}

/* For wrappers of reads and writes. */
static inline bool session_wants_sockets(void)
{
	return unlikely(order_session_on(&session_page.a.on) & SESSION_SOCKETS);
}

/* For wrappers of io_uring, which is followed in every recording that is not paused. */
static inline bool session_wants_rings(void)
{
	return session_wants_tags();
}

static inline bool session_wants_loops(void)
{
	return unlikely(order_session_on(&session_page.a.on) & SESSION_LOOPS);
}

/*
 * For wrappers of waits for descriptors.  is_loop: an event loop waits; else a thread waits for one
 * descriptor.
 */
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
/* Reads the clock after the calling thread's earlier stores have become visible to the scanner. */
uint64_t session_clock_after_stores(void);

/*
 * Writes nr slots, with their commit words, into the ring of the CPU on which the caller runs.  It
 * never blocks, never fails, and may be called in signal handlers and after the session has ended.
 * Slot 0's tid must be set by the caller.
 */
void ring_write(struct ldb_rec *slots, unsigned nr);

/* shim/: resolves the functions that the shim wraps; called by the constructor. */
void shim_init(void);
/*
 * Sets the offset from the thread pointer at which each thread's generation is.  It is called
 * before the first recording.
 */
void shim_locate(intptr_t gen_off);
intptr_t shim_gen_off(void);
/* Called when the calling thread has got an entry. */
void shim_thread_enter(struct thread *t);
/* Called when the calling thread, while it is recorded, has created another thread. */
void shim_not_alone(void);
/* Called when the calling thread exits: writes its deferred waits, and forgets its locks. */
void shim_thread_exit(struct thread *t);
/* Called in a fork child.  Its only thread waits for no lock. */
void shim_fork_child(void);
/*
 * Writes the waits of another thread that were deferred because it holds the lock.  Called when the
 * recording ends or is paused: session_wants_locks() is false, the rings are still mapped.  Raw
 * thread.
 */
void shim_flush(struct thread *t);

/* Forgets which threads wake others, when a recording begins or is resumed.  Raw thread. */
void shim_begin(void);

/* shim/own.c implements ldb_lock_wait() and its partners of <ldb/ldb.h>. */
void own_wait(const volatile void *lock, const void *site);
void own_acquired(const volatile void *lock, const void *site);
void own_released(const volatile void *lock, const void *site);

/*
 * request/request.c: fills an object's table of functions, if the runtime knows the table's
 * version.
 */
void request_fill(uint64_t version, void *table);
void request_thread_exit(struct thread *t);

/* socket/conn.c: these forget all descriptors. */
void conn_begin(void);		/* called by a raw thread */
void conn_fork_child(void);
/*
 * socket/uring-find.c: searches for existing rings, unless there is a seccomp filter.  Raw thread.
 */
void uring_begin(void);
void uring_unmapped(uintptr_t lo, uintptr_t hi); /* called before the program unmaps this memory */
void uring_forget_all(void);
void uring_fork_child(void);	/* socket/uring.c */
/*
 * socket/uring-wrap.c: makes the system call for which the program has called syscall(), if
 * uring_is_call() returns true: it is a call of io_uring, and these are followed.
 */
typedef long syscall_fn(long number, long a, long b, long c, long d, long e, long f);
long uring_syscall(syscall_fn *real, uintptr_t site, long number, long a, long b, long c, long d, long e,
		   long f);
bool uring_is_call(long number);

/* flows/: sums of calls between modules. */

/* Maps the memory that the recorder has sent.  Returns 0 or -errno.  Raw thread. */
int flow_map(int fd, uint64_t threshold_ns);
bool flow_is_mapped(void);
/*
 * Starts to follow calls when the recording has begun; called by threads of the program only.
 * is_running: main() has begun, so the list of modules is read under the loader's lock; else the
 * caller is a constructor.
 */
void flow_begin(bool is_running);
/*
 * Does the same as flow_begin() in a fork child whose linkage tables contain the stubs of its
 * parent; else nothing.  Raw thread.
 */
void flow_begin_child(void);
void flow_poll(void);		/* called regularly by the raw thread that will call flow_end() */
/* In a pause nothing is counted; the stubs stay in the linkage tables.  Raw thread. */
void flow_pause(bool pause);
/* Called when the recording ends: session_on() is false, rings are still mapped.  Raw thread. */
void flow_end(void);
/* Ends the counting; called if no raw thread exists that could call flow_end(). */
void flow_stop(void);
void flow_unmap(void);
void flow_thread_enter(struct thread *t);	/* called under registry_lock */
void flow_thread_exit(struct thread *t);
void flow_at_exit(void);
void flow_fork_child(void);
/*
 * Called before a longjmp() or an exception continues in the frame with stack pointer sp, and
 * leaves the frames between here (the current stack pointer) and sp.
 */
void flow_leave(uintptr_t sp, uintptr_t here);
/* Returns the caller's return address; ret may be the address of a stub that replaced it. */
uintptr_t flow_site(uintptr_t ret);

/* shim/unwind.c: unlinks the frame records below sp from each block of the calling thread. */
void unwind_pop_below(uintptr_t sp);

#pragma GCC visibility pop
#endif /* LDB_INTERNAL_H */
