// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the predictions of a replay, in all formats. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "render/text.h"
#include "render/whatif.h"

/* JSON and CSV */

struct points {
	int64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};
_Static_assert(sizeof(struct points) == NR_WHATIF_POINTS * sizeof(int64_t), "one for each point");

#define ROW struct points
static const struct column points_columns[] = {
	SAME(p50_ns, .head = "p50"), SAME(p90_ns, .head = "p90"), SAME(p99_ns, .head = "p99"),
	SAME(p999_ns, .head = "p99.9"), SAME(max_ns, .head = "max"), { 0 }
};
#undef ROW

/* CSV has a row for each class and point. */
#define ROW struct column
static const struct whatif_class *class_of(const struct row *row)
{
	return row->in->at;
}

GET(get_before, i64, class_of(row)->measured_ns[row->nth])
GET(get_lo, i64, class_of(row)->lo_ns[row->nth])
GET(get_hi, i64, class_of(row)->hi_ns[row->nth])
GET(get_fifo, i64, class_of(row)->replayed_ns[WHATIF_FIFO][row->nth])
GET(get_barging, i64, class_of(row)->replayed_ns[WHATIF_BARGING][row->nth])
GET(get_recorded, i64, class_of(row)->replayed_ns[WHATIF_RECORDED][row->nth])

static const struct column point_columns[] = {
	COLUMN("point", head), MADE("before_ns", get_before), MADE("after_lo_ns", get_lo),
	MADE("after_hi_ns", get_hi), MADE("replayed_fifo_ns", get_fifo),
	MADE("replayed_barging_ns", get_barging), MADE("replayed_recorded_ns", get_recorded), { 0 }
};
#undef ROW

#define ROW struct whatif_class
/* Returns the prediction for a policy, if the replay passed its self-check. */
static struct rows predicted(const struct row *row, enum whatif_policy p)
{
	const struct whatif *w = row_report(row);
	const ROW *c = row->at;

	return rows_one(w->is_good[p] ? c->predicted_ns[p] : NULL);
}

FROM(fifo, predicted(row, WHATIF_FIFO))
FROM(barging, predicted(row, WHATIF_BARGING))
FROM(recorded, predicted(row, WHATIF_RECORDED))

static const struct column fifo_columns[] = {
	PART("replayed", replayed_ns[WHATIF_FIFO], points_columns),
	PART_AT("after", fifo, points_columns), { 0 }
};

static const struct column barging_columns[] = {
	PART("replayed", replayed_ns[WHATIF_BARGING], points_columns),
	PART_AT("after", barging, points_columns), { 0 }
};

static const struct column recorded_columns[] = {
	PART("replayed", replayed_ns[WHATIF_RECORDED], points_columns),
	PART_AT("after", recorded, points_columns), { 0 }
};

FROM(all_points, rows_of(points_columns, NR_WHATIF_POINTS))

/* Returns true for the row of all classes together. */
static bool is_all(const struct row *row)
{
	return row->at == &((const struct whatif *)row_report(row))->all;
}

GET(get_all, bool, is_all(row))
GET(get_class, if, !is_all(row), value_text(e->name))

static const struct column class_columns[] = {
	MADE("all", get_all, .form = COLUMN_ONLY_CSV), MADE("class", get_class),
	COLUMN("requests", nr), PART("before", measured_ns, points_columns),
	PART("after_lo", lo_ns, points_columns), PART("after_hi", hi_ns, points_columns),
	SELF("fifo", fifo_columns, .form = COLUMN_TALL),
	SELF("barging", barging_columns, .form = COLUMN_TALL),
	SELF("recorded", recorded_columns, .form = COLUMN_TALL),
	NESTED_AT(NULL, all_points, point_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV), { 0 }
};
#undef ROW

#define ROW struct whatif_change
static const struct column change_columns[] = {
	COLUMN("change", text), COLUMN("count", nr), COLUMN("total_ns", ns), SAME(resolution_ns),
	{ 0 }
};
#undef ROW

#define ROW struct whatif_request
static const struct column request_columns[] = {
	COLUMN("req", id), SAME(class), SAME(start_ns), SAME(before_ns),
	COLUMN("after_lo_ns", lo_ns), COLUMN("after_hi_ns", hi_ns), { 0 }
};
#undef ROW

#define ROW struct whatif
GET(get_limit, double, WHATIF_ERROR_MAX)

