// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registers and unregisters threads, and wraps the functions that create threads.
 *
 * A thread registers itself before its start routine and unregisters in a TSD destructor, which
 * runs after a return, pthread_exit() and cancellation.  Its stack, TLS block and page exist until
 * no scanner polls the thread any more: scan_thread_gone() waits for a poll that may be in
 * progress.
 *
 * The order matters in which this file calls the shim, the requests, the scanner and the recording.
 * None of these calls this file, except through thread_on_unknown.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <threads.h>
#include "runtime.h"
#include "shim/symbol.h"

/* The end of the main thread's stack, below argv; set by the loader. */
extern void *__libc_stack_end;

#define MAIN_STACK_MAX	(1ULL << 33)	/* the greatest size that is assumed */
#define DESTRUCTOR_ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS - 1)

static TLS_IE unsigned exit_round;
static TLS_IE bool has_left;
/* while it is set, a signal handler does not register the thread */
static TLS_IE bool is_registering;
/* is read in place of the generation while no module is instrumented */
static TLS_IE uint64_t no_gen;
DORMANT_PAGE static pthread_key_t exit_key;
DORMANT_PAGE static bool exit_key_ok;
DORMANT_PAGE static size_t default_stack_size;

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int thrd_create_fn(thrd_t *, thrd_start_t, void *);
DORMANT_PAGE static void *next_create;
DORMANT_PAGE static void *next_thrd_create;

/* Registers the calling thread.  `existing`: it existed before the runtime was loaded. */
static void thread_register(struct thread *t, bool existing)
{
	is_registering = true;
	order_signal();
	t->tid = sys(SYS_gettid);
	t->tp = cpu_thread_pointer();
	t->slot = -1;
	shim_thread_enter(t);
	atomic_store(&t->in_request, 0);
	t->scan = NULL;
	raw_lock(&registry_lock);
	if (session_was_on()) {
		/*
		 * The name is not read while no recording runs, because a sandbox may kill the
		 * program for a prctl().
		 */
		sys(SYS_prctl, PR_GET_NAME, t->name);
		t->start_tsc = existing ? 0 : session_clock();
		recording_assign_page(t, existing);
		if (existing)
			recording_count_observed();
	}
	thread_add(t);
	t->flow = NULL;
	if (session_was_on())
		flow_thread_enter(t);
	raw_unlock(&registry_lock);
	thread_set_self(t);
	order_signal();
	is_registering = false;
	if (exit_key_ok)
		pthread_setspecific(exit_key, t);
	if (session_was_on() && !existing) {
		struct ldb_rec r = {
			.tsc = t->start_tsc, .tid = t->tid,
			.type = LDB_EV_THREAD_START,
			.arg = t->start_routine, .arg2 = t->creator,
		};

		ring_write(&r, 1);
	}
}

static void thread_unregister(struct thread *t)
{
	uint32_t epoch;
	int slot;

	has_left = true;
	flow_thread_exit(t);
	shim_thread_exit(t);
	request_thread_exit(t);
	thread_set_self(NULL);
	raw_lock(&registry_lock);
	epoch = session_page.a.epoch;
	thread_remove(t);
	raw_unlock(&registry_lock);
	scan_thread_gone(t);

	raw_lock(&registry_lock);
	/* the page belonged to a recording that has ended meanwhile */
	if (epoch != session_page.a.epoch || !session_on())
		t->slot = -1;
	slot = t->slot;
	if (slot >= 0 && session_on()) {
		struct ldb_page *p = session_page_of(slot);
		struct ldb_rec r = {
			.tsc = session_clock(), .tid = t->tid,
			.type = LDB_EV_THREAD_EXIT, .arg = slot,
		};

		scan_thread_flush(t, r.tsc);
		sys(SYS_prctl, PR_GET_NAME, p->name);
		p->exit_tsc = r.tsc;
		order_page_state_set(p, LDB_PAGE_EXITED);
		ring_write(&r, 1);
	}
	recording_release_page(t);
	raw_unlock(&registry_lock);
	thread_free(t);
}

/*
 * The destructor of the runtime's key.  Destructors of the program's keys may run instrumented code
 * after this one, so it sets the key again, and unregisters the thread only in the last round.
 */
static void thread_exit(void *p)
{
	int saved = errno;

	if (exit_round++ < DESTRUCTOR_ROUNDS &&
	    pthread_setspecific(exit_key, p) == 0) {
		errno = saved;
		return;
	}
	thread_unregister(p);
	errno = saved;
}

struct start_args {
	union {
		void *(*pthread)(void *);
		thrd_start_t thrd;
	};
	void *arg;
};

/*
 * Between the creation and the start of a thread, its name is not used yet, and this memory holds
 * the arguments of its start.
 */
static struct start_args *start_args(struct thread *t)
{
	_Static_assert(sizeof(t->name) >= sizeof(struct start_args), "fits");
	return (struct start_args *)t->name;
}

static struct thread *thread_prepare(void *fn, void *arg, size_t stack_size)
{
	const struct thread *creator = thread_self();
	struct thread *t = thread_alloc();

	if (!t) {
		if (session_on())
			recording_count_unobserved();
		return NULL;
	}
	t->start_routine = (uintptr_t)fn;
	t->creator = creator ? creator->tid : 0;
	t->stack_lo = stack_size;	/* the size, until the thread knows where its stack ends */
	start_args(t)->pthread = (void *(*)(void *))fn;
	start_args(t)->arg = arg;
	return t;
}

static struct start_args thread_enter(struct thread *t)
{
	struct start_args a = *start_args(t);
	size_t size = t->stack_lo;

