// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which records the shim writes, and their contents. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ldb/ldb.h>
#include "runtime/runtime.h"
#include "shim/wait.h"
#include "shim/waiters.h"
#include "shim-harness.h"
#include "tap.h"

#define WAIT	LDB_EV_LOCK_WAIT
#define HOLD	LDB_EV_LOCK_HOLD
#define FAR	(1ULL << 60)	/* a threshold that nothing reaches */

/* Another thread holds a lock, or waits for it, during the test. */
struct other {
	pthread_t thread;
	int (*take)(void *);
	int (*give)(void *);
	void *lock;
	uint64_t gen;
	_Atomic int tid, took, may_give;
	int rc;
};

static void *other_thread(void *p)
{
	struct other *o = p;

	harness_gen = o->gen;
	o->tid = syscall(SYS_gettid);
	o->rc = o->take(o->lock);
	o->took = 1;
	while (!o->may_give)
		usleep(100);
	if (o->give)
		o->give(o->lock);
	return NULL;
}

static void other_start(struct other *o)
{
	if (pthread_create(&o->thread, NULL, other_thread, o))
		bail_out("pthread_create");
	while (!o->tid)
		usleep(100);
}

static void other_wait_took(struct other *o)
{
	while (!o->took)
		usleep(100);
}

static void other_finish(struct other *o)
{
	o->may_give = 1;
	next_table.pthread_join(o->thread, NULL);
}

/* Waits until another thread has announced its wait, and then for long enough that it sleeps. */
static void wait_for_waiter(const volatile void *lock)
{
	while (!waiters_seen(lock))
		usleep(100);
	usleep(3000);
}

/* The call in this function is no tail call, so that it has a site. */
#define FN(name, type)							\
	static int do_##name(void *p)					\
	{								\
		int rc = name((type *)p);				\
									\
		__asm__ volatile("" : "+r"(rc));			\
		return rc;						\
	}
FN(pthread_mutex_lock, pthread_mutex_t)
FN(pthread_mutex_unlock, pthread_mutex_t)
FN(pthread_rwlock_wrlock, pthread_rwlock_t)
FN(pthread_rwlock_unlock, pthread_rwlock_t)
FN(pthread_spin_lock, pthread_spinlock_t)
FN(pthread_spin_unlock, pthread_spinlock_t)
FN(sem_wait, sem_t)
FN(mtx_lock, mtx_t)
FN(mtx_unlock, mtx_t)

/* The program implements this lock itself. */
static int do_own_lock(void *p)
{
	if (__atomic_exchange_n((int *)p, 1, __ATOMIC_ACQUIRE)) {
		ldb_lock_wait(p);
		while (__atomic_exchange_n((int *)p, 1, __ATOMIC_ACQUIRE))
			usleep(100);
	}
	ldb_lock_acquired(p);
	return 0;
}

static int do_own_unlock(void *p)
{
	ldb_lock_released(p);
	__atomic_store_n((int *)p, 0, __ATOMIC_RELEASE);
	return 0;
}

static bool lies_in(uint64_t addr, const void *fn, unsigned size)
{
	return addr > (uintptr_t)fn && addr < (uintptr_t)fn + size;
}

static void uncontended(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

	harness_start(LDB_MUTEX_WAIT, 0);
	for (int n = 0; n < 100; n++) {
		pthread_mutex_lock(&m);
		pthread_rwlock_rdlock(&l);
		pthread_mutex_unlock(&m);
		pthread_rwlock_unlock(&l);
	}
	is_int(harness_nr(), 0, "level wait: nothing is written without contention");
	is_int(thread_self()->list->nr_held, 0,
	       "level wait: after it the list of held locks is empty");
	harness_start(LDB_MUTEX_HOLD, 0);
	harness_gen = 7 << 16;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	is_int(harness_nr(), 1, "level hold: one record for a hold");
	is_int(harness_last(HOLD, LDB_LOCK_MUTEX, &m)->flags,
	       LDB_LOCK_MUTEX | LDB_LOCK_F_BEGIN_EXACT, "its flags");
	is_int(harness_last(HOLD, 0, &m)->gen, 7 << 16, "the hold's generation");
	ok(harness_last(HOLD, 0, &m)->end > harness_last(HOLD, 0, &m)->begin,
	   "the hold begins before it ends");
	harness_start(LDB_MUTEX_HOLD, FAR);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	is_int(harness_nr(), 0, "level hold: nothing below the threshold");
	harness_stop();
	harness_gen = 0;
}

