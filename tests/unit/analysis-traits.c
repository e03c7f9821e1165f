// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests traits of slow requests: the probabilities, a planted rule, and that random labels have no
 * findings.
 */
#include <math.h>
#include "analysis/why/traits.h"
#include "tap.h"

#define ROWS	400
#define SLOW	40
#define TRACES	100
#define FINDINGS_MAX 5

static uint64_t state = 1234567;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dULL >> 32;
}

/* A server's requests: tenant and size matter if there is a rule, and other attributes never do. */
struct made_request {
	unsigned tenant, shard, thread, cpu;
	uint64_t bytes, idle, open, rows;
};

static struct made_request made_request(void)
{
	struct made_request r;

	/*
	 * Random numbers are drawn one by one, because an initializer may evaluate them in any
	 * order.
	 */
	r.tenant = draw() % 20;
	r.shard = draw() % 3;
	r.thread = draw() % 8;
	r.cpu = draw() % 4;
	r.bytes = 1ULL << (8 + draw() % 12);
	r.idle = draw() % 1000000;
	r.open = draw() % 9;
	r.rows = 1 + draw() % 1000;
	return r;
}

static bool obeys(const struct made_request *r)
{
	return r->tenant == 7 && r->bytes > 65536;
}

static void set_name(struct traits_table *t, size_t attribute, size_t row, const char *name, unsigned number)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%u", name, number);
	if (traits_set_text(&t->attributes[attribute], row, text))
		bail_out("no memory");
}

static void make_table(struct traits *t)
{
	static const char *const texts[] = { "tenant", "shard", "thread", "cpu" };
	static const char *const numbers[] = { "bytes", "idle", "open", "rows" };

	*t = (struct traits){ .table = { .nr_rows = ROWS, .nr_slow = SLOW } };
	for (unsigned i = 0; i < 4; i++)
		if (!traits_add(&t->table, TRAIT_NOTE, texts[i], false))
			bail_out("no memory");
	for (unsigned i = 0; i < 4; i++)
		if (!traits_add(&t->table, TRAIT_NOTE, numbers[i], true))
			bail_out("no memory");
}

/* is_ruled: the first `obeying` slow requests obey the rule, and no usual request does. */
static void fill_table(struct traits *t, bool is_ruled, size_t obeying)
{
	make_table(t);
	for (size_t row = 0; row < ROWS; row++) {
		struct made_request r = made_request();

		while (is_ruled && obeys(&r) != (row < obeying))
			r = made_request();
		set_name(&t->table, 0, row, "", r.tenant);
		set_name(&t->table, 1, row, "s", r.shard);
		set_name(&t->table, 2, row, "worker ", r.thread);
		set_name(&t->table, 3, row, "", r.cpu);
		t->table.attributes[4].values[row] = r.bytes;
		t->table.attributes[5].values[row] = r.idle;
		t->table.attributes[6].values[row] = r.open;
		t->table.attributes[7].values[row] = r.rows;
	}
	if (traits_test(t))
		bail_out("no memory");
}

static bool is_text(const struct trait_part *p, const char *name, const char *text)
{
	return p->op == TRAIT_IS && !strcmp(p->name, name) && !strcmp(p->text, text);
}

/*
 * Returns true if the part is that `name` is above about `bound`: by chance another threshold may
 * be as good, or better.
 */
static bool is_above(const struct trait_part *p, const char *name, uint64_t bound)
{
	return p->op == TRAIT_ABOVE && !strcmp(p->name, name) && p->value >= bound / 2 && p->value <= bound * 2;
}

static bool is_rule(const struct trait *f)
{
	return f->nr_parts == 2 && is_text(&f->parts[0], "tenant", "7") && is_above(&f->parts[1], "bytes", 65536);
}

static void test_rule(void)
{
	for (size_t obeying = SLOW; obeying >= SLOW / 4; obeying -= SLOW / 4) {
		struct traits t;

		fill_table(&t, true, obeying);
		ok(t.nr && is_rule(&t.at[0]), "the rule ranks first, if %zu of %u slow ones obey it", obeying, SLOW);
		if (t.nr) {
			ok(t.at[0].nr_slow + 2 >= obeying && t.at[0].nr_slow <= obeying + 2, "its slow ones");
			ok(t.at[0].nr_usual <= 2, "its usual ones");
			ok(t.at[0].p_adjusted <= 0.0011, "and no draw looks as good: %g", t.at[0].p_adjusted);
		}
		for (size_t i = 1; i < t.nr; i++)
			if (t.at[i].nr_parts == 2)
				ok(is_rule(&t.at[i]), "no other two together say more than each alone");
		traits_free(&t);
	}
}

