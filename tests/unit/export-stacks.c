// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests segments in order of time, and time by stack: ties, waits inside of waits, a wait that
 * outlasts the function it is in, and more stacks than there is room for.
 */
#include <string.h>
#include "export/stacks.h"
#include "trace/reader-private.h"
#include "tap.h"

static const struct symbol symbols[] = {
	{ .function = "main" }, { .function = "f" }, { .function = "g" }, { .function = "h" },
};
/* A tick is a nanosecond. */
static struct reader reader = { .ns_mult = 1 };
static struct model model = { .reader = &reader };
static const struct thread thread = { .tid = 1, .name = "t" };

static struct segment make(enum segment_kind kind, unsigned nr, unsigned depth, int64_t start,
			   int64_t end)
{
	return (struct segment){
		.kind = kind, .tid = 1, .thread = &thread, .depth = depth, .start = start,
		.end = end, .func = kind == SEGMENT_FUNCTION ? &symbols[nr] : NULL,
		.lock = kind == SEGMENT_FUNCTION ? 0 : 0x1000 + nr,
	};
}

static void play(struct stacks *s, const struct segment *segments, size_t nr,
		 const struct stacks_options *options)
{
	int ret;

	stacks_init(s, &model, options);
	ret = stacks_thread(s, &thread);
	for (size_t i = 0; i < nr && !ret; i++)
		ret = stacks_segment(s, &segments[i]);
	if (!ret)
		ret = stacks_finish(s);
	if (ret)
		bail_out("no memory");
}

/* Returns the nodes that have time or calls: "t;main;f=5/1 " has 5 ns of its own and 1 call. */
static const char *text(const struct stacks *s)
{
	static char buf[2000];
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < s->nr_nodes; i++) {
		const struct stacks_node *n = s->nodes[i], *path[64];
		unsigned depth = 0;

		if (!n->self_ns && !n->nr_calls && !n->nr_open)
			continue;
		for (const struct stacks_node *at = n; at; at = at->parent)
			path[depth++] = at;
		while (depth--) {
			char cause[64];
			const char *name = path[depth]->is_cause ?
				stacks_cause_text(&path[depth]->cause, cause, sizeof(cause)) :
				path[depth]->func ? path[depth]->func->function : path[depth]->thread;

			used += snprintf(buf + used, sizeof(buf) - used, "%s%s", name, depth ? ";" : "");
		}
		used += snprintf(buf + used, sizeof(buf) - used, "=%ld/%lu ", (long)n->self_ns,
				 (unsigned long)n->nr_calls);
	}
	return buf;
}

static const struct stacks_options none, causes = { .with_causes = true },
	small = { .max_nodes = 2 }, small_causes = { .max_nodes = 2, .with_causes = true };

#define CHECK(name, options, want, ...)						\
	do {									\
		const struct segment segments_[] = { __VA_ARGS__ };		\
		struct stacks s_;						\
										\
		play(&s_, segments_, sizeof(segments_) / sizeof(segments_[0]), &(options)); \
		is_str(text(&s_), want, name);					\
		stacks_free(&s_);						\
	} while (0)
#define FUNC(nr, depth, start, end)	make(SEGMENT_FUNCTION, nr, depth, start, end)
#define WAIT(nr, start, end)		make(SEGMENT_LOCK_WAIT, nr, 9, start, end)
#define OFF(start, end)			make(SEGMENT_RUNNABLE, 0, 10, start, end)

int main(void)
{
	CHECK("a call", none, "t;main=7/1 t;main;f=3/1 ", FUNC(0, 0, 0, 10), FUNC(1, 1, 4, 7));
	CHECK("calls that meet", none, "t;main=0/1 t;main;f=5/1 t;main;g=5/1 ",
	      FUNC(0, 0, 0, 10), FUNC(1, 1, 0, 5), FUNC(2, 1, 5, 10));
	CHECK("that took no time", none, "t;main=10/1 t;main;f=0/2 ", FUNC(0, 0, 0, 10),
	      FUNC(1, 1, 4, 4), FUNC(1, 1, 4, 4));
	CHECK("one that calls itself", none, "t;f=2/1 t;f;f=2/1 t;f;f;f=6/1 ", FUNC(1, 0, 0, 10),
	      FUNC(1, 1, 1, 9), FUNC(1, 2, 2, 8));
	CHECK("nothing between", none, "t;f=2/2 ", FUNC(1, 0, 0, 1), FUNC(1, 0, 100, 101));
	CHECK("waits are not asked for", none, "t;f=10/1 ", FUNC(1, 0, 0, 10), WAIT(1, 2, 6));
	CHECK("a wait", causes, "t;f=6/1 t;f;[lock 0x1001]=4/0 ", FUNC(1, 0, 0, 10), WAIT(1, 2, 6));
	CHECK("a wait in a wait: the inner one", causes,
	      "t;f=6/1 t;f;[lock 0x1001]=2/0 t;f;[runnable]=2/0 ", FUNC(1, 0, 0, 10), WAIT(1, 2, 6),
	      OFF(4, 6));
	CHECK("one that outlasts the estimated end of its function is that one's", causes,
	      "t;f=4/1 t;f;g=1/1 t;f;g;[lock 0x1001]=5/0 ", FUNC(1, 0, 0, 10),
	      FUNC(2, 1, 2, 6), WAIT(1, 3, 8));
	CHECK("outside of functions", causes, "t;[runnable]=5/0 t;f=1/1 ", OFF(0, 5), FUNC(1, 0, 7, 8));
	CHECK("no room: the time is the caller's", small, "t;main=10/1 ",
	      FUNC(0, 0, 0, 10), FUNC(1, 1, 4, 7), FUNC(2, 2, 5, 6));
	CHECK("of a wait, too", small_causes, "t;main=10/1 ", FUNC(0, 0, 0, 10), WAIT(1, 4, 7));
	return done();
}
