// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposes what a program calls to enter the kernel for a ring of io_uring: liburing's functions
 * that are no inline functions, and the system call, by syscall().  What is said in wrap.c holds
 * here, too.
 *
 * Not every program has liburing, and one that loads it with a plugin has it in that plugin's scope
 * only, where a search from here does not find it.  Then the caller's scope is searched, which is
 * where the loader would have found the function if this library did not define it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
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

static NOINLINE void *search_caller(uintptr_t site, const char *name)
{
	void *handle = NULL, *fn = NULL;
	int saved = errno;
	Dl_info info;

	if (dladdr((void *)site, &info))
		handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		fn = dlsym(handle, name);
		dlclose(handle);
	}
	if (!fn)
		dlerror();	/* ours; the program must not see it */
	errno = saved;
	return fn ? fn : (void *)no_such_function;
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
		void *fn_ = symbol_cached(&next_, #name);			\
		(__typeof__(name) *)(fn_ ? fn_ : search_caller(site, #name));	\
	})

/* Returns when the wait begins, if its turn is to be recorded; 0: it is not. */
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

/* Makes a wrapper of a function that enters the kernel for a ring. */
#define RING(name, params, args, nr_)					\
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
		struct uring_call c = { .site = flow_site(SITE), .nr = nr_ }; \
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

RING(io_uring_submit, (struct io_uring *ring), (ring), 0)
RING(io_uring_submit_and_wait, (struct io_uring *ring, unsigned nr), (ring, nr), nr)
RING(io_uring_submit_and_wait_timeout, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     struct __kernel_timespec *ts, sigset_t *mask), (ring, cqe, nr, ts, mask), nr)
RING(io_uring_submit_and_wait_min_timeout, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     struct __kernel_timespec *ts, unsigned min, sigset_t *mask), (ring, cqe, nr, ts, min, mask), nr)
RING(io_uring_submit_and_wait_reg, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     int reg), (ring, cqe, nr, reg), nr)
RING(io_uring_submit_and_get_events, (struct io_uring *ring), (ring), 0)
RING(io_uring_get_events, (struct io_uring *ring), (ring), 0)
RING(__io_uring_get_cqe, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit, unsigned nr,
     sigset_t *mask), (ring, cqe, submit, nr, mask), nr)
RING(io_uring_wait_cqes, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     struct __kernel_timespec *ts, sigset_t *mask), (ring, cqe, nr, ts, mask), nr)
RING(io_uring_wait_cqes_min_timeout, (struct io_uring *ring, struct io_uring_cqe **cqe, unsigned nr,
     struct __kernel_timespec *ts, unsigned min, sigset_t *mask), (ring, cqe, nr, ts, min, mask), nr)
RING(io_uring_wait_cqe_timeout, (struct io_uring *ring, struct io_uring_cqe **cqe,
     struct __kernel_timespec *ts), (ring, cqe, ts), 1)

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
	struct uring_view v;

	if (session_wants_rings() && uring_view_of_liburing((void *)ring, &v))
		RING_HOOKED(uring_forget(t, &v));
	RING_NEXT(io_uring_queue_exit, SITE)(ring);
}

/* System calls */

/* A ring that is entered by an index of the thread's own has no descriptor to tell which it is. */
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
	};
	bool is_known = number == SYS_io_uring_enter && is_entered(a, d, &call.view);
	uint64_t began = is_known ? call_begins(&call) : 0;
	long ret = real(number, a, b, c, d, e, f);

	if (is_known)
		call_ends(&call, began);
	else if (number == SYS_io_uring_setup && ret >= 0)
		RING_HOOKED((void)t, uring_made(ret, (const struct io_uring_params *)b));
	return ret;
}

/* liburing has these functions since 2.3; they return errors as negative numbers. */
typedef int enter2_fn(unsigned fd, unsigned submit, unsigned nr, unsigned flags, sigset_t *mask, size_t size);

static NOINLINE int enter2(enter2_fn *real, uintptr_t site, unsigned fd, unsigned submit, unsigned nr,
			   unsigned flags, sigset_t *mask, size_t size)
{
	struct uring_call call = { .site = flow_site(site), .nr = flags & IORING_ENTER_GETEVENTS ? nr : 0 };
	bool is_known = is_entered(fd, flags, &call.view);
	uint64_t began = is_known ? call_begins(&call) : 0;
	int ret = real(fd, submit, nr, flags, mask, size);

	if (is_known)
		call_ends(&call, began);
	return ret;
}

extern enter2_fn io_uring_enter2;
extern int io_uring_enter(unsigned fd, unsigned submit, unsigned nr, unsigned flags, sigset_t *mask);
extern int io_uring_setup(unsigned entries, struct io_uring_params *p);

EXPORT int io_uring_enter2(unsigned fd, unsigned submit, unsigned nr, unsigned flags, sigset_t *mask,
			   size_t size)
{
	if (likely(!session_wants_rings()))
		return RING_NEXT(io_uring_enter2, SITE)(fd, submit, nr, flags, mask, size);
	return enter2(RING_NEXT(io_uring_enter2, SITE), SITE, fd, submit, nr, flags, mask, size);
}

/* The last argument is not used. */
EXPORT int io_uring_enter(unsigned fd, unsigned submit, unsigned nr, unsigned flags, sigset_t *mask)
{
	if (likely(!session_wants_rings()))
		return RING_NEXT(io_uring_enter, SITE)(fd, submit, nr, flags, mask);
	return enter2((enter2_fn *)(void *)RING_NEXT(io_uring_enter, SITE), SITE, fd, submit, nr, flags, mask,
		      0);
}

EXPORT int io_uring_setup(unsigned entries, struct io_uring_params *p)
{
	int ret = RING_NEXT(io_uring_setup, SITE)(entries, p);

	if (session_wants_rings() && ret >= 0)
		RING_HOOKED((void)t, uring_made(ret, p));
	return ret;
}

/* The program maps a ring that it has made. */
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
