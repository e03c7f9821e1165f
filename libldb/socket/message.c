// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds messages in bytes; see message.h.
 *
 * Messages of all three protocols consist of lines, and of counted bytes between them.  If all
 * bytes of a line are in one buffer, it is parsed in place; other lines are copied first.  The
 * functions are async-signal-safe.
 */
#include <string.h>
#include "message.h"

enum {
	AT_START,		/* the first line of a message */
	AT_HEADER,		/* HTTP: a header's line */
	AT_BODY,		/* counted bytes, the last of the message */
	AT_CHUNK,		/* HTTP: the line with a chunk's size */
	AT_CHUNK_DATA,
	AT_TRAILER,		/* HTTP: lines after the last chunk */
	AT_ITEM,		/* RESP: the line of an item; memcached: a line of an answer */
	AT_NAME,		/* RESP: the bytes of the first item, the command's name */
	/* RESP, memcached: counted bytes, after which the message continues */
	AT_VALUE,
	AT_CLOSE,		/* HTTP: the body ends with the connection */
};

#define LENGTH_MAX	(1ULL << 50)
#define RESP_ITEMS_MAX	(1U << 30)

struct text {
	const char *at;
	size_t len;
};

struct feeding {
	struct message *m;
	const struct message_events *e;
	void *arg;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static bool begins_with(struct text t, const char *with)
{
	size_t n = strlen(with);

	return t.len >= n && !memcmp(t.at, with, n);
}

/* Removes the next word from the text, and returns it; its length is 0 if there is none. */
static struct text next_word(struct text *t)
{
	struct text w;

