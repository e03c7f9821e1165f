/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which paths and leaves of two partitions are the same, though addresses, line numbers
 * and source directories differ: it makes a joint table of both, keyed by names.
 *
 * A function is identified by its name, without the suffixes of clones, and by the base name of the
 * file that defines it.  Its module is not compared, because the program may have been renamed.  A
 * queue is identified by its variable; all queues that are known by address only are one.  A lock
 * is identified by its label; if that is a place instead of a name ("lock at app.c:120"), by the
 * function that contains the place, because line numbers change.  Leaves of one partition that are
 * equal by these rules are merged.
 *
 *	struct leafkeys keys = { 0 };
 *
 *	leafkeys_add(&keys, a, &map_a) || leafkeys_add(&keys, b, &map_b);
 *	keys.leaves[map_b.leaves[n]]	the joint leaf of leaf n of b
 */
#ifndef PARTITION_LEAFKEY_H
#define PARTITION_LEAFKEY_H

#include "base/intern.h"
#include "partition.h"

#define LEAFKEY_NONE	UINT32_MAX

/* A path of the joint table, which points to the path in the first partition that has it. */
struct leafkey_path {
	/* index in the joint table, less than the path's own; the root is 0 */
	uint32_t parent;
	uint32_t depth;
	const struct partition *p;
	uint32_t path;			/* of p */
	uint32_t name, file;		/* the key: numbers of interned texts */
};

struct leafkey {
	enum leaf_kind kind;
	uint32_t path;			/* number in the joint tree of paths */
	const struct partition *p;
	uint32_t leaf;			/* of p */
	uint32_t label;			/* the key: number of an interned text */
};

struct leafkeys {
	struct leafkey_path *paths;
	struct leafkey *leaves;
	struct intern texts;
	struct hash path_table, leaf_table;
	size_t room_paths, room_leaves;
	/* set by the caller: a partition lacks the names of system calls */
	bool no_calls;
};

#define leafkeys_nr(keys)	((keys)->leaf_table.nr)

/* The joint number of each path and leaf of a partition; freed by leafkey_map_free(). */
struct leafkey_map {
	uint32_t *paths, *leaves;
};

/*
 * Returns 0 or -ENOMEM.  Time is linear in paths and leaves.  The partition must outlive the
 * keys.
 */
int leafkeys_add(struct leafkeys *keys, const struct partition *p, struct leafkey_map *map);
void leafkeys_free(struct leafkeys *keys);
void leafkey_map_free(struct leafkey_map *map);

/* Returns the label of a leaf, or the name if it is a function: "db_lock", "parse". */
const char *leafkey_label(const struct leafkeys *keys, uint32_t leaf);

#endif
