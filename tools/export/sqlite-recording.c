// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the recording's properties: what was recorded, what is missing, and the threads. */
#include "facts/rows.h"
#include "facts/ticks.h"
#include "export/sqlite-private.h"
#include "render/columns.h"

static int put_module(void *arg, const void *row)
{
	const struct ldb_row_module *m = row;
	struct sqlite_export *e = arg;
	int64_t to_ns = ticks_time_ns(e->m->reader, m->end_tick);

	return sqlite_put(e, TABLE_MODULE, V(m->path), V(m->build_id), value_hex(m->start),
			  value_hex(m->end), V(ticks_time_ns(e->m->reader, m->tick)),
			  value_i64_or_null(m->end_tick != INT64_MAX, to_ns));
}

static int put_gap(void *arg, const struct thread_interval *gap)
{
	struct sqlite_export *e = arg;

	return sqlite_put(e, TABLE_GAP, ID(gap->tid), V(ticks_time_ns(e->m->reader, gap->start)),
			  V(ticks_time_ns(e->m->reader, gap->end)));
}

static int put_thread(struct sqlite_export *e, const struct thread *t)
{
	return sqlite_put(e, TABLE_THREAD, V(sqlite_thread_of(e, t)), V(t->tid), V(t->name),
			  V(ticks_time_ns(e->m->reader, t->start)),
			  V(ticks_time_ns(e->m->reader, t->end)), V(t->has_exited), V(t->is_unobserved),
			  ID(t->creator), V(t->made), V(t->seen), V(t->below_threshold), V(t->scans),
			  V(t->invalid), V(t->gap_ns), V(t->cost_ns));
}

static int put_metas(struct sqlite_export *e)
{
	const struct ldb_row_meta *metas;
	int ret = 0;
	size_t nr;

	metas = reader_metas(e->m->reader, &nr);
	for (size_t i = 0; i < nr && !ret; i++)
		ret = sqlite_put(e, TABLE_META, V(metas[i].key), V(metas[i].value));
	return ret;
}

int sqlite_put_recording(struct sqlite_export *e)
{
	struct model *m = e->m;
	int ret = put_metas(e);

	/* The first of these columns is the sum of the others. */
	for (const struct column *c = lost_columns + 1; c->key && !ret; c++)
		ret = sqlite_put(e, TABLE_LOSS, V(c->csv ? c->csv : c->key),
				 column_value(c, &(struct row){ .at = m }, NULL));
	for (size_t i = 0; i < m->nr_threads && !ret; i++)
		ret = put_thread(e, &m->threads[i]);
	if (!ret)
		ret = gaps_each(m->reader, NULL, put_gap, e);
	return ret ? ret : rows_each(m->reader, LDB_BLK_MODULE, NULL, put_module, e);
}

int sqlite_put_summary(struct sqlite_export *e, const struct tracks_result *result)
{
	const struct model *m = e->m;

	return sqlite_put(e, TABLE_RECORDING, V(m->duration_ns),
			  V(reader_header(m->reader)->realtime_ns), V(m->made), V(m->seen),
			  V(m->below_threshold), V(m->nr_lost), V(m->nr_gaps), V(m->gap_ns),
			  V(m->nr_thread_gaps), V(m->thread_gap_ns), V(m->nr_unobserved),
			  V(result->nr_left_out), ID(result->min_ns));
}
