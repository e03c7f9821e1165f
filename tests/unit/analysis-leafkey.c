// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the same paths and leaves in two recordings, which have only names in common. */
#include <time.h>

#include "analysis/partition/leafkey.h"
#include "partition-sample.h"

static struct hand a, b;

static void begin(void)
{
	hand_open(&a);
	hand_open(&b);
}

/* Maps paths and leaves of one partition to the first equal ones of the other. */
static struct leafkey_map map_of(const struct partition *from, const struct partition *onto)
{
	struct leafkeys keys = { 0 };
	struct leafkey_map map, other;

	if (leafkeys_add(&keys, onto, &other) || leafkeys_add(&keys, from, &map))
		bail_out("leafkeys_add");
	for (size_t n = 0; n < from->nr_paths; n++) {
		const struct leafkey_path *key = &keys.paths[map.paths[n]];

		map.paths[n] = key->p == onto ? key->path : LEAFKEY_NONE;
	}
	for (size_t n = 0; n < from->nr_leaves; n++) {
		const struct leafkey *key = &keys.leaves[map.leaves[n]];

		map.leaves[n] = key->p == onto ? key->leaf : LEAFKEY_NONE;
	}
	leafkey_map_free(&other);
	leafkeys_free(&keys);
	return map;
}

static struct leafkey_map map_onto(void)
{
	return map_of(&b.p, &a.p);
}

static void test_order(void)
{
	struct leafkey_map map;
	uint32_t main_a, main_b, serve_a, serve_b;

	begin();
	main_a = hand_path(&a, 0, "main", "/usr/src/app.c");
	serve_a = hand_path(&a, main_a, "serve", "/usr/src/app.c");
	hand_leaf(&a, LEAF_FUNCTION, main_a, "");
	hand_leaf(&a, LEAF_FUNCTION, serve_a, "");
	hand_leaf(&a, LEAF_LOCK, serve_a, "db_lock");
	hand_leaf(&a, LEAF_LOCK, serve_a, "log_lock");
	/* The other build has them in another order, with one function more. */
	main_b = hand_path(&b, 0, "main", "/tmp/app.c");
	hand_path(&b, main_b, "other", "/tmp/app.c");
	serve_b = hand_path(&b, main_b, "serve", "/tmp/app.c");
	hand_leaf(&b, LEAF_LOCK, serve_b, "db_lock");
	hand_leaf(&b, LEAF_FUNCTION, serve_b, "");
	hand_leaf(&b, LEAF_FUTEX, serve_b, "db_lock");
	hand_leaf(&b, LEAF_FUNCTION, main_b, "");
	hand_leaf(&b, LEAF_LOCK, main_b, "db_lock");
	map = map_onto();
	is_int(map.paths[0], 0, "the root");
	is_int(map.paths[serve_b], serve_a, "a path, by the names on it");
	is_int(map.paths[2], LEAFKEY_NONE, "a function that the other has not");
	is_int(map.leaves[0], 2, "a lock, by its label and where it was waited for");
	is_int(map.leaves[1], 1, "a function");
	is_int(map.leaves[2], LEAFKEY_NONE, "another kind of wait is another leaf");
	is_int(map.leaves[3], 0, "the outer function");
	is_int(map.leaves[4], LEAFKEY_NONE, "the same lock elsewhere is another leaf");
	leafkey_map_free(&map);
}

static void test_names(void)
{
	struct leafkey_map map;
	uint32_t path;

	begin();
	hand_path(&a, 0, "walk", "a.c");
	hand_path(&a, 0, "walk", "b.c");
	path = hand_path(&a, 0, "serve", "a.c");
	hand_leaf(&a, LEAF_LOCK, path, "lock at a.c:120");
	hand_lock_site(&a, hand_symbol(&a, "look_up", "a.c"));
	hand_queue(&a, 0x7f0000001000, NULL);
	hand_queue(&a, 0x400100, "inbox");
	hand_path(&b, 0, "walk.constprop.0", "/x/a.c");
	hand_path(&b, 0, "walk [clone .isra.3]", "b.c");
	path = hand_path(&b, 0, "serve", "a.c");
	hand_leaf(&b, LEAF_LOCK, path, "lock at a.c:135");
	hand_lock_site(&b, hand_symbol(&b, "look_up", "a.c"));
	hand_queue(&b, 0x7fff00002000, NULL);
	hand_queue(&b, 0x400900, "inbox");
	hand_path(&b, 0, ".cold", "a.c");
	map = map_onto();
	is_int(map.paths[1], 1, "a clone of the compiler is the function");
	is_int(map.paths[2], 2, "that of the same file");
	is_int(map.leaves[0], 0, "a lock without a name, although its line moved");
	is_int(map.paths[4], 4, "a queue without a name");
	is_int(map.paths[5], 5, "a queue, by its variable");
	is_int(map.paths[6], LEAFKEY_NONE, "a name that is a suffix alone is kept");
	leafkey_map_free(&map);
}

/*
 * Two paths of one partition may have the same name: then their leaves are one leaf in the joint
 * table.
 */
