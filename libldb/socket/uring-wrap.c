// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposes the functions that a program calls to enter the kernel for io_uring: those functions
 * of liburing that are not inline, and mmap(), which maps rings.  The wrapper of syscall() is in
 * runtime/privilege.c, and calls uring_syscall().  What the first comment of wrap.c says about
 * wrappers is true for these, too.
 *
 * If a program loads liburing together with a plugin, liburing is only in the scope of that plugin,
 * and a search from this library does not find its functions.  Then the caller's scope is searched,
 * where the loader would have found the function if this library did not define it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "hook.h"
#include "track.h"
#include "uring.h"

struct io_uring;
struct __kernel_timespec;

static int no_such_function(void)
{
	return -ENOSYS;
}

extern const ElfW(Dyn) our_dynamic[] __asm__("_DYNAMIC") HIDDEN;

/* A function of a module that may be unloaded.  It is valid until any module is unloaded. */
struct ring_next {
	void *fn;
	unsigned long long subs;
};

struct search {
	struct ring_next *next;
	const char *name;
	uintptr_t site;
	void *fn;
	bool is_first;
	unsigned long long subs;
};

static int search_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const void *dynamic = NULL;
	bool is_caller = false;
	void *fn;

	(void)size;
	if (s->is_first) {
		s->is_first = false;
		s->subs = info->dlpi_subs;
		s->fn = order_any_load_word(&s->next->fn);
		if (s->fn && order_any_load_word(&s->next->subs) == s->subs)
			return 1;
		s->fn = NULL;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + ph->p_vaddr);
		if (ph->p_type == PT_LOAD && s->site - (info->dlpi_addr + ph->p_vaddr) < ph->p_memsz)
			is_caller = true;
	}
	if (!dynamic || dynamic == our_dynamic)
		return 0;
	fn = symbol_in(dynamic, info->dlpi_addr, s->name);
	if (fn && (is_caller || !s->fn)) {
		s->fn = fn;
		/*
		 * Only one thread at a time executes this, because dl_iterate_phdr() takes a lock.
		 */
		order_any_store_word(&s->next->subs, s->subs);
		order_any_store_word(&s->next->fn, fn);
	}
	return fn && is_caller;
}

/*
 * Searches all loaded modules.  dlsym() and dladdr() are not used, because they wait for
 * constructors, which may wait for the caller; dl_iterate_phdr() does not wait for them.
 */
static NOINLINE void *search_loaded(struct ring_next *next, uintptr_t site, const char *name)
{
	struct search s = { .next = next, .name = name, .site = site, .is_first = true };

	dl_iterate_phdr(search_module, &s);
	return s.fn ? s.fn : (void *)no_such_function;
}

/* Executes statements in a hook of t, the calling thread; errno stays unchanged. */
#define RING_HOOKED(...)							\
	do {									\
		int saved_ = errno;						\
		struct thread *t = session_wants_rings() ? thread_self() : NULL; \
										\
		if (t && !t->list->in_hook) {					\
			hook_enter(t);						\
			__VA_ARGS__;						\
			hook_leave(t);						\
		}								\
		errno = saved_;							\
	} while (0)

