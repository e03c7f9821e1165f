// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * To the program the interposed functions must behave as libc's own: each scenario runs with the
 * real functions and with the wrappers, in every state of the shim, and each return value, errno
 * and output must be equal.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include "shim-harness.h"
#include "shim/symbol.h"
#include "tap.h"

#define LOG_MAX		256
/* no call may change errno, except for calls that fail with errno */
#define ERRNO_BEFORE	4242

struct log {
	unsigned nr;
	int rc[LOG_MAX], err[LOG_MAX];
	const char *what[LOG_MAX];
};

static const struct next *fn;	/* the functions under test */
static struct log *log_now;

static void log_add(const char *what, int rc, int err)
{
	if (log_now->nr == LOG_MAX)
		bail_out("LOG_MAX is too small");
	log_now->what[log_now->nr] = what;
	log_now->rc[log_now->nr] = rc;
	log_now->err[log_now->nr++] = err;
}

#define CALL(call) ({							\
		int rc_;						\
									\
		errno = ERRNO_BEFORE;					\
		rc_ = fn->call;						\
		log_add(#call, rc_, errno);				\
		rc_;							\
	})

static struct timespec soon_on(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_nsec += 2000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	return ts;
}

#define SOON	(&(struct timespec[1]){ soon_on(CLOCK_REALTIME) }[0])
#define SOON_M	(&(struct timespec[1]){ soon_on(CLOCK_MONOTONIC) }[0])
#define FAR_OFF	(&(struct timespec){ 1L << 40, 0 })
#define PAST	(&(struct timespec){ 1, 0 })
#define BAD	(&(struct timespec){ 1, 1000000000 })
#define NEGATIVE (&(struct timespec){ 1, -1 })
#define NO_CLOCK CLOCK_PROCESS_CPUTIME_ID

static bool unregistered;

struct run {
	void *(*f)(void *);
	void *arg;
};

static void *run(void *p)
{
	struct run *r = p;

	harness_unregistered = unregistered;
	return r->f(r->arg);
}

/* Runs f(arg) in another thread and waits for it, with the real functions. */
static void elsewhere(void *(*f)(void *), void *arg)
{
	struct run r = { f, arg };
	pthread_t t;

	if (pthread_create(&t, NULL, run, &r))
		bail_out("pthread_create");
	next_table.pthread_join(t, NULL);
}

/* Mutexes */

static void *mutex_taken(void *p)
{
	pthread_mutex_t *m = p;

	CALL(pthread_mutex_trylock(m));
	CALL(pthread_mutex_timedlock(m, SOON));
	CALL(pthread_mutex_timedlock(m, PAST));
	CALL(pthread_mutex_timedlock(m, BAD));
	CALL(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, SOON_M));
	CALL(pthread_mutex_clocklock(m, CLOCK_REALTIME, PAST));
	CALL(pthread_mutex_clocklock(m, NO_CLOCK, PAST));
	return NULL;
}

static void *mutex_die_holding(void *p)
{
	CALL(pthread_mutex_lock(p));
	return NULL;
}

static void *mutex_unlock_unowned(void *p)
{
	CALL(pthread_mutex_unlock(p));
	return NULL;
}

