// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the properties of a recording: the first lines of most reports, and --summary. */
#include <inttypes.h>
#include <string.h>

#include "base/minmax.h"
#include "cli/units.h"
#include "facts/ticks.h"
#include "render/columns.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wrap.h"

#define THREADS_SHOWN	8

/* Prints the recording in all forms */

#define ROW struct model
static const struct model *model_of(const struct row *row)
{
	return row->in->at;
}

const struct column lost_columns[] = {
	COLUMN("total", nr_lost), COLUMN("other", lost[0], .head = "of unknown kind"),
	COLUMN("overrun", lost[LDB_LOST_OVERRUN], .head = "overwritten"),
	COLUMN("uncommitted", lost[LDB_LOST_UNCOMMITTED], .head = "never written"),
	COLUMN("torn", lost[LDB_LOST_TORN], .head = "torn"),
	COLUMN("disk", lost[LDB_LOST_DISK], .head = "not on disk"),
	/* The export to SQLite has an older name for this column. */
	COLUMN("unobserved", lost[LDB_LOST_UNOBSERVED], .csv = "unwatched",
	       .head = "of unobserved threads"),
	COLUMN("kernel", lost[LDB_LOST_KERNEL], .head = "of the kernel's"),
	COLUMN(NULL, lost[LDB_LOST_KERNEL + 1], .head = "of unknown kind",
	       .form = COLUMN_ONLY_TABLE),
	{ 0 }
};

/* Columns that say what was left out at the user's request. */
const struct column left_columns[] = {
	COLUMN("functions", left[LDB_LEFT_FUNCS - LDB_LEFT_PAUSE],
	       .head = "observed calls of functions that are not recorded"),
	COLUMN("short", left[LDB_LEFT_SHORT - LDB_LEFT_PAUSE],
	       .head = "observed calls that were too short for their function"),
	COLUMN("outside_requests", left[LDB_LEFT_OUTSIDE - LDB_LEFT_PAUSE],
	       .head = "observed calls outside requests"),
	COLUMN("locks", left[LDB_LEFT_LOCKS - LDB_LEFT_PAUSE], .head = "short waits and holds of locks"),
	COLUMN("requests", left[LDB_LEFT_REQUESTS - LDB_LEFT_PAUSE],
	       .head = "requests of classes that are not recorded"),
	COLUMN("pauses", nr_pauses), COLUMN("paused_ns", pauses_ns), { 0 }
};
#undef ROW

#define ROW struct thread
GET(get_start, i64, reader_ns(model_of(row)->reader, e->start))
GET(get_end, i64, reader_ns(model_of(row)->reader, e->end))
GET(get_share, text, text_share(e->seen, e->made, buf))
GET(get_bad, u64, e->foreign + e->too_deep + e->disorder)

static const struct column thread_columns[] = {
	SAME(tid), SAME(name), COLUMN("calls", made, .head = "calls"),
	COLUMN("observed_calls", seen, .head = "obs."),
	MADE(NULL, get_share, .head = "share", .width = 8, .form = COLUMN_ONLY_TABLE),
	SAME(below_threshold), MADE("start_ns", get_start), MADE("end_ns", get_end),
	COLUMN("exited", has_exited), COLUMN("unobserved", is_unobserved), SAME(creator),
	SAME(scans, .head = "scans"), SAME(invalid, .head = "moved"),
	MADE(NULL, get_bad, .head = "bad", .form = COLUMN_ONLY_TABLE), SAME(foreign),
	SAME(too_deep), SAME(disorder),
	COLUMN("observation_gap_ns", gap_ns, .head = "gaps", .width = 8), SAME(cost_ns), { 0 }
};
#undef ROW

#define ROW struct scanner
static const struct column scanner_columns[] = {
	SAME(rounds), COLUMN("polls", looks), SAME(changes), SAME(scans), SAME(invalid),
	SAME(frames), COLUMN("observation_gaps", gaps), COLUMN("observation_gap_ns", gap_ns),
	SAME(busy_ns), SAME(paused_ns), SAME(moving), SAME(cost_ns), SAME(pages), SAME(handed),
	{ 0 }
};
#undef ROW

#define ROW struct ldb_row_meta
static const struct column meta_columns[] = { SAME(key), SAME(value), { 0 } };
#undef ROW

