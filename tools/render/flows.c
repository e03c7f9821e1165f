// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints where time was spent between components: text, CSV and JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/minmax.h"
#include "cli/units.h"
#include "render/flows.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wrap.h"

#define SHARE_WIDTH	7
#define NAME_MIN	20	/* least width of a name */

static const char *percent(double share, char *buf)
{
	snprintf(buf, COLUMN_ROOM, "%.1f %%", 100 * share);
	return buf;
}

/* A time that is a difference of estimates may be negative. */
static const char *signed_ns(int64_t ns, char *buf)
{
	char text[UNITS_ROOM];

	snprintf(buf, COLUMN_ROOM, "%s%s", ns < 0 ? "-" : "", text_ns(ns < 0 ? -ns : ns, text));
	return buf;
}

#define ROW struct flow_times
static int64_t mean_of(const struct flow_times *e)
{
	return e->timed && e->calls ? (int64_t)((double)e->ns / e->calls + 0.5) : 0;
}

GET(get_mean, i64, mean_of(e))
/* If no call was timed, the time is not known. */
GET(get_total_text, text, e->timed ? text_ns(e->ns, buf) : "-")
GET(get_error_text, text, e->timed ? text_ns(e->err_ns, buf) : "-")
GET(get_mean_text, text, e->timed ? text_ns(mean_of(e), buf) : "-")
GET(get_max_text, text, e->timed ? text_ns(e->max_ns, buf) : "-")

static const struct column times_columns[] = {
	SAME(calls, .head = "calls"), SAME(timed), SAME(unknown), COLUMN("total_ns", ns),
	MADE("total_text", get_total_text, .form = COLUMN_ONLY_TABLE, .head = "total", .width = SHARE_WIDTH),
	MADE("error_text", get_error_text, .form = COLUMN_ONLY_TABLE, .head = "+-", .width = SHARE_WIDTH),
	MADE("mean_text", get_mean_text, .form = COLUMN_ONLY_TABLE, .head = "mean", .width = SHARE_WIDTH),
	COLUMN("error_ns", err_ns), MADE("mean_ns", get_mean), SAME(min_ns),
	SAME(p50_ns, .head = "p50", .from = TABLE_WIDE), SAME(p99_ns, .head = "p99", .from = TABLE_WIDE),
	MADE("max_text", get_max_text, .form = COLUMN_ONLY_TABLE, .head = "max", .width = SHARE_WIDTH),
	SAME(max_ns), SAME(shared_ns), { 0 }
};
#undef ROW

#define ROW struct flow_entry
GET(get_function, text, e->api->symbol.function)
GET(get_symbol, text, e->api->symbol.raw)
GET(get_caller, text, e->caller->name)
GET(get_callee, text, e->callee->name)
GET(get_is_wait, bool, e->api->is_wait)

static const struct column entry_columns[] = {
	MADE("function", get_function), MADE("symbol", get_symbol), MADE("caller", get_caller),
	MADE("callee", get_callee), MADE("wait", get_is_wait), PART(NULL, times, times_columns), { 0 }
};
#undef ROW

#define ROW struct flow_part
GET(get_name, text, e->component ? e->component->name : "wait")
GET(get_path, text, e->component ? e->component->path : "")
GET(get_part_wait, bool, !e->component)
GET(get_share, text, percent(e->share, buf))
GET(get_self, text, signed_ns(e->self_ns, buf))

static const struct column part_columns[] = {
	MADE("component", get_name), MADE("path", get_path), MADE("wait", get_part_wait),
	MADE("share_text", get_share, .form = COLUMN_ONLY_TABLE, .head = "share", .width = SHARE_WIDTH),
	MADE("self_text", get_self, .form = COLUMN_ONLY_TABLE, .head = "self", .width = SHARE_WIDTH),
	SAME(self_ns), SAME(share), COLUMN("error_ns", err_ns, .head = "+-"),
	COLUMN("calls", calls, .head = "calls"), SAME(in_ns, .head = "in"), SAME(out_ns, .head = "out"),
	SAME(begun_ns), COLUMN("self_shared_ns", self_shared_ns), { 0 }
};
#undef ROW

