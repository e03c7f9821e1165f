// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread that is cancelled in an interposed function must leave it as it leaves libc's own:
 * cleanup handlers run, a condition's mutex is held in them, a semaphore is not taken, and a
 * thread that was to be joined can still be joined.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shim/wait.h"
#include "shim/waiters.h"
#include "shim-harness.h"
#include "tap.h"

static const struct next *fn;

static struct {
	pthread_mutex_t m;
	mtx_t c11_m;
	pthread_cond_t c;
	cnd_t c11_c;
	sem_t s;
	pthread_t target;
	_Atomic bool go, let_target_go;
	_Atomic int entered;	/* tid of the thread that is about to wait */
	_Atomic int cleaned;	/* number of handlers that ran */
	int unlock_rc;		/* return value of a handler's unlock */
	unsigned nr_held;	/* length of the shim's list of held locks, in a handler */
} w;

static struct timespec far_off(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_sec += 3600;
	return ts;
}

static void *target(void *p)
{
	while (!w.let_target_go)
		usleep(200);
	return p;
}

static void on_cancel(void *p)
{
	(void)p;
	w.cleaned++;
	w.nr_held = session_on() ? thread_self()->list->nr_held : 0;
}

/* POSIX says that the mutex is held again before the first handler runs. */
static void on_cancel_unlock(void *p)
{
	on_cancel(p);
	w.unlock_rc = fn->pthread_mutex_unlock(&w.m);
}

static void on_cancel_unlock_c11(void *p)
{
	on_cancel(p);
	w.unlock_rc = fn->mtx_unlock(&w.c11_m);
}

#define IN_CLEANUP(handler, ...)			\
	do {						\
		pthread_cleanup_push(handler, NULL);	\
		__VA_ARGS__;				\
		pthread_cleanup_pop(0);			\
	} while (0)

static void in_cond_wait(void)
{
	fn->pthread_mutex_lock(&w.m);
	IN_CLEANUP(on_cancel_unlock, for (;;) fn->pthread_cond_wait(&w.c, &w.m));
}

static void in_cond_timedwait(void)
{
	struct timespec ts = far_off(CLOCK_REALTIME);

	fn->pthread_mutex_lock(&w.m);
	IN_CLEANUP(on_cancel_unlock, for (;;) fn->pthread_cond_timedwait(&w.c, &w.m, &ts));
}

static void in_cond_clockwait(void)
{
	struct timespec ts = far_off(CLOCK_MONOTONIC);

	fn->pthread_mutex_lock(&w.m);
	IN_CLEANUP(on_cancel_unlock,
		   for (;;) fn->pthread_cond_clockwait(&w.c, &w.m, CLOCK_MONOTONIC, &ts));
}

static void in_cnd_wait(void)
{
	fn->mtx_lock(&w.c11_m);
	IN_CLEANUP(on_cancel_unlock_c11, for (;;) fn->cnd_wait(&w.c11_c, &w.c11_m));
}

static void in_cnd_timedwait(void)
{
	struct timespec ts = far_off(CLOCK_REALTIME);

	fn->mtx_lock(&w.c11_m);
	IN_CLEANUP(on_cancel_unlock_c11, for (;;) fn->cnd_timedwait(&w.c11_c, &w.c11_m, &ts));
}

static void in_sem_wait(void)
{
	IN_CLEANUP(on_cancel, fn->sem_wait(&w.s));
}

static void in_sem_timedwait(void)
{
	struct timespec ts = far_off(CLOCK_REALTIME);

	IN_CLEANUP(on_cancel, fn->sem_timedwait(&w.s, &ts));
}

static void in_sem_clockwait(void)
{
	struct timespec ts = far_off(CLOCK_MONOTONIC);

	IN_CLEANUP(on_cancel, fn->sem_clockwait(&w.s, CLOCK_MONOTONIC, &ts));
}

static void in_join(void)
{
	IN_CLEANUP(on_cancel, fn->pthread_join(w.target, NULL));
}

