// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes requests, and rows of them; see request-source.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/array.h"
#include "base/sort.h"
#include "base/minmax.h"
#include "cli/error.h"
#include "facts/ticks.h"
#include "request-private.h"
#include "trace/writer.h"

#define NAMES_MAX	REQUEST_NAMES_MAX
#define ROWS_AT_ONCE	4096

struct output {
	struct writer *w;
	struct ldb_row_req rows[ROWS_AT_ONCE];
	struct ldb_row_reqname names[ROWS_AT_ONCE];
	size_t nr, nr_names;
};

static int flush(struct output *o)
{
	int ret = writer_add_reqs(o->w, o->rows, o->nr);

	if (!ret)
		ret = writer_add_reqnames(o->w, o->names, o->nr_names);
	o->nr = o->nr_names = 0;
	return ret;
}

static void put(struct output *o, unsigned op, const struct made_request *r, uint64_t id, int64_t tick, uint64_t site)
{
	o->rows[o->nr++] = (struct ldb_row_req){ .op = op, .tid = r->tid, .tick = tick, .id = id, .site = site };
}

static int put_start(struct output *o, const struct made_request *r, uint64_t id)
{
	put(o, LDB_REQ_OP_START, r, id, r->start, r->site);
	if (r->resolution)
		put(o, LDB_REQ_OP_INEXACT, r, id, r->start, r->resolution);
	o->names[o->nr_names++] = (struct ldb_row_reqname){ .tick = r->start, .id = id, .name = r->class };
	return o->nr + 2 > ROWS_AT_ONCE ? flush(o) : 0;
}

static int put_end(struct output *o, const struct made_request *r, uint64_t id)
{
	if (r->is_cut)
		o->rows[o->nr++] = (struct ldb_row_req){ .op = LDB_REQ_OP_CUT, .tick = r->end, .id = id, .queue = id };
	else if (!r->is_open)
		put(o, LDB_REQ_OP_END, r, id, r->end, r->site);
	return o->nr + 2 > ROWS_AT_ONCE ? flush(o) : 0;
}

struct ending {
	int64_t end;
	size_t nr;		/* the number of the request */
};

COMPARE(by_end, struct ending, UP(end) UP(nr))
COMPARE(by_start, struct made_request, UP(start) UP(thread) UP(tid) UP(end))

/*
 * Writes starts and ends in order of time.  At the same time, the end of an earlier request comes
 * before a start.
 */
static int put_all(struct output *o, const struct made_requests *made)
{
	struct ending *endings = calloc(made->nr + 1, sizeof(*endings));
	size_t begun = 0, ended = 0;
	int ret = endings ? 0 : -ENOMEM;

	for (size_t i = 0; i < made->nr && !ret; i++)
		endings[i] = (struct ending){ made->at[i].end, i };
	if (!ret)
		sort_by(endings, made->nr, by_end);
	while (ended < made->nr && !ret) {
		const struct ending *e = &endings[ended];

		if (e->nr >= begun || (begun < made->nr && made->at[begun].start < e->end)) {
			ret = put_start(o, &made->at[begun], made->at[begun].id);
			begun++;
		} else {
			ret = put_end(o, &made->at[e->nr], made->at[e->nr].id);
			ended++;
		}
	}
	free(endings);
	return ret ? ret : flush(o);
}

static int write_rows(const struct made_requests *made, int fd, char *err, size_t err_size)
{
	struct output *o = calloc(1, sizeof(*o));
	int ret = 0, copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (o && copy >= 0)
		o->w = writer_open_fd(copy, reader_header(made->m->reader), err, err_size);
	if (!o || !o->w) {
		free(o);
		return -ENOMEM;
	}
	ret = put_all(o, made);
	ret = writer_close(o->w) || ret ? -ENOMEM : 0;
	free(o);
	return ret;
}

/* Replaces the requests of the trace.  The new rows are a trace of their own, in memory. */
static int replace_requests(const struct made_requests *made)
{
	int fd = memfd_create("ldb-requests", MFD_CLOEXEC), ret;
	struct reader *rows = NULL;
	char path[64], err[256];

	if (fd < 0)
		return -errno;
	ret = write_rows(made, fd, err, sizeof(err));
	if (!ret) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		rows = reader_open(path, err, sizeof(err));
		ret = rows ? 0 : -ENOMEM;
	}
	close(fd);
	if (rows)
		reader_replace_requests(made->m->reader, rows);
	return ret;
}

static void summarise(struct made_requests *made)
{
	struct request_source *s = made->source;
	struct reader *r = made->m->reader;

	s->nr = made->nr;
	for (size_t i = 0; i < made->nr; i++)
		s->resolution_max_ns = max(s->resolution_max_ns, ticks_ns(r, made->at[i].resolution));
	if (made->nr)
		s->resolution_ns = nth_greatest(made->nr, made->nr / 2, i, ticks_ns(r, made->at[i].resolution));
}

/*
 * Sets the ids of the requests; if calls have no ids as arguments, they are numbers in order of
 * start.
 */
