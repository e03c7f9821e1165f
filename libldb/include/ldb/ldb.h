/* SPDX-License-Identifier: MIT */
/*
 * These functions tag requests, attach notes to them, mark events, report locks that the program
 * implements, and control the recording.
 *
 * Tell ldb which request a thread is working on, and ldb-timeline shows what that request waited
 * for.  Nothing has to be linked: if ldb's runtime is not in the process, each call is a load and a
 * branch.
 *
 *	ldb_req_start(id, queue)   this thread works on request id, taken from
 *				   queue (NULL: none).  Several threads may work
 *				   on one request, a thread on several.
 *	ldb_req_arrived(id, queue, age_ns)  the request has been waiting in queue
 *				   (NULL: a queue without an address) for age_ns,
 *				   and this thread is about to start it.
 *	ldb_req_block(id, queue)   this thread puts the request into queue and
 *				   is done with it for now.
 *	ldb_req_end(id)		   the request is finished.
 *	ldb_req_end_all()	   every request this thread works on is finished.
 *	ldb_req_class(id, name)	   the class the request belongs to ("GET"); at
 *				   most LDB_CLASS_MAX bytes are retained.
 *	ldb_req_link(id, trace, span)  W3C trace context: 16 and 8 bytes.
 *
 * Notes on requests, and events:
 *
 *	ldb_req_note(id, key, value)	attaches a text to an open request: "tenant", "acme".
 *	ldb_req_note_u64(id, key, n)	attaches a number: "bytes", 65536.  ldb-why finds
 *					notes that slow requests share.
 *	ldb_event(name, value)		marks an event of this thread, with the current time:
 *					"cache miss", 3.
 *
 * Control of the recording by the program (these return at once, and have no effect while no
 * recording runs):
 *
 *	ldb_record_stop()	pauses the recording.
 *	ldb_record_start()	continues the recording.
 *	ldb_record_dump(why)	writes what a flight recorder retains to a file.
 *
 * ldb records the locks of pthread and C11; the program has to report a lock that it implements
 * itself:
 *
 *	ldb_lock_wait(lock)	   this thread found the lock taken and waits for it.
 *	ldb_lock_acquired(lock)	   this thread has just taken the lock.
 *	ldb_lock_released(lock)	   this thread is about to release the lock, or
 *				   gives up waiting for it.
 *
 * All of these are thread-safe and async-signal-safe, never fail, and do not change errno.  Ids are
 * the program's own; they may repeat.
 */
#ifndef LDB_LDB_H
#define LDB_LDB_H

#include <stdint.h>
#include "arch.h"

/*
 * Version 2 added ldb_req_arrived(), 3 ldb_lock_*(), 4 ldb_req_note*(), ldb_event() and
 * ldb_record_*().
 */
#define LDB_API_VERSION	4
#define LDB_CLASS_MAX	23
/* The greatest lengths in bytes; longer names and texts are cut. */
#define LDB_NOTE_KEY_MAX	16
#define LDB_NOTE_VALUE_MAX	36		/* a UUID's text */
#define LDB_EVENT_NAME_MAX	28
#define LDB_DUMP_WHY_MAX	63
#define LDB_AGE_MAX_NS	86400000000000ULL /* a day; calls with a greater age_ns are ignored */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The runtime fills this table, which it finds through an ELF note (abi.h, type 2).  The calls go
 * through a table and not to weak functions, because in a -no-pie program the linker binds an
 * undefined weak function to 0, and the runtime could not change that.  A version's table never
 * changes; functions that a later version adds have a table and a note of their own.  So one
 * program may contain objects that were compiled with different versions of this header, and it
 * runs with any version of the runtime.
 */
struct ldb_api {
	void (*req_start)(uint64_t id, void *queue, const void *site);
	void (*req_block)(uint64_t id, void *queue, const void *site);
	void (*req_end)(uint64_t id, const void *site);
	void (*req_end_all)(const void *site);
	void (*req_class)(uint64_t id, const char *name);
	void (*req_link)(uint64_t id, const void *trace, const void *span);
	int (*stack_register)(void *lo, void *hi);
	void (*stack_unregister)(void *lo);
};

struct ldb_api_2 {
	void (*req_arrived)(uint64_t id, void *queue, uint64_t age_ns);
};

struct ldb_api_3 {
	void (*lock_wait)(const volatile void *lock, const void *site);
	void (*lock_acquired)(const volatile void *lock, const void *site);
	void (*lock_released)(const volatile void *lock, const void *site);
};

struct ldb_api_4 {
	void (*req_note)(uint64_t id, const char *key, const char *value);
	void (*req_note_u64)(uint64_t id, const char *key, uint64_t value);
	void (*event)(const char *name, int64_t value);
	void (*record_start)(void);
	void (*record_stop)(void);
	void (*record_dump)(const char *why);
};

__attribute__((weak, visibility("hidden"), used)) struct ldb_api __ldb_api;
__attribute__((weak, visibility("hidden"), used)) struct ldb_api_2 __ldb_api_2;
__attribute__((weak, visibility("hidden"), used)) struct ldb_api_3 __ldb_api_3;
__attribute__((weak, visibility("hidden"), used)) struct ldb_api_4 __ldb_api_4;

