/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every tool that shows a trace does before and after: open the trace and
 * the output, say what is wrong with them, choose the exit status.
 */
#ifndef RENDER_OPEN_H
#define RENDER_OPEN_H

#include "cli/opts.h"
#include "render/render.h"

struct open_options {
	const char *input, *output, *sysroot;
	struct cli_list debug_dirs;
	bool no_demangle;
};

/* The options all of them have, for a table of struct cli_option. */
#define OPEN_OPTIONS(o)								\
	{ .letter = 'i', .name = "input", .type = CLI_STRING, .value = &(o).input, \
	  .arg = "FILE", .help = "the trace (default: ldb.data)" },		\
	{ .letter = 'o', .name = "output", .type = CLI_STRING, .value = &(o).output, \
	  .arg = "FILE", .help = "write there, not to stdout" },		\
	{ .name = "debug-dir", .type = CLI_LIST, .value = &(o).debug_dirs, .arg = "DIR", \
	  .help = "look for debug files there, too (repeats)" },		\
	{ .name = "sysroot", .type = CLI_STRING, .value = &(o).sysroot, .arg = "DIR", \
	  .help = "the files of the trace are below DIR" },			\
	{ .name = "no-demangle", .type = CLI_FLAG, .value = &(o).no_demangle,	\
	  .help = "C++ names as the linker has them" }

struct opened {
	const struct open_options *options;
	struct reader *reader;
	struct symtab *symtab;
	struct model *model;
	struct render render;
};

/* Ends the program after one line when the trace or the output cannot be opened. */
void open_trace(struct opened *o, const struct open_options *options);

/*
 * Closes all, says what was missing or damaged; the exit status.  check_all: of the
 * whole trace, also where nothing was read.
 */
int open_finish(struct opened *o, bool is_quiet, bool check_all);

/* A time of the command line as ticks of the trace; otherwise, if it was not given. */
int64_t open_tick(const struct model *m, bool is_given, uint64_t ns, int64_t otherwise);

/* Both are there, and the same file.  Writing to the one would destroy the other. */
bool open_is_same_file(const char *a, const char *b);

/* --input of the options, or what it is without. */
const char *open_input(const struct open_options *options);

/* One line instead of a report without rows. */
__attribute__((format(printf, 2, 3)))
void open_say_empty(const struct render *r, const char *format, ...);

__attribute__((noreturn)) void open_fail_memory(void);

#endif