/* This test comes first: while there is no second thread, no thread can wait for a mutex. */
static void alone(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, shared;
	struct other o = { .take = do_pthread_mutex_lock, .give = do_pthread_mutex_unlock, .lock = &m };
	const struct ldb_lock_rec *hold;
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared, &a);
	harness_start(LDB_MUTEX_WAIT, 1000);
	pthread_mutex_lock(&shared);
	is_int(thread_self()->list->nr_held, 1,
	       "one thread: what other processes may wait for is listed");
	pthread_mutex_unlock(&shared);
	is_int(thread_self()->list->nr_held, 0, "a mutex that was released is not listed");
	pthread_mutex_lock(&m);
	is_int(thread_self()->list->nr_held, 0,
	       "one thread: a mutex that is not shared is not listed");
	other_start(&o);
	wait_for_waiter(&m);
	pthread_mutex_unlock(&m);
	other_wait_took(&o);
	hold = harness_last(HOLD, LDB_LOCK_MUTEX, &m);
	is_int(harness_count(HOLD, LDB_LOCK_MUTEX, &m), 1,
	       "a hold is recorded if another thread waits later");
	ok(!hold->begin && !hold->gen && hold->tid == (uint32_t)syscall(SYS_gettid),
	   "its record has the holder, but not the start");
	other_finish(&o);
	is_int(harness_last(WAIT, LDB_LOCK_MUTEX, &m)->owner, syscall(SYS_gettid),
	       "the wait names the owner");
	harness_stop();
}

static void contended(const char *name, void *lock, unsigned kind, bool has_owner,
		      int (*take)(void *), int (*give)(void *))
{
	struct other o = { .take = take, .give = give, .lock = lock, .gen = 0x50000 };
	const struct ldb_lock_rec *wait, *hold, *late;
	uint64_t begin, end;

	diag("%s", name);
	harness_start(LDB_MUTEX_WAIT, 1000);
	harness_gen = 0x30000;
	take(lock);
	harness_gen = 0x40000;
	other_start(&o);
	wait_for_waiter(lock);
	is_int(harness_nr(), 0, "nothing is written while it waits");
	begin = cpu_tsc();
	give(lock);
	end = cpu_tsc();
	other_wait_took(&o);
	hold = harness_last(HOLD, kind, lock);
	is_int(harness_count(HOLD, kind, lock), 1, "the unlock that sees a waiter is written");
	ok(hold->tid == (uint32_t)syscall(SYS_gettid), "the hold is this thread's");
	is_int(hold->flags, kind, "the hold's begin was not stamped");
	ok(hold->begin == 0 && hold->gen == 0x30000,
	   "the hold's begin is bounded by the generation");
	ok(hold->end >= begin && hold->end <= end, "the hold ends at the unlock");
	ok(lies_in(harness_site(hold), (void *)take, 256), "site: the call that took it");
	is_int(hold->cont1, LDB_EV_CONT + 1, "the second slot says what it is");
	is_int(harness_count(WAIT, 0, NULL), 0, "the wait is not written before the unlock");
	other_finish(&o);
	wait = harness_last(WAIT, kind, lock);
	is_int(harness_count(WAIT, kind, lock), 1, "the wait is written after the unlock");
	is_int(wait->tid, o.tid, "the wait is that of the thread that waited");
	is_int(wait->flags, kind, "its flags");
	is_int(wait->owner, has_owner ? syscall(SYS_gettid) : 0, "the wait's owner");
	is_int(wait->gen, 0x50000, "the wait's generation");
	ok(wait->begin < begin && wait->end >= begin && wait->end - wait->begin > 1000000,
	   "the wait's interval contains the unlock");
	late = harness_last(HOLD, kind, lock);
	is_int(harness_count(HOLD, kind, lock), 2, "the hold after the wait is written");
	ok(late->flags == (kind | LDB_LOCK_F_BEGIN_EXACT) && late->begin == wait->end,
	   "this hold began when the wait ended");
	is_int(harness_nr(), 3, "nothing else");
	ok(!waiters_seen(lock), "no waiter is counted after the wait");
	harness_stop();
	harness_gen = 0;
}

