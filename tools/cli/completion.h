/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a tool's options for the shells' completion.  The build inserts these lines into
 * completion.bash.in and completion.zsh.in, which interpret them.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "cli/opts.h"

/*
 * Prints a line for each option to stdout.  The columns, separated by tabs, are: "*" if the option
 * can be repeated; letter; name; argument; possible words for the argument; help.  Missing ones are
 * "-".  A line without letter and name describes the tool's arguments.
 */
void completion_print(const struct cli_tool *tool);

#endif
