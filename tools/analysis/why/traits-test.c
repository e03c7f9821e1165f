// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which traits distinguish slow requests from usual ones; traits.h describes the method.
 *
 * A row has only few of all traits, so counting goes by rows: each draw visits its slow rows, and
 * counts their traits.  All single traits that enough rows have, and not all rows, are tested, and
 * pairs of the PAIRED traits that divide the rows most evenly.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "traits.h"

#define SUPPORT_MIN	4	/* rows with the trait; fewer are not tested */
#define CUTS_MAX	12	/* thresholds of an attribute */
#define PAIRED		192
#define DRAWS_MAX	999
#define DRAWS_MIN	299	/* then the least adjusted p is 1 / 300 */
#define STEPS_MAX	400000000ULL /* steps of all draws: some tenths of a second for 10^8 */

struct item {
	uint32_t attribute;
	enum trait_op op;
	uint64_t value;
	uint32_t nr;		/* rows that have the trait */
	uint32_t nr_slow;
	int32_t paired;		/* position in paired[]; -1: not in it */
};

struct pair {
	uint32_t nr, nr_slow;
};

struct tester {
	const struct traits_table *t;
	struct item *items;
	size_t nr_items, room_items;
	uint32_t *first;		/* by row: index into has[]; one more than rows */
	uint32_t *has;			/* items of the rows */
	size_t nr_has, room_has;
	uint32_t paired[PAIRED];
	size_t nr_paired;
	uint32_t *paired_first, *paired_has;	/* as first and has, with positions in paired[] */
	/* by index in paired_has[]: where the next attribute of the row begins */
	uint32_t *paired_next;
	/*
	 * [position in paired[]][position in paired[]]; the first trait is the earlier one in
	 * items[]
	 */
	struct pair *pairs;
	uint32_t *counts, *pair_counts;	/* the counts of one draw */
	double *log_factorial;		/* to nr_rows */
	double **tails;			/* [rows with the trait][slow rows with it] */
	double *greatest;		/* greatest surprise of each draw */
	size_t nr_draws;
	uint32_t *order;		/* rows, for drawing */
	uint64_t random;
};

/* Returns a random number.  The seed is fixed, so that a table always has the same findings. */
static uint64_t draw(struct tester *x)
{
	x->random ^= x->random << 13;
	x->random ^= x->random >> 7;
	x->random ^= x->random << 17;
	return x->random * 0x2545f4914f6cdd1dULL >> 32;
}

/* Items */

static int add_item(struct tester *x, uint32_t attribute, enum trait_op op, uint64_t value)
{
	return array_push(x->items, x->nr_items, x->room_items, {
		.attribute = attribute, .op = op, .value = value, .paired = -1 });
}

COMPARE_NUMBERS(compare_number, uint64_t)

/* Sorts the values that rows have; returns their number. */
static size_t sorted_values(const struct traits_table *t, const struct trait_attribute *a, uint64_t *values)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_rows; i++)
		if (a->values[i] != TRAITS_NONE)
			values[nr++] = a->values[i];
	sort_by(values, nr, compare_number);
	return nr;
}

static size_t unique(uint64_t *values, size_t nr)
{
	size_t out = 0;

	for (size_t i = 0; i < nr; i++)
		if (!out || values[out - 1] != values[i])
			values[out++] = values[i];
	return out;
}

/*
 * Chooses thresholds: all values except the greatest if these are few, else powers of two if there
 * are enough of these in the range, else quantiles.  Returns their number.
 */
static size_t find_cuts(uint64_t *values, size_t nr, uint64_t cuts[CUTS_MAX])
{
	uint64_t lo = nr ? values[0] : 0, hi = nr ? values[nr - 1] : 0;
	size_t nr_cuts = 0, nr_powers;
	unsigned from = lo > 1 ? 64 - __builtin_clzll(lo - 1) : 0, to = hi > 1 ? 64 - __builtin_clzll(hi - 1) : 0;
	uint64_t quantiles[CUTS_MAX];

	for (size_t i = 0; i < CUTS_MAX && nr; i++)
		quantiles[i] = values[(i + 1) * nr / (CUTS_MAX + 1)];
	nr = unique(values, nr);
	if (nr <= CUTS_MAX + 1) {
		for (size_t i = 0; i + 1 < nr; i++)
			cuts[nr_cuts++] = values[i];
		return nr_cuts;
	}
	nr_powers = to > from ? to - from : 0;
	if (nr_powers >= CUTS_MAX / 2) {
		/* If there are too many powers, evenly spaced ones are chosen. */
		for (size_t i = 0; i < CUTS_MAX && i < nr_powers; i++)
			cuts[nr_cuts++] = 1ULL << (from + i * nr_powers / min(nr_powers, (size_t)CUTS_MAX));
		return nr_cuts;
	}
	memcpy(cuts, quantiles, sizeof(quantiles));
	return unique(cuts, CUTS_MAX);
}