#define ROW struct flow_cell
/*
 * Returns the sums of a report: the report's struct begins with a pointer to its model, and one to
 * the sums.
 */
static const struct flowstats *stats_of(const struct row *row)
{
	return ((const struct render_flows *)row_report(row))->stats;
}

GET(get_from, text, stats_of(row)->flows->components[e->from].name)
GET(get_to, text, stats_of(row)->flows->components[e->to].name)

static const struct column cell_columns[] = {
	MADE("caller", get_from), MADE("callee", get_to), COLUMN("wait", is_wait), SAME(calls),
	COLUMN("total_ns", ns), COLUMN("error_ns", err_ns), { 0 }
};
#undef ROW

#define ROW struct flow_thread
GET(get_tid, u64, e->thread->tid)
GET(get_thread, text, model_thread_name(e->thread))
GET(get_busy, double, e->lifetime_ns ? (double)e->effective_ns / e->lifetime_ns : 0)
GET(get_busy_text, text, percent(e->lifetime_ns ? (double)e->effective_ns / e->lifetime_ns : 0, buf))
GET(get_effective, text, signed_ns(e->effective_ns, buf))
GET(get_longest, text, e->longest ? e->longest->symbol.function : "")
GET(get_component, text, stats_of(row)->flows->components[e->component].name)

static const struct column thread_columns[] = {
	MADE("tid", get_tid), MADE("thread", get_thread), SAME(pool), MADE("component", get_component),
	SAME(lifetime_ns, .head = "lifetime"), SAME(wait_ns, .head = "wait"), SAME(effective_ns),
	MADE("effective_text", get_effective, .form = COLUMN_ONLY_TABLE, .head = "work", .width = SHARE_WIDTH),
	COLUMN("error_ns", err_ns, .head = "+-"), MADE("busy", get_busy),
	MADE("busy_text", get_busy_text, .form = COLUMN_ONLY_TABLE, .head = "busy", .width = SHARE_WIDTH),
	SAME(calls, .head = "calls"), SAME(shared_ns), MADE("longest", get_longest), SAME(longest_ns), { 0 }
};
#undef ROW

#define ROW struct flow_pool
GET(get_pool_routine, text, e->routine && e->routine->known ? e->routine->function : "")
GET(get_pool_busy, text, percent(e->busy, buf))
GET(get_imbalance, text, e->imbalance ? (snprintf(buf, COLUMN_ROOM, "%.2f", e->imbalance), buf) : "-")

static const struct column pool_columns[] = {
	COLUMN("pool", name), MADE("routine", get_pool_routine), COLUMN("threads", nr_threads, .head = "thrds"),
	SAME(lifetime_ns, .head = "lifetime"), SAME(wait_ns, .head = "wait"), SAME(effective_ns, .head = "work"),
	SAME(busy), MADE("busy_text", get_pool_busy, .form = COLUMN_ONLY_TABLE, .head = "busy", .width = SHARE_WIDTH),
	SAME(min_ns, .head = "least"), SAME(mean_ns, .head = "mean"), SAME(max_ns, .head = "most"),
	SAME(imbalance),
	MADE("imbalance_text", get_imbalance, .form = COLUMN_ONLY_TABLE, .head = "most/m", .width = 6),
	SAME(calls), { 0 }
};
#undef ROW

#define ROW struct flows
static const struct column lost_flow_columns[] = {
	COLUMN("no_slot", nr_no_slot), COLUMN("address_taken", nr_address_taken),
	COLUMN("unresolved", nr_unresolved), COLUMN("limit", nr_limit),
	COLUMN("threads", nr_lost_threads), COLUMN("unknown_calls", nr_unknown_calls), COLUMN("bad_rows", nr_bad), { 0 }
};
#undef ROW

#define ROW struct render_flows
FROM(parts, rows_of(e->stats->parts, min(e->stats->nr_parts, e->top)))
FROM(entries, rows_of(e->stats->entries, min(e->stats->nr_entries, e->top)))
FROM(cells, rows_of(e->stats->cells, min(e->stats->nr_cells, e->top)))
FROM(threads, rows_of(e->stats->threads, min(e->stats->nr_threads, e->top)))
FROM(pools, rows_of(e->stats->pools, min(e->stats->nr_pools, e->top)))
FROM(lost, rows_one(e->stats->flows))
GET(get_threshold, i64, e->stats->flows->threshold_ns)

