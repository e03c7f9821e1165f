// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Texts, classes, call paths and leaves of a partition: each is kept once and gets a
 * number, found through one hash table per kind.  A number, once given, stays.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition-private.h"

struct partition_names {
	struct numbers texts, paths, leaves;
	char **text;			/* by number */
	size_t room_text, room_paths, room_leaves, room_classes;
	uint32_t *functions;		/* by path: its FUNCTION leaf + 1; 0: none yet */
	size_t room_functions;
};

/* Texts */

static uint64_t text_hash(const void *arg, uint32_t n)
{
	const struct partition *p = arg;

	return numbers_hash_text(p->names->text[n], SIZE_MAX);
}

const char *partition_intern(struct partition *p, const char *text)
{
	struct partition_names *names = p->names;
	struct numbers *t = &names->texts;
	size_t i;

	if (!numbers_grow(t, text_hash, p))
		return NULL;
	for (i = numbers_hash_text(text, SIZE_MAX) & (t->room - 1); t->slots[i]; i = (i + 1) & (t->room - 1))
		if (!strcmp(names->text[t->slots[i] - 1], text))
			return names->text[t->slots[i] - 1];
	if (!array_room(&names->text, &names->room_text, t->nr, sizeof(*names->text)))
		return NULL;
	names->text[t->nr] = strdup(text);
	if (!names->text[t->nr])
		return NULL;
	t->slots[i] = ++t->nr;
	return names->text[t->nr - 1];
}

uint32_t partition_class(struct partition *p, const char *name)
{
	const char *text;

	for (size_t i = p->nr_classes; i-- > 0;)
		if (!strcmp(p->classes[i], name))
			return i;
	text = partition_intern(p, name);
	if (!text || !array_room(&p->classes, &p->names->room_classes, p->nr_classes,
				     sizeof(*p->classes)))
		return UINT32_MAX;
	p->classes[p->nr_classes] = text;
	return p->nr_classes++;
}

/* Paths: the same function, called the same way, whatever address in it was seen */

static uint64_t hash_path(const struct path *path)
{
	uint64_t hash = numbers_mix(path->parent + 1, path->is_queue ? path->queue : 0);

	if (path->func) {
		hash = numbers_mix(hash, (uintptr_t)path->func->function);
		hash = numbers_mix(hash, (uintptr_t)path->func->func_file);
		hash = numbers_mix(hash, (uintptr_t)path->func->path);
	}
	return numbers_mix(hash, path->is_queue);
}

static bool same_path(const struct path *a, const struct path *b)
{
	if (a->parent != b->parent || a->is_queue != b->is_queue || a->queue != b->queue ||
	    !a->func != !b->func)
		return false;
	return !a->func || (a->func->function == b->func->function &&
			    a->func->func_file == b->func->func_file &&
			    a->func->path == b->func->path);
}

static uint64_t path_hash(const void *arg, uint32_t n)
{
	const struct partition *p = arg;

	return hash_path(&p->paths[n]);
}

static uint32_t get_path(struct partition *p, const struct path *path)
{
	struct numbers *t = &p->names->paths;
	size_t i;

	if (!numbers_grow(t, path_hash, p))
		return UINT32_MAX;
	for (i = hash_path(path) & (t->room - 1); t->slots[i]; i = (i + 1) & (t->room - 1))
		if (same_path(&p->paths[t->slots[i] - 1], path))
			return t->slots[i] - 1;
	if (!array_room(&p->paths, &p->names->room_paths, p->nr_paths, sizeof(*p->paths)))
		return UINT32_MAX;
	p->paths[p->nr_paths++] = *path;
	t->slots[i] = ++t->nr;
	return p->nr_paths - 1;
}

uint32_t partition_path(struct partition *p, uint32_t parent, const struct symbol *func)
{
	if (p->paths[parent].depth >= PATH_DEPTH_MAX)
		return parent;
	return get_path(p, &(struct path){ .parent = parent, .depth = p->paths[parent].depth + 1,
					   .func = func });
}

uint32_t partition_queue_path(struct partition *p, uint64_t queue, int64_t tick)
{
	return get_path(p, &(struct path){
		.depth = 1, .queue = queue, .is_queue = true,
		.queue_symbol = queue ? symtab_lookup_data(p->m->symtab, queue, tick) : NULL,
	});
}

const char *path_name(const struct partition *p, uint32_t path)
{
	const struct path *at = &p->paths[path];
	char text[256];
	const char *name;

	if (at->func)
		return at->func->function;
	if (!at->is_queue)
		return "";
	if (at->queue_symbol && at->queue_symbol->known)
		snprintf(text, sizeof(text), "queue %s", at->queue_symbol->function);
	else if (at->queue)
		snprintf(text, sizeof(text), "queue 0x%llx", (unsigned long long)at->queue);
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

static uint64_t hash_leaf(const struct leaf *leaf)
{
	return numbers_mix(numbers_mix(leaf->kind + 1, leaf->path), (uintptr_t)leaf->label);
}

static uint64_t leaf_hash(const void *arg, uint32_t n)
{
	const struct partition *p = arg;

	return hash_leaf(&p->leaves[n]);
}

uint32_t partition_leaf(struct partition *p, enum leaf_kind kind, uint32_t path,
			const char *label, uint64_t lock, const struct symbol *site)
{
	struct leaf new = { kind, path, partition_intern(p, label), lock, site };
	struct numbers *t = &p->names->leaves;
	size_t i;

	if (path == UINT32_MAX || !new.label || !numbers_grow(t, leaf_hash, p))
		return NO_LEAF;
	for (i = hash_leaf(&new) & (t->room - 1); t->slots[i]; i = (i + 1) & (t->room - 1)) {
		const struct leaf *at = &p->leaves[t->slots[i] - 1];

		if (at->kind == kind && at->path == path && at->label == new.label)
			return t->slots[i] - 1;
	}
	if (!array_room(&p->leaves, &p->names->room_leaves, p->nr_leaves, sizeof(*p->leaves)))
		return NO_LEAF;
	p->leaves[p->nr_leaves++] = new;
	t->slots[i] = ++t->nr;
	return p->nr_leaves - 1;
}

uint32_t partition_function(struct partition *p, uint32_t parent, const struct symbol *func)
{
	struct partition_names *names = p->names;
	uint32_t path = partition_path(p, parent, func), leaf;

	if (path == UINT32_MAX)
		return NO_LEAF;
	if (path >= names->room_functions) {
		size_t room = 2 * p->nr_paths;
		uint32_t *functions = reallocarray(names->functions, room, sizeof(*functions));

		if (!functions)
			return NO_LEAF;
		memset(functions + names->room_functions, 0,
		       (room - names->room_functions) * sizeof(*functions));
		names->functions = functions;
		names->room_functions = room;
	}
	if (names->functions[path])
		return names->functions[path] - 1;
	leaf = partition_leaf(p, LEAF_FUNCTION, path, "", 0, NULL);
	names->functions[path] = leaf + 1;
	return leaf;
}

int partition_names_open(struct partition *p)
{
	p->names = calloc(1, sizeof(*p->names));
	if (!p->names)
		return -ENOMEM;
	return get_path(p, &(struct path){ .func = NULL }) == UINT32_MAX ? -ENOMEM : 0;
}

void partition_names_close(struct partition *p)
{
	struct partition_names *names = p->names;

	if (!names)
		return;
	for (size_t i = 0; i < names->texts.nr; i++)
		free(names->text[i]);
	free(names->text);
	free(names->texts.slots);
	free(names->paths.slots);
	free(names->leaves.slots);
	free(names->functions);
	free(names);
	p->names = NULL;
}