#define RING_NEXT(name, site) ({						\
		DORMANT_PAGE static void *next_;				\
		static struct ring_next other_;					\
		void *fn_ = order_any_load_word(&next_);			\
										\
		if (unlikely(!fn_) && !order_any_load_word(&other_.fn)) {	\
			fn_ = symbol_next_known(#name);				\
			order_any_store_word(&next_, fn_);			\
		}								\
		(__typeof__(name) *)(fn_ ? fn_ : search_loaded(&other_, site, #name)); \
	})

/*
 * Returns the time at which the wait begins, if a turn of an event loop is to be recorded; else 0.
 */
static uint64_t call_begins(struct uring_call *c)
{
	RING_HOOKED(uring_begins(t, c));
	return c->nr && session_wants_loops() ? session_clock() : 0;
}

static void call_ends(struct uring_call *c, uint64_t began)
{
	RING_HOOKED(uring_ends(t, c));
	if (began && session_wants_loops() && thread_self())
		track_turn(began);
}

/*
 * Returns true if a wait with a timeout submits all prepared operations, as it does up to Linux
 * 5.10.
 */
static bool submits_timeout(const void *ring, const void *ts)
{
	return ts && !(((const struct liburing_ring *)ring)->features & IORING_FEAT_EXT_ARG);
}

/* Makes a wrapper of a function that enters the kernel for a ring. */
#define RING(name, params, args, nr_, submits_)				\
	extern int name params;							\
	static NOINLINE int slow_##name params;					\
	EXPORT int name params							\
	{									\
		if (likely(!session_wants_rings()))				\
			return RING_NEXT(name, SITE) args;			\
		return slow_##name args;					\
	}									\
	static NOINLINE int slow_##name params					\
	{									\
		struct uring_call c = { .site = flow_site(SITE), .nr = nr_, .submits = submits_ }; \
		bool is_known = uring_view_of_liburing((void *)ring, &c.view);	\
		uint64_t began = is_known ? call_begins(&c) : 0;		\
		int ret = RING_NEXT(name, c.site) args;				\
										\
		if (is_known)							\
			call_ends(&c, began);					\
		else								\
			uring_left_out();					\
		return ret;							\
	}

RING(io_uring_submit, (struct io_uring *ring), (ring), 0, true)
RING(io_uring_submit_and_wait, (struct io_uring *ring, unsigned nr), (ring, nr), nr, true)
RING(io_uring_submit_and_wait_timeout, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     struct __kernel_timespec *ts, sigset_t *mask), (ring, cqe, nr, ts, mask), nr, true)
RING(io_uring_submit_and_wait_min_timeout, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     struct __kernel_timespec *ts, unsigned min, sigset_t *mask), (ring, cqe, nr, ts, min, mask), nr, true)
RING(io_uring_submit_and_wait_reg, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     int reg), (ring, cqe, nr, reg), nr, true)
RING(io_uring_submit_and_get_events, (struct io_uring *ring), (ring), 0, true)
RING(io_uring_get_events, (struct io_uring *ring), (ring), 0, false)
RING(__io_uring_get_cqe, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit, unsigned nr,
     sigset_t *mask), (ring, cqe, submit, nr, mask), nr, submit)
RING(io_uring_wait_cqes, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     struct __kernel_timespec *ts, sigset_t *mask), (ring, cqe, nr, ts, mask), nr, submits_timeout(ring, ts))
RING(io_uring_wait_cqes_min_timeout, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     struct __kernel_timespec *ts, unsigned min, sigset_t *mask), (ring, cqe, nr, ts, min, mask), nr, false)
RING(io_uring_wait_cqe_timeout, (struct io_uring *ring, struct io_uring_cqe **cqe,
     struct __kernel_timespec *ts), (ring, cqe, ts), 1, submits_timeout(ring, ts))

extern unsigned io_uring_peek_batch_cqe(struct io_uring *ring, struct io_uring_cqe **cqes, unsigned nr);

EXPORT unsigned io_uring_peek_batch_cqe(struct io_uring *ring, struct io_uring_cqe **cqes, unsigned nr)
{
	struct uring_call c = { .site = flow_site(SITE) };
	bool is_known = session_wants_rings() && uring_view_of_liburing((void *)ring, &c.view);
	unsigned ret;

	if (is_known)
		RING_HOOKED(uring_begins(t, &c));
	ret = RING_NEXT(io_uring_peek_batch_cqe, SITE)(ring, cqes, nr);
	if (is_known)
		RING_HOOKED(uring_ends(t, &c));
	return ret;
}

extern void io_uring_queue_exit(struct io_uring *ring);

EXPORT void io_uring_queue_exit(struct io_uring *ring)
{
	uintptr_t at = (uintptr_t)((struct liburing_ring *)ring)->cq.ktail;

	/*
	 * The ring may not exist, so only the program's struct is read, and not the ring's memory.
	 */
	if (session_on() && at)
		uring_unmapped(at, at + 1);
	RING_NEXT(io_uring_queue_exit, SITE)(ring);
}

/* System calls */

/*
 * A thread may enter a ring by an index in a table of its own; then it is not known which ring this
 * is.
 */
static bool is_entered(int fd, unsigned flags, struct uring_view *v)
{
	bool is_known = !(flags & IORING_ENTER_REGISTERED_RING) && uring_view_of(fd, v);

	if (!is_known)
		uring_left_out();
	return is_known;
}