static const struct column report_columns[] = {
	VIA("lifetime_ns", stats, lifetime_ns), VIA("wait_ns", stats, wait_ns), VIA("shared_ns", stats, shared_ns),
	VIA("calls", stats, calls), VIA("timed", stats, timed), VIA("unknown", stats, unknown),
	MADE("threshold_ns", get_threshold), PART_AT("lost", lost, lost_flow_columns),
	NESTED_AT("components", parts, part_columns, .form = COLUMN_TALL),
	NESTED_AT("functions", entries, entry_columns, .form = COLUMN_TALL),
	NESTED_AT("matrix", cells, cell_columns, .form = COLUMN_TALL),
	NESTED_AT("threads", threads, thread_columns, .form = COLUMN_TALL),
	NESTED_AT("pools", pools, pool_columns, .form = COLUMN_TALL), { 0 }
};

static const struct column csv_parts[] = { NESTED_AT(NULL, parts, part_columns, .form = COLUMN_SPREAD), { 0 } };
static const struct column csv_entries[] = {
	NESTED_AT(NULL, entries, entry_columns, .form = COLUMN_SPREAD), { 0 }
};
static bool is_wait_row(const struct row *row)
{
	return ((const struct flow_entry *)row->at)->api->is_wait;
}

static const struct column csv_waits[] = {
	NESTED_AT(NULL, entries, entry_columns, .form = COLUMN_SPREAD, .is_one = is_wait_row), { 0 }
};
static const struct column csv_cells[] = { NESTED_AT(NULL, cells, cell_columns, .form = COLUMN_SPREAD), { 0 } };
static const struct column csv_threads[] = {
	NESTED_AT(NULL, threads, thread_columns, .form = COLUMN_SPREAD), { 0 }
};
static const struct column csv_pools[] = { NESTED_AT(NULL, pools, pool_columns, .form = COLUMN_SPREAD), { 0 } };
#undef ROW

/* Text */

static void put_name(const struct render *r, const char *name, unsigned used)
{
	char clean[TEXT_ROOM], fit[TEXT_ROOM];
	unsigned left = r->width > used + NAME_MIN ? r->width - used : NAME_MIN;

	wrap_name(text_clean(name, clean), left, fit);
	fprintf(r->out, " %s\n", fit);
}

static void put_hidden(const struct render *r, size_t shown, size_t nr, const char *what)
{
	if (shown < nr)
		fprintf(r->out, "%zu more %s: --top=%zu shows all.\n", nr - shown, what, nr);
}

static void put_parts(const struct render *r, const struct render_flows *f)
{
	const struct flowstats *s = f->stats;
	size_t nr = min(s->nr_parts, f->top);

	table_head(r, "", 0, part_columns, " component");
	for (size_t i = 0; i < nr; i++) {
		table_cells(r, part_columns, &s->parts[i]);
		put_name(r, s->parts[i].component ? s->parts[i].component->name : "wait", table_width(r, part_columns) + 1);
	}
	put_hidden(r, nr, s->nr_parts, "components");
}

/* Writes "deflate() of libz.so.1, from app". */
static const char *entry_text(const struct flow_entry *e, char *buf)
{
	char function[TEXT_ROOM];

	snprintf(buf, TEXT_ROOM, "%.200s of %.100s, from %.100s", text_function(&e->api->symbol, function),
		 e->callee->name, e->caller->name);
	return buf;
}

static void put_entries(const struct render *r, const struct render_flows *f, bool waits)
{
	const struct flowstats *s = f->stats;
	size_t nr = 0, all = 0;
	char text[TEXT_ROOM];

	table_head(r, "", 0, times_columns, waits ? " wait" : " function");
	for (size_t i = 0; i < s->nr_entries; i++) {
		const struct flow_entry *e = &s->entries[i];

		if (e->api->is_wait != waits)
			continue;
		if (all++ >= f->top)
			continue;
		nr++;
		table_cells(r, times_columns, &e->times);
		put_name(r, entry_text(e, text), table_width(r, times_columns) + 1);
	}
	if (!all)
		fprintf(r->out, "no thread %s\n", waits ? "waited in a function of a library" :
			"called a function of another component");
	put_hidden(r, nr, all, waits ? "waits" : "functions");
}