FROM(changes, rows_of(e->changes, e->nr_changes))

static struct rows classes(const struct row *row)
{
	const ROW *w = row->at;
	struct rows rows = rows_of(w->classes, w->nr_classes);

	rows.first = &w->all;
	return rows;
}

static const struct column fifo_check[] = {
	COLUMN("error", error[WHATIF_FIFO]), COLUMN("passed", is_good[WHATIF_FIFO]), { 0 }
};

static const struct column barging_check[] = {
	COLUMN("error", error[WHATIF_BARGING]), COLUMN("passed", is_good[WHATIF_BARGING]), { 0 }
};

static const struct column recorded_check[] = {
	COLUMN("error", error[WHATIF_RECORDED]), COLUMN("passed", is_good[WHATIF_RECORDED]), { 0 }
};

static const struct column check_columns[] = {
	MADE("limit", get_limit), SELF("fifo", fifo_check), SELF("barging", barging_check),
	SELF("recorded", recorded_check), { 0 }
};

/* How complete the recording is in what a replay needs */
static const struct column lack_columns[] = {
	SAME(mutex), COLUMN("all_holds", has_holds), SAME(lock_threshold_ns),
	COLUMN("kernel_events", has_sched), VIA("observation_gap_ns", model, gap_ns),
	VIA("duration_ns", model, duration_ns), COLUMN("waits", nr_waits), SAME(wait_ns),
	COLUMN("waits_without_holder", nr_blind_waits), COLUMN("without_holder_ns", blind_ns),
	COLUMN("waits_without_waker", nr_fixed), COLUMN("without_waker_ns", fixed_ns), { 0 }
};

static const struct column report_columns[] = {
	NESTED_AT("changes", changes, change_columns),
	SELF("self_check", check_columns, .form = COLUMN_TALL),
	SELF("recording", lack_columns, .form = COLUMN_TALL),
	PART("all", all, class_columns, .form = COLUMN_TALL),
	NESTED("classes", classes, nr_classes, class_columns, .form = COLUMN_TALL),
	COLUMN("changed", nr_changed, .form = COLUMN_ONLY_JSON),
	NESTED("requests", requests, nr_requests, request_columns),
	NESTED_AT(NULL, classes, class_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV), { 0 }
};
#undef ROW

/* Text */

static void put_change(const struct render *r, const struct whatif_change *c)
{
	static const char *const things[] = {
		"calls", "calls", "holds", "holds", "preemptions", "waits for a CPU",
	};
	char text[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM];

	text_styled(r, TEXT_BOLD, "%s", text_clean(c->text, text));
	fprintf(r->out, ": %s %s, %s in all", units_count(c->nr, a), things[c->kind],
		units_duration(c->ns, b));
	if (c->resolution_ns)
		fprintf(r->out, " +-%s", units_duration(c->resolution_ns, a));
	fputs(".\n", r->out);
}

static void put_check(const struct render *r, const struct whatif *w)
{
	static const char *const names[NR_WHATIF_POLICIES] = {
		"handed over in order", "taken by who comes first", "taken in the recording's order",
	};

	fputs("Self-check, p50 and p99 with nothing changed: off by ", r->out);
	for (int p = 0; p < NR_WHATIF_POLICIES; p++)
		fprintf(r->out, "%s%+.1f %% with locks %s%s", p ? ", " : "", 100 * w->error[p], names[p],
			w->is_good[p] ? "" : " (not used)");
	fputs(".\n", r->out);
}

static void put_lacks(const struct render *r, const struct whatif *w)
{
	char a[UNITS_ROOM], b[UNITS_ROOM];

	if (!w->has_holds)
		fprintf(r->out, "Recorded with --mutex=%.10s: only contended holds are known, a lock that was "
			"free is not in the replay.\n", *w->mutex ? w->mutex : "wait");
	else if (w->lock_threshold_ns)
		fprintf(r->out, "Holds shorter than %s are not known (--lock-threshold).\n",
			units_duration(w->lock_threshold_ns, a));
	if (w->has_functions && w->model->gap_ns > w->model->duration_ns / 50)
		fprintf(r->out, "The scanner did not run for %s of %s: the starts and ends of functions are "
			"uncertain.\n", units_duration(w->model->gap_ns, a),
			units_duration(w->model->duration_ns, b));
	if (!w->has_sched)
		fputs("No kernel events: time in which a thread slept or waited for a CPU counts as its own time.\n",
		      r->out);
	if (w->nr_blind_waits)
		fprintf(r->out, "Not changed, because no holder of the lock was observed: %" PRIu64 " of "
			"%" PRIu64 " waits, %s of %s.\n", w->nr_blind_waits, w->nr_waits,
			units_duration(w->blind_ns, a), units_duration(w->wait_ns, b));
	if (w->nr_fixed)
		fprintf(r->out, "Waits that end when they did in the recording, because the waker is not known: %" PRIu64
			", %s.\n", w->nr_fixed, units_duration(w->fixed_ns, a));
}

