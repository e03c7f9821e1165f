// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the report on the kernel events. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "facts/sched.h"
#include "render/columns.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wrap.h"

#define WIDE		90	/* from this width on, names are longer and p99.9 is shown */
#define WIDEST		110	/* from this width on, disk and futex are shown */
#define NS_WIDTH	8

static int64_t resolution_of(const struct row *row)
{
	return ((const struct render_sched *)row_report(row))->stats->resolution_ns;
}

#define ROW struct dist_times
GET(get_resolution, i64, resolution_of(row))

static const struct column times_columns[] = {
	SAME(count, .head = "count"), SAME(p50_ns, .head = "p50", .width = NS_WIDTH),
	SAME(p99_ns, .head = "p99", .width = NS_WIDTH),
	SAME(p999_ns, .head = "p99.9", .width = NS_WIDTH, .from = WIDE),
	SAME(max_ns, .head = "max", .width = NS_WIDTH), SAME(mean_ns),
	SAME(total_ns, .head = "total", .width = NS_WIDTH),
	MADE("resolution_ns", get_resolution), COLUMN("exact", is_exact), { 0 }
};

static const struct column wakeup_columns[] = {
	COLUMN("wakeups", count), COLUMN("wakeup_p50_ns", p50_ns), COLUMN("wakeup_p99_ns", p99_ns),
	COLUMN("wakeup_p999_ns", p999_ns), COLUMN("wakeup_max_ns", max_ns),
	COLUMN("wakeup_mean_ns", mean_ns), COLUMN("wakeup_total_ns", total_ns), { 0 }
};
#undef ROW

#define ROW struct interruptions
static const struct column csv_interruptions_columns[] = {
	COLUMN("page_faults", nr_faults, .head = "faults"),
	COLUMN("major_faults", nr_major, .head = "major"),
	COLUMN("interrupts", nr_irqs, .head = "irqs"),
	COLUMN("interrupt_ns", irq_ns, .head = "total", .width = NS_WIDTH), { 0 }
};
#undef ROW

#define ROW struct sched_entry
GET(get_what, text, "thread")
GET(get_name, text, e->thread ? e->thread->name : e->self.name)

static const struct column state_columns[] = {
	SAME(on_cpu_ns, .head = "on CPU", .width = NS_WIDTH),
	SAME(runnable_ns, .head = "runnable", .width = NS_WIDTH),
	SAME(preempted_ns, .head = "preempt.", .width = NS_WIDTH),
	SAME(blocked_ns, .head = "blocked", .width = NS_WIDTH),
	SAME(disk_ns, .head = "disk", .width = NS_WIDTH, .from = WIDEST),
	SAME(futex_ns, .head = "futex", .width = NS_WIDTH, .from = WIDEST),
	SAME(voluntary, .head = "slept"), SAME(involuntary, .head = "preem."),
	SAME(migrations, .head = "migr."), { 0 }
};

static const struct column entry_columns[] = {
	SELF(NULL, state_columns), PART(NULL, interruptions, interruptions_columns), COLUMN("ldb", is_ldb),
	COLUMN("events_lost", has_lost), PART("delays", delays, times_columns),
	PART("wakeups", wakeups, times_columns), { 0 }
};

static const struct column thread_columns[] = {
	SAME(tid), MADE("thread", get_name), SELF(NULL, entry_columns), { 0 }
};

static const struct column csv_thread_columns[] = {
	MADE("what", get_what), SAME(tid), MADE("name", get_name), COLUMN("pid", self.pid),
	COLUMN("count", delays.count), COLUMN("p50_ns", delays.p50_ns),
	COLUMN("p99_ns", delays.p99_ns), COLUMN("p999_ns", delays.p999_ns),
	COLUMN("max_ns", delays.max_ns), COLUMN("mean_ns", delays.mean_ns),
	COLUMN("total_ns", delays.total_ns), PART(NULL, wakeups, wakeup_columns),
	MADE("resolution_ns", get_resolution), SELF(NULL, state_columns),
	PART(NULL, interruptions, csv_interruptions_columns), { 0 }
};
#undef ROW

