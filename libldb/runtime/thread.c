// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The registry of the program's threads, and the interposed thread creation.
 *
 * A thread registers itself before its start routine and leaves in a TSD
 * destructor, so that return, pthread_exit() and cancellation all pass there.
 * Its stack, TLS block and page outlive every look of the scanner:
 * scan_thread_gone() waits for the one that may be in flight.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <threads.h>
#include "runtime.h"
#include "shim/symbol.h"

/* Set by the loader: the end of the main thread's stack, below argv. */
extern void *__libc_stack_end;

#define MAIN_STACK_MAX	(1ULL << 33)	/* when it is unlimited */
#define LIVE_FEW	16
#define DESTRUCTOR_ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS - 1)

DORMANT_PAGE struct raw_lock registry_lock;
DORMANT_PAGE static struct thread *_Atomic live_few[LIVE_FEW];
DORMANT_PAGE struct thread *_Atomic *_Atomic live = live_few;
DORMANT_PAGE _Atomic uint32_t nr_live;

/*
 * Entries come a chunk at a time, so that a program which nobody records has little
 * memory of ours: all of it is locked by mlockall().  A chunk is never given back.
 */
#define CHUNK		64
DORMANT_PAGE static struct thread first_thread;
static struct thread first_few[LIVE_FEW];	/* but for the first */
static struct thread *chunks[THREADS_MAX / CHUNK];	/* but for the first few */
DORMANT_PAGE static uint32_t nr_threads;	/* entries ever used */
DORMANT_PAGE static struct thread *free_threads;
static TLS_IE struct thread *self;
static TLS_IE unsigned exit_round;
static TLS_IE uint64_t no_gen;		/* while nothing is instrumented */
DORMANT_PAGE static pthread_key_t exit_key;
DORMANT_PAGE static bool exit_key_ok;
DORMANT_PAGE static size_t default_stack_size;

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int thrd_create_fn(thrd_t *, thrd_start_t, void *);
DORMANT_PAGE static void *next_create;
DORMANT_PAGE static void *next_thrd_create;

struct thread *thread_self(void)
{
	return self;
}

uint64_t thread_gen(void)
{
	if (!atomic_load_explicit(&nr_blocks, memory_order_relaxed))
		return 0;
	return cpu_thread_word(shim_gen_off()) & ~(LDB_GEN_ONE - 1);
}

unsigned blocks_of_self(struct ldb_thread **v, unsigned max)
{
	unsigned n = atomic_load_explicit(&nr_blocks, memory_order_acquire);
	uintptr_t tp = cpu_thread_pointer();

	if (n > max)
		n = max;
	for (unsigned i = 0; i < n; i++)
		v[i] = (struct ldb_thread *)(tp + block_off[i]);
	return n;
}

static struct thread *thread_entry(uint32_t i)
{
	if (i == 0)
		return &first_thread;
	return i < LIVE_FEW ? &first_few[i] : &chunks[i / CHUNK][i % CHUNK];
}

/*
 * Under registry_lock: room for as many as there are entries.  Who reads the number of
 * threads first finds as many in the table.
 */
static bool live_grow(void)
{
	struct thread *_Atomic *all = raw_map(THREADS_MAX * sizeof(*all));

	if (!all)
		return false;
	for (uint32_t i = 0; i < LIVE_FEW; i++)
		atomic_store(&all[i], atomic_load(&live_few[i]));
	live = all;
	return true;
}

/* Under registry_lock.  NULL: there are too many, or there is no memory. */
static struct thread *thread_unused(void)
{
	uint32_t i = nr_threads;

	if (i == THREADS_MAX || (i >= LIVE_FEW && live == live_few && !live_grow()))
		return NULL;
	if (i >= LIVE_FEW && !chunks[i / CHUNK])
		chunks[i / CHUNK] = raw_map(CHUNK * sizeof(struct thread));
	if (i >= LIVE_FEW && !chunks[i / CHUNK])
		return NULL;
	nr_threads++;
	return thread_entry(i);
}

static struct thread *thread_alloc(void)
{
	struct thread *t;

	raw_lock(&registry_lock);
	t = free_threads;
	if (t)
		free_threads = t->next_free;
	else
		t = thread_unused();
	raw_unlock(&registry_lock);
	return t;
}

static void thread_free(struct thread *t)
{
	raw_lock(&registry_lock);
	atomic_store(&t->state, THREAD_FREE);
	t->next_free = free_threads;
	free_threads = t;
	raw_unlock(&registry_lock);
}

static void count_unwatched(void)
{
	__atomic_add_fetch(&session_info()->unwatched_threads, 1, __ATOMIC_RELAXED);
}

/* Of another thread, by the control thread: the descriptor is its own. */
static void read_name(struct thread *t)
{
	char path[48] = "/proc/self/task/";
	long fd, n;

	raw_strcpy(raw_decimal(path + strlen(path), t->tid), "/comm", 8);
	fd = sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	n = sys(SYS_read, fd, t->name, sizeof(t->name));
	sys(SYS_close, fd);
	if (n > 0)
		t->name[n - 1] = 0;	/* the newline */
}