static int add_bounds(struct tester *x, uint32_t number)
{
	const struct trait_attribute *a = &x->t->attributes[number];
	uint64_t *values = calloc(x->t->nr_rows + 1, sizeof(*values)), cuts[CUTS_MAX];
	size_t nr;
	int ret = 0;

	if (!values)
		return -ENOMEM;
	nr = find_cuts(values, sorted_values(x->t, a, values), cuts);
	for (size_t i = 0; i < nr && !ret; i++) {
		ret = add_item(x, number, TRAIT_ABOVE, cuts[i]);
		if (!ret)
			ret = add_item(x, number, TRAIT_AT_MOST, cuts[i]);
	}
	free(values);
	return ret;
}

static bool has_item(const struct traits_table *t, size_t row, const struct item *i)
{
	uint64_t value = t->attributes[i->attribute].values[row];

	if (value == TRAITS_NONE)
		return false;
	return i->op == TRAIT_IS ? value == i->value : i->op == TRAIT_ABOVE ? value > i->value :
	       value <= i->value;
}

/* Adds the items of all attributes; first[k] becomes the index of the first item of attribute k. */
static int add_items(struct tester *x, size_t *first)
{
	int ret = 0;

	for (uint32_t k = 0; k < x->t->nr_attributes && !ret; k++) {
		const struct trait_attribute *a = &x->t->attributes[k];

		first[k] = x->nr_items;
		if (a->is_number)
			ret = add_bounds(x, k);
		for (size_t i = 0; !a->is_number && i < a->texts.nr && !ret; i++)
			ret = add_item(x, k, TRAIT_IS, i);
	}
	first[x->t->nr_attributes] = x->nr_items;
	return ret;
}

static int add_has(struct tester *x, size_t row, uint32_t item)
{
	x->items[item].nr++;
	x->items[item].nr_slow += row < x->t->nr_slow;
	return array_push(x->has, x->nr_has, x->room_has, item);
}

static int find_rows(struct tester *x)
{
	size_t *first = calloc(x->t->nr_attributes + 1, sizeof(*first));
	int ret = first ? add_items(x, first) : -ENOMEM;

	for (size_t row = 0; row < x->t->nr_rows && !ret; row++) {
		x->first[row] = x->nr_has;
		for (uint32_t k = 0; k < x->t->nr_attributes && !ret; k++) {
			const struct trait_attribute *a = &x->t->attributes[k];

			if (!a->is_number && a->values[row] != TRAITS_NONE)
				ret = add_has(x, row, first[k] + a->values[row]);
			for (size_t i = first[k]; a->is_number && i < first[k + 1] && !ret; i++)
				if (has_item(x->t, row, &x->items[i]))
					ret = add_has(x, row, i);
		}
	}
	x->first[x->t->nr_rows] = x->nr_has;
	free(first);
	return ret;
}

/* A trait that all rows have, or too few, is not tested. */
static bool is_tested(const struct tester *x, uint32_t nr)
{
	return nr >= SUPPORT_MIN && nr < x->t->nr_rows;
}

/*
 * Lists which of the paired traits each row has.  A pair has traits of two attributes; the traits
 * of one attribute are adjacent in the list.
 */
static int find_paired(struct tester *x)
{
	x->paired_first = calloc(x->t->nr_rows + 1, sizeof(*x->paired_first));
	x->paired_has = calloc(x->nr_has + 1, sizeof(*x->paired_has));
	x->paired_next = calloc(x->nr_has + 1, sizeof(*x->paired_next));
	if (!x->paired_first || !x->paired_has || !x->paired_next)
		return -ENOMEM;
	for (size_t row = 0, nr = 0; row < x->t->nr_rows; row++) {
		size_t first = nr, group = nr;

		for (uint32_t k = x->first[row]; k < x->first[row + 1]; k++) {
			const struct item *i = &x->items[x->has[k]];

			if (i->paired < 0)
				continue;
			if (nr > first && x->items[x->paired[x->paired_has[nr - 1]]].attribute != i->attribute)
				for (; group < nr; group++)
					x->paired_next[group] = nr;
			x->paired_has[nr++] = i->paired;
		}
		for (; group < nr; group++)
			x->paired_next[group] = nr;
		x->paired_first[row + 1] = nr;
	}
	return 0;
}