static void mutex_scenario(int type, int protocol, int robust, int pshared)
{
	pthread_mutexattr_t a;
	pthread_mutex_t m;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	pthread_mutexattr_setprotocol(&a, protocol);
	pthread_mutexattr_setrobust(&a, robust);
	pthread_mutexattr_setpshared(&a, pshared);
	if (pthread_mutex_init(&m, &a)) {
		log_add("no such mutex here", 0, 0);
		return;
	}
	if (CALL(pthread_mutex_lock(&m)) == 0) {
		elsewhere(mutex_taken, &m);
		if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
			elsewhere(mutex_unlock_unowned, &m);
		/* the owner again */
		CALL(pthread_mutex_trylock(&m));
		CALL(pthread_mutex_timedlock(&m, SOON));
		CALL(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, SOON_M));
		if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
			CALL(pthread_mutex_lock(&m));
		CALL(pthread_mutex_unlock(&m));
		if (type == PTHREAD_MUTEX_RECURSIVE) {
			elsewhere(mutex_taken, &m);	/* still held */
			for (int n = 0; n < 4; n++)
				CALL(pthread_mutex_unlock(&m));
		}
	}
	/* free */
	if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
		CALL(pthread_mutex_unlock(&m));
	if (CALL(pthread_mutex_timedlock(&m, BAD)) == 0)
		CALL(pthread_mutex_unlock(&m));
	if (CALL(pthread_mutex_clocklock(&m, NO_CLOCK, PAST)) == 0)
		CALL(pthread_mutex_unlock(&m));
	if (CALL(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, PAST)) == 0)
		CALL(pthread_mutex_unlock(&m));
	if (CALL(pthread_mutex_trylock(&m)) == 0)
		CALL(pthread_mutex_unlock(&m));
	if (type == PTHREAD_MUTEX_RECURSIVE && CALL(pthread_mutex_lock(&m)) == 0) {
		unsigned count = m.__data.__count;

		m.__data.__count = UINT_MAX;
		CALL(pthread_mutex_lock(&m));		/* EAGAIN */
		CALL(pthread_mutex_trylock(&m));
		m.__data.__count = count;
		CALL(pthread_mutex_unlock(&m));
	}
	if (robust != PTHREAD_MUTEX_ROBUST)
		goto out;
	elsewhere(mutex_die_holding, &m);
	if (CALL(pthread_mutex_lock(&m)) == EOWNERDEAD) {
		if (!CALL(pthread_mutex_trylock(&m)))
			CALL(pthread_mutex_unlock(&m));
		elsewhere(mutex_taken, &m);
		log_add("consistent", pthread_mutex_consistent(&m), 0);
		CALL(pthread_mutex_unlock(&m));
		CALL(pthread_mutex_lock(&m));
		CALL(pthread_mutex_unlock(&m));
	}
	elsewhere(mutex_die_holding, &m);
	CALL(pthread_mutex_trylock(&m));	/* EOWNERDEAD: taken */
	CALL(pthread_mutex_unlock(&m));		/* and never usable again */
	CALL(pthread_mutex_lock(&m));
	CALL(pthread_mutex_timedlock(&m, SOON));
	CALL(pthread_mutex_trylock(&m));
out:
	pthread_mutex_destroy(&m);
	pthread_mutexattr_destroy(&a);
}

static void mutex_types(int protocol, int robust)
{
	static const int types[] = {
		PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
		PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP,
	};

	for (unsigned n = 0; n < 4; n++)
		mutex_scenario(types[n], protocol, robust, n & 1);
}

static void mutex_none(void) { mutex_types(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED); }
static void mutex_robust(void) { mutex_types(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST); }
static void mutex_pi(void) { mutex_types(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED); }
static void mutex_pi_robust(void) { mutex_types(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST); }
static void mutex_pp(void) { mutex_types(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_STALLED); }

/* Read-write locks and spin locks */

static void *rwlock_from_elsewhere(void *p)
{
	pthread_rwlock_t *l = p;

	if (!CALL(pthread_rwlock_tryrdlock(l)))
		CALL(pthread_rwlock_unlock(l));
	if (!CALL(pthread_rwlock_trywrlock(l)))
		CALL(pthread_rwlock_unlock(l));
	if (!CALL(pthread_rwlock_timedrdlock(l, SOON)))
		CALL(pthread_rwlock_unlock(l));
	if (!CALL(pthread_rwlock_timedwrlock(l, SOON)))
		CALL(pthread_rwlock_unlock(l));
	if (!CALL(pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, SOON_M)))
		CALL(pthread_rwlock_unlock(l));
	if (!CALL(pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, SOON_M)))
		CALL(pthread_rwlock_unlock(l));
	return NULL;
}

/* These timeouts and clocks are refused even when the lock is free. */
static void rwlock_bad_times(pthread_rwlock_t *l)
{
	CALL(pthread_rwlock_timedrdlock(l, BAD));
	CALL(pthread_rwlock_timedwrlock(l, NEGATIVE));
	CALL(pthread_rwlock_clockrdlock(l, NO_CLOCK, PAST));
	CALL(pthread_rwlock_clockwrlock(l, NO_CLOCK, PAST));
	CALL(pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, BAD));
	CALL(pthread_rwlock_clockwrlock(l, CLOCK_REALTIME, BAD));
}

