// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores modules over time, and a cache of all results.
 *
 * Invariants: modules[] is sorted by start before the first lookup; each cache entry is for one
 * (address, question, module), and is not moved, or freed before symtab_forget() or symtab_close().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ldb/control.h>
#include <ldb/trace-format.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "symbol/demangle.h"
#include "symbol/dwarfinfo.h"
#include "symbol/elffile.h"
#include "symbol/symtab-private.h"

#define MODULES_MAX	(1U << 20)	/* a trace with more modules is damaged */

static const struct symbol nothing = {
	.module = "", .path = "", .function = "?", .raw = "", .file = "", .func_file = "",
};

const char *symtab_intern(struct symtab *st, const char *text)
{
	const char *copy = text && *text ? intern_text(&st->strings, text) : "";

	return copy ? copy : "";
}

static bool copy_options(struct symtab *st, const struct symtab_options *o)
{
	st->no_demangle = o->no_demangle;
	st->known = o->known;
	st->known_arg = o->known_arg;
	st->sysroot = strdup(o->sysroot ? o->sysroot : "");
	st->debug_dirs = calloc(o->nr_debug_dirs + 1, sizeof(*st->debug_dirs));
	if (!st->sysroot || !st->debug_dirs)
		return false;
	for (size_t i = 0; i < o->nr_debug_dirs; i++) {
		st->debug_dirs[i] = strdup(o->debug_dirs[i]);
		if (!st->debug_dirs[i])
			return false;
	}
	/*
	 * A slash at the end of the sysroot, or the sysroot "/", must not lead to paths with two
	 * slashes.
	 */
	for (size_t len = strlen(st->sysroot); len && st->sysroot[len - 1] == '/'; len--)
		st->sysroot[len - 1] = '\0';
	st->search = (struct elffile_search){
		.sysroot = st->sysroot,
		.debug_dirs = (const char *const *)st->debug_dirs,
		.nr_debug_dirs = o->nr_debug_dirs,
	};
	return true;
}

struct symtab *symtab_open(const struct symtab_options *options)
{
	static const struct symtab_options defaults;
	struct symtab *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	if (!copy_options(st, options ? options : &defaults)) {
		symtab_close(st);
		return NULL;
	}
	return st;
}

static void free_files(struct symtab *st)
{
	struct file *next;

	for (struct file *f = st->files; f; f = next) {
		next = f->next;
		elffile_close(f->elf);
		free(f->path);
		free(f->build_id);
		free(f);
	}
}

void symtab_forget(struct symtab *st)
{
	keyed_free(&st->entries);
	keyed_free(&st->queues);
	st->nr_modules = 0;
	st->is_sorted = false;
}

bool symtab_is_demangling(const struct symtab *st)
{
	return !st->no_demangle;
}

void symtab_close(struct symtab *st)
{
	if (!st)
		return;
	keyed_free(&st->entries);
	keyed_free(&st->queues);
	archive_free(st->archive);
	free_files(st);
	for (char **dir = st->debug_dirs; dir && *dir; dir++)
		free(*dir);
	free(st->debug_dirs);
	free(st->sysroot);
	intern_free(&st->strings);
	free(st->modules);
	free(st->epochs);
	free(st);
}

struct file *symtab_file(struct symtab *st, const char *path, const char *build_id)
{
	struct file *f;

	for (f = st->files; f; f = f->next)
		if (!strcmp(f->path, path) && !strcmp(f->build_id, build_id))
			return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->path = strdup(path);
	f->build_id = strdup(build_id);
	if (!f->path || !f->build_id) {
		free(f->path);
		free(f->build_id);
		free(f);
		return NULL;
	}
	f->next = st->files;
	st->files = f;
	return f;
}

int symtab_add_module(struct symtab *st, const struct ldb_row_module *row)
{
	struct file *file;

	if (row->start >= row->end || row->tick > row->end_tick ||
	    st->nr_modules >= MODULES_MAX)
		return -EINVAL;
	if (!array_room(&st->modules, &st->room_modules, st->nr_modules, sizeof(*st->modules)))
		return -ENOMEM;
	file = symtab_file(st, row->path ? row->path : "", row->build_id ? row->build_id : "");
	if (!file)
		return -ENOMEM;
	file->is_instrumented |= row->flags & LDB_MODULE_F_INSTRUMENTED;
	st->modules[st->nr_modules++] = (struct module){
		.start = row->start, .end = row->end, .bias = row->bias,
		.tick = row->tick, .end_tick = row->end_tick, .file = file,
	};
	st->is_sorted = false;
	return 0;
}