struct by_support {
	uint32_t nr, item;
};

COMPARE(compare_support, struct by_support, DOWN(nr) UP(item))

/*
 * Chooses the traits that are paired.  The choice does not depend on which rows are slow: otherwise
 * each draw would have to choose again.
 */
static int choose_paired(struct tester *x)
{
	struct by_support *list = calloc(x->nr_items + 1, sizeof(*list));
	size_t nr = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nr_items; i++) {
		uint32_t rest = x->t->nr_rows - x->items[i].nr;

		if (is_tested(x, x->items[i].nr))
			list[nr++] = (struct by_support){ min(x->items[i].nr, rest), i };
	}
	sort_by(list, nr, compare_support);
	x->nr_paired = min(nr, (size_t)PAIRED);
	for (size_t i = 0; i < x->nr_paired; i++) {
		x->paired[i] = list[i].item;
		x->items[list[i].item].paired = (int32_t)i;
	}
	free(list);
	x->pairs = calloc(x->nr_paired * x->nr_paired + 1, sizeof(*x->pairs));
	x->pair_counts = calloc(x->nr_paired * x->nr_paired + 1, sizeof(*x->pair_counts));
	return x->pairs && x->pair_counts ? find_paired(x) : -ENOMEM;
}

/* Loops over the positions of the pairs that a row has. */
#define EACH_PAIR(x, row, place)								\
	for (uint32_t a_ = (x)->paired_first[row]; a_ < (x)->paired_first[(row) + 1]; a_++)	\
		for (uint32_t b_ = (x)->paired_next[a_], place; b_ < (x)->paired_first[(row) + 1] && \
		     (place = (x)->paired_has[a_] * (x)->nr_paired + (x)->paired_has[b_], 1); b_++)

static uint64_t count_pairs(struct tester *x)
{
	uint64_t steps = 0;

	for (size_t row = 0; row < x->t->nr_rows; row++) {
		EACH_PAIR(x, row, place) {
			x->pairs[place].nr++;
			x->pairs[place].nr_slow += row < x->t->nr_slow;
			steps++;
		}
	}
	return steps;
}

/* Fisher's test */

static double log_choose(const struct tester *x, size_t n, size_t k)
{
	return x->log_factorial[n] - x->log_factorial[k] - x->log_factorial[n - k];
}

/*
 * Returns, for each number of slow rows, -ln of the probability that at least this many of nr rows
 * are slow by chance.
 */
static double *make_tail(struct tester *x, size_t nr)
{
	size_t n = x->t->nr_rows, s = x->t->nr_slow;
	size_t most = min(nr, s), least = nr + s > n ? nr + s - n : 0;
	double *tail = calloc(s + 2, sizeof(*tail)), all = log_choose(x, n, s), sum = -INFINITY;

	if (!tail)
		return NULL;
	for (size_t k = most + 1; k-- > least;) {
		double p = log_choose(x, nr, k) + log_choose(x, n - nr, s - k) - all;
		double hi = max(p, sum), lo = min(p, sum);

		sum = hi + log1p(exp(lo - hi));
		tail[k] = sum < 0 ? -sum : 0;
	}
	return tail;
}

/*
 * Returns -ln of the probability that at least nr_slow of nr rows are slow by chance; INFINITY if
 * there is no memory.
 */
static double surprise(struct tester *x, uint32_t nr, uint32_t nr_slow)
{
	if (!x->tails[nr])
		x->tails[nr] = make_tail(x, nr);
	return x->tails[nr] ? x->tails[nr][nr_slow] : INFINITY;
}

/* Draws */

static void draw_slow(struct tester *x)
{
	size_t n = x->t->nr_rows;

	for (size_t i = 0; i < x->t->nr_slow; i++) {
		size_t k = i + draw(x) % (n - i);
		uint32_t swap = x->order[i];

		x->order[i] = x->order[k];
		x->order[k] = swap;
	}
}

