/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a tool's options for the shells' completion: the build puts these lines into
 * completion.bash.in and completion.zsh.in, which know what to do with them.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "cli/opts.h"

/*
 * Prints a line for each option to stdout, with columns separated by tabs, and "-" for what is
 * absent: "*" if it repeats, letter, name, argument, words that this is one of, help.  A line
 * without a letter and a name describes the tool's arguments.
 */
void completion_print(const struct cli_tool *tool);

#endif