#define MATRIX_MAX	12	/* greatest number of components */

/*
 * Returns the time in calls from one component to another, or, if `to` is NULL, to functions that
 * wait; -1: there were no such calls.
 */
static int64_t cell_of(const struct flowstats *s, const struct flow_part *from, const struct flow_part *to)
{
	const struct flow_component *components = s->flows->components;
	int64_t ns = -1;

	for (size_t i = 0; i < s->nr_cells; i++) {
		const struct flow_cell *c = &s->cells[i];

		if (&components[c->from] != from->component ||
		    (to ? c->is_wait || &components[c->to] != to->component : !c->is_wait))
			continue;
		ns = max(ns, (int64_t)0) + c->ns;
	}
	return ns;
}

static void put_cell(const struct render *r, int64_t ns)
{
	char text[UNITS_ROOM];

	fprintf(r->out, " %*s", SHARE_WIDTH, ns < 0 ? "." : text_ns(ns, text));
}

/*
 * Prints a line for each caller and a column for each callee.  Columns have numbers instead of
 * names.
 */
static void put_matrix(const struct render *r, const struct render_flows *f)
{
	const struct flowstats *s = f->stats;
	size_t nr = min(s->nr_parts, min((size_t)MATRIX_MAX, max((r->width - NAME_MIN) / 9, 1U)));
	size_t n = 0, line = 0;
	char text[UNITS_ROOM];

	fprintf(r->out, "%-*s", NAME_MIN + 4, "from \\ to");
	for (size_t j = 0; j < nr; j++)
		if (s->parts[j].component)
			fprintf(r->out, " %*zu", SHARE_WIDTH, ++n);
	fprintf(r->out, " %*s\n", SHARE_WIDTH, "wait");
	for (size_t i = 0; i < nr; i++) {
		if (!s->parts[i].component)
			continue;
		fprintf(r->out, "%3zu ", ++line);
		text_cell(r, s->parts[i].component->name, NAME_MIN, true);
		for (size_t j = 0; j < nr; j++)
			if (s->parts[j].component)
				put_cell(r, cell_of(s, &s->parts[i], &s->parts[j]));
		put_cell(r, cell_of(s, &s->parts[i], NULL));
		fputc('\n', r->out);
	}
	fprintf(r->out, "Time in calls, with what they called in turn; the threads existed for %s together%s.\n",
		text_ns(s->lifetime_ns, text), nr < s->nr_parts ? "; more components are in --csv and --json" : "");
}

static void put_pools(const struct render *r, const struct render_flows *f)
{
	const struct flowstats *s = f->stats;
	size_t nr = min(s->nr_pools, f->top);
	char text[TEXT_ROOM];

	table_head(r, "", 0, pool_columns, " pool");
	for (size_t i = 0; i < nr; i++) {
		const struct flow_pool *p = &s->pools[i];

		table_cells(r, pool_columns, p);
		snprintf(text, sizeof(text), "%.200s%s%.200s%s", p->name, p->routine && p->routine->known ? ", " : "",
			 p->routine && p->routine->known ? p->routine->function : "",
			 p->routine && p->routine->known ? "()" : "");
		put_name(r, text, table_width(r, pool_columns) + 1);
	}
	put_hidden(r, nr, s->nr_pools, "pools");
}

static void put_threads(const struct render *r, const struct render_flows *f)
{
	const struct flowstats *s = f->stats;
	size_t nr = min(s->nr_threads, f->top);
	char name[TEXT_ROOM], text[2 * TEXT_ROOM], function[TEXT_ROOM], ns[UNITS_ROOM];

	table_head(r, "", 0, thread_columns, " thread");
	for (size_t i = 0; i < nr; i++) {
		const struct flow_thread *t = &s->threads[i];

		table_cells(r, thread_columns, t);
		snprintf(text, sizeof(text), "%.200s", text_thread(t->thread->tid, t->thread, name));
		if (t->longest)
			snprintf(text, sizeof(text), "%.200s, %s in %.200s", name, text_ns(t->longest_ns, ns),
				 text_function(&t->longest->symbol, function));
		put_name(r, text, table_width(r, thread_columns) + 1);
	}
	put_hidden(r, nr, s->nr_threads, "threads");
}