static void rwlock_kinds(void)
{
	for (int kind = 0; kind < 3; kind++) {
		pthread_rwlockattr_t a;
		pthread_rwlock_t l;

		pthread_rwlockattr_init(&a);
		pthread_rwlockattr_setkind_np(&a, kind);
		pthread_rwlock_init(&l, &a);
		CALL(pthread_rwlock_rdlock(&l));
		CALL(pthread_rwlock_rdlock(&l));
		CALL(pthread_rwlock_timedwrlock(&l, SOON));
		elsewhere(rwlock_from_elsewhere, &l);
		rwlock_bad_times(&l);
		CALL(pthread_rwlock_unlock(&l));
		CALL(pthread_rwlock_unlock(&l));
		CALL(pthread_rwlock_wrlock(&l));
		CALL(pthread_rwlock_wrlock(&l));	/* EDEADLK */
		CALL(pthread_rwlock_rdlock(&l));	/* EDEADLK */
		CALL(pthread_rwlock_timedrdlock(&l, SOON));
		CALL(pthread_rwlock_tryrdlock(&l));
		elsewhere(rwlock_from_elsewhere, &l);
		CALL(pthread_rwlock_unlock(&l));
		rwlock_bad_times(&l);
		elsewhere(rwlock_from_elsewhere, &l);
		pthread_rwlock_destroy(&l);
		pthread_rwlockattr_destroy(&a);
	}
}

static void *spin_elsewhere(void *p)
{
	CALL(pthread_spin_trylock(p));
	return NULL;
}

static void spin(void)
{
	pthread_spinlock_t l;

	pthread_spin_init(&l, 0);
	CALL(pthread_spin_lock(&l));
	elsewhere(spin_elsewhere, (void *)&l);
	CALL(pthread_spin_trylock(&l));
	CALL(pthread_spin_unlock(&l));
	CALL(pthread_spin_trylock(&l));
	CALL(pthread_spin_unlock(&l));
}

/* Conditions */

struct cond {
	pthread_mutex_t m;
	pthread_cond_t c;
	int state;
};

static void *cond_signaller(void *p)
{
	struct cond *c = p;

	next_table.pthread_mutex_lock(&c->m);
	c->state = 1;
	pthread_cond_signal(&c->c);
	next_table.pthread_mutex_unlock(&c->m);
	return NULL;
}

static void cond_types(int type)
{
	struct cond c = { .c = PTHREAD_COND_INITIALIZER };
	pthread_mutexattr_t a;
	pthread_t t;
	int rc = 0;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	pthread_mutex_init(&c.m, &a);
	CALL(pthread_mutex_lock(&c.m));
	CALL(pthread_cond_timedwait(&c.c, &c.m, SOON));
	CALL(pthread_cond_timedwait(&c.c, &c.m, PAST));
	CALL(pthread_cond_timedwait(&c.c, &c.m, BAD));
	CALL(pthread_cond_clockwait(&c.c, &c.m, CLOCK_MONOTONIC, SOON_M));
	CALL(pthread_cond_clockwait(&c.c, &c.m, NO_CLOCK, PAST));
	CALL(pthread_cond_clockwait(&c.c, &c.m, CLOCK_REALTIME, NEGATIVE));
	pthread_create(&t, NULL, cond_signaller, &c);
	errno = ERRNO_BEFORE;
	while (!c.state && !rc)
		rc = fn->pthread_cond_wait(&c.c, &c.m);
	log_add("cond_wait, signalled", rc, errno);
	CALL(pthread_mutex_unlock(&c.m));
	next_table.pthread_join(t, NULL);
	if (type == PTHREAD_MUTEX_ERRORCHECK) {
		/* EPERM: the thread does not own the mutex */
		CALL(pthread_cond_wait(&c.c, &c.m));
		CALL(pthread_cond_timedwait(&c.c, &c.m, PAST));
	}
	CALL(pthread_mutex_trylock(&c.m));
	CALL(pthread_mutex_unlock(&c.m));
}

static void cond(void)
{
	cond_types(PTHREAD_MUTEX_NORMAL);
	cond_types(PTHREAD_MUTEX_ERRORCHECK);
	cond_types(PTHREAD_MUTEX_RECURSIVE);
	cond_types(PTHREAD_MUTEX_ADAPTIVE_NP);
}

/* Semaphores, barriers, joins */

static void nothing(int sig)
{
	(void)sig;
}

static _Atomic bool interrupted, may_end;

static void *interrupt(void *p)
{
	while (!interrupted) {
		usleep(3000);
		pthread_kill(*(pthread_t *)p, SIGUSR1);
	}
	return NULL;
}

static void *post(void *p)
{
	usleep(3000);
	sem_post(p);
	return NULL;
}