#define ROW struct sched_context
GET(get_waker, text, "waker")
GET(get_antagonist, text, "antagonist")
GET(get_context, text, e->who.kind == CONTEXT_NONE ? "(unknown)" : context_cell(&e->who))

static const struct column sched_context_columns[] = {
	PART(NULL, who, context_columns, .form = COLUMN_ONLY_JSON),
	COLUMN("tid", who.tid, .form = COLUMN_ONLY_CSV),
	MADE("name", get_context, .form = COLUMN_ONLY_CSV),
	COLUMN("pid", who.pid, .form = COLUMN_ONLY_CSV),
	SAME(count), SAME(total_ns), SAME(max_ns),
	MADE("resolution_ns", get_resolution, .form = COLUMN_ONLY_CSV), { 0 }
};

static const struct column antagonist_columns[] = {
	MADE("what", get_antagonist), SELF(NULL, sched_context_columns), { 0 }
};

static const struct column waker_columns[] = {
	MADE("what", get_waker), SELF(NULL, sched_context_columns), { 0 }
};

static const struct column antagonist_table[] = {
	SAME(total_ns, .head = "total", .width = NS_WIDTH), SAME(count, .head = "waits"),
	SAME(max_ns, .head = "max", .width = NS_WIDTH), { 0 }
};

static const struct column waker_table[] = {
	SAME(total_ns, .head = "total", .width = NS_WIDTH), SAME(count, .head = "wakes"),
	SAME(max_ns, .head = "max", .width = NS_WIDTH), { 0 }
};
#undef ROW

#define ROW struct render_sched
FROM(threads, rows_of(e->stats->entries, e->nr))
FROM(antagonists, rows_of(e->stats->antagonists, min(e->nr_contexts, e->stats->nr_antagonists)))
FROM(wakers, rows_of(e->stats->wakers, min(e->nr_contexts, e->stats->nr_wakers)))
FROM(all, rows_one(&e->stats->all))
static const struct column event_columns[] = {
	VIA("resolution_ns", stats, resolution_ns), VIA("events", stats, result.nr_rows),
	VIA("switches", stats, result.nr_switches), VIA("broken", stats, result.nr_broken), { 0 }
};

/* CSV has rows of threads, of antagonists and of wakers. */
static const struct column sched_columns[] = {
	PART_AT(NULL, model_rows, kernel_columns, .form = COLUMN_ONLY_JSON),
	SELF(NULL, event_columns, .form = COLUMN_ONLY_JSON),
	PART_AT("all", all, entry_columns, .form = COLUMN_TALL),
	NESTED_AT("threads", threads, thread_columns, .form = COLUMN_TALL),
	NESTED_AT("antagonists", antagonists, sched_context_columns),
	NESTED_AT("wakers", wakers, sched_context_columns),
	NESTED_AT(NULL, threads, csv_thread_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV),
	NESTED_AT(NULL, antagonists, antagonist_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV),
	NESTED_AT(NULL, wakers, waker_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV), { 0 }
};
#undef ROW

/* Text */

static int name_columns(const struct render *r)
{
	return r->width >= 90 ? 26 : 20;
}

static void put_name(const struct render *r, const struct model *m, const struct sched_entry *e)
{
	char name[TEXT_ROOM], fit[TEXT_ROOM];

	if (!e->tid)
		snprintf(name, sizeof(name), "all threads");
	else if (e->thread)
		text_thread(e->tid, e->thread, name);
	else
		text_context(m, &e->self, name);
	text_cell(r, wrap_numbered(name, name_columns(r), fit), name_columns(r), true);
}

static void put_head(const struct render *r, const char *what, const struct column *columns)
{
	fputc('\n', r->out);
	table_head(r, what, name_columns(r), columns, "");
}

static void put_states(const struct render *r, const struct model *m, const struct sched_entry *e)
{
	put_name(r, m, e);
	table_cells(r, state_columns, e);
	fputs(e->is_ldb ? "  *\n" : "\n", r->out);
}

