// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints queues, CPUs and blame as text; see pictures.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "cli/units.h"
#include "render/pictures.h"
#include "render/text.h"
#include "render/wrap.h"

#define QUEUES_SHOWN	10
#define EXTRAS_SHOWN	8	/* greatest number of rows; neighbouring values share a row */
#define CONTEXTS_SHOWN	8
#define BLAME_SHOWN	60	/* most frames that are shown; more if several have the same time */
#define SUMS_SHOWN	12
#define BLAME_PARTS	200	/* frames with less than 1/200 of the time are left out */
#define INDENT		2

/* Queues */

/*
 * Prints a row: for nr requests, between from and to more requests than in the reference were
 * ahead.
 */
static void put_extra(const struct render *r, int64_t from, int64_t to, size_t nr, size_t most)
{
	size_t room = r->width - 34, bar = most ? (nr * room + most - 1) / most : 0;
	char text[64];

	if (from == to)
		snprintf(text, sizeof(text), "+%" PRId64, from);
	else
		snprintf(text, sizeof(text), "+%" PRId64 " to +%" PRId64, from, to);
	fprintf(r->out, "  %16s %8zu  ", text, nr);
	for (size_t i = 0; i < bar; i++)
		fputc('#', r->out);
	fputc('\n', r->out);
}

static size_t extras_between(const struct queue_depth *d, int64_t from, int64_t to)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_extras; i++)
		if (d->extras[i].extra >= from && d->extras[i].extra <= to)
			nr += d->extras[i].nr;
	return nr;
}

static void put_extras(const struct render *r, const struct queue_depth *d)
{
	int64_t step = (d->depth.max - d->depth.min) / EXTRAS_SHOWN + 1;
	size_t most = 0;

	fprintf(r->out, "  %16s %8s\n", "more ahead", "requests");
	for (int64_t from = d->depth.min; from <= d->depth.max; from += step) {
		size_t nr = extras_between(d, from, from + step - 1);

		most = nr > most ? nr : most;
	}
	for (int64_t from = d->depth.min; from <= d->depth.max; from += step) {
		int64_t to = from + step - 1 < d->depth.max ? from + step - 1 : d->depth.max;

		put_extra(r, from, to, extras_between(d, from, to), most);
	}
}

static void put_queue(const struct render *r, const struct why *w, const struct queue_depth *d)
{
	const char *class = w->classes[d->class].name;
	char a[TEXT_ROOM], b[TEXT_ROOM], c[TEXT_ROOM], ns[UNITS_ROOM];
	const int64_t values[] = { d->box.min, d->box.q1, d->box.median, d->box.q3, d->box.max };
	static const char *const names[] = { "min", "q1", "median", "q3", "max" };

	text_style(r, TEXT_BOLD);
	fprintf(r->out, "\n%s%s%s", *class ? text_clean(class, a) : "requests",
		*d->behind ? " behind " : " behind others", text_clean(d->behind, b));
	text_style(r, TEXT_PLAIN);
	fprintf(r->out, "%s%s: %zu target%s, %" PRId64 " ahead in the reference\n",
		*d->where ? " in " : "", text_clean(d->where, c), d->depth.nr,
		d->depth.nr == 1 ? "" : "s", d->reference);
	put_extras(r, d);
	fputs("  waited more: ", r->out);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		fprintf(r->out, " %s %s%s", names[i], text_ns(values[i], ns), i < 4 ? " " : "\n");
}

void text_queues(const struct render *r, const void *picture)
{
	const struct render_picture *p = picture;
	const struct queues *q = p->of;
	const struct why *w = p->why;
	struct wrap wrap;
	const struct render *in = wrap_begin(&wrap, r);

	text_styled(in, TEXT_BOLD, "How many requests more than in the reference were ahead of %zu target%s\n",
		    w->nr_targets, w->nr_targets == 1 ? "" : "s");
	if (!q->nr)
		fputs("None: no target had more ahead of it than the median request.\n", in->out);
	for (size_t i = 0; i < q->nr && i < QUEUES_SHOWN; i++)
		put_queue(in, w, &q->at[i]);
	if (q->nr > QUEUES_SHOWN)
		fprintf(in->out, "%zu more: --json has all\n", q->nr - QUEUES_SHOWN);
	wrap_end(&wrap, INDENT);
}

