// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the report on locks. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "render/columns.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wrap.h"

#define OWNERS_SHOWN	5

#define ROW struct lock_times
static const struct column times_columns[] = {
	SAME(count, .head = "count"), SAME(failed),
	SAME(p50_ns, .head = "p50"), SAME(p99_ns, .head = "p99"), SAME(max_ns, .head = "max"),
	SAME(mean_ns), SAME(total_ns, .head = "total"), SAME(resolution_ns, .head = "+-"),
	SAME(resolution_max_ns), COLUMN("exact", is_exact), { 0 }
};
#undef ROW

#define ROW struct lock_site
GET(get_op, text, e->op == LDB_LOCK_OP_WAIT ? "wait" : "hold")
GET(get_site_kind, text, lock_kind_name(e->kind))

FROM(where, site_rows(e->where))

static const struct column lock_site_columns[] = {
	MADE("op", get_op), MADE("kind", get_site_kind), PART_AT(NULL, where, site_columns),
	PART(NULL, times, times_columns), { 0 }
};
#undef ROW

#define ROW struct lock_owner
GET(get_thread, text, model_thread_name(e->thread))

static const struct column owner_columns[] = {
	SAME(tid), MADE("thread", get_thread), SAME(holds), SAME(hold_ns), SAME(waits),
	SAME(wait_ns), SAME(wakes), { 0 }
};
#undef ROW

#define ROW struct lock_entry
GET(get_name, text, e->symbol->known ? e->symbol->function : "")
GET(get_kind, text, lock_kind_name(e->kind))

static const struct column lock_columns[] = {
	HEX("lock", lock), MADE("name", get_name), MADE("kind", get_kind, .form = COLUMN_ONLY_JSON),
	PART("waits", waits, times_columns), PART("holds", holds, times_columns),
	NESTED("sites", sites, nr_sites, lock_site_columns, .form = COLUMN_SPREAD),
	NESTED("holders", owners, nr_owners, owner_columns), { 0 }
};
#undef ROW

#define ROW struct render_locks
FROM(locks_shown, rows_of(e->locks->entries, e->nr))

static const struct column report_columns[] = {
	NESTED_AT("locks", locks_shown, lock_columns, .form = COLUMN_SPREAD | COLUMN_TALL), { 0 }
};
#undef ROW

/* Text */

void text_times_heads(const struct render *r, const char *what)
{
	table_head(r, "", 7, times_columns, what);
}

/* Prints the name and the place, each on the next line if it would have to be cut. */
static void put_name(const struct render *r, const char *name, const struct symbol *where,
		     unsigned left)
{
	char text[TEXT_ROOM], place[TEXT_ROOM] = "";
	size_t behind;

	if (where) {
		text_function(where, text);
		text_place(where->file, where->line, place);
	}
	behind = *place ? 1 + strlen(place) : 0;
	if (where && !name && strlen(text) + 1 + strlen(place) > left) {
		wrap_place(where, where->file, where->line, "", r->width - TEXT_NEXT_INDENT, text);
		text_on_next_line(r, text, TEXT_PLAIN);
		return;
	}
	wrap_name(name ? name : where ? text : "call site not known",
		  behind && behind + WRAP_NAME_MIN < left ? left - behind : left, text);
	fputs(text, r->out);
	if (*place && strlen(text) + behind <= left)
		fprintf(r->out, " %s", place);
	else if (*place)
		text_on_next_line(r, place, TEXT_PLAIN);
}

void text_times(const struct render *r, const char *what, const struct lock_times *t,
		const char *name, const struct symbol *where)
{
	unsigned used = 2 + 5 + table_width(r, times_columns) + 1;

	fprintf(r->out, "  %-5s", what);
	table_cells(r, times_columns, t);
	fputc(' ', r->out);
	put_name(r, name, where, r->width - used);
	fputc('\n', r->out);
}

static void put_sites(const struct render *r, const struct lock_entry *e, unsigned op)
{
	const struct lock_times *total = op == LDB_LOCK_OP_WAIT ? &e->waits : &e->holds;
	const char *what = op == LDB_LOCK_OP_WAIT ? "wait" : "hold";
	size_t nr = 0;

	for (size_t i = 0; i < e->nr_sites; i++)
		nr += e->sites[i].op == op;
	if (nr > 1) {
		text_style(r, TEXT_BOLD);
		text_times(r, what, total, "all call sites", NULL);
		text_style(r, TEXT_PLAIN);
	}
	for (size_t i = 0; i < e->nr_sites; i++)
		if (e->sites[i].op == op)
			text_times(r, what, &e->sites[i].times, NULL, e->sites[i].where);
	if (total->failed)
		fprintf(r->out, "  %" PRIu64 " waits ended without the lock.\n", total->failed);
}

static void put_owner(const struct render *r, const struct lock_owner *o)
{
	char name[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM];

	fprintf(r->out, "  %s %s:", o->waits || o->holds ? "held by" : "woken by",
		text_thread(o->tid, o->thread, name));
	if (o->waits)
		fprintf(r->out, " made others wait %s in %" PRIu64 " waits%s",
			units_duration(o->wait_ns, a), o->waits, o->holds ? ";" : "");
	if (o->holds)
		fprintf(r->out, " %" PRIu64 " recorded holds, %s", o->holds,
			units_duration(o->hold_ns, b));
	if (o->wakes)
		fprintf(r->out, "%s woke %" PRIu64 " sleepers", o->waits || o->holds ? ";" : "",
			o->wakes);
	fputc('\n', r->out);
}

static void put_lock(const struct render *r, const struct lock_entry *e)
{
	size_t nr = e->nr_owners < OWNERS_SHOWN || r->is_verbose ? e->nr_owners : OWNERS_SHOWN;
	char name[TEXT_ROOM];

	text_styled(r, TEXT_WARN, "%s", text_lock(e->kind, e->lock, e->symbol, name));
	fputc('\n', r->out);
	put_sites(r, e, LDB_LOCK_OP_WAIT);
	put_sites(r, e, LDB_LOCK_OP_HOLD);
	for (size_t i = 0; i < nr; i++)
		put_owner(r, &e->owners[i]);
	if (nr < e->nr_owners)
		fprintf(r->out, "  and %zu other holders (-v shows all)\n", e->nr_owners - nr);
}

static void text_locks(const struct render *r, const void *report)
{
	const struct render_locks *l = report;

	text_head(r, l->model, NULL);
	text_times_heads(r, " call site");
	for (size_t i = 0; i < l->nr; i++)
		put_lock(r, &l->locks->entries[i]);
	if (l->nr < l->locks->nr)
		fprintf(r->out, "%zu more locks: --top=%zu shows all.\n", l->locks->nr - l->nr,
			l->locks->nr);
	if (l->locks->nr_not_kept)
		fprintf(r->out, "%" PRIu64 " sleeps on futexes were left out: take a part with --from "
			"and --to.\n", l->locks->nr_not_kept);
	fputs("Contended waits, and holds that others waited for (ldb-record --mutex=hold: all "
	      "holds).\n", r->out);
}

const struct printer locks_printer = {
	DOCUMENT_REPORT_LOCKS, report_columns, text_locks, TEXT_INDENT
};
