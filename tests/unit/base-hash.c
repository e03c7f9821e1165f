// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares hash tables, interned strings and heaps with linear searches. */
#include "heap.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/intern.h"
#include "base/keyed.h"
#include "tap.h"

#define NR_KEYS	3000

static uint32_t random_number(void)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 33;
}

static void test_find(void)
{
	struct hash t = { 0 };
	uint64_t keys[NR_KEYS];
	bool all = true, once = true;
	uint32_t n;

	hash_each(&t, 1, n)
		all = false;
	ok(all, "in an empty table is nothing");
	for (uint32_t i = 0; i < NR_KEYS; i++) {
		keys[i] = (uint64_t)i << 40 | 8;
		all &= !hash_add(&t, hash_mix(0, keys[i]), i);
	}
	for (uint32_t i = 0; i < NR_KEYS; i++) {
		unsigned nr = 0;

		hash_each(&t, hash_mix(0, keys[i]), n)
			nr += keys[n] == keys[i];
		once &= nr == 1;
	}
	ok(all && once, "each is found, once");
	hash_clear(&t);
	hash_each(&t, hash_mix(0, keys[7]), n)
		all = false;
	ok(all && !t.nr, "all are forgotten");
	hash_free(&t);
	ok(!t.slots && !t.room, "and an empty table again");
}

/* There are few hashes, so that many numbers are far from their place, and runs wrap around. */
static void test_remove(void)
{
	struct hash t = { 0 };
	bool is_in[64] = { false }, same = true;
	size_t nr;

	for (int i = 0; i < 100000; i++) {
		uint32_t which = random_number() % 64, n;
		uint64_t hash = UINT64_MAX - which % 7;
		bool found = false;

		hash_each(&t, hash, n)
			found |= n == which;
		same &= found == is_in[which];
		if (found)
			hash_remove(&t, hash, which);
		else
			same &= !hash_add(&t, hash, which);
		is_in[which] = !found;
	}
	ok(same, "what was put and not removed is found, and nothing else");
	nr = t.nr;
	hash_remove(&t, UINT64_MAX, 1000);
	is_int(t.nr, nr, "removing what is not there does nothing");
	hash_free(&t);
	hash_remove(&t, 3, 1);
	ok(!t.nr, "nor in an empty table");
}

static void test_memory(void)
{
	struct intern t = { 0 };
	bool said = true;
	long before = heap_nr;

	if (!heap_is_ours) {
		skip(2, "the heap is the sanitizer's");
		return;
	}
	for (int i = 0; i < 300; i++) {
		char text[16];

		snprintf(text, sizeof(text), "text %d", i);
		/* Lets each allocation fail once, for each text. */
		for (long n = 1;; n++) {
			heap_fail_in = n;
			heap_has_failed = false;
			if (intern_text(&t, text))
				break;
			said &= heap_has_failed;
		}
		heap_fail_in = 0;
	}
	ok(said && t.nr == 300 && intern_string(&t, "text 123") == 123,
	   "out of memory is said, and changes nothing");
	intern_free(&t);
	is_int(heap_nr, before, "all memory is freed");
}

struct thing {
	uint64_t key, nr;
};

static struct thing *thing_of(struct keyed *t, uint64_t key)
{
	struct thing *k;

	keyed_each(t, key % 7, k)
		if (k->key == key)
			return k;
	k = keyed_add(t, key % 7, sizeof(*k));
	if (k)
		k->key = key;
	return k;
}