bool uring_is_call(long number)
{
	return session_wants_rings() && (number == SYS_io_uring_enter || number == SYS_io_uring_setup);
}

long uring_syscall(syscall_fn *real, uintptr_t site, long number, long a, long b, long c, long d, long e,
		   long f)
{
	struct uring_call call = {
		.site = flow_site(site), .nr = number == SYS_io_uring_enter && d & IORING_ENTER_GETEVENTS ? c : 0,
		.submits = (uint32_t)b || d & IORING_ENTER_SQ_WAKEUP,
	};
	bool is_known = number == SYS_io_uring_enter && is_entered(a, d, &call.view);
	uint64_t began = is_known ? call_begins(&call) : 0;
	long ret = real(number, a, b, c, d, e, f);

	if (is_known)
		call_ends(&call, began);
	else if (number == SYS_io_uring_setup && ret >= 0)
		RING_HOOKED((void)t, uring_gone(ret, 0, 0), uring_made(ret, (const struct io_uring_params *)b));
	return ret;
}

/* liburing has these functions since 2.3; they return errors as negative numbers. */
typedef int enter2_fn(unsigned fd, unsigned submit, unsigned nr, unsigned flags, sigset_t *mask, size_t size);

static NOINLINE int enter2(enter2_fn *real, uintptr_t site, unsigned fd, unsigned submit, unsigned nr,
			   unsigned flags, sigset_t *mask, size_t size)
{
	struct uring_call call = { .site = flow_site(site), .nr = flags & IORING_ENTER_GETEVENTS ? nr : 0,
				   .submits = submit || flags & IORING_ENTER_SQ_WAKEUP };
	bool is_known = is_entered(fd, flags, &call.view);
	uint64_t began = is_known ? call_begins(&call) : 0;
	int ret = real(fd, submit, nr, flags, mask, size);

	if (is_known)
		call_ends(&call, began);
	return ret;
}

extern enter2_fn io_uring_enter2;
extern enter2_fn io_uring_enter;
extern int io_uring_setup(unsigned entries, struct io_uring_params *p);

EXPORT int io_uring_enter2(unsigned fd, unsigned submit, unsigned nr, unsigned flags, sigset_t *mask,
			   size_t size)
{
	if (likely(!session_wants_rings()))
		return RING_NEXT(io_uring_enter2, SITE)(fd, submit, nr, flags, mask, size);
	return enter2(RING_NEXT(io_uring_enter2, SITE), SITE, fd, submit, nr, flags, mask, size);
}

/*
 * liburing's function has no argument `size`, but that of another library may have one, so the
 * argument is passed on.
 */
EXPORT int io_uring_enter(unsigned fd, unsigned submit, unsigned nr, unsigned flags, sigset_t *mask,
			  size_t size)
{
	if (likely(!session_wants_rings()))
		return RING_NEXT(io_uring_enter, SITE)(fd, submit, nr, flags, mask, size);
	return enter2(RING_NEXT(io_uring_enter, SITE), SITE, fd, submit, nr, flags, mask, size);
}

EXPORT int io_uring_setup(unsigned entries, struct io_uring_params *p)
{
	int ret = RING_NEXT(io_uring_setup, SITE)(entries, p);

	if (session_wants_rings() && ret >= 0)
		RING_HOOKED((void)t, uring_gone(ret, 0, 0), uring_made(ret, p));
	return ret;
}

/* Finds out where the program maps a ring that it has created. */
EXPORT void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *ret = NEXT(mmap)(addr, size, prot, flags, fd, offset);

	if (session_wants_rings() && fd >= 0 && ret != MAP_FAILED)
		RING_HOOKED((void)t, uring_mapped(fd, offset, ret, size));
	return ret;
}

EXPORT void *mmap64(void *addr, size_t size, int prot, int flags, int fd, off64_t offset)
{
	void *ret = NEXT(mmap64)(addr, size, prot, flags, fd, offset);

	if (session_wants_rings() && fd >= 0 && ret != MAP_FAILED)
		RING_HOOKED((void)t, uring_mapped(fd, offset, ret, size));
	return ret;
}
