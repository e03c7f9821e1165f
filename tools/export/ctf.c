// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CTF 1.8, as Trace Compass and babeltrace read it: a stream for each thread with
 * an event where a segment begins and one where it ends, and a stream of requests.
 *
 * The format wants events in order of time, of all streams together.  They are
 * sorted first; ctf-graph.c then lets babeltrace write them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts/lockset.h"
#include "facts/ticks.h"
#include "cli/outfile.h"
#include "export/ctf-private.h"
#include "export/ends.h"
#include "export/packet.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

#define INNER		"trace"
#define SPILL_BYTES	(64UL << 20)
#define BASE_NS		3600000000000	/* nothing is before the clock's zero */

#define COMMON									\
	{ "name", 's' }, { "duration_ns", 'i' }, { "resolution_ns", 'i' }, { "open", 'u' }, \
	{ "has_request", 'u' }, { "request", 'u' }, { "file", 's' }, { "line", 'u' }
#define LOCK	{ "lock", 'x' }, { "kind", 's' }, { "held_by", 'u' }, { "failed", 'u' }
#define QUEUE	{ "queue", 'x' }, { "taken_by", 'u' }
#define OFF	{ "cause", 's' }
#define PAIR(kind, name, ...)							\
	[2 * (kind)] = { name "_begin", { __VA_ARGS__ } },			\
	[2 * (kind) + 1] = { name "_end", { { NULL } } }

const struct ctf_class ctf_classes[CTF_NR_CLASSES] = {
	PAIR(SEGMENT_REQUEST, "works_on", COMMON),
	PAIR(SEGMENT_FUNCTION, "function", COMMON),
	PAIR(SEGMENT_LOCK_WAIT, "lock_wait", COMMON, LOCK),
	PAIR(SEGMENT_LOCK_HOLD, "lock_hold", COMMON, LOCK),
	PAIR(SEGMENT_QUEUE, "queue", COMMON, QUEUE),
	PAIR(SEGMENT_RUNNABLE, "runnable", COMMON, OFF),
	PAIR(SEGMENT_PREEMPTED, "preempted", COMMON, OFF),
	PAIR(SEGMENT_BLOCKED, "blocked", COMMON, OFF),
	PAIR(SEGMENT_FUTEX_WAIT, "futex_wait", COMMON, LOCK),
	PAIR(NR_SEGMENT_KINDS, "request", { "class", 's' }, { "request", 'u' },
	     { "latency_ns", 'i' }, { "complete", 'u' }),
};

/* Items */

struct collector {
	struct ctf *c;
	struct packet item;
	struct export_ends ends;	/* track: the class */
	bool has_requests;
};

static void put_u64(struct packet *p, uint64_t value)
{
	if (packet_room(p, 8)) {
		memcpy(p->at + p->nr, &value, 8);
		p->nr += 8;
	}
}

static void put_text(struct packet *p, const char *text)
{
	size_t nr = strlen(text) + 1;

	if (packet_room(p, nr)) {
		memcpy(p->at + p->nr, text, nr);
		p->nr += nr;
	}
}

static void begin_item(struct collector *x, unsigned class)
{
	struct ctf_item item = { .class = class, .stream = x->c->nr_streams - 1 };

	x->item.nr = 0;
	if (packet_room(&x->item, sizeof(item))) {
		memcpy(x->item.at, &item, sizeof(item));
		x->item.nr = sizeof(item);
	}
}

static int end_item(struct collector *x, int64_t ns)
{
	int64_t at = ns + x->c->base_ns;

	if (x->item.has_failed)
		return -ENOMEM;
	return spill_add(&x->c->items, 0, at > 0 ? at : 0, x->item.at, x->item.nr);
}

static int on_end(void *arg, const struct export_end *e)
{
	struct collector *x = arg;

	begin_item(x, e->track);
	return end_item(x, e->at);
}

static int add_stream(struct collector *x, uint32_t tid, const char *name, bool is_requests)
{
	struct ctf *c = x->c;
	struct ctf_stream *streams = reallocarray(c->streams, c->nr_streams + 1, sizeof(*streams));
	char *copy = strdup(name);
	/* What is open is of the stream before. */
	int ret = c->nr_streams ? ends_until(&x->ends, INT64_MAX, on_end, x) : 0;

	if (streams)
		c->streams = streams;
	if (!streams || !copy) {
		free(copy);
		return -ENOMEM;
	}
	c->streams[c->nr_streams++] = (struct ctf_stream){ tid, copy, is_requests };
	return ret;
}

static int on_thread(void *arg, const struct thread *t)
{
	struct collector *x = arg;

	x->c->o->result->nr_threads++;
	return add_stream(x, t->tid, t->name, false);
}

static void put_special(struct collector *x, const struct segment *s)
{
	char text[TEXT_ROOM];

	switch (s->kind) {
	case SEGMENT_LOCK_WAIT:
	case SEGMENT_LOCK_HOLD:
	case SEGMENT_FUTEX_WAIT:
		put_u64(&x->item, s->lock);
		put_text(&x->item, lock_kind_name(s->lock_kind));
		put_u64(&x->item, s->kind == SEGMENT_LOCK_HOLD ? s->tid : s->owner);
		put_u64(&x->item, s->has_failed);
		break;
	case SEGMENT_QUEUE:
		put_u64(&x->item, s->lock);
		put_u64(&x->item, s->to_tid);
		break;
	case SEGMENT_RUNNABLE:
	case SEGMENT_PREEMPTED:
	case SEGMENT_BLOCKED:
		offcpu_text(x->c->m, s, text);
		put_text(&x->item, text);
		break;
	default:
		break;
	}
}

