// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "flowdiff.h"

#define WAIT	"wait"

/*
 * Returns the length of the name without the version: "libz.so.1.3" and "libz.so.1.2.13" are one
 * library.
 */
static size_t length_of_name(const char *name)
{
	const char *so = strstr(name, ".so");

	return so ? (size_t)(so + 3 - name) : strlen(name);
}

static bool is_same_component(const struct flow_component *a, bool a_first,
			      const struct flow_component *b, bool b_first)
{
	size_t len = length_of_name(a->name);

	if (a_first || b_first)
		return a_first && b_first;
	return len == length_of_name(b->name) && !strncmp(a->name, b->name, len);
}

static bool is_program(const struct flowstats *s, const struct flow_component *c)
{
	return c == s->flows->components;
}

static bool is_same_entry(const struct flowstats *as, const struct flow_entry *a,
			  const struct flowstats *bs, const struct flow_entry *b)
{
	return !strcmp(a->api->symbol.raw, b->api->symbol.raw) &&
	       is_same_component(a->caller, is_program(as, a->caller), b->caller, is_program(bs, b->caller)) &&
	       is_same_component(a->callee, is_program(as, a->callee), b->callee, is_program(bs, b->callee));
}

static bool is_same_part(const struct flowstats *as, const struct flow_part *a,
			 const struct flowstats *bs, const struct flow_part *b)
{
	if (!a->component || !b->component)
		return !a->component && !b->component;
	return is_same_component(a->component, is_program(as, a->component),
				 b->component, is_program(bs, b->component));
}

static void finish(struct flow_change *c, int64_t err_before, int64_t err_after)
{
	c->delta_ns = c->after_ns - c->before_ns;
	c->err_ns = hypot(err_before, err_after) + 0.5;
	c->is_beyond_error = llabs(c->delta_ns) > c->err_ns;
}

/* One of the entries may be NULL. */
static struct flow_change change_of(const struct flow_entry *a, const struct flow_entry *b)
{
	const struct flow_entry *e = b ? b : a;
	struct flow_change c = {
		.caller = e->caller->name, .callee = e->callee->name, .function = e->api->symbol.function,
		.calls_before = a ? a->times.calls : 0, .calls_after = b ? b->times.calls : 0,
		.before_ns = a ? a->times.ns : 0, .after_ns = b ? b->times.ns : 0,
	};

	finish(&c, a ? a->times.err_ns : 0, b ? b->times.err_ns : 0);
	return c;
}

static struct flow_change change_of_part(const struct flow_part *a, const struct flow_part *b)
{
	const struct flow_part *p = b ? b : a;
	struct flow_change c = {
		.caller = "", .function = "", .callee = p->component ? p->component->name : WAIT,
		.calls_before = a ? a->calls : 0, .calls_after = b ? b->calls : 0,
		.before_ns = a ? a->self_ns : 0, .after_ns = b ? b->self_ns : 0,
	};

	finish(&c, a ? a->err_ns : 0, b ? b->err_ns : 0);
	return c;
}

static int change_compare(const void *pa, const void *pb)
{
	const struct flow_change *a = pa, *b = pb;
	int64_t da = llabs(a->delta_ns), db = llabs(b->delta_ns);
	int order = da != db ? (da > db ? -1 : 1) : strcmp(a->function, b->function);

	if (!order)
		order = strcmp(a->callee, b->callee);
	return order ? order : strcmp(a->caller, b->caller);
}

static int compare_symbols(const void *pa, const void *pb)
{
	const struct flow_entry *const *a = pa, *const *b = pb;
	int order = strcmp((*a)->api->symbol.raw, (*b)->api->symbol.raw);

	return order ? order : *a < *b ? -1 : *a > *b;
}

/*
 * Returns the entry of `after` that matches e and is not taken yet, and marks it as taken; NULL:
 * none; by_name is sorted by name.
 */
static const struct flow_entry *take(const struct flowstats *before, const struct flow_entry *e,
				     const struct flowstats *after, const struct flow_entry **by_name, bool *is_taken)
{
	const char *raw = e->api->symbol.raw;
	size_t i = search(after->nr_entries, n, strcmp(by_name[n]->api->symbol.raw, raw) < 0);

	for (; i < after->nr_entries && !strcmp(by_name[i]->api->symbol.raw, raw); i++) {
		if (is_taken[i] || !is_same_entry(before, e, after, by_name[i]))
			continue;
		is_taken[i] = true;
		return by_name[i];
	}
	return NULL;
}

static int compare_entries(const struct flowstats *before, const struct flowstats *after, struct flowdiff *d)
{
	const struct flow_entry **by_name = calloc(after->nr_entries + 1, sizeof(*by_name));
	bool *is_taken = calloc(after->nr_entries + 1, sizeof(*is_taken));
	int ret = -ENOMEM;

	d->entries = calloc(before->nr_entries + after->nr_entries + 1, sizeof(*d->entries));
	if (!by_name || !is_taken || !d->entries)
		goto out;
	for (size_t i = 0; i < after->nr_entries; i++)
		by_name[i] = &after->entries[i];
	sort_by(by_name, after->nr_entries, compare_symbols);
	for (size_t i = 0; i < before->nr_entries; i++) {
		const struct flow_entry *e = &before->entries[i];

		d->entries[d->nr_entries++] = change_of(e, take(before, e, after, by_name, is_taken));
	}
	for (size_t i = 0; i < after->nr_entries; i++)
		if (!is_taken[i])
			d->entries[d->nr_entries++] = change_of(NULL, by_name[i]);
	sort_by(d->entries, d->nr_entries, change_compare);
	ret = 0;
out:
	free(by_name);
	free(is_taken);
	return ret;
}

static int compare_parts(const struct flowstats *before, const struct flowstats *after, struct flowdiff *d)
{
	bool *is_found = calloc(after->nr_parts + 1, sizeof(*is_found));
	size_t j;

	d->parts = calloc(before->nr_parts + after->nr_parts + 1, sizeof(*d->parts));
	if (!is_found || !d->parts) {
		free(is_found);
		return -ENOMEM;
	}
	for (size_t i = 0; i < before->nr_parts; i++) {
		for (j = 0; j < after->nr_parts; j++)
			if (!is_found[j] && is_same_part(before, &before->parts[i], after, &after->parts[j]))
				break;
		d->parts[d->nr_parts++] = change_of_part(&before->parts[i],
							 j < after->nr_parts ? &after->parts[j] : NULL);
		is_found[j] = true;
	}
	for (j = 0; j < after->nr_parts; j++)
		if (!is_found[j])
			d->parts[d->nr_parts++] = change_of_part(NULL, &after->parts[j]);
	free(is_found);
	sort_by(d->parts, d->nr_parts, change_compare);
	return 0;
}

int flowdiff_build(const struct flowstats *before, const struct flowstats *after, struct flowdiff *d)
{
	*d = (struct flowdiff){
		.lifetime_before_ns = before->lifetime_ns, .lifetime_after_ns = after->lifetime_ns,
		.wait_before_ns = before->wait_ns, .wait_after_ns = after->wait_ns,
	};
	if (compare_entries(before, after, d) || compare_parts(before, after, d)) {
		flowdiff_free(d);
		return -ENOMEM;
	}
	return 0;
}

void flowdiff_free(struct flowdiff *d)
{
	free(d->entries);
	free(d->parts);
	*d = (struct flowdiff){ .nr_entries = 0 };
}