static void put_delays(const struct render *r, const struct model *m, const struct sched_entry *e)
{
	if (!e->delays.count || e->is_ldb)
		return;
	put_name(r, m, e);
	table_cells(r, times_columns, &e->delays);
	fputc('\n', r->out);
	if (!e->wakeups.count || e->wakeups.count == e->delays.count)
		return;
	text_style(r, TEXT_DIM);
	text_cell(r, "    after a wake-up", name_columns(r), true);
	table_cells(r, times_columns, &e->wakeups);
	fputc('\n', r->out);
	text_style(r, TEXT_PLAIN);
}

static bool has_interruptions(const struct sched_entry *e)
{
	return e->interruptions.nr_faults || e->interruptions.nr_irqs;
}

static void put_interruptions(const struct render *r, const struct model *m, const struct sched_entry *e)
{
	if (!has_interruptions(e))
		return;
	put_name(r, m, e);
	table_cells(r, csv_interruptions_columns, &e->interruptions);
	fputc('\n', r->out);
}

/* Prints a table of threads; put() prints a row of it. */
static void put_threads(const struct render *r, const struct render_sched *s,
			void (*put)(const struct render *r, const struct model *m,
				    const struct sched_entry *e))
{
	if (s->stats->nr > 1)
		put(r, s->model, &s->stats->all);
	for (size_t i = 0; i < s->nr; i++)
		put(r, s->model, &s->stats->entries[i]);
}

static void put_contexts(const struct render *r, const struct model *m,
			const struct column *columns, const char *head,
			const struct sched_context *contexts, size_t nr, size_t nr_all)
{
	char who[TEXT_ROOM], fit[TEXT_ROOM];

	fputc('\n', r->out);
	table_head(r, "", 0, columns, head);
	for (size_t i = 0; i < nr; i++) {
		table_cells(r, columns, &contexts[i]);
		fprintf(r->out, "  %s\n", wrap_numbered(text_context(m, &contexts[i].who, who),
							 r->width - 28, fit));
	}
	if (nr < nr_all)
		fprintf(r->out, "%zu more: --top=%zu shows all.\n", nr_all - nr, nr_all);
}

static void put_doubts(const struct render *r, const struct schedstats *s)
{
	if (s->result.nr_broken)
		fprintf(r->out, "Switches without their counterpart: %" PRIu64 "; the time between is in no "
			"column.\n", s->result.nr_broken);
	if (s->all.has_lost)
		fprintf(r->out, "Times off the CPU during which events were lost: %" PRIu64 ".\n",
			s->all.has_lost);
	if (s->result.nr_dropped)
		fprintf(r->out, "Events left out, because there are too many threads: %" PRIu64 ".\n",
			s->result.nr_dropped);
}

static void text_sched(const struct render *r, const void *report)
{
	const struct render_sched *s = report;
	const struct schedstats *k = s->stats;
	char a[UNITS_ROOM];

	text_head(r, s->model, NULL);
	fprintf(r->out, "Times between two kernel events: +-%s.\n", units_duration(k->resolution_ns, a));
	put_doubts(r, k);
	put_head(r, "thread", state_columns);
	put_threads(r, s, put_states);
	if (s->nr < k->nr)
		fprintf(r->out, "%zu more threads: --top=%zu shows all.\n", k->nr - s->nr, k->nr);
	else if (k->nr && k->entries[k->nr - 1].is_ldb)
		fputs("* ldb's own threads, which are in no other number.\n", r->out);
	put_head(r, "waits for a CPU", times_columns);
	put_threads(r, s, put_delays);
	if (has_interruptions(&k->all)) {
		put_head(r, "page faults, interrupts", csv_interruptions_columns);
		put_threads(r, s, put_interruptions);
	}
	put_contexts(r, s->model, antagonist_table, "  running task meanwhile", k->antagonists,
		    min(s->nr_contexts, k->nr_antagonists), k->nr_antagonists);
	put_contexts(r, s->model, waker_table, "  who woke them, and how long they had slept", k->wakers,
		    min(s->nr_contexts, k->nr_wakers), k->nr_wakers);
}

const struct printer sched_printer = {
	DOCUMENT_REPORT_SCHED, sched_columns, text_sched, TEXT_INDENT
};
