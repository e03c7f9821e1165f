// SPDX-License-Identifier: GPL-2.0-or-later
/* Fits text to a width; see wrap.h. */
#include <stdlib.h>
#include <string.h>

#include "render/text.h"
#include "render/wrap.h"

void render_show(const struct render *r, const struct printer *p, const void *report)
{
	render_as(r, r->form, p, report);
}

void render_as(const struct render *r, enum render_form form, const struct printer *p,
	       const void *report)
{
	struct wrap w;

	if (form == RENDER_JSON) {
		document_put(r->out, p->document, p->columns, report);
	} else if (form == RENDER_CSV) {
		relation_csv(r->out, p->columns, report);
	} else if (p->indent) {
		p->text(wrap_begin(&w, r), report);
		wrap_end(&w, p->indent);
	} else {
		p->text(r, report);
	}
}

const struct render *wrap_begin(struct wrap *w, const struct render *r)
{
	*w = (struct wrap){ .to = r, .in = *r };
	w->in.out = r->has_width ? open_memstream(&w->text, &w->size) : NULL;
	if (!w->in.out)
		w->in.out = r->out;
	return &w->in;
}

/* Returns true for the first byte of a UTF-8 character; further bytes take no column. */
static bool is_first(char c)
{
	return (c & 0xc0) != 0x80;
}

/* Returns the length of the escape sequence at s; 0: there is none. */
static size_t escape_len(const char *s)
{
	size_t n = 2;

	if (s[0] != '\033' || s[1] != '[')
		return 0;
	while (s[n] && (s[n] < '@' || s[n] > '~'))
		n++;
	return s[n] ? n + 1 : n;
}

/* Returns the number of columns, and of bytes, up to the next blank or end of line. */
static unsigned word_columns(const char *s, size_t *bytes)
{
	unsigned columns = 0;
	size_t i = 0;

	while (s[i] && s[i] != ' ' && s[i] != '\n') {
		size_t escape = escape_len(s + i);

		if (!escape)
			columns += is_first(s[i]);
		i += escape ? escape : 1;
	}
	*bytes = i;
	return columns;
}

struct line {
	FILE *out;
	unsigned column, width;
	/* indent: of continuation lines; more: by how much that is more than the line's own */
	unsigned more, indent;
};

/* Sets the indentation of continuation lines: that of the line that begins with s, and l->more. */
static void set_indent(struct line *l, const char *s)
{
	l->indent = l->more + strspn(s, " ");
	if (l->indent > l->width / 2)
		l->indent = l->more;
}

static void new_line(struct line *l)
{
	fprintf(l->out, "\n%*s", (int)l->indent, "");
	l->column = l->indent;
}

/* Prints a word.  A word that is longer than a line continues on the next lines. */
static void put_word(struct line *l, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		size_t escape = escape_len(s + i);

		if (!escape && is_first(s[i]) && l->column >= l->width)
			new_line(l);
		l->column += !escape && is_first(s[i]);
		if (!escape)
			escape = 1;
		fwrite(s + i, 1, escape, l->out);
		i += escape;
	}
}

static void put_wrapped(struct line *l, const char *s)
{
	set_indent(l, s);
	while (*s) {
		size_t blanks = strspn(s, " "), bytes;
		unsigned columns = word_columns(s + blanks, &bytes);

		if (l->column + blanks + columns > l->width && l->column > l->indent && columns) {
			new_line(l);
		} else if (columns || s[blanks] != '\n') {
			fprintf(l->out, "%*s", (int)blanks, "");
			l->column += blanks;
		}
		put_word(l, s + blanks, bytes);
		s += blanks + bytes;
		if (*s == '\n') {
			fputc('\n', l->out);
			l->column = 0;
			s++;
			set_indent(l, s);
		}
	}
}

void wrap_end(struct wrap *w, unsigned indent)
{
	struct line line = { .out = w->to->out, .width = w->to->width, .more = indent };

	if (w->in.out == w->to->out)
		return;
	if (!fclose(w->in.out))
		put_wrapped(&line, w->text);
	free(w->text);
}

static unsigned columns_of(const char *s)
{
	unsigned columns = 0;

	for (; *s; s++)
		columns += is_first(*s);
	return columns;
}