static void semaphore(void)
{
	struct sigaction sa = { .sa_handler = nothing };
	pthread_t t, me = pthread_self();
	sem_t s;

	sigaction(SIGUSR1, &sa, NULL);
	sem_init(&s, 0, 2);
	CALL(sem_wait(&s));
	CALL(sem_timedwait(&s, PAST));
	CALL(sem_timedwait(&s, PAST));
	CALL(sem_timedwait(&s, SOON));
	CALL(sem_clockwait(&s, CLOCK_MONOTONIC, SOON_M));
	sem_post(&s);
	/* refused although it is free */
	CALL(sem_timedwait(&s, BAD));
	CALL(sem_timedwait(&s, NEGATIVE));
	CALL(sem_clockwait(&s, NO_CLOCK, PAST));
	CALL(sem_clockwait(&s, CLOCK_REALTIME, BAD));
	CALL(sem_clockwait(&s, CLOCK_REALTIME, PAST));
	interrupted = false;
	pthread_create(&t, NULL, interrupt, &me);
	CALL(sem_wait(&s));		/* EINTR */
	interrupted = true;
	next_table.pthread_join(t, NULL);
	pthread_create(&t, NULL, post, &s);
	CALL(sem_wait(&s));		/* blocks, and leaves errno alone */
	next_table.pthread_join(t, NULL);
	sem_destroy(&s);
}

static void *at_barrier(void *p)
{
	return (void *)(long)fn->pthread_barrier_wait(p);
}

static void barrier(void)
{
	pthread_barrier_t b;
	pthread_t t;
	void *other;
	int rc;

	pthread_barrier_init(&b, NULL, 2);
	pthread_create(&t, NULL, at_barrier, &b);
	errno = ERRNO_BEFORE;
	rc = fn->pthread_barrier_wait(&b);
	next_table.pthread_join(t, &other);
	log_add("one of two is the serial thread", rc + (int)(long)other, errno);
	pthread_barrier_destroy(&b);
	pthread_barrier_init(&b, NULL, 1);
	CALL(pthread_barrier_wait(&b));
	pthread_barrier_destroy(&b);
}

static void *sleeper(void *p)
{
	while (!may_end)
		usleep(500);
	return p;
}

static void *soon_over(void *p)
{
	usleep(3000);
	return p;
}

static void *return_at_once(void *p)
{
	return p;
}

static void join(void)
{
	void *ret = NULL;
	pthread_t t;

	may_end = false;
	pthread_create(&t, NULL, sleeper, (void *)77L);
	CALL(pthread_timedjoin_np(t, &ret, PAST));
	CALL(pthread_timedjoin_np(t, &ret, SOON));
	CALL(pthread_clockjoin_np(t, &ret, CLOCK_MONOTONIC, PAST));
	CALL(pthread_clockjoin_np(t, &ret, NO_CLOCK, PAST));
	may_end = true;
	CALL(pthread_join(t, &ret));
	log_add("its value", (long)ret, 0);
	pthread_create(&t, NULL, soon_over, (void *)78L);
	CALL(pthread_timedjoin_np(t, &ret, FAR_OFF));
	log_add("its value", (long)ret, 0);
	pthread_create(&t, NULL, return_at_once, (void *)79L);
	CALL(pthread_clockjoin_np(t, &ret, CLOCK_REALTIME, FAR_OFF));
	log_add("its value", (long)ret, 0);
	CALL(pthread_join(pthread_self(), NULL));	/* EDEADLK */
	may_end = false;
	pthread_create(&t, NULL, sleeper, NULL);
	pthread_detach(t);
	CALL(pthread_join(t, NULL));			/* EINVAL */
	may_end = true;
	usleep(10000);
}

/* C11 */

static void *c11_taken(void *p)
{
	CALL(mtx_trylock(p));
	CALL(mtx_timedlock(p, SOON));
	CALL(mtx_timedlock(p, BAD));
	return NULL;
}

static int c11_thread(void *p)
{
	usleep(2000);
	return *(int *)p;
}

