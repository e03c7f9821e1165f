// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds when a thread was inside a function whose time is to be changed: divides the time of the
 * thread into pieces, and finds the factor of each.
 *
 * A change of a function's time applies from the start to the end of its outermost invocation; a
 * change of its self time applies only while it is the innermost function.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "facts/ticks.h"
#include "replay-private.h"

#define PIECES_MAX	(2 * (size_t)WHATIF_ITEMS_MAX)

struct known {			/* the changes that concern a function */
	const struct symbol *func;
	uint32_t inside, self;	/* bits: changes */
};

struct level {			/* an invocation that is open */
	int64_t end;
	uint32_t inside, self;	/* bits: changes; inside: also those of its callers */
};

struct replay_funcs {
	struct replay *r;
	struct known *known;
	size_t nr_known, room_known;
	struct hash by_func;	/* known */
	struct level *levels;
	size_t nr_levels, room_levels;
	uint32_t actor;
	uint32_t now;		/* bits: changes that apply now */
	int64_t since;
};

bool replay_wants_funcs(const struct replay *r)
{
	for (size_t i = 0; i < r->w->nr_changes; i++)
		if (r->w->changes[i].kind == WHATIF_FUNCTION || r->w->changes[i].kind == WHATIF_SELF)
			return true;
	return false;
}

struct replay_funcs *replay_funcs_open(struct replay *r)
{
	struct replay_funcs *f = calloc(1, sizeof(*f));

	if (f)
		f->r = r;
	else
		r->ret = -ENOMEM;
	return f;
}

void replay_funcs_close(struct replay_funcs *f)
{
	if (!f)
		return;
	free(f->known);
	hash_free(&f->by_func);
	free(f->levels);
	free(f);
}

static const struct known *get_known(struct replay_funcs *f, const struct symbol *func)
{
	uint64_t hash = hash_mix(0, (uintptr_t)func);
	struct known *k;
	uint32_t n;

	hash_each(&f->by_func, hash, n)
		if (f->known[n].func == func)
			return &f->known[n];
	if (hash_add(&f->by_func, hash, f->nr_known))
		f->r->ret = -ENOMEM;
	k = replay_add(f->r, f, known);
	*k = (struct known){ .func = func };
	for (size_t i = 0; i < f->r->w->nr_changes; i++) {
		const struct whatif_change *c = &f->r->w->changes[i];

		if ((c->kind != WHATIF_FUNCTION && c->kind != WHATIF_SELF) ||
		    fnmatch(c->name, func->function, 0))
			continue;
		*(c->kind == WHATIF_SELF ? &k->self : &k->inside) |= 1U << i;
	}
	return k;
}

/* Sets the changes that apply from `at` on, and begins a piece with their factor. */
static void set_changes(struct replay_funcs *f, int64_t at)
{
	const struct level *top = f->nr_levels ? &f->levels[f->nr_levels - 1] : NULL;
	uint32_t now = top ? top->inside | top->self : 0;
	struct replay *r = f->r;
	struct replay_piece *p;

	if (now == f->now)
		return;
	for (size_t i = 0; i < r->w->nr_changes; i++)
		if (f->now & 1U << i)
			ticks_add(&r->w->changes[i].ns, at - f->since);
	f->since = at;
	f->now = now;
	p = r->nr_pieces ? &r->pieces[r->nr_pieces - 1] : NULL;
	if (!p || p->actor != f->actor || p->start < at) {
		if (r->nr_pieces == PIECES_MAX)
			replay_refuse(r, "more than %zu calls of what is changed: record for "
				      "a shorter time", PIECES_MAX / 2);
		p = replay_add(r, r, pieces);
	}
	*p = (struct replay_piece){ .start = at, .actor = f->actor, .factor = 1 };
	for (size_t i = 0; i < r->w->nr_changes; i++)
		if (now & 1U << i)
			p->factor *= r->w->changes[i].factor;
}

/* Closes the invocations that have ended by `start`. */
static void pop(struct replay_funcs *f, int64_t start)
{
	while (f->nr_levels && f->levels[f->nr_levels - 1].end <= start)
		set_changes(f, f->levels[--f->nr_levels].end);
}

void replay_funcs_thread(struct replay_funcs *f, uint32_t actor)
{
	replay_funcs_end(f);
	f->actor = actor;
}

static void count(struct replay_funcs *f, const struct segment *s, uint32_t outermost)
{
	for (size_t i = 0; i < f->r->w->nr_changes; i++) {
		if (!(outermost >> i & 1))
			continue;
		f->r->w->changes[i].nr++;
		ticks_add(&f->r->w->changes[i].resolution_ns, s->resolution_ns);
	}
}

void replay_funcs_add(struct replay_funcs *f, const struct segment *s)
{
	const struct known *k = get_known(f, s->func);
	uint32_t inside;

	pop(f, s->start_ns);
	inside = f->nr_levels ? f->levels[f->nr_levels - 1].inside : 0;
	count(f, s, (k->inside & ~inside) | k->self);
	*replay_add(f->r, f, levels) = (struct level){ s->end_ns, inside | k->inside, k->self };
	set_changes(f, s->start_ns);
}

void replay_funcs_end(struct replay_funcs *f)
{
	pop(f, INT64_MAX);
}
