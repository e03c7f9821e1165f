// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of ldb-report for people. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "render/segment.h"
#include "render/text.h"

#define WIDE		130	/* columns from which a row fits on one line */
#define THREADS_SHOWN	8

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
		double lived = reader_ns(m->reader, t->end) -
			       (t->start > 0 ? reader_ns(m->reader, t->start) : 0);

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
	head_threads(r, m);
	fputc('\n', r->out);
}

/* Functions */

static void put_ns(const struct render *r, int64_t ns)
{
	char buf[UNITS_ROOM];

	fprintf(r->out, " %7s", text_ns(ns, buf));
}

/* "<- main() figure1.cc:88" */
static void site_text(const struct stats_entry *e, enum stats_by by, char *buf)
{
	char name[TEXT_ROOM], place[TEXT_ROOM];

	*buf = '\0';
	if (by == STATS_BY_MODULE)
		return;
	if (by == STATS_BY_FUNCTION || !e->site) {
		text_place(e->func->func_file, e->func->func_line, buf);
		return;
	}
	text_function(e->site, name);
	text_place(e->site->file, e->site->line, place);
	snprintf(buf, TEXT_ROOM, "<- %.240s%s%.240s", name, *place ? " " : "", place);
}

static void put_function_row(const struct render *r, const struct stats_entry *e,
			     enum stats_by by)
{
	bool is_wide = r->width >= WIDE;
	char name[TEXT_ROOM], site[TEXT_ROOM];
	unsigned used = 7 + 6 * 8 + (is_wide ? 16 : 0) + 1, left;

	text_count(r, e->count);
	if (e->count) {
		put_ns(r, e->p50_ns);
		put_ns(r, e->p99_ns);
		put_ns(r, e->p999_ns);
		put_ns(r, e->p9999_ns);
		put_ns(r, e->max_ns);
		if (is_wide) {
			put_ns(r, e->mean_ns);
			put_ns(r, e->total_ns);
		}
		put_ns(r, e->resolution_ns);
	} else {
		fprintf(r->out, " %*s", used - 7 - 2, "still running, no duration known");
	}
	fputc(' ', r->out);
	text_style(r, TEXT_BOLD);
	if (by == STATS_BY_MODULE)
		text_clean(*e->func->module ? e->func->module : "?", name);
	else
		text_function(e->func, name);
	left = r->width - used;
	site_text(e, by, site);
	if (is_wide && *site) {
		/* Half each, and what one does not need goes to the other. */
		unsigned half = left / 2, len = strlen(name) + 2;
		unsigned want = strlen(site) < left - half ? left - strlen(site) : half;

		text_cell(r, name, len < want ? len - 1 : want - 1, false);
		text_style(r, TEXT_PLAIN);
		fputc(' ', r->out);
		text_style(r, TEXT_DIM);
		text_cell(r, site, left - (len < want ? len : want), false);
	} else {
		text_cell(r, name, left, false);
		text_style(r, TEXT_PLAIN);
		if (*site) {
			fprintf(r->out, "\n%*s", 8, "");
			text_style(r, TEXT_DIM);
			text_cell(r, site, r->width - 8, false);
		}
	}
	text_style(r, TEXT_PLAIN);
	if (!e->is_exact && r->is_verbose)
		fputs(" (percentiles +-0.4 %)", r->out);
	fputc('\n', r->out);
}

void text_functions(const struct render *r, const struct render_functions *f)
{
	char a[UNITS_ROOM];

	text_head(r, f->model, f->stats);
	text_styled(r, TEXT_BOLD, " %6s %7s %7s %7s %7s %7s", "count", "p50", "p99", "p99.9",
		    "p99.99", "max");
	if (r->width >= WIDE)
		text_styled(r, TEXT_BOLD, " %7s %7s", "mean", "total");
	text_styled(r, TEXT_BOLD, " %7s %s\n", "+-", f->by == STATS_BY_SITE ? "function <- call site" :
		    f->by == STATS_BY_FUNCTION ? "function, definition" : "module");
	for (size_t i = 0; i < f->nr; i++)
		put_function_row(r, f->rows[i], f->by);
	if (f->nr_hidden)
		fprintf(r->out, "%zu more rows: --top=%zu shows all.  Sorted by %s.\n",
			f->nr_hidden, f->nr + f->nr_hidden, f->sorted_by);
	if (f->stats->open)
		fprintf(r->out, "Running when the recording began or ended, not in these numbers: "
			"%s.\n", units_count(f->stats->open, a));
}

/* Locks */

static void put_times(const struct render *r, const char *what, const struct lock_times *t,
		      const char *where)
{
	unsigned used = 2 + 5 + 7 + 5 * 8 + 1;

	fprintf(r->out, "  %-5s", what);
	text_count(r, t->count);
	put_ns(r, t->p50_ns);
	put_ns(r, t->p99_ns);
	put_ns(r, t->max_ns);
	put_ns(r, t->total_ns);
	put_ns(r, t->resolution_ns);
	fputc(' ', r->out);
	text_cell(r, where, r->width - used, false);
	fputc('\n', r->out);
}

