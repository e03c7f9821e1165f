// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds which paths and leaves of two partitions are the same; see leafkey.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/lockset.h"
#include "leafkey.h"

#define TEXT_MAX	1024	/* only these bytes of a longer name are compared */

/* Texts */

static uint32_t intern_key_text(struct leafkeys *keys, const char *text, size_t len)
{
	int64_t number = intern_get(&keys->texts, text, len < TEXT_MAX ? len : TEXT_MAX, NULL);

	return number < 0 ? LEAFKEY_NONE : number;
}

/*
 * Returns the length of the name without the suffixes of clones: "walk.constprop.0" and "walk
 * [clone .isra.0]" are clones of walk.
 */
static size_t function_length(const char *name)
{
	static const char *const suffixes[] = {
		" [clone ", ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm.",
	};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at > name && (size_t)(at - name) < len)
			len = at - name;
	}
	return len;
}

/* Paths */

static uint32_t find_or_add_path(struct leafkeys *keys, const struct leafkey_path *new)
{
	uint64_t hash = hash_mix(hash_mix(new->parent + 1, new->name), new->file);
	struct hash *t = &keys->path_table;
	uint32_t n;

	hash_each(t, hash, n) {
		const struct leafkey_path *at = &keys->paths[n];

		if (at->parent == new->parent && at->name == new->name && at->file == new->file)
			return n;
	}
	n = t->nr;
	if (array_push(keys->paths, n, keys->room_paths, *new) || hash_add(t, hash, n - 1))
		return LEAFKEY_NONE;
	return n - 1;
}

/* Replaces the source file in the keys of queues; no source file has this name. */
#define QUEUE_FILE	"/queue"

static uint32_t add_path(struct leafkeys *keys, const struct partition *p, uint32_t n,
			 const uint32_t *paths)
{
	const struct path *from = &p->paths[n];
	struct leafkey_path new = { .p = p, .path = n };
	const char *name = "", *file = "";
	size_t len = 0;

	/* Path 0 has no parent. */
	if (n)
		new.parent = paths[from->parent];
	if (n)
		new.depth = keys->paths[new.parent].depth + 1;
	if (from->func) {
		name = from->func->function;
		len = from->func->known ? function_length(name) : strlen(name);
		file = basename(from->func->func_file);
	} else if (path_is_queue(from)) {
		const struct symbol *symbol = p->queues[from->queue - 1].symbol;

		file = QUEUE_FILE;
		if (symbol && symbol->known) {
			name = symbol->function;
			len = strlen(name);
		}
	}
	new.name = intern_key_text(keys, name, len);
	new.file = intern_key_text(keys, file, strlen(file));
	if (new.name == LEAFKEY_NONE || new.file == LEAFKEY_NONE)
		return LEAFKEY_NONE;
	return find_or_add_path(keys, &new);
}

/* Leaves */

static uint32_t find_or_add_leaf(struct leafkeys *keys, const struct leafkey *new)
{
	uint64_t hash = hash_mix(hash_mix(new->kind + 1, new->path), new->label);
	struct hash *t = &keys->leaf_table;
	uint32_t n;

	hash_each(t, hash, n) {
		const struct leafkey *at = &keys->leaves[n];

		if (at->kind == new->kind && at->path == new->path && at->label == new->label)
			return n;
	}
	n = t->nr;
	if (array_push(keys->leaves, n, keys->room_leaves, *new) || hash_add(t, hash, n - 1))
		return LEAFKEY_NONE;
	return n - 1;
}

/*
 * Returns true if the label is ignored: a system call, if one of the recordings does not have the
 * names of these.
 */
static bool has_no_label(const struct leafkeys *keys, const struct leaf *leaf)
{
	return keys->no_calls && (leaf->kind == LEAF_IO || leaf->kind == LEAF_SLEEP);
}

static uint32_t label_text(struct leafkeys *keys, const struct partition *p, const struct leaf *leaf)
{
	const struct symbol *site = leaf_lock(p, leaf)->site;
	const char *noun = lock_kind_noun(leaf_lock(p, leaf)->kind);
	size_t len = strlen(noun);

	if (has_no_label(keys, leaf))
		return intern_key_text(keys, "", 0);
	if (strncmp(leaf->label, noun, len) || strncmp(leaf->label + len, " at ", 4) || !site)
		return intern_key_text(keys, leaf->label, strlen(leaf->label));
	len = site->known ? function_length(site->function) : strlen(site->function);
	return intern_key_text(keys, site->function, len);
}

static uint32_t add_leaf(struct leafkeys *keys, const struct partition *p, uint32_t n,
			 const uint32_t *paths)
{
	const struct leaf *from = &p->leaves[n];
	struct leafkey new = { .kind = from->kind, .path = paths[from->path], .p = p, .leaf = n };

	/* The path of a function leaf ends with the function itself. */
	if (from->kind != LEAF_FUNCTION)
		new.label = label_text(keys, p, from);
	return new.label == LEAFKEY_NONE ? LEAFKEY_NONE : find_or_add_leaf(keys, &new);
}

int leafkeys_add(struct leafkeys *keys, const struct partition *p, struct leafkey_map *map)
{
	map->paths = calloc(p->nr_paths + 1, sizeof(*map->paths));
	map->leaves = calloc(p->nr_leaves + 1, sizeof(*map->leaves));
	if (!map->paths || !map->leaves || intern_key_text(keys, "", 0) == LEAFKEY_NONE)
		goto err_free;
	for (size_t n = 0; n < p->nr_paths; n++) {
		map->paths[n] = add_path(keys, p, n, map->paths);
		if (map->paths[n] == LEAFKEY_NONE)
			goto err_free;
	}
	for (size_t n = 0; n < p->nr_leaves; n++) {
		map->leaves[n] = add_leaf(keys, p, n, map->paths);
		if (map->leaves[n] == LEAFKEY_NONE)
			goto err_free;
	}
	return 0;

err_free:
	leafkey_map_free(map);
	return -ENOMEM;
}

void leafkeys_free(struct leafkeys *keys)
{
	intern_free(&keys->texts);
	free(keys->paths);
	free(keys->leaves);
	hash_free(&keys->path_table);
	hash_free(&keys->leaf_table);
	*keys = (struct leafkeys){ 0 };
}

void leafkey_map_free(struct leafkey_map *map)
{
	free(map->paths);
	free(map->leaves);
	*map = (struct leafkey_map){ 0 };
}

const char *leafkey_label(const struct leafkeys *keys, uint32_t leaf)
{
	const struct leafkey *key = &keys->leaves[leaf];
	const struct leaf *of = &key->p->leaves[key->leaf];

	if (key->kind == LEAF_FUNCTION)
		return intern_key(&keys->texts, keys->paths[key->path].name);
	return has_no_label(keys, of) ? "" : of->label;
}