static void contended_all(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t pi, robust;
	pthread_mutexattr_t a;
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	pthread_spinlock_t s;
	mtx_t c11;
	int own = 0;

	pthread_spin_init(&s, 0);
	mtx_init(&c11, mtx_plain);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi, &a);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	contended("mutex", &m, LDB_LOCK_MUTEX, true, do_pthread_mutex_lock,
		  do_pthread_mutex_unlock);
	contended("priority-inheriting mutex", &pi, LDB_LOCK_MUTEX, true,
		  do_pthread_mutex_lock, do_pthread_mutex_unlock);
	contended("robust mutex", &robust, LDB_LOCK_MUTEX, true, do_pthread_mutex_lock,
		  do_pthread_mutex_unlock);
	contended("rwlock", &l, LDB_LOCK_RWLOCK_WR, true, do_pthread_rwlock_wrlock,
		  do_pthread_rwlock_unlock);
	contended("spin lock", (void *)&s, LDB_LOCK_SPIN, false, do_pthread_spin_lock,
		  do_pthread_spin_unlock);
	contended("C11 mutex", &c11, LDB_LOCK_MUTEX, true, do_mtx_lock, do_mtx_unlock);
	request_fill(3, &__ldb_api_3);
	contended("a lock of its own", &own, LDB_LOCK_OWN, false, do_own_lock, do_own_unlock);
}

static void readers(void)
{
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	struct other writer = {
		.take = do_pthread_rwlock_wrlock, .give = do_pthread_rwlock_unlock, .lock = &l,
	};

	harness_start(LDB_MUTEX_WAIT, 1000);
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_rdlock(&l);
	other_start(&writer);
	wait_for_waiter(&l);
	pthread_rwlock_unlock(&l);
	is_int(harness_nr(), 0, "for a reader that still holds the lock nothing is written");
	pthread_rwlock_unlock(&l);
	is_int(harness_count(HOLD, LDB_LOCK_RWLOCK_RD, &l), 1,
	       "the last reader's unlock is recorded as a reader's hold");
	other_finish(&writer);
	is_int(harness_last(WAIT, LDB_LOCK_RWLOCK_WR, &l)->owner, 0,
	       "a writer's wait for readers names no owner");
	harness_stop();
}

static void recursive(void)
{
	pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	harness_start(LDB_MUTEX_HOLD, 0);
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&m);
	pthread_mutex_trylock(&m);
	is_int(thread_self()->list->nr_held, 1, "a recursive mutex is held once");
	pthread_mutex_unlock(&m);
	pthread_mutex_unlock(&m);
	is_int(harness_nr(), 0, "inner unlocks are not written");
	pthread_mutex_unlock(&m);
	is_int(harness_nr(), 1, "the outermost unlock is written");
	is_int(thread_self()->list->nr_held, 0,
	       "after the outermost unlock the list of held locks is empty");
	harness_stop();
}

