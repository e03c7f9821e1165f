// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the attribution of a thread's time, from a list of items that begin: ranks, interrupts in
 * interrupts, waits that name their function, requests, and more items at a time than the stack has
 * room for.
 */
#include <stdio.h>
#include <string.h>
#include "analysis/attribution/attribution.h"
#include "tap.h"

static const struct symbol symbols[] = {
	{ .function = "main" }, { .function = "f" }, { .function = "g" }, { .function = "deflate" },
};
static char text[4000];

static void add(const char *what, int64_t a, int64_t b)
{
	size_t used = strlen(text);

	snprintf(text + used, sizeof(text) - used, "%s:%ld-%ld ", what, (long)a, (long)b);
}

static int on_begin(void *arg, const struct attribution_begin *what, struct attribution_item *item)
{
	(void)arg;
	item->text = what->in ? what->in->func->function : "-";
	return 0;
}

/* The text "irq/f:3-5" means: an interrupt, in f. */
static int on_spend(void *arg, int64_t start, int64_t end, struct attribution_item *item)
{
	char name[64];

	(void)arg;
	if (!item)
		return 0;
	if (item->kind == LEAF_FUNCTION)
		snprintf(name, sizeof(name), "%s", item->func->function);
	else
		snprintf(name, sizeof(name), "%s/%s", leaf_kinds[item->kind].name, item->text);
	add(name, start, end);
	return 0;
}

static int on_work(void *arg)
{
	const struct attribution *a = *(struct attribution **)arg;

	add("works", a->cursor, (int64_t)a->nr_works);
	return 0;
}

static int on_end(void *arg, struct attribution_item *item)
{
	(void)arg;
	if (item->kind == LEAF_FUNCTION)
		add("end", item->start, item->end);
	return 0;
}

static const char *play(const struct attribution_irq *irqs, size_t nr_irqs, const struct segment *s,
			size_t nr, bool with_ends)
{
	struct attribution a = { .begin = on_begin, .spend = on_spend, .work = on_work };
	struct attribution *self = &a;
	int ret = 0;

	text[0] = '\0';
	a.arg = &self;
	a.end = with_ends ? on_end : NULL;
	attribution_start(&a);
	for (size_t i = 0; i < nr_irqs && !ret; i++)
		ret = attribution_segment(&a, &(struct segment){
			.kind = SEGMENT_IRQ, .start = irqs[i].start, .end = irqs[i].end,
			.irq = &(struct irq){
				.kind = irqs[i].kind == LEAF_STOLEN ? LDB_IRQ_STOLEN : LDB_IRQ_HARD,
				.name = irqs[i].name,
			},
		});
	for (size_t i = 0; i < nr && !ret; i++)
		ret = attribution_segment(&a, &s[i]);
	if (!ret)
		ret = attribution_finish(&a);
	if (ret || a.depth || a.nr_works || a.nr_covers)
		bail_out("not at its end");
	attribution_free(&a);
	return text;
}

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define FUNC(nr, from, to) \
	{ .kind = SEGMENT_FUNCTION, .func = &symbols[nr], .gen = (nr) + 1, .start = (from), .end = (to) }
#define OVER(what, from, to, ...)	{ .kind = SEGMENT_##what, .start = (from), .end = (to), __VA_ARGS__ }
#define CHECK(name, want, irqs, segments) \
	is_str(play(irqs, COUNT(irqs), segments, COUNT(segments), false), want, name)

static void check_ranks(void)
{
	static const struct segment all[] = {
		FUNC(0, 0, 100), FUNC(1, 10, 90), OVER(LOCK_WAIT, 20, 80), OVER(BLOCKED, 30, 60),
		OVER(RUNNABLE, 60, 70),
	};
	static const struct attribution_irq none[0], two[] = {
		{ LEAF_IRQ, 15, 25, "a" }, { LEAF_IRQ, 18, 20, "b" },
	}, stolen[] = { { LEAF_STOLEN, 5, 35, "" }, { LEAF_STOLEN, 85, 95, "" } };

	CHECK("a sleep in a wait, then a wait for a CPU in it",
	      "main:0-10 f:10-20 lock_wait/f:20-30 sleep/f:30-60 runnable/f:60-70 lock_wait/f:70-80 f:80-90 main:90-100 ",
	      none, all);
	CHECK("an interrupt in an interrupt, before all others",
	      "main:0-10 f:10-15 irq/f:15-18 irq/f:18-20 irq/f:20-25 lock_wait/f:25-30 sleep/f:30-60 "
	      "runnable/f:60-70 lock_wait/f:70-80 f:80-90 main:90-100 ", two, all);
	CHECK("stolen time is not the lock's, but who was off the CPU has lost none of it",
	      "main:0-5 stolen/main:5-10 stolen/f:10-20 stolen/f:20-30 sleep/f:30-60 runnable/f:60-70 "
	      "lock_wait/f:70-80 f:80-85 stolen/f:85-90 stolen/main:90-95 main:95-100 ", stolen, all);
}

