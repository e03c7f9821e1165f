// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests locks that the program implements: what is recorded of its calls, and of calls that make no
 * sense.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ldb/ldb.h>
#include "runtime/runtime.h"
#include "shim/waiters.h"
#include "shim-harness.h"
#include "tap.h"

#define WAIT	LDB_EV_LOCK_WAIT
#define HOLD	LDB_EV_LOCK_HOLD
#define OWN	LDB_LOCK_OWN
#define FAR	(1ULL << 60)	/* a threshold that nothing reaches */

static char locks[64];		/* the program's locks are nothing but these addresses */
static uint32_t main_tid;

/* Threads that make a call when the test asks for it. */
enum say { SAY_NOTHING, SAY_WAIT, SAY_ACQUIRED, SAY_RELEASED, SAY_BYE };

struct speaker {
	pthread_t thread;
	_Atomic enum say say;
	const char *lock;
	uint32_t tid;
};

static void *speak(void *p)
{
	struct speaker *s = p;
	enum say say;

	s->tid = thread_self()->tid;
	do {
		while (!(say = s->say))
			usleep(50);
		if (say == SAY_WAIT)
			ldb_lock_wait(s->lock);
		else if (say == SAY_ACQUIRED)
			ldb_lock_acquired(s->lock);
		else if (say == SAY_RELEASED)
			ldb_lock_released(s->lock);
		s->say = SAY_NOTHING;
	} while (say != SAY_BYE);
	return NULL;
}

static void speaker_start(struct speaker *s)
{
	*s = (struct speaker){ .say = SAY_NOTHING };
	if (pthread_create(&s->thread, NULL, speak, s))
		bail_out("pthread_create");
}

static void tell(struct speaker *s, enum say say, const char *lock)
{
	s->lock = lock;
	s->say = say;
	while (s->say)
		usleep(50);
}

static void speaker_end(struct speaker *s)
{
	s->say = SAY_BYE;
	next_table.pthread_join(s->thread, NULL);
}

static unsigned nr_waiters(void)
{
	unsigned nr = 0;

	for (unsigned n = 0; n < 1 << WAITERS_BITS; n++)
		nr += atomic_load(&waiters_table[n]);
	return nr;
}

static unsigned nr_names(void)
{
	unsigned nr = 0;

	for (unsigned n = 0; n < 1 << WAITERS_BITS; n++)
		nr += atomic_load(&wakers_table[n]) != 0;
	return nr;
}

static void every_call(const char *lock)
{
	ldb_lock_wait(lock);
	ldb_lock_acquired(lock);
	ldb_lock_released(lock);
}

static void nobody_records(void)
{
	errno = 4242;
	every_call(locks);
	request_fill(3, &__ldb_api_3);
	every_call(locks);
	harness_start(LDB_MUTEX_OFF, 0);
	every_call(locks);
	harness_stop();
	is_int(harness_nr() + nr_waiters() + nr_names(), 0,
	       "nothing is written without the runtime, when nobody records and with --mutex=off");
	harness_start(LDB_MUTEX_WAIT, 0);
	every_call(locks);
	ok(harness_nr() > 0, "with it there are records");
	is_int(errno, 4242, "errno is left alone");
	harness_stop();
}

static void uncontended(void)
{
	const struct ldb_lock_rec *hold;

	harness_start(LDB_MUTEX_WAIT, 0);
	for (int n = 0; n < 100; n++) {
		ldb_lock_acquired(&locks[0]);
		ldb_lock_acquired(&locks[1]);
		ldb_lock_released(&locks[0]);
		ldb_lock_released(&locks[1]);
	}
	is_int(harness_nr(), 0, "level wait: nothing is written without contention");
	is_int(thread_self()->list->nr_held, 0, "the list is empty");
	is_int(nr_names(), 0, "and nothing was written to what threads share");
	harness_start(LDB_MUTEX_HOLD, 0);
	harness_gen = 7 << 16;
	/* the first call in a recording does additional work */
	for (int n = 0; n < 2; n++) {
		ldb_lock_acquired(locks);
		ldb_lock_released(locks);
	}
	hold = harness_last(HOLD, OWN, locks);
	is_int(harness_nr(), 2, "level hold: one record for a hold");
	is_int(hold->flags, OWN | LDB_LOCK_F_BEGIN_EXACT, "its flags");
	ok(hold->end >= hold->begin && hold->begin && hold->gen == 7 << 16,
	   "its begin and generation");
	harness_start(LDB_MUTEX_HOLD, FAR);
	every_call(locks);
	ldb_lock_acquired(locks);
	ldb_lock_released(locks);
	is_int(harness_nr(), 0, "nothing below the threshold");
	harness_stop();
	harness_gen = 0;
}

