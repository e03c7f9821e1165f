// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws the outlier plot and box plots with characters; see pictures.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "render/pictures.h"
#include "render/text.h"
#include "render/wrap.h"

#define LEFT		9	/* columns to the left of a plot */
#define PLOT_ROWS		16
#define CAUSES_SHOWN	12
#define MARK_REST	'*'	/* for causes without a letter */

static char mark_of(uint32_t cause)
{
	return cause < 26 ? 'A' + (int)cause : MARK_REST;
}

/* A logarithmic scale: lo is in cell 0, hi in cell cells - 1. */
struct scale {
	int64_t lo, hi;
	unsigned cells;
};

static unsigned scale_at(const struct scale *s, int64_t v)
{
	double lo = log(s->lo > 0 ? s->lo : 1), hi = log(s->hi > 1 ? s->hi : 2), at;

	if (hi <= lo || v <= s->lo)
		return 0;
	at = (log(v) - lo) / (hi - lo) * (s->cells - 1) + 0.5;
	return at < s->cells ? (unsigned)at : s->cells - 1;
}

/* Returns the value in the middle of a cell. */
static int64_t scale_value(const struct scale *s, unsigned cell)
{
	double lo = log(s->lo > 0 ? s->lo : 1), hi = log(s->hi > 1 ? s->hi : 2);

	return s->cells > 1 ? exp(lo + (hi - lo) * cell / (s->cells - 1)) : s->hi;
}

/* The outlier plot */

size_t text_balloons_columns(const struct render *r)
{
	return r->width - LEFT - 1;
}

struct grid {
	unsigned columns;
	char *cells;		/* PLOT_ROWS rows of `columns` characters, lowest row first */
	int64_t *most;		/* greatest amount in the cell, whose mark is shown */
};

static struct scale latency_scale(const struct why *w, const struct balloons *b)
{
	struct scale s = { INT64_MAX, 1, PLOT_ROWS };

	for (size_t i = 0; i < b->nr_bins; i++) {
		if (b->bins[i].median_ns < s.lo)
			s.lo = b->bins[i].median_ns;
		if (b->bins[i].median_ns > s.hi)
			s.hi = b->bins[i].median_ns;
	}
	for (size_t i = 0; i < w->nr_targets; i++)
		if (w->targets[i].request->latency_ns > s.hi)
			s.hi = w->targets[i].request->latency_ns;
	if (s.lo > s.hi)
		s.lo = s.hi;
	return s;
}

static void fill_grid(struct grid *g, const struct why *w, const struct balloons *b,
		      const struct scale *s)
{
	size_t bin = 0;

	memset(g->cells, ' ', (size_t)PLOT_ROWS * g->columns);
	for (size_t i = 0; i < b->nr_bins; i++)
		g->cells[scale_at(s, b->bins[i].median_ns) * g->columns + i] = '.';
	for (size_t i = 0; i < b->nr; i++) {
		const struct why_target *t = &w->targets[b->at[i].target];
		size_t cell;

		while (bin + 1 < b->nr_bins && b->bins[bin + 1].first <= b->at[i].number)
			bin++;
		cell = scale_at(s, t->request->latency_ns) * g->columns + bin;
		if (!t->nr_amounts) {
			if (!g->most[cell])
				g->cells[cell] = '?';
		} else if (t->amounts[0].ns > g->most[cell]) {
			g->most[cell] = t->amounts[0].ns;
			g->cells[cell] = mark_of(t->amounts[0].cause);
		}
	}
}

static void put_grid(const struct render *r, const struct grid *g, const struct balloons *b,
		     const struct scale *s)
{
	char ns[UNITS_ROOM];
	unsigned columns = b->nr_bins;

	for (unsigned row = PLOT_ROWS; row-- > 0;) {
		unsigned end = columns;

		while (end && g->cells[row * g->columns + end - 1] == ' ')
			end--;
		fprintf(r->out, "%7s |", row % 5 && row != PLOT_ROWS - 1 ? "" :
			text_ns(scale_value(s, row), ns));
		fprintf(r->out, "%.*s\n", (int)end, g->cells + row * g->columns);
	}
	fprintf(r->out, "%7s +", "");
	for (unsigned i = 0; i < columns; i++)
		fputc('-', r->out);
	fprintf(r->out, "\n%8s 1%*zu\n", "", (int)(columns > 1 ? columns - 1 : 1), b->nr_requests);
}

static void put_marks(const struct render *r, const struct why *w)
{
	char text[TEXT_ROOM];
	size_t shown = 0, rest = 0;

	for (size_t c = 0; c < w->nr_causes; c++) {
		const struct why_cause *k = &w->causes[c];

		if (!k->nr_first)
			continue;
		if (shown++ < CAUSES_SHOWN)
			fprintf(r->out, "%c %6zu  %s\n", mark_of(c), k->nr_first,
				picture_cause(w, k, text));
		else
			rest += k->nr_first;
	}
	if (rest)
		fprintf(r->out, "  %6zu  of other causes\n", rest);
}

