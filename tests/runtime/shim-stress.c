// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Eight threads contend for every kind of lock while recordings begin and end and a signal
 * handler uses the wrappers too.  The test checks that the locks exclude, that each record makes
 * sense, and that the waiter counters come back to zero.
 *
 * LDB_STRESS_SECONDS: how long each of the three parts runs (default 1).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "runtime/runtime.h"
#include "shim/waiters.h"
#include "shim-harness.h"
#include "tap.h"

#define NR_THREADS	8
#define NR_LOCKS	4

enum { A_MUTEX, A_RECURSIVE, A_ROBUST, A_PI, A_RWLOCK, A_SPIN, A_C11, NR_KINDS };

static struct {
	union {
		pthread_mutex_t m;
		pthread_rwlock_t rw;
		pthread_spinlock_t s;
		mtx_t c11;
	};
	/* under the lock: both are equal whenever no thread is inside */
	long a, b;
} locks[NR_KINDS][NR_LOCKS];

static sem_t tokens;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static long cond_turns;

static _Atomic bool stop;
static _Atomic long violations, handler_runs, rounds;
static pthread_t threads[NR_THREADS];
static uint32_t tids[NR_THREADS];
static pthread_mutex_t handler_mutex[NR_THREADS];
static __thread int me = -1;

/* Each thread's handler has a mutex of its own, so that it cannot deadlock. */
static void handler(int sig)
{
	int saved = errno;

	(void)sig;
	if (me < 0)
		return;
	pthread_mutex_lock(&handler_mutex[me]);
	handler_runs++;
	pthread_mutex_unlock(&handler_mutex[me]);
	errno = saved;
}

static void inside(int kind, int n)
{
	if (locks[kind][n].a++ != locks[kind][n].b)
		violations++;
	if ((locks[kind][n].a & 63) == 0)
		sched_yield();
	if (locks[kind][n].a != ++locks[kind][n].b)
		violations++;
}

static void reading(int n)
{
	if (locks[A_RWLOCK][n].a != locks[A_RWLOCK][n].b)
		violations++;
}

static void use_mutex(int kind, int n, unsigned r)
{
	pthread_mutex_t *m = &locks[kind][n].m;

	if (r & 1) {
		pthread_mutex_lock(m);
	} else if (r & 2) {
		if (pthread_mutex_trylock(m))
			return;
	} else {
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		ts.tv_nsec = (ts.tv_nsec + 20000) % 1000000000;
		if (pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &ts))
			return;
	}
	if (kind == A_RECURSIVE && (r & 4)) {
		pthread_mutex_lock(m);
		inside(kind, n);
		pthread_mutex_unlock(m);
	}
	inside(kind, n);
	pthread_mutex_unlock(m);
}

static void use_cond(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec = (ts.tv_nsec + 50000) % 1000000000;
	pthread_mutex_lock(&cond_mutex);
	cond_turns++;
	pthread_cond_signal(&cond);
	pthread_cond_timedwait(&cond, &cond_mutex, &ts);
	cond_turns--;
	pthread_mutex_unlock(&cond_mutex);
}

static void step(unsigned r)
{
	int kind = r % (NR_KINDS + 2), n = r / 16 % NR_LOCKS;
	unsigned how = r >> 8;

	switch (kind) {
	case A_RWLOCK:
		if (how & 3) {
			pthread_rwlock_rdlock(&locks[kind][n].rw);
			reading(n);
		} else {
			pthread_rwlock_wrlock(&locks[kind][n].rw);
			inside(kind, n);
		}
		pthread_rwlock_unlock(&locks[kind][n].rw);
		break;
	case A_SPIN:
		pthread_spin_lock(&locks[kind][n].s);
		locks[kind][n].a++;
		if (locks[kind][n].a != ++locks[kind][n].b)
			violations++;
		pthread_spin_unlock(&locks[kind][n].s);
		break;
	case A_C11:
		mtx_lock(&locks[kind][n].c11);
		inside(kind, n);
		mtx_unlock(&locks[kind][n].c11);
		break;
	case NR_KINDS:
		if (sem_wait(&tokens) == 0)	/* the wait was not interrupted */
			sem_post(&tokens);
		break;
	case NR_KINDS + 1:
		use_cond();
		break;
	default:
		use_mutex(kind, n, how);
	}
}

static void *worker(void *p)
{
	unsigned r;

	/* this allocates memory, which must not happen for the first time in the handler */
	thread_self();
	tids[(long)p] = syscall(SYS_gettid);
	me = (int)(long)p;
	r = 12345 + me * 7919;
	while (!stop) {
		r = r * 1664525 + 1013904223;
		harness_gen += 0x10000;
		step(r >> 3);
		rounds++;
	}
	pthread_sigmask(SIG_BLOCK, &(sigset_t){ { 1UL << (SIGUSR1 - 1) } }, NULL);
	return (void *)(long)thread_self()->list->nr_held;
}

static void locks_init(void)
{
	pthread_mutexattr_t a;

	for (int kind = 0; kind < NR_KINDS; kind++)
		for (int n = 0; n < NR_LOCKS; n++) {
			pthread_mutexattr_init(&a);
			if (kind == A_RECURSIVE)
				pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
			if (kind == A_ROBUST)
				pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
			if (kind == A_PI)
				pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
			if (kind == A_RWLOCK)
				pthread_rwlock_init(&locks[kind][n].rw, NULL);
			else if (kind == A_SPIN)
				pthread_spin_init(&locks[kind][n].s, 0);
			else if (kind == A_C11)
				mtx_init(&locks[kind][n].c11, mtx_plain);
			else
				pthread_mutex_init(&locks[kind][n].m, &a);
		}
	sem_init(&tokens, 0, 2);
	for (int n = 0; n < NR_THREADS; n++)
		pthread_mutex_init(&handler_mutex[n], NULL);
}

