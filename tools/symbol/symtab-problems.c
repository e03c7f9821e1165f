// SPDX-License-Identifier: GPL-2.0-or-later
/* Says which names are missing, for the files in which addresses were resolved. */
#include "symbol/hint.h"
#include "symbol/symtab-private.h"

struct facts {
	enum elffile_state state;
	bool symbols, lines, lacks_part;
};

/*
 * Returns what is known of the file: as it is now or, if it cannot be used and the trace contains
 * its names, as it was when they were stored.
 */
static struct facts facts_of(const struct file *f)
{
	struct facts has = { .state = f->elf ? elffile_state(f->elf) : ELFFILE_ABSENT };

	if (has.state == ELFFILE_USABLE) {
		has.symbols = elffile_has_symbols(f->elf);
		has.lines = elffile_has_lines(f->elf);
		has.lacks_part = elffile_lacks_part(f->elf);
	} else if (f->is_archived) {
		has = (struct facts){
			.state = ELFFILE_USABLE, .symbols = f->archived_flags & LDB_FILE_F_SYMBOLS,
			.lines = f->archived_flags & LDB_FILE_F_LINES,
			.lacks_part = f->archived_flags & LDB_FILE_F_LACKS_PART,
		};
	}
	return has;
}

static bool has_problem(const struct file *f, const struct facts *has, enum symtab_problem problem)
{
	switch (problem) {
	case SYMTAB_STALE:
		return has->state == ELFFILE_OTHER;
	case SYMTAB_MISSING:
		/* A stripped library still has the names that it exports. */
		return has->state == ELFFILE_ABSENT ||
		       (has->state == ELFFILE_USABLE && !has->lines &&
			(!has->symbols || (f->lacks_name && !f->is_instrumented &&
					   hint_is_of_use(f->path))));
	case SYMTAB_NO_LINES:
		return has->state == ELFFILE_USABLE && f->is_instrumented &&
		       has->symbols && !has->lines;
	case SYMTAB_PARTS:
		return has->state == ELFFILE_USABLE && f->is_instrumented && has->lacks_part;
	default:
		return false;
	}
}

const char *symtab_problem_text(const struct symtab *st, enum symtab_problem problem, char *buf,
				size_t size)
{
	struct hint hint = { .problem = problem };
	struct facts has;

	for (const struct file *f = st->files; f; f = f->next) {
		/* Pages that the kernel maps into each process, such as the vDSO, have no file. */
		if (!f->is_asked || f->path[0] != '/')
			continue;
		has = facts_of(f);
		if (!has_problem(f, &has, problem))
			continue;
		/*
		 * A hint names the file that was added first, which usually is the program.  New
		 * files are added at the front of the list.
		 */
		hint.path = f->path;
		hint.build_id = f->build_id;
		hint.is_there = has.state == ELFFILE_USABLE;
		hint.has_symbols = hint.is_there && has.symbols;
		hint.is_instrumented = f->is_instrumented;
		hint.nr++;
	}
	*buf = '\0';
	if (hint.nr)
		hint_text(&hint, st->sysroot, buf, size);
	return buf;
}