static double draw_once(struct tester *x)
{
	size_t nr_pairs = x->nr_paired * x->nr_paired;
	double greatest = 0;

	draw_slow(x);
	memset(x->counts, 0, x->nr_items * sizeof(*x->counts));
	memset(x->pair_counts, 0, nr_pairs * sizeof(*x->pair_counts));
	for (size_t i = 0; i < x->t->nr_slow; i++) {
		uint32_t row = x->order[i];

		for (uint32_t k = x->first[row]; k < x->first[row + 1]; k++)
			x->counts[x->has[k]]++;
		EACH_PAIR(x, row, place)
			x->pair_counts[place]++;
	}
	for (size_t i = 0; i < x->nr_items; i++)
		if (is_tested(x, x->items[i].nr))
			greatest = max(greatest, surprise(x, x->items[i].nr, x->counts[i]));
	for (size_t i = 0; i < nr_pairs; i++)
		if (x->pair_counts[i] && is_tested(x, x->pairs[i].nr))
			greatest = max(greatest, surprise(x, x->pairs[i].nr, x->pair_counts[i]));
	return greatest;
}

COMPARE_NUMBERS(compare_double, double)

/*
 * Makes as many draws as STEPS_MAX allows, but from DRAWS_MIN to DRAWS_MAX; a draw takes a step for
 * each pair of its slow rows.
 */
static int draw_all(struct tester *x, uint64_t steps)
{
	uint64_t each = steps * x->t->nr_slow / x->t->nr_rows + x->nr_paired * x->nr_paired + 1;
	uint64_t nr = min(max(STEPS_MAX / each, (uint64_t)DRAWS_MIN), (uint64_t)DRAWS_MAX);

	x->greatest = calloc(nr, sizeof(*x->greatest));
	if (!x->greatest)
		return -ENOMEM;
	for (; x->nr_draws < nr; x->nr_draws++) {
		x->greatest[x->nr_draws] = draw_once(x);
		if (x->greatest[x->nr_draws] == INFINITY)
			return -ENOMEM;
	}
	sort_by(x->greatest, nr, compare_double);
	return 0;
}

static double adjusted(const struct tester *x, double value)
{
	/* The tolerance makes values equal that differ by rounding only. */
	size_t below = search(x->nr_draws, i, x->greatest[i] < value - 1e-9);

	return (double)(1 + x->nr_draws - below) / (double)(1 + x->nr_draws);
}

/* Findings */

static struct trait_part part_of(const struct tester *x, const struct item *i)
{
	const struct trait_attribute *a = &x->t->attributes[i->attribute];

	return (struct trait_part){
		.attribute = i->attribute, .op = i->op, .value = i->value, .source = a->source,
		.name = a->name, .text = a->is_number ? NULL : intern_key(&a->texts, i->value),
	};
}

/*
 * Returns true if both parts are thresholds of the same attribute in the same direction, or the
 * same text.
 */
static bool is_alike(const struct trait_part *a, const struct trait_part *b)
{
	return a->attribute == b->attribute && a->op == b->op && (a->op != TRAIT_IS || a->value == b->value);
}

static bool says_the_same(const struct trait *a, const struct trait *b)
{
	if (a->nr_parts != b->nr_parts)
		return false;
	if (a->nr_parts == 1)
		return is_alike(&a->parts[0], &b->parts[0]);
	return (is_alike(&a->parts[0], &b->parts[0]) && is_alike(&a->parts[1], &b->parts[1])) ||
	       (is_alike(&a->parts[0], &b->parts[1]) && is_alike(&a->parts[1], &b->parts[0]));
}

/* Returns the surprise (-ln p) of the best single trait for which is_alike() is true. */
static double best_single(struct tester *x, const struct trait_part *part)
{
	double best = 0;

	for (size_t i = 0; i < x->nr_items; i++) {
		struct trait_part p;

		if (x->items[i].attribute != part->attribute || !is_tested(x, x->items[i].nr))
			continue;
		p = part_of(x, &x->items[i]);
		if (is_alike(&p, part))
			best = max(best, surprise(x, x->items[i].nr, x->items[i].nr_slow));
	}
	return best;
}

static int add_finding(struct tester *x, struct traits *t, size_t *room, const struct trait *found)
{
	/* A pair must be more surprising than each of its traits. */
	for (unsigned k = 0; found->nr_parts == 2 && k < 2; k++)
		if (found->surprise < best_single(x, &found->parts[k]) + TRAITS_GAIN)
			return 0;
	for (size_t i = 0; i < t->nr; i++) {
		if (!says_the_same(&t->at[i], found))
			continue;
		if (t->at[i].surprise < found->surprise ||
		    (t->at[i].surprise <= found->surprise && t->at[i].nr_of_parts > found->nr_of_parts))
			t->at[i] = *found;
		return 0;
	}
	return array_push(t->at, t->nr, *room, *found);
}

