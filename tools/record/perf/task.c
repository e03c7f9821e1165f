// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include "base/array.h"
#include "record/perf/task.h"

void task_table_free(struct task_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->tasks[i]);
	free(t->tasks);
	hash_free(&t->by_key);
}

struct task *task_find(const struct task_table *t, int32_t key)
{
	uint32_t n;

	hash_each(&t->by_key, hash_mix(0, key), n)
		if (t->tasks[n]->key == key)
			return t->tasks[n];
	return NULL;
}

struct task *task_get(struct task_table *t, int32_t key)
{
	struct task *task = task_find(t, key);

	if (task)
		return task;
	if (!array_room(&t->tasks, &t->room, t->nr, sizeof(*t->tasks)) || hash_reserve(&t->by_key))
		return NULL;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->key = key;
	task->waits_for = -1;
	task->number = t->nr;
	hash_put(&t->by_key, hash_mix(0, key), t->nr);
	t->tasks[t->nr++] = task;
	return task;
}

/* The last task in the table takes the place of the removed one. */
void task_remove(struct task_table *t, struct task *task)
{
	struct task *last = t->tasks[t->nr - 1];

	hash_remove(&t->by_key, hash_mix(0, task->key), task->number);
	if (task != last) {
		hash_remove(&t->by_key, hash_mix(0, last->key), last->number);
		last->number = task->number;
		t->tasks[last->number] = last;
		hash_put(&t->by_key, hash_mix(0, last->key), last->number);
	}
	t->nr--;
	free(task);
}