static void put_cell(const struct render *r, int64_t lo, int64_t hi)
{
	char a[UNITS_ROOM], b[UNITS_ROOM], cell[TEXT_ROOM];

	text_ns(lo, a);
	text_ns(hi, b);
	if (strcmp(a, b))
		snprintf(cell, sizeof(cell), "%s..%s", a + strspn(a, " "), b + strspn(b, " "));
	else
		snprintf(cell, sizeof(cell), "%s", a + strspn(a, " "));
	fprintf(r->out, " %*s", r->width >= 100 ? 16 : 11, cell);
}

static void put_class(const struct render *r, const struct whatif_class *c, const char *name)
{
	char text[TEXT_ROOM], count[UNITS_ROOM];

	text_cell(r, text_clean(name, text), 10, true);
	fprintf(r->out, " %5s before", units_count(c->nr, count));
	for (int i = 0; i < NR_WHATIF_POINTS; i++)
		put_cell(r, c->measured_ns[i], c->measured_ns[i]);
	fprintf(r->out, "\n%*s", 17, "");
	text_styled(r, TEXT_BOLD, "after ");
	for (int i = 0; i < NR_WHATIF_POINTS; i++)
		put_cell(r, c->lo_ns[i], c->hi_ns[i]);
	fputc('\n', r->out);
}

static void put_classes(const struct render *r, const struct whatif *w)
{
	text_styled(r, TEXT_BOLD, "\n%-10s %5s %6s", "class", "count", "");
	for (int i = 0; i < NR_WHATIF_POINTS; i++)
		text_styled(r, TEXT_BOLD, " %*s", r->width >= 100 ? 16 : 11, points_columns[i].head);
	fputc('\n', r->out);
	put_class(r, &w->all, "all");
	if (w->nr_classes == 1 && !*w->classes[0].name)
		return;
	for (size_t i = 0; i < w->nr_classes; i++)
		put_class(r, &w->classes[i], *w->classes[i].name ? w->classes[i].name : "(none)");
}

static void put_requests(const struct render *r, const struct whatif *w)
{
	char text[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

	fprintf(r->out, "\n%s of %s requests take longer or shorter%s\n",
		units_count(w->nr_changed, a), units_count(w->all.nr, b),
		w->nr_requests ? "; most:" : ".");
	for (size_t i = 0; i < w->nr_requests; i++) {
		const struct whatif_request *q = &w->requests[i];

		fprintf(r->out, "%12" PRIu64 " %s%sat %s: %s -> %s", q->id, text_clean(q->class, text),
			*q->class ? " " : "", units_duration(q->start_ns, a),
			units_duration(q->before_ns, b), units_duration(q->lo_ns, c));
		if (q->hi_ns > q->lo_ns)
			fprintf(r->out, " .. %s", units_duration(q->hi_ns, c));
		fputc('\n', r->out);
	}
}

static void text_whatif(const struct render *r, const void *report)
{
	const struct whatif *w = report;
	char a[UNITS_ROOM], b[UNITS_ROOM];

	fprintf(r->out, "Replay of %s requests in %s steps; threads: %zu, locks: %zu, queues: %zu.\n",
		units_count(w->all.nr, a), units_count(w->nr_steps, b), w->nr_threads, w->nr_locks,
		w->nr_queues);
	for (size_t i = 0; i < w->nr_changes; i++)
		put_change(r, &w->changes[i]);
	put_check(r, w);
	put_lacks(r, w);
	put_classes(r, w);
	put_requests(r, w);
}

const struct printer whatif_printer = {
	DOCUMENT_WHATIF, report_columns, text_whatif, TEXT_INDENT
};
