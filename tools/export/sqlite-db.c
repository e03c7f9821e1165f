// SPDX-License-Identifier: GPL-2.0-or-later
/* An SQLite database that is written once; see sqlite-db.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/utf8.h"
#include "export/sqlite-db.h"

#define APPLICATION_ID	"0x6c646264"	/* "ldbd": what file(1) may tell it by */

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
 * SQLite opens files by name, and another user could exchange a name.  So it gets the file
 * that was made, when it opens that name; its own temporary files it opens as ever.
 */
static const struct outfile *opening;

static int open_created(const char *path, int flags, int mode)
{
	const char *slash = strrchr(path, '/');

	if (opening && !strcmp(slash ? slash + 1 : path, opening->temporary))
		return fcntl(opening->fd, F_DUPFD_CLOEXEC, 3);
	return open(path, flags, mode);
}

static int open_file(struct sqlite_db *d)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	int rc;

	if (!vfs || vfs->iVersion < 3 ||
	    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_created) != SQLITE_OK)
		return fail(d, "this SQLite cannot be given a file");
	opening = &d->file;
	rc = sqlite3_open_v2(d->file.temporary, &d->db, SQLITE_OPEN_READWRITE, NULL);
	if (rc != SQLITE_OK)
		return fail(d, NULL);
	/* An unfinished file is removed, so it needs no journal and no waiting for the disk. */
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

static void bind_all(sqlite3_stmt *stmt, const char *types, va_list ap)
{
	sqlite3_clear_bindings(stmt);	/* to NULL */
	for (int nr = 1; *types; types++, nr++) {
		int64_t value;

		switch (*types) {
		case 'i':
			sqlite3_bind_int64(stmt, nr, va_arg(ap, int64_t));
			break;
		case 'n':
			value = va_arg(ap, int64_t);
			if (value)
				sqlite3_bind_int64(stmt, nr, value);
			break;
		case 'u':
			bind_u64(stmt, nr, va_arg(ap, uint64_t));
			break;
		case 'x':
			bind_hex(stmt, nr, va_arg(ap, uint64_t));
			break;
		case '-':
			va_arg(ap, int64_t);
			break;
		case 'b':
			sqlite3_bind_int(stmt, nr, va_arg(ap, int));
			break;
		case 't':
			bind_text(stmt, nr, va_arg(ap, const char *));
			break;
		}
	}
}

void sqlite_db_bind(sqlite3_stmt *stmt, const char *types, ...)
{
	va_list ap;

	va_start(ap, types);
	bind_all(stmt, types, ap);
	va_end(ap);
}

int sqlite_db_vput(struct sqlite_db *d, sqlite3_stmt *stmt, const char *types, va_list ap)
{
	int ret = 0;

	if (!stmt)
		return fail(d, NULL);
	bind_all(stmt, types, ap);
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
