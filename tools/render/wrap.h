/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fits text to its width.
 *
 *	struct wrap w;
 *	const struct render *in = wrap_begin(&w, r);	text into in->out
 *	...
 *	wrap_end(&w, 4);			goes to r, wrapped at blanks
 */
#ifndef RENDER_WRAP_H
#define RENDER_WRAP_H

#include "render/render.h"

struct wrap {
	const struct render *to;
	struct render in;
	char *text;
	size_t size;
};

/*
 * Wrapping works if r has a width.  The lines and colours of text that is written before wrap_end()
 * stay; blanks may become ends of lines.
 */
const struct render *wrap_begin(struct wrap *w, const struct render *r);
/* The continuation of a line is indented by this many more columns. */
void wrap_end(struct wrap *w, unsigned indent);

/*
 * Returns the name in at most width columns: without what is between < and >, then without its
 * first scopes; a ~ represents what is left out.  buf has TEXT_ROOM bytes.
 */
const char *wrap_name(const char *name, unsigned width, char *buf);

/*
 * Prints before and "name() file.cc:88", in at most width columns; the name is shortened if
 * necessary.
 */
void wrap_place(const struct symbol *func, const char *file, unsigned line, const char *before,
		unsigned width, char *buf);

#define WRAP_NAME_MIN	12	/* columns of a name, however long the rest is */

/* Shortens only the name in "worker 4711" or "hog (pid 99)". */
const char *wrap_numbered(const char *text, unsigned width, char *buf);

#endif