/* The owner died: the thread that gets EOWNERDEAD holds the mutex. */
static void owner_dead(void)
{
	struct other o = { .take = do_pthread_mutex_lock };
	pthread_mutexattr_t a;
	pthread_mutex_t m;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &a);
	o.lock = &m;
	harness_start(LDB_MUTEX_HOLD, 0);
	other_start(&o);
	other_finish(&o);
	is_int(pthread_mutex_lock(&m), EOWNERDEAD, "the owner of a robust mutex died");
	is_int(thread_self()->list->nr_held, 1,
	       "a lock of a robust mutex that returns EOWNERDEAD holds it");
	pthread_mutex_consistent(&m);
	pthread_mutex_unlock(&m);
	is_int(harness_last(HOLD, 0, &m)->flags, LDB_LOCK_MUTEX | LDB_LOCK_F_BEGIN_EXACT,
	       "the hold of such a mutex is written");
	harness_start(LDB_MUTEX_WAIT, 0);
	o = (struct other){ .take = do_pthread_mutex_lock, .lock = &m };
	other_start(&o);
	other_finish(&o);
	is_int(pthread_mutex_trylock(&m), EOWNERDEAD, "trylock finds out that the owner died, too");
	is_int(thread_self()->list->nr_held, 1,
	       "a trylock that returns EOWNERDEAD holds the mutex");
	pthread_mutex_unlock(&m);
	is_int(pthread_mutex_lock(&m), ENOTRECOVERABLE,
	       "a robust mutex that was not made consistent cannot be locked");
	is_int(thread_self()->list->nr_held, 0, "a mutex that cannot be locked is not held");
	harness_stop();
}

static void failures(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t check = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	struct other o = {
		.take = do_pthread_mutex_lock, .give = do_pthread_mutex_unlock, .lock = &m,
	};
	const struct ldb_lock_rec *r;
	struct timespec ts;

	harness_start(LDB_MUTEX_WAIT, 1000);
	other_start(&o);
	other_wait_took(&o);
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += ts.tv_nsec > 990000000;
	ts.tv_nsec = (ts.tv_nsec + 10000000) % 1000000000;
	is_int(pthread_mutex_timedlock(&m, &ts), ETIMEDOUT, "a lock that times out");
	r = harness_last(WAIT, LDB_LOCK_MUTEX, &m);
	is_int(r->flags, LDB_LOCK_MUTEX | LDB_LOCK_F_FAILED,
	       "a lock that times out is recorded as a failed wait");
	is_int(r->owner, o.tid, "the failed wait names the mutex's owner");
	is_int(thread_self()->list->nr_held, 0, "a mutex whose lock timed out is not held");
	is_int(pthread_mutex_trylock(&m), EBUSY, "a trylock that fails");
	is_int(harness_nr(), 1, "a trylock that fails is not recorded");
	other_finish(&o);
	harness_start(LDB_MUTEX_WAIT, 0);
	pthread_mutex_lock(&check);
	is_int(pthread_mutex_lock(&check), EDEADLK, "a deadlock found");
	is_int(harness_nr(), 0, "a deadlock that was found is not recorded as a wait");
	pthread_mutex_unlock(&check);
	is_int(thread_self()->list->nr_held, 0,
	       "the first lock was released, so the list is empty");
	harness_stop();
}

static void *cond_waker(void *p)
{
	usleep(5000);
	pthread_cond_signal(p);
	return NULL;
}

