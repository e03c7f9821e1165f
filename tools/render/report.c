// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of ldb-report for people. */
#include <inttypes.h>
#include <string.h>

#include "facts/ticks.h"
#include "cli/units.h"
#include "render/rows.h"
#include "render/text.h"
#include "render/wrap.h"

#define THREADS_SHOWN	8
#define INDENT		4	/* of what does not fit on a line */

static void head_seen(const struct render *r, const struct model *m, const struct stats *stats)
{
	char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

	fprintf(r->out, "Percentiles of observed invocations: %s seen of %s made (%s).\n",
		units_count(m->seen, a), units_count(m->made, b),
		text_share(m->seen, m->made, c));
	if (m->below_threshold)
		fprintf(r->out, "%s more were seen and too short to be written "
			"(--func-threshold).\n", units_count(m->below_threshold, a));
	if (stats && stats->seen_from_ns)
		fprintf(r->out, "Below about %s, fewer than 95 %% are seen; resolution +-%s "
			"(median).\n", units_duration(stats->seen_from_ns, a),
			units_duration(stats->resolution_ns, b));
}

static void head_lost(const struct render *r, const struct model *m)
{
	static const char *const names[MODEL_NR_LOST] = {
		"of unknown kind", "overwritten", "never written", "torn", "not on disk",
		"of unwatched threads", "of the kernel's", "of unknown kind",
	};
	char a[UNITS_ROOM], b[UNITS_ROOM];
	bool any = false;

	fputs("Lost: ", r->out);
	if (!m->nr_lost)
		fputs("nothing", r->out);
	else
		text_style(r, TEXT_WARN);
	for (size_t i = 0; i < MODEL_NR_LOST; i++) {
		if (!m->lost[i])
			continue;
		fprintf(r->out, "%s%" PRIu64 " records %s", any ? ", " : "", m->lost[i], names[i]);
		any = true;
	}
	if (m->nr_lost)
		text_style(r, TEXT_PLAIN);
	fprintf(r->out, ".  Threads not watched: %" PRIu64 ".\nGaps: %s in %" PRIu64
		" (the scanner did not run), %s in %" PRIu64 " (of one thread).\n",
		m->nr_unwatched, units_duration(m->gap_ns, a), m->nr_gaps,
		units_duration(m->thread_gap_ns, b), m->nr_thread_gaps);
	if (m->paused_ns)
		fprintf(r->out, "The scanner had no core to itself and slept for %s: little is seen of short functions then.\n",
			units_duration(m->paused_ns, a));
}

/* What looking has cost, of the time the threads were there. */
static void head_budget(const struct render *r, const struct model *m)
{
	const char *budget = reader_meta(m->reader, "budget");
	const struct thread *worst = NULL;
	double most = 0, cost = 0, time = 0;
	char name[TEXT_ROOM];

	for (size_t i = 0; i < m->nr_threads; i++) {
		const struct thread *t = &m->threads[i];
		double lived = ticks_time_ns(m->reader, t->end) -
			       (t->start > 0 ? ticks_time_ns(m->reader, t->start) : 0);

		if (t->is_unwatched || lived <= 0)
			continue;
		cost += t->cost_ns;
		time += lived;
		if (t->cost_ns / lived > most) {
			most = t->cost_ns / lived;
			worst = t;
		}
	}
	if (!worst || !budget)
		return;
	text_thread(worst->tid, worst, name);
	fprintf(r->out, "Budget: %.20s of a thread's time; looking cost about %.1f %% of all threads', at most %.1f %% (of %s).\n",
		budget, 100 * cost / time, 100 * most, name);
}

static void put_thread_seen(const struct render *r, const struct thread *t, unsigned *column)
{
	char name[TEXT_ROOM], text[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM];
	unsigned len;

	text_thread(t->tid, t, name);
	if (t->is_unwatched)
		snprintf(text, sizeof(text), "%.100s not watched", name);
	else
		snprintf(text, sizeof(text), "%.100s %s/%s", name, units_count(t->seen, a),
			 units_count(t->made, b));
	len = strlen(text);
	if (*column + 2 + len > r->width) {
		fputs("\n  ", r->out);
		*column = 2;
	}
	fprintf(r->out, "  %s", text);
	*column += 2 + len;
}

static void head_threads(const struct render *r, const struct model *m)
{
	size_t nr = m->nr_threads < THREADS_SHOWN || r->is_verbose ? m->nr_threads : THREADS_SHOWN;
	unsigned column = 18;

	if (!m->nr_threads)
		return;
	fputs("Threads, seen/made:", r->out);
	for (size_t i = 0; i < nr; i++)
		put_thread_seen(r, &m->threads[i], &column);
	if (nr < m->nr_threads)
		fprintf(r->out, "  and %zu more (--summary)", m->nr_threads - nr);
	fputc('\n', r->out);
}