static void test_joint(void)
{
	struct leafkeys keys = { 0 };
	struct leafkey_map map_a, map_b;

	begin();
	hand_path(&a, 0, "walk", "a.c");
	hand_path(&a, 0, "walk.part.0", "a.c");
	hand_leaf(&a, LEAF_FUNCTION, 1, "");
	hand_leaf(&a, LEAF_FUNCTION, 2, "");
	hand_leaf(&a, LEAF_UNKNOWN, 0, "");
	hand_leaf(&b, LEAF_UNKNOWN, 0, "");
	hand_path(&b, 0, "walk", "a.c");
	hand_leaf(&b, LEAF_FUNCTION, 1, "");
	if (leafkeys_add(&keys, &a.p, &map_a) || leafkeys_add(&keys, &b.p, &map_b))
		bail_out("leafkeys_add");
	is_int(leafkeys_nr(&keys), 2, "clones are one leaf of the joint table");
	ok(map_a.leaves[0] == map_a.leaves[1] && map_a.leaves[0] == map_b.leaves[1], "of all three");
	is_int(map_b.leaves[0], map_a.leaves[2], "what is unknown is the same in both");
	is_str(leafkey_label(&keys, map_a.leaves[1]), "walk", "it is called by its name");
	leafkey_map_free(&map_a);
	leafkey_map_free(&map_b);
	leafkeys_free(&keys);
}

/* A recording without names of system calls has a single leaf for all sleeps of a function. */
static void test_calls(bool no_calls)
{
	struct leafkeys keys = { .no_calls = no_calls };
	struct leafkey_map map_a, map_b;

	begin();
	hand_path(&a, 0, "walk", "a.c");
	hand_leaf(&a, LEAF_SLEEP, 1, "read of a pipe");
	hand_leaf(&a, LEAF_SLEEP, 1, "poll");
	hand_leaf(&a, LEAF_IRQ, 1, "poll");
	hand_path(&b, 0, "walk", "a.c");
	hand_leaf(&b, LEAF_SLEEP, 1, no_calls ? "" : "poll");
	if (leafkeys_add(&keys, &a.p, &map_a) || leafkeys_add(&keys, &b.p, &map_b))
		bail_out("leafkeys_add");
	is_int(leafkeys_nr(&keys), no_calls ? 2 : 3, no_calls ? "sleeps are one" : "each call is one");
	ok(map_a.leaves[1] == map_b.leaves[0], "that of the other recording");
	is_str(leafkey_label(&keys, map_a.leaves[1]), no_calls ? "" : "poll", "by its name, if both have it");
	is_str(leafkey_label(&keys, map_a.leaves[2]), "poll", "others have their names");
	leafkey_map_free(&map_a);
	leafkey_map_free(&map_b);
	leafkeys_free(&keys);
}

static void test_empty(void)
{
	struct leafkey_map map;

	begin();
	hand_path(&b, 0, "main", "a.c");
	hand_leaf(&b, LEAF_FUNCTION, 1, "");
	map = map_onto();
	ok(map.paths[0] == 0 && map.leaves[0] == LEAFKEY_NONE, "onto a recording without requests");
	leafkey_map_free(&map);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Returns the time for nr paths with two leaves each. */
static double time_of(size_t nr)
{
	struct path *paths = calloc(nr + 1, sizeof(*paths));
	struct leaf *leaves = calloc(2 * nr + 1, sizeof(*leaves));
	struct symbol *symbols = calloc(nr + 1, sizeof(*symbols));
	char (*names)[16] = calloc(nr + 1, sizeof(*names));
	struct partition p = {
		.paths = paths, .leaves = leaves, .nr_paths = nr + 1, .nr_leaves = 2 * nr,
	};
	struct leafkey_map map;
	double begin;
	size_t nr_wrong = 0;

	if (!paths || !leaves || !symbols || !names)
		bail_out("out of memory");
	for (size_t i = 1; i <= nr; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i % 1000);
		symbols[i] = (struct symbol){ .function = names[i], .func_file = "a.c", .known = true };
		paths[i] = (struct path){ .parent = i / 2, .func = &symbols[i] };
		leaves[2 * i - 2] = (struct leaf){ .kind = LEAF_FUNCTION, .path = i, .label = "" };
		leaves[2 * i - 1] = (struct leaf){ .kind = LEAF_LOCK, .path = i, .label = names[i] };
	}
	begin = seconds();
	map = map_of(&p, &p);
	begin = seconds() - begin;
	for (size_t i = 0; i < 2 * nr; i++)
		nr_wrong += map.leaves[i] != i;
	ok(!nr_wrong, "%zu paths onto themselves: %.3f s", nr, begin);
	leafkey_map_free(&map);
	free(paths);
	free(leaves);
	free(symbols);
	free(names);
	return begin;
}

int main(void)
{
	double small, big;

	test_order();
	test_names();
	test_joint();
	test_calls(false);
	test_calls(true);
	test_empty();
	small = time_of(20000);
	big = time_of(200000);
	/* The input is ten times as big; with quadratic time the ratio would be a hundred. */
	ok(big < 40 * small + 0.5, "in time about linear");
	return done();
}