#define ROW struct model
GET(get_duration, i64, e->duration_ns - e->from_ns)
GET(get_realtime, i64, reader_header(e->reader)->realtime_ns)
GET(get_damaged, bool, reader_is_damaged(e->reader))
GET(get_damage, text, reader_damage_text(e->reader, buf, TEXT_ROOM))
GET(get_kernel, text, *e->kernel_events ? e->kernel_events : e->has_sched ? "yes" : "none")

#undef ROW

#define ROW struct request_source
const struct column request_source_columns[] = {
	SAME(what), COLUMN("loop", is_loop), COLUMN("requests", nr), COLUMN("inner", nr_inner),
	COLUMN("begun_before", nr_begun), COLUMN("ids", has_ids), COLUMN("without_id", nr_without_id),
	COLUMN("calls", made), COLUMN("observed_calls", seen),
	SAME(resolution_ns), SAME(resolution_max_ns), { 0 }
};
#undef ROW

#define ROW struct model
struct rows request_source_rows(const struct row *row)
{
	return rows_one(row_model(row)->requests_of);
}

FROM(source_rows, rows_one(e->requests_of))
WHEN(if_source, e->requests_of != NULL)

const struct column kernel_columns[] = {
	PART_AT("requests_of", source_rows, request_source_columns, .when = if_source),
	MADE("kernel_events", get_kernel), SAME(kernel_why), SAME(kernel_err_ns),
	COLUMN("off_cpu_unplaced_ns", unplaced_ns), { 0 }
};

static struct rows metas(const struct row *row)
{
	const struct model *m = row->at;
	const struct ldb_row_meta *metas;
	size_t nr;

	metas = reader_metas(m->reader, &nr);
	return rows_of(metas, nr);
}

static const struct column recording_columns[] = {
	MADE("duration_ns", get_duration), MADE("realtime_ns", get_realtime), MADE("damaged", get_damaged),
	MADE("damage", get_damage), NESTED_AT("meta", metas, meta_columns), { 0 }
};

FROM(scanners, rows_of(e->scanners, e->nr_scanners))

const struct column made_columns[] = {
	COLUMN("calls", made), COLUMN("observed_calls", seen), { 0 }
};

static const struct column made_more_columns[] = {
	SELF(NULL, made_columns), SAME(below_threshold), { 0 }
};

static const struct column model_columns[] = {
	SELF("lost", lost_columns), SELF("left_out", left_columns), COLUMN("observation_gaps", nr_gaps),
	COLUMN("observation_gap_ns", gap_ns), COLUMN("thread_observation_gaps", nr_thread_gaps),
	COLUMN("thread_observation_gap_ns", thread_gap_ns),
	COLUMN("unobserved_threads", nr_unobserved), COLUMN("bad_modules", nr_bad_modules),
	SELF(NULL, kernel_columns), NESTED("threads", threads, nr_threads, thread_columns),
	NESTED_AT("scanners", scanners, scanner_columns),
	SELF("recording", recording_columns, .form = COLUMN_TALL), { 0 }
};

const struct column model_summary_columns[] = {
	SELF(NULL, made_more_columns), SELF(NULL, model_columns), { 0 }
};
#undef ROW

#define ROW struct stats
static const struct column seen_columns[] = {
	COLUMN("complete", count), SAME(open), SAME(resolution_ns),
	COLUMN("observed_95pct_from_ns", seen_from_ns), { 0 }
};
#undef ROW

#define ROW struct render_summary
FROM(stats, rows_one(e->stats))

static const struct column summary_columns[] = {
	PART_AT(NULL, model_rows, made_more_columns), PART_AT(NULL, stats, seen_columns),
	PART_AT(NULL, model_rows, model_columns), { 0 }
};
#undef ROW

/* Beginning of most reports */

static void head_seen(const struct render *r, const struct model *m, const struct stats *stats)
{
	char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

	fprintf(r->out, "Percentiles are of observed calls: %s observed of %s (%s).\n",
		units_count(m->seen, a), units_count(m->made, b),
		text_share(m->seen, m->made, c));
	if (m->below_threshold)
		fprintf(r->out, "%s more were observed and too short to be written "
			"(--func-threshold).\n", units_count(m->below_threshold, a));
	if (stats && stats->seen_from_ns)
		fprintf(r->out, "Below about %s, fewer than 95 %% are observed; resolution +-%s "
			"(median).\n", units_duration(stats->seen_from_ns, a),
			units_duration(stats->resolution_ns, b));
}

