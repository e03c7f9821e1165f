// SPDX-License-Identifier: GPL-2.0-or-later
/* Time by stack, of what the options select. */
#include "export/stacks-walk.h"
#include "export/walk.h"

struct stacks_walk {
	struct stacks *s;
	const struct export_options *o;
};

static int on_thread(void *arg, const struct thread *t, const struct life *life)
{
	struct stacks_walk *w = arg;

	w->o->result->nr_threads++;
	return stacks_thread(w->s, t);
}

static int on_irq(void *arg, int64_t start, int64_t end, const char *name)
{
	struct stacks_walk *w = arg;

	return stacks_irq(w->s, start, end, name);
}

static int on_segment(void *arg, const struct segment *s)
{
	struct stacks_walk *w = arg;

	if (stacks_wants(w->s, s))
		export_count(w->o, s);
	return stacks_segment(w->s, s);
}

int stacks_walk(struct stacks *s, struct model *m, const struct export_options *o)
{
	struct stacks_walk w = { s, o };
	struct walk_sink sink = { .thread = on_thread, .segment = on_segment, .arg = &w };
	int ret;

	if (s->options.with_causes)
		sink.irq = on_irq;
	ret = walk(m, o, &sink);

	if (!ret)
		ret = stacks_finish(s);
	o->result->nr_merged = s->nr_cut;
	return ret;
}