static void test_keyed(void)
{
	struct keyed t = { 0 };
	struct thing *first = thing_of(&t, 500), *k = first;
	bool in_order = true, is_once = true, said = true;
	long before;

	for (uint64_t i = 0; i < NR_KEYS; i++)
		thing_of(&t, i * 37 % 1000)->nr++;
	ok(first == thing_of(&t, 500) && first == t.at[0], "a thing does not move");
	is_int(t.nr, 1000, "each is there once");
	for (size_t i = 0; i < t.nr; i++) {
		k = t.at[i];
		is_once &= k->nr == 3;
		in_order &= i > 20 || k->key == (i ? (i - 1) * 37 : 500);
	}
	ok(is_once && in_order, "and is found each time; they stand as they came");
	keyed_each(&t, 8, k)
		if (k->key == 8)
			break;
	ok(!k, "what is not there is not");
	keyed_free(&t);
	ok(!t.at && !t.nr, "and an empty one again");
	if (!heap_is_ours) {
		skip(1, "the heap is the sanitizer's");
		return;
	}
	before = heap_nr;
	for (uint64_t i = 0; i < 300; i++) {
		for (long n = 1;; n++) {
			heap_fail_in = n;
			heap_has_failed = false;
			if (thing_of(&t, i))
				break;
			said &= heap_has_failed && t.nr == i;
		}
		heap_fail_in = 0;
	}
	keyed_free(&t);
	ok(said && heap_nr == before, "out of memory is said, and changes nothing");
}

static void test_intern(void)
{
	struct intern t = { 0 };
	bool is_new, same = true;
	const char *text;
	char name[32];

	is_int(intern_string(&t, ""), 0, "the first one");
	is_int(intern_get(&t, "a\0b", 3, &is_new), 1, "bytes, also 0");
	ok(is_new, "is new");
	is_int(intern_get(&t, "a\0c", 3, &is_new), 2, "all of them count");
	is_int(intern_get(&t, "a\0b", 3, &is_new), 1, "again");
	ok(!is_new, "is not new");
	is_int(intern_string(&t, "a"), 3, "a shorter one is another");
	text = intern_text(&t, "a");
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		same &= intern_string(&t, name) == 4 + i;
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		same &= intern_string(&t, name) == 4 + i && !strcmp(intern_key(&t, 4 + i), name);
	}
	ok(same, "twenty thousand, twice");
	ok(text == intern_text(&t, "a") && !strcmp(text, "a"), "texts do not move");
	intern_free(&t);
}

/* moved() stores where each item is, so that any of them can be removed. */
#define NR_ITEMS	200

struct places {
	uint32_t weight[NR_ITEMS];
	size_t at[NR_ITEMS];
};

static bool is_before(const struct places *p, const uint32_t *a, const uint32_t *b)
{
	return p->weight[*a] != p->weight[*b] ? p->weight[*a] < p->weight[*b] : *a < *b;
}

static void moved(struct places *p, const uint32_t *item, size_t i)
{
	p->at[*item] = i;
}

HEAP(turns, uint32_t, struct places *, is_before, moved)

static void test_heap(void)
{
	struct places p;
	uint32_t heap[NR_ITEMS], last, before = UINT32_MAX;
	size_t nr = 0;
	bool in_order = true, in_place = true;

	for (uint32_t i = 0; i < NR_ITEMS; i++) {
		p.weight[i] = random_number() % 50;
		turns_up(&p, heap, nr++, i);
	}
	for (uint32_t i = 0; i < NR_ITEMS; i += 3) {
		size_t at = p.at[i];

		in_place &= heap[at] == i;
		p.at[i] = SIZE_MAX;
		last = heap[--nr];
		if (last == i)
			continue;
		turns_down(&p, heap, nr, at, last);
		turns_up(&p, heap, p.at[last], last);
	}
	ok(in_place, "each item knows its place");
	is_int(nr, NR_ITEMS - (NR_ITEMS + 2) / 3, "a third is taken from the middle");
	while (nr) {
		uint32_t first = heap[0];

		in_order &= first % 3 && (before == UINT32_MAX || is_before(&p, &before, &first));
		before = first;
		nr--;
		turns_down(&p, heap, nr, 0, heap[nr]);
	}
	ok(in_order, "the others come in order");
}

int main(void)
{
	test_find();
	test_remove();
	test_intern();
	test_memory();
	test_keyed();
	test_heap();
	return done();
}