	while (t->len && *t->at == ' ')
		t->at++, t->len--;
	w = (struct text){ t->at, 0 };
	while (w.len < t->len && w.at[w.len] != ' ')
		w.len++;
	t->at += w.len;
	t->len -= w.len;
	return w;
}

/* Returns false if the text is not a number, or if the number is too large. */
static bool number(struct text t, uint64_t *n)
{
	*n = 0;
	while (t.len && *t.at == ' ')
		t.at++, t.len--;
	if (!t.len || !is_digit(*t.at))
		return false;
	for (; t.len && is_digit(*t.at); t.at++, t.len--) {
		*n = *n * 10 + (*t.at - '0');
		if (*n > LENGTH_MAX)
			return false;
	}
	return true;
}

static int hex_digit(char c)
{
	c = lower(c);
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_number(struct text t, uint64_t *n)
{
	*n = 0;
	if (!t.len || hex_digit(*t.at) < 0)
		return false;
	for (; t.len && hex_digit(*t.at) >= 0; t.at++, t.len--) {
		*n = *n << 4 | hex_digit(*t.at);
		if (*n > LENGTH_MAX)
			return false;
	}
	return true;
}

static void give_up(struct feeding *f)
{
	f->m->kind = MESSAGE_OTHER;
}

static void begin(struct feeding *f)
{
	struct message *m = f->m;

	m->is_open = true;
	m->is_quiet = m->is_chunked = m->has_length = m->is_push = false;
	m->length = 0;
	if (f->e->begins)
		f->e->begins(f->arg);
}

static void end(struct feeding *f)
{
	struct message *m = f->m;
	bool counts = m->is_open && !m->is_push;

	m->state = AT_START;
	m->is_open = false;
	m->nr_line = 0;
	if (counts && f->e->ends)
		f->e->ends(f->arg);
}

static void skip(struct feeding *f, uint64_t bytes, uint8_t then)
{
	f->m->skip = bytes;
	f->m->state = then;
}

static void say_class(struct feeding *f, struct text t)
{
	if (f->e->class_is)
		f->e->class_is(f->arg, t.at, t.len);
}

/* HTTP */

static bool http_is_method(struct text t)
{
	if (t.len < 3 || t.len > 20)
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (t.at[i] < 'A' || t.at[i] > 'Z')
			return false;
	return !(t.len == 3 && !memcmp(t.at, "PRI", 3));	/* the method of HTTP/2's preface */
}

/* Returns true if this is the first line of a request, or, if !is_whole, may become one. */
static bool http_is_request(struct text line, bool is_whole)
{
	struct text rest = line, method = next_word(&rest);

	if (!http_is_method(method) || !rest.len)
		return false;
	rest.at++, rest.len--;
	if (rest.len && *rest.at != '/' && *rest.at != '*' && lower(*rest.at) != 'h' && method.len != 7)
		return false;
	if (!is_whole)
		return true;
	next_word(&rest);
	return begins_with(next_word(&rest), "HTTP/1.");
}

static void http_request(struct feeding *f, struct text line)
{
	struct text rest = line, method = next_word(&rest), path;
	size_t len = 0;

	if (!http_is_request(line, line.len < MESSAGE_LINE_MAX)) {
		give_up(f);
		return;
	}
	say_class(f, method);
	path = next_word(&rest);
	while (len < path.len && path.at[len] != '?')
		len++;
	if (f->e->path_is)
		f->e->path_is(f->arg, path.at, len);
	f->m->state = AT_HEADER;
}

static void http_status(struct feeding *f, struct text line)
{
	struct text rest = line, version = next_word(&rest);
	uint64_t status;

	if (!begins_with(version, "HTTP/1.") || !number(next_word(&rest), &status)) {
		give_up(f);
		return;
	}
	f->m->left = status;
	f->m->state = AT_HEADER;
}

/* If the line is a header with that name, which must end with a colon, stores its value. */
static bool http_header(struct text line, const char *name, struct text *value)
{
	size_t n = strlen(name);

	if (line.len < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (lower(line.at[i]) != name[i])
			return false;
	*value = (struct text){ line.at + n, line.len - n };
	while (value->len && *value->at == ' ')
		value->at++, value->len--;
	return true;
}

static bool http_has_word(struct text value, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= value.len; i++) {
		size_t k = 0;

		while (k < n && lower(value.at[i + k]) == word[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

static bool hex_bytes(const char *text, unsigned char *bytes, size_t nr)
{
	unsigned char any = 0;

	for (size_t i = 0; i < nr; i++) {
		int hi = hex_digit(text[2 * i]), lo = hex_digit(text[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return false;
		bytes[i] = hi << 4 | lo;
		any |= bytes[i];
	}
	return any;
}

/* Reads a W3C trace context: 00-TRACE-SPAN-FLAGS. */
static void http_trace(struct feeding *f, struct text value)
{
	unsigned char trace[16], span[8];

	if (f->e->trace_is && value.len >= 55 && value.at[2] == '-' && value.at[35] == '-' &&
	    hex_bytes(value.at + 3, trace, 16) && hex_bytes(value.at + 36, span, 8))
		f->e->trace_is(f->arg, trace, span);
}

/* Decides what follows when the headers are complete. */
static void http_body(struct feeding *f)
{
	struct message *m = f->m;
	unsigned status = m->is_answer ? m->left : 0;

	if (m->is_answer && status == 101) {
		end(f);
		give_up(f);	/* the protocol changes from here on */
	} else if (m->is_answer && status / 100 == 1) {
		m->state = AT_START;	/* this was an interim answer, and the final one follows */
		m->is_open = false;
	} else if (m->is_answer && (m->has_no_body || status == 204 || status == 304)) {
		end(f);
	} else if (m->is_chunked) {
		m->state = AT_CHUNK;
	} else if (m->has_length && m->length) {
		skip(f, m->length, AT_BODY);
	} else if (m->has_length || !m->is_answer) {
		end(f);
	} else {
		skip(f, UINT64_MAX, AT_CLOSE);
	}
}

static void http_line(struct feeding *f, struct text line)
{
	struct message *m = f->m;
	struct text value;
	uint64_t n;

	switch (m->state) {
	case AT_START:
		m->is_answer ? http_status(f, line) : http_request(f, line);
		break;
	case AT_HEADER:
		if (!line.len)
			http_body(f);
		else if (http_header(line, "content-length:", &value) && number(value, &n))
			m->has_length = true, m->length = n;
		else if (http_header(line, "transfer-encoding:", &value))
			m->is_chunked |= http_has_word(value, "chunked");
		else if (!m->is_answer && http_header(line, "traceparent:", &value))
			http_trace(f, value);
		break;
	case AT_CHUNK:
		if (!hex_number(line, &n))
			give_up(f);
		else if (n)
			skip(f, n + 2, AT_CHUNK_DATA);
		else
			m->state = AT_TRAILER;
		break;
	case AT_TRAILER:
		if (!line.len)
			end(f);
		break;
	}
}

/* RESP */

/*
 * Processes the line of an item.  If it announces several items, these are still to come; if it
 * announces bytes, they follow the line.
 */
static void resp_item(struct feeding *f, struct text line)
{
	struct message *m = f->m;
	struct text rest = { line.at + 1, line.len - !!line.len };
	bool is_name = !m->is_answer && m->state == AT_ITEM && m->length == 1;
	bool has_number = number(rest, &(uint64_t){ 0 });
	uint64_t n = 0;

	if (!line.len) {
		give_up(f);
		return;
	}
	number(rest, &n);
	m->length = 0;
	switch (*line.at) {
	case '*': case '~': case '>': case '%': case '|':
		if (n > RESP_ITEMS_MAX || m->left > RESP_ITEMS_MAX) {
			give_up(f);
			return;
		}
		/* An item that only describes the next one is not counted itself. */
		m->left += n * (*line.at == '%' || *line.at == '|' ? 2 : 1) - (*line.at != '|');
		break;
	case '$': case '=': case '!':
		m->left--;
		if (has_number) {
			skip(f, n + 2, is_name ? AT_NAME : AT_VALUE);
			return;
		}
		break;
	case '+': case '-': case ':': case '_': case '#': case ',': case '(':
		m->left--;
		break;
	default:
		give_up(f);
		return;
	}
	if (m->left)
		m->state = AT_ITEM;
	else
		end(f);
}

static void resp_line(struct feeding *f, struct text line)
{
	struct message *m = f->m;
	struct text rest;
	uint64_t n = 0;

	if (m->state == AT_ITEM) {
		resp_item(f, line);
	} else if (m->is_answer) {
		m->left = 1;
		m->is_push = *line.at == '>';
		resp_item(f, line);
	} else if (*line.at == '*') {
		rest = (struct text){ line.at + 1, line.len - 1 };
		if (!number(rest, &n) || !n || n > RESP_ITEMS_MAX) {
			m->is_quiet = true;	/* a command without items has no answer */
			end(f);
			return;
		}
		m->left = n;
		m->length = 1;			/* the name is next */
		m->state = AT_ITEM;
	} else {				/* an inline command, as people type it */
		rest = line;
		say_class(f, next_word(&rest));
		end(f);
	}
}

/* memcached's text protocol */

static const char *const memcached_words[] = {
	"get", "gets", "gat", "gats", "set", "add", "replace", "append", "prepend", "cas", "incr", "decr",
	"delete", "touch", "mg", "ms", "md", "ma", "mn", "me", "version", "stats", "verbosity", "flush_all",
	"lru_crawler", "slabs", "lru", "watch", "cache_memlimit", "quit", NULL
};

static bool memcached_is_word(struct text word)
{
	for (const char *const *w = memcached_words; *w; w++)
		if (strlen(*w) == word.len && !memcmp(*w, word.at, word.len))
			return true;
	return false;
}

static bool is_word(struct text a, const char *b)
{
	return a.len == strlen(b) && !memcmp(a.at, b, a.len);
}

/* Returns which word after the command is the number of bytes that follow; 0 if none follow. */
static unsigned memcached_length_at(struct text cmd)
{
	static const char *const stores[] = { "set", "add", "replace", "append", "prepend", "cas", NULL };

	for (const char *const *w = stores; *w; w++)
		if (is_word(cmd, *w))
			return 4;
	return is_word(cmd, "ms") ? 2 : 0;
}

static void memcached_request(struct feeding *f, struct text line)
{
	struct text rest = line, cmd = next_word(&rest), word;
	unsigned length_at = memcached_length_at(cmd);
	bool has_length = false, is_meta = cmd.len == 2 && cmd.at[0] == 'm';
	uint64_t n = 0, nr_words = 0;

	if (!memcached_is_word(cmd)) {
		give_up(f);
		return;
	}
	say_class(f, cmd);
	while ((word = next_word(&rest)).len) {
		if (++nr_words == length_at)
			has_length = number(word, &n);
		f->m->is_quiet |= is_word(word, "noreply") || (is_meta && nr_words > 1 && is_word(word, "q"));
	}
	f->m->is_quiet |= is_word(cmd, "quit");
	if (length_at && has_length)
		skip(f, n + 2, AT_BODY);
	else
		end(f);
}

static void memcached_answer(struct feeding *f, struct text line)
{
	struct text rest = line, cmd = next_word(&rest);
	uint64_t n = 0;

	f->m->state = AT_ITEM;
	if (is_word(cmd, "VALUE")) {
		next_word(&rest);
		next_word(&rest);
		if (number(next_word(&rest), &n))
			skip(f, n + 2, AT_VALUE);
		else
			give_up(f);
	} else if (is_word(cmd, "VA")) {
		if (number(next_word(&rest), &n))
			skip(f, n + 2, AT_BODY);
		else
			give_up(f);
	} else if (!is_word(cmd, "STAT")) {
		end(f);
	}
}

/* All protocols */

static enum message_kind kind_of(struct text t)
{
	const char *nl = memchr(t.at, '\n', t.len);
	struct text line = { t.at, nl ? (size_t)(nl - t.at) : t.len }, rest, word;

	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	if (line.len > 1 && *line.at == '*' && is_digit(line.at[1]))
		return MESSAGE_RESP;
	if (http_is_request(line, nl))
		return MESSAGE_HTTP;
	rest = line;
	word = next_word(&rest);
	return nl && memcached_is_word(word) ? MESSAGE_MEMCACHED : MESSAGE_OTHER;
}

static void on_line(struct feeding *f, struct text line)
{
	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	if (f->m->kind == MESSAGE_HTTP)
		http_line(f, line);
	else if (!line.len)
		give_up(f);
	else if (f->m->kind == MESSAGE_RESP)
		resp_line(f, line);
	else if (f->m->is_answer)
		memcached_answer(f, line);
	else
		memcached_request(f, line);
}

/* Continues after the counted bytes. */
static void on_skipped(struct feeding *f)
{
	struct message *m = f->m;

	switch (m->state) {
	case AT_BODY:
		end(f);
		break;
	case AT_CHUNK_DATA:
		m->state = AT_CHUNK;
		break;
	case AT_NAME:
		say_class(f, (struct text){ m->line, m->nr_line });
		m->nr_line = 0;
		/* fall through */
	case AT_VALUE:
		m->state = AT_ITEM;
		if (m->kind == MESSAGE_RESP && !m->left)
			end(f);
		break;
	}
}

static void retain(struct message *m, const char *bytes, size_t n)
{
	size_t room = MESSAGE_LINE_MAX - m->nr_line;

	if (n > room)
		n = room;
	memcpy(m->line + m->nr_line, bytes, n);
	m->nr_line += n;
}

/* Skips counted bytes; returns how many of the given bytes belong to them. */
static size_t skip_some(struct feeding *f, const char *bytes, uint64_t n)
{
	struct message *m = f->m;

	if (n > m->skip)
		n = m->skip;
	/* The last two bytes are the end of the line, and do not belong to the name. */
	if (m->state == AT_NAME && m->skip > 2 && bytes)
		retain(m, bytes, n < m->skip - 2 ? n : m->skip - 2);
	if (m->skip != UINT64_MAX)
		m->skip -= n;
	if (!m->skip)
		on_skipped(f);
	return n;
}

static size_t line_of(struct feeding *f, const char *bytes, size_t n)
{
	const char *nl = memchr(bytes, '\n', n);
	struct message *m = f->m;
	struct text line = { bytes, nl ? (size_t)(nl - bytes) : n };

	if (nl && !m->nr_line) {
		on_line(f, line);
		return line.len + 1;
	}
	retain(m, bytes, line.len);
	if (!nl)
		return n;
	/* The line is valid until another one is copied. */
	line = (struct text){ m->line, m->nr_line };
	m->nr_line = 0;
	on_line(f, line);
	return nl - bytes + 1;
}

void message_feed(struct message *m, const struct message_events *e, void *arg, const char *bytes,
		  size_t n)
{
	struct feeding f = { m, e, arg };
	size_t done;

	if (m->kind == MESSAGE_UNKNOWN && n && !m->is_answer)
		m->kind = kind_of((struct text){ bytes, n });
	for (; n && m->kind != MESSAGE_OTHER && m->kind != MESSAGE_UNKNOWN; bytes += done, n -= done, m->nr_fed += done) {
		if (m->skip) {
			done = skip_some(&f, bytes, n);
			continue;
		}
		if (!m->is_open && m->kind == MESSAGE_HTTP && (*bytes == '\r' || *bytes == '\n')) {
			done = 1;	/* an empty line between messages */
			continue;
		}
		if (!m->is_open)
			begin(&f);
		done = line_of(&f, bytes, n);
	}
}

void message_pass(struct message *m, const struct message_events *e, void *arg, uint64_t n)
{
	struct feeding f = { m, e, arg };

	m->nr_fed += n;
	if (n > m->skip)
		give_up(&f);
	else if (n)
		skip_some(&f, NULL, n);
}

void message_close(struct message *m, const struct message_events *e, void *arg)
{
	struct feeding f = { m, e, arg };

	if (m->kind == MESSAGE_HTTP && m->state == AT_CLOSE) {
		m->skip = 0;
		end(&f);
	}
}
