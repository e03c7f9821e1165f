// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes speedscope's file format: an evented profile for each thread, or for each thread of each
 * request.  With causes, waits and interrupts are separate frames, in brackets.
 *
 * In this format the frame that was opened last must be closed first.  So the open frames at each
 * time are the thread's current item (attribution.h) and the functions that enclose it.
 *
 * Frames are numbered while events are written, and listed after the events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "facts/ticks.h"
#include "export/stacks.h"
#include "export/table.h"
#include "export/walk.h"
#include "render/text.h"

#define SCHEMA	"https://www.speedscope.app/file-format-schema.json"

/* A function, or a wait or interrupt (cause). */
struct frame_name {
	const struct symbol *func;	/* NULL: a cause */
	struct stacks_cause cause;
};

/*
 * An open invocation, wait or interrupt, with the frame of its enclosing function.  nr_users counts
 * the references to it: by its item, by the frames inside of it, and by p->open.
 */
struct frame {
	struct frame *in;
	uint64_t nr;			/* number of the frame, from 1 */
	unsigned depth, nr_users;
	bool was_open;
};

struct speedscope {
	struct model *m;
	const struct export_options *o;
	struct json j;
	struct attribution attribution;
	struct frame *open;		/* the innermost open frame; NULL: none */
	struct table numbers;		/* numbers of frames */
	struct frame_name *frames;
	size_t room_frames;
	/* the current profile */
	bool has_profile;
	char name[TEXT_ROOM];
	int64_t start_ns, end_ns;
	uint64_t nr_profiles;
};

static int add_frame(struct speedscope *p, uint64_t nr, const struct frame_name *name)
{
	if (!array_room(&p->frames, &p->room_frames, nr - 1, sizeof(*p->frames)))
		return -ENOMEM;
	p->frames[nr - 1] = *name;
	return 0;
}

/* Stores the number of a frame, from 1, in *nr.  Returns 0 or -ENOMEM. */
static int number(struct speedscope *p, const struct attribution_begin *what, uint64_t *nr)
{
	const struct symbol *func = what->segment ? what->segment->func : NULL;
	struct frame_name name = { .func = func };
	bool is_new;

	if (func) {
		*nr = table_get(&p->numbers, (uintptr_t)func->function, (uintptr_t)func->func_file,
				func->func_line, &is_new);
	} else {
		name.cause = stacks_cause_of(what);
		*nr = table_get(&p->numbers, name.cause.kind, name.cause.lock + name.cause.state,
				hash_text(name.cause.who ? name.cause.who : "") | 1ULL << 63, &is_new);
	}
	if (!*nr)
		return -ENOMEM;
	return is_new ? add_frame(p, *nr, &name) : 0;
}

static void put_event(struct speedscope *p, const char *type, uint64_t frame, int64_t at)
{
	json_flat(&p->j);
	json_object_begin(&p->j, NULL);
	json_string(&p->j, "type", type);
	json_u64(&p->j, "frame", frame - 1);
	json_i64(&p->j, "at", at);
	json_object_end(&p->j);
	if (at > p->end_ns)
		p->end_ns = at;
}

static struct frame *frame_get(struct frame *f)
{
	if (f)
		f->nr_users++;
	return f;
}

static void frame_put(struct frame *f)
{
	while (f && !--f->nr_users) {
		struct frame *in = f->in;

		free(f);
		f = in;
	}
}

static bool is_around(const struct frame *f, const struct frame *inner)
{
	while (inner && inner->depth > f->depth)
		inner = inner->in;
	return inner == f;
}

static void open_below(struct speedscope *p, struct frame *f, const struct frame *around, int64_t at)
{
	if (f == around)
		return;
	open_below(p, f->in, around, at);
	put_event(p, "O", f->nr, at);
	f->was_open = true;
}

/* Makes f the innermost open frame from this time on; NULL: closes all frames. */
static void switch_to(struct speedscope *p, struct frame *f, int64_t at)
{
	const struct frame *around = p->open;
	struct frame *before = p->open;

	if (f == before)
		return;
	for (; around && !is_around(around, f); around = around->in)
		put_event(p, "C", around->nr, at);
	p->open = frame_get(f);
	open_below(p, f, around, at);
	frame_put(before);
}

static void begin_profile(struct speedscope *p, int64_t at)
{
	p->has_profile = true;
	p->start_ns = p->end_ns = at;
	p->nr_profiles++;
	p->o->result->nr_threads++;
	json_object_begin(&p->j, NULL);
	json_string(&p->j, "type", "evented");
	json_string(&p->j, "name", p->name);
	json_string(&p->j, "unit", "nanoseconds");
	json_array_begin(&p->j, "events");
}

static int64_t to_ns(const struct speedscope *p, int64_t tick)
{
	return ticks_time_ns(p->m->reader, tick);
}

