// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolves every address that a report may show; see names.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "facts/flows.h"
#include "facts/model.h"
#include "trace/writer.h"
#include "names.h"

#define RECENT_MAX	4096	/* a power of two */

struct asking {
	const struct names_options *o;
	struct symtab *st;
	const struct flows *flows;	/* NULL: none were recorded */
	struct recent {
		uint64_t addr;
		unsigned epoch, ask;	/* ask: enum ldb_symbol_ask + 1; 0: the entry is free */
	/* the addresses that were looked up last, because many repeat */
	} recent[RECENT_MAX];
};

typedef const struct symbol *lookup_fn(struct symtab *st, uint64_t addr, int64_t tick);
static lookup_fn *const lookups[] = {
	[LDB_ASK_FUNC] = symtab_lookup, [LDB_ASK_CALL] = symtab_lookup_call,
	[LDB_ASK_DATA] = symtab_lookup_data, [LDB_ASK_CALLEE] = symtab_lookup_callee,
};

static void ask(struct asking *a, enum ldb_symbol_ask what, uint64_t addr, int64_t tick)
{
	unsigned epoch = symtab_epoch(a->st, tick);
	struct recent *r = &a->recent[((addr + what) * 0x9e3779b97f4a7c15ULL) >> 52];

	if (!addr || (r->addr == addr && r->epoch == epoch && r->ask == what + 1U))
		return;
	*r = (struct recent){ addr, epoch, what + 1U };
	lookups[what](a->st, addr, tick);
}

static bool goes_on(const struct asking *a)
{
	return !a->o->goes_on || a->o->goes_on(a->o->arg);
}

static int ask_funcs(struct asking *a, struct reader *r)
{
	struct cursor *c = reader_cursor(r, LDB_BLK_FUNC, NULL);
	struct reader_funcs f;
	int rc = c ? 0 : -ENOMEM;

	while (!rc && (rc = cursor_next_funcs(c, false, &f)) > 0) {
		for (size_t i = 0; i < f.nr; i++) {
			ask(a, LDB_ASK_FUNC, f.pc[i], f.start_max[i]);
			ask(a, LDB_ASK_CALL, f.ret[i], f.start_max[i]);
		}
		rc = goes_on(a) ? 0 : -EINTR;
	}
	cursor_close(c);
	return rc;
}

static void ask_row(struct asking *a, const struct reader_rows *rows, size_t i)
{
	const struct ldb_row_sched *k = &rows->sched[i];
	const struct ldb_row_lock *l = &rows->lock[i];
	const struct ldb_row_req *q = &rows->req[i];
	const struct ldb_row_sample *s = &rows->sample[i];

	switch (rows->kind) {
	case LDB_BLK_LOCK:
		ask(a, LDB_ASK_DATA, l->lock, l->end);
		ask(a, LDB_ASK_CALL, l->site, l->end);
		break;
	case LDB_BLK_REQ:
		ask(a, LDB_ASK_DATA, q->queue, q->tick);
		/* In a row with ARRIVED, site is a time and no address. */
		if (q->op != LDB_REQ_OP_ARRIVED)
			ask(a, LDB_ASK_CALL, q->site, q->tick);
		break;
	case LDB_BLK_SCHED:
		if (k->op == LDB_SCHED_OP_FUTEX_WAIT || k->op == LDB_SCHED_OP_FUTEX_WAKE)
			ask(a, LDB_ASK_DATA, k->addr, k->tick);
		ask(a, LDB_ASK_FUNC, k->pc, k->tick);
		break;
	case LDB_BLK_SAMPLE:
		ask(a, LDB_ASK_FUNC, s->pc, s->tick);
		ask(a, LDB_ASK_CALL, s->ret, s->tick);
		ask(a, LDB_ASK_CALLEE, s->ret, s->tick);
		break;
	}
}

static int ask_flow_call(void *asking, const struct flow_call *c)
{
	ask(asking, LDB_ASK_CALL, c->site, c->start);
	return goes_on(asking) ? 0 : -EINTR;
}

/*
 * Looks up the places at which the program made long calls, and the functions with which its
 * threads begin.
 */
static int ask_flows(struct asking *a, const struct model *m)
{
	for (size_t i = 0; i < m->nr_threads; i++)
		ask(a, LDB_ASK_FUNC, m->threads[i].start_routine, m->threads[i].start);
	return flow_calls_each(a->flows, NULL, ask_flow_call, a);
}

static int ask_rows(void *asking, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		ask_row(asking, rows, i);
	return goes_on(asking) ? 0 : -EINTR;
}

static int ask_all(struct asking *a, struct reader *r)
{
	static const unsigned kinds[] = { LDB_BLK_LOCK, LDB_BLK_REQ, LDB_BLK_SCHED, LDB_BLK_SAMPLE };
	int rc = ask_funcs(a, r);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !rc; i++)
		rc = reader_each(r, kinds[i], NULL, ask_rows, a);
	return rc;
}

struct writing {
	struct writer *w;
	struct names_done *done;
};

static int write_file(void *writing, const struct ldb_row_file *row)
{
	struct writing *w = writing;

	w->done->nr_files++;
	return writer_add_file(w->w, row);
}

static int write_symbol(void *writing, const struct ldb_row_symbol *row)
{
	struct writing *w = writing;

	w->done->nr_symbols++;
	return writer_add_symbol(w->w, row);
}

static int write_call(void *writing, const struct ldb_row_call *row)
{
	struct writing *w = writing;

	return writer_add_call(w->w, row);
}

static int write_all(const char *path, struct symtab *st, struct names_done *done, char *err,
		     size_t err_size)
{
	struct writing w = { .w = writer_reopen(path, err, err_size), .done = done };
	struct symtab_sink sink = {
		.file = write_file, .symbol = write_symbol, .call = write_call, .arg = &w,
	};
	uint64_t before;
	int rc, rc2;

	if (!w.w)
		return -EIO;
	before = writer_bytes(w.w);
	rc = symtab_emit(st, &sink);
	rc2 = writer_flush(w.w);
	done->bytes = writer_bytes(w.w) - before;
	rc = rc ? rc : rc2;
	rc2 = writer_close(w.w);
	rc = rc ? rc : rc2;
	if (rc)
		snprintf(err, err_size, "%s", strerror(-rc));
	return rc;
}

int names_store(const char *path, const struct names_options *o, struct names_done *done,
		char *err, size_t err_size)
{
	struct reader *r = reader_open(path, err, err_size);
	struct symtab *st = r ? symtab_open(&o->symbols) : NULL;
	struct model *m = st ? model_open(r, st, err, err_size) : NULL;
	struct asking a = { .o = o, .st = st };
	int rc = m ? 0 : -ENOMEM;

	*done = (struct names_done){ 0 };
	if (m && reader_exists(r, LDB_BLK_FILE))
		rc = -EEXIST;
	if (!rc)
		rc = ask_all(&a, r);
	a.flows = !rc && m->has_flows ? flows_of(m) : NULL;
	if (a.flows)
		rc = ask_flows(&a, m);
	if (!rc)
		rc = write_all(path, st, done, err, err_size);
	model_close(m);
	symtab_close(st);
	reader_close(r);
	return rc;
}
