// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which thread is recorded as having ended a wait for an object that has no holder. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "runtime/runtime.h"
#include "shim/wait.h"
#include "shim/waiters.h"
#include "shim-harness.h"
#include "tap.h"

#define WAIT	LDB_EV_LOCK_WAIT

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_said;

/* Another thread posts, signals or arrives when the first one sleeps. */
struct teller {
	pthread_t thread;
	void (*tell)(void *);
	void *object;
	int waiter;
	_Atomic int tid;
};

static void *teller_thread(void *p)
{
	struct teller *t = p;

	t->tid = syscall(SYS_gettid);
	thread_self();		/* registers */
	harness_wait_asleep(t->waiter);
	t->tell(t->object);
	return NULL;
}

static void teller_start(struct teller *t, void (*tell)(void *), void *object)
{
	*t = (struct teller){ .tell = tell, .object = object, .waiter = syscall(SYS_gettid) };
	if (next_table.pthread_mutex_lock(&mutex) || pthread_create(&t->thread, NULL, teller_thread, t))
		bail_out("pthread_create");
	is_said = false;
	next_table.pthread_mutex_unlock(&mutex);
}

static void teller_end(struct teller *t, uint32_t kind, const char *name)
{
	const struct ldb_lock_rec *wait = harness_last(WAIT, kind, t->object);

	next_table.pthread_join(t->thread, NULL);
	if (!wait)
		bail_out("no record of the wait");
	is_int(wait->flags, kind, name);
	is_int(wait->owner, t->tid, "the wait names the thread that ended it");
}

static void say(void)
{
	next_table.pthread_mutex_lock(&mutex);
	is_said = true;
	next_table.pthread_mutex_unlock(&mutex);
}

static void tell_signal(void *p)
{
	say();
	pthread_cond_signal(p);
}

static void tell_broadcast(void *p)
{
	say();
	pthread_cond_broadcast(p);
}

static void tell_c11(void *p)
{
	say();
	cnd_signal(p);
}

static void tell_c11_all(void *p)
{
	say();
	cnd_broadcast(p);
}

static void tell_post(void *p)
{
	sem_post(p);
}

static void tell_barrier(void *p)
{
	pthread_barrier_wait(p);
}

static void await(pthread_cond_t *cond)
{
	next_table.pthread_mutex_lock(&mutex);
	while (!is_said)
		pthread_cond_wait(cond, &mutex);
	next_table.pthread_mutex_unlock(&mutex);
}

static void conditions(void)
{
	static const struct {
		void (*tell)(void *);
		const char *name;
	} ways[] = {
		{ tell_signal, "pthread_cond_signal" }, { tell_broadcast, "pthread_cond_broadcast" },
		{ tell_c11, "cnd_signal" }, { tell_c11_all, "cnd_broadcast" },
	};
	struct timespec past = { 1, 0 };
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct teller t;

	for (unsigned n = 0; n < sizeof(ways) / sizeof(ways[0]); n++) {
		harness_start(LDB_MUTEX_WAIT, 0);
		teller_start(&t, ways[n].tell, &cond);
		await(&cond);
		teller_end(&t, LDB_LOCK_COND, ways[n].name);
	}
	harness_start(LDB_MUTEX_WAIT, 0);
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &past);
	pthread_mutex_unlock(&mutex);
	is_int(harness_last(WAIT, LDB_LOCK_COND, &cond)->owner, 0,
	       "a wait for a condition that timed out names no thread");
	harness_stop();
}

static void semaphores(void)
{
	struct timespec past = { 1, 0 };
	struct teller t;
	sem_t s;

	sem_init(&s, 0, 0);
	harness_start(LDB_MUTEX_WAIT, 0);
	teller_start(&t, tell_post, &s);
	sem_wait(&s);
	teller_end(&t, LDB_LOCK_SEM, "sem_post");
	sem_timedwait(&s, &past);
	is_int(harness_last(WAIT, LDB_LOCK_SEM, &s)->owner, 0,
	       "a wait for a semaphore that timed out names no thread");
	errno = 77;
	is_int(sem_post(&s), 0, "the result of a post");
	is_int(errno, 77, "a post does not change errno");
	sem_init(&s, 0, SEM_VALUE_MAX);
	is_int(sem_post(&s), -1, "one post too many fails");
	is_int(errno, EOVERFLOW, "one post too many fails with EOVERFLOW");
	harness_stop();
}

