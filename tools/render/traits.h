/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presents what slow requests share. */
#ifndef RENDER_TRAITS_H
#define RENDER_TRAITS_H

#include "analysis/why/traits.h"
#include "cli/relation.h"
#include "render/render.h"

/* Of struct traits; a page has the same. */
extern const struct column traits_columns[];

/* Prints the table, or one line if nothing was found in what the program noted; else nothing. */
void text_traits(const struct render *r, const struct traits *t);

#endif