static void holders(void)
{
	const struct ldb_lock_rec *wait;
	struct speaker a, b;

	speaker_start(&a);
	speaker_start(&b);
	harness_start(LDB_MUTEX_WAIT, 0);
	ldb_lock_acquired(locks);
	tell(&a, SAY_WAIT, locks);
	tell(&b, SAY_WAIT, locks);
	ldb_lock_released(locks);
	is_int(harness_count(HOLD, OWN, locks), 1,
	       "a hold is recorded if other threads wait for its end");
	is_int(harness_last(HOLD, OWN, locks)->tid, main_tid,
	       "the record of a hold names the holder");
	tell(&a, SAY_ACQUIRED, locks);
	ldb_lock_wait(locks);
	is_int(harness_count(WAIT, OWN, locks), 0, "waits are not written before the release");
	tell(&a, SAY_RELEASED, locks);
	wait = harness_last(WAIT, OWN, locks);
	ok(wait->tid == a.tid && wait->owner == 0, "the first wait's holder is not known");
	ldb_lock_acquired(locks);
	ldb_lock_released(locks);
	wait = harness_last(WAIT, OWN, locks);
	ok(wait->tid == main_tid && wait->owner == a.tid, "a later wait names the holder");
	is_int(harness_last(HOLD, OWN, locks)->begin, wait->end,
	       "a hold after a wait begins when the wait ends");
	tell(&b, SAY_ACQUIRED, locks);
	tell(&b, SAY_RELEASED, locks);
	is_int(harness_last(WAIT, OWN, locks)->owner, 0, "a wait names the holder at its start");
	is_int(nr_waiters(), 0, "no waiter is counted after the last release");

	/* The lock is free, but threads are known to wait for it sometimes. */
	tell(&a, SAY_ACQUIRED, locks);
	tell(&b, SAY_WAIT, locks);
	tell(&a, SAY_RELEASED, locks);
	tell(&b, SAY_ACQUIRED, locks);
	tell(&b, SAY_RELEASED, locks);
	is_int(harness_last(WAIT, OWN, locks)->owner, a.tid,
	       "the holder is known if a thread has waited for the lock before");
	ldb_lock_wait(locks);
	ldb_lock_acquired(locks);
	ldb_lock_released(locks);
	is_int(harness_last(WAIT, OWN, locks)->owner, 0,
	       "a thread that has released the lock is not named");
	ldb_lock_acquired(locks);
	ldb_lock_wait(locks);
	ldb_lock_released(locks);
	is_int(harness_last(WAIT, OWN, locks)->owner, 0,
	       "a thread's wait does not name the thread itself");
	harness_stop();
	speaker_end(&a);
	speaker_end(&b);
}

static void gives_up(void)
{
	const struct ldb_lock_rec *wait;
	struct speaker a;

	speaker_start(&a);
	harness_start(LDB_MUTEX_WAIT, 0);
	tell(&a, SAY_ACQUIRED, locks);
	ldb_lock_wait(locks);
	ldb_lock_released(locks);
	wait = harness_last(WAIT, OWN, locks);
	is_int(harness_nr(), 1, "a wait that is given up is recorded");
	is_int(wait->flags, OWN | LDB_LOCK_F_FAILED, "it is recorded as failed");
	is_int(thread_self()->list->nr_held + nr_waiters(), 0,
	       "a thread that gave up holds nothing and waits for nothing");
	tell(&a, SAY_RELEASED, locks);
	is_int(harness_nr(), 1, "a hold is not recorded if the wait for it was given up");
	harness_stop();
	speaker_end(&a);
}

/* These calls are in a wrong order. */
static void nonsense(void)
{
	struct speaker a;

	speaker_start(&a);
	harness_start(LDB_MUTEX_WAIT, 0);
	ldb_lock_released(locks);
	ldb_lock_released(NULL);
	is_int(harness_nr(), 0, "the release of a lock that no thread has is not recorded");
	ldb_lock_wait(locks);
	harness_clock = cpu_tsc();
	ldb_lock_wait(locks);
	is_int(nr_waiters(), 1, "a second wait for the same lock is not counted");
	harness_clock = 0;
	ldb_lock_acquired(locks);
	ldb_lock_acquired(locks);
	ldb_lock_released(locks);
	ldb_lock_released(locks);
	ldb_lock_released(locks);
	is_int(harness_count(WAIT, OWN, locks), 1,
	       "two acquisitions after a wait: one wait is recorded");
	is_int(thread_self()->list->nr_held, 0, "three releases leave no lock in the list");
	ldb_lock_acquired(&locks[1]);
	tell(&a, SAY_RELEASED, &locks[1]);
	ldb_lock_acquired(&locks[1]);
	ldb_lock_released(&locks[1]);
	ldb_lock_released(&locks[1]);
	is_int(thread_self()->list->nr_held, 0,
	       "after a release by another thread, no lock is left in the list");
	for (int n = 0; n < 20; n++)
		ldb_lock_wait(&locks[n]);
	ok(nr_waiters() > 0 && nr_waiters() <= 4, "of many nested waits only a few are counted");
	ldb_lock_acquired(&locks[18]);
	is_int(nr_waiters(), 2, "the end of a wait ends the waits that began later");
	ldb_lock_released(&locks[18]);
	for (int n = 0; n < 40; n++)
		ldb_lock_acquired(&locks[n]);
	is_int(thread_self()->list->nr_held, HELD_MAX,
	       "of too many locks only HELD_MAX are listed");
	tell(&a, SAY_WAIT, locks);
	speaker_end(&a);
	is_int(nr_waiters(), 0, "a thread that has ended is not counted as a waiter");
	ldb_lock_wait(&locks[50]);
	harness_reattach();
	ldb_lock_wait(locks);
	is_int(nr_waiters(), 1, "a wait of an earlier recording is not counted");
	ldb_lock_released(locks);
	is_int(nr_waiters(), 0, "the release ends the wait");
	harness_stop();
}