static int number(struct made_requests *made)
{
	int ret = made->source->is_loop ? 0 : request_ids(made);

	for (size_t i = 0; i < made->nr && !made->source->has_ids; i++)
		made->at[i].id = i + 1;
	return ret;
}

static int make(struct made_requests *made, const char *const *names, size_t nr)
{
	int ret = made->source->is_loop ? request_turns(made) : request_calls(made, names, nr);

	if (ret)
		return ret;
	sort_by(made->at, made->nr, by_start);
	summarise(made);
	ret = number(made);
	return ret ? ret : replace_requests(made);
}

struct wanted {
	char *names[NAMES_MAX];
	size_t nr;
	bool has_loop, has_tags;
};

static bool want(struct wanted *w, const char *name, char *err, size_t err_size)
{
	bool is_loop = !strcmp(name, REQUEST_LOOP), is_tags = !strcmp(name, REQUEST_TAGS) || !strcmp(name, REQUEST_SOCKET);

	w->has_loop |= is_loop;
	w->has_tags |= is_tags;
	if (w->nr == NAMES_MAX) {
		snprintf(err, err_size, "--request: at most %d", NAMES_MAX);
		return false;
	}
	w->names[w->nr] = is_loop ? strdup(name) : request_bare_name(name);
	if (!w->names[w->nr++]) {
		snprintf(err, err_size, "out of memory");
		return false;
	}
	if ((w->has_loop || w->has_tags) && w->nr > 1) {
		snprintf(err, err_size, "--request: give functions, or %s, or %s", REQUEST_LOOP, REQUEST_TAGS);
		return false;
	}
	return true;
}

/* Adds the names in the trace, which are separated by newlines. */
static bool want_recorded(struct wanted *w, const char *meta, char *err, size_t err_size)
{
	char *copy = strdup(meta), *rest = copy, *name;
	bool ok = copy != NULL;

	while (ok && (name = strsep(&rest, "\n")))
		if (*name)
			ok = want(w, name, err, err_size);
	free(copy);
	return ok;
}

static const char *names_text(struct model *m, const struct wanted *w)
{
	char text[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < w->nr && n < sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s", i ? ", " : "", w->names[i]);
	return model_keep_string(m, text);
}

static bool open_wanted(struct model *m, const struct wanted *w, char *err, size_t err_size)
{
	struct made_requests made = { .m = m };
	int ret;

	if (w->has_tags || !w->nr)
		return true;
	if (w->has_loop && !m->has_calls && !reader_meta(m->reader, "loop_turns")) {
		snprintf(err, err_size, "this trace has no system calls, so turns of event loops are not known: record with --request=loop, or kernel events");
		return false;
	}
	made.source = m->requests_of = calloc(1, sizeof(*m->requests_of));
	if (!made.source) {
		snprintf(err, err_size, "out of memory");
		return false;
	}
	made.source->what = names_text(m, w);
	made.source->is_loop = w->has_loop;
	ret = make(&made, (const char *const *)w->names, w->nr);
	free(made.at);
	if (ret)
		snprintf(err, err_size, "cannot make requests of %s: %s", made.source->what, strerror(-ret));
	return !ret;
}

static void say_none(const struct request_source *s, char *err, size_t err_size)
{
	if (s->is_loop)
		snprintf(err, err_size, "no thread waited in epoll_wait(), poll() or select() here: there are no turns of event loops");
	else if (s->nr_begun)
		snprintf(err, err_size, "%s: no call began in this recording, %" PRIu64 " had begun before", s->what, s->nr_begun);
	else
		snprintf(err, err_size, "no call of a function that matches %s was observed: ldb-report lists the functions"
			 " (an inlined one is part of its caller)", s->what);
}

bool request_source_say_none(const struct model *m, char *text, size_t size)
{
	if (!m->requests_of)
		return false;
	say_none(m->requests_of, text, size);
	return true;
}

/*
 * Uses the requests that the user asked for when the trace was recorded.  If these cannot be made,
 * the tagged requests are used.
 */
static void open_recorded(struct model *m, struct wanted *w, const char *meta)
{
	char why[512] = "";

	if (want_recorded(w, meta, why, sizeof(why)) && open_wanted(m, w, why, sizeof(why)))
		return;
	free(m->requests_of);
	m->requests_of = NULL;
	cli_warn("the program's tags define the requests, because the --request of the recording cannot be used: %s", *why ? why : "out of memory");
}

bool request_source_open(struct model *m, const char *const *names, size_t nr, char *err, size_t err_size)
{
	const char *recorded = reader_meta(m->reader, "request");
	struct wanted w = { 0 };
	bool ok = true;

	for (size_t i = 0; i < nr && ok; i++)
		ok = want(&w, names[i], err, err_size);
	if (!nr && recorded)
		open_recorded(m, &w, recorded);
	else if (ok)
		ok = open_wanted(m, &w, err, err_size);
	if (ok && nr && m->requests_of && !m->requests_of->nr && !reader_is_damaged(m->reader)) {
		say_none(m->requests_of, err, err_size);
		ok = false;
	}
	for (size_t i = 0; i < w.nr; i++)
		free(w.names[i]);
	return ok;
}
