// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads samples, and finds the place in the source or library where each was taken; see samples.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/sort.h"
#include "rows.h"
#include "samples.h"
#include "ticks.h"

#define KERNEL_MAX	(1U << 17)	/* functions of the kernel; a trace with more is damaged */

struct sink {
	struct model *m;
	int (*call)(void *arg, const struct sample *s);
	void *arg;
};

static int on_row(void *arg, const void *at)
{
	const struct ldb_row_sample *row = at;
	const struct sink *sink = arg;
	int64_t tick = ticks_sane(row->tick);

	return sink->call(sink->arg, &(struct sample){
		.tick = tick, .tid = row->tid, .thread = model_thread(sink->m, row->tid, tick),
		.pc = row->pc, .ret = row->ret, .kernel = row->kernel,
	});
}

int samples_each(struct model *m, const struct reader_filter *filter,
		 int (*call)(void *arg, const struct sample *s), void *arg)
{
	struct sink sink = { .m = m, .call = call, .arg = arg };

	return rows_each(m->reader, LDB_BLK_SAMPLE, filter, on_row, &sink);
}

/* Names of the kernel's functions */

static int add_kernel(void *arg, const void *at)
{
	const struct ldb_row_ksym *row = at;
	struct places *p = arg;

	if (row->id >= KERNEL_MAX)
		return 0;
	if (row->id >= p->nr_kernel) {
		const char **kernel = reallocarray(p->kernel, row->id + 1, sizeof(*kernel));

		if (!kernel)
			return -ENOMEM;
		for (; p->nr_kernel <= row->id; p->nr_kernel++)
			kernel[p->nr_kernel] = "";
		p->kernel = kernel;
	}
	p->kernel[row->id] = model_keep_string(p->m, row->name);
	return 0;
}

static int read_kernel(struct places *p)
{
	if (p->kernel)
		return 0;
	p->kernel = calloc(1, sizeof(*p->kernel));
	if (!p->kernel)
		return -ENOMEM;
	p->kernel[0] = "";
	p->nr_kernel = 1;
	return rows_each(p->m->reader, LDB_BLK_KSYM, NULL, add_kernel, p);
}

/* Places */

static bool is_same(const struct symbol *a, const struct symbol *b)
{
	return a == b || (!strcmp(a->function, b->function) && !strcmp(a->path, b->path));
}

static struct sample_place place_of_code(struct symtab *st, const struct sample *s, const struct symbol *in)
{
	const struct symbol *at = symtab_lookup_aside(st, s->pc, s->tick), *callee = NULL;
	const char *function = at->known ? at->function : "";

	if (in && is_same(at, in))
		return (struct sample_place){ PLACE_LINE, "", "", at->file, at->line };
	if (*at->file && (!in || !strcmp(at->path, in->path)))
		return (struct sample_place){ PLACE_LINE, function, "", at->file, at->line };
	/*
	 * The return address may be a stale one, of a call that has ended: so it is used only if it
	 * is in the function `in`.
	 */
	if (in && s->ret && is_same(symtab_lookup_call(st, s->ret, s->tick), in))
		callee = symtab_lookup_callee(st, s->ret, s->tick);
	if (callee && callee->known)
		function = callee->function;
	if (!*function && !*at->module)
		return (struct sample_place){ PLACE_UNKNOWN, "", "", "", 0 };
	return (struct sample_place){ PLACE_LIBRARY, function, at->module, "", 0 };
}

static uint64_t hash_of(const struct sample_place *p)
{
	uint64_t hash = hash_mix(hash_mix(p->kind, p->line), hash_text(p->function));

	return hash_mix(hash_mix(hash, hash_text(p->module)), hash_text(p->file));
}

static bool is_place(const struct sample_place *a, const struct sample_place *b)
{
	return a->kind == b->kind && a->line == b->line && !strcmp(a->function, b->function) &&
	       !strcmp(a->module, b->module) && !strcmp(a->file, b->file);
}

int64_t places_find(struct places *p, const struct sample *s, const struct symbol *in)
{
	struct sample_place new = { PLACE_UNKNOWN, "", "", "", 0 };
	uint64_t hash;
	uint32_t n;

	if (read_kernel(p))
		return -ENOMEM;
	if (s->kernel) {
		new.kind = PLACE_KERNEL;
		new.function = s->kernel < p->nr_kernel ? p->kernel[s->kernel] : "";
	} else if (s->pc) {
		new = place_of_code(p->m->symtab, s, in);
	}
	hash = hash_of(&new);
	hash_each(&p->by_key, hash, n)
		if (is_place(&p->at[n], &new))
			return n;
	if (hash_add(&p->by_key, hash, p->nr) || array_push(p->at, p->nr, p->room, new))
		return -ENOMEM;
	return p->nr - 1;
}

void places_free(struct places *p)
{
	free(p->at);
	free(p->kernel);
	hash_free(&p->by_key);
	*p = (struct places){ .m = p->m };
}

/* Sums */

/* See E. B. Wilson, JASA 22 (1927).  The 1.96 is that of a 95 % interval. */
void split_interval(uint64_t nr, uint64_t all, double *low, double *high)
{
	const double z = 1.96;
	double n = (double)all, share = all ? (double)nr / n : 0;
	double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
	double half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));

	*low = all && nr ? middle - half : 0;
	*high = all && nr < all ? middle + half : 1;
}

COMPARE_NUMBERS(number_compare, uint32_t)

/*
 * Inserts a part, if it is among the biggest; of equal parts, the one that was added first is
 * retained.
 */
static void add_part(struct split *split, const struct split_part *new)
{
	size_t at = split->nr_parts;

	while (at && split->parts[at - 1].nr < new->nr)
		at--;
	if (at == SPLIT_MAX)
		return;
	split->nr_parts += split->nr_parts < SPLIT_MAX;
	memmove(&split->parts[at + 1], &split->parts[at], (split->nr_parts - at - 1) * sizeof(*new));
	split->parts[at] = *new;
}

void places_split(const struct places *p, uint32_t *numbers, size_t nr, struct split *split)
{
	*split = (struct split){ .nr_samples = nr };
	sort_by(numbers, nr, number_compare);
	for (size_t i = 0, end; i < nr; i = end) {
		struct split_part part = { .place = p->at[numbers[i]] };

		for (end = i; end < nr && numbers[end] == numbers[i];)
			end++;
		part.nr = end - i;
		part.share = (double)part.nr / (double)nr;
		split_interval(part.nr, nr, &part.low, &part.high);
		add_part(split, &part);
	}
}

const char *place_kind_name(enum place_kind kind)
{
	static const char *const names[] = {
		[PLACE_LINE] = "line", [PLACE_LIBRARY] = "library", [PLACE_KERNEL] = "kernel",
		[PLACE_UNKNOWN] = "unknown",
	};

	return names[kind];
}
