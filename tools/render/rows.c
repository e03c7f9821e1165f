// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of the tables for people; see rows.h. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "render/rows.h"
#include "render/segment.h"
#include "render/text.h"
#include "render/wrap.h"

#define WIDE		130	/* columns from which a row fits on one line */
#define THREADS_FROM	100	/* and the threads of a request */
#define NEXT_INDENT	8	/* of what does not fit */
#define MORE_ROOM	5	/* " +123" */
#define NAME_MIN	12	/* columns of a name, however long the rest is */

static void put_ns(const struct render *r, int64_t ns)
{
	char buf[UNITS_ROOM];

	fprintf(r->out, " %7s", text_ns(ns, buf));
}

/* "name() file.cc:88" in at most width columns: of the name, what is left */
static void place_text(const struct symbol *func, const char *file, unsigned line, const char *before,
		       unsigned width, char *buf)
{
	char name[TEXT_ROOM], fit[TEXT_ROOM], place[TEXT_ROOM];
	unsigned used = strlen(before);

	text_function(func, name);
	text_place(file, line, place);
	used += *place ? 1 + strlen(place) : 0;
	wrap_name(name, width > used + NAME_MIN ? width - used : NAME_MIN, fit);
	snprintf(buf, TEXT_ROOM, "%s%.250s%s%.240s", before, fit, *place ? " " : "", place);
}

/* "<- main() figure1.cc:88" */
static void site_text(const struct stats_entry *e, enum stats_by by, unsigned width, char *buf)
{
	*buf = '\0';
	if (by == STATS_BY_MODULE)
		return;
	if (by == STATS_BY_FUNCTION || !e->site)
		text_place(e->func->func_file, e->func->func_line, buf);
	else
		place_text(e->site, e->site->file, e->site->line, "<- ", width, buf);
}

static bool is_wide(const struct render *r)
{
	return r->width >= WIDE;
}

void rows_function_head(const struct render *r, enum stats_by by)
{
	text_styled(r, TEXT_BOLD, " %6s %7s %7s %7s %7s %7s", "count", "p50", "p99", "p99.9",
		    "p99.99", "max");
	if (is_wide(r))
		text_styled(r, TEXT_BOLD, " %7s %7s", "mean", "total");
	text_styled(r, TEXT_BOLD, " %7s %s\n", "+-", by == STATS_BY_SITE ? "function <- call site" :
		    by == STATS_BY_FUNCTION ? "function, definition" : "module");
}

static unsigned put_function_numbers(const struct render *r, const struct stats_entry *e)
{
	unsigned used = 7 + 6 * 8 + (is_wide(r) ? 16 : 0) + 1;

	text_count(r, e->count);
	if (!e->count) {
		fprintf(r->out, " %*s ", used - 7 - 2, "still running, no duration known");
		return used;
	}
	put_ns(r, e->p50_ns);
	put_ns(r, e->p99_ns);
	put_ns(r, e->p999_ns);
	put_ns(r, e->p9999_ns);
	put_ns(r, e->max_ns);
	if (is_wide(r)) {
		put_ns(r, e->mean_ns);
		put_ns(r, e->total_ns);
	}
	put_ns(r, e->resolution_ns);
	fputc(' ', r->out);
	return used;
}

static void put_on_next_line(const struct render *r, const char *text, enum text_style style)
{
	fprintf(r->out, "\n%*s", NEXT_INDENT, "");
	text_style(r, style);
	fputs(text, r->out);
	text_style(r, TEXT_PLAIN);
}

/* One behind the other: half each, and what one does not need goes to the other. */
static void put_names_wide(const struct render *r, const struct stats_entry *e, enum stats_by by,
			   const char *name, unsigned left)
{
	char fit[TEXT_ROOM], site[TEXT_ROOM];
	unsigned len = strlen(name), half = left / 2;

	site_text(e, by, TEXT_ROOM, site);
	if (len + 1 + strlen(site) > left)
		site_text(e, by, left - 1 - (len < half ? len : half), site);
	wrap_name(name, *site ? left - 1 - strlen(site) : left, fit);
	text_style(r, TEXT_BOLD);
	fputs(fit, r->out);
	text_style(r, TEXT_PLAIN);
	if (!*site)
		return;
	fputc(' ', r->out);
	text_style(r, TEXT_DIM);
	fputs(site, r->out);
	text_style(r, TEXT_PLAIN);
}

/* A name that is too long for the rest of the line has the next one to itself. */
static void put_names_narrow(const struct render *r, const struct stats_entry *e, enum stats_by by,
			     const char *name, unsigned left)
{
	char fit[TEXT_ROOM], site[TEXT_ROOM];

	wrap_name(name, r->width - NEXT_INDENT, fit);
	if (strlen(name) <= left) {
		text_style(r, TEXT_BOLD);
		fputs(name, r->out);
		text_style(r, TEXT_PLAIN);
	} else {
		put_on_next_line(r, fit, TEXT_BOLD);
	}
	site_text(e, by, r->width - NEXT_INDENT, site);
	if (*site)
		put_on_next_line(r, site, TEXT_DIM);
}

void rows_function(const struct render *r, const struct stats_entry *e, enum stats_by by)
{
	unsigned left = r->width - put_function_numbers(r, e);
	char name[TEXT_ROOM];

	if (by == STATS_BY_MODULE)
		text_clean(*e->func->module ? e->func->module : "?", name);
	else
		text_function(e->func, name);
	if (is_wide(r))
		put_names_wide(r, e, by, name, left);
	else
		put_names_narrow(r, e, by, name, left);
	if (!e->is_exact && r->is_verbose)
		put_on_next_line(r, "(percentiles +-0.4 %)", TEXT_PLAIN);
	fputc('\n', r->out);
}

