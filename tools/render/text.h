/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes pieces of text output. */
#ifndef RENDER_TEXT_H
#define RENDER_TEXT_H

#include "render/render.h"

#define TEXT_ROOM	512
#define TEXT_INDENT	4	/* indentation of continued lines */
#define TEXT_NEXT_INDENT 8	/* indentation of a name or place on a line of its own */

enum text_style { TEXT_PLAIN, TEXT_BOLD, TEXT_DIM, TEXT_WARN, TEXT_BAD };

/* Begins or ends a style; does nothing if colours are off. */
void text_style(const struct render *r, enum text_style style);

__attribute__((format(printf, 3, 4)))
void text_styled(const struct render *r, enum text_style style, const char *format, ...);

void text_on_next_line(const struct render *r, const char *text, enum text_style style);

/* Prints at most width columns of s.  is_padded: fills up with blanks. */
void text_cell(const struct render *r, const char *s, unsigned width, bool is_padded);

/* Copies s, replacing characters that could control a terminal; buf has TEXT_ROOM bytes. */
const char *text_clean(const char *s, char *buf);

/* Writes "1.24us"; at most 7 columns.  buf has UNITS_ROOM bytes. */
const char *text_ns(int64_t ns, char *buf);

/* Writes "1.24k"; at most 6 columns.  buf has UNITS_ROOM bytes. */
const char *text_count(uint64_t nr, char *buf);

/* Writes "12.3 %", "100 %", "<0.1 %"; buf has UNITS_ROOM bytes. */
const char *text_share(uint64_t part, uint64_t whole, char *buf);

/* Writes "figure1.cc:40"; "" if the file is not known.  buf has TEXT_ROOM bytes. */
const char *text_place(const char *file, unsigned line, char *buf);

/* Writes the place of a call, or the function that contains it; "" if neither is known. */
const char *text_site(const struct symbol *site, char *buf);

/* Writes "name()"; without parentheses if the function is not known. */
const char *text_function(const struct symbol *func, char *buf);

/* Writes "mutex 0x7f.. (name)". */
const char *text_lock(unsigned kind, uint64_t lock, const struct symbol *symbol, char *buf);

/* Writes "hog (pid 99)"; for the program's own threads "worker 4711". */
const char *text_context(const struct model *m, const struct context *p, char *buf);

/* Writes "kernel events: perf (no /dev/ldb)". */
const char *text_kernel(const struct model *m, char *buf);

/* Writes "worker 4711". */
const char *text_thread(uint32_t tid, const struct thread *thread, char *buf);

/* Writes "nginx (pid 4711)"; returns buf. */
const char *text_process(const struct process *p, char *buf);

/* Says how many requests were joined by messages, and how many could not be. */
void text_messages(const struct render *r, const struct model *m);
/* Prints a line for each process whose clock differs from that of the first process. */
void text_clocks(const struct render *r, const struct model *m);

#endif
