// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table of threads. */
#include <stdlib.h>
#include "record/perf-task.h"

#define BUCKETS_FIRST	1024

struct task_table {
	struct task **buckets;
	uint32_t nr_buckets, nr;	/* nr_buckets: a power of two */
};

struct task_table *task_table_alloc(void)
{
	struct task_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->nr_buckets = BUCKETS_FIRST;
	t->buckets = calloc(t->nr_buckets, sizeof(*t->buckets));
	if (t->buckets)
		return t;
	free(t);
	return NULL;
}

void task_table_free(struct task_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_buckets; i++) {
		while (t->buckets[i]) {
			struct task *task = t->buckets[i];

			t->buckets[i] = task->next;
			free(task);
		}
	}
	free(t->buckets);
	free(t);
}

/* Numbers are given out one after the other: their low bits are all it takes. */
static struct task **bucket(struct task **buckets, uint32_t nr, int32_t key)
{
	return &buckets[(uint32_t)key & (nr - 1)];
}

static struct task **find(struct task_table *t, int32_t key)
{
	struct task **p = bucket(t->buckets, t->nr_buckets, key);

	while (*p && (*p)->key != key)
		p = &(*p)->next;
	return p;
}

struct task *task_find(struct task_table *t, int32_t key)
{
	return *find(t, key);
}

/* Without the memory it just gets slower. */
static void grow(struct task_table *t)
{
	uint32_t nr = 2 * t->nr_buckets;
	struct task **buckets = calloc(nr, sizeof(*buckets));

	if (!buckets)
		return;
	for (uint32_t i = 0; i < t->nr_buckets; i++) {
		while (t->buckets[i]) {
			struct task *task = t->buckets[i];
			struct task **to = bucket(buckets, nr, task->key);

			t->buckets[i] = task->next;
			task->next = *to;
			*to = task;
		}
	}
	free(t->buckets);
	t->buckets = buckets;
	t->nr_buckets = nr;
}

struct task *task_get(struct task_table *t, int32_t key)
{
	struct task **p = find(t, key), *task = *p;

	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->key = key;
	task->waits_for = -1;
	*p = task;
	if (++t->nr > t->nr_buckets)
		grow(t);
	return task;
}

void task_remove(struct task_table *t, int32_t key)
{
	struct task **p = find(t, key), *task = *p;

	if (!task)
		return;
	*p = task->next;
	free(task);
	t->nr--;
}

void task_remove_if(struct task_table *t, bool (*fn)(const struct task *task))
{
	for (uint32_t i = 0; i < t->nr_buckets; i++) {
		struct task **p = &t->buckets[i];

		while (*p) {
			struct task *task = *p;

			if (!fn(task)) {
				p = &task->next;
				continue;
			}
			*p = task->next;
			free(task);
			t->nr--;
		}
	}
}

uint32_t task_count(const struct task_table *t)
{
	return t->nr;
}

void task_each(struct task_table *t, void (*fn)(void *arg, struct task *task), void *arg)
{
	for (uint32_t i = 0; i < t->nr_buckets; i++)
		for (struct task *task = t->buckets[i]; task; task = task->next)
			fn(arg, task);
}
