/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the trace and the output, reports errors in these, and determines the exit status, for
 * every tool that shows a trace.
 */
#ifndef RENDER_OPEN_H
#define RENDER_OPEN_H

#include "cli/opts.h"
#include "render/render.h"

struct open_options {
	const char *input;		/* the first trace; open_files() sets it, or the tool itself */
	const char *output, *sysroot;
	struct cli_list inputs;		/* each -i */
	const char *const *files;	/* all traces; several are joined; open_files() sets them */
	size_t nr_files;
	struct cli_list debug_dirs, request;
	bool no_demangle;
	bool is_json, is_csv, is_quiet, is_verbose;
	bool has_from, has_to;
	uint64_t from_ns, to_ns;
};

/* Options of all these tools, for a table of struct cli_option. */
#define OPEN_OPTIONS(o)								\
	{ .letter = 'i', .name = "input", .type = CLI_LIST, .value = &(o).inputs, \
	  .arg = "FILE", .help = "the trace (default: ldb.data; may be repeated)" },	\
	{ .letter = 'o', .name = "output", .type = CLI_STRING, .value = &(o).output, \
	  .arg = "FILE", .help = "write to FILE instead of stdout" },		\
	{ .name = "debug-dir", .type = CLI_LIST, .value = &(o).debug_dirs, .arg = "DIR", \
	  .help = "search DIR for debug files, too (may be repeated)" },		\
	{ .name = "sysroot", .type = CLI_STRING, .value = &(o).sysroot, .arg = "DIR", \
	  .help = "search below DIR for the files that the trace names" },			\
	{ .name = "no-demangle", .type = CLI_FLAG, .value = &(o).no_demangle,	\
	  .help = "C++ names as the linker has them" }

/* Option of tools that show one request; part is a struct cli_part. */
#define OPEN_REQ(part, has)							\
	{ .letter = 'r', .name = "req", .type = CLI_PART, .value = &(part), .arg = "[PROCESS:]N", \
	  .help = "the request with this id; PROCESS:N: with the id that this process (pid or name) gave it, in a " \
	  "recording of several processes", \
	  .given = &(has) }

/* Option of tools that show requests. */
#define OPEN_REQUEST(o)								\
	{ .name = "request", .type = CLI_LIST, .value = &(o).request, .arg = "FUNCTION", \
	  .help = "each invocation of FUNCTION (a name, or a glob) is a request; loop: each turn of an event " \
	  "loop; tags: what the program tags (may be repeated)" }

/* Options for a range of time; `what` is, for example, "only requests that start at". */
#define OPEN_RANGE(o, what)							\
	{ .name = "from", .type = CLI_DURATION, .value = &(o).from_ns, .arg = "TIME", \
	  .help = what " TIME or later", .given = &(o).has_from },		\
	{ .name = "to", .type = CLI_DURATION, .value = &(o).to_ns, .arg = "TIME", \
	  .help = what " TIME or earlier", .given = &(o).has_to }
#define OPEN_CSV(o, text)							\
	{ .name = "csv", .type = CLI_FLAG, .value = &(o).is_csv, .help = (text) }
#define OPEN_JSON(o, text)							\
	{ .letter = 'j', .name = "json", .type = CLI_FLAG, .value = &(o).is_json, .help = (text) }
#define OPEN_QUIET(o, text)							\
	{ .letter = 'q', .name = "quiet", .type = CLI_FLAG, .value = &(o).is_quiet, .help = (text) }
#define OPEN_VERBOSE(o, text)							\
	{ .letter = 'v', .name = "verbose", .type = CLI_FLAG, .value = &(o).is_verbose, \
	  .help = (text) }

struct opened {
	const struct open_options *options;
	struct reader *reader;
	struct symtab *symtab;
	struct model *model;
	struct render render;
};

/*
 * Takes the arguments of -i as traces, or the arguments from argv[first] on.  open_trace() joins
 * several traces into an unnamed file, which is shown.  Ends the tool if there are arguments of
 * both kinds.
 */
void open_files(struct open_options *o, int argc, char **argv, int first);

/* If the trace or the output cannot be opened, ends the program after printing why. */
void open_trace(struct opened *o, const struct open_options *options);

/*
 * Closes the trace and the output, reports what was missing or damaged, and returns the exit
 * status.  `found` is false if the tool has already reported a failure; then no hints are printed.
 * check_all: checks the whole trace, including the parts that were not read.
 */
int open_finish(struct opened *o, bool found, bool check_all);

/*
 * Returns true if the output is JSON or CSV, which contain all rows unless --top is given, and are
 * written even if there are no rows.
 */
static inline bool open_is_data(const struct open_options *o)
{
	return o->is_json || o->is_csv;
}

static inline bool open_has_range(const struct open_options *o)
{
	return o->has_from || o->has_to;
}

/* Return --from and --to as ticks of the trace; without these options INT64_MIN and INT64_MAX. */
int64_t open_from(const struct open_options *o, const struct model *m);
int64_t open_to(const struct open_options *o, const struct model *m);

/*
 * Finds the id of a request that --req names (CLI_PART): either the id that reports show, or a
 * process and the id in that process.  Returns false if there is no such process, or more than one,
 * after printing so.
 */
bool open_req(const struct model *m, const struct cli_part *part, uint64_t *id);

/* Returns true if both are the same file: then writing to one would destroy the other. */
bool open_is_same_file(const char *a, const char *b);

/* Returns true if the file is one of the traces that are read. */
bool open_is_input(const struct open_options *o, const char *file);

/*
 * Joins the traces of the options into an empty file, and closes that.  Returns 0, or -errno after
 * printing why.
 */
int open_join(const struct open_options *o, int fd);

/* Returns the option --input, or its default; if there are several traces, the first one. */
const char *open_input(const struct open_options *options);

/* Prints one line instead of a report without rows. */
__attribute__((format(printf, 2, 3)))
void open_say_empty(const struct render *r, const char *format, ...);

__attribute__((noreturn)) void open_fail_memory(void);

/* Parses the conditions of --note, at most OPEN_NOTES_MAX; ends the program if one is invalid. */
#define OPEN_NOTES_MAX	16
void open_notes(const struct cli_list *list, struct requests_options *o);

#endif
