// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sorts by numbers; see order.h.  The indices of the things are sorted by the first key; then each
 * run of things that have the same first key is sorted by the next key.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

#define DIGIT_BITS	11
#define NR_DIGITS	(1U << DIGIT_BITS)
#define FEW		48	/* so many things, or fewer, are sorted faster by comparisons */

struct entry {
	uint64_t key;
	uint32_t nr;
};

struct sorter {
	const char *base;
	size_t size;
	const order_key *keys;
	size_t nr_keys;
	bool is_moved;
};

static unsigned digit_of(const struct entry *e, unsigned shift)
{
	return e->key >> shift & (NR_DIGITS - 1);
}

/* Sorts from `in` to `out`, by one digit. */
static void sort_digit(const struct entry *in, size_t nr, unsigned shift, struct entry *out)
{
	uint32_t at[NR_DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < nr; i++)
		at[digit_of(&in[i], shift)]++;
	for (unsigned d = 0; d < NR_DIGITS; d++) {
		uint32_t here = at[d];

		at[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < nr; i++)
		out[at[digit_of(&in[i], shift)]++] = in[i];
}

/* Sorts by radix, from the least significant digit on: each pass is stable. */
static void sort_digits(struct entry *e, struct entry *spare, size_t nr, uint64_t most)
{
	struct entry *in = e, *out = spare;

	for (unsigned shift = 0; shift < 64 && most >> shift; shift += DIGIT_BITS) {
		struct entry *sorted = out;

		sort_digit(in, nr, shift, sorted);
		out = in;
		in = sorted;
	}
	if (in != e)
		memcpy(e, in, nr * sizeof(*e));
}

static void sort_few(struct entry *e, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct entry moved = e[i];
		size_t to = i;

		for (; to && e[to - 1].key > moved.key; to--)
			e[to] = e[to - 1];
		e[to] = moved;
	}
}

/*
 * Stores each key minus the least key, and the greatest of these differences in *most.  Returns
 * false if the things are in order already; then the keys themselves are stored.
 */
static bool set_keys(const struct sorter *s, struct entry *e, size_t nr, order_key key,
		     uint64_t *most)
{
	int64_t least = INT64_MAX, greatest = INT64_MIN;
	bool is_mixed = false;

	for (size_t i = 0; i < nr; i++) {
		int64_t k = key(s->base + e[i].nr * s->size);

		is_mixed |= k < greatest;
		least = k < least ? k : least;
		greatest = k > greatest ? k : greatest;
		e[i].key = k;
	}
	for (size_t i = 0; i < nr && is_mixed; i++)
		e[i].key -= least;
	*most = (uint64_t)greatest - least;
	return is_mixed;
}

/* Sorts by keys[k] and the keys after it. */
static void sort_run(struct sorter *s, struct entry *e, struct entry *spare, size_t nr, size_t k)
{
	uint64_t most;

	if (set_keys(s, e, nr, s->keys[k], &most)) {
		s->is_moved = true;
		if (nr <= FEW)
			sort_few(e, nr);
		else
			sort_digits(e, spare, nr, most);
	}
	if (k + 1 == s->nr_keys)
		return;
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr && e[end].key == e[i].key;)
			end++;
		if (end - i > 1)
			sort_run(s, e + i, spare + i, end - i, k + 1);
	}
}

/* As order_of(); sets s->is_moved if the things are not in order yet. */
static uint32_t *find_order(struct sorter *s, size_t nr)
{
	struct entry *e = malloc((nr + 1) * sizeof(*e)), *spare = malloc((nr + 1) * sizeof(*spare));
	uint32_t *order = NULL;

	for (size_t i = 0; e && i < nr; i++)
		e[i].nr = i;
	if (e && spare) {
		sort_run(s, e, spare, nr, 0);
		free(spare);
		spare = NULL;
		order = malloc((nr + 1) * sizeof(*order));
	}
	for (size_t i = 0; order && i < nr; i++)
		order[i] = e[i].nr;
	free(spare);
	free(e);
	return order;
}

uint32_t *order_of(const void *base, size_t nr, size_t size, const order_key *keys, size_t nr_keys)
{
	struct sorter s = { base, size, keys, nr_keys, false };

	return find_order(&s, nr);
}

int order_sort_to(void *base, void *spare, size_t nr, size_t size, const order_key *keys, size_t nr_keys)
{
	char **things = base, **room = spare, *sorted;
	struct sorter s = { *things, size, keys, nr_keys, false };
	uint32_t *order = find_order(&s, nr);

	if (!order)
		return -ENOMEM;
	if (s.is_moved && !*room)
		*room = malloc(nr * size);
	sorted = *room;
	if (s.is_moved && sorted) {
		for (size_t i = 0; i < nr; i++)
			memcpy(sorted + i * size, *things + order[i] * size, size);
		*room = *things;
		*things = sorted;
	}
	free(order);
	return s.is_moved && !sorted ? -ENOMEM : s.is_moved;
}

int order_sort(void *base, size_t nr, size_t size, const order_key *keys, size_t nr_keys)
{
	void *spare = NULL;
	int ret = order_sort_to(base, &spare, nr, size, keys, nr_keys);

	free(spare);
	return ret < 0 ? ret : 0;
}
