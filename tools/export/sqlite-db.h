/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An SQLite database that is written once, in one transaction, beside the file
 * that it will be: nobody sees a part of it, and a failure leaves what was there.
 */
#ifndef EXPORT_SQLITE_DB_H
#define EXPORT_SQLITE_DB_H

#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cli/outfile.h"

struct sqlite_db {
	sqlite3 *db;
	const char *shown;	/* the path as it was given */
	struct outfile file;
	bool has_file;
	char *err;		/* one line: the first thing that went wrong */
	size_t err_size;
	bool has_failed;
};

/* 0 or -EIO, here and below; err and path live as long as the database. */
int sqlite_db_open(struct sqlite_db *d, const char *path, char *err, size_t err_size);
int sqlite_db_exec(struct sqlite_db *d, const char *sql);
sqlite3_stmt *sqlite_db_prepare(struct sqlite_db *d, const char *sql);

/*
 * Binds and runs.  A letter of types for each parameter: i int64_t, u uint64_t (a text
 * where it is too great for SQLite), b int, 0 or 1, t const char *, x uint64_t as
 * "0x..", n int64_t, NULL if it is 0, - int64_t, NULL.  Parameters without a letter are NULL.
 */
int sqlite_db_vput(struct sqlite_db *d, sqlite3_stmt *stmt, const char *types, va_list ap);

/* Binds without running, for a query. */
void sqlite_db_bind(sqlite3_stmt *stmt, const char *types, ...);

/* keep: moves it to its path; else nothing is left of it. */
int sqlite_db_close(struct sqlite_db *d, bool keep);

extern const char *const sqlite_tables, *const sqlite_indexes, *const sqlite_views;

#endif