static void put_lock_sites(const struct render *r, const struct lock_entry *e, unsigned op)
{
	const struct lock_times *total = op == LDB_LOCK_OP_WAIT ? &e->waits : &e->holds;
	const char *what = op == LDB_LOCK_OP_WAIT ? "wait" : "hold";
	char name[TEXT_ROOM], place[TEXT_ROOM], text[TEXT_ROOM];
	size_t nr = 0;

	for (size_t i = 0; i < e->nr_sites; i++)
		nr += e->sites[i].op == op;
	if (nr > 1) {
		text_style(r, TEXT_BOLD);
		put_times(r, what, total, "all call sites");
		text_style(r, TEXT_PLAIN);
	}
	for (size_t i = 0; i < e->nr_sites; i++) {
		const struct lock_site *s = &e->sites[i];

		if (s->op != op)
			continue;
		snprintf(text, sizeof(text), "call site not known");
		if (s->where) {
			text_function(s->where, name);
			text_place(s->where->file, s->where->line, place);
			snprintf(text, sizeof(text), "%.240s%s%.240s", name, *place ? " " : "",
				 place);
		}
		put_times(r, what, &s->times, text);
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

void text_locks(const struct render *r, const struct render_locks *l)
{
	char name[TEXT_ROOM];

	text_head(r, l->model, NULL);
	text_styled(r, TEXT_BOLD, "  %-5s %6s %7s %7s %7s %7s %7s %s\n", "", "count", "p50", "p99",
		    "max", "total", "+-", "call site");
	for (size_t i = 0; i < l->nr; i++) {
		const struct lock_entry *e = &l->locks->entries[i];

		text_style(r, TEXT_WARN);
		text_cell(r, text_lock(e->kind, e->lock, e->symbol, name), r->width, false);
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

/* Requests */

static void put_class(const struct render *r, const struct request_class *c, const char *name)
{
	text_count(r, c->count);
	put_ns(r, c->p50_ns);
	put_ns(r, c->p99_ns);
	put_ns(r, c->p999_ns);
	put_ns(r, c->p9999_ns);
	put_ns(r, c->max_ns);
	put_ns(r, c->mean_ns);
	fputc(' ', r->out);
	text_cell(r, name, r->width - 7 - 6 * 8 - 1, false);
	if (c->incomplete)
		fprintf(r->out, " (%" PRIu64 " not ended)", c->incomplete);
	if (c->lost_handoffs)
		fprintf(r->out, " (%" PRIu64 " lost in a queue)", c->lost_handoffs);
	fputc('\n', r->out);
}

static void put_request(const struct render *r, const struct model *m, const struct timeline *t)
{
	const struct timeline_cause *top = timeline_top_function(t);
	char name[TEXT_ROOM], a[UNITS_ROOM];
	const struct thread *thread;

	fprintf(r->out, " %12" PRIu64 " %10s", t->req, units_duration(t->start_ns, a));
	put_ns(r, t->latency_ns);
	put_ns(r, t->lock_wait_ns);
	put_ns(r, t->queue_ns);
	fputc(' ', r->out);
	if (top) {
		put_ns(r, top->ns);
		fputc(' ', r->out);
		text_cell(r, text_function(top->func, name), 28, true);
	} else {
		fprintf(r->out, " %7s %-28s", "-", "-");
	}
	if (r->width >= 100) {
		for (size_t i = 0; i < t->nr_tids && i < 3; i++) {
			thread = model_thread(m, t->tids[i], reader_tick(m->reader, t->start_ns));
			fprintf(r->out, "%s%s", i ? ", " : " ",
				text_thread(t->tids[i], thread, name));
		}
		if (t->nr_tids > 3)
			fprintf(r->out, " +%zu", t->nr_tids - 3);
		if (*t->class) {
			fputs("  ", r->out);
			text_cell(r, t->class, 24, false);
		}
	}
	fputc('\n', r->out);
}

void text_requests(const struct render *r, const struct render_requests *q)
{
	const struct requests *requests = q->requests;

	text_head(r, q->model, NULL);
	text_styled(r, TEXT_BOLD, " %6s %7s %7s %7s %7s %7s %7s class\n", "count", "p50", "p99",
		    "p99.9", "p99.99", "max", "mean");
	put_class(r, &requests->all, "all requests");
	for (size_t i = 0; i < requests->nr_classes; i++)
		if (requests->nr_classes > 1 || *requests->classes[i].name)
			put_class(r, &requests->classes[i], *requests->classes[i].name ?
				  requests->classes[i].name : "(no class)");
	if (requests->result.nr_stray)
		fprintf(r->out, "%" PRIu64 " ends without a start: begun before the recording, or "
			"tagged twice.\n", requests->result.nr_stray);
	if (!requests->nr_lives)
		return;
	text_styled(r, TEXT_BOLD, "\n %12s %10s %7s %7s %7s  %7s %s\n", "slowest", "start", "latency",
		    "locks", "queues", "most in", "function (itself)");
	for (size_t i = 0; i < requests->nr_lives; i++)
		put_request(r, q->model, &q->timelines[i]);
	fprintf(r->out, "ldb-timeline --req=%" PRIu64 " shows why.\n", requests->lives[0].id);
}

/* Summary */

static void put_thread(const struct render *r, const struct thread *t)
{
	char name[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM];

	text_cell(r, text_thread(t->tid, t, name), 24, true);
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

void text_summary(const struct render *r, const struct render_summary *s)
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
		text_cell(r, metas[i].value, r->width - 25, false);
		fputc('\n', r->out);
	}
	if (m->nr_bad_modules)
		fprintf(r->out, "%" PRIu64 " modules make no sense and were left out\n",
			m->nr_bad_modules);
	if (reader_is_damaged(m->reader))
		fprintf(r->out, "%-24s %s\n", "damage",
			reader_damage_text(m->reader, text, sizeof(text)));
}
