// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the table of options as lines for the shells' completion. */
#include <stdio.h>
#include "cli/completion.h"

static void print_option(const struct cli_option *o)
{
	const char *word = cli_choice(o, 0);
	char help[CLI_HELP_ROOM];

	printf("%c\t%c\t%s\t%s\t%s", o->type == CLI_LIST ? '*' : '-', o->letter ? o->letter : '-',
	       o->name, o->arg ? o->arg : "-", word ? "" : "-");
	for (size_t i = 0; (word = cli_choice(o, i)); i++)
		printf("%s%s", i ? " " : "", word);
	printf("\t%s\n", cli_help(o, help));
}

/*
 * Prints the line about the tool's arguments.  An argument that is one of several words can be
 * given once; files, and the arguments of a command, can be repeated.
 */
static void print_arguments(const struct cli_tool *tool)
{
	const char *word;

	if (!tool->argument_word) {
		printf("*\t-\t-\t%s\t-\t-\n", tool->takes_command ? "CMD" : tool->argument);
		return;
	}
	printf("-\t-\t-\t%s\t", tool->argument);
	for (size_t i = 0; (word = tool->argument_word(i)); i++)
		printf("%s%s", i ? " " : "", word);
	printf("\t-\n");
}

void completion_print(const struct cli_tool *tool)
{
	const struct cli_option *o;

	for (size_t i = 0; (o = cli_option(tool, i)); i++)
		print_option(o);
	if (tool->takes_command || tool->argument)
		print_arguments(tool);
}
