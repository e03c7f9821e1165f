// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the trace reader: index and no index, every table by row, by column and filtered, the
 * request table, damage; the outputs of ldb-report, ldb-timeline, ldb-why and ldb-flows; and the
 * replay of ldb-why --what-if.
 *
 * The input is u8 LOOK_*, which says what is done with the file, and then the file's recipe
 * (trace-recipe.h).
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/partition/partition.h"
#include "analysis/whatif/replay.h"
#include "analysis/tracks/tracks.h"
#include "render/flows.h"
#include "render/pictures.h"
#include "render/render.h"
#include "render/why.h"
#include "trace/columns.h"
#include "trace-recipe.h"

enum {				/* bits 0-2 */
	LOOK_TABLES,
	LOOK_FUNCTIONS,
	LOOK_LOCKS,
	LOOK_REQUESTS,
	LOOK_SCHED,
	LOOK_WHY,
	LOOK_TRACKS,
	LOOK_WHAT_IF,
	LOOK		= 0x07,
	LOOK_JSON	= 0x40,	/* JSON and CSV instead of text */
	LOOK_FILTERED	= 0x80,	/* numbers of a filter for TABLES precede the recipe */
};

/* Reads every byte of every row, and strings to their ends. */
static uint64_t touch_rows(const struct reader_rows *rows)
{
	const struct schema *s = schema_find(rows->kind);
	const char *row = rows->rows;
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->nr; i++, row += s->row_bytes) {
		for (unsigned c = 0; c < s->nr_columns; c++) {
			const struct schema_column *column = &s->columns[c];
			uint64_t v = 0;
			char *text;

			if (column->coding == COLUMN_S) {
				memcpy(&text, row + column->offset, sizeof(text));
				v = strlen(text);
			} else {
				memcpy(&v, row + column->offset, column->size);
			}
			sum += v;
		}
	}
	return sum;
}

static int touch_batch(void *arg, const struct reader_rows *rows)
{
	*(uint64_t *)arg += touch_rows(rows);
	return 0;
}

static void read_funcs(struct reader *r, const struct reader_filter *f, bool with_tid)
{
	struct cursor *c = reader_cursor(r, LDB_BLK_FUNC, f);
	struct reader_funcs funcs;
	uint64_t sum = 0;

	while (c && cursor_next_funcs(c, with_tid, &funcs) > 0)
		for (size_t i = 0; i < funcs.nr; i++)
			sum += funcs.end_unc[i] + (with_tid ? funcs.tid[i] : funcs.pc[i]);
	cursor_close(c);
	*(volatile uint64_t *)&sum = sum;
}

static void read_tables(struct reader *r, const struct reader_filter *f)
{
	const struct ldb_row_reqtab *requests;
	uint64_t sum = 0;
	size_t nr;

	for (unsigned kind = 0; kind <= LDB_BLK_DISK + 1; kind++)
		if (schema_find(kind) && kind != LDB_BLK_INDEX)
			reader_each(r, kind, f, touch_batch, &sum);
	read_funcs(r, f, true);
	read_funcs(r, f, false);
	if (!reader_requests(r, &requests, &nr))
		for (size_t i = 1; i < nr; i++)
			if (requests[i - 1].id > requests[i].id)
				sum++;	/* reads all rows: nr may be wrong */
	*(volatile uint64_t *)&sum = sum;
}

static void show_functions(struct model *m, const struct render *r, bool json)
{
	struct stats_options o = STATS_OPTIONS_ALL;
	struct render_functions f = { .model = m, .by = STATS_BY_SITE, .sorted_by = "total" };
	const struct stats_entry **rows;
	struct stats s;

	if (stats_build(m, &o, &s))
		return;
	rows = calloc(s.nr + 1, sizeof(*rows));
	for (size_t i = 0; i < s.nr; i++)
		rows[i] = &s.entries[i];
	f.stats = &s;
	f.rows = rows;
	f.nr = s.nr;
	if (json) {
		render_as(r, RENDER_JSON, &functions_printer, &f);
		render_as(r, RENDER_CSV, &functions_printer, &f);
		render_as(r, RENDER_JSON, &summary_printer, &(struct render_summary){ m, &s });
	} else {
		render_as(r, RENDER_TEXT, &functions_printer, &f);
		render_as(r, RENDER_TEXT, &summary_printer, &(struct render_summary){ m, &s });
	}
	free(rows);
	stats_free(&s);
}

