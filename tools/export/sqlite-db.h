/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an SQLite database in one transaction, into a temporary file, which gets its final name
 * when it is complete.  On failure the previous file of that name remains.
 */
#ifndef EXPORT_SQLITE_DB_H
#define EXPORT_SQLITE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include "cli/outfile.h"
#include "cli/relation.h"

struct sqlite_db {
	sqlite3 *db;
	const char *shown;	/* the path as the user specified it */
	struct outfile file;
	bool has_file;
	char *err;		/* one line: the first error */
	size_t err_size;
	bool has_failed;
};

/*
 * Returns 0 or -EIO, as all functions here that return int.  err and path must exist as long as the
 * database.
 */
int sqlite_db_open(struct sqlite_db *d, const char *path, char *err, size_t err_size);
int sqlite_db_exec(struct sqlite_db *d, const char *sql);
sqlite3_stmt *sqlite_db_prepare(struct sqlite_db *d, const char *sql);

struct sqlite_table {
	const char *name;
	const char *columns;	/* "name* name$ name>table", see sqlite-schema.c */
	const char *end;	/* end of its definition; NULL: ")" */
	const char *conflict;	/* action if the row exists; NULL: fail */
};

/* Creates the table.  Returns the statement that inserts a row; NULL: failure. */
sqlite3_stmt *sqlite_db_create(struct sqlite_db *d, const struct sqlite_table *t);

/*
 * Binds parameter nr, counted from 1.  Addresses, and numbers that are too great for SQLite, become
 * texts.
 */
void sqlite_db_bind(sqlite3_stmt *stmt, int nr, struct value v);

/* Executes the statement with these values for its first parameters; the others are NULL. */
int sqlite_db_put(struct sqlite_db *d, sqlite3_stmt *stmt, const struct value *values, size_t nr);

/*
 * Closes the database.  If `keep` is set and nothing fails, renames the file to its path; else
 * removes it.
 */
int sqlite_db_close(struct sqlite_db *d, bool keep);

extern const char *const sqlite_indexes, *const sqlite_views;

#endif