	is_registering = true;
	order_signal();
	/* a signal handler ran earlier, and has registered the thread with another entry */
	if (thread_self()) {
		is_registering = false;
		thread_free(t);
		return a;
	}
	/* glibc's struct pthread is at the upper end of the stack */
	t->stack_hi = cpu_pthread_of(cpu_thread_pointer());
	t->stack_lo = t->stack_hi - size;
	thread_register(t, false);
	return a;
}

static void *pthread_trampoline(void *p)
{
	struct start_args a = thread_enter(p);

	return a.pthread(a.arg);
}

static int thrd_trampoline(void *p)
{
	struct start_args a = thread_enter(p);

	return a.thrd(a.arg);
}

EXPORT int pthread_create(pthread_t *restrict out, const pthread_attr_t *restrict attr,
			  void *(*fn)(void *), void *restrict arg)
{
	create_fn *next = (create_fn *)symbol_cached(&next_create, "pthread_create");
	size_t stack_size = default_stack_size;
	struct thread *t;
	int ret;

	if (inert || !exit_key_ok || fork_in_progress())
		return next(out, attr, fn, arg);
	if (attr)
		pthread_attr_getstacksize(attr, &stack_size);
	t = thread_prepare((void *)fn, arg, stack_size);
	if (!t)
		return next(out, attr, fn, arg);
	ret = next(out, attr, pthread_trampoline, t);
	if (ret)
		thread_free(t);
	else if (session_was_on())
		shim_not_alone();
	return ret;
}

EXPORT int thrd_create(thrd_t *out, thrd_start_t fn, void *arg)
{
	thrd_create_fn *next = (thrd_create_fn *)symbol_cached(&next_thrd_create, "thrd_create");
	struct thread *t;
	int ret;

	if (inert || !exit_key_ok || fork_in_progress())
		return next(out, fn, arg);
	t = thread_prepare((void *)fn, arg, default_stack_size);
	if (!t)
		return next(out, fn, arg);
	ret = next(out, thrd_trampoline, t);
	if (ret != thrd_success)
		thread_free(t);
	else if (session_was_on())
		shim_not_alone();
	return ret;
}

static void main_stack(struct thread *t)
{
	struct rlimit rl;
	uint64_t size = MAIN_STACK_MAX;

	if (getrlimit(RLIMIT_STACK, &rl) == 0 && rl.rlim_cur < size)
		size = rl.rlim_cur;
	t->stack_hi = (uintptr_t)__libc_stack_end;
	t->stack_lo = t->stack_hi - size;
}

/* Sets the bounds of the calling thread's stack, which the program may have allocated itself. */
static void own_stack(struct thread *t)
{
	if (sys(SYS_gettid) == sys(SYS_getpid)) {
		main_stack(t);
		return;
	}
	t->stack_hi = cpu_pthread_of(cpu_thread_pointer());
	/* If the stack's lower end is not known, it counts as empty, and is not read. */
	t->stack_lo = unmap_run_below(t->stack_hi) ?: t->stack_hi;
}

/*
 * Registers the calling thread, which existed before the runtime was loaded.  The recorder can make
 * any thread call this, wherever it is stopped.  So if the registry is locked, this thread itself
 * may hold the lock, and nothing is done.
 */
static struct thread *thread_adopt(void)
{
	int saved = errno;
	struct thread *t;

	if (has_left || is_registering || fork_in_progress() || atomic_load(&registry_lock.word))
		return NULL;
	/* A child of vfork() shares the memory, and would be registered in place of its parent. */
	if (control_ever_ran() && !control_is_ours())
		return NULL;
	is_registering = true;
	order_signal();
	t = thread_alloc();
	if (!t) {
		is_registering = false;
		return NULL;
	}
	/*
	 * The thread may be in the last round of its destructors, so the first call of
	 * thread_exit() unregisters it.
	 */
	exit_round = DESTRUCTOR_ROUNDS;
	t->start_routine = t->creator = 0;
	own_stack(t);
	thread_register(t, true);
	errno = saved;
	return t;
}

/*
 * TSD keys for which glibc's threads have memory already; setting a later key may allocate memory
 */
#define KEYS_AT_HAND	32

static void adopt_later(void)
{
	exit_key_ok &= exit_key < KEYS_AT_HAND;
	if (exit_key_ok)
		thread_on_unknown = thread_adopt;
}

/*
 * A thread makes system calls when it is registered.  If any thread has other seccomp filters than
 * the calling one, they might kill it; then threads are not registered late.
 */
void create_check_filters(void)
{
	if (thread_on_unknown && priority_filters_differ())
		thread_on_unknown = NULL;
}

void create_init(void)
{
	pthread_attr_t attr;
	struct thread *t;

	if (!shim_gen_off())
		shim_locate((uintptr_t)&no_gen - cpu_thread_pointer());
	exit_key_ok = pthread_key_create(&exit_key, thread_exit) == 0;
	if (pthread_attr_init(&attr) == 0) {
		pthread_attr_getstacksize(&attr, &default_stack_size);
		pthread_attr_destroy(&attr);
	}
	if (!symbol_lockless()) {
		adopt_later();
		create_check_filters();
	}
	/* Without the key, the exit of a thread other than the first one would not be noticed. */
	if (!exit_key_ok && sys(SYS_gettid) != sys(SYS_getpid))
		return;
	t = thread_alloc();
	if (!t)
		return;
	own_stack(t);
	thread_register(t, true);
}

void create_adopt(void)
{
	if (!thread_self() && thread_on_unknown)
		thread_adopt();
}