COMPARE(module_compare, struct module, UP(start) UP(tick))

COMPARE_NUMBERS(tick_compare, int64_t)

/*
 * If two modules use the same addresses, the result of a lookup depends on the time, and can change
 * at each load or unload of one of them.
 */
static void find_epochs(struct symtab *st)
{
	uint64_t max_end = 0;
	bool has_reuse = false;

	for (size_t i = 0; i < st->nr_modules; i++) {
		has_reuse |= st->modules[i].start < max_end;
		if (st->modules[i].end > max_end)
			max_end = st->modules[i].end;
		st->modules[i].max_end = max_end;
	}
	st->nr_epochs = 0;
	free(st->epochs);
	st->epochs = has_reuse ? calloc(2 * st->nr_modules, sizeof(*st->epochs)) : NULL;
	if (!st->epochs)
		return;
	for (size_t i = 0; i < st->nr_modules; i++) {
		const struct module *m = &st->modules[i];
		bool overlaps = (i && st->modules[i - 1].max_end > m->start) ||
				(i + 1 < st->nr_modules && st->modules[i + 1].start < m->end);

		if (overlaps && m->tick > 0)
			st->epochs[st->nr_epochs++] = m->tick;
		if (overlaps && m->end_tick < INT64_MAX)
			st->epochs[st->nr_epochs++] = m->end_tick;
	}
	sort_by(st->epochs, st->nr_epochs, tick_compare);
}

static void sort_modules(struct symtab *st)
{
	sort_by(st->modules, st->nr_modules, module_compare);
	find_epochs(st);
	st->is_sorted = true;
}

unsigned symtab_epoch(const struct symtab *st, int64_t tick)
{
	if (!st->is_sorted)
		sort_modules((struct symtab *)st);
	return search(st->nr_epochs, i, st->epochs[i] <= tick);
}

/*
 * Returns true if module a is a better result than b for a lookup at the tick.  The best is the
 * module that was mapped at that tick.  If there was none, it is the module that was loaded next,
 * because constructors run before a load is reported and no code runs after an unload; if there is
 * none, the last one that was unloaded.  The result does not change within an epoch.
 */
static bool is_better(const struct module *a, const struct module *b, int64_t tick)
{
	bool a_later = a->tick > tick, b_later = b->tick > tick;
	bool a_mapped = !a_later && (tick < a->end_tick || a->end_tick == INT64_MAX);
	bool b_mapped = !b_later && (tick < b->end_tick || b->end_tick == INT64_MAX);

	if (a_mapped != b_mapped)
		return a_mapped;
	if (a_mapped)
		return a->tick > b->tick;
	if (a_later != b_later)
		return a_later;
	return a_later ? a->tick < b->tick : a->end_tick > b->end_tick;
}

static const struct module *find_module(struct symtab *st, uint64_t addr, int64_t tick)
{
	const struct module *best = NULL;
	size_t lo;

	if (!st->is_sorted)
		sort_modules(st);
	lo = search(st->nr_modules, i, st->modules[i].start <= addr);
	for (; lo > 0 && st->modules[lo - 1].max_end > addr; lo--) {
		const struct module *m = &st->modules[lo - 1];

		if (addr < m->end && (!best || is_better(m, best, tick)))
			best = m;
	}
	return best;
}

struct elffile *symtab_elf(struct symtab *st, struct file *file)
{
	if (st->known)
		return NULL;
	if (!file->elf)
		file->elf = elffile_open(&st->search, file->path, file->build_id);
	file->is_asked = true;
	if (!file->elf || elffile_state(file->elf) != ELFFILE_USABLE)
		return NULL;
	return file->elf;
}