/* If one of the two traits alone explains the slow requests, the pair is not reported. */
static void test_single(void)
{
	struct traits t;

	make_table(&t);
	for (size_t row = 0; row < ROWS; row++) {
		set_name(&t.table, 0, row, "", row < SLOW ? 7 : draw() % 20);
		set_name(&t.table, 1, row, "s", draw() % 3);
		t.table.attributes[4].values[row] = draw() % 100000;
	}
	if (traits_test(&t))
		bail_out("no memory");
	ok(t.nr == 1 && t.at[0].nr_parts == 1 && is_text(&t.at[0].parts[0], "tenant", "7"), "a tenant alone");
	is_int(t.at[0].nr_slow, SLOW, "of all slow ones");
	traits_free(&t);
}

static void test_nothing(void)
{
	size_t nr_findings = 0, nr_traces = 0;

	for (unsigned i = 0; i < TRACES; i++) {
		struct traits t;

		fill_table(&t, false, 0);
		nr_findings += t.nr;
		nr_traces += !!t.nr;
		traits_free(&t);
	}
	ok(nr_findings <= FINDINGS_MAX, "%d traces in which nothing matters have %zu findings (in %zu of them)",
	   TRACES, nr_findings, nr_traces);
}

/* Computes the probability by its definition. */
static double probability(unsigned all, unsigned slow, unsigned has, unsigned has_slow)
{
	double sum = 0;

	for (unsigned k = has_slow; k <= has && k <= slow; k++) {
		double p = 1;

		if (slow - k > all - has)
			continue;
		/* C(has, k) * C(all - has, slow - k) / C(all, slow), factor by factor */
		for (unsigned i = 0; i < k; i++)
			p *= (double)(has - i) / (i + 1);
		for (unsigned i = 0; i < slow - k; i++)
			p *= (double)(all - has - i) / (i + 1);
		for (unsigned i = 0; i < slow; i++)
			p /= (double)(all - i) / (i + 1);
		sum += p;
	}
	return sum;
}

static void test_probability(void)
{
	static const unsigned nr_slow = 10, nr_rows = 50;
	struct traits t = { .table = { .nr_rows = nr_rows, .nr_slow = nr_slow } };
	double p;

	if (!traits_add(&t.table, TRAIT_CLASS, "class", false))
		bail_out("no memory");
	/* 9 of 10 slow ones are of class A, and 3 of 40 usual ones. */
	for (size_t row = 0; row < nr_rows; row++)
		if (traits_set_text(&t.table.attributes[0], row, row < 9 || row >= 47 ? "A" : "B"))
			bail_out("no memory");
	if (traits_test(&t))
		bail_out("no memory");
	p = probability(nr_rows, nr_slow, 12, 9);
	ok(t.nr == 1 && t.at[0].nr_slow == 9 && t.at[0].nr_usual == 3, "a class");
	ok(t.nr == 1 && fabs(t.at[0].p / p - 1) < 1e-9, "Fisher's test: %g, %g", t.nr ? t.at[0].p : 0, p);
	traits_free(&t);
}

static void test_few(void)
{
	struct traits t = { .table = { .nr_rows = 100, .nr_slow = TRAITS_SLOW_MIN - 1 } };

	if (!traits_add(&t.table, TRAIT_CLASS, "class", false) || traits_test(&t))
		bail_out("no memory");
	ok(!t.nr && !t.nr_slow && !t.nr_tests, "few slow ones tell nothing");
	traits_free(&t);
	t = (struct traits){ .table = { .nr_rows = 10 + TRAITS_USUAL_MIN - 1, .nr_slow = 10 } };
	ok(!traits_test(&t) && !t.nr_slow, "nor do few usual ones");
	t = (struct traits){ .table = { .nr_rows = 100, .nr_slow = 50 } };
	ok(!traits_test(&t) && !t.nr && !t.nr_tests, "a table of nothing");
	traits_free(&t);
}

int main(void)
{
	test_probability();
	test_few();
	test_single();
	test_rule();
	test_nothing();
	return done();
}
