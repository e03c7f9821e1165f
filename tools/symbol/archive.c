// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores the names that a trace contains: a list of calls, and symbols, which are sorted before the
 * first lookup.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/sort.h"
#include "symbol/archive.h"

#define FILES_MAX	65536
#define ROWS_MAX	(64U << 20)

struct call_row {
	const struct file *file;
	const char *caller, *callee;
};

struct archive {
	struct file **files;		/* indexed by id */
	size_t nr_files;
	struct ldb_row_symbol *symbols;
	size_t nr_symbols, room_symbols;
	bool is_sorted;
	struct call_row *calls;
	size_t nr_calls, room_calls;
};

struct archive *archive_alloc(void)
{
	return calloc(1, sizeof(struct archive));
}

void archive_free(struct archive *a)
{
	if (!a)
		return;
	free(a->files);
	free(a->symbols);
	free(a->calls);
	free(a);
}

int archive_add_file(struct archive *a, uint32_t id, struct file *file)
{
	if (id >= FILES_MAX)
		return -EINVAL;
	if (id >= a->nr_files) {
		struct file **at = reallocarray(a->files, id + 1, sizeof(*at));

		if (!at)
			return -ENOMEM;
		memset(at + a->nr_files, 0, (id + 1 - a->nr_files) * sizeof(*at));
		a->files = at;
		a->nr_files = id + 1;
	}
	a->files[id] = file;
	return 0;
}

static struct file *file_of(const struct archive *a, uint32_t id)
{
	return id < a->nr_files ? a->files[id] : NULL;
}

int archive_add_symbol(struct archive *a, const struct ldb_row_symbol *row)
{
	if (!file_of(a, row->file) || a->nr_symbols >= ROWS_MAX)
		return -EINVAL;
	if (!array_room(&a->symbols, &a->room_symbols, a->nr_symbols, sizeof(*a->symbols)))
		return -ENOMEM;
	a->symbols[a->nr_symbols++] = *row;
	a->is_sorted = false;
	return 0;
}

int archive_add_call(struct archive *a, const struct ldb_row_call *row)
{
	const struct file *file = file_of(a, row->file);

	if (!file || a->nr_calls >= ROWS_MAX)
		return -EINVAL;
	return array_push(a->calls, a->nr_calls, a->room_calls, { file, row->caller, row->callee });
}

COMPARE(compare_symbols, struct ldb_row_symbol, UP(file) UP(ask) UP(addr))

const struct ldb_row_symbol *archive_symbol(struct archive *a, uint32_t file, unsigned ask,
					    uint64_t addr)
{
	struct ldb_row_symbol key = { .file = file, .ask = ask, .addr = addr };

	if (!a->nr_symbols)
		return NULL;
	if (!a->is_sorted)
		qsort(a->symbols, a->nr_symbols, sizeof(key), compare_symbols);
	a->is_sorted = true;
	return bsearch(&key, a->symbols, a->nr_symbols, sizeof(key), compare_symbols);
}

void archive_calls(const struct archive *a, const struct file *file, const char *caller,
		   void (*fn)(void *arg, const char *callee), void *arg)
{
	for (size_t i = 0; i < a->nr_calls; i++)
		if (a->calls[i].file == file && !strcmp(a->calls[i].caller, caller))
			fn(arg, a->calls[i].callee);
}