static int begin(void *arg, const struct attribution_begin *what, struct attribution_item *item)
{
	struct speedscope *p = arg;
	struct frame *f = calloc(1, sizeof(*f));
	int ret = f ? number(p, what, &f->nr) : -ENOMEM;

	if (ret) {
		free(f);
		return ret;
	}
	if (!p->has_profile)
		begin_profile(p, to_ns(p, item->start));
	f->in = frame_get(what->around ? what->around->node : NULL);
	f->depth = f->in ? f->in->depth + 1 : 1;
	item->node = frame_get(f);
	return ferror(p->j.f) ? -EIO : 0;
}

static int spend(void *arg, int64_t start, int64_t end, struct attribution_item *item)
{
	struct speedscope *p = arg;

	(void)end;
	switch_to(p, item ? item->node : NULL, to_ns(p, start));
	return 0;
}

/* Invocations that took no time are written, too. */
static int end(void *arg, struct attribution_item *item)
{
	struct speedscope *p = arg;
	struct frame *f = item->node;

	if ((item->kind == LEAF_FUNCTION || item->kind == LEAF_LIBCALL) && item->start == item->end && !f->was_open) {
		switch_to(p, f, to_ns(p, item->end));
		switch_to(p, f->in, to_ns(p, item->end));
	}
	frame_put(f);
	return 0;
}

static int finish_profile(struct speedscope *p)
{
	int ret = attribution_finish(&p->attribution);

	if (!p->has_profile)
		return ret;
	p->has_profile = false;
	switch_to(p, NULL, p->end_ns);
	json_array_end(&p->j);
	json_i64(&p->j, "startValue", p->start_ns);
	json_i64(&p->j, "endValue", p->end_ns);
	json_object_end(&p->j);
	return ret;
}

static int on_thread(void *arg, const struct thread *t, const struct instance *instance)
{
	struct speedscope *p = arg;
	int ret = finish_profile(p);
	char thread[TEXT_ROOM];

	text_thread(t->tid, t, thread);
	if (instance)
		snprintf(p->name, sizeof(p->name), "req %" PRIu64 ": %.400s", instance->id, thread);
	else
		snprintf(p->name, sizeof(p->name), "%s", thread);
	return ret;
}

static int on_segment(void *arg, const struct segment *s)
{
	struct speedscope *p = arg;

	if (s->kind != SEGMENT_FUNCTION && s->kind != SEGMENT_LIBCALL && !(p->o->with_causes && leaf_kinds[leaf_kind_of(s)].rank))
		return 0;
	export_count(p->o, s);
	return attribution_segment(&p->attribution, s);
}

static void put_frames(struct speedscope *p)
{
	char text[TEXT_ROOM];

	json_object_begin(&p->j, "shared");
	json_array_begin(&p->j, "frames");
	for (size_t i = 0; i < p->numbers.nr; i++) {
		const struct frame_name *f = &p->frames[i];

		json_flat(&p->j);
		json_object_begin(&p->j, NULL);
		json_string(&p->j, "name", f->func ? f->func->function :
				    stacks_cause_text(&f->cause, text, sizeof(text)));
		if (f->func && *f->func->func_file)
			json_string(&p->j, "file", f->func->func_file);
		if (f->func && f->func->func_line)
			json_u64(&p->j, "line", f->func->func_line);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
	json_object_end(&p->j);
}

int export_speedscope(struct model *m, const struct export_options *o, FILE *out, char *err,
		      size_t err_size)
{
	struct speedscope p = { .m = m, .o = o };
	struct walk_sink sink = {
		.thread = on_thread, .segment = on_segment, .with_irqs = o->with_causes, .arg = &p,
	};
	const char *cmdline = reader_meta(m->reader, "cmdline");
	int ret;

	p.attribution = (struct attribution){ .begin = begin, .end = end, .spend = spend, .arg = &p };
	attribution_start(&p.attribution);
	json_init(&p.j, out);
	json_object_begin(&p.j, NULL);
	json_string(&p.j, "$schema", SCHEMA);
	json_string(&p.j, "exporter", "ldb@" LDB_VERSION);
	json_string(&p.j, "name", cmdline ? cmdline : "ldb");
	json_u64(&p.j, "activeProfileIndex", 0);
	json_array_begin(&p.j, "profiles");
	ret = walk(m, o, &sink);
	if (!ret)
		ret = finish_profile(&p);
	if (!ret) {
		json_array_end(&p.j);
		put_frames(&p);
		json_object_end(&p.j);
		json_end(&p.j);
	}
	if (!ret && !p.nr_profiles) {
		snprintf(err, err_size, "no function was observed in the selection");
		ret = -ENODATA;
	}
	attribution_free(&p.attribution);
	table_free(&p.numbers);
	free(p.frames);
	return ret;
}
