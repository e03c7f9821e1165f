// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the additive difference between two sets of requests as text; see differential.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "render/differential.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wrap.h"

#define CALLS_FROM	100	/* from this width on, calls and share are shown */
#define INTERVAL_FROM	76	/* from this width on, the interval is shown */
#define TIME_WIDTH	9
#define CAUSE_MIN	20
#define PLACE_FROM	40	/* from this width on, the place of a cause is shown */

/*
 * All differences of a table have the same unit and are rounded together, so that the printed
 * differences add up.
 */
struct unit {
	const char *name;
	double factor;			/* ns */
	int decimals;
	int64_t quantum;		/* ns that the last printed digit is worth */
};

/* Chooses the unit and the rounding such that the greatest value has at most four digits. */
static struct unit unit_for(int64_t greatest)
{
	static const struct { const char *name; int64_t ns; } units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	};
	struct unit c = { .quantum = 1 };
	size_t i = 0;

	while (i < 3 && greatest < units[i].ns)
		i++;
	c.name = units[i].name;
	c.factor = units[i].ns;
	while (greatest / c.quantum >= 10000)
		c.quantum *= 10;
	for (int64_t at = c.quantum; at < units[i].ns; at *= 10)
		c.decimals++;
	/* Digits before the decimal point are not rounded. */
	if (c.quantum > units[i].ns)
		c.quantum = units[i].ns;
	return c;
}

static int64_t round_down(int64_t ns, int64_t quantum)
{
	int64_t rest = ns % quantum;

	return ns - (rest < 0 ? rest + quantum : rest);
}

static int64_t round_near(int64_t ns, int64_t quantum)
{
	return round_down(ns + quantum / 2, quantum);
}

struct line {
	int64_t diff, shown, left;	/* shown: rounded difference; left: difference - shown */
	const struct differential_part *part;
	const struct unit *unit;
	bool is_sum;			/* sum of several parts */
};

#define ROW struct line
/* Writes "+57.33us". */
static const char *diff_text(const ROW *l, int64_t ns, char *buf)
{
	const struct unit *c = l->unit;

	/* After rounding, -0.00 is 0. */
	ns = round_near(ns, c->quantum);
	snprintf(buf, TEXT_ROOM, "%+.*f%s", c->decimals, ns / c->factor, c->name);
	return buf;
}

static struct value get_interval(const struct row *row, char *buf)
{
	const ROW *l = row->at;
	char lo[TEXT_ROOM], hi[TEXT_ROOM];

	return value_textf(buf, "%10s %10s", diff_text(l, l->part->diff.lo_ns, lo),
			   diff_text(l, l->part->diff.hi_ns, hi));
}

WHEN(if_interval, e->part->diff.is_known)
WHEN(if_calls, !e->is_sum && (e->part->target_nr || e->part->reference_nr))
GET(get_diff, text, diff_text(e, e->shown, buf))
GET(get_calls, textf, buf, "%.3g > %.3g", e->part->reference_nr, e->part->target_nr)
GET(get_share, textf, buf, "%.1f%%", 100 * e->part->share)

static const struct column line_columns[] = {
	MADE("difference", get_diff, .head = "difference", .width = 10),
	MADE("interval", get_interval, .head = "95 % interval", .width = 21, .from = INTERVAL_FROM,
	     .when = if_interval),
	VIA("reference_ns", part, reference_ns, .head = "before", .width = TIME_WIDTH),
	VIA("target_ns", part, target_ns, .head = "now", .width = TIME_WIDTH),
	MADE("calls", get_calls, .head = "calls", .width = 13, .from = CALLS_FROM,
	     .when = if_calls),
	MADE("share", get_share, .head = "share", .width = 6, .from = CALLS_FROM), { 0 }
};
#undef ROW

static int compare_left(const void *pa, const void *pb)
{
	const struct line *a = *(struct line *const *)pa, *b = *(struct line *const *)pb;

	return a->left > b->left ? -1 : a->left < b->left;
}

/* Rounds the differences such that their sum is the rounded total. */
static void round_rows(struct line *rows, size_t nr, int64_t total, int64_t quantum)
{
	struct line *order[DIFFERENTIAL_SHOWN_MAX + 1];
	int64_t left = round_near(total, quantum);

	for (size_t i = 0; i < nr; i++) {
		rows[i].shown = round_down(rows[i].diff, quantum);
		rows[i].left = rows[i].diff - rows[i].shown;
		left -= rows[i].shown;
		order[i] = &rows[i];
	}
	qsort(order, nr, sizeof(order[0]), compare_left);
	for (size_t i = 0; i < nr && left > 0; i++, left -= quantum)
		order[i]->shown += quantum;
}