/* What the recorder had to say. */
static void head_warnings(const struct render *r, const struct model *m)
{
	size_t nr;
	const struct ldb_row_meta *metas = reader_metas(m->reader, &nr);
	char text[TEXT_ROOM];

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(metas[i].key, "warning"))
			fprintf(r->out, "Warning: %s.\n", text_clean(metas[i].value, text));
}

void text_head(const struct render *r, const struct model *m, const struct stats *stats)
{
	const char *cmdline = reader_meta(m->reader, "cmdline"), *end = reader_meta(m->reader, "end");
	char a[UNITS_ROOM], text[TEXT_ROOM];

	text_style(r, TEXT_BOLD);
	text_cell(r, cmdline && *cmdline ? cmdline : "a program", r->width > 60 ? r->width - 40 : 20,
		  false);
	text_style(r, TEXT_PLAIN);
	fprintf(r->out, ": %s recorded, ended: ", units_duration(m->duration_ns, a));
	text_cell(r, end && *end ? end : "not known", 20, false);
	fputc('\n', r->out);
	if (!m->is_kernel_only)
		head_seen(r, m, stats);
	head_lost(r, m);
	if (!m->is_kernel_only)
		head_budget(r, m);
	text_kernel(m, text);
	*text = 'K';
	fprintf(r->out, "%s.\n", text);
	head_warnings(r, m);
	head_threads(r, m);
	fputc('\n', r->out);
}

/* Functions */

static void put_functions_page(const struct render *r, const struct render_functions *f)
{
	char a[UNITS_ROOM];

	text_head(r, f->model, f->stats);
	rows_function_head(r, f->by);
	for (size_t i = 0; i < f->nr; i++)
		rows_function(r, f->rows[i], f->by);
	if (f->nr_hidden)
		fprintf(r->out, "%zu more rows: --top=%zu shows all.  Sorted by %s.\n",
			f->nr_hidden, f->nr + f->nr_hidden, f->sorted_by);
	if (f->stats->open)
		fprintf(r->out, "Running when the recording began or ended, not in these numbers: "
			"%s.\n", units_count(f->stats->open, a));
}

void text_functions(const struct render *r, const struct render_functions *f)
{
	struct wrap w;

	put_functions_page(wrap_begin(&w, r), f);
	wrap_end(&w, INDENT);
}

/* Locks */

static void put_lock_sites(const struct render *r, const struct lock_entry *e, unsigned op)
{
	const struct lock_times *total = op == LDB_LOCK_OP_WAIT ? &e->waits : &e->holds;
	const char *what = op == LDB_LOCK_OP_WAIT ? "wait" : "hold";
	size_t nr = 0;

	for (size_t i = 0; i < e->nr_sites; i++)
		nr += e->sites[i].op == op;
	if (nr > 1) {
		text_style(r, TEXT_BOLD);
		rows_times(r, what, total, "all call sites", NULL);
		text_style(r, TEXT_PLAIN);
	}
	for (size_t i = 0; i < e->nr_sites; i++) {
		const struct lock_site *s = &e->sites[i];

		if (s->op != op)
			continue;
		rows_times(r, what, &s->times, NULL, s->where);
	}
	if (total->failed)
		fprintf(r->out, "  %" PRIu64 " waits ended without the lock.\n", total->failed);
}

static void put_owners(const struct render *r, const struct lock_entry *e)
{
	char name[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM];
	size_t nr = e->nr_owners < 5 || r->is_verbose ? e->nr_owners : 5;

	for (size_t i = 0; i < nr; i++) {
		const struct lock_owner *o = &e->owners[i];

		fprintf(r->out, "  %s %s:", o->waits || o->holds ? "held by" : "woken by",
			text_thread(o->tid, o->thread, name));
		if (o->waits)
			fprintf(r->out, " made others wait %s in %" PRIu64 " waits%s",
				units_duration(o->wait_ns, a), o->waits, o->holds ? ";" : "");
		if (o->holds)
			fprintf(r->out, " %" PRIu64 " recorded holds, %s", o->holds,
				units_duration(o->hold_ns, b));
		if (o->wakes)
			fprintf(r->out, "%s woke %" PRIu64 " sleepers",
				o->waits || o->holds ? ";" : "", o->wakes);
		fputc('\n', r->out);
	}
	if (nr < e->nr_owners)
		fprintf(r->out, "  and %zu other holders (-v shows all)\n", e->nr_owners - nr);
}