/* CPUs */

static char context_mark(size_t i, const struct cpu_context *c)
{
	return c->kind == CONTEXT_IDLE ? '.' : i < CONTEXTS_SHOWN ? 'a' + (char)i : '*';
}

/*
 * Each part ends at the cell for the sum of all parts so far, so that rounding errors do not add
 * up.
 */
static void put_bar(const struct render *r, const struct cpu_bar *bar, int64_t lifetime_ns)
{
	size_t room = r->width - 12, done = 0;
	int64_t sum = 0;

	fprintf(r->out, "CPU %-4" PRIu32 " |", bar->cpu);
	for (size_t i = 0; i < bar->nr_contexts; i++) {
		size_t end;

		sum += bar->contexts[i].ns;
		end = (double)sum / lifetime_ns * room + 0.5;
		for (; done < end && done < room; done++)
			fputc(context_mark(i, &bar->contexts[i]), r->out);
	}
	for (; done < room; done++)
		fputc(' ', r->out);
	fputs("|\n", r->out);
}

static void put_context(const struct render *r, char mark, int64_t ns, int64_t all, const char *name,
			const char *note)
{
	char share[UNITS_ROOM], text[TEXT_ROOM], time[UNITS_ROOM];

	fprintf(r->out, "    %c %8s %8s  %s%s\n", mark, text_share(ns, all, share), text_ns(ns, time),
		text_clean(name, text), note);
}

static void put_contexts(const struct render *r, const struct cpu_bar *bar, int64_t lifetime_ns)
{
	int64_t rest = 0;

	for (size_t i = 0; i < bar->nr_contexts; i++) {
		const struct cpu_context *c = &bar->contexts[i];

		if (context_mark(i, c) == '*')
			rest += c->ns;
		else
			put_context(r, context_mark(i, c), c->ns, lifetime_ns, picture_context(c),
				    c->is_own ? " (the program)" : "");
	}
	if (rest)
		put_context(r, '*', rest, lifetime_ns, "others", "");
	if (bar->known_ns < lifetime_ns)
		put_context(r, ' ', lifetime_ns - bar->known_ns, lifetime_ns, "not known", "");
}

void text_cpus(const struct render *r, const void *picture)
{
	const struct render_picture *p = picture;
	const struct cpus *c = p->of;
	const struct why *w = p->why;
	char ns[UNITS_ROOM];
	struct wrap wrap;
	const struct render *in = wrap_begin(&wrap, r);

	text_styled(in, TEXT_BOLD, "Running tasks of all CPUs during %zu target%s, %s together\n",
		    w->nr_targets, w->nr_targets == 1 ? "" : "s", text_ns(c->lifetime_ns, ns));
	if (!c->has_events)
		fputs("Not known: there are no kernel events in this recording.\n", in->out);
	if (in != r)
		wrap_end(&wrap, INDENT);
	/* Bars are not wrapped, because wrapping may replace their blanks by line ends. */
	for (size_t i = 0; i < c->nr; i++) {
		put_bar(r, &c->at[i], c->lifetime_ns);
		in = wrap_begin(&wrap, r);
		put_contexts(in, &c->at[i], c->lifetime_ns);
		wrap_end(&wrap, 20);
	}
}

/* Blame */

static void put_frame(const struct render *r, const struct blametree *b,
		      const struct blametree_frame *f)
{
	char ns[UNITS_ROOM], share[UNITS_ROOM], text[TEXT_ROOM], name[TEXT_ROOM];
	unsigned indent = f->depth < r->width / 4 ? f->depth : r->width / 4;

	fprintf(r->out, "%8s %8s  %*s", text_ns(f->all_ns, ns),
		text_share(f->all_ns, b->at[0].all_ns, share), (int)indent, "");
	picture_frame(f, text);
	fprintf(r->out, "%s\n", wrap_name(f->depth ? text : "all", r->width - 19 - indent, name));
}