/* Returns true if this bracket opens template arguments, and is not a part of "operator<". */
static bool opens(const char *name, const char *s)
{
	return *s == '<' && s > name && s[1] && s[1] != '<' && s[1] != '=' && s[-1] != '<' &&
	       !(s - name >= 8 && !memcmp(s - 8, "operator", 8));
}

static const char *closing(const char *s)
{
	unsigned depth = 0;

	for (; *s; s++) {
		if (*s == '<')
			depth++;
		else if (*s == '>' && s[-1] != '-' && !--depth)
			return s;
	}
	return NULL;
}

/* Changes "a<b<c>, d>::e" to "a<~>::e". */
static void leave_out_arguments(const char *name, char *buf)
{
	size_t n = 0;

	for (const char *s = name; *s && n + 4 < TEXT_ROOM; s++) {
		const char *end = opens(name, s) ? closing(s) : NULL;

		buf[n++] = *s;
		if (!end || end - s < 3)
			continue;
		buf[n++] = '~';
		s = end - 1;
	}
	buf[n] = '\0';
}

/* Returns the position of the last component of a name; brackets are skipped. */
static const char *last_part(const char *name)
{
	const char *part = name;
	unsigned depth = 0;

	for (const char *s = name; *s; s++) {
		if (strchr("(<{[", *s))
			depth++;
		else if (strchr(")>}]", *s) && depth)
			depth--;
		else if (!depth && s[0] == ':' && s[1] == ':')
			part = s + 2;
	}
	return part;
}

const char *wrap_name(const char *name, unsigned width, char *buf)
{
	char clean[TEXT_ROOM], *s = buf;
	unsigned columns;

	text_clean(name, clean);
	if (columns_of(clean) <= width)
		return strcpy(buf, clean);
	leave_out_arguments(clean, buf);
	columns = columns_of(buf);
	if (columns <= width || width < 2)
		return buf;
	/* A name without scopes is cut off at its end. */
	if (last_part(buf) == buf) {
		for (unsigned n = 0; *s && (n < width - 1 || !is_first(*s)); s++)
			n += is_first(*s);
		strcpy(s, "~");
		return buf;
	}
	while (*s && (columns > width - 1 || !is_first(*s)))
		columns -= is_first(*s++);
	memmove(buf + 1, s, strlen(s) + 1);
	*buf = '~';
	return buf;
}

/* Returns the position of the numbers in "name 4711", "name (pid 42)" and "name 4711 (pid 42)". */
static const char *number_part(const char *text)
{
	const char *part = NULL, *next = text, *tid;

	if (!*text || text[strlen(text) - 1] != ')')
		return strrchr(text, ' ');
	while ((next = strstr(next, " (pid ")))
		part = next++;
	for (tid = part; tid && tid > text && tid[-1] >= '0' && tid[-1] <= '9'; tid--)
		;
	return tid && tid > text && tid < part && tid[-1] == ' ' ? tid - 1 : part;
}

const char *wrap_numbered(const char *text, unsigned width, char *buf)
{
	char clean[TEXT_ROOM], *s = buf;
	const char *number;
	unsigned room;

	text_clean(text, clean);
	strcpy(buf, clean);
	number = number_part(clean);
	if (columns_of(clean) <= width || !number || strlen(number) + 2 > width)
		return buf;
	room = width - strlen(number) - 1;
	for (unsigned n = 0; *s && (n < room || !is_first(*s)); s++)
		n += is_first(*s);
	snprintf(s, TEXT_ROOM - (s - buf), "~%s", number);
	return buf;
}

void wrap_place(const struct symbol *func, const char *file, unsigned line, const char *before,
		unsigned width, char *buf)
{
	char name[TEXT_ROOM], fit[TEXT_ROOM], place[TEXT_ROOM];
	unsigned used = strlen(before);

	text_function(func, name);
	text_place(file, line, place);
	used += *place ? 1 + strlen(place) : 0;
	wrap_name(name, width > used + WRAP_NAME_MIN ? width - used : WRAP_NAME_MIN, fit);
	snprintf(buf, TEXT_ROOM, "%s%.250s%s%.240s", before, fit, *place ? " " : "", place);
}
