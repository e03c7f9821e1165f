// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares searches in sorted arrays with linear ones; and tests arrays that grow. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "tap.h"

struct row {
	int key;
};

static size_t by_hand(const struct row *rows, size_t from, size_t nr, int key)
{
	size_t i = from;

	while (i < nr && rows[i].key < key)
		i++;
	return i;
}

static unsigned wrong(const struct row *rows, size_t nr)
{
	unsigned nr_wrong = 0;

	for (int key = -1; key < 12; key++) {
		nr_wrong += search(nr, i, rows[i].key < key) != by_hand(rows, 0, nr, key);
		nr_wrong += search_by(rows, nr, row, row->key < key) != by_hand(rows, 0, nr, key);
		for (size_t from = 0; from <= nr; from++) {
			nr_wrong += search_range(from, nr, i, rows[i].key < key) != by_hand(rows, from, nr, key);
			for (size_t near = 0; near <= nr + 1; near++)
				nr_wrong += search_near(from, nr, near, i, rows[i].key < key) !=
					    by_hand(rows, from, nr, key);
		}
	}
	return nr_wrong;
}

int main(void)
{
	struct row *rows = NULL;
	size_t nr = 0, room = 0, huge = SIZE_MAX / 2 + 1;
	unsigned nr_wrong = 0;

	for (int n = 0; n < 300; n++) {
		if (n % 30 == 0) {
			nr_wrong += wrong(rows, nr);
			nr = 0;
		}
		if (!array_room(&rows, &room, nr, sizeof(*rows)))
			bail_out("no memory");
		rows[nr] = (struct row){ nr ? rows[nr - 1].key + (n * n % 7 < 3) : 0 };
		nr++;
	}
	ok(!nr_wrong, "each search is the one that looks at each");
	for (nr = 0; nr < 1000; nr++)
		if (!array_room(&rows, &room, nr, sizeof(*rows)))
			bail_out("no memory");
		else
			rows[nr].key = nr;
	ok(room >= 1000 && room < 4000 && rows[999].key == 999, "an array has twice the room when it is full");
	is_int(nth_greatest(nr, 2, i, (int64_t)(i * 7 % 1000)), 997, "the third greatest");
	ok(array_reserve(&rows, &room, 5000, sizeof(*rows)) && room >= 5000 && room < 20000 && rows[999].key == 999,
	   "or as much as is asked for");
	ok(!array_room(&rows, &huge, huge, sizeof(*rows)) && huge == SIZE_MAX / 2 + 1 && rows[999].key == 999,
	   "what is too large leaves it as it was");
	free(rows);
	return done();
}