static void condition(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec past = { 1, 0 };
	const struct ldb_lock_rec *wait, *hold;
	pthread_t t;

	harness_start(LDB_MUTEX_HOLD, 0);
	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, cond_waker, &c);
	pthread_cond_wait(&c, &m);
	is_int(harness_nr(), 2, "a wait for a condition: the hold before, and the wait");
	hold = harness_last(HOLD, LDB_LOCK_MUTEX, &m);
	wait = harness_last(WAIT, LDB_LOCK_COND, &c);
	ok(hold->end <= wait->begin && wait->begin < wait->end,
	   "the hold ends before the wait begins");
	is_int(wait->flags, LDB_LOCK_COND, "its flags");
	is_int(thread_self()->list->nr_held, 1, "afterwards the mutex is held");
	pthread_mutex_unlock(&m);
	hold = harness_last(HOLD, LDB_LOCK_MUTEX, &m);
	is_int(harness_nr(), 3, "the unlock after the wait for a condition is written");
	ok(hold->begin == wait->end && hold->flags & LDB_LOCK_F_BEGIN_EXACT,
	   "the new hold begins with the end of the wait");
	next_table.pthread_join(t, NULL);
	pthread_mutex_lock(&m);
	pthread_cond_timedwait(&c, &m, &past);
	is_int(harness_last(WAIT, LDB_LOCK_COND, &c)->flags, LDB_LOCK_COND | LDB_LOCK_F_FAILED,
	       "a wait for a condition that times out is recorded as failed");
	is_int(thread_self()->list->nr_held, 1, "after the timeout the mutex is held");
	pthread_mutex_unlock(&m);
	harness_start(LDB_MUTEX_WAIT, FAR);
	pthread_mutex_lock(&m);
	pthread_cond_timedwait(&c, &m, &past);
	pthread_mutex_unlock(&m);
	is_int(harness_nr(), 0, "nothing below the threshold");
	is_int(thread_self()->list->nr_held, 0, "the list is empty");
	harness_stop();
}

static void *poster(void *p)
{
	usleep(5000);
	sem_post(p);
	return NULL;
}

static void *barrier_thread(void *p)
{
	usleep(5000);
	pthread_barrier_wait(p);
	return NULL;
}

static void *nap(void *p)
{
	thread_self();		/* registers */
	usleep(8000);
	return p;
}

static int c11_nap(void *p)
{
	nap(p);
	return 0;
}

static void other_waits(void)
{
	const uint64_t threshold = 1000000;	/* ticks; all waits below take longer */
	struct timespec past = { 1, 0 };
	pthread_barrier_t b;
	pthread_t t;
	thrd_t c11;
	uint32_t nr;
	sem_t s;

	harness_start(LDB_MUTEX_WAIT, threshold);
	sem_init(&s, 0, 1);
	sem_wait(&s);
	is_int(harness_nr(), 0, "a semaphore that is free causes no wait");
	pthread_create(&t, NULL, poster, &s);
	sem_wait(&s);
	is_int(harness_count(WAIT, LDB_LOCK_SEM, &s), 1, "a wait for a semaphore is recorded");
	next_table.pthread_join(t, NULL);
	harness_start(LDB_MUTEX_WAIT, 0);
	sem_timedwait(&s, &past);
	is_int(harness_last(WAIT, LDB_LOCK_SEM, &s)->flags, LDB_LOCK_SEM | LDB_LOCK_F_FAILED,
	       "a wait that times out is recorded as failed");

	harness_start(LDB_MUTEX_WAIT, threshold);
	pthread_barrier_init(&b, NULL, 2);
	pthread_create(&t, NULL, barrier_thread, &b);
	pthread_barrier_wait(&b);
	is_int(harness_count(WAIT, LDB_LOCK_BARRIER, &b), 1, "a wait at a barrier is recorded");
	is_int(harness_last(WAIT, 0, &b)->flags, LDB_LOCK_BARRIER,
	       "a wait at a barrier has not failed");
	next_table.pthread_join(t, NULL);

	harness_start(LDB_MUTEX_WAIT, threshold);
	nr = atomic_load(&nr_live);
	pthread_create(&t, NULL, nap, NULL);
	while (atomic_load(&nr_live) == nr || !atomic_load(&live[nr]))
		usleep(100);
	pthread_join(t, NULL);
	is_int(harness_count(WAIT, LDB_LOCK_JOIN, (void *)t), 1,
	       "a wait in pthread_join() is recorded");
	is_int(harness_last(WAIT, LDB_LOCK_JOIN, (void *)t)->owner, atomic_load(&live[nr])->tid,
	       "a wait in pthread_join() names the joined thread");
	harness_start(LDB_MUTEX_WAIT, threshold);
	thrd_create(&c11, c11_nap, NULL);
	thrd_join(c11, NULL);
	is_int(harness_count(WAIT, LDB_LOCK_JOIN, (void *)c11), 1,
	       "a wait in thrd_join() is recorded");
	harness_stop();
}

