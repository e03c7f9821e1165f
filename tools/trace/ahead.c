// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads ahead: while the caller uses the rows of a block, other threads decode the next blocks.
 * Blocks are numbered in the order in which they are needed, and block n uses slot n % nr_slots, so
 * the caller gets them in order.  If no thread has begun the next block yet, the caller decodes it
 * itself.
 */
#include <pthread.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "trace/cursor-private.h"

#define HELPERS_MAX	6U
/* if all blocks together have fewer rows, none is read ahead, because that would be slower */
#define ROWS_MIN	(3 * LDB_BLOCK_ROWS)

struct slot {
	struct decoder d;
	struct block *block;
	size_t nr;		/* rows */
	int rc;
	bool is_ready;
};

struct ahead {
	struct query q;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t next_block;	/* next block to test with the filter */
	size_t begun, taken;	/* numbers of the next block to decode, and of the block in use */
	bool has_taken, stop;
	pthread_t threads[HELPERS_MAX];
	unsigned nr_threads, nr_slots;
	struct slot slots[HELPERS_MAX + 2];
};

static struct slot *slot_of(struct ahead *a, size_t number)
{
	return &a->slots[number % a->nr_slots];
}

/* Returns a slot for the next block; NULL: there is no such block, or no slot is free. */
static struct slot *claim_block(struct ahead *a)
{
	const struct reader *r = a->q.r;
	struct slot *s;

	if (a->begun - a->taken >= a->nr_slots)
		return NULL;
	while (a->next_block < r->nr_blocks && !query_wants(&a->q, &r->blocks[a->next_block]))
		a->next_block++;
	if (a->next_block == r->nr_blocks)
		return NULL;
	s = slot_of(a, a->begun++);
	s->block = &r->blocks[a->next_block++];
	s->is_ready = false;
	return s;
}

/* Called with the lock held; releases it while it decodes. */
static void decode_slot(struct ahead *a, struct slot *s)
{
	pthread_mutex_unlock(&a->lock);
	s->rc = query_decode(&a->q, &s->d, s->block, &s->nr);
	pthread_mutex_lock(&a->lock);
	s->is_ready = true;
	pthread_cond_broadcast(&a->changed);
}

static void *decode_ahead(void *arg)
{
	struct ahead *a = arg;
	struct slot *s;

	pthread_mutex_lock(&a->lock);
	while (!a->stop && !(a->next_block == a->q.r->nr_blocks)) {
		s = claim_block(a);
		if (s)
			decode_slot(a, s);
		else if (a->next_block < a->q.r->nr_blocks)
			pthread_cond_wait(&a->changed, &a->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static bool is_worth_it(const struct query *q)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < q->r->nr_blocks && rows < ROWS_MIN; i++)
		if (query_wants(q, &q->r->blocks[i]))
			rows += q->r->blocks[i].i.rows;
	return rows >= ROWS_MIN;
}

struct ahead *ahead_open(const struct query *q)
{
	struct ahead *a;
	unsigned nr;

	if (!schema_find(q->kind) || !is_worth_it(q))
		return NULL;
	nr = min(reader_nr_threads() - 1, HELPERS_MAX);
	a = nr ? calloc(1, sizeof(*a)) : NULL;
	if (!a)
		return NULL;
	a->q = *q;
	a->nr_slots = nr + 2;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	while (a->nr_threads < nr &&
	       !pthread_create(&a->threads[a->nr_threads], NULL, decode_ahead, a))
		a->nr_threads++;
	return a;
}

void ahead_close(struct ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < a->nr_threads; i++)
		pthread_join(a->threads[i], NULL);
	for (unsigned i = 0; i < a->nr_slots; i++)
		decoder_exit(&a->slots[i].d);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	free(a);
}

/* Frees the slot whose rows the caller used. */
static void release_slot(struct ahead *a)
{
	if (!a->has_taken)
		return;
	a->has_taken = false;
	a->taken++;
	pthread_cond_broadcast(&a->changed);
}

int ahead_next(struct ahead *a, const void **rows, size_t *nr)
{
	struct slot *s;
	int rc = 0;

	pthread_mutex_lock(&a->lock);
	while (!rc) {
		release_slot(a);
		if (a->begun == a->taken) {
			s = claim_block(a);
			if (!s)
				break;
			decode_slot(a, s);
		}
		s = slot_of(a, a->taken);
		while (!s->is_ready)
			pthread_cond_wait(&a->changed, &a->lock);
		a->has_taken = true;
		rc = s->rc;
		*rows = s->d.rows;
		*nr = s->nr;
	}
	pthread_mutex_unlock(&a->lock);
	return rc;
}
