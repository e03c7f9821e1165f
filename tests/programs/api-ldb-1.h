/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is the first version of <ldb/ldb.h>, as programs were compiled with it.  It never
 * changes, apart from comments.  See tests/e2e/api.t.
 *
 * Tell ldb which request a thread is working on, and ldb-timeline shows what
 * that request waited for (LDB paper, section 4.2).  Nothing has to be linked:
 * without ldb's runtime in the process each call is a load and a branch.
 *
 *	ldb_req_start(id, queue)   this thread works on request id, taken from
 *				   queue (NULL: none).  Several threads may work
 *				   on one request, a thread on several.
 *	ldb_req_block(id, queue)   this thread puts the request into queue and
 *				   is done with it for now.
 *	ldb_req_end(id)		   the request is finished.
 *	ldb_req_end_all()	   every request this thread works on is finished.
 *	ldb_req_class(id, name)	   the class the request belongs to ("GET"); at
 *				   most LDB_CLASS_MAX bytes are retained.
 *	ldb_req_link(id, trace, span)  W3C trace context: 16 and 8 bytes.
 *
 * All are thread-safe, async-signal-safe, never fail, and leave errno alone.
 * Ids are the program's own; they may repeat.
 */
#ifndef LDB_LDB_H
#define LDB_LDB_H

#include <stdint.h>

#define LDB_API_VERSION	1
#define LDB_CLASS_MAX	23

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Filled by the runtime, which finds it through an ELF note (abi.h, type 2).
 * A table, because weak functions are bound to 0 for good in a -no-pie program.
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

__attribute__((weak, visibility("hidden"), used)) struct ldb_api __ldb_api;

/* PC-relative, so that it needs no relocation at run time. */
__asm__(
".pushsection .note.ldb.api,\"aGR\",@note,__ldb_api_note,comdat\n"
".balign 4\n"
".long 4, 16, 2\n"
".asciz \"LDB\"\n"
"1: .quad __ldb_api - 1b\n"
".quad 1\n"
".popsection\n");

#define LDB_API_CALL(fn, ...)						\
	do {								\
		__typeof__(__ldb_api.fn) fn_ =				\
			__atomic_load_n(&__ldb_api.fn, __ATOMIC_RELAXED); \
		if (__builtin_expect(fn_ != 0, 0))			\
			fn_(__VA_ARGS__);				\
	} while (0)

/* An address in the function the call was written in. */
#define LDB_SITE	__extension__({ void *pc_; __asm__("lea{q} {0(%%rip), %0|%0, [rip]}" : "=r"(pc_)); (const void *)pc_; })

static inline __attribute__((always_inline, unused)) void
ldb_req_start(uint64_t id, void *queue)
{
	LDB_API_CALL(req_start, id, queue, LDB_SITE);
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

/*
 * A stack that is not the thread's own (ucontext, coroutines, sigaltstack):
 * [lo, hi) must stay mapped until ldb_stack_unregister(lo) returns.  Returns 0,
 * -EINVAL (-22) for an empty range, -ENOMEM (-12) when the table is full; 0
 * without the runtime.
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
/* The request is being worked on for as long as the object exists. */
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