static bool known_tid(uint32_t tid)
{
	for (int n = 0; n < NR_THREADS; n++)
		if (tids[n] == tid)
			return true;
	return false;
}

static bool known_lock(uint64_t lock)
{
	uint64_t from = (uintptr_t)locks, to = from + sizeof(locks);

	return (lock >= from && lock < to) || lock == (uintptr_t)&tokens ||
	       lock == (uintptr_t)&cond || lock == (uintptr_t)&cond_mutex ||
	       (lock >= (uintptr_t)handler_mutex &&
		lock < (uintptr_t)handler_mutex + sizeof(handler_mutex));
}

/* Returns why a record makes no sense, or NULL. */
static const char *nonsense(const struct ldb_lock_rec *r, uint64_t from, uint64_t to)
{
	bool wait = r->type == LDB_EV_LOCK_WAIT;
	bool exact = r->flags & LDB_LOCK_F_BEGIN_EXACT;

	if (r->type != LDB_EV_LOCK_WAIT && r->type != LDB_EV_LOCK_HOLD)
		return "type";
	if (!known_tid(r->tid))
		return "tid";
	if (!known_lock(r->lock))
		return "lock";
	if (r->end < from || r->end > to)
		return "end outside of the recording";
	if ((wait || exact) && (r->begin < from || r->begin > r->end))
		return "begin";
	if (!wait && !exact && r->begin)
		return "begin without being exact";
	if (wait && exact)
		return "flags of a wait";
	if (r->owner && !known_tid(r->owner))
		return "owner";
	if (!harness_site(r))
		return "site";
	return NULL;
}

static bool exact_hold(const struct ldb_lock_rec *r, const void *lock)
{
	return r->type == LDB_EV_LOCK_HOLD && r->lock == (uintptr_t)lock &&
	       (r->flags & LDB_LOCK_F_BEGIN_EXACT);
}

/*
 * Counts pairs of holds of one lock that, according to their records, overlap; the records are at
 * most 63 apart.
 */
static long overlaps_of(const void *lock)
{
	long bad = 0;

	for (unsigned n = 0; n < harness_nr(); n++) {
		const struct ldb_lock_rec *r = &harness_rec(n)->lock;

		if (!exact_hold(r, lock))
			continue;
		/* records are written after the unlock, so they are nearly in order */
		for (unsigned k = n + 1; k < harness_nr() && k < n + 64; k++) {
			const struct ldb_lock_rec *q = &harness_rec(k)->lock;

			bad += exact_hold(q, lock) && q->begin < r->end && q->end > r->begin;
		}
	}
	return bad;
}

static long overlaps(void)
{
	long bad = 0;

	for (int kind = 0; kind < NR_KINDS; kind++)
		for (int n = 0; n < NR_LOCKS; n++)
			if (kind != A_RWLOCK)
				bad += overlaps_of(&locks[kind][n]);
	return bad;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void check_records(uint64_t from, uint64_t to)
{
	unsigned bad = 0;

	for (unsigned n = 0; n < harness_nr(); n++) {
		const char *why = nonsense(&harness_rec(n)->lock, from, to);

		if (why && !bad++)
			diag("record %u: %s", n, why);
	}
	ok(!bad, "%u records, none is nonsense", harness_nr());
}

static void storm(const char *name, enum ldb_mutex_level level, uint64_t threshold,
		  bool reattach, double for_seconds)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	double until = seconds() + for_seconds;
	long held = 0, left = 0;
	unsigned sessions = 1;
	uint64_t from, to;
	void *ret;

	diag("%s", name);
	stop = false;
	violations = handler_runs = rounds = 0;
	sigaction(SIGUSR1, &sa, NULL);
	from = cpu_tsc();
	harness_start(level, threshold);
	for (long n = 0; n < NR_THREADS; n++)
		if (pthread_create(&threads[n], NULL, worker, (void *)n))
			bail_out("pthread_create");
	while (seconds() < until && harness_nr() < 900000) {
		usleep(500);
		for (int n = 0; n < NR_THREADS; n++)
			pthread_kill(threads[n], SIGUSR1);
		if (!reattach)
			continue;
		harness_reattach();
		sessions++;
	}
	stop = true;
	for (int n = 0; n < NR_THREADS; n++) {
		next_table.pthread_join(threads[n], &ret);
		held += (long)ret;
	}
	to = cpu_tsc();
	harness_stop();
	for (unsigned n = 0; n < 1 << WAITERS_BITS; n++)
		left += atomic_load(&waiters_table[n]);
	diag("%ld rounds, %ld in handlers, %u sessions", (long)rounds, (long)handler_runs, sessions);
	ok(rounds > 0 && handler_runs > 0 && !violations, "the locks exclude");
	is_int(left, 0, "no waiter is left in the table");
	is_int(held, 0, "no lock is left in a list");
	check_records(from, to);
	if (!reattach)
		is_int(overlaps(), 0, "no two threads hold one lock at once");
}

int main(void)
{
	const char *env = getenv("LDB_STRESS_SECONDS");
	double s = env ? atof(env) : 1;

	shim_init();
	locks_init();
	storm("level wait", LDB_MUTEX_WAIT, 1000, false, s);
	storm("level hold", LDB_MUTEX_HOLD, 1000, false, s);
	storm("recordings that begin and end", LDB_MUTEX_HOLD, 0, true, s);
	return done();
}