/* Writes a description of a part; buf has TEXT_ROOM bytes. */
static void part_text(const struct differential_part *p, char *buf)
{
	const char *label = p->label;

	switch (p->kind) {
	case LEAF_FUNCTION:
		snprintf(buf, TEXT_ROOM, "%s()", label);
		break;
	case LEAF_IO:
	case LEAF_SLEEP:
		snprintf(buf, TEXT_ROOM, "%s%s%s%s", p->kind == LEAF_IO ? "I/O" : "asleep",
			 *p->where ? " in " : "", p->where, *p->where ? "()" : "");
		if (*label)
			snprintf(buf + strlen(buf), TEXT_ROOM - strlen(buf), " (%s)", label);
		break;
	case LEAF_IRQ:
		snprintf(buf, TEXT_ROOM, "interrupt%s%s", *label ? " " : "", label);
		break;
	case LEAF_QUEUE:
		snprintf(buf, TEXT_ROOM, "in %s%s", *label ? "queue " : "a queue", label);
		break;
	case LEAF_UNKNOWN:
		snprintf(buf, TEXT_ROOM, "%s", *label ? label : "in uninstrumented code");
		break;
	default:
		leaf_kind_say(p->kind, label, buf, TEXT_ROOM);
		break;
	}
}

/* Writes "p99-100". */
static char *slice_text(const struct differential_slice *s, char *buf)
{
	snprintf(buf, UNITS_ROOM, "p%.6g-%.6g", s->lo, s->hi);
	return buf;
}

static bool is_whole(const struct differential_slice *s)
{
	return s->nr == s->nr_class;
}

/* Returns true if the interval is known and does not contain 0. */
static bool is_certain(const struct differential_interval *i)
{
	return i->is_known && (i->lo_ns > 0 || i->hi_ns < 0);
}

static void text_interval(const struct render *r, const struct differential_interval *i)
{
	char lo[UNITS_ROOM], hi[UNITS_ROOM];

	if (!i->is_known)
		return;
	fprintf(r->out, "; 95 %% interval %s to %s", text_ns(i->lo_ns, lo), text_ns(i->hi_ns, hi));
}

static void text_sets(const struct render *r, const struct render_differential *rd,
		      const struct differential *d)
{
	char after[UNITS_ROOM], before[UNITS_ROOM], target[UNITS_ROOM], reference[UNITS_ROOM];
	const char *slice = is_whole(&d->target) && is_whole(&d->reference) ? "" :
			    slice_text(&d->target, target);

	text_ns(d->target.mean_ns, after);
	text_ns(d->reference.mean_ns, before);
	if (rd->is_compare)
		fprintf(r->out, "%s on average now (%zu request%s%s%s), %s before (%zu)", after,
			d->target.nr, d->target.nr == 1 ? "" : "s", *slice ? ", " : "", slice, before,
			d->reference.nr);
	else
		fprintf(r->out, "%s on average from %s (%zu request%s), %s from %s (%zu)", after,
			slice_text(&d->target, target), d->target.nr, d->target.nr == 1 ? "" : "s",
			before, slice_text(&d->reference, reference), d->reference.nr);
}

/* Prints "GET: 2.06ms slower: ...". */
static void text_verdict(const struct render *r, const struct render_differential *rd,
			 const struct differential *d)
{
	int64_t diff = d->target.mean_ns - d->reference.mean_ns;
	char name[TEXT_ROOM], size[UNITS_ROOM];
	struct wrap w;
	const struct render *in = wrap_begin(&w, r);

	text_clean(d->class, name);
	text_style(in, TEXT_BOLD);
	if (*name)
		fprintf(in->out, "%s: ", name);
	if (d->diff.is_known && !is_certain(&d->diff))
		fprintf(in->out, "no difference that is more than chance");
	else
		fprintf(in->out, "%s %s", text_ns(llabs(diff), size),
			diff < 0 ? "faster" : "slower");
	text_style(in, TEXT_PLAIN);
	if (rd->is_compare && d->reference.mean_ns && is_certain(&d->diff))
		fprintf(in->out, " (%+.1f %%)", 100.0 * diff / d->reference.mean_ns);
	fprintf(in->out, ": ");
	text_sets(in, rd, d);
	text_interval(in, &d->diff);
	fputc('\n', in->out);
	wrap_end(&w, 2);
}

/* Prints the heads of the table.  Slices are named by their percentiles, cut to TIME_WIDTH. */
static void text_rows_head(const struct render *r, const struct render_differential *rd,
			   const struct differential *d)
{
	struct column columns[sizeof(line_columns) / sizeof(line_columns[0])];
	char reference[UNITS_ROOM], target[UNITS_ROOM];

	slice_text(&d->reference, reference)[TIME_WIDTH] = '\0';
	slice_text(&d->target, target)[TIME_WIDTH] = '\0';
	memcpy(columns, line_columns, sizeof(columns));
	for (struct column *c = columns; c->type && !rd->is_compare; c++)
		c->head = !strcmp(c->key, "reference_ns") ? reference :
			  !strcmp(c->key, "target_ns") ? target : c->head;
	table_head(r, "", 0, columns, "  cause");
}

