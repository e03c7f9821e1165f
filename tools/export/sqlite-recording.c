// SPDX-License-Identifier: GPL-2.0-or-later
/* The recording itself: what it is of, what is missing, whom it knows. */
#include "facts/rows.h"
#include "facts/ticks.h"
#include "export/sqlite-private.h"
#include "render/columns.h"

static int put_module(void *arg, const void *row)
{
	const struct ldb_row_module *m = row;
	struct sqlite_export *e = arg;
	bool is_mapped = m->end_tick == INT64_MAX;

	return sqlite_put(e, INSERT_MODULE, is_mapped ? "ttxxi" : "ttxxii", m->path, m->build_id,
			  m->start, m->end, ticks_time_ns(e->m->reader, m->tick),
			  ticks_time_ns(e->m->reader, m->end_tick));
}

static int put_gap(void *arg, const struct gap *gap)
{
	struct sqlite_export *e = arg;

	return sqlite_put(e, INSERT_GAP, "nii", (int64_t)gap->tid,
			  ticks_time_ns(e->m->reader, gap->start), ticks_time_ns(e->m->reader, gap->end));
}

static int put_thread(struct sqlite_export *e, const struct thread *t)
{
	return sqlite_put(e, INSERT_THREAD, "iitiibbnuuuuuii", sqlite_thread_of(e, t),
			  (int64_t)t->tid, t->name, ticks_time_ns(e->m->reader, t->start),
			  ticks_time_ns(e->m->reader, t->end), t->has_exited, t->is_unwatched,
			  (int64_t)t->creator, t->made, t->seen, t->below_threshold, t->scans,
			  t->invalid, t->gap_ns, t->cost_ns);
}

static int put_metas(struct sqlite_export *e)
{
	const struct ldb_row_meta *metas;
	int ret = 0;
	size_t nr;

	metas = reader_metas(e->m->reader, &nr);
	for (size_t i = 0; i < nr && !ret; i++)
		ret = sqlite_put(e, INSERT_META, "tt", metas[i].key, metas[i].value);
	return ret;
}

int sqlite_put_recording(struct sqlite_export *e)
{
	struct model *m = e->m;
	int ret = put_metas(e);

	/* The first one is all of them. */
	for (const struct column *c = lost_columns + 1; c->key && !ret; c++)
		ret = sqlite_put(e, INSERT_LOSS, "tu", c->csv ? c->csv : c->key,
				 column_value(c, &(struct row){ .at = m }, NULL).u64);
	for (size_t i = 0; i < m->nr_threads && !ret; i++)
		ret = put_thread(e, &m->threads[i]);
	if (!ret)
		ret = gaps_each(m->reader, NULL, put_gap, e);
	return ret ? ret : rows_each(m->reader, LDB_BLK_MODULE, NULL, put_module, e);
}

int sqlite_put_summary(struct sqlite_export *e, const struct tracks_result *result)
{
	const struct model *m = e->m;

	return sqlite_put(e, INSERT_RECORDING, "iiuuuuuiuiuun", m->duration_ns,
			  reader_header(m->reader)->realtime_ns, m->made, m->seen,
			  m->below_threshold, m->nr_lost, m->nr_gaps, m->gap_ns, m->nr_thread_gaps,
			  m->thread_gap_ns, m->nr_unwatched, result->nr_left_out, result->min_ns);
}