LDB_API_NOTE(__ldb_api, 1);
LDB_API_NOTE(__ldb_api_2, 2);
LDB_API_NOTE(__ldb_api_3, 3);
LDB_API_NOTE(__ldb_api_4, 4);

#define LDB_API_CALL_OF(table, fn, ...)					\
	do {								\
		__typeof__(table.fn) fn_ =				\
			__atomic_load_n(&table.fn, __ATOMIC_RELAXED);	\
		if (__builtin_expect(fn_ != 0, 0))			\
			fn_(__VA_ARGS__);				\
	} while (0)
#define LDB_API_CALL(fn, ...)	LDB_API_CALL_OF(__ldb_api, fn, __VA_ARGS__)

static inline __attribute__((always_inline, unused)) void
ldb_req_start(uint64_t id, void *queue)
{
	LDB_API_CALL(req_start, id, queue, LDB_SITE);
}

static inline __attribute__((always_inline, unused)) void
ldb_req_arrived(uint64_t id, void *queue, uint64_t age_ns)
{
	LDB_API_CALL_OF(__ldb_api_2, req_arrived, id, queue, age_ns);
}

static inline __attribute__((always_inline, unused)) void
ldb_req_block(uint64_t id, void *queue)
{
	LDB_API_CALL(req_block, id, queue, LDB_SITE);
}

static inline __attribute__((always_inline, unused)) void
ldb_req_end(uint64_t id)
{
	LDB_API_CALL(req_end, id, LDB_SITE);
}

static inline __attribute__((always_inline, unused)) void
ldb_req_end_all(void)
{
	LDB_API_CALL(req_end_all, LDB_SITE);
}

static inline __attribute__((always_inline, unused)) void
ldb_req_class(uint64_t id, const char *name)
{
	LDB_API_CALL(req_class, id, name);
}

static inline __attribute__((always_inline, unused)) void
ldb_req_link(uint64_t id, const void *trace16, const void *span8)
{
	LDB_API_CALL(req_link, id, trace16, span8);
}

/* A later note with the same key replaces the earlier one. */
static inline __attribute__((always_inline, unused)) void
ldb_req_note(uint64_t id, const char *key, const char *value)
{
	LDB_API_CALL_OF(__ldb_api_4, req_note, id, key, value);
}

static inline __attribute__((always_inline, unused)) void
ldb_req_note_u64(uint64_t id, const char *key, uint64_t value)
{
	LDB_API_CALL_OF(__ldb_api_4, req_note_u64, id, key, value);
}

static inline __attribute__((always_inline, unused)) void
ldb_event(const char *name, int64_t value)
{
	LDB_API_CALL_OF(__ldb_api_4, event, name, value);
}

/* ldb_record_start(3) says when these three calls take effect. */
static inline __attribute__((always_inline, unused)) void
ldb_record_start(void)
{
	LDB_API_CALL_OF(__ldb_api_4, record_start);
}

static inline __attribute__((always_inline, unused)) void
ldb_record_stop(void)
{
	LDB_API_CALL_OF(__ldb_api_4, record_stop);
}

static inline __attribute__((always_inline, unused)) void
ldb_record_dump(const char *why)
{
	LDB_API_CALL_OF(__ldb_api_4, record_dump, why);
}

/*
 * A lock is identified by its address; ldb does not read the lock's memory.  ldb_lock_wait(3) says
 * what ldb does if the calls come in a wrong order.
 */
static inline __attribute__((always_inline, unused)) void
ldb_lock_wait(const volatile void *lock)
{
	LDB_API_CALL_OF(__ldb_api_3, lock_wait, lock, LDB_SITE);
}

static inline __attribute__((always_inline, unused)) void
ldb_lock_acquired(const volatile void *lock)
{
	LDB_API_CALL_OF(__ldb_api_3, lock_acquired, lock, LDB_SITE);
}

static inline __attribute__((always_inline, unused)) void
ldb_lock_released(const volatile void *lock)
{
	LDB_API_CALL_OF(__ldb_api_3, lock_released, lock, LDB_SITE);
}

/*
 * Registers a stack that is not the thread's own (ucontext, coroutines, sigaltstack): [lo, hi) must
 * stay mapped until ldb_stack_unregister(lo) returns.  Returns 0, also without the runtime; -EINVAL
 * (-22) if the range is empty or `lo` is NULL; -ENOMEM (-12) if the table is full.  Functions of
 * the program that switch stacks must have __attribute__((returns_twice)): see
 * ldb_stack_register(3).
 */
static inline __attribute__((always_inline, unused)) int
ldb_stack_register(void *lo, void *hi)
{
	return __ldb_api.stack_register ? __ldb_api.stack_register(lo, hi) : 0;
}

static inline __attribute__((always_inline, unused)) void
ldb_stack_unregister(void *lo)
{
	LDB_API_CALL(stack_unregister, lo);
}

#ifdef __cplusplus
}

namespace ldb {
/* The thread works on the request until the object is destroyed, which ends the request. */
class request {
	uint64_t id_;
public:
	explicit request(uint64_t id, void *queue = nullptr) : id_(id)
	{
		ldb_req_start(id_, queue);
	}
	~request() { ldb_req_end(id_); }
	request(const request &) = delete;
	request &operator=(const request &) = delete;
};
}
#endif

#endif /* LDB_LDB_H */
