// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recording as an SQLite database: everything that other exports have, with
 * indexes, and views for the questions that come first.  sqlite-schema.c has the
 * tables.
 *
 * Requests come first, because spans refer to them; then the threads, one after the
 * other; indexes when all rows are there.  Only the names stay in memory.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/sqlite-private.h"

static const char *const sqls[NR_STMTS] = {
	[INSERT_META] = "INSERT INTO meta VALUES (?,?)",
	[INSERT_RECORDING] = "INSERT INTO recording VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_LOSS] = "INSERT INTO loss VALUES (?,?)",
	[INSERT_GAP] = "INSERT INTO gap VALUES (?,?,?)",
	[INSERT_MODULE] = "INSERT INTO module VALUES (?,?,?,?,?,?)",
	[INSERT_THREAD] = "INSERT INTO thread VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_FUNCTION] = "INSERT INTO function VALUES (?,?,?,?,?,?,?)",
	[INSERT_SITE] = "INSERT INTO site VALUES (?,?,?,?,?,?)",
	[INSERT_LOCK] = "INSERT INTO lock VALUES (?,?,?,?)",
	[INSERT_REQUEST] = "INSERT INTO request VALUES (?,?,?,?,?,?,?,?,?,?)",
	[INSERT_PART] = "INSERT INTO part VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_SPAN] = "INSERT INTO span VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_REQUEST_TIME] = "INSERT INTO request_time VALUES (?,?,?) ON CONFLICT DO UPDATE"
				" SET self_ns = self_ns + excluded.self_ns",
	[INSERT_LOCK_EVENT] = "INSERT INTO lock_event VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_OFF_CPU] = "INSERT INTO off_cpu VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_INTERRUPT] = "INSERT INTO interrupt VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_FAULT] = "INSERT INTO page_fault VALUES (NULL,?,?,?,?,?,?,?,?)",
	[INSERT_MIGRATION] = "INSERT INTO migration VALUES (?,?,?,?)",
	[INSERT_WAKEUP] = "INSERT INTO wakeup VALUES (?,?,?,?,?,?)",
	[INSERT_RUN] = "INSERT INTO run VALUES (?,?,?,?,?,?)",
	[INSERT_CAUSE] = "INSERT INTO cause VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[SELECT_REQUEST] = "SELECT id, start_ns, end_ns FROM request WHERE req = ? AND start_ns <= ?"
			   " AND end_ns >= ? ORDER BY start_ns DESC LIMIT 1",
};

int sqlite_put(struct sqlite_export *e, enum sqlite_stmt stmt, const char *types, ...)
{
	va_list ap;
	int ret;

	va_start(ap, types);
	ret = sqlite_db_vput(&e->db, e->stmts[stmt], types, ap);
	va_end(ap);
	return ret;
}

static int prepare(struct sqlite_export *e)
{
	int ret = sqlite_db_exec(&e->db, sqlite_tables);

	/* These are needed while rows come, to find the request of what a thread did. */
	if (!ret)
		ret = sqlite_db_exec(&e->db, "CREATE INDEX request_by_req ON request (req, start_ns)");
	for (size_t i = 0; i < NR_STMTS && !ret; i++) {
		e->stmts[i] = sqlite_db_prepare(&e->db, sqls[i]);
		if (!e->stmts[i])
			ret = -EIO;
	}
	return ret;
}

static int put_all(struct sqlite_export *e)
{
	struct tracks_result result;
	int ret = prepare(e);

	if (!ret)
		ret = sqlite_put_recording(e);
	if (!ret)
		ret = sqlite_put_requests(e);
	if (!ret)
		ret = sqlite_put_tracks(e, &result);
	if (!ret)
		ret = sqlite_put_causes(e);
	if (!ret)
		ret = sqlite_put_summary(e, &result);
	if (!ret)
		ret = sqlite_db_exec(&e->db, sqlite_indexes);
	return ret ? ret : sqlite_db_exec(&e->db, sqlite_views);
}

static void free_export(struct sqlite_export *e)
{
	table_free(&e->function_names);
	table_free(&e->functions);
	table_free(&e->site_names);
	table_free(&e->site_functions);
	table_free(&e->sites);
	table_free(&e->locks);
	table_free(&e->strangers);
	links_close(e->links);
}

int export_sqlite(struct model *m, const struct export_options *o, const char *path, char *err,
		  size_t err_size)
{
	struct sqlite_export e = { .m = m, .o = o, .links = links_open(m) };
	int ret = e.links ? sqlite_db_open(&e.db, path, err, err_size) : -ENOMEM, closed;

	if (!ret)
		ret = put_all(&e);
	for (size_t i = 0; i < NR_STMTS; i++)
		sqlite3_finalize(e.stmts[i]);
	closed = sqlite_db_close(&e.db, !ret);
	free_export(&e);
	/* The database has put the reason into err. */
	return ret == -EIO || (!ret && closed) ? -1 : ret;
}
