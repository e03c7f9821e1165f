// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The registry of the program's threads, with the offsets of their blocks.  create.c adds and
 * removes threads.  This file calls only raw.c and shim_gen_off(), so every other file may use it.
 */
#define _GNU_SOURCE
#include "runtime.h"

#define LIVE_FEW	16

DORMANT_PAGE struct raw_lock registry_lock;
DORMANT_PAGE static struct thread *_Atomic live_few[LIVE_FEW];
DORMANT_PAGE struct thread *_Atomic *_Atomic live = live_few;
DORMANT_PAGE _Atomic uint32_t nr_live;

/*
 * Entries are allocated in chunks, so that ldb has little memory in a program that is not recorded;
 * the program's mlockall() would lock all of it.  A chunk is never freed.
 */
#define CHUNK		64
DORMANT_PAGE static struct thread first_thread;
static struct thread first_few[LIVE_FEW];	/* entries from 1 on */
static struct thread *chunks[THREADS_MAX / CHUNK];	/* entries from LIVE_FEW on */
DORMANT_PAGE static uint32_t nr_threads;	/* entries ever used */
DORMANT_PAGE static struct thread *free_threads;
static TLS_IE struct thread *self;

DORMANT_PAGE intptr_t block_off[LDB_BLOCKS_MAX];
DORMANT_PAGE _Atomic uint32_t nr_blocks;

struct thread *(*thread_on_unknown)(void);

struct thread *thread_self(void)
{
	return self;
}

void thread_set_self(struct thread *t)
{
	self = t;
}

uint64_t thread_gen(void)
{
	if (!order_any_load(&nr_blocks))
		return 0;
	return cpu_thread_word(shim_gen_off()) & ~(LDB_GEN_ONE - 1);
}

unsigned blocks_of_self(struct ldb_thread **v, unsigned max)
{
	unsigned n = order_list_count(&nr_blocks);
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
 * Replaces the table live[] by one with room for THREADS_MAX threads.  The caller holds
 * registry_lock.  A reader that loads nr_live before `live` finds a table with at least that many
 * entries.
 */
static bool live_grow(void)
{
	struct thread *_Atomic *all = raw_map(THREADS_MAX * sizeof(*all));

	if (!all)
		return false;
	for (uint32_t i = 0; i < LIVE_FEW; i++)
		order_live_put(&all[i], order_live_get(&live_few[i]));
	live = all;
	return true;
}

/*
 * Returns an unused entry; NULL if there are too many, or no memory.  The caller holds
 * registry_lock.
 */
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

struct thread *thread_alloc(void)
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

void thread_free(struct thread *t)
{
	raw_lock(&registry_lock);
	order_thread_state_set(&t->state, THREAD_FREE);
	t->next_free = free_threads;
	free_threads = t;
	raw_unlock(&registry_lock);
}

void thread_add(struct thread *t)
{
	uint32_t n = order_live_count(&nr_live);

	order_thread_state_set(&t->state, THREAD_LIVE);
	order_live_put(&live[n], t);
	order_live_count_set(&nr_live, n + 1);
}

void thread_remove(struct thread *t)
{
	uint32_t n = order_live_count(&nr_live), i;

	for (i = 0; i < n && order_live_get(&live[i]) != t; i++)
		;
	order_thread_state_set(&t->state, THREAD_DYING);
	if (i == n)
		return;
	order_live_put(&live[i], order_live_get(&live[n - 1]));
	order_live_count_set(&nr_live, n - 1);
}

/* Frees the entries of all other threads. */
static void forget_others(const struct thread *t)
{
	uint32_t n = nr_threads;

	free_threads = NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct thread *other = thread_entry(i);

		if (other == t)
			continue;
		order_thread_state_set(&other->state, THREAD_FREE);
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
	if (nr_threads == 1 && order_live_count(&nr_live) == 1)
		first_thread.tid = sys(SYS_getpid);
}

/*
 * Writes to as few pages as possible, because a page is copied when the child first writes to it.
 */
void thread_fork_child(void)
{
	struct thread *t = self;

	if (nr_threads > 1)
		forget_others(t);
	if (!t) {
		order_live_count_set(&nr_live, 0);
		return;
	}
	t->tid = sys(SYS_gettid);
	t->slot = -1;
	t->scan = NULL;
	if (order_live_count(&nr_live) != 1 || order_live_get(&live[0]) != t) {
		order_live_put(&live[0], t);
		order_live_count_set(&nr_live, 1);
	}
}