static void put_locks_page(const struct render *r, const struct render_locks *l)
{
	char name[TEXT_ROOM];

	text_head(r, l->model, NULL);
	rows_times_head(r, "call site");
	for (size_t i = 0; i < l->nr; i++) {
		const struct lock_entry *e = &l->locks->entries[i];

		text_style(r, TEXT_WARN);
		fputs(text_lock(e->kind, e->lock, e->symbol, name), r->out);
		text_style(r, TEXT_PLAIN);
		fputc('\n', r->out);
		put_lock_sites(r, e, LDB_LOCK_OP_WAIT);
		put_lock_sites(r, e, LDB_LOCK_OP_HOLD);
		put_owners(r, e);
	}
	if (l->nr < l->locks->nr)
		fprintf(r->out, "%zu more locks: --top=%zu shows all.\n", l->locks->nr - l->nr,
			l->locks->nr);
	if (l->locks->nr_not_kept)
		fprintf(r->out, "%" PRIu64 " sleeps on futexes were left out: take a part with --from "
			"and --to.\n", l->locks->nr_not_kept);
	fputs("Contended waits, and holds that others waited for (ldb-record --mutex=hold: all "
	      "holds).\n", r->out);
}

void text_locks(const struct render *r, const struct render_locks *l)
{
	struct wrap w;

	put_locks_page(wrap_begin(&w, r), l);
	wrap_end(&w, INDENT);
}

/* Requests */

static void put_requests_page(const struct render *r, const struct render_requests *q)
{
	const struct requests *requests = q->requests;

	text_head(r, q->model, NULL);
	rows_class_head(r);
	rows_class(r, &requests->all, "all requests");
	for (size_t i = 0; i < requests->nr_classes; i++)
		if (requests->nr_classes > 1 || *requests->classes[i].name)
			rows_class(r, &requests->classes[i], *requests->classes[i].name ?
				  requests->classes[i].name : "(no class)");
	if (requests->result.nr_stray)
		fprintf(r->out, "%" PRIu64 " ends without a start: begun before the recording, or "
			"tagged twice.\n", requests->result.nr_stray);
	if (!requests->nr_lives)
		return;
	fputc('\n', r->out);
	rows_request_head(r);
	for (size_t i = 0; i < requests->nr_lives; i++)
		rows_request(r, q->model, &q->timelines[i]);
	fprintf(r->out, "ldb-timeline --req=%" PRIu64 " shows why.\n", requests->lives[0].id);
}

void text_requests(const struct render *r, const struct render_requests *q)
{
	struct wrap w;

	put_requests_page(wrap_begin(&w, r), q);
	wrap_end(&w, INDENT);
}

/* Summary */

static void put_thread(const struct render *r, const struct thread *t)
{
	char name[TEXT_ROOM], fit[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM];

	text_cell(r, wrap_numbered(text_thread(t->tid, t, name), 24, fit), 24, true);
	text_count(r, t->made);
	text_count(r, t->seen);
	fprintf(r->out, " %8s", text_share(t->seen, t->made, a));
	text_count(r, t->scans);
	text_count(r, t->invalid);
	text_count(r, t->foreign + t->too_deep + t->disorder);
	fprintf(r->out, " %8s", text_ns(t->gap_ns, b));
	fprintf(r->out, "%s%s\n", t->is_unwatched ? " not watched" : "",
		t->has_exited ? " exited" : "");
}

static void put_summary_page(const struct render *r, const struct render_summary *s)
{
	const struct model *m = s->model;
	const struct ldb_row_meta *metas;
	char text[TEXT_ROOM];
	size_t nr;

	text_head(r, m, s->stats);
	text_styled(r, TEXT_BOLD, "%-24s %6s %6s %8s %6s %6s %6s %8s\n", "thread", "made", "seen",
		    "seen/made", "scans", "moved", "bad", "gaps");
	for (size_t i = 0; i < m->nr_threads; i++)
		put_thread(r, &m->threads[i]);
	fputc('\n', r->out);
	metas = reader_metas(m->reader, &nr);
	for (size_t i = 0; i < nr; i++) {
		text_cell(r, metas[i].key, 24, true);
		fputc(' ', r->out);
		fprintf(r->out, "%s\n", text_clean(metas[i].value, text));
	}
	if (m->nr_bad_modules)
		fprintf(r->out, "%" PRIu64 " modules make no sense and were left out\n",
			m->nr_bad_modules);
	if (reader_is_damaged(m->reader))
		fprintf(r->out, "%-24s %s\n", "damage",
			reader_damage_text(m->reader, text, sizeof(text)));
}

void text_summary(const struct render *r, const struct render_summary *s)
{
	struct wrap w;

	put_summary_page(wrap_begin(&w, r), s);
	wrap_end(&w, INDENT);
}