static void check_places(void)
{
	static const struct attribution_irq none[0];
	static const struct segment named[] = {
		FUNC(0, 0, 100), FUNC(1, 10, 90), FUNC(2, 20, 50), OVER(LOCK_WAIT, 30, 60, .gen = 2),
	}, outlasts[] = { FUNC(0, 0, 100), FUNC(1, 10, 20), OVER(BLOCKED, 15, 40), FUNC(2, 30, 50) };

	CHECK("a wait that names a caller is in that",
	      "main:0-10 f:10-20 g:20-30 lock_wait/f:30-60 f:60-90 main:90-100 ", none, named);
	CHECK("what outlasts its function stays in it",
	      "main:0-10 f:10-15 sleep/f:15-30 sleep/f:30-40 g:40-50 main:50-100 ", none, outlasts);
	is_str(play(none, 0, outlasts, COUNT(outlasts), true),
	       "main:0-10 f:10-15 sleep/f:15-30 end:10-20 sleep/f:30-40 g:40-50 end:30-50 main:50-100 end:0-100 ",
	       "each that began ends once");
}

/*
 * A library call is among functions, which it may call back; an item that covers it belongs to the
 * function that made the call.
 */
static void check_library_calls(void)
{
	static const struct attribution_irq none[0], one[] = { { LEAF_IRQ, 35, 40, "a" } };
	static const struct segment all[] = {
		FUNC(0, 0, 100), OVER(LIBCALL, 10, 90, .func = &symbols[3]), OVER(LIBCALL, 20, 50, .func = &symbols[3]),
		OVER(BLOCKED, 25, 30), FUNC(1, 60, 80), OVER(LOCK_WAIT, 65, 70, .gen = 2),
	}, late[] = { FUNC(0, 0, 50), OVER(LIBCALL, 40, 60, .func = &symbols[3]), FUNC(1, 55, 58) };

	CHECK("a library call, another one in it, and a function that it calls back",
	      "main:0-10 library_call/main:10-20 library_call/main:20-25 sleep/main:25-30 library_call/main:30-35 "
	      "irq/main:35-40 library_call/main:40-50 library_call/main:50-60 f:60-65 lock_wait/f:65-70 f:70-80 "
	      "library_call/main:80-90 main:90-100 ", one, all);
	CHECK("one that outlasts its function is in it",
	      "main:0-40 library_call/main:40-55 f:55-58 library_call/main:58-60 ", none, late);
}

static void check_works(void)
{
	static const struct attribution_irq none[0], late[] = { { LEAF_IRQ, 95, 120, "a" } };
	static const struct segment two[] = {
		FUNC(0, 0, 100), OVER(REQUEST, 10, 30), OVER(REQUEST, 20, 50), OVER(QUEUE, 60, 70), OVER(LOCK_HOLD, 60, 70),
	}, many[] = {
		OVER(LOCK_WAIT, 0, 40), OVER(RUNNABLE, 1, 30), OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20),
		OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20),
		OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20),
		OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20), OVER(LOCK_WAIT, 2, 20),
		OVER(LOCK_WAIT, 2, 20),
	};

	CHECK("nothing begins or ends within a time that is told",
	      "main:0-10 works:10-1 main:10-20 works:20-2 main:20-30 works:30-1 main:30-50 works:50-0 main:50-100 ",
	      none, two);
	CHECK("an interrupt that outlasts all",
	      "main:0-10 works:10-1 main:10-20 works:20-2 main:20-30 works:30-1 main:30-50 works:50-0 "
	      "main:50-95 irq/main:95-100 irq/-:100-120 ", late, two);
	CHECK("more than there is room for: the first is forgotten",
	      "lock_wait/-:0-1 runnable/-:1-2 runnable/-:2-30 ", none, many);
}

/* segments.def: kinds that share a track agree on it; each has a colour, its own or its state's. */
static void check_kinds(void)
{
	unsigned nr_other = 0, nr_bare = 0, nr_off = 0;

	for (enum segment_kind k = 0; k < NR_SEGMENT_KINDS; k++) {
		const struct segment_words *w = &segment_kinds[k], *track = &segment_kinds[w->track];

		nr_other += track->track != w->track || strcmp(track->track_words, w->track_words);
		nr_bare += !w->colour && w->state == LEAF_UNKNOWN && k != SEGMENT_FAULT;
		/* A time off the CPU covers functions, so its state has a rank. */
		nr_off += w->off_cpu && !leaf_kinds[w->state].rank;
	}
	ok(!nr_other, "kinds of segments that share a track call it the same");
	ok(!nr_bare, "each kind has a colour");
	ok(!nr_off, "and each time off the CPU is a state that covers functions");
}

int main(void)
{
	check_kinds();
	check_ranks();
	check_places();
	check_library_calls();
	check_works();
	return done();
}
