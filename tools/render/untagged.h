/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suggests commands if no request was tagged. */
#ifndef RENDER_UNTAGGED_H
#define RENDER_UNTAGGED_H

#include "render/open.h"

#define UNTAGGED_TEXT	512

/*
 * Returns one line that says why there are no requests: the program has tagged none, or none was
 * found of those that the user asked for when recording.
 */
const char *untagged_why(const struct opened *o, char text[UNTAGGED_TEXT]);

/*
 * Prints to stderr, unless -q is given, one command line for each function whose calls may be
 * requests, best first, and one for turns of event loops if there are any.  `args` has further
 * options of the tool, such as " --slowest=5", or is "".
 */
void untagged_say(const struct opened *o, const char *args);

#endif