/* Here locks and recordings do not begin and end together. */
static void across_sessions(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
	struct other o = {
		.take = do_pthread_mutex_lock, .give = do_pthread_mutex_unlock, .lock = &m,
	};
	const struct ldb_lock_rec *hold;
	sem_t s;

	pthread_mutex_lock(&m);
	harness_start(LDB_MUTEX_WAIT, 1000);
	other_start(&o);
	wait_for_waiter(&m);
	pthread_mutex_unlock(&m);
	hold = harness_last(HOLD, LDB_LOCK_MUTEX, &m);
	ok(hold->begin == 0 && hold->gen == 0 && hold->end,
	   "a lock taken before the recording: nothing is known of its begin");
	other_finish(&o);

	harness_start(LDB_MUTEX_HOLD, 0);
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&n);
	harness_reattach();
	pthread_mutex_unlock(&n);
	pthread_mutex_unlock(&m);
	is_int(harness_nr(), 0, "a lock taken in an earlier recording is not timed in this one");
	is_int(thread_self()->list->nr_held, 0,
	       "a lock taken in an earlier recording is no longer listed");

	o = (struct other){ .take = do_pthread_mutex_lock, .give = do_pthread_mutex_unlock, .lock = &m };
	harness_start(LDB_MUTEX_WAIT, 0);
	pthread_mutex_lock(&m);
	other_start(&o);
	wait_for_waiter(&m);
	harness_reattach();
	pthread_mutex_unlock(&m);
	other_wait_took(&o);
	other_finish(&o);
	is_int(harness_count(WAIT, 0, NULL), 0,
	       "a wait from one recording into the next is dropped");
	ok(!waiters_seen(&m), "the waiter of a dropped wait is no longer counted");

	harness_start(LDB_MUTEX_WAIT, 0);
	sem_init(&s, 0, 0);
	o = (struct other){ .take = do_sem_wait, .lock = &s };
	other_start(&o);
	harness_wait_asleep(o.tid);
	harness_reattach();
	sem_post(&s);
	other_finish(&o);
	is_int(harness_nr(), 0,
	       "a wait for a semaphore from one recording into the next is dropped");

	o = (struct other){ .take = do_pthread_mutex_lock, .give = do_pthread_mutex_unlock, .lock = &m };
	harness_start(LDB_MUTEX_WAIT, 0);
	pthread_mutex_lock(&m);
	other_start(&o);
	wait_for_waiter(&m);
	harness_stop();
	pthread_mutex_unlock(&m);
	other_finish(&o);
	is_int(harness_nr(), 0, "the recording ends during a wait: nothing is written");
	ok(!waiters_seen(&m), "no waiter is counted after the end of the recording");
}

static void kept_back(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct other o = { .take = do_pthread_mutex_lock, .lock = &m };
	struct thread *t = NULL;

	harness_start(LDB_MUTEX_WAIT, 0);
	pthread_mutex_lock(&m);
	other_start(&o);
	wait_for_waiter(&m);
	pthread_mutex_unlock(&m);
	other_wait_took(&o);
	is_int(harness_count(WAIT, 0, &m), 0, "the lock is still held: its wait is not written");
	for (uint32_t n = 0; n < atomic_load(&nr_live); n++)
		if (atomic_load(&live[n])->tid == (uint32_t)o.tid)
			t = atomic_load(&live[n]);
	harness_stop();
	shim_flush(t);
	is_int(harness_count(WAIT, 0, &m), 1, "the end of the recording writes it");
	other_finish(&o);
	is_int(harness_count(WAIT, 0, &m), 1, "the wait is written only once");

	o = (struct other){ .take = do_pthread_mutex_lock, .lock = &m };
	pthread_mutex_init(&m, NULL);
	harness_start(LDB_MUTEX_WAIT, 0);
	pthread_mutex_lock(&m);
	other_start(&o);
	wait_for_waiter(&m);
	pthread_mutex_unlock(&m);
	other_finish(&o);
	is_int(harness_count(WAIT, 0, &m), 1, "the end of the thread writes the wait as well");
	harness_stop();
}