static int on_segment(void *arg, const struct segment *s)
{
	struct collector *x = arg;
	struct place place = segment_place(s);
	char name[EXPORT_NAME];
	int ret;

	if (!export_wants_time(x->c->o, s->start, s->end))
		return 0;
	ret = ends_until(&x->ends, s->start_ns, on_end, x);
	begin_item(x, 2 * s->kind);
	put_text(&x->item, export_name(x->c->m, s, name));
	put_u64(&x->item, s->duration_ns);
	put_u64(&x->item, s->duration_resolution_ns);
	put_u64(&x->item, s->is_truncated);
	put_u64(&x->item, s->has_req);
	put_u64(&x->item, s->req);
	put_text(&x->item, place.file);
	put_u64(&x->item, place.line);
	put_special(x, s);
	if (!ret)
		ret = end_item(x, s->start_ns);
	if (!ret)
		ret = ends_push(&x->ends, &(struct export_end){
			.at = s->end_ns, .track = 2 * s->kind + 1,
		});
	export_count(x->c->o, s);
	return ret;
}

static int on_request(void *arg, const struct life *life)
{
	struct collector *x = arg;
	int64_t start = ticks_time_ns(x->c->m->reader, life->start);
	int64_t end = ticks_time_ns(x->c->m->reader, life->end);
	int ret = 0;

	if (!export_wants_life(x->c->o, life))
		return 0;
	if (!x->has_requests)
		ret = add_stream(x, 0, "requests", true);
	x->has_requests = true;
	if (!ret)
		ret = ends_until(&x->ends, start, on_end, x);
	begin_item(x, CTF_REQUEST_CLASSES);
	put_text(&x->item, export_class_name(x->c->m, life->id, life->end));
	put_u64(&x->item, life->id);
	put_u64(&x->item, end - start);
	put_u64(&x->item, life->is_complete);
	if (!ret)
		ret = end_item(x, start);
	if (!ret)
		ret = ends_push(&x->ends, &(struct export_end){
			.at = end, .track = CTF_REQUEST_CLASSES + 1,
		});
	x->c->o->result->nr_requests++;
	return ret;
}

/* The directory */

static bool is_empty(int dir)
{
	DIR *d = fdopendir(dup(dir));
	const struct dirent *e;
	bool is_empty = true;

	if (!d)
		return false;
	rewinddir(d);
	while ((e = readdir(d)))
		is_empty &= !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	closedir(d);
	return is_empty;
}

/* New, or empty and then made private; open, or -1. */
static int open_directory(const char *path, bool *is_new, char *err, size_t err_size)
{
	int dir = outfile_folder(path, is_new);

	if (dir < 0) {
		snprintf(err, err_size, "cannot write %s: %s: ctf is a directory, a new one", path,
			 outfile_why(dir));
		return -1;
	}
	if (is_empty(dir) && !fchmod(dir, 0700) && is_empty(dir))
		return dir;
	snprintf(err, err_size, "%s is not empty: give a new directory with -o", path);
	close(dir);
	return -1;
}

/* From the directory in it that babeltrace has made; to < 0: they are removed. */
static int move_files(int dir, int to)
{
	int from = openat(dir, INNER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = from < 0 ? NULL : fdopendir(from);
	const struct dirent *e;
	int ret = 0;

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (to < 0)
			unlinkat(from, e->d_name, 0);
		else if (renameat(from, e->d_name, to, e->d_name))
			ret = -1;
	}
	if (d)
		closedir(d);
	return d && !unlinkat(dir, INNER, AT_REMOVEDIR) ? ret : -1;
}

/*
 * babeltrace wants to make its directory itself, and files that everybody may read: it
 * makes both in ours, by way of the open directory, which nobody can exchange.
 */
static int write_into(struct ctf *c, int dir, char *err, size_t err_size)
{
	mode_t mask = umask(077);
	char inner[64];
	int ret;

	snprintf(inner, sizeof(inner), "/proc/self/fd/%d/" INNER, dir);
	ret = ctf_write(c, inner, err, err_size);
	umask(mask);
	if (!ret && move_files(dir, dir)) {
		snprintf(err, err_size, "cannot write %s: %s", c->shown, strerror(errno));
		ret = -1;
	}
	if (ret)
		move_files(dir, -1);
	return ret;
}

/* Collecting is half of the work. */
static void on_progress(void *arg, const char *what, double done)
{
	const struct ctf *c = arg;

	c->o->progress(c->o->progress_arg, what, done / 2);
}

int export_ctf(struct model *m, const struct export_options *o, const char *path, char *err,
	       size_t err_size)
{
	struct ctf c = { .m = m, .o = o, .base_ns = BASE_NS, .shown = path };
	struct collector x = { .c = &c };
	struct tracks_options options = export_tracks(o);
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .request = on_request, .arg = &x,
	};
	struct tracks_result result;
	bool is_new;
	int dir = open_directory(path, &is_new, err, err_size), ret;

	if (dir < 0)
		return -1;
	spill_open(&c.items, SPILL_BYTES);
	options.progress = o->progress ? on_progress : NULL;
	options.progress_arg = &c;
	ret = tracks_each(m, &options, &sink, &result);
	/* Without a stream there would be no trace. */
	if (!ret && !c.nr_streams)
		ret = add_stream(&x, 0, "requests", true);
	if (!ret)
		ret = ends_until(&x.ends, INT64_MAX, on_end, &x);
	if (!ret)
		ret = spill_sort(&c.items);
	if (!ret) {
		export_take(o, &result);
		ret = write_into(&c, dir, err, err_size);
	}
	close(dir);
	if (ret && is_new)
		rmdir(path);
	spill_close(&c.items);
	ends_free(&x.ends);
	free(x.item.at);
	for (size_t i = 0; i < c.nr_streams; i++)
		free(c.streams[i].name);
	free(c.streams);
	return ret;
}
