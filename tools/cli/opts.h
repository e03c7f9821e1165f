/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses command lines.  Each tool has one table of options, from which the parser, --help and
 * the shells' completion are made.  -h and -V are added to every table.
 */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_type {
	CLI_FLAG,	/* bool: set to true */
	CLI_STRING,	/* const char * */
	CLI_LIST,	/* struct cli_list: may be repeated */
	CLI_NUMBER,	/* uint64_t, decimal or 0x; min, max apply */
	CLI_PART,	/* struct cli_part: N, or OF:N */
	CLI_DURATION,	/* uint64_t, ns: 10ms, 1.5us, 2s; no unit: see unit_ns */
	CLI_SIZE,	/* uint64_t, bytes: 64M */
	CLI_PERCENT,	/* uint32_t, ppm: 5% */
	CLI_CHOICE,	/* int: index into choices */
};

struct cli_list {
	const char **items;
	size_t nr;
};

struct cli_part {
	const char *of;		/* not terminated */
	int of_length;		/* 0: only a number was given */
	uint64_t number;
};

struct cli_option {
	char letter;		/* 0: none */
	const char *name;	/* long */
	enum cli_type type;
	void *value;
	const char *arg;	/* as --help shows it; FILE, DIR and PID are completed as such */
	const char *help;	/* NULL: the choices, of which the first is the default */
	const char *const *choices;	/* of a CHOICE: the words; NULL-terminated */
	const char *(*choice)(size_t n); /* instead of choices; returns NULL after the last */
	uint64_t min, max;	/* limits of NUMBER, DURATION, SIZE, PERCENT; max 0: no limit */
	/* unit of a DURATION that is written without one; 0: not permitted */
	uint64_t unit_ns;
	bool *given;		/* set to true when the option is used; may be NULL */
};

struct cli_tool {
	const char *name;
	const char *synopsis;	/* lines after "usage: ", each without the name */
	const char *summary;
	const struct cli_option *options;	/* ends with a name of NULL */
	const char *examples;	/* complete lines */
	/* options end at the first argument; else they may follow arguments */
	bool takes_command;
	/* The arguments, for completion; not needed if the tool takes a command. */
	const char *argument;	/* like arg of an option; NULL: there are none */
	/* returns the possible words for the argument; NULL after the last */
	const char *(*argument_word)(size_t n);
};

/* Returns the nth option of the tool, --help and --version last; NULL: there are no more. */
const struct cli_option *cli_option(const struct cli_tool *tool, size_t n);

/* Returns the nth choice of an option; NULL: there are no more. */
const char *cli_choice(const struct cli_option *o, size_t n);

/* Returns an option's help text, which may list the choices; buf has CLI_HELP_ROOM bytes. */
#define CLI_HELP_ROOM	512
const char *cli_help(const struct cli_option *o, char *buf);

/*
 * Returns the index of the first argument that is not an option.  Exits with 2 after printing an
 * error in the command line, with 0 after --help and --version, and with 1 if their text cannot be
 * written or memory is missing.
 */
int cli_parse(const struct cli_tool *tool, int argc, char **argv);

/* Prints one line on stderr and exits with 2. */
__attribute__((noreturn, format(printf, 1, 2))) void cli_usage(const char *format, ...);

#endif
