// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the recording as an SQLite database, with indexes, and views for frequent questions.
 * sqlite-schema.c defines the tables.
 *
 * Requests are written before segments, because segments refer to them; segments are written thread
 * by thread.  All indexes but one are created after all rows were written.  Of the rows, only names
 * are in memory.
 */
#include <errno.h>
#include <stdio.h>

#include "export/sqlite-private.h"

static int prepare(struct sqlite_export *e)
{
	int ret;

	for (size_t i = 0; i < NR_TABLES; i++) {
		e->inserts[i] = sqlite_db_create(&e->db, &sqlite_tables[i]);
		if (!e->inserts[i])
			return -EIO;
	}
	/* This index is needed already while rows are written, to find the request of a segment. */
	ret = sqlite_db_exec(&e->db, "CREATE INDEX request_by_req ON request (req, start_ns)");
	e->find_request = sqlite_db_prepare(&e->db,
		"SELECT id, start_ns, end_ns FROM request WHERE req = ? AND start_ns <= ?"
		" AND end_ns >= ? ORDER BY start_ns DESC LIMIT 1");
	return e->find_request ? ret : -EIO;
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
		ret = sqlite_put_disks(e);
	if (!ret)
		ret = sqlite_put_flows(e);
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
	for (size_t i = 0; i < NR_TABLES; i++)
		sqlite3_finalize(e.inserts[i]);
	sqlite3_finalize(e.find_request);
	closed = sqlite_db_close(&e.db, !ret);
	free_export(&e);
	/* With -EIO, err contains the reason. */
	return ret == -EIO || (!ret && closed) ? -1 : ret;
}
