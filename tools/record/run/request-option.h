/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements the option --request of the tools that record. */
#ifndef RECORD_RUN_REQUEST_OPTION_H
#define RECORD_RUN_REQUEST_OPTION_H

#include "cli/opts.h"
#include "record/run/record.h"

/*
 * Sets socket_requests, or request and loop_turns, in the options.  If the words are wrong, prints
 * what is wrong and exits.
 */
void request_option_set(const struct cli_list *words, struct record_options *options);

#endif
