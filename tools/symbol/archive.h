/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the names that a trace contains (FILE, SYMBOL and CALL of trace-format.h), and finds them
 * by the file's number and the address.  Strings of the rows are not copied: they must be valid as
 * long as the archive.
 */
#ifndef SYMBOL_ARCHIVE_H
#define SYMBOL_ARCHIVE_H

#include <ldb/trace-format.h>

struct archive;
struct file;

struct archive *archive_alloc(void);	/* NULL: out of memory */
void archive_free(struct archive *a);

/*
 * Add a row.  Return 0, -ENOMEM, or -EINVAL: there is no file with that number, or there are too
 * many files or rows.
 */
int archive_add_file(struct archive *a, uint32_t id, struct file *file);
int archive_add_symbol(struct archive *a, const struct ldb_row_symbol *row);
int archive_add_call(struct archive *a, const struct ldb_row_call *row);

/* Returns the symbol that the archive has for the address, or NULL. */
const struct ldb_row_symbol *archive_symbol(struct archive *a, uint32_t file, unsigned ask,
					    uint64_t addr);
void archive_calls(const struct archive *a, const struct file *file, const char *caller,
		   void (*fn)(void *arg, const char *callee), void *arg);

#endif