static int try_trait(struct tester *x, struct traits *t, size_t *room, const struct item *a,
		     const struct item *b, uint32_t nr, uint32_t nr_slow)
{
	struct trait found = {
		.parts = { part_of(x, a) }, .nr_parts = b ? 2 : 1, .nr_slow = nr_slow,
		.nr_usual = nr - nr_slow, .nr_of_parts = a->nr + (b ? b->nr : 0),
		.surprise = surprise(x, nr, nr_slow),
	};

	if (found.surprise == INFINITY)
		return -ENOMEM;
	t->nr_tests++;
	/* A text is mentioned before a threshold. */
	if (b) {
		found.parts[a->op != TRAIT_IS && b->op == TRAIT_IS] = part_of(x, a);
		found.parts[a->op == TRAIT_IS || b->op != TRAIT_IS] = part_of(x, b);
	}
	found.p = exp(-found.surprise);
	found.p_adjusted = adjusted(x, found.surprise);
	return found.p_adjusted > TRAITS_P ? 0 : add_finding(x, t, room, &found);
}

COMPARE(compare_trait, struct trait, DOWN(surprise) UP(nr_parts) DOWN(nr_slow))

static int find_traits(struct tester *x, struct traits *t)
{
	size_t room = 0;
	int ret = 0;

	for (size_t i = 0; i < x->nr_items && !ret; i++)
		if (is_tested(x, x->items[i].nr))
			ret = try_trait(x, t, &room, &x->items[i], NULL, x->items[i].nr, x->items[i].nr_slow);
	for (size_t a = 0; a < x->nr_paired && !ret; a++) {
		for (size_t b = 0; b < x->nr_paired && !ret; b++) {
			const struct pair *p = &x->pairs[a * x->nr_paired + b];

			if (is_tested(x, p->nr))
				ret = try_trait(x, t, &room, &x->items[x->paired[a]], &x->items[x->paired[b]],
						p->nr, p->nr_slow);
		}
	}
	sort_by(t->at, t->nr, compare_trait);
	t->nr_draws = x->nr_draws;
	return ret;
}

static int prepare(struct tester *x)
{
	size_t n = x->t->nr_rows;

	x->first = calloc(n + 1, sizeof(*x->first));
	x->order = calloc(n + 1, sizeof(*x->order));
	x->log_factorial = calloc(n + 1, sizeof(*x->log_factorial));
	x->tails = calloc(n + 1, sizeof(*x->tails));
	if (!x->first || !x->order || !x->log_factorial || !x->tails)
		return -ENOMEM;
	for (size_t i = 1; i <= n; i++)
		x->log_factorial[i] = x->log_factorial[i - 1] + log((double)i);
	for (size_t i = 0; i < n; i++)
		x->order[i] = i;
	return 0;
}

static void free_all(struct tester *x)
{
	for (size_t i = 0; x->tails && i <= x->t->nr_rows; i++)
		free(x->tails[i]);
	free(x->tails);
	free(x->log_factorial);
	free(x->greatest);
	free(x->order);
	free(x->first);
	free(x->has);
	free(x->items);
	free(x->paired_first);
	free(x->paired_has);
	free(x->paired_next);
	free(x->pairs);
	free(x->pair_counts);
	free(x->counts);
}

int traits_test(struct traits *t)
{
	const struct traits_table *table = &t->table;
	struct tester x = { .t = table, .random = 88172645463325252ULL };
	int ret;

	if (table->nr_slow < TRAITS_SLOW_MIN || table->nr_rows - table->nr_slow < TRAITS_USUAL_MIN)
		return 0;
	t->nr_slow = table->nr_slow;
	t->nr_usual = table->nr_rows - table->nr_slow;
	ret = prepare(&x);
	if (!ret)
		ret = find_rows(&x);
	if (!ret)
		ret = choose_paired(&x);
	x.counts = calloc(x.nr_items + 1, sizeof(*x.counts));
	if (!ret)
		ret = x.counts ? draw_all(&x, count_pairs(&x)) : -ENOMEM;
	if (!ret)
		ret = find_traits(&x, t);
	free_all(&x);
	return ret;
}