static void show_locks(struct model *m, const struct render *r, bool json)
{
	struct locks_options o = LOCKS_OPTIONS_ALL;
	struct render_locks show = { .model = m };
	struct locks locks;

	if (locks_build(m, &o, &locks))
		return;
	show.locks = &locks;
	show.nr = locks.nr;
	if (json) {
		render_as(r, RENDER_JSON, &locks_printer, &show);
		render_as(r, RENDER_CSV, &locks_printer, &show);
	} else {
		render_as(r, RENDER_TEXT, &locks_printer, &show);
	}
	locks_free(&locks);
}

static void show_sched(struct model *m, const struct render *r, bool json)
{
	struct schedstats_options o = SCHEDSTATS_OPTIONS_ALL;
	struct render_sched show = { .model = m, .nr_contexts = 20 };
	struct schedstats s;

	if (schedstats_build(m, &o, &s))
		return;
	show.stats = &s;
	show.nr = s.nr;
	if (json) {
		render_as(r, RENDER_JSON, &sched_printer, &show);
		render_as(r, RENDER_CSV, &sched_printer, &show);
	} else {
		render_as(r, RENDER_TEXT, &sched_printer, &show);
	}
	schedstats_free(&s);
}

#define SLOWEST	3

static void show_timeline(struct model *m, const struct render *r, const struct timeline *t, bool json)
{
	struct render_timeline show = {
		.model = m, .timeline = t, .nth = 1, .nr_occurrences = 1, .nr_lines = 20,
	};

	if (json)
		json_timelines(r, &show, 1, true);
	else
		text_timeline(r, &show);
}

static void show_requests(struct model *m, const struct render *r, bool json)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;
	struct timeline timelines[SLOWEST] = { 0 };
	struct requests q;

	o.nr_slowest = SLOWEST;
	if (requests_build(m, &o, &q))
		return;
	for (size_t i = 0; i < q.nr_instances; i++)
		if (!timeline_build(m, &q.instances[i], &timelines[i]))
			show_timeline(m, r, &timelines[i], json);
	if (json)
		render_as(r, RENDER_JSON, &requests_printer, &(struct render_requests){ m, &q, timelines });
	else
		render_as(r, RENDER_TEXT, &requests_printer, &(struct render_requests){ m, &q, timelines });
	for (size_t i = 0; i < q.nr_instances; i++)
		timeline_free(&timelines[i]);
	requests_free(&q);
}

/* Each request's shares sum to its latency, whatever the rows say. */
static void check_shares(const struct partition *p)
{
	for (size_t i = 0; i < p->nr_requests; i++) {
		int64_t sum = 0;

		for (uint32_t k = 0; k < p->requests[i].nr_shares; k++)
			sum += p->shares[p->requests[i].first + k].ns;
		if (sum != p->requests[i].latency_ns)
			broken("a request of %lld ns has %lld ns of shares",
			       (long long)p->requests[i].latency_ns, (long long)sum);
	}
}

static void show_why(struct model *m, const struct render *r, bool json)
{
	struct partition_options o = { .from = INT64_MIN, .to = INT64_MAX };
	struct why_options wo = {
		.target_lo = 50, .target_hi = 100, .reference_lo = 40, .reference_hi = 60,
		.explain = 0.8, .nr_chains = 20,
	};
	struct partition p;
	struct traits traits;
	struct why w;

	if (partition_build(m, &o, &p))
		return;
	check_shares(&p);
	if (!why_build(&p, &wo, &w)) {
		if (traits_build(m, &w, &traits))
			broken("traits: no memory");
		if (json)
			render_as(r, RENDER_JSON, &why_shares_printer, &(struct render_why){ m, &w, &wo, 100, 100, &traits });
		else
			render_as(r, RENDER_TEXT, &why_printer, &(struct render_why){ m, &w, &wo, 100, 100, &traits });
		traits_free(&traits);
		why_free(&w);
	}
	partition_free(&p);
}