static void barriers(void)
{
	struct teller t;
	pthread_barrier_t b;
	unsigned others = 0;

	pthread_barrier_init(&b, NULL, 2);
	harness_start(LDB_MUTEX_WAIT, 0);
	teller_start(&t, tell_barrier, &b);
	pthread_barrier_wait(&b);
	next_table.pthread_join(t.thread, NULL);
	for (unsigned n = 0; n < harness_nr(); n++) {
		const struct ldb_lock_rec *r = &harness_rec(n)->lock;

		if (r->lock != (uintptr_t)&b)
			continue;
		if (r->tid == (uint32_t)t.tid)
			is_int(r->owner, 0, "the last thread at a barrier waits for no thread");
		else
			is_int(r->owner, t.tid, "the other threads wait for the last one");
		others++;
	}
	is_int(others, 2, "the waits of both threads were written");
	harness_stop();
}

static sem_t many[4 << WAITERS_BITS];
static unsigned same_slot;		/* many[same_slot] has the slot of many[0] */

/* Takes the slot for the other object, as if another thread waited for it, and then posts. */
static void tell_late(void *p)
{
	waker_set(&many[same_slot], 0);
	sem_post(p);
}

/* If two objects share a slot, the slot belongs to the one that was waited for last. */
static void collisions(void)
{
	struct teller t;
	unsigned n = 1;

	while (waker_slot(&many[n]) != waker_slot(&many[0]))
		if (++n == sizeof(many) / sizeof(many[0]))
			bail_out("no two objects have the same slot");
	same_slot = n;
	harness_start(LDB_MUTEX_WAIT, 0);
	waker_set(&many[0], 0);
	ok(waker_is_awaited(&many[0]) && !waker_is_awaited(&many[n]), "one object has the slot");
	waker_set(&many[n], 0);
	sem_post(&many[0]);
	is_int(*waker_slot(&many[n]), waker_word(&many[n], 0),
	       "a post to another one is not noted");
	sem_post(&many[n]);
	is_int(*waker_slot(&many[n]), waker_word(&many[n], syscall(SYS_gettid)),
	       "a post to this object is noted");
	harness_stop();
	waker_set(&many[n], 0);
	sem_post(&many[n]);
	is_int(*waker_slot(&many[n]), waker_word(&many[n], 0),
	       "without a recording no post is noted");

	sem_init(&many[0], 0, 0);
	harness_start(LDB_MUTEX_WAIT, 0);
	teller_start(&t, tell_late, &many[0]);
	sem_wait(&many[0]);
	next_table.pthread_join(t.thread, NULL);
	is_int(harness_last(WAIT, LDB_LOCK_SEM, &many[0])->owner, 0,
	       "if the slot was lost during the wait, the wait names no thread");
	harness_stop();
}

static void *nap(void *p)
{
	*(int *)p = syscall(SYS_gettid);
	usleep(2000);
	return NULL;
}

/* A thread that was just created may not have registered yet. */
static void joins(void)
{
	unsigned named = 0;

	harness_start(LDB_MUTEX_WAIT, 0);
	for (int n = 0; n < 20; n++) {
		pthread_t t;
		int tid;

		if (pthread_create(&t, NULL, nap, &tid))
			bail_out("pthread_create");
		pthread_join(t, NULL);
		named += harness_last(WAIT, LDB_LOCK_JOIN, (void *)t)->owner == (uint32_t)tid;
	}
	is_int(named, 20, "joins name the thread, whether it is registered or not");
	harness_stop();
}

int main(void)
{
	conditions();
	semaphores();
	barriers();
	collisions();
	joins();
	return done();
}