static void recordings(void)
{
	struct speaker a;

	speaker_start(&a);
	harness_start(LDB_MUTEX_WAIT, 0);
	tell(&a, SAY_WAIT, locks);
	tell(&a, SAY_ACQUIRED, locks);
	ldb_lock_wait(locks);
	harness_stop();
	tell(&a, SAY_RELEASED, locks);		/* there is no recording */
	ldb_lock_acquired(locks);
	ldb_lock_released(locks);
	harness_start(LDB_MUTEX_WAIT, 0);
	ldb_lock_wait(locks);
	ldb_lock_acquired(locks);
	ldb_lock_released(locks);
	is_int(harness_count(WAIT, OWN, locks), 1,
	       "a wait that began in the last recording is not recorded");
	is_int(harness_last(WAIT, OWN, locks)->owner, 0,
	       "a holder from the last recording is not named");
	ldb_lock_wait(locks);
	harness_reattach();
	ldb_lock_acquired(locks);
	ldb_lock_released(locks);
	is_int(harness_count(WAIT, OWN, locks), 1,
	       "a wait from one recording into the next is not recorded");
	is_int(nr_waiters(), 0, "such a wait leaves no waiter counted");
	harness_stop();
	speaker_end(&a);
}

static void forks(void)
{
	pid_t pid;
	int status;

	harness_start(LDB_MUTEX_WAIT, 0);
	ldb_lock_wait(locks);
	pid = fork();
	if (!pid) {
		unsigned before = harness_nr();

		shim_fork_child();
		ldb_lock_acquired(locks);
		ldb_lock_released(locks);
		ldb_lock_wait(&locks[1]);
		_exit(harness_nr() != before || nr_waiters() != 1 || nr_names() != 1);
	}
	ok(waitpid(pid, &status, 0) == pid && !status,
	   "a child waits for nothing, and knows of no holders");
	ldb_lock_released(locks);
	harness_stop();
}

static _Atomic bool on_signal_stop;
static _Atomic int nr_ready;

static void on_signal(int sig)
{
	(void)sig;
	ldb_lock_wait(&locks[40]);
	ldb_lock_acquired(&locks[40]);
	ldb_lock_released(&locks[40]);
}

static void *storm(void *p)
{
	unsigned seed = (unsigned)(uintptr_t)p;

	/* Here the harness calls functions that a signal handler must not interrupt and call. */
	thread_self();
	nr_ready++;
	while (!on_signal_stop) {
		const char *lock = &locks[rand_r(&seed) % 24];

		switch (rand_r(&seed) % 3) {
		case 0: ldb_lock_wait(lock); break;
		case 1: ldb_lock_acquired(lock); break;
		case 2: ldb_lock_released(lock); break;
		}
	}
	return NULL;
}

/* Any thread makes any call at any time, with signals, and with recordings that begin and end. */
static void storms(void)
{
	pthread_t t[4];

	signal(SIGUSR1, on_signal);
	harness_start(LDB_MUTEX_WAIT, FAR);
	for (int n = 0; n < 4; n++)
		if (pthread_create(&t[n], NULL, storm, (void *)(uintptr_t)(n + 1)))
			bail_out("pthread_create");
	while (nr_ready < 4)
		usleep(1000);
	for (int n = 0; n < 1000; n++) {
		pthread_kill(t[n % 4], SIGUSR1);
		if (n % 10 == 0)
			harness_start(n % 20 ? LDB_MUTEX_HOLD : LDB_MUTEX_WAIT, FAR);
		usleep(200);
	}
	on_signal_stop = true;
	for (int n = 0; n < 4; n++)
		next_table.pthread_join(t[n], NULL);
	is_int(nr_waiters(), 0, "after a storm of nonsense nobody is left waiting");
	harness_stop();
}

int main(void)
{
	shim_init();
	main_tid = thread_self()->tid;
	nobody_records();
	uncontended();
	holders();
	gives_up();
	nonsense();
	recordings();
	forks();
	storms();
	return done();
}
