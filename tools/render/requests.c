// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the report on requests: their classes, and the slowest ones. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "render/segment.h"
#include "render/columns.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wrap.h"

#define THREADS_FROM	100	/* from this width on, a request's threads are on its line */
#define MORE_ROOM	5	/* columns of " +123" */

#define ROW uint32_t
static const struct thread *thread_of(const struct row *row)
{
	const struct render_requests *q = row_report(row);
	const struct timeline *t = row->in->at;

	return model_thread(q->model, *(const ROW *)row->at,
			    reader_tick(q->model->reader, t->start_ns));
}

GET(get_tid, u64, *e)
GET(get_thread, text, model_thread_name(thread_of(row)))

static const struct column thread_columns[] = {
	MADE("tid", get_tid), MADE("thread", get_thread), { 0 }
};
#undef ROW

#define ROW struct timeline
static const struct timeline_cause *top(const struct timeline *t)
{
	return timeline_top_function(t);
}

GET(get_top, text, top(e) ? top(e)->func->function : "")
GET(get_top_ns, i64, top(e) ? top(e)->ns : 0)
GET(get_start, text, units_duration(e->start_ns, buf))
FROM(notes, (struct rows){ .at = e->notes, .nr = e->nr_notes, .are_pointers = true })
GET(get_notes, text, notes_text(e->notes, e->nr_notes, buf, COLUMN_ROOM))
GET(get_most, text, top(e) ? text_ns(top(e)->ns, buf) : "-")

WHEN(if_estimate, e->latency_resolution_ns > 0)

static const struct column request_columns[] = {
	SAME(req, .head = "slowest", .width = 12, .form = COLUMN_DIGITS), SAME(class),
	MADE(NULL, get_start, .head = "start", .width = 10, .form = COLUMN_ONLY_TABLE),
	SAME(start_ns), SAME(end_ns), SAME(latency_ns, .head = "latency"),
	SAME(latency_resolution_ns, .head = "+-", .form = COLUMN_ONLY_JSON | COLUMN_IF_ESTIMATES, .when = if_estimate),
	COLUMN("complete", is_complete, .form = COLUMN_ONLY_CSV),
	COLUMN("threads", nr_tids, .form = COLUMN_ONLY_CSV),
	SAME(lock_wait_ns, .head = "locks"), SAME(queue_ns, .head = "queues"),
	MADE(NULL, get_most, .head = "most in", .width = 8, .form = COLUMN_ONLY_TABLE),
	MADE("top_function", get_top), MADE("top_function_ns", get_top_ns),
	MADE("notes", get_notes, .form = COLUMN_ONLY_CSV),
	NESTED_AT("notes", notes, note_columns, .form = COLUMN_ONLY_JSON | COLUMN_IF_ANY),
	NESTED("threads", tids, nr_tids, thread_columns), { 0 }
};
#undef ROW

#define ROW struct request_class
static bool is_all(const struct row *row)
{
	return !row->nth;
}

GET(get_class, text, is_all(row) ? NULL : e->name)

static struct rows all_requests(const struct row *row)
{
	const struct render_requests *q = row_report(row);

	return rows_of(q->timelines, q->requests->nr_instances);
}

static bool is_of_class(const struct row *nested)
{
	const struct render_requests *q = row_report(nested);
	const struct request_class *c = nested->in->at;

	return is_all(nested->in) || q->requests->instances[nested->nth].class == c->name;
}

static const struct column class_columns[] = {
	MADE("class", get_class), SAME(count, .head = "count"), SAME(incomplete),
	SAME(lost_handoffs), SAME(p50_ns, .head = "p50"), SAME(p99_ns, .head = "p99"),
	SAME(p999_ns, .head = "p99.9"), SAME(p9999_ns, .head = "p99.99"),
	SAME(max_ns, .head = "max"), SAME(mean_ns, .head = "mean"), SAME(total_ns),
	COLUMN("exact", is_exact),
	NESTED_AT("slowest", all_requests, request_columns, .is_one = is_of_class), { 0 }
};
#undef ROW

/* The first row is the sum of all classes. */
static struct rows classes(const struct row *row)
{
	const struct requests *requests = ((const struct render_requests *)row->at)->requests;
	struct rows rows = rows_of(requests->classes, requests->nr_classes);

	rows.first = requests->nr_classes ? &requests->all : NULL;
	return rows;
}

static bool if_source(const struct row *row)
{
	return row_model(row)->requests_of != NULL;
}

static const struct column report_columns[] = {
	PART_AT("requests_of", request_source_rows, request_source_columns, .form = COLUMN_ONLY_JSON, .when = if_source),
	NESTED_AT("requests", classes, class_columns, .form = COLUMN_TALL),
	NESTED_AT(NULL, all_requests, request_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV),
	{ 0 }
};

