// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes an SQLite database; see sqlite-db.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/utf8.h"
#include "export/sqlite-db.h"

#define APPLICATION_ID	"0x6c646264"	/* "ldbd", by which file(1) can recognise the format */

static const char *why_not(const struct sqlite_db *d)
{
	int error = sqlite3_errcode(d->db) == SQLITE_IOERR ? sqlite3_system_errno(d->db) : 0;

	return error ? strerror(error) : sqlite3_errmsg(d->db);
}

static int fail(struct sqlite_db *d, const char *why)
{
	if (!d->has_failed)
		snprintf(d->err, d->err_size, "cannot write %s: %s", d->shown, why ? why : why_not(d));
	d->has_failed = true;
	return -EIO;
}

/*
 * SQLite opens files by name, and another user could replace the file.  So when SQLite opens the
 * database's name, it gets the descriptor of the file that was created.  Its temporary files are
 * opened as usual.
 */
static const struct outfile *opening;

static int open_created(const char *path, int flags, int mode)
{
	if (opening && !strcmp(basename(path), opening->temporary))
		return fcntl(opening->fd, F_DUPFD_CLOEXEC, 3);
	return open(path, flags, mode);
}

static int open_file(struct sqlite_db *d)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	int rc;

	if (!vfs || vfs->iVersion < 3 ||
	    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_created) != SQLITE_OK)
		return fail(d, "this version of SQLite cannot use a file that is open already");
	opening = &d->file;
	rc = sqlite3_open_v2(d->file.temporary, &d->db, SQLITE_OPEN_READWRITE, NULL);
	if (rc != SQLITE_OK)
		return fail(d, NULL);
	/*
	 * An unfinished file is removed, so there is no need for a journal or for waiting for the
	 * disk.
	 */
	return sqlite_db_exec(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
				 "PRAGMA application_id = " APPLICATION_ID ";"
				 "PRAGMA user_version = 1; BEGIN;");
}

int sqlite_db_open(struct sqlite_db *d, const char *path, char *err, size_t err_size)
{
	int rc;

	*d = (struct sqlite_db){ .err = err, .err_size = err_size, .shown = path };
	rc = outfile_begin(&d->file, path);
	if (rc) {
		snprintf(err, err_size, "cannot write %s: %s: give another file with -o", path,
			 rc == -EINVAL ? "not a file" : outfile_why(rc));
		return -EIO;
	}
	d->has_file = true;
	return open_file(d);
}

int sqlite_db_exec(struct sqlite_db *d, const char *sql)
{
	return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(d, NULL);
}

sqlite3_stmt *sqlite_db_prepare(struct sqlite_db *d, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(d->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail(d, NULL);
	return stmt;
}

static void add_column(sqlite3_str *sql, const char *at, int len)
{
	int name = strcspn(at, "$>?* "), of = len - name - 1;

	sqlite3_str_appendf(sql, "%.*s", name, at);
	if (at[name] != '?')
		sqlite3_str_appendall(sql, at[name] == '$' ? " TEXT" : " INTEGER");
	if (at[len - 1] == '*')
		sqlite3_str_appendall(sql, " PRIMARY KEY");
	if (at[name] == '>')
		sqlite3_str_appendf(sql, " REFERENCES %.*s", of ? of : name, of ? at + name + 1 : at);
}

sqlite3_stmt *sqlite_db_create(struct sqlite_db *d, const struct sqlite_table *t)
{
	sqlite3_str *create = sqlite3_str_new(d->db), *insert = sqlite3_str_new(d->db);
	sqlite3_stmt *stmt = NULL;
	char *create_sql, *insert_sql;
	int len;

	sqlite3_str_appendf(create, "CREATE TABLE %s (", t->name);
	sqlite3_str_appendf(insert, "INSERT INTO %s VALUES (", t->name);
	for (const char *at = t->columns; *at; at += len + strspn(at + len, " ")) {
		len = strcspn(at, " ");
		sqlite3_str_appendall(create, at == t->columns ? "" : ", ");
		add_column(create, at, len);
		sqlite3_str_appendall(insert, at == t->columns ? "?" : ",?");
	}
	sqlite3_str_appendall(create, t->end ? t->end : ")");
	sqlite3_str_appendf(insert, ")%s", t->conflict ? t->conflict : "");
	create_sql = sqlite3_str_finish(create);
	insert_sql = sqlite3_str_finish(insert);
	if (!create_sql || !insert_sql)
		fail(d, strerror(ENOMEM));
	else if (!sqlite_db_exec(d, create_sql))
		stmt = sqlite_db_prepare(d, insert_sql);
	sqlite3_free(create_sql);
	sqlite3_free(insert_sql);
	return stmt;
}

static void bind_u64(sqlite3_stmt *stmt, int nr, uint64_t value)
{
	char text[24];

	if (value <= INT64_MAX) {
		sqlite3_bind_int64(stmt, nr, (int64_t)value);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, value);
	sqlite3_bind_text(stmt, nr, text, -1, SQLITE_TRANSIENT);
}

static void bind_hex(sqlite3_stmt *stmt, int nr, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	sqlite3_bind_text(stmt, nr, text, -1, SQLITE_TRANSIENT);
}

/* Readers expect UTF-8. */
static void bind_text(sqlite3_stmt *stmt, int nr, const char *text)
{
	if (!text || utf8_is_valid(text))
		sqlite3_bind_text(stmt, nr, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_text(stmt, nr, utf8_copy(text), -1, free);
}

void sqlite_db_bind(sqlite3_stmt *stmt, int nr, struct value v)
{
	switch (v.type) {
	case VALUE_I64:
		sqlite3_bind_int64(stmt, nr, v.i64);
		break;
	case VALUE_U64:
	case VALUE_BOOL:
		bind_u64(stmt, nr, v.u64);
		break;
	case VALUE_HEX:
		bind_hex(stmt, nr, v.u64);
		break;
	case VALUE_TEXT:
		bind_text(stmt, nr, v.text);
		break;
	default:
		sqlite3_bind_null(stmt, nr);
	}
}

int sqlite_db_put(struct sqlite_db *d, sqlite3_stmt *stmt, const struct value *values, size_t nr)
{
	int ret = 0;

	if (!stmt)
		return fail(d, NULL);
	sqlite3_clear_bindings(stmt);	/* to NULL */
	for (size_t i = 0; i < nr; i++)
		sqlite_db_bind(stmt, i + 1, values[i]);
	if (sqlite3_step(stmt) != SQLITE_DONE)
		ret = fail(d, NULL);
	sqlite3_reset(stmt);
	return ret;
}

int sqlite_db_close(struct sqlite_db *d, bool keep)
{
	int ret = 0;

	if (keep && d->db)
		ret = sqlite_db_exec(d, "COMMIT");
	if (d->db && sqlite3_close(d->db) != SQLITE_OK)
		ret = fail(d, "statements are left");
	opening = NULL;
	if (!d->has_file)
		return ret;
	if (!keep || ret) {
		outfile_drop(&d->file);
		return ret;
	}
	ret = outfile_commit(&d->file);
	return ret ? fail(d, outfile_why(ret)) : 0;
}
