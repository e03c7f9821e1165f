// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses functions and locks; see filter.h.  Requests are chosen in requests.c. */
#include <stdlib.h>
#include <string.h>
#include <linux/ldb.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/intern.h"
#include "record/filter/lookup.h"
#include "record/filter/private.h"
#include "record/filter/requests.h"

#define FUNCS_MAX	65536	/* further functions are recorded in any case */
#define TEXTS_MAX	131072

struct func {
	uint64_t pc;
	const char *names[3];	/* by enum filter_what; NULL: not known yet */
	bool is_chosen;
	uint64_t least;		/* ticks; shorter invocations are left out */
};

struct filter_funcs {
	struct hash hash;	/* finds functions and variables by address */
	struct func *all;
	size_t nr, room;
	struct record_ask *unknown;	/* addresses whose names must be requested */
	size_t nr_unknown, room_unknown;
	struct intern texts;
};

struct filter *filter_alloc(double ticks_per_ns)
{
	struct filter *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->ticks_per_ns = ticks_per_ns;
	f->funcs = calloc(1, sizeof(*f->funcs));
	f->ids = filter_ids_alloc();
	if (f->funcs && f->ids) {
		f->funcs->texts.max = TEXTS_MAX;
		return f;
	}
	filter_free(f);
	return NULL;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	filter_list_free(f->functions);
	filter_list_free(f->shortest);
	filter_list_free(f->classes);
	filter_ids_free(f->ids);
	if (f->funcs) {
		hash_free(&f->funcs->hash);
		intern_free(&f->funcs->texts);
		free(f->funcs->all);
		free(f->funcs->unknown);
	}
	free(f->funcs);
	free(f);
}

static void judge(const struct filter *f, struct func *func)
{
	func->is_chosen = !func->names[0] || filter_list_has(f->functions, func->names);
	func->least = func->names[0] ? filter_list_ticks(f->shortest, func->names) : 0;
}

static void judge_all(struct filter *f)
{
	f->has_funcs = f->names_all || (f->functions && f->functions->nr) || (f->shortest && f->shortest->nr);
	for (size_t i = 0; i < f->funcs->nr; i++)
		judge(f, &f->funcs->all[i]);
}

static struct filter_list *parse(const char *words, bool has_whats, const char **why)
{
	return filter_list_parse(strcmp(words, "all") ? words : "", has_whats, why);
}

const char *filter_set_functions(struct filter *f, const char *words)
{
	const char *why;
	struct filter_list *l = parse(words, true, &why);

	if (!l)
		return why;
	filter_list_free(f->functions);
	f->functions = l;
	judge_all(f);
	return NULL;
}

const char *filter_set_classes(struct filter *f, const char *words)
{
	const char *why;
	struct filter_list *l = parse(words, false, &why);

	if (!l)
		return why;
	filter_list_free(f->classes);
	f->classes = l;
	f->has_classes = l->nr;
	return NULL;
}

const char *filter_set_shortest(struct filter *f, const char *glob, uint64_t ns)
{
	if (!f->shortest)
		f->shortest = calloc(1, sizeof(*f->shortest));
	if (!f->shortest || !filter_list_add(f->shortest, glob, ns * f->ticks_per_ns))
		return "there are too many functions with a least latency";
	judge_all(f);
	return NULL;
}

void filter_print_functions(const struct filter *f, char *text, size_t size)
{
	filter_list_print(f->functions, text, size);
}

void filter_print_classes(const struct filter *f, char *text, size_t size)
{
	filter_list_print(f->classes, text, size);
}

/* Functions */

static struct func *find(const struct filter_funcs *t, uint64_t pc)
{
	uint32_t n;

	hash_each(&t->hash, hash_mix(0, pc), n)
		if (t->all[n].pc == pc)
			return &t->all[n];
	return NULL;
}

/* Returns NULL if there are too many functions, or if there is no memory. */
static struct func *new_func(struct filter_funcs *t, uint64_t pc, bool is_data)
{
	struct func *func;

	if (t->nr == FUNCS_MAX || !array_room(&t->all, &t->room, t->nr, sizeof(*t->all)) ||
	    array_push(t->unknown, t->nr_unknown, t->room_unknown, { pc, is_data }))
		return NULL;
	if (hash_add(&t->hash, hash_mix(0, pc), t->nr))
		return NULL;
	func = &t->all[t->nr++];
	*func = (struct func){ .pc = pc, .is_chosen = true };
	return func;
}

static void count(struct filter *f, unsigned what)
{
	f->left[what - LDB_LEFT_PAUSE]++;
}

/* Returns the longest possible duration of an invocation; UINT64_MAX: not known. */
static uint64_t longest(const struct ldb_row_func *row)
{
	if (row->flags & LDB_FUNC_F_OPEN || row->start_unc == LDB_UNC_UNKNOWN)
		return UINT64_MAX;
	return (uint64_t)row->end_max - row->start_max + row->start_unc;
}

bool filter_wants_func(struct filter *f, const struct ldb_row_func *row)
{
	struct func *func = find(f->funcs, row->pc) ?: new_func(f->funcs, row->pc, false);

	if (!func)
		return true;
	if (!func->is_chosen) {
		count(f, LDB_LEFT_FUNCS);
		return false;
	}
	if (func->least && longest(row) < func->least) {
		count(f, LDB_LEFT_SHORT);
		return false;
	}
	return true;
}

bool filter_wants_lock(struct filter *f, const struct ldb_row_lock *row)
{
	/* If begin equals end, the start of the hold was not recorded. */
	if (row->begin == row->end || (uint64_t)row->end - row->begin >= f->lock_min)
		return true;
	count(f, LDB_LEFT_LOCKS);
	return false;
}

/* Functions and variables have different addresses, so one table suffices for both. */
void filter_want_variable(struct filter *f, uint64_t addr)
{
	if (!find(f->funcs, addr))
		new_func(f->funcs, addr, true);
}

void filter_want_func(struct filter *f, uint64_t addr)
{
	if (!find(f->funcs, addr))
		new_func(f->funcs, addr, false);
}

const char *filter_name_of(const struct filter *f, uint64_t addr)
{
	const struct func *func = find(f->funcs, addr);

	return func ? func->names[FILTER_NAME] : NULL;
}

size_t filter_unknown(struct filter *f, const struct record_ask **asks)
{
	*asks = f->funcs->unknown;
	return f->funcs->nr_unknown;
}

void filter_asked(struct filter *f)
{
	f->funcs->nr_unknown = 0;
}

void filter_name(struct filter *f, uint64_t addr, const char *name, const char *file, const char *module)
{
	struct func *func = find(f->funcs, addr);

	if (!func)
		return;
	func->names[FILTER_NAME] = intern_text(&f->funcs->texts, name);
	func->names[FILTER_FILE] = intern_text(&f->funcs->texts, file);
	func->names[FILTER_MODULE] = intern_text(&f->funcs->texts, module);
	if (!func->names[FILTER_NAME] || !func->names[FILTER_FILE] || !func->names[FILTER_MODULE])
		func->names[FILTER_NAME] = NULL;	/* no memory: the function is recorded */
	judge(f, func);
}