static void in_timedjoin(void)
{
	struct timespec ts = far_off(CLOCK_REALTIME);

	IN_CLEANUP(on_cancel, fn->pthread_timedjoin_np(w.target, NULL, &ts));
}

static void in_clockjoin(void)
{
	struct timespec ts = far_off(CLOCK_MONOTONIC);

	IN_CLEANUP(on_cancel, fn->pthread_clockjoin_np(w.target, NULL, CLOCK_MONOTONIC, &ts));
}

static const struct point {
	const char *name;
	void (*f)(void);
	unsigned kind;
	bool cond, sem;
} points[] = {
	{ "pthread_cond_wait", in_cond_wait, LDB_LOCK_COND, .cond = true },
	{ "pthread_cond_timedwait", in_cond_timedwait, LDB_LOCK_COND, .cond = true },
	{ "pthread_cond_clockwait", in_cond_clockwait, LDB_LOCK_COND, .cond = true },
	{ "cnd_wait", in_cnd_wait, LDB_LOCK_COND, .cond = true },
	{ "cnd_timedwait", in_cnd_timedwait, LDB_LOCK_COND, .cond = true },
	{ "sem_wait", in_sem_wait, LDB_LOCK_SEM, .sem = true },
	{ "sem_timedwait", in_sem_timedwait, LDB_LOCK_SEM, .sem = true },
	{ "sem_clockwait", in_sem_clockwait, LDB_LOCK_SEM, .sem = true },
	{ "pthread_join", .f = in_join, .kind = LDB_LOCK_JOIN },
	{ "pthread_timedjoin_np", .f = in_timedjoin, .kind = LDB_LOCK_JOIN },
	{ "pthread_clockjoin_np", .f = in_clockjoin, .kind = LDB_LOCK_JOIN },
};

static void *victim(void *p)
{
	const struct point *pt = p;

	/* usleep() is a cancellation point too */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (!w.go)
		usleep(100);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	w.entered = syscall(SYS_gettid);
	pt->f();
	return (void *)123L;
}

struct outcome {
	bool cancelled;
	int cleaned, unlock_rc, lock_free, sem_value, joined;
};

static struct outcome cancel_in(const struct point *pt, bool pending)
{
	struct outcome o = { .sem_value = 0 };
	pthread_t t;
	void *ret;

	memset(&w, 0, sizeof(w));
	pthread_mutex_init(&w.m, NULL);
	mtx_init(&w.c11_m, mtx_plain);
	pthread_cond_init(&w.c, NULL);
	cnd_init(&w.c11_c);
	/* a pending cancellation must take effect even if the semaphore is free */
	sem_init(&w.s, 0, pending);
	if (pthread_create(&w.target, NULL, target, (void *)9L) ||
	    pthread_create(&t, NULL, victim, (void *)pt))
		bail_out("pthread_create");
	if (pending) {
		pthread_cancel(t);
		w.go = true;
	} else {
		w.go = true;
		while (!w.entered)
			usleep(100);
		harness_wait_asleep(w.entered);
		pthread_cancel(t);
	}
	next_table.pthread_join(t, &ret);
	o.cancelled = ret == PTHREAD_CANCELED;
	o.cleaned = w.cleaned;
	o.unlock_rc = w.unlock_rc;
	o.lock_free = !next_table.pthread_mutex_trylock(&w.m) &&
		      next_table.mtx_trylock(&w.c11_m) == thrd_success;
	sem_getvalue(&w.s, &o.sem_value);
	w.let_target_go = true;
	o.joined = next_table.pthread_join(w.target, &ret) ?: (int)(long)ret;
	return o;
}