/* Text */

static void put_class(const struct render *r, const struct request_class *c, const char *name)
{
	char text[160] = "", more[64] = "";
	unsigned left = r->width - (table_width(r, class_columns) + 1), need;

	table_cells(r, class_columns, c);
	fputc(' ', r->out);
	if (c->incomplete)
		snprintf(text, sizeof(text), " (%" PRIu64 " not ended)", c->incomplete);
	if (c->lost_handoffs)
		snprintf(more, sizeof(more), " (%" PRIu64 " lost in a queue)", c->lost_handoffs);
	strcat(text, more);
	need = strlen(text);
	if (need && strlen(name) + need > left) {
		text_cell(r, name, left, false);
		text_on_next_line(r, text + 1, TEXT_PLAIN);
	} else {
		text_cell(r, name, left - need, false);
		fputs(text, r->out);
	}
	fputc('\n', r->out);
}

void text_classes(const struct render *r, const struct requests *requests, size_t nr)
{
	table_head(r, "", 0, class_columns, " class");
	put_class(r, &requests->all, "all requests");
	for (size_t i = 0; i < requests->nr_classes && i < nr; i++)
		if (requests->nr_classes > 1 || *requests->classes[i].name)
			put_class(r, &requests->classes[i], *requests->classes[i].name ?
				  requests->classes[i].name : "(no class)");
}

/* Writes "worker 4711, main 4710 +2  GET", with as many threads as there is room for. */
static void threads_text(const struct model *m, const struct timeline *t, unsigned width, char *buf)
{
	char name[TEXT_ROOM], fit[TEXT_ROOM], more[32] = "";
	size_t n = 0, i;

	*buf = '\0';
	for (i = 0; i < t->nr_tids; i++) {
		const struct thread *thread = model_thread(m, t->tids[i],
							   reader_tick(m->reader, t->start_ns));
		const char *text = text_thread(t->tids[i], thread, name);

		if (i && n + 2 + strlen(text) + MORE_ROOM > width)
			break;
		n += snprintf(buf + n, TEXT_ROOM - n, "%s%.100s", i ? ", " : "",
			      i ? text : wrap_numbered(text, width - MORE_ROOM, fit));
	}
	if (i < t->nr_tids)
		snprintf(more, sizeof(more), " +%zu", t->nr_tids - i);
	n += snprintf(buf + n, TEXT_ROOM - n, "%s", more);
	if (*t->class && n + 4 < width)
		snprintf(buf + n, TEXT_ROOM - n, "  %.200s", text_clean(t->class, name));
}

static void put_request(const struct render *r, const struct model *m, const struct timeline *t)
{
	const struct timeline_cause *top = timeline_top_function(t);
	unsigned left = r->width - (table_width(r, request_columns) + 1);
	unsigned room = r->width < THREADS_FROM ? left : left * 3 / 5;
	char name[TEXT_ROOM], fit[TEXT_ROOM], threads[TEXT_ROOM];

	table_cells(r, request_columns, t);
	fputc(' ', r->out);
	wrap_name(top ? text_function(top->func, name) : "-", room, fit);
	text_cell(r, fit, room, r->width >= THREADS_FROM);
	if (r->width >= THREADS_FROM) {
		threads_text(m, t, left - room - 1, threads);
		fputc(' ', r->out);
		text_cell(r, threads, left - room - 1, false);
	}
	fputc('\n', r->out);
}

void text_slowest(const struct render *r, const struct model *m, const struct timeline *timelines,
		  size_t nr)
{
	table_head(r, "", 0, request_columns, " function (self time)");
	for (size_t i = 0; i < nr; i++)
		put_request(r, m, &timelines[i]);
}

static void text_requests(const struct render *r, const void *report)
{
	const struct render_requests *q = report;
	const struct requests *requests = q->requests;

	text_head(r, q->model, NULL);
	text_classes(r, requests, SIZE_MAX);
	if (requests->result.nr_stray)
		fprintf(r->out, "%" PRIu64 " ends without a start: begun before the recording, or "
			"tagged twice.\n", requests->result.nr_stray);
	if (!requests->nr_instances)
		return;
	fputc('\n', r->out);
	text_slowest(r, q->model, q->timelines, requests->nr_instances);
	fprintf(r->out, "ldb-timeline --req=%" PRIu64 " shows why.\n", requests->instances[0].id);
}

const struct printer requests_printer = {
	DOCUMENT_REPORT_REQUESTS, report_columns, text_requests, TEXT_INDENT
};
