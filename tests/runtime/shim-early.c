// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that the wrappers work before shim_init(), as in constructors of other libraries: the first
 * call looks up the real function.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include "shim-harness.h"
#include "tap.h"

static int early_failed;
static int early_done;

#define EXPECT(call, want)	\
	do { if ((call) != (want)) early_failed = __LINE__; early_done++; } while (0)

static void *nothing(void *p)
{
	return p;
}

__attribute__((constructor(102))) static void early(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec past = { 1, 0 };
	pthread_spinlock_t s;
	pthread_t t;
	mtx_t c11;
	sem_t sem;

	EXPECT(pthread_mutex_lock(&m), 0);
	EXPECT(pthread_cond_timedwait(&c, &m, &past), ETIMEDOUT);
	EXPECT(pthread_mutex_unlock(&m), 0);
	EXPECT(pthread_rwlock_rdlock(&l), 0);
	EXPECT(pthread_rwlock_unlock(&l), 0);
	pthread_spin_init(&s, 0);
	EXPECT(pthread_spin_lock(&s), 0);
	EXPECT(pthread_spin_unlock(&s), 0);
	sem_init(&sem, 0, 1);
	EXPECT(sem_wait(&sem), 0);
	EXPECT(sem_timedwait(&sem, &past), -1);
	mtx_init(&c11, mtx_plain);
	EXPECT(mtx_lock(&c11), thrd_success);
	EXPECT(mtx_trylock(&c11), thrd_busy);
	EXPECT(mtx_unlock(&c11), thrd_success);
	if (pthread_create(&t, NULL, nothing, NULL) == 0)
		EXPECT(pthread_join(t, NULL), 0);
}

int main(void)
{
	unsigned stubs = 0;

	is_int(early_failed, 0, "before shim_init() the wrappers work");
	is_int(early_done, 13, "each of the calls was made");
	shim_init();
	ok(!dlerror(), "looking for the functions leaves no error behind");
#define CHECK(name)	stubs += !next_table.name || (void *)next_table.name == (void *)name;
#define ACQUIRE(name, ...)	CHECK(name)
#define TRY(name, ...)		CHECK(name)
#define RELEASE(name, ...)	CHECK(name)
#define COND(name, ...)		CHECK(name)
#define SEM(name, ...)		CHECK(name)
#define WAIT(name, ...)		CHECK(name)
#define WAKE(name, ...)		CHECK(name)
#include "shim/list.h"
	is_int(stubs, 0, "every function was found, and none is our own");
	return done();
}