void rows_times_head(const struct render *r, const char *what)
{
	text_styled(r, TEXT_BOLD, "  %-5s %6s %7s %7s %7s %7s %7s %s\n", "", "count", "p50", "p99",
		    "max", "total", "+-", what);
}

void rows_times(const struct render *r, const char *what, const struct lock_times *t,
		const char *name, const struct symbol *where)
{
	unsigned used = 2 + 5 + 7 + 5 * 8 + 1, left = r->width - used;
	char text[TEXT_ROOM], place[TEXT_ROOM] = "";

	fprintf(r->out, "  %-5s", what);
	text_count(r, t->count);
	put_ns(r, t->p50_ns);
	put_ns(r, t->p99_ns);
	put_ns(r, t->max_ns);
	put_ns(r, t->total_ns);
	put_ns(r, t->resolution_ns);
	fputc(' ', r->out);
	if (where) {
		text_function(where, text);
		text_place(where->file, where->line, place);
		/* The name, the place, or both go to the next line rather than be cut. */
		if (!name && strlen(text) + 1 + strlen(place) > left) {
			place_text(where, where->file, where->line, "", r->width - NEXT_INDENT, text);
			put_on_next_line(r, text, TEXT_PLAIN);
			fputc('\n', r->out);
			return;
		}
	}
	wrap_name(name ? name : where ? text : "call site not known",
		  *place && strlen(place) + 1 + NAME_MIN < left ? left - strlen(place) - 1 : left, text);
	fputs(text, r->out);
	if (*place && strlen(text) + 1 + strlen(place) <= left)
		fprintf(r->out, " %s", place);
	else if (*place)
		put_on_next_line(r, place, TEXT_PLAIN);
	fputc('\n', r->out);
}

void rows_class_head(const struct render *r)
{
	text_styled(r, TEXT_BOLD, " %6s %7s %7s %7s %7s %7s %7s class\n", "count", "p50", "p99",
		    "p99.9", "p99.99", "max", "mean");
}

void rows_class(const struct render *r, const struct request_class *c, const char *name)
{
	char text[160] = "", more[64] = "";
	unsigned left = r->width - (7 + 6 * 8 + 1), need;

	text_count(r, c->count);
	put_ns(r, c->p50_ns);
	put_ns(r, c->p99_ns);
	put_ns(r, c->p999_ns);
	put_ns(r, c->p9999_ns);
	put_ns(r, c->max_ns);
	put_ns(r, c->mean_ns);
	fputc(' ', r->out);
	if (c->incomplete)
		snprintf(text, sizeof(text), " (%" PRIu64 " not ended)", c->incomplete);
	if (c->lost_handoffs)
		snprintf(more, sizeof(more), " (%" PRIu64 " lost in a queue)", c->lost_handoffs);
	strcat(text, more);
	need = strlen(text);
	if (need && strlen(name) + need > left) {
		text_cell(r, name, left, false);
		put_on_next_line(r, text + 1, TEXT_PLAIN);
	} else {
		text_cell(r, name, left - need, false);
		fputs(text, r->out);
	}
	fputc('\n', r->out);
}

void rows_request_head(const struct render *r)
{
	text_styled(r, TEXT_BOLD, " %12s %10s %7s %7s %7s  %7s %s\n", "slowest", "start", "latency",
		    "locks", "queues", "most in", "function (itself)");
}

/* "worker 4711, main 4710 +2  GET": as many as there is room for. */
static void threads_text(const struct model *m, const struct timeline *t, unsigned width, char *buf)
{
	char name[TEXT_ROOM], fit[TEXT_ROOM], more[32] = "";
	size_t n = 0, i;

	*buf = '\0';
	for (i = 0; i < t->nr_tids; i++) {
		const struct thread *thread = model_thread(m, t->tids[i],
							   reader_tick(m->reader, t->start_ns));
		const char *text = text_thread(t->tids[i], thread, name);

		if (i && n + 2 + strlen(text) + MORE_ROOM > width)
			break;
		n += snprintf(buf + n, TEXT_ROOM - n, "%s%.100s", i ? ", " : "",
			      i ? text : wrap_numbered(text, width - MORE_ROOM, fit));
	}
	if (i < t->nr_tids)
		snprintf(more, sizeof(more), " +%zu", t->nr_tids - i);
	n += snprintf(buf + n, TEXT_ROOM - n, "%s", more);
	if (*t->class && n + 4 < width)
		snprintf(buf + n, TEXT_ROOM - n, "  %.200s", text_clean(t->class, name));
}

void rows_request(const struct render *r, const struct model *m, const struct timeline *t)
{
	const struct timeline_cause *top = timeline_top_function(t);
	unsigned left = r->width - (13 + 11 + 3 * 8 + 1 + 8 + 1);
	unsigned room = r->width < THREADS_FROM ? left : left * 3 / 5;
	char name[TEXT_ROOM], fit[TEXT_ROOM], threads[TEXT_ROOM], a[UNITS_ROOM];

	fprintf(r->out, " %12" PRIu64 " %10s", t->req, units_duration(t->start_ns, a));
	put_ns(r, t->latency_ns);
	put_ns(r, t->lock_wait_ns);
	put_ns(r, t->queue_ns);
	fputc(' ', r->out);
	if (top)
		put_ns(r, top->ns);
	else
		fprintf(r->out, " %7s", "-");
	fputc(' ', r->out);
	wrap_name(top ? text_function(top->func, name) : "-", room, fit);
	text_cell(r, fit, room, r->width >= THREADS_FROM);
	if (r->width >= THREADS_FROM) {
		threads_text(m, t, left - room - 1, threads);
		fputc(' ', r->out);
		text_cell(r, threads, left - room - 1, false);
	}
	fputc('\n', r->out);
}
