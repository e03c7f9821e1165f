// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that a free mutex of the usual type is taken and released without libc's functions, and
 * only if this leaves the same state as libc.  For any other type, and if another library
 * interposes a function, that library's or libc's function must be called as before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "shim-harness.h"
#include "tap.h"

static int (*libc_trylock)(pthread_mutex_t *);
static int (*libc_unlock)(pthread_mutex_t *);
static int nr_calls;
static _Atomic bool may_end;

static int counted_trylock(pthread_mutex_t *m)
{
	nr_calls++;
	return libc_trylock(m);
}

static int counted_unlock(pthread_mutex_t *m)
{
	nr_calls++;
	return libc_unlock(m);
}

static void *second_thread(void *p)
{
	while (!may_end)
		usleep(100);
	return p;
}

/* Returns how often the counting functions are called by ten locks and unlocks; -1: one failed. */
static int calls_of(pthread_mutex_t *m)
{
	nr_calls = 0;
	for (int n = 0; n < 10; n++) {
		if (harness_shim.pthread_mutex_lock(m) || harness_shim.pthread_mutex_unlock(m))
			return -1;
	}
	return nr_calls;
}

static void pair(pthread_mutex_t *m)
{
	harness_shim.pthread_mutex_lock(m);
	harness_shim.pthread_mutex_unlock(m);
}

/*
 * libc's own functions are known from the start; the counting functions are found as those of
 * another library in between would be.
 */
static void count_calls(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	next_table.pthread_mutex_trylock(&m);
	next_table.pthread_mutex_unlock(&m);
	libc_trylock = next_table.pthread_mutex_trylock;
	libc_unlock = next_table.pthread_mutex_unlock;
	next_table.pthread_mutex_trylock = counted_trylock;
	next_table.pthread_mutex_unlock = counted_unlock;
}

/* The test runs in a process of its own, in which libc's functions were not searched for yet. */
static int interposed(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_t t;

	if (pthread_create(&t, NULL, second_thread, NULL))
		return 1;
	harness_start(LDB_MUTEX_WAIT, 0);
	count_calls();
	pair(&m);	/* now the list exists, and libc was searched */
	if (calls_of(&m) != 20)
		return 2;
	return thread_self()->list->tid ? 3 : 0;
}

static int in_child(int (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(fn());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* After a fork, the child's thread has another tid. */
static int forked(void)
{
	shim_fork_child();
	return thread_self()->list->tid;
}

static void same_bytes(void)
{
	pthread_mutex_t libc = PTHREAD_MUTEX_INITIALIZER, ours = PTHREAD_MUTEX_INITIALIZER;

	next_table.pthread_mutex_lock(&libc);
	harness_shim.pthread_mutex_lock(&ours);
	ok(!memcmp(&libc, &ours, sizeof(ours)),
	   "a mutex that the wrapper took has the same bytes as after libc's function");
	is_int(libc_trylock(&ours), EBUSY, "libc finds a mutex taken that the wrapper took");
	is_int(harness_shim.pthread_mutex_trylock(&libc), EBUSY,
	       "the wrapper finds a mutex taken that libc took");
	libc_unlock(&libc);
	harness_shim.pthread_mutex_unlock(&ours);
	ok(!memcmp(&libc, &ours, sizeof(ours)), "released mutexes have the same bytes, too");

	harness_shim.pthread_mutex_lock(&ours);
	is_int(libc_unlock(&ours), 0, "libc releases a mutex that the wrapper took");
	is_int(libc_trylock(&ours), 0, "libc takes the mutex again");
	is_int(harness_shim.pthread_mutex_unlock(&ours), 0,
	       "the wrapper releases a mutex that libc took");
	harness_shim.pthread_mutex_unlock(&ours);	/* the entry of the lock before */
	is_int(thread_self()->list->nr_held, 0, "the list is empty");
}

static void other_types(void)
{
	static const struct {
		const char *name;
		int type, shared, protocol, robust, calls;
	} kinds[] = {
		{ "usual", -1, 0, PTHREAD_PRIO_NONE, 0, 0 },
		{ "usual, set explicitly", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE, 0, 0 },
		{ "recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_NONE, 0, 20 },
		{ "error-checking", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_NONE, 0, 20 },
		{ "adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, PTHREAD_PRIO_NONE, 0, 20 },
		{ "shared", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_NONE, 0, 20 },
		{ "inheriting", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 0, 20 },
		{ "robust", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE, 1, 10 },
	};

	for (unsigned n = 0; n < sizeof(kinds) / sizeof(*kinds); n++) {
		pthread_mutexattr_t a;
		pthread_mutex_t m;

		pthread_mutexattr_init(&a);
		if (kinds[n].type >= 0)
			pthread_mutexattr_settype(&a, kinds[n].type);
		if (kinds[n].shared)
			pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
		pthread_mutexattr_setprotocol(&a, kinds[n].protocol);
		if (kinds[n].robust)
			pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(&m, &a);
		is_int(calls_of(&m), kinds[n].calls, kinds[n].name);
		pthread_mutex_destroy(&m);
	}
}

int main(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	pthread_t t;

	is_int(in_child(interposed), 0, "a function in between is called each time");
	harness_start(LDB_MUTEX_WAIT, 0);
	harness_shim.pthread_rwlock_rdlock(&l);	/* the list is made */
	harness_shim.pthread_rwlock_unlock(&l);
	pair(&m);
	is_int(thread_self()->list->tid, 0,
	       "one thread: libc takes it, without an atomic operation");
	if (pthread_create(&t, NULL, second_thread, NULL))
		bail_out("pthread_create");
	shim_not_alone();
	is_int(thread_self()->list->tid, syscall(SYS_gettid), "two threads: the wrapper takes it");
	count_calls();
	same_bytes();
	other_types();
	harness_start(LDB_MUTEX_HOLD, 1ULL << 60);
	is_int(calls_of(&m), 20, "level hold: libc's functions");
	harness_stop();
	is_int(calls_of(&m), 10, "without a recording: libc's functions, and no trylock");
	is_int(in_child(forked), 0, "a fork child looks up its tid again");
	may_end = true;
	next_table.pthread_join(t, NULL);
	return done();
}