void thread_assign_page(struct thread *t, bool existing)
{
	struct ldb_page *p;

	t->slot = -1;
	if (!session.nr_free) {
		count_unwatched();
		return;
	}
	t->slot = session.free_slot[session.free_head];
	session.free_head = (session.free_head + 1) % session.max_threads;
	session.nr_free--;
	if (session_info()->pages_used <= (uint64_t)t->slot)
		__atomic_store_n(&session_info()->pages_used, t->slot + 1, __ATOMIC_RELEASE);
	if (existing)
		read_name(t);
	p = session_page_of(t->slot);
	memset(p, 0, 512);
	p->tid = t->tid;
	p->stack_lo = t->stack_lo;
	p->stack_hi = t->stack_hi;
	p->tp = t->tp;
	p->start_tsc = existing ? 0 : t->start_tsc;
	p->start_routine = t->start_routine;
	memcpy(p->name, t->name, sizeof(p->name));
	scan_thread_new(t, existing);
	__atomic_store_n(&p->state, LDB_PAGE_LIVE, __ATOMIC_RELEASE);
}

/* Under registry_lock. */
static void release_page(struct thread *t)
{
	if (t->slot < 0)
		return;
	session.free_slot[(session.free_head + session.nr_free) % session.max_threads] = t->slot;
	session.nr_free++;
	t->slot = -1;
}

static void thread_register(struct thread *t)
{
	uint32_t n;

	t->tid = sys(SYS_gettid);
	t->tp = cpu_thread_pointer();
	t->slot = -1;
	shim_thread_enter(t);
	atomic_store(&t->in_request, 0);
	t->scan = NULL;
	raw_lock(&registry_lock);
	n = atomic_load(&nr_live);
	if (session_was_on()) {
		/* not while dormant: a sandbox may kill for a prctl() */
		sys(SYS_prctl, PR_GET_NAME, t->name);
		t->start_tsc = session_clock();
		thread_assign_page(t, false);
	}
	atomic_store(&t->state, THREAD_LIVE);
	atomic_store(&live[n], t);
	atomic_store(&nr_live, n + 1);
	raw_unlock(&registry_lock);
	self = t;
	if (exit_key_ok)
		pthread_setspecific(exit_key, t);
	if (session_was_on()) {
		struct ldb_rec r = {
			.tsc = t->start_tsc, .tid = t->tid,
			.type = LDB_EV_THREAD_START,
			.arg = t->start_routine, .arg2 = t->creator,
		};

		ring_write(&r, 1);
	}
}

static void remove_live(struct thread *t)
{
	uint32_t n = atomic_load(&nr_live), i;

	for (i = 0; i < n && atomic_load(&live[i]) != t; i++)
		;
	if (i == n)
		return;
	atomic_store(&live[i], atomic_load(&live[n - 1]));
	atomic_store(&nr_live, n - 1);
}

static void thread_unregister(struct thread *t)
{
	uint32_t epoch;
	int slot;

	shim_thread_exit(t);
	request_thread_exit(t);
	self = NULL;
	raw_lock(&registry_lock);
	epoch = session_page.a.epoch;
	atomic_store(&t->state, THREAD_DYING);
	remove_live(t);
	raw_unlock(&registry_lock);
	scan_thread_gone(t);

	raw_lock(&registry_lock);
	/* the page was of a recording that has ended since */
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
		__atomic_store_n(&p->state, LDB_PAGE_EXITED, __ATOMIC_RELEASE);
		ring_write(&r, 1);
	}
	release_page(t);
	raw_unlock(&registry_lock);
	thread_free(t);
}

/*
 * Destructors of the program's own keys may run instrumented code after ours:
 * ask to be called again until the last round.
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

/* Between creation and start the name is unused: the arguments pass there. */
static struct start_args *start_args(struct thread *t)
{
	_Static_assert(sizeof(t->name) >= sizeof(struct start_args), "fits");
	return (struct start_args *)t->name;
}

static struct thread *thread_prepare(void *fn, void *arg, size_t stack_size)
{
	struct thread *t = thread_alloc();

	if (!t) {
		if (session_on())
			count_unwatched();
		return NULL;
	}
	t->start_routine = (uintptr_t)fn;
	t->creator = self ? self->tid : 0;
	t->stack_lo = stack_size;	/* until the thread knows its end */
	start_args(t)->pthread = (void *(*)(void *))fn;
	start_args(t)->arg = arg;
	return t;
}

static struct start_args thread_enter(struct thread *t)
{
	struct start_args a = *start_args(t);
	size_t size = t->stack_lo;

	/* glibc keeps its own at the upper end of the stack */
	t->stack_hi = cpu_pthread_of(cpu_thread_pointer());
	t->stack_lo = t->stack_hi - size;
	thread_register(t);
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

void thread_init(void)
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
	t = thread_alloc();
	if (!t)
		return;
	main_stack(t);
	thread_register(t);
}

/* What the other threads had is free again. */
static void forget_others(const struct thread *t)
{
	uint32_t n = nr_threads;

	free_threads = NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct thread *other = thread_entry(i);

		if (other == t)
			continue;
		atomic_store(&other->state, THREAD_FREE);
		other->next_free = free_threads;
		free_threads = other;
	}
}

bool thread_alone(void)
{
	return nr_threads == 1 && self == &first_thread;
}

void thread_renumber(void)
{
	if (nr_threads == 1 && atomic_load(&nr_live) == 1)
		first_thread.tid = sys(SYS_getpid);
}

/* Each page that is written to in the child is copied first. */
void thread_fork_child(void)
{
	struct thread *t = self;

	if (nr_threads > 1)
		forget_others(t);
	if (!t) {
		atomic_store(&nr_live, 0);
		return;
	}
	t->tid = sys(SYS_gettid);
	t->slot = -1;
	t->scan = NULL;
	if (atomic_load(&nr_live) != 1 || atomic_load(&live[0]) != t) {
		atomic_store(&live[0], t);
		atomic_store(&nr_live, 1);
	}
}