void text_balloons(const struct render *r, const void *picture)
{
	const struct render_picture *p = picture;
	const struct balloons *b = p->of;
	const struct why *w = p->why;
	struct scale s = latency_scale(w, b);
	struct grid g = { .columns = b->nr_bins + 1 };
	const struct render *in;
	struct wrap wrap;

	g.cells = malloc((size_t)PLOT_ROWS * g.columns);
	g.most = calloc((size_t)PLOT_ROWS * g.columns, sizeof(*g.most));
	in = wrap_begin(&wrap, r);
	text_styled(in, TEXT_BOLD, "Latencies of %zu requests in order of arrival\n", b->nr_requests);
	fprintf(in->out, "Letters: the first cause of each target, %zu in all.  Dots: the median of all requests.\n",
		w->nr_targets);
	if (in != r)
		wrap_end(&wrap, 2);
	if (g.cells && g.most && b->nr_bins) {
		fill_grid(&g, w, b, &s);
		put_grid(r, &g, b, &s);
	}
	free(g.cells);
	free(g.most);
	in = wrap_begin(&wrap, r);
	put_marks(in, w);
	wrap_end(&wrap, LEFT + 1);
}

/* Boxes */

/* Draws "   |---[==#====]-------|". */
static void draw_box(const struct render *r, const struct scale *s, const struct box *b)
{
	char line[TEXT_ROOM];
	unsigned end = scale_at(s, b->max);

	for (unsigned i = 0; i <= end; i++)
		line[i] = i < scale_at(s, b->min) ? ' ' : i < scale_at(s, b->q1) ? '-' :
			  i <= scale_at(s, b->q3) ? '=' : '-';
	line[scale_at(s, b->min)] = line[end] = '|';
	line[scale_at(s, b->q1)] = '[';
	line[scale_at(s, b->q3)] = ']';
	line[scale_at(s, b->median)] = '#';
	fprintf(r->out, "%.*s\n", (int)end + 1, line);
}

static void put_box(const struct render *r, const struct box *b, unsigned indent)
{
	static const char *const names[] = { "min", "q1", "median", "q3", "max" };
	const int64_t values[] = { b->min, b->q1, b->median, b->q3, b->max };
	char ns[UNITS_ROOM];

	fprintf(r->out, "%*s", (int)indent, "");
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		fprintf(r->out, "%s%s %s", i ? "  " : "", names[i], text_ns(values[i], ns));
	fputc('\n', r->out);
}

static void put_axis(const struct render *r, const struct scale *s, unsigned indent)
{
	char lo[UNITS_ROOM], hi[UNITS_ROOM];

	fprintf(r->out, "%*s%-8s%*s\n", (int)indent, "", text_ns(s->lo, lo), (int)s->cells - 8,
		text_ns(s->hi, hi));
}

static void put_cause_box(const struct render *r, const struct why *w, const struct cause_box *b,
			  const struct scale *s)
{
	char text[TEXT_ROOM];

	fprintf(r->out, "%c %6zu  %s\n", mark_of(b->cause), b->box.nr,
		picture_cause(w, &w->causes[b->cause], text));
	put_box(r, &b->box, LEFT + 1);
	fprintf(r->out, "%*s", LEFT + 1, "");
	draw_box(r, s, &b->box);
}

static struct scale box_scale(const struct render *r, const struct boxes *b, unsigned indent)
{
	unsigned room = r->width - indent - 1;
	struct scale s = { INT64_MAX, 1, room < 100 ? room : 100 };

	for (size_t i = 0; i < b->nr; i++) {
		if (b->at[i].box.nr && b->at[i].box.min < s.lo)
			s.lo = b->at[i].box.min;
		if (b->at[i].box.max > s.hi)
			s.hi = b->at[i].box.max;
	}
	for (size_t g = 0; g < b->nr_groups; g++)
		if (b->groups[g].box.max > s.hi)
			s.hi = b->groups[g].box.max;
	if (s.lo > s.hi)
		s.lo = s.hi;
	return s;
}

void text_boxes(const struct render *r, const void *picture)
{
	const struct render_picture *p = picture;
	const struct boxes *b = p->of;
	const struct why *w = p->why;
	struct scale s = box_scale(r, b, LEFT + 1);
	char text[TEXT_ROOM];
	struct wrap wrap;
	const struct render *in = wrap_begin(&wrap, r);

	text_styled(in, TEXT_BOLD, "What causes added to the latencies of %zu target%s\n", w->nr_targets,
		    w->nr_targets == 1 ? "" : "s");
	fputs("Of the targets with this cause: |--[==#==]--| is least, quartiles, median, greatest.\n", in->out);
	if (b->nr)
		put_axis(in, &s, LEFT + 1);
	for (size_t g = 0; g < b->nr_groups; g++) {
		const struct cause_group *k = &b->groups[g];
		size_t shown = 0;

		text_styled(in, TEXT_BOLD, "%s", text_clean(k->name, text));
		fprintf(in->out, ": %zu target%s\n", k->box.nr, k->box.nr == 1 ? "" : "s");
		if (k->nr > 1) {
			put_box(in, &k->box, LEFT + 1);
			fprintf(in->out, "%*s", LEFT + 1, "");
			draw_box(in, &s, &k->box);
		}
		for (size_t i = k->first; i < k->first + k->nr && shown < CAUSES_SHOWN; i++, shown++)
			put_cause_box(in, w, &b->at[i], &s);
		if (shown < k->nr)
			fprintf(in->out, "%*s%zu more causes: --json has all\n", LEFT + 1, "", k->nr - shown);
	}
	wrap_end(&wrap, 2);
}
