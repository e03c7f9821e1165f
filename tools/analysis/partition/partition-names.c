// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores texts, classes, call paths and leaves of a partition, each once, with a number that never
 * changes. There are hash tables for texts, paths and leaves; classes are few.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "partition-private.h"

struct partition_names {
	struct intern texts;
	struct hash paths, leaves;
	size_t room_paths, room_leaves, room_locks, room_queues, room_classes;
};

/* Texts */

const char *partition_intern(struct partition *p, const char *text)
{
	return intern_text(&p->names->texts, text);
}

uint32_t partition_class(struct partition *p, const char *name)
{
	const char *text;

	for (size_t i = p->nr_classes; i-- > 0;)
		if (!strcmp(p->classes[i], name))
			return i;
	text = partition_intern(p, name);
	if (!text || array_push(p->classes, p->nr_classes, p->names->room_classes, text))
		return UINT32_MAX;
	return p->nr_classes - 1;
}

/* Paths: a node is a function with its callers, whichever of its addresses was observed */

/* `queue`: the path's, or NULL */
static uint64_t hash_path(const struct path *path, const struct path_queue *queue)
{
	uint64_t hash = hash_mix(path->parent + 1, queue ? queue->address : 0);

	if (path->func) {
		hash = hash_mix(hash, (uintptr_t)path->func->function);
		hash = hash_mix(hash, (uintptr_t)path->func->func_file);
		hash = hash_mix(hash, (uintptr_t)path->func->path);
	}
	return hash_mix(hash, queue != NULL);
}

bool path_same_function(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a && b && a->function == b->function && a->func_file == b->func_file &&
			  a->path == b->path);
}

static bool has_queue(const struct partition *p, const struct path *path,
		      const struct path_queue *queue)
{
	if (!path_is_queue(path) || !queue)
		return !path_is_queue(path) && !queue;
	return p->queues[path->queue - 1].address == queue->address;
}

static bool same_path(const struct path *a, const struct path *b)
{
	return a->parent == b->parent && path_same_function(a->func, b->func);
}

static uint32_t number_path(struct partition *p, struct path path, const struct path_queue *queue)
{
	struct partition_names *names = p->names;
	uint64_t hash = hash_path(&path, queue);
	uint32_t n;

	hash_each(&names->paths, hash, n)
		if (same_path(&p->paths[n], &path) && has_queue(p, &p->paths[n], queue))
			return n;
	if (queue) {
		if (array_push(p->queues, p->nr_queues, names->room_queues, *queue))
			return UINT32_MAX;
		path.queue = p->nr_queues;
	}
	if (array_push(p->paths, p->nr_paths, names->room_paths, path) ||
	    hash_add(&names->paths, hash, p->nr_paths - 1))
		return UINT32_MAX;
	return p->nr_paths - 1;
}

uint32_t partition_path(struct partition *p, uint32_t parent, const struct symbol *func)
{
	if (p->paths[parent].depth >= PATH_DEPTH_MAX)
		return parent;
	return number_path(p, (struct path){ .parent = parent, .depth = p->paths[parent].depth + 1,
				      .func = func }, NULL);
}

uint32_t partition_queue_path(struct partition *p, uint64_t queue, int64_t tick)
{
	return number_path(p, (struct path){ .depth = 1 }, &(struct path_queue){
		.address = queue,
		.symbol = queue ? symtab_lookup_data(p->m->symtab, queue, tick) : NULL,
	});
}

const char *path_name(const struct partition *p, uint32_t path)
{
	const struct path *at = &p->paths[path];
	const struct path_queue *queue;
	char text[256];
	const char *name;

	if (at->func)
		return at->func->function;
	if (!path_is_queue(at))
		return "";
	queue = &p->queues[at->queue - 1];
	if (queue->symbol && queue->symbol->known)
		snprintf(text, sizeof(text), "queue %s", queue->symbol->function);
	else if (queue->address)
		snprintf(text, sizeof(text), "queue 0x%llx", (unsigned long long)queue->address);
	else
		snprintf(text, sizeof(text), "queue");
	name = partition_intern((struct partition *)p, text);
	return name ? name : "queue";
}

char *path_text(const struct partition *p, uint32_t path, char *buf, size_t size)
{
	uint32_t at[PATH_DEPTH_MAX + 2];
	size_t nr = 0, used = 0;

	for (; path && nr < PATH_DEPTH_MAX + 2; path = p->paths[path].parent)
		at[nr++] = path;
	if (size)
		*buf = '\0';
	while (nr-- > 0 && used + 1 < size)
		used += snprintf(buf + used, size - used, "%s%s", used ? ";" : "",
				 path_name(p, at[nr]));
	return buf;
}

/* Leaves */

uint32_t partition_leaf(struct partition *p, enum leaf_kind kind, uint32_t path,
			const char *label, const struct leaf_lock *lock)
{
	struct leaf new = { .kind = kind, .path = path, .label = partition_intern(p, label) };
	struct partition_names *names = p->names;
	uint64_t hash = hash_mix(hash_mix(kind + 1, path), (uintptr_t)new.label);
	uint32_t n;

	if (path == UINT32_MAX || !new.label)
		return NO_LEAF;
	hash_each(&names->leaves, hash, n) {
		const struct leaf *at = &p->leaves[n];

		if (at->kind == kind && at->path == path && at->label == new.label)
			return n;
	}
	if (lock) {
		if (array_push(p->locks, p->nr_locks, names->room_locks, *lock))
			return NO_LEAF;
		new.lock = p->nr_locks;
	}
	if (array_push(p->leaves, p->nr_leaves, names->room_leaves, new) ||
	    hash_add(&names->leaves, hash, p->nr_leaves - 1))
		return NO_LEAF;
	return p->nr_leaves - 1;
}

uint32_t partition_function(struct partition *p, uint32_t path)
{
	if (path == UINT32_MAX)
		return NO_LEAF;
	if (!p->paths[path].leaf)
		p->paths[path].leaf = partition_leaf(p, LEAF_FUNCTION, path, "", NULL) + 1;
	return p->paths[path].leaf - 1;
}

int partition_names_open(struct partition *p)
{
	p->names = calloc(1, sizeof(*p->names));
	if (!p->names)
		return -ENOMEM;
	return number_path(p, (struct path){ .func = NULL }, NULL) == UINT32_MAX ? -ENOMEM : 0;
}

void partition_names_settle(struct partition *p)
{
	hash_free(&p->names->paths);
	hash_free(&p->names->leaves);
}

void partition_names_close(struct partition *p)
{
	struct partition_names *names = p->names;

	if (!names)
		return;
	intern_free(&names->texts);
	hash_free(&names->paths);
	hash_free(&names->leaves);
	free(names);
	p->names = NULL;
}
