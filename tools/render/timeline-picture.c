// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws a timeline with characters: a lane for each thread, in it a row for each depth of calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "facts/ticks.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"
#include "render/wrap.h"

#define LABEL_MIN	12	/* up to this width of a bar, its label is cut off, not shortened */
#define ROWS_MAX	12	/* rows for functions in a lane */

struct lane {
	uint32_t tid;
	const struct thread *thread;
	bool is_own;		/* the thread works on the request */
	size_t group;		/* index of the first lane of its process */
	unsigned depths[ROWS_MAX]; /* the depths that have a row, sorted */
	unsigned nr_depths;
};

struct lanes {
	struct lane *at;
	size_t nr;
};

static const struct process *process_of(const struct thread *t)
{
	return t ? t->process : NULL;
}

static size_t find_group(const struct lanes *lanes, const struct thread *t)
{
	size_t i = 0;

	while (i < lanes->nr && process_of(lanes->at[i].thread) != process_of(t))
		i++;
	return i;
}

static struct lane *get_lane(struct lanes *lanes, const struct segment *s)
{
	struct lane *l;

	for (size_t i = 0; i < lanes->nr; i++)
		if (lanes->at[i].tid == s->tid)
			return &lanes->at[i];
	l = reallocarray(lanes->at, lanes->nr + 1, sizeof(*l));
	if (!l)
		return NULL;
	lanes->at = l;
	l[lanes->nr] = (struct lane){
		.tid = s->tid, .thread = s->thread, .group = find_group(lanes, s->thread),
	};
	return &l[lanes->nr++];
}

static void add_depth(struct lane *l, unsigned depth)
{
	unsigned i = 0, n;

	while (i < l->nr_depths && l->depths[i] < depth)
		i++;
	if ((i < l->nr_depths && l->depths[i] == depth) || i == ROWS_MAX)
		return;
	/* If there are more depths than rows, the innermost calls are left out. */
	n = l->nr_depths < ROWS_MAX ? l->nr_depths++ : ROWS_MAX - 1;
	memmove(&l->depths[i + 1], &l->depths[i], (n - i) * sizeof(l->depths[0]));
	l->depths[i] = depth;
}

static int lane_compare(const void *pa, const void *pb)
{
	const struct lane *a = pa, *b = pb;

	if (a->is_own != b->is_own)
		return a->is_own ? -1 : 1;
	/* Threads of a process are adjacent; processes are in the order in which they appeared. */
	return a->group < b->group ? -1 : a->group > b->group;
}

static void find_lanes(struct lanes *lanes, const struct timeline *t)
{
	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];
		struct lane *l = s->kind == SEGMENT_QUEUE ? NULL : get_lane(lanes, s);

		if (!l)
			continue;
		l->is_own |= !s->blocks_req;
		if (s->kind == SEGMENT_FUNCTION)
			add_depth(l, s->depth);
	}
	if (lanes->nr)
		qsort(lanes->at, lanes->nr, sizeof(*lanes->at), lane_compare);
}

struct canvas {
	const struct timeline *t;
	unsigned width;
	char *cells;
	/* bits of each cell: 1: it has segments of up to a column, 2: it is part of a wider one */
	char *owner;
};

static void canvas_clear(struct canvas *c)
{
	memset(c->cells, ' ', c->width);
	memset(c->owner, 0, c->width);
}

static unsigned canvas_column(const struct canvas *c, int64_t ns)
{
	double share = c->t->latency_ns > 0 ? (double)(ns - c->t->start_ns) / c->t->latency_ns : 0;
	double column = share * c->width;

	return column < 0 ? 0 : column > c->width ? c->width : column;
}

static void canvas_bar(struct canvas *c, const struct segment *s, char fill, const char *label)
{
	unsigned from = canvas_column(c, s->start_ns), to = canvas_column(c, s->end_ns);
	char fit[TEXT_ROOM];
	size_t len;

	if (from >= c->width)
		from = c->width - 1;
	/* A segment shorter than a column is drawn; several in the same column become a '+'. */
	if (to <= from + 1) {
		if (c->owner[from] != 2)
			c->cells[from] = c->owner[from] ? '+' : fill;
		c->owner[from] |= 1;
		return;
	}
	memset(c->cells + from, fill, to - from);
	memset(c->owner + from, 2, to - from);
	c->cells[from] = '|';
	if (to - from < 5)
		return;
	if (to - from > LABEL_MIN)
		label = wrap_name(label, to - from - 2, fit);
	len = strlen(label);
	if (len > to - from - 2)
		len = to - from - 2;
	for (size_t i = 0; i < len; i++)
		c->cells[from + 1 + i] = (unsigned char)label[i] < 0x80 ? label[i] : '?';
}

static void canvas_row(const struct render *r, struct canvas *c, const char *head,
		       enum text_style style)
{
	unsigned len = c->width;