static void head_lost(const struct render *r, const struct model *m)
{
	const struct row row = { .at = m };
	char a[UNITS_ROOM], b[UNITS_ROOM];
	bool any = false;

	fputs("Lost: ", r->out);
	if (!m->nr_lost)
		fputs("nothing", r->out);
	else
		text_style(r, TEXT_WARN);
	for (const struct column *c = lost_columns; c->type; c++) {
		uint64_t nr = column_value(c, &row, NULL).u64;

		if (!c->head || !nr)
			continue;
		fprintf(r->out, "%s%" PRIu64 " records %s", any ? ", " : "", nr, c->head);
		any = true;
	}
	if (m->nr_lost)
		text_style(r, TEXT_PLAIN);
	fprintf(r->out, ".  Unobserved threads: %" PRIu64 ".\nObservation gaps: %s in %" PRIu64
		" (the scanner did not run), %s in %" PRIu64 " (of one thread).\n",
		m->nr_unobserved, units_duration(m->gap_ns, a), m->nr_gaps,
		units_duration(m->thread_gap_ns, b), m->nr_thread_gaps);
	if (m->paused_ns)
		fprintf(r->out, "The scanner had no core to itself and slept for %s: few short calls are observed then%s.\n",
			units_duration(m->paused_ns, a),
			reader_meta(m->reader, "kernel_frames_ns") ? "" : " (more with --kernel-frames=auto)");
}

static void head_left(const struct render *r, const struct model *m)
{
	const struct row row = { .at = m };
	char a[UNITS_ROOM], b[UNITS_ROOM];
	const char *between = "Left out as requested: ";

	if (m->nr_pauses)
		fprintf(r->out, "Recording was paused for %s in %s pause%s: requests that were open then are incomplete.\n",
			units_duration(m->pauses_ns, a), units_count(m->nr_pauses, b), m->nr_pauses == 1 ? "" : "s");
	for (const struct column *c = left_columns; c->type; c++) {
		uint64_t nr = column_value(c, &row, NULL).u64;

		if (!c->head || !nr)
			continue;
		fprintf(r->out, "%s%s %s", between, units_count(nr, a), c->head);
		between = ", ";
	}
	if (m->nr_left)
		fputs(".\n", r->out);
}

/* Prints what sampling has cost the threads, relative to the time during which they existed. */
static void head_budget(const struct render *r, const struct model *m)
{
	const char *budget = reader_meta(m->reader, "budget");
	const struct thread *worst = NULL;
	double most = 0, cost = 0, time = 0;
	char name[TEXT_ROOM];

	for (size_t i = 0; i < m->nr_threads; i++) {
		const struct thread *t = &m->threads[i];
		double lived = ticks_time_ns(m->reader, t->end) -
			       max(t->start > 0 ? ticks_time_ns(m->reader, t->start) : 0, m->from_ns);

		if (t->is_unobserved || lived <= 0)
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
	fprintf(r->out, "Budget: %.20s of a thread's time; polling cost about %.1f %% of all threads', at most %.1f %% (of %s).\n",
		budget, 100 * cost / time, 100 * most, name);
}

static void put_thread_seen(const struct render *r, const struct thread *t, unsigned *column)
{
	char name[TEXT_ROOM], text[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM];
	unsigned len;

	text_thread(t->tid, t, name);
	if (t->is_unobserved)
		snprintf(text, sizeof(text), "%.100s unobserved", name);
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
	unsigned column = 27;

	if (!m->nr_threads)
		return;
	fputs("Threads, observed/all calls:", r->out);
	for (size_t i = 0; i < nr; i++)
		put_thread_seen(r, &m->threads[i], &column);
	if (nr < m->nr_threads)
		fprintf(r->out, "  and %zu more (--summary)", m->nr_threads - nr);
	fputc('\n', r->out);
}

/* Prints the recorder's warnings. */
static void head_warnings(const struct render *r, const struct model *m)
{
	size_t nr;
	const struct ldb_row_meta *metas = reader_metas(m->reader, &nr);
	char text[TEXT_ROOM];

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(metas[i].key, "warning"))
			fprintf(r->out, "Warning: %s.\n", text_clean(metas[i].value, text));
}

