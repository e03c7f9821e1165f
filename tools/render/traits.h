/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints traits that slow requests share. */
#ifndef RENDER_TRAITS_H
#define RENDER_TRAITS_H

#include "analysis/why/traits.h"
#include "cli/relation.h"
#include "render/render.h"

/* Columns of struct traits, for JSON and pages. */
extern const struct column traits_columns[], found_columns[];

/*
 * Prints how many notes were left out, if any, and the table.  If no trait was found, prints one
 * line instead of the table if the program attached notes.
 */
void text_traits(const struct render *r, const struct traits *t);

#endif