/* Says what was not recorded, and what is estimated. */
static void put_quality(const struct render *r, const struct render_flows *f)
{
	const struct flowstats *s = f->stats;
	const struct flows *w = s->flows;
	char a[UNITS_ROOM], b[UNITS_ROOM], share[UNITS_ROOM];

	fprintf(r->out, "%s calls between components, counted exactly; %s of them timed, the times of the others are "
		"estimated (+-: 95 %% confidence interval).\n", units_count(s->calls, a), text_share(s->timed, s->calls, share));
	if (s->unknown)
		fprintf(r->out, "%s calls have no time: the function may not return or returns twice, or the call "
			"had not ended.\n", units_count(s->unknown, b));
	if (w->nr_no_slot)
		fprintf(r->out, "%s calls were not timed: there was no room for their return addresses.\n",
			units_count(w->nr_no_slot, b));
	if (w->nr_address_taken + w->nr_unresolved + w->nr_limit)
		fprintf(r->out, "Not followed: %" PRIu64 " functions whose addresses the program may use otherwise, %"
			PRIu64 " that were not found, %" PRIu64 " for lack of room.\n", w->nr_address_taken,
			w->nr_unresolved, w->nr_limit);
	if (w->nr_lost_threads)
		fprintf(r->out, "The sums of %" PRIu64 " threads were lost.\n", w->nr_lost_threads);
	if (w->nr_unknown_calls)
		fprintf(r->out, "%s calls are missing: ldb did not know their threads yet, or not any more.\n",
			units_count(w->nr_unknown_calls, b));
	if (w->nr_bad)
		fprintf(r->out, "%" PRIu64 " rows make no sense and were left out.\n", w->nr_bad);
}

static void put_waits(const struct render *r, const struct render_flows *f)
{
	put_entries(r, f, true);
}

static void put_apis(const struct render *r, const struct render_flows *f)
{
	put_entries(r, f, false);
}

static void text_flows(const struct render *r, const void *report)
{
	static void (*const views[NR_FLOW_VIEWS])(const struct render *r, const struct render_flows *f) = {
		[FLOWS_COMPONENTS] = put_parts, [FLOWS_APIS] = put_apis, [FLOWS_WAITS] = put_waits,
		[FLOWS_MATRIX] = put_matrix, [FLOWS_THREADS] = put_threads, [FLOWS_POOLS] = put_pools,
	};
	const struct render_flows *f = report;

	text_head(r, f->model, NULL);
	if (f->view) {
		views[f->view](r, f);
		fputc('\n', r->out);
	} else {
		for (int view = FLOWS_COMPONENTS; view < NR_FLOW_VIEWS; view++) {
			if (view == FLOWS_MATRIX || view == FLOWS_THREADS ||
			    (view == FLOWS_POOLS && f->stats->nr_threads < 2))
				continue;
			views[view](r, f);
			fputc('\n', r->out);
		}
	}
	put_quality(r, f);
}

static const struct printer printers[NR_FLOW_VIEWS] = {
	[FLOWS_ALL] = { DOCUMENT_FLOWS, csv_parts, text_flows, TEXT_INDENT },
	[FLOWS_COMPONENTS] = { DOCUMENT_FLOWS, csv_parts, text_flows, TEXT_INDENT },
	[FLOWS_APIS] = { DOCUMENT_FLOWS, csv_entries, text_flows, TEXT_INDENT },
	[FLOWS_WAITS] = { DOCUMENT_FLOWS, csv_waits, text_flows, TEXT_INDENT },
	[FLOWS_MATRIX] = { DOCUMENT_FLOWS, csv_cells, text_flows, TEXT_INDENT },
	[FLOWS_THREADS] = { DOCUMENT_FLOWS, csv_threads, text_flows, TEXT_INDENT },
	[FLOWS_POOLS] = { DOCUMENT_FLOWS, csv_pools, text_flows, TEXT_INDENT },
};