static void show_flows(struct model *m, const struct render *r, bool json)
{
	struct flowstats_options o = { 0 };
	struct render_flows shown = { .model = m, .top = SIZE_MAX };
	struct flows *f = flows_open(m);
	struct flowdiff d;
	struct flowstats s;

	if (!f || flowstats_build(f, &o, &s)) {
		flows_close(f);
		return;
	}
	shown.stats = &s;
	for (shown.view = json ? FLOWS_POOLS : FLOWS_ALL; shown.view < NR_FLOW_VIEWS; shown.view++)
		render_as(r, json ? RENDER_JSON : RENDER_TEXT, flows_printer(shown.view, json ? RENDER_JSON : RENDER_TEXT),
			  &shown);
	if (!flowdiff_build(&s, &s, &d)) {
		for (size_t i = 0; i < d.nr_entries; i++)
			if (d.entries[i].delta_ns)
				broken("a recording differs from itself");
		flowdiff_free(&d);
	}
	flowstats_free(&s);
	flows_close(f);
}

static int walk_segment(void *arg, const struct segment *s)
{
	if (s->end < s->start)
		broken("a segment ends before it starts");
	return 0;
}

static void walk_tracks(struct model *m)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = { .segment = walk_segment };
	struct tracks_result result;

	tracks_each(m, &o, &sink, &result);
}

static void replay(struct model *m)
{
	struct whatif_options o = WHATIF_OPTIONS_ALL;
	struct whatif w;
	char err[512];

	if (!whatif_build(m, &o, &w, err, sizeof(err)))
		whatif_free(&w);
}

static void show(struct reader *reader, unsigned look)
{
	struct render r = { .out = sandbox_null(), .width = 100, .is_verbose = true };
	struct symtab *symtab = symtab_open(NULL);
	struct model *m;
	char err[512];
	bool json = look & LOOK_JSON;

	m = symtab ? model_open(reader, symtab, err, sizeof(err)) : NULL;
	if (m)
		m->has_flows = true;	/* without regard to the META rows */
	switch (m ? look & LOOK : LOOK_TABLES) {
	case LOOK_FUNCTIONS:
		show_functions(m, &r, json);
		show_flows(m, &r, json);
		break;
	case LOOK_LOCKS:
		show_locks(m, &r, json);
		break;
	case LOOK_REQUESTS:
		show_requests(m, &r, json);
		break;
	case LOOK_SCHED:
		show_sched(m, &r, json);
		break;
	case LOOK_WHY:
		show_why(m, &r, json);
		break;
	case LOOK_TRACKS:
		walk_tracks(m);
		break;
	case LOOK_WHAT_IF:
		replay(m);
		break;
	}
	model_close(m);
	symtab_close(symtab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct reader_filter f = READER_FILTER_ALL;
	unsigned look = take8(&in);
	struct reader *r;
	char err[512];

	if (look & LOOK_FILTERED) {
		f.t_min = take_number(&in);
		f.t_max = take_number(&in);
		f.id_min = take_number(&in);
		f.id_max = take_number(&in);
		f.min_dur = take_number(&in);
	}
	data = recipe_file(&in, &size);
	sandbox_enter();
	sandbox_put("trace", data, size);
	r = reader_open(SANDBOX_DIR "trace", err, sizeof(err));
	if (r) {
		if ((look & LOOK) == LOOK_TABLES)
			read_tables(r, look & LOOK_FILTERED ? &f : NULL);
		else
			show(r, look);
		reader_check(r);
		reader_damage_text(r, err, sizeof(err));
		reader_close(r);
	}
	sandbox_leave();
	return 0;
}