	while (len && c->cells[len - 1] == ' ')
		len--;
	if (!len)
		return;
	text_cell(r, head, 12, true);
	text_style(r, style);
	fwrite(c->cells, 1, len, r->out);
	text_style(r, TEXT_PLAIN);
	fputc('\n', r->out);
	canvas_clear(c);
}

static void draw_functions(const struct render *r, struct canvas *c, const struct lane *l)
{
	char name[TEXT_ROOM];

	for (unsigned row = 0; row < l->nr_depths; row++) {
		for (size_t i = 0; i < c->t->nr_segments; i++) {
			const struct segment *s = &c->t->segments[i];

			if (s->kind == SEGMENT_FUNCTION && s->tid == l->tid &&
			    s->depth == l->depths[row])
				canvas_bar(c, s, '=', text_clean(s->func->function, name));
		}
		canvas_row(r, c, "", TEXT_PLAIN);
	}
}

static void draw_kind(const struct render *r, struct canvas *c, const struct lane *l,
		      enum segment_kind kind, const char *head, char fill, enum text_style style)
{
	char name[TEXT_ROOM], label[TEXT_ROOM];

	for (size_t i = 0; i < c->t->nr_segments; i++) {
		const struct segment *s = &c->t->segments[i];

		if (s->kind == kind && (!l || s->tid == l->tid))
			canvas_bar(c, s, fill, kind == SEGMENT_REQUEST ? "" :
				   text_clean(segment_name(s, name), label));
	}
	canvas_row(r, c, head, style);
}

/* Draws the events that the program marked. */
static void draw_marks(const struct render *r, struct canvas *c, const struct render_timeline *rt,
		       const struct lane *l)
{
	for (size_t i = 0; i < c->t->nr_marks; i++) {
		const struct marked *m = &c->t->marks[i];
		int64_t ns = ticks_time_ns(rt->model->reader, m->tick);
		struct segment s = { .start_ns = ns, .end_ns = ns };

		if (m->tid == l->tid)
			canvas_bar(c, &s, '^', "");
	}
	canvas_row(r, c, "  events", TEXT_BOLD);
}

/* Draws the times off the CPU.  Returns true if there were any. */
static bool draw_off(const struct render *r, struct canvas *c, const struct lane *l)
{
	char label[TEXT_ROOM];
	bool any = false;

	for (size_t i = 0; i < c->t->nr_segments; i++) {
		const struct segment *s = &c->t->segments[i];

		if (!segment_kinds[s->kind].off_cpu || s->tid != l->tid)
			continue;
		canvas_bar(c, s, segment_kinds[s->kind].off_cpu, offcpu_label(s, label));
		any = true;
	}
	canvas_row(r, c, "  off CPU", TEXT_WARN);
	return any;
}

void text_picture(const struct render *r, const struct render_timeline *rt)
{
	const struct timeline *t = rt->timeline;
	struct canvas c = { .t = t, .width = r->width - 13 };
	struct lanes lanes = { 0 };
	char name[TEXT_ROOM], end[UNITS_ROOM];
	bool has_off = false;

	c.cells = malloc(c.width);
	c.owner = malloc(c.width);
	find_lanes(&lanes, t);
	if (!c.cells || !c.owner || !lanes.nr)
		goto out;
	canvas_clear(&c);
	fprintf(r->out, "%-12s0%*s\n", "", (int)c.width - 1, units_duration(t->latency_ns, end));
	draw_kind(r, &c, NULL, SEGMENT_QUEUE, "  in queue", '.', TEXT_WARN);
	for (size_t i = 0; i < lanes.nr; i++) {
		const struct lane *l = &lanes.at[i];

		text_styled(r, TEXT_BOLD, "%s", text_thread(l->tid, l->thread, name));
		if (l->thread && l->thread->process)
			fprintf(r->out, " of %s", text_process(l->thread->process, name));
		fputs(l->is_own ? " works on the request\n" : " blocks the request\n", r->out);
		if (l->is_own)
			draw_kind(r, &c, l, SEGMENT_REQUEST, "  request", '-', TEXT_DIM);
		draw_functions(r, &c, l);
		draw_kind(r, &c, l, SEGMENT_LOCK_WAIT, "  waits for", 'w', TEXT_WARN);
		draw_kind(r, &c, l, SEGMENT_LOCK_HOLD, "  holds", '#', TEXT_BAD);
		draw_kind(r, &c, l, SEGMENT_LIBCALL, "  libraries", '+', TEXT_PLAIN);
		draw_kind(r, &c, l, SEGMENT_SYSCALL, "  calls", 'c', TEXT_PLAIN);
		draw_marks(r, &c, rt, l);
		has_off |= draw_off(r, &c, l);
	}
	if (has_off)
		text_styled(r, TEXT_DIM, "%-12s%s\n", "", "r runnable  p preempted  b blocked  "
			    "f waits for a futex");
	fputc('\n', r->out);
out:
	free(c.cells);
	free(c.owner);
	free(lanes.at);
}
