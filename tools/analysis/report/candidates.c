// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds functions that may be requests; see candidates.h. */
#include <errno.h>
#include <stdlib.h>
#include "base/keyed.h"
#include "base/minmax.h"
#include "candidates.h"
#include "facts/estimate.h"
#include "facts/rows.h"
#include "facts/syscalls.h"
#include "trace/loop-calls.h"

struct called {			/* calls of one address */
	uint64_t pc;
	const struct symbol *func;
	uint64_t nr, depth;
	double ticks;
	int64_t max;
};

struct finding {
	struct model *m;
	struct keyed by_pc;	/* struct called */
	struct keyed by_func;	/* struct called, for all addresses of a function */
	bool has_loop;
};

static struct called *called_at(struct finding *f, uint64_t pc, int64_t tick)
{
	uint64_t hash = hash_mix(0, pc);
	struct called *c;

	keyed_each(&f->by_pc, hash, c)
		if (c->pc == pc)
			return c;
	c = keyed_add(&f->by_pc, hash, sizeof(*c));
	if (c)
		*c = (struct called){ .pc = pc, .func = symtab_lookup(f->m->symtab, pc, tick) };
	return c;
}

static int on_func(void *arg, const void *at)
{
	const struct ldb_row_func *row = at;
	struct estimate e = estimate_func(row);
	struct called *c;

	if (e.is_truncated)
		return 0;
	c = called_at(arg, row->pc, e.start);
	if (!c)
		return -ENOMEM;
	c->nr++;
	c->depth += row->depth;
	c->ticks += (double)(e.end - e.start);
	c->max = max(c->max, e.end - e.start);
	return 0;
}

static int on_call(void *arg, const struct syscall *call)
{
	struct finding *f = arg;

	f->has_loop |= is_loop_call(call->call.name) && call->thread;
	return f->has_loop;
}

static int sum_up(struct finding *f, const struct called *c)
{
	uint64_t hash = hash_mix(0, (uintptr_t)c->func);
	struct called *sum;

	keyed_each(&f->by_func, hash, sum)
		if (sum->func == c->func)
			break;
	if (!sum) {
		sum = keyed_add(&f->by_func, hash, sizeof(*sum));
		if (!sum)
			return -ENOMEM;
		*sum = (struct called){ .func = c->func };
	}
	sum->nr += c->nr;
	sum->depth += c->depth;
	sum->ticks += c->ticks;
	sum->max = max(sum->max, c->max);
	return 0;
}

/* Deep functions are parts of a request rather than all of it. */
static double score(const struct candidate *c)
{
	return c->total_ns / (1 + c->depth * c->depth);
}

static void keep_best(struct candidates *found, const struct candidate *c)
{
	size_t i = found->nr < CANDIDATES_MAX ? found->nr++ : CANDIDATES_MAX - 1;

	if (i == CANDIDATES_MAX - 1 && found->at[i].func && score(&found->at[i]) >= score(c))
		return;
	for (; i && score(&found->at[i - 1]) < score(c); i--)
		found->at[i] = found->at[i - 1];
	found->at[i] = *c;
}

static void choose(struct finding *f, struct candidates *found)
{
	double ns = reader_ticks_to_ns(f->m->reader, 1);

	for (size_t i = 0; i < f->by_func.nr; i++) {
		const struct called *c = f->by_func.at[i];

		if (c->nr >= CANDIDATE_CALLS_MIN && c->func->known)
			keep_best(found, &(struct candidate){
				c->func, c->nr, c->ticks * ns, c->max * ns, (double)c->depth / c->nr });
	}
	found->has_loop = f->has_loop;
}

int candidates_find(struct model *m, struct candidates *found)
{
	struct finding f = { .m = m };
	int ret = rows_each(m->reader, LDB_BLK_FUNC, NULL, on_func, &f);

	*found = (struct candidates){ 0 };
	for (size_t i = 0; i < f.by_pc.nr && !ret; i++)
		ret = sum_up(&f, f.by_pc.at[i]);
	if (!ret && m->has_calls)
		ret = min(syscalls_each(m, NULL, on_call, &f), 0);
	if (!ret)
		choose(&f, found);
	keyed_free(&f.by_pc);
	keyed_free(&f.by_func);
	return ret;
}