static void compare(const struct point *pt, bool pending)
{
	const char *when = pending ? "cancelled before it" : "cancelled in it";
	struct outcome want, got;

	fn = &next_table;
	want = cancel_in(pt, pending);
	if (!want.cancelled) {
		/*
		 * sem_clockwait() is no cancellation point in glibc when it need not block; then
		 * the wrapper must be none, either
		 */
		diag("%s is no cancellation point, %s", pt->name, when);
	}
	fn = &harness_shim;
	harness_start(LDB_MUTEX_WAIT, 0);
	got = cancel_in(pt, pending);
	harness_stop();
	ok((want.cancelled || (pending && pt->sem)) && !memcmp(&want, &got, sizeof(want)),
	   "%s, %s: as in libc", pt->name, when);
	if (memcmp(&want, &got, sizeof(want)))
		diag("cancelled %d/%d cleaned %d/%d unlock %d/%d free %d/%d sem %d/%d join %d/%d",
		     got.cancelled, want.cancelled, got.cleaned, want.cleaned,
		     got.unlock_rc, want.unlock_rc, got.lock_free, want.lock_free,
		     got.sem_value, want.sem_value, got.joined, want.joined);
	if (pt->sem && pending) {
		is_int(got.sem_value, want.cancelled,
		       "the semaphore was not taken by a cancelled thread");
		return;
	}
	if (pending)
		return;
	is_int(harness_count(LDB_EV_LOCK_WAIT, pt->kind, NULL), 1, "the wait is recorded");
	is_int(harness_last(LDB_EV_LOCK_WAIT, pt->kind, NULL)->flags,
	       pt->kind | LDB_LOCK_F_FAILED, "the wait is recorded as failed");
	if (pt->cond)
		is_int(w.nr_held, 1, "the shim knows that the handler holds the mutex");
}

/* Locks are not cancellation points: the thread gets its lock, then ends. */
static void *locker(void *p)
{
	fn->pthread_mutex_lock(&w.m);
	w.cleaned = 1;
	fn->pthread_mutex_unlock(&w.m);
	pthread_testcancel();
	return p;
}

static void lock_is_no_point(void)
{
	pthread_t t;
	void *ret;

	fn = &harness_shim;
	harness_start(LDB_MUTEX_WAIT, 0);
	memset(&w, 0, sizeof(w));
	fn->pthread_mutex_lock(&w.m);
	pthread_create(&t, NULL, locker, NULL);
	while (!waiters_seen(&w.m))
		usleep(100);
	pthread_cancel(t);
	usleep(5000);
	is_int(w.cleaned, 0, "a cancelled thread still waits for its mutex");
	fn->pthread_mutex_unlock(&w.m);
	next_table.pthread_join(t, &ret);
	ok(w.cleaned && ret == PTHREAD_CANCELED,
	   "it gets the mutex, and ends at a cancellation point");
	ok(!waiters_seen(&w.m), "no waiter is counted after its end");
	harness_stop();
}

/*
 * Only asynchronous cancellation can interrupt a lock; POSIX leaves this undefined, but it occurs.
 */
static void *async_locker(void *p)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	fn->pthread_mutex_lock(&w.m);
	return p;
}

static void asynchronous(void)
{
	pthread_t t;
	void *ret;

	harness_start(LDB_MUTEX_WAIT, 0);
	memset(&w, 0, sizeof(w));
	fn->pthread_mutex_lock(&w.m);
	pthread_create(&t, NULL, async_locker, NULL);
	while (!waiters_seen(&w.m))
		usleep(100);
	usleep(5000);
	pthread_cancel(t);
	next_table.pthread_join(t, &ret);
	ok(ret == PTHREAD_CANCELED, "asynchronous cancellation in a lock");
	ok(!waiters_seen(&w.m), "asynchronous cancellation in a lock leaves no waiter behind");
	fn->pthread_mutex_unlock(&w.m);
	harness_stop();
}

int main(void)
{
	shim_init();
	for (unsigned n = 0; n < sizeof(points) / sizeof(*points); n++) {
		compare(&points[n], false);
		compare(&points[n], true);
	}
	lock_is_no_point();
	asynchronous();
	return done();
}