static const struct printer json_printer = { DOCUMENT_FLOWS, report_columns, text_flows, TEXT_INDENT };

const struct printer *flows_printer(enum flow_view view, enum render_form form)
{
	return form == RENDER_JSON ? &json_printer : &printers[view];
}

/* Two recordings */

#define ROW struct flow_change
GET(get_delta, text, signed_ns(e->delta_ns, buf))
GET(get_before, text, signed_ns(e->before_ns, buf))
GET(get_after, text, signed_ns(e->after_ns, buf))

static const struct column change_columns[] = {
	SAME(function), SAME(caller), SAME(callee),
	MADE("before_text", get_before, .form = COLUMN_ONLY_TABLE, .head = "before", .width = 8),
	MADE("after_text", get_after, .form = COLUMN_ONLY_TABLE, .head = "after", .width = 8),
	MADE("delta_text", get_delta, .form = COLUMN_ONLY_TABLE, .head = "change", .width = 8),
	SAME(before_ns), SAME(after_ns), SAME(delta_ns), COLUMN("error_ns", err_ns, .head = "+-"),
	COLUMN("beyond_error", is_beyond_error),
	SAME(calls_before, .head = "calls"), SAME(calls_after, .head = "now"), { 0 }
};
#undef ROW

#define ROW struct render_flowdiff
FROM(changes, rows_of(e->diff->entries, min(e->diff->nr_entries, e->top)))
FROM(part_changes, rows_of(e->diff->parts, min(e->diff->nr_parts, e->top)))

static const struct column diff_columns[] = {
	VIA("lifetime_before_ns", diff, lifetime_before_ns, .form = COLUMN_ONLY_JSON),
	VIA("lifetime_after_ns", diff, lifetime_after_ns, .form = COLUMN_ONLY_JSON),
	VIA("wait_before_ns", diff, wait_before_ns, .form = COLUMN_ONLY_JSON),
	VIA("wait_after_ns", diff, wait_after_ns, .form = COLUMN_ONLY_JSON),
	NESTED_AT("components", part_changes, change_columns, .form = COLUMN_TALL | COLUMN_ONLY_JSON),
	NESTED_AT("functions", changes, change_columns, .form = COLUMN_TALL | COLUMN_SPREAD), { 0 }
};
#undef ROW

static void put_changes(const struct render *r, const struct flow_change *c, size_t nr, size_t top,
			const char *what)
{
	size_t shown = 0;
	char text[TEXT_ROOM];

	table_head(r, "", 0, change_columns, what);
	for (size_t i = 0; i < nr && shown < top; i++, shown++) {
		const char *unsure = c[i].is_beyond_error || !c[i].delta_ns ? "" : "(within the error) ";

		table_cells(r, change_columns, &c[i]);
		if (*c[i].function)
			snprintf(text, sizeof(text), "%s%.200s() of %.100s, from %.100s", unsure, c[i].function,
				 c[i].callee, c[i].caller);
		else
			snprintf(text, sizeof(text), "%s%.200s", unsure, c[i].callee);
		put_name(r, text, table_width(r, change_columns) + 1);
	}
	put_hidden(r, shown, nr, "rows");
}

static void text_flowdiff(const struct render *r, const void *report)
{
	const struct render_flowdiff *f = report;
	const struct flowdiff *d = f->diff;
	char a[UNITS_ROOM], b[UNITS_ROOM], text[TEXT_ROOM];

	text_head(r, f->model, NULL);
	fprintf(r->out, "Before: %s. Together, the threads existed for %s there, %s now.\n\n", text_clean(f->before, text),
		text_ns(d->lifetime_before_ns, a), text_ns(d->lifetime_after_ns, b));
	put_changes(r, d->parts, d->nr_parts, f->top, " component, self time");
	fputc('\n', r->out);
	put_changes(r, d->entries, d->nr_entries, f->top, " function");
}

const struct printer flowdiff_printer = {
	DOCUMENT_FLOWS_DIFF, diff_columns, text_flowdiff, TEXT_INDENT
};