static void handed_over(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct other o = { .take = do_pthread_mutex_unlock, .lock = &m };

	harness_start(LDB_MUTEX_HOLD, 0);
	pthread_mutex_lock(&m);
	/* unlocks a lock that another thread holds: wrong, but programs do this */
	other_start(&o);
	other_wait_took(&o);
	other_finish(&o);
	is_int(harness_nr(), 0, "an unlock by another thread is not recorded");
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	is_int(harness_count(HOLD, 0, &m), 1, "after it the next hold is recorded once");
	is_int(thread_self()->list->nr_held, 0, "after it no old entry is left in the list");
	harness_stop();
}

static void many(void)
{
	pthread_mutex_t m[HELD_MAX * 2];
	bool exact = true;

	harness_start(LDB_MUTEX_HOLD, 0);
	for (int n = 0; n < HELD_MAX * 2; n++) {
		pthread_mutex_init(&m[n], NULL);
		pthread_mutex_lock(&m[n]);
	}
	is_int(thread_self()->list->nr_held, HELD_MAX, "of too many locks the newest are retained");
	for (int n = HELD_MAX * 2; n-- > 0;)
		pthread_mutex_unlock(&m[n]);
	is_int(harness_nr(), HELD_MAX, "only the retained holds are recorded");
	for (unsigned n = 0; n < harness_nr(); n++)
		exact &= !!(harness_rec(n)->lock.flags & LDB_LOCK_F_BEGIN_EXACT);
	ok(exact, "these holds have exact starts");
	/* not in the order of a stack */
	harness_start(LDB_MUTEX_HOLD, 0);
	for (int n = 0; n < 8; n++)
		pthread_mutex_lock(&m[n]);
	for (int n = 0; n < 8; n += 2)
		pthread_mutex_unlock(&m[n]);
	for (int n = 1; n < 8; n += 2)
		pthread_mutex_unlock(&m[n]);
	is_int(harness_nr(), 8, "locks that are unlocked in any order are recorded");
	for (int n = 0; n < 8; n++)
		exact &= harness_count(HOLD, 0, &m[n]) == 1;
	ok(exact, "each of these locks is recorded once");
	harness_stop();
}

static void fork_child(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct other o = {
		.take = do_pthread_mutex_lock, .give = do_pthread_mutex_unlock, .lock = &m,
	};

	harness_start(LDB_MUTEX_WAIT, 0);
	pthread_mutex_lock(&m);
	other_start(&o);
	wait_for_waiter(&m);
	harness_stop();
	pthread_mutex_unlock(&m);
	other_finish(&o);
	atomic_store(waiters_of(&m), 3);	/* as if a fork had left these entries behind */
	shim_fork_child();
	ok(!waiters_seen(&m), "a fork child has no waiters");
}

int main(void)
{
	shim_init();
	alone();
	uncontended();
	contended_all();
	readers();
	recursive();
	owner_dead();
	failures();
	condition();
	other_waits();
	across_sessions();
	kept_back();
	handed_over();
	many();
	fork_child();
	for (unsigned n = 0; n < 1 << WAITERS_BITS; n++)
		if (atomic_load(&waiters_table[n]))
			bail_out("a waiter was not counted down");
	return done();
}
