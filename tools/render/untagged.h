/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says what to type if no request was tagged. */
#ifndef RENDER_UNTAGGED_H
#define RENDER_UNTAGGED_H

#include "render/open.h"

/*
 * Prints, on stderr, one command line for each function that may be what a request is, best first;
 * args are further options of the tool, " --slowest=5" or "".
 */
void untagged_say(const struct opened *o, const char *args);

#endif
