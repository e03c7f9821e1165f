/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resolves (address, time) to names and lines.
 *
 * Modules are the MODULE rows of a trace.  An address belongs to the module that was mapped there
 * at that time; if there was none, to the module that was loaded there next (a constructor runs
 * before the load is reported), or else to the one that was unloaded last.  Files are opened when
 * the first address in them is resolved.  A file whose build-id is not the one of the trace is
 * never used.
 *
 * Results belong to the symtab and are valid until symtab_forget() or symtab_close().  A function
 * that is called again with the same (address, module) returns the same pointer.  The functions are
 * not thread-safe.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

struct symtab;

struct symtab_options {
	const char *sysroot;		/* put before the paths in the trace; NULL: none */
	const char *const *debug_dirs;	/* searched before /usr/lib/debug */
	size_t nr_debug_dirs;
	bool no_demangle;
	/*
	 * If not NULL, this is the only source of names, and no file is read: it returns the
	 * readable name of the function or variable at exactly this address; NULL or "": there is
	 * none.
	 */
	const char *(*known)(void *arg, uint64_t addr);
	void *known_arg;
};

/* No string in it is NULL. */
struct symbol {
	/* base name of the module's file; "" if the address is in no file */
	const char *module;
	const char *path;	/* path of the module, as in the trace */
	/* readable, no parameters; if not known: module+0xoffset or, in no file, 0xaddress */
	const char *function;
	const char *raw;	/* the linker's name; "" if not known */
	const char *file;	/* source file of the address; "" if not known */
	const char *func_file;	/* where the function is defined; "" if not known */
	unsigned line, func_line;
	bool known;		/* function is a name, and not module+0xoffset */
	bool in_system;		/* file is a system header */
	bool func_in_system;	/* func_file is a system header */
};

/* options may be NULL: defaults.  Returns NULL if there is no memory. */
struct symtab *symtab_open(const struct symtab_options *options);
void symtab_close(struct symtab *st);

/* Returns true if C++ names are demangled. */
bool symtab_is_demangling(const struct symtab *st);

/*
 * Forgets all modules, and frees all symbols that were returned; files stay open.  This is for
 * ldb-top, which reads the same program again and again.
 */
void symtab_forget(struct symtab *st);

/* Returns 0, -ENOMEM, or -EINVAL for an invalid row; strings are copied. */
int symtab_add_module(struct symtab *st, const struct ldb_row_module *row);

/*
 * Add names that the trace contains.  They are used if they include source lines, or if the file
 * itself cannot be used.  FILE rows must come first.  Return 0, -ENOMEM, or -EINVAL for an invalid
 * row.
 */
int symtab_add_file(struct symtab *st, const struct ldb_row_file *row);
int symtab_add_symbol(struct symtab *st, const struct ldb_row_symbol *row);
int symtab_add_call(struct symtab *st, const struct ldb_row_call *row);

/* Adds the name of a queue that has none in a file: see LDB_REQ_QUEUE_NAMED. */
int symtab_add_queue(struct symtab *st, uint64_t queue, const char *name);

/*
 * symtab_emit() calls these functions with rows for a trace that contain all names that were found
 * in files so far.  A result other than 0 ends the calls, and is returned.
 */
struct symtab_sink {
	int (*file)(void *arg, const struct ldb_row_file *row);
	int (*symbol)(void *arg, const struct ldb_row_symbol *row);
	int (*call)(void *arg, const struct ldb_row_call *row);
	void *arg;
};
int symtab_emit(struct symtab *st, const struct symtab_sink *sink);

/*
 * Returns the function that contains addr.  It never returns NULL: if no memory can be allocated,
 * it returns a constant symbol.
 */
const struct symbol *symtab_lookup(struct symtab *st, uint64_t addr, int64_t tick);

/*
 * As symtab_lookup(), for an address whose name is useful but not necessary: if the name is
 * missing, symtab_problem_text() does not report it.
 */
const struct symbol *symtab_lookup_aside(struct symtab *st, uint64_t addr, int64_t tick);

/*
 * Returns the call whose return address is ret.  file and line are those of the call as written
 * in the user's source: for a call inside an inlined function of a system header
 * (std::mutex::lock) they are those of the call of that function.
 */
const struct symbol *symtab_lookup_call(struct symtab *st, uint64_t ret, int64_t tick);

/*
 * Returns the variable that contains addr: function is "name" or "name+0xoffset", if it is
 * known.
 */
const struct symbol *symtab_lookup_data(struct symtab *st, uint64_t addr, int64_t tick);

/*
 * Returns the function that the call before ret calls, according to the code.  If its name is
 * known, function and raw are set; module and path are those of the code that calls it.
 */
const struct symbol *symtab_lookup_callee(struct symtab *st, uint64_t ret, int64_t tick);

/*
 * Calls fn with the linker's name of each function of another module that the code of func may
 * call.
 */
void symtab_calls(struct symtab *st, const struct symbol *func,
		  void (*fn)(void *arg, const char *raw), void *arg);

/*
 * Returns a number that is the same for two ticks if no address changes its module between them:
 * then a lookup at either tick has the same result.
 */
unsigned symtab_epoch(const struct symtab *st, int64_t tick);

/*
 * Says which names are missing, for modules in which addresses were resolved: at most one line
 * per problem, without the tool's name.  Returns "" when there is no such problem.
 */
enum symtab_problem {
	SYMTAB_STALE,		/* the file on disk is not the one that was recorded */
	SYMTAB_MISSING,		/* no file, or no symbols in it */
	SYMTAB_NO_LINES,	/* an instrumented module without line numbers */
	/* a part of the debug information is in another file, which is missing */
	SYMTAB_PARTS,
	SYMTAB_NR_PROBLEMS
};

const char *symtab_problem_text(const struct symtab *st, enum symtab_problem problem, char *buf,
				size_t size);

#endif
