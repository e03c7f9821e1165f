// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of what a trace says of names: open addressing for symbols, a list for calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "symbol/archive.h"

#define FILES_MAX	65536
#define ROWS_MAX	(64U << 20)

struct symbol_row {
	const struct file *file;	/* NULL: this place is free */
	struct ldb_row_symbol row;
};

struct call_row {
	const struct file *file;
	const char *caller, *callee;
};

struct archive {
	struct file **files;		/* by id */
	size_t nr_files;
	struct symbol_row *symbols;
	size_t nr_symbols, room_symbols; /* room: a power of two */
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

/* Where it is, or could be put; there is always a free place. */
static struct symbol_row *place(const struct archive *a, const struct file *file, unsigned ask,
				uint64_t addr)
{
	uint64_t hash = (addr ^ (uintptr_t)file * 31 ^ ask) * 0x9e3779b97f4a7c15ULL;
	size_t mask = a->room_symbols - 1, i = hash >> 32 & mask;

	while (a->symbols[i].file && (a->symbols[i].file != file || a->symbols[i].row.ask != ask ||
				      a->symbols[i].row.addr != addr))
		i = (i + 1) & mask;
	return &a->symbols[i];
}

static int grow_symbols(struct archive *a)
{
	struct archive bigger = { .room_symbols = a->room_symbols ? a->room_symbols * 2 : 1024 };

	bigger.symbols = calloc(bigger.room_symbols, sizeof(*bigger.symbols));
	if (!bigger.symbols)
		return -ENOMEM;
	for (size_t i = 0; i < a->room_symbols; i++) {
		const struct symbol_row *s = &a->symbols[i];

		if (s->file)
			*place(&bigger, s->file, s->row.ask, s->row.addr) = *s;
	}
	free(a->symbols);
	a->symbols = bigger.symbols;
	a->room_symbols = bigger.room_symbols;
	return 0;
}

int archive_add_symbol(struct archive *a, const struct ldb_row_symbol *row)
{
	const struct file *file = file_of(a, row->file);
	struct symbol_row *s;

	if (!file || a->nr_symbols >= ROWS_MAX)
		return -EINVAL;
	if (a->nr_symbols * 2 >= a->room_symbols && grow_symbols(a))
		return -ENOMEM;
	s = place(a, file, row->ask, row->addr);
	a->nr_symbols += !s->file;
	*s = (struct symbol_row){ file, *row };
	return 0;
}

int archive_add_call(struct archive *a, const struct ldb_row_call *row)
{
	const struct file *file = file_of(a, row->file);

	if (!file || a->nr_calls >= ROWS_MAX)
		return -EINVAL;
	if (a->nr_calls == a->room_calls) {
		size_t room = a->room_calls ? a->room_calls * 2 : 256;
		struct call_row *at = reallocarray(a->calls, room, sizeof(*at));

		if (!at)
			return -ENOMEM;
		a->calls = at;
		a->room_calls = room;
	}
	a->calls[a->nr_calls++] = (struct call_row){ file, row->caller, row->callee };
	return 0;
}

const struct ldb_row_symbol *archive_symbol(const struct archive *a, const struct file *file,
					    unsigned ask, uint64_t addr)
{
	const struct symbol_row *s = a && a->nr_symbols ? place(a, file, ask, addr) : NULL;

	return s && s->file ? &s->row : NULL;
}

void archive_calls(const struct archive *a, const struct file *file, const char *caller,
		   void (*fn)(void *arg, const char *callee), void *arg)
{
	for (size_t i = 0; i < a->nr_calls; i++)
		if (a->calls[i].file == file && !strcmp(a->calls[i].caller, caller))
			fn(arg, a->calls[i].callee);
}