static void set_offset_name(struct symtab *st, struct symbol *s, const struct module *m,
			    uint64_t addr)
{
	char text[512];

	if (m && *s->module)
		snprintf(text, sizeof(text), "%.400s+0x%" PRIx64, s->module, addr - m->start);
	else
		snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	s->function = symtab_intern(st, text);
}

void symtab_set_name(struct symtab *st, struct symbol *s, const char *linker_name)
{
	char *raw = strdup(linker_name), *name;

	if (!raw)
		return;
	demangle_fold(raw);
	s->raw = symtab_intern(st, raw);
	name = st->no_demangle ? NULL : demangle_name(raw);
	s->function = symtab_intern(st, name ? name : raw);
	s->known = *s->function;
	free(name);
	free(raw);
}

static void set_lines(struct symtab *st, struct symbol *s, struct dwarfinfo *dw, uint64_t vaddr,
		      enum ldb_symbol_ask question)
{
	struct dwarfinfo_func func;
	struct dwarfinfo_pos pos;

	if (question == LDB_ASK_CALL ? dwarfinfo_user_line(dw, vaddr, &pos)
				 : dwarfinfo_line(dw, vaddr, &pos)) {
		s->file = symtab_intern(st, pos.file);
		s->line = pos.line;
		s->in_system = pos.in_system;
	}
	if (dwarfinfo_function(dw, vaddr, &func)) {
		s->func_file = symtab_intern(st, func.decl.file);
		s->func_line = func.decl.line;
		s->func_in_system = func.decl.in_system;
		/* A stripped file may have debug information without symbols. */
		if (!s->known && func.linkage_name)
			symtab_set_name(st, s, func.linkage_name);
	}
}

static void resolve_code(struct symtab *st, struct symbol *s, const struct module *m,
			 uint64_t addr, enum ldb_symbol_ask question)
{
	struct elffile *elf = symtab_elf(st, m->file);
	const struct elffile_sym *sym;
	struct dwarfinfo *dw;
	uint64_t vaddr = addr - m->bias;

	if (!elf)
		return;
	sym = elffile_func(elf, vaddr);
	if (sym)
		symtab_set_name(st, s, sym->name);
	dw = elffile_dwarf(elf);
	if (dw)
		set_lines(st, s, dw, vaddr, question);
	m->file->lacks_name |= !s->known;
}

void symtab_set_offset(struct symtab *st, struct symbol *s, uint64_t offset)
{
	char text[1024];

	if (!offset)
		return;
	snprintf(text, sizeof(text), "%.900s+0x%" PRIx64, s->function, offset);
	s->function = symtab_intern(st, text);
}

static void resolve_data(struct symtab *st, struct symbol *s, const struct module *m,
			 uint64_t addr)
{
	struct elffile *elf = symtab_elf(st, m->file);
	const struct elffile_sym *sym = elf ? elffile_data(elf, addr - m->bias) : NULL;

	if (!sym)
		return;
	symtab_set_name(st, s, sym->name);
	symtab_set_offset(st, s, addr - m->bias - sym->addr);
}

/*
 * Resolves the function that is called; addr is the return address minus one, as for the line of a
 * call.
 */
static void resolve_callee(struct symtab *st, struct symbol *s, const struct module *m, uint64_t addr)
{
	struct elffile *elf = symtab_elf(st, m->file);
	const char *name = elf ? elffile_callee(elf, addr - m->bias + 1) : NULL;

	if (name && *name)
		symtab_set_name(st, s, name);
}

static void resolve_known(struct symtab *st, struct symbol *s, uint64_t addr)
{
	const char *name = st->known(st->known_arg, addr);

	if (!name || !*name)
		return;
	s->function = symtab_intern(st, name);
	s->known = true;
}

static void resolve(struct symtab *st, struct entry *e)
{
	const struct module *m = e->module;
	struct symbol *s = &e->symbol;

	*s = nothing;
	if (m) {
		s->path = symtab_intern(st, m->file->path);
		s->module = symtab_intern(st, basename(m->file->path));
	}
	if (st->known) {
		resolve_known(st, s, e->addr);
	} else if (m && !symtab_archived(st, e)) {
		if (e->question == LDB_ASK_DATA)
			resolve_data(st, s, m, e->addr);
		else if (e->question == LDB_ASK_CALLEE)
			resolve_callee(st, s, m, e->addr);
		else
			resolve_code(st, s, m, e->addr, e->question);
	}
	if (!s->known)
		set_offset_name(st, s, m, e->addr);
}