/*
 * Returns the least time of a frame that is shown.  A frame's callers have at least the frame's
 * time, so they are shown, too.
 */
static int64_t least_shown(const struct blametree *b)
{
	int64_t least = b->at[0].all_ns / BLAME_PARTS, nth = INT64_MIN;

	if (b->nr > BLAME_SHOWN)
		nth = nth_greatest(b->nr, BLAME_SHOWN - 1, i, b->at[i].all_ns);
	return nth > least ? nth : least;
}

/* Prints the first nr_shown sums, and the rest in one row, so that the shares add up to 100 %. */
static void put_sums(const struct render *r, const struct blametree *b, size_t nr_shown)
{
	char ns[UNITS_ROOM], share[UNITS_ROOM], text[TEXT_ROOM], name[TEXT_ROOM];
	int64_t rest = 0;

	text_styled(r, TEXT_BOLD, "%8s %8s %8s  %s\n", "lost", "share", "requests", "to");
	for (size_t i = 0; i < b->nr_sums; i++) {
		const struct blamed *s = &b->sums[i];

		if (i >= nr_shown) {
			rest += s->total_ns;
			continue;
		}
		fprintf(r->out, "%8s %8s %8zu  %s\n", text_ns(s->total_ns, ns),
			text_share(s->total_ns, b->at[0].all_ns, share), s->nr_requests,
			wrap_name(picture_blamed(s, text), r->width - 28, name));
	}
	if (rest)
		fprintf(r->out, "%8s %8s %8s  %zu others: --sums has all\n", text_ns(rest, ns),
			text_share(rest, b->at[0].all_ns, share), "", b->nr_sums - nr_shown);
}

static void put_sums_head(const struct render *r, const struct why *w)
{
	struct wrap wrap;
	const struct render *in = wrap_begin(&wrap, r);

	text_styled(in, TEXT_BOLD, "What cost %zu target%s the time\n", w->nr_targets,
		    w->nr_targets == 1 ? "" : "s");
	fputs("What is at the end of a chain of waits, summed up over all that waited for it, directly or "
	      "through others.\n", in->out);
	wrap_end(&wrap, INDENT);
}

void text_blamed(const struct render *r, const void *picture)
{
	const struct render_picture *p = picture;

	put_sums_head(r, p->why);
	put_sums(r, p->of, SIZE_MAX);
}

void text_blame(const struct render *r, const void *picture)
{
	const struct render_picture *p = picture;
	const struct blametree *b = p->of;
	const struct why *w = p->why;
	int64_t least = least_shown(b);
	size_t hidden = 0;
	const struct render *in;
	struct wrap wrap;

	put_sums_head(r, w);
	put_sums(r, b, SUMS_SHOWN);
	fputc('\n', r->out);
	in = wrap_begin(&wrap, r);
	text_styled(in, TEXT_BOLD, "Where the deviation of %zu target%s comes from\n", w->nr_targets,
		    w->nr_targets == 1 ? "" : "s");
	fputs("Class, path, what was waited for, its holder, what the holder did; --folded is for flame graphs.\n",
	      in->out);
	wrap_end(&wrap, INDENT);
	text_styled(r, TEXT_BOLD, "%8s %8s\n", "time", "share");
	for (size_t i = 0; i < b->nr; i++) {
		if (i && b->at[i].all_ns < least)
			hidden++;
		else
			put_frame(r, b, &b->at[i]);
	}
	if (hidden)
		fprintf(r->out, "%zu more frames: --json has all\n", hidden);
	if (b->nr_dropped)
		fprintf(r->out, "There are more than %d frames: the time of the others is counted as time of their callers.\n",
			BLAMETREE_FRAMES_MAX);
}
