// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads names that a trace contains, and emits names for a trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/sort.h"
#include "symbol/symtab-private.h"

/* Names from the trace */

int symtab_add_file(struct symtab *st, const struct ldb_row_file *row)
{
	struct file *f = symtab_file(st, row->path, row->build_id);

	if (!st->archive)
		st->archive = archive_alloc();
	if (!f || !st->archive)
		return -ENOMEM;
	f->is_archived = true;
	f->archived_flags = row->flags;
	f->id = row->id;
	return archive_add_file(st->archive, row->id, f);
}

int symtab_add_symbol(struct symtab *st, const struct ldb_row_symbol *row)
{
	struct ldb_row_symbol copy = *row;

	copy.raw = symtab_intern(st, row->raw);
	copy.source = symtab_intern(st, row->source);
	copy.func_source = symtab_intern(st, row->func_source);
	return st->archive ? archive_add_symbol(st->archive, &copy) : -EINVAL;
}

int symtab_add_call(struct symtab *st, const struct ldb_row_call *row)
{
	struct ldb_row_call copy = {
		row->file, symtab_intern(st, row->caller), symtab_intern(st, row->callee),
	};

	return st->archive ? archive_add_call(st->archive, &copy) : -EINVAL;
}

/*
 * Returns true if the names in the trace include source lines; otherwise the file on disk is tried,
 * which may have debug information by now.
 */
static bool is_archived_whole(const struct file *f)
{
	return f->is_archived && f->archived_flags & LDB_FILE_F_LINES;
}

bool symtab_archived(struct symtab *st, struct entry *e)
{
	struct file *f = e->module->file;
	const struct ldb_row_symbol *row;
	struct symbol *s = &e->symbol;

	if (!f->is_archived || (!is_archived_whole(f) && symtab_elf(st, f)))
		return false;
	row = archive_symbol(st->archive, f->id, e->question, e->addr - e->module->bias);
	if (!row)
		return false;
	f->is_asked = true;
	if (*row->raw)
		symtab_set_name(st, s, row->raw);
	if (e->question == LDB_ASK_DATA) {
		symtab_set_offset(st, s, row->offset);
		return true;
	}
	if (e->question == LDB_ASK_CALLEE)
		return true;
	f->lacks_name |= !s->known;
	s->file = row->source;
	s->line = row->line;
	s->in_system = row->flags & LDB_SYMBOL_F_SYSTEM;
	s->func_file = row->func_source;
	s->func_line = row->func_line;
	s->func_in_system = row->flags & LDB_SYMBOL_F_FUNC_SYSTEM;
	return true;
}

void symtab_calls(struct symtab *st, const struct symbol *func,
		  void (*fn)(void *arg, const char *raw), void *arg)
{
	struct file *f = st->files;
	struct elffile *elf;

	while (f && strcmp(f->path, func->path))
		f = f->next;
	if (!f || !*func->raw)
		return;
	elf = is_archived_whole(f) ? NULL : symtab_elf(st, f);
	if (elf)
		elffile_calls(elf, func->raw, fn, arg);
	else if (f->is_archived)
		archive_calls(st->archive, f, func->raw, fn, arg);
}

/* Names for a trace */

static int emit_files(struct symtab *st, const struct symtab_sink *sink)
{
	uint32_t id = 0;
	int rc = 0;

	for (struct file *f = st->files; f && !rc; f = f->next) {
		struct ldb_row_file row = { .build_id = f->build_id, .path = f->path };

		f->id = 0;
		if (!f->is_asked || !f->elf || elffile_state(f->elf) != ELFFILE_USABLE)
			continue;
		row.flags = (elffile_has_symbols(f->elf) ? LDB_FILE_F_SYMBOLS : 0) |
			    (elffile_has_lines(f->elf) ? LDB_FILE_F_LINES : 0) |
			    (elffile_lacks_part(f->elf) ? LDB_FILE_F_LACKS_PART : 0);
		row.id = f->id = ++id;
		rc = sink->file(sink->arg, &row);
	}
	return rc;
}

static uint64_t offset_of(const struct entry *e)
{
	uint64_t addr = e->addr - e->module->bias;
	const struct elffile_sym *sym = e->question == LDB_ASK_DATA && e->symbol.known ?
					elffile_data(e->module->file->elf, addr) : NULL;

	return sym ? addr - sym->addr : 0;
}

static int emit_symbol(const struct entry *e, const struct symtab_sink *sink)
{
	const struct symbol *s = &e->symbol;
	struct ldb_row_symbol row = {
		.file = e->module->file->id, .ask = e->question, .addr = e->addr - e->module->bias,
		.offset = offset_of(e), .line = s->line, .func_line = s->func_line, .raw = s->raw,
		.source = s->file, .func_source = s->func_file,
		.flags = (s->in_system ? LDB_SYMBOL_F_SYSTEM : 0) |
			 (s->func_in_system ? LDB_SYMBOL_F_FUNC_SYSTEM : 0),
	};

	return sink->symbol(sink->arg, &row);
}

struct call_emitter {
	const struct symtab_sink *sink;
	struct ldb_row_call row;
	int rc;
};

static void emit_call(void *emitter, const char *callee)
{
	struct call_emitter *g = emitter;

	g->row.callee = callee;
	if (!g->rc)
		g->rc = g->sink->call(g->sink->arg, &g->row);
}

/* Compares by file, question and address, so that equal entries are adjacent after sorting. */
static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = *(struct entry *const *)pa, *b = *(struct entry *const *)pb;
	uint64_t addr_a = a->addr - a->module->bias, addr_b = b->addr - b->module->bias;

	if (a->module->file->id != b->module->file->id)
		return a->module->file->id < b->module->file->id ? -1 : 1;
	if (a->question != b->question)
		return a->question < b->question ? -1 : 1;
	return addr_a < addr_b ? -1 : addr_a > addr_b;
}

static size_t sort_entries(struct symtab *st, struct entry **sorted)
{
	size_t nr = 0;

	for (size_t i = 0; i < st->entries.nr; i++) {
		struct entry *e = st->entries.at[i];

		if (e->module && e->module->file->id)
			sorted[nr++] = e;
	}
	sort_by(sorted, nr, compare_entries);
	return nr;
}

/* Emits the calls of each function once, even if several of its addresses were resolved. */
static int emit_calls(struct entry **sorted, size_t nr, const struct symtab_sink *sink)
{
	struct call_emitter g = { .sink = sink };
	const char *last = NULL;

	for (size_t i = 0; i < nr && !g.rc; i++) {
		const struct entry *e = sorted[i];

		if (e->question != LDB_ASK_FUNC || !*e->symbol.raw || e->symbol.raw == last)
			continue;
		last = g.row.caller = e->symbol.raw;
		g.row.file = e->module->file->id;
		elffile_calls(e->module->file->elf, last, emit_call, &g);
	}
	return g.rc;
}

int symtab_emit(struct symtab *st, const struct symtab_sink *sink)
{
	struct entry **sorted = calloc(st->entries.nr + 1, sizeof(*sorted));
	int rc = sorted ? emit_files(st, sink) : -ENOMEM;
	size_t nr = rc ? 0 : sort_entries(st, sorted);

	for (size_t i = 0; i < nr && !rc; i++)
		if (!i || compare_entries(&sorted[i - 1], &sorted[i]))
			rc = emit_symbol(sorted[i], sink);
	if (!rc)
		rc = emit_calls(sorted, nr, sink);
	free(sorted);
	return rc;
}