/* Prints why a dump of a flight recorder was made, and which range of time it contains. */
static void head_flight(const struct render *r, const struct model *m)
{
	const char *flight = reader_meta(m->reader, "flight");
	int64_t nr_cut = model_number(m, "flight_cut", 0);
	char a[UNITS_ROOM], b[UNITS_ROOM], text[TEXT_ROOM];
	const struct ldb_row_meta *metas;
	double before, after;
	size_t nr;

	if (!flight || sscanf(flight, "%lf %lf", &before, &after) != 2)
		return;
	metas = reader_metas(m->reader, &nr);
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(metas[i].key, "trigger"))
			fprintf(r->out, "Trigger: %s.\n", text_clean(metas[i].value, text));
	fprintf(r->out, "This dump contains the %s before its first trigger and the %s after it.\n",
		units_duration(before * 1e9, a), units_duration(after * 1e9, b));
	if (nr_cut > 0)
		fprintf(r->out, "%" PRId64 " request%s began earlier: what %s did until then is cut off.\n", nr_cut,
			nr_cut == 1 ? "" : "s", nr_cut == 1 ? "it" : "they");
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(metas[i].key, "flight_suppressed"))
			fprintf(r->out, "Triggers since the previous dump that made no dump: %s.\n",
				text_clean(metas[i].value, text));
}

/* Says what requests are made from, and how many of them the scanner may have missed. */
static void head_requests(const struct render *r, const struct request_source *s)
{
	char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM], text[TEXT_ROOM];

	if (!s)
		return;
	fprintf(r->out, "Requests are %s%s: %s, latencies +-%s (median), at most +-%s.\n",
		s->is_loop ? "turns of event loops" : "calls of ", s->is_loop ? "" : text_clean(s->what, text),
		units_count(s->nr, a), units_duration(s->resolution_ns, b), units_duration(s->resolution_max_ns, c));
	if (!s->is_loop && s->nr)
		fprintf(r->out, "Their threads made %s calls, of which %s were observed (%s): requests may be among the others.\n",
			units_count(s->made, a), units_count(s->seen, b), text_share(s->seen, s->made, c));
	if (s->has_ids && s->nr_without_id)
		fprintf(r->out, "%s of them have no id of the program; they are numbered from 9223372036854775808 on.\n",
			units_count(s->nr_without_id, a));
	if (s->why_no_ids)
		fprintf(r->out, "They are numbered, and have no ids of the program: %s, so none is certain.\n",
			s->why_no_ids);
	if (s->nr_inner)
		fprintf(r->out, "%s more calls were inside of a request and belong to it.\n", units_count(s->nr_inner, a));
	if (s->nr_begun)
		fprintf(r->out, "%s more had begun before the recording and are left out.\n", units_count(s->nr_begun, a));
}

void text_head(const struct render *r, const struct model *m, const struct stats *stats)
{
	const char *cmdline = reader_meta(m->reader, "cmdline"), *end = reader_meta(m->reader, "end");
	char a[UNITS_ROOM], text[TEXT_ROOM];

	text_style(r, TEXT_BOLD);
	text_cell(r, cmdline && *cmdline ? cmdline : "a program", r->width > 60 ? r->width - 40 : 20,
		  false);
	text_style(r, TEXT_PLAIN);
	fprintf(r->out, ": %s recorded, ended: ", units_duration(m->duration_ns - m->from_ns, a));
	text_cell(r, end && *end ? end : "not known", 20, false);
	fputc('\n', r->out);
	head_flight(r, m);
	if (!m->is_kernel_only)
		head_seen(r, m, stats);
	head_requests(r, m->requests_of);
	head_lost(r, m);
	head_left(r, m);
	if (!m->is_kernel_only)
		head_budget(r, m);
	text_kernel(m, text);
	*text = 'K';
	fprintf(r->out, "%s.\n", text);
	head_warnings(r, m);
	head_threads(r, m);
	fputc('\n', r->out);
}

/* Summary */

static void put_thread(const struct render *r, const struct thread *t)
{
	char name[TEXT_ROOM], fit[TEXT_ROOM];

	text_cell(r, wrap_numbered(text_thread(t->tid, t, name), 24, fit), 24, true);
	table_cells(r, thread_columns, t);
	fprintf(r->out, "%s%s\n", t->is_unobserved ? " unobserved" : "",
		t->has_exited ? " exited" : "");
}

static void text_summary(const struct render *r, const void *report)
{
	const struct render_summary *s = report;
	const struct model *m = s->model;
	const struct ldb_row_meta *metas;
	char text[TEXT_ROOM];
	size_t nr;

	text_head(r, m, s->stats);
	table_head(r, "thread", 24, thread_columns, "");
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

const struct printer summary_printer = {
	DOCUMENT_REPORT_SUMMARY, summary_columns, text_summary, TEXT_INDENT
};
