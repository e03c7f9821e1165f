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
 * Wraps text if r has a width.  Line ends and colours of the text written before wrap_end() are
 * preserved; blanks may become line ends.
 */
const struct render *wrap_begin(struct wrap *w, const struct render *r);
/* Ends wrapping.  Continuation lines are indented by this many more columns. */
void wrap_end(struct wrap *w, unsigned indent);

/*
 * Returns the name in at most width columns: first without template arguments, then without its
 * outer scopes; a ~ represents the omitted part.  buf has TEXT_ROOM bytes.
 */
const char *wrap_name(const char *name, unsigned width, char *buf);

/*
 * Writes `before` and "name() file.cc:88" to buf, in at most width columns; shortens the name if
 * necessary, but not below WRAP_NAME_MIN.
 */
void wrap_place(const struct symbol *func, const char *file, unsigned line, const char *before,
		unsigned width, char *buf);

#define WRAP_NAME_MIN	12	/* least width of a name, however long the rest is */

/* Shortens "worker 4711" or "hog (pid 99)", but only the name in it. */
const char *wrap_numbered(const char *text, unsigned width, char *buf);

#endif