/* Prints the cause and, if there is room, where most of its time was spent: "in main;serve". */
static void put_cause(const struct render *r, const struct differential *d,
		       const struct differential_part *p, unsigned width)
{
	char cause[TEXT_ROOM], name[TEXT_ROOM], place[TEXT_ROOM] = "";
	const struct leafkey_path *path;

	part_text(p, cause);
	text_cell(r, wrap_name(cause, width, name), width, false);
	if (!p->nr || width < PLACE_FROM || strlen(cause) + 8 > width)
		return;
	path = &d->keys.paths[d->keys.leaves[d->leaves[p->first].key].path];
	/* The last function, or the queue, was named before. */
	if (p->kind == LEAF_FUNCTION || p->kind == LEAF_QUEUE || *p->where)
		path = &d->keys.paths[path->parent];
	if (path->depth)
		path_text(path->p, path->path, place, sizeof(place));
	if (!*place)
		return;
	text_style(r, TEXT_DIM);
	fputs(" in ", r->out);
	text_cell(r, place, width - strlen(cause) - 4, false);
	text_style(r, TEXT_PLAIN);
}

static void text_row(const struct render *r, const struct differential *d, const struct line *row)
{
	const struct differential_part *p = row->part;
	unsigned used = table_width(r, line_columns);

	if (!is_certain(&p->diff) && p->diff.is_known)
		text_style(r, TEXT_DIM);
	table_cells(r, line_columns, row);
	text_style(r, TEXT_PLAIN);
	fputs("  ", r->out);
	if (row->is_sum)
		fprintf(r->out, "%zu others", d->nr_parts - d->nr_shown);
	else
		put_cause(r, d, p, r->width > used + CAUSE_MIN ? r->width - used - 2 : CAUSE_MIN);
	fputc('\n', r->out);
}

static void text_parts(const struct render *r, const struct render_differential *rd,
		       const struct differential *d)
{
	int64_t total = d->target.mean_ns - d->reference.mean_ns, greatest = llabs(total);
	struct line rows[DIFFERENTIAL_SHOWN_MAX + 1];
	struct differential_part all = {
		.target_ns = d->target.mean_ns, .reference_ns = d->reference.mean_ns, .diff = d->diff,
		.share = d->has_shares,
	};
	struct unit c;
	struct line sum = { .part = &all, .unit = &c, .is_sum = true };
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_shown; i++)
		rows[nr++] = (struct line){ .part = &d->parts[i] };
	if (d->nr_shown < d->nr_parts)
		rows[nr++] = (struct line){ .part = &d->others, .is_sum = true };
	for (size_t i = 0; i < nr; i++) {
		rows[i].unit = &c;
		rows[i].diff = differential_ns(rows[i].part);
		if (llabs(rows[i].diff) > greatest)
			greatest = llabs(rows[i].diff);
	}
	c = unit_for(greatest);
	round_rows(rows, nr, total, c.quantum);
	text_rows_head(r, rd, d);
	for (size_t i = 0; i < nr; i++)
		text_row(r, d, &rows[i]);
	sum.shown = round_near(total, c.quantum);
	table_cells(r, line_columns, &sum);
	fputs("  all\n", r->out);
}

static void text_advice(const struct render *r, const struct differential *d)
{
	const struct differential_part *p = d->parts;
	char category[TEXT_ROOM], advice[TEXT_ROOM];

	if (d->nr_parts && is_certain(&p->diff) && differential_ns(p) > 0 && *p->advice)
		fprintf(r->out, "%s: %s\n", text_clean(p->category, category),
			text_clean(p->advice, advice));
}

static void text_only(const struct render *r, const char *const *classes, size_t nr, const char *when)
{
	char name[TEXT_ROOM];

	for (size_t i = 0; i < nr; i++)
		fprintf(r->out, "%s: requests only %s\n",
			*classes[i] ? text_clean(classes[i], name) : "no class", when);
}

static void text_recording(const struct render *r, const char *when, const char *file,
			   const struct model *m)
{
	char name[TEXT_ROOM];

	text_styled(r, TEXT_BOLD, "%s: %s\n", when, text_clean(file, name));
	text_head(r, m, NULL);
}

static void text_differential(const struct render *r, const void *report)
{
	const struct render_differential *rd = report;
	char sentence[GATE_SENTENCE_MAX];

	if (rd->is_compare) {
		text_recording(r, "before", rd->reference_file, rd->reference_model);
		text_recording(r, "now", rd->target_file, rd->target_model);
	} else {
		text_head(r, rd->target_model, NULL);
	}
	for (size_t i = 0; i < rd->nr; i++) {
		fputc('\n', r->out);
		text_verdict(r, rd, &rd->of[i]);
		text_parts(r, rd, &rd->of[i]);
		text_advice(r, &rd->of[i]);
	}
	if (rd->nr_only_target + rd->nr_only_reference)
		fputc('\n', r->out);
	text_only(r, rd->only_target, rd->nr_only_target, "now");
	text_only(r, rd->only_reference, rd->nr_only_reference, "before");
	if (rd->nr_gates)
		fputc('\n', r->out);
	for (size_t i = 0; i < rd->nr_gates; i++) {
		text_style(r, rd->gates[i].holds ? TEXT_BAD : TEXT_PLAIN);
		fprintf(r->out, "%s", gate_sentence(&rd->gates[i], sentence));
		text_style(r, TEXT_PLAIN);
		fputc('\n', r->out);
	}
}

const struct printer differential_printer = {
	DOCUMENT_WHY_DIFFERENTIAL, differential_columns, text_differential, 0
};
