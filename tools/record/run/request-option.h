/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements the option --request of the tools that record. */
#ifndef RECORD_RUN_REQUEST_OPTION_H
#define RECORD_RUN_REQUEST_OPTION_H

#include "cli/opts.h"
#include "record/run/record.h"

/* Sets options->request or socket_requests.  If the words are wrong, prints so and exits. */
void request_option_set(const struct cli_list *words, struct record_options *options);

#endif
