// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares sorting by numbers with qsort(): ties, few and many, large and negative numbers. */
#include "base/order.h"
#include "trace-sample.h"

struct thing {
	int64_t a;
	uint32_t b;
	uint64_t nr;		/* number in the original order */
};

ORDER_KEY(thing_a, struct thing, a)
ORDER_KEY(thing_b, struct thing, b)

static const order_key keys[] = { thing_a, thing_b };

static int compare(const void *pa, const void *pb)
{
	const struct thing *x = pa, *y = pb;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/*
 * Returns true if the things are sorted into the spare memory when they are not in order, and stay
 * in place otherwise.
 */
static bool is_sorted_to_spare(const struct thing *things, const struct thing *want, size_t nr)
{
	struct thing *first = calloc(nr + 1, sizeof(*first)), *second = calloc(nr + 1, sizeof(*second));
	struct thing *at = first, *spare = second;
	bool is_mixed = memcmp(things, want, nr * sizeof(*want)), is_right;

	memcpy(at, things, nr * sizeof(*at));
	is_right = order_sort_to(&at, &spare, nr, sizeof(*at), keys, 2) == is_mixed &&
		   at == (is_mixed ? second : first) && spare == (is_mixed ? first : second) &&
		   !memcmp(at, want, nr * sizeof(*at));
	free(first);
	free(second);
	return is_right;
}

/* Sorts nr things, with a given number of different keys. */
static void run(size_t nr, uint64_t nr_a, uint64_t nr_b, const char *what)
{
	struct thing *things = calloc(nr + 1, sizeof(*things)), *want = calloc(nr + 1, sizeof(*want));
	uint32_t *order;
	size_t wrong = 0;

	for (size_t i = 0; i < nr; i++)
		things[i] = (struct thing){
			.a = (int64_t)(nr_a ? sample_random() % nr_a : sample_random()) - (int64_t)(nr_a / 2),
			.b = sample_random() % nr_b, .nr = i,
		};
	memcpy(want, things, nr * sizeof(*want));
	qsort(want, nr, sizeof(*want), compare);
	order = order_of(things, nr, sizeof(*things), keys, 2);
	for (size_t i = 0; i < nr; i++)
		wrong += things[order[i]].nr != want[i].nr;
	ok(!wrong, "%zu, %s: which comes when", nr, what);
	ok(is_sorted_to_spare(things, want, nr) && is_sorted_to_spare(want, want, nr), "%zu, %s: sorted to spare memory",
	   nr, what);
	ok(!order_sort(&things, nr, sizeof(*things), keys, 2) &&
	   !memcmp(things, want, nr * sizeof(*want)), "%zu, %s: sorted", nr, what);
	ok(!order_sort(&things, nr, sizeof(*things), keys, 2) &&
	   !memcmp(things, want, nr * sizeof(*want)), "%zu, %s: sorted already", nr, what);
	free(order);
	free(things);
	free(want);
}

int main(void)
{
	static const size_t sizes[] = { 0, 1, 2, 48, 49, 5000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		run(sizes[i], 0, 1U << 31, "any number");
		run(sizes[i], 3, 3, "many ties");
		run(sizes[i], 1, 1000, "by the second number");
		run(sizes[i], 1U << 20, 2, "some ties");
	}
	return done();
}
