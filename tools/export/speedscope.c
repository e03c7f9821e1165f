// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * speedscope's file format: an evented profile for each thread, or for each thread
 * of each request; with causes, waits are frames of their own, in brackets.
 *
 * The format wants what opened last to be closed first.  Functions nest, and waits are
 * on top of them; one that outlasts the estimated end of its function is closed and
 * opened again, on top of what is there then.
 *
 * Frames are numbered while the events are written, and listed after them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "facts/sched.h"
#include "export/stacks.h"
#include "export/table.h"
#include "export/walk.h"
#include "render/offcpu.h"
#include "render/text.h"

#define SCHEMA	"https://www.speedscope.app/file-format-schema.json"

/* A function, or a wait. */
struct frame_name {
	const struct symbol *func;	/* NULL: a wait */
	struct stacks_cause cause;
};

struct speedscope {
	const struct export_options *o;
	struct json j;
	struct sweep sweep;
	struct table numbers;		/* of frames */
	struct frame_name *frames;
	size_t room_frames;
	/* the profile at hand */
	bool has_profile;
	char name[TEXT_ROOM];
	int64_t start_ns, end_ns;
	uint64_t nr_profiles;
};

static int add_frame(struct speedscope *p, uint64_t nr, const struct frame_name *name)
{
	if (nr > p->room_frames) {
		size_t room = p->room_frames ? 2 * p->room_frames : 256;
		struct frame_name *frames = reallocarray(p->frames, room, sizeof(*frames));

		if (!frames)
			return -ENOMEM;
		p->frames = frames;
		p->room_frames = room;
	}
	p->frames[nr - 1] = *name;
	return 0;
}

static uint64_t hash_text(const char *text)
{
	uint64_t h = 0;

	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	return h;
}

/* The number of the frame, from 1. */
static int number(struct speedscope *p, const struct sweep_open *o, uint64_t *nr)
{
	struct frame_name name = { .func = o->s.func };
	bool is_new;

	if (o->s.kind == SEGMENT_FUNCTION) {
		*nr = table_get(&p->numbers, (uintptr_t)o->s.func->function,
				(uintptr_t)o->s.func->func_file, o->s.func->func_line, &is_new);
	} else {
		name.cause = stacks_cause_of(&o->s);
		*nr = table_get(&p->numbers, name.cause.kind, name.cause.lock + name.cause.state,
				hash_text(name.cause.who) | 1ULL << 63, &is_new);
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

static bool is_function(const struct sweep_open *o)
{
	return o->s.kind == SEGMENT_FUNCTION;
}

static bool is_above(const struct sweep_open *a, const struct sweep_open *o)
{
	return is_function(a) == is_function(o) ? a > o : is_function(o);
}

/* What is on top of o goes, or comes back. */
static void put_above(struct speedscope *p, const struct sweep_open *o, bool closes, int64_t at)
{
	const struct sweep_open *open = p->sweep.open;
	size_t nr = p->sweep.nr_open;

	/* From the bottom: functions, then waits.  From the top: the other way round. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < nr; i++) {
			const struct sweep_open *a = &open[closes ? nr - 1 - i : i];

			if (is_function(a) == (round == closes) && is_above(a, o))
				put_event(p, closes ? "C" : "O", a->nr, at);
		}
	}
}

static int begin(void *arg, struct sweep_open *o)
{
	struct speedscope *p = arg;
	int ret = number(p, o, &o->nr);

	if (ret)
		return ret;
	if (!p->has_profile) {
		p->has_profile = true;
		p->start_ns = p->end_ns = o->s.start_ns;
		p->nr_profiles++;
		p->o->result->nr_threads++;
		json_object_begin(&p->j, NULL);
		json_string(&p->j, "type", "evented");
		json_string(&p->j, "name", p->name);
		json_string(&p->j, "unit", "nanoseconds");
		json_array_begin(&p->j, "events");
	}
	put_above(p, o, true, o->s.start_ns);
	put_event(p, "O", o->nr, o->s.start_ns);
	put_above(p, o, false, o->s.start_ns);
	return ferror(p->j.f) ? -EIO : 0;
}

static int end(void *arg, struct sweep_open *o)
{
	struct speedscope *p = arg;

	put_above(p, o, true, o->s.end_ns);
	put_event(p, "C", o->nr, o->s.end_ns);
	put_above(p, o, false, o->s.end_ns);
	return 0;
}

static int finish_profile(struct speedscope *p)
{
	int ret = sweep_finish(&p->sweep);

	if (!p->has_profile)
		return ret;
	p->has_profile = false;
	json_array_end(&p->j);
	json_i64(&p->j, "startValue", p->start_ns);
	json_i64(&p->j, "endValue", p->end_ns);
	json_object_end(&p->j);
	return ret;
}

static int on_thread(void *arg, const struct thread *t, const struct life *life)
{
	struct speedscope *p = arg;
	int ret = finish_profile(p);
	char thread[TEXT_ROOM];

	text_thread(t->tid, t, thread);
	if (life)
		snprintf(p->name, sizeof(p->name), "req %" PRIu64 ": %.400s", life->id, thread);
	else
		snprintf(p->name, sizeof(p->name), "%s", thread);
	return ret;
}

static int on_segment(void *arg, const struct segment *s)
{
	struct speedscope *p = arg;

	if (s->kind != SEGMENT_FUNCTION && !(p->o->with_causes && stacks_is_cause(s->kind)))
		return 0;
	export_count(p->o, s);
	return sweep_segment(&p->sweep, s);
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
	struct speedscope p = { .o = o };
	struct walk_sink sink = { .thread = on_thread, .segment = on_segment, .arg = &p };
	const char *cmdline = reader_meta(m->reader, "cmdline");
	int ret;

	p.sweep = (struct sweep){ .begin = begin, .end = end, .arg = &p };
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
		snprintf(err, err_size, "no function was seen in what was selected");
		ret = -ENODATA;
	}
	sweep_free(&p.sweep);
	table_free(&p.numbers);
	free(p.frames);
	return ret;
}
