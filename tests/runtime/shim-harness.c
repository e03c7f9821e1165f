// SPDX-License-Identifier: GPL-2.0-or-later
/* See shim-harness.h. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "runtime/runtime.h"
#include "shim-harness.h"

#define RECORDS_MAX	(1 << 20)

__attribute__((visibility("hidden"))) union session_page session_page;
static struct thread *_Atomic live_table[THREADS_MAX];
struct thread *_Atomic *_Atomic live = live_table;
_Atomic uint32_t nr_live;

__thread uint64_t harness_gen;
__thread bool harness_unregistered;
__thread struct ldb_thread harness_block = { NULL, LDB_CANARY };
unsigned harness_nr_quiesce;
void (*harness_on_write)(void);
_Atomic uint64_t harness_clock;

static __thread struct thread *self;
static pthread_key_t exit_key;
static union harness_rec records[RECORDS_MAX];
static _Atomic unsigned nr_records;

/* Needed by unwind.c; nothing here throws. */
void _Unwind_SetIP(struct _Unwind_Context *context, uintptr_t ip);

const struct next harness_shim = {
#define INIT(name)	.name = name,
#define ACQUIRE(name, ...)	INIT(name)
#define TRY(name, ...)		INIT(name)
#define RELEASE(name, ...)	INIT(name)
#define COND(name, ...)		INIT(name)
#define SEM(name, ...)		INIT(name)
#define WAIT(name, ...)		INIT(name)
#define WAKE(name, ...)		INIT(name)
#include "shim/list.h"
};

static void thread_gone(void *p)
{
	struct thread *t = p;

	shim_thread_exit(t);
	t->tp = 0;
	harness_unregistered = true;
}

__attribute__((constructor(101))) static void harness_init(void)
{
	shim_locate((uintptr_t)&harness_gen - cpu_thread_pointer());
	pthread_key_create(&exit_key, thread_gone);
}

static void stack_bounds(struct thread *t)
{
	pthread_attr_t attr;
	void *lo;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attr))
		abort();
	pthread_attr_getstack(&attr, &lo, &size);
	pthread_attr_destroy(&attr);
	t->stack_lo = (uintptr_t)lo;
	t->stack_hi = t->stack_lo + size;
}

struct thread *(*thread_on_unknown)(void);

struct thread *thread_self(void)
{
	static struct thread pool[THREADS_MAX];
	struct thread *t = self;
	uint32_t n;

	if (harness_unregistered)
		return NULL;
	if (t)
		return t;
	n = atomic_fetch_add(&nr_live, 1);
	if (n >= THREADS_MAX)
		abort();
	t = &pool[n];
	t->tid = syscall(SYS_gettid);
	t->tp = (uintptr_t)pthread_self();
	stack_bounds(t);
	shim_thread_enter(t);
	self = t;
	atomic_store(&live[n], t);
	pthread_setspecific(exit_key, t);
	return t;
}

uint64_t thread_gen(void)
{
	return harness_gen & ~(LDB_GEN_ONE - 1);
}

unsigned blocks_of_self(struct ldb_thread **v, unsigned max)
{
	if (!max)
		return 0;
	v[0] = &harness_block;
	return 1;
}

void *raw_map(size_t size)
{
	return calloc(1, size);
}

void scan_quiesce(void)
{
	harness_nr_quiesce++;
}

/* No thread has a filter of system calls here. */
bool priority_filters_differ(void)
{
	return false;
}

/* No stub calls a wrapper here. */
uintptr_t flow_site(uintptr_t ret)
{
	return ret;
}

void flow_leave(uintptr_t sp, uintptr_t here)
{
	(void)sp;
	(void)here;
}

uint64_t session_clock(void)
{
	uint64_t set = atomic_load(&harness_clock);

	return set ? set : cpu_tsc();
}

uint64_t session_clock_after_stores(void)
{
	return session_clock();
}

void ring_write(struct ldb_rec *slots, unsigned nr)
{
	unsigned n = atomic_fetch_add(&nr_records, 1);

	if (n >= RECORDS_MAX || nr < 2 || nr > 3)
		abort();
	memcpy(&records[n], slots, nr * sizeof(*slots));
	if (harness_on_write)
		harness_on_write();
}

void harness_start(enum ldb_mutex_level level, uint64_t threshold)
{
	atomic_store(&nr_records, 0);
	session_page.a.mutex_level = level;
	session_page.a.lock_threshold = threshold;
	shim_begin();
	session_publish(&session_page.a, false);
}

void harness_stop(void)
{
	atomic_store(&session_page.a.on, 0);
}

void harness_reattach(void)
{
	harness_stop();
	shim_begin();
	session_publish(&session_page.a, false);
}

unsigned harness_nr(void)
{
	return atomic_load(&nr_records);
}

const union harness_rec *harness_rec(unsigned n)
{
	return &records[n];
}

static bool match(const struct ldb_lock_rec *r, unsigned type, unsigned kind,
		  const volatile void *object)
{
	return (!type || r->type == type) && (!kind || LDB_LOCK_KIND(r->flags) == kind) &&
	       (!object || r->lock == (uintptr_t)object);
}

unsigned harness_count(unsigned type, unsigned kind, const volatile void *object)
{
	unsigned count = 0;

	for (unsigned n = 0; n < harness_nr(); n++)
		count += match(&records[n].lock, type, kind, object);
	return count;
}

const struct ldb_lock_rec *harness_last(unsigned type, unsigned kind, const volatile void *object)
{
	static const struct ldb_lock_rec none;

	for (unsigned n = harness_nr(); n-- > 0;)
		if (match(&records[n].lock, type, kind, object))
			return &records[n].lock;
	return &none;
}

uint64_t harness_site(const struct ldb_lock_rec *r)
{
	return (uint64_t)r->site_hi << 32 | r->site_lo;
}

void harness_wait_asleep(int tid)
{
	char path[64], line[512], *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	for (;;) {
		f = fopen(path, "r");
		if (!f || !fgets(line, sizeof(line), f))
			abort();
		fclose(f);
		state = strrchr(line, ')');	/* the name may contain anything */
		if (state && state[1] && state[2] == 'S')
			return;
		usleep(200);
	}
}