static const struct symbol *lookup(struct symtab *st, uint64_t addr, int64_t tick,
				   enum ldb_symbol_ask question)
{
	const struct module *m = find_module(st, addr, tick);
	uint64_t hash = hash_mix(question, addr);
	struct entry *e;

	keyed_each(&st->entries, hash, e)
		if (e->addr == addr && e->module == m && e->question == question)
			return &e->symbol;
	e = keyed_add(&st->entries, hash, sizeof(*e));
	if (!e)
		return &nothing;
	e->addr = addr;
	e->module = m;
	e->question = question;
	resolve(st, e);
	return &e->symbol;
}

const struct symbol *symtab_lookup(struct symtab *st, uint64_t addr, int64_t tick)
{
	return lookup(st, addr, tick, LDB_ASK_FUNC);
}

const struct symbol *symtab_lookup_aside(struct symtab *st, uint64_t addr, int64_t tick)
{
	const struct module *m = find_module(st, addr, tick);
	bool is_asked = m && m->file->is_asked, lacks_name = m && m->file->lacks_name;
	const struct symbol *s = symtab_lookup(st, addr, tick);

	if (m) {
		m->file->is_asked = is_asked;
		m->file->lacks_name = lacks_name;
	}
	return s;
}

/*
 * Looks up the byte before the return address, because the call may be the last instruction of its
 * line.
 */
const struct symbol *symtab_lookup_call(struct symtab *st, uint64_t ret, int64_t tick)
{
	return lookup(st, ret ? ret - 1 : 0, tick, LDB_ASK_CALL);
}

const struct symbol *symtab_lookup_callee(struct symtab *st, uint64_t ret, int64_t tick)
{
	return lookup(st, ret ? ret - 1 : 0, tick, LDB_ASK_CALLEE);
}

struct named_queue {
	uint64_t number;
	struct symbol symbol;
};

#define QUEUE_SYMBOL(name) \
	{ .module = "", .path = "", .function = name, .raw = name, .file = "", .func_file = "", .known = true }

static const struct symbol *named_queue(struct symtab *st, uint64_t number)
{
	struct named_queue *q;

	keyed_each(&st->queues, hash_mix(0, number), q)
		if (q->number == number)
			return &q->symbol;
	return NULL;
}

int symtab_add_queue(struct symtab *st, uint64_t queue, const char *name)
{
	struct named_queue *q;

	if (!(queue & LDB_REQ_QUEUE_NAMED) || named_queue(st, queue))
		return -EINVAL;
	q = keyed_add(&st->queues, hash_mix(0, queue), sizeof(*q));
	if (!q)
		return -ENOMEM;
	name = symtab_intern(st, name);
	*q = (struct named_queue){ queue, QUEUE_SYMBOL(name) };
	return 0;
}

/*
 * Returns the name of a queue that has a number instead of an address, in any process; NULL: addr
 * is an address.
 */
static const struct symbol *numbered_queue(struct symtab *st, uint64_t addr)
{
	static const struct symbol queues[LDB_REQ_QUEUE_MAX + 1] = {
		[LDB_REQ_QUEUE_UPSTREAM] = QUEUE_SYMBOL("upstream"),
		[LDB_REQ_QUEUE_LOOP] = QUEUE_SYMBOL("event_loop"),
		[LDB_REQ_QUEUE_UNREAD] = QUEUE_SYMBOL("unread"),
	};

	addr &= (1ULL << 48) - 1;
	if (addr & LDB_REQ_QUEUE_NAMED)
		return named_queue(st, addr);
	return addr && addr <= LDB_REQ_QUEUE_MAX ? &queues[addr] : NULL;
}

const struct symbol *symtab_lookup_data(struct symtab *st, uint64_t addr, int64_t tick)
{
	const struct symbol *queue = numbered_queue(st, addr);

	if (queue)
		return queue;
	return lookup(st, addr, tick, LDB_ASK_DATA);
}