static void c11(void)
{
	static const int types[] = {
		mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive,
	};
	int value = 55, ret = 0;
	cnd_t c;
	thrd_t t;

	cnd_init(&c);
	for (unsigned n = 0; n < 4; n++) {
		mtx_t m;

		mtx_init(&m, types[n]);
		CALL(mtx_lock(&m));
		elsewhere(c11_taken, &m);
		CALL(mtx_trylock(&m));
		if (types[n] & mtx_recursive) {
			CALL(mtx_lock(&m));
			CALL(mtx_timedlock(&m, PAST));
			CALL(mtx_unlock(&m));
			CALL(mtx_unlock(&m));
			CALL(mtx_unlock(&m));
		}
		CALL(cnd_timedwait(&c, &m, SOON));
		CALL(cnd_timedwait(&c, &m, BAD));
		CALL(mtx_unlock(&m));
		CALL(mtx_timedlock(&m, PAST));
		CALL(mtx_unlock(&m));
		mtx_destroy(&m);
	}
	thrd_create(&t, c11_thread, &value);
	CALL(thrd_join(t, &ret));
	log_add("its value", ret, 0);
	cnd_destroy(&c);
}

static const struct scenario {
	const char *name;
	void (*f)(void);
} scenarios[] = {
	{ "mutex", mutex_none },
	{ "robust mutex", mutex_robust },
	{ "priority-inheriting mutex", mutex_pi },
	{ "priority-inheriting robust mutex", mutex_pi_robust },
	{ "priority-protecting mutex", mutex_pp },
	{ "rwlock", rwlock_kinds },
	{ "spin lock", spin },
	{ "condition", cond },
	{ "semaphore", semaphore },
	{ "barrier", barrier },
	{ "join", join },
	{ "C11", c11 },
};

static const struct state {
	const char *name;
	bool on, in_hook, unregistered;
	enum ldb_mutex_level level;
} states[] = {
	{ .name = "nobody records" },
	{ .name = "recording without locks", .on = true, .level = LDB_MUTEX_OFF },
	{ .name = "level wait", .on = true, .level = LDB_MUTEX_WAIT },
	{ .name = "level hold", .on = true, .level = LDB_MUTEX_HOLD },
	{ .name = "in a hook", .on = true, .level = LDB_MUTEX_HOLD, .in_hook = true },
	{ .name = "thread unknown", .on = true, .level = LDB_MUTEX_HOLD, .unregistered = true },
};

static bool in_hook;

/*
 * SCHED_FIFO is needed to lock a priority-protecting mutex.  Where it is not allowed, both sides
 * fail alike.
 */
static void *scenario_thread(void *f)
{
	struct sched_param prio = { .sched_priority = 1 };

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &prio);
	if (in_hook)
		thread_self()->list->in_hook = 1;
	((void (*)(void))f)();
	if (in_hook)
		thread_self()->list->in_hook = 0;
	return NULL;
}

/* A scenario runs in a thread of its own, because glibc keeps track of priorities per thread. */
static void run_scenario(const struct scenario *s, const struct next *functions, struct log *log)
{
	fn = functions;
	log_now = log;
	log->nr = 0;
	elsewhere(scenario_thread, (void *)s->f);
}

static void compare(const struct scenario *s, const struct state *st,
		    const struct log *want, const struct log *got)
{
	bool same = want->nr == got->nr;

	for (unsigned n = 0; same && n < want->nr; n++)
		same = want->rc[n] == got->rc[n] && want->err[n] == got->err[n];
	ok(same && want->nr, "%s, %s: %u calls answer alike", s->name, st->name, want->nr);
	for (unsigned n = 0; !same && n < want->nr && n < got->nr; n++)
		if (want->rc[n] != got->rc[n] || want->err[n] != got->err[n]) {
			diag("call %u, %s: %d errno %d, libc %d errno %d", n, got->what[n],
			     got->rc[n], got->err[n], want->rc[n], want->err[n]);
			break;
		}
}

int main(void)
{
	static struct log want, got;

	shim_init();
	ok(symbol_next("pthread_cond_wait", NULL) ==
	   dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2") && symbol_lockless() &&
	   next_table.pthread_cond_wait != pthread_cond_wait,
	   "the wrappers call the current versions of the condition functions");
	for (unsigned i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		const struct scenario *s = &scenarios[i];

		run_scenario(s, &next_table, &want);
		for (unsigned j = 0; j < sizeof(states) / sizeof(*states); j++) {
			const struct state *st = &states[j];

			if (st->on)
				harness_start(st->level, 0);
			in_hook = st->in_hook;
			unregistered = st->unregistered;
			run_scenario(s, &harness_shim, &got);
			harness_stop();
			in_hook = unregistered = false;
			compare(s, st, &want, &got);
		}
	}
	return done();
}
