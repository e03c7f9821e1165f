// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the JSON of chrome://tracing.  Programs that read it load the whole file, and fail above
 * some hundred megabytes.  So an export above a limit (LIMIT_BYTES, or --limit) is refused; cutting
 * it off would hide threads without notice.
 *
 * Functions are complete events on the row of their thread, where they nest.  Other segments are on
 * separate rows below that row, in lanes where they overlap; these rows have tids that are greater
 * than any tid of the kernel.  Times are microseconds with three digits after the point, since the
 * start of the recording, so nothing is rounded.
 */
#include <errno.h>
#include <stdlib.h>

#include "facts/ticks.h"
#include "cli/json.h"
#include "export/attrs.h"
#include "export/export.h"
#include "render/text.h"

#define LIMIT_BYTES	(100ULL << 20)
#define FIRST_ROW	0x10000000U	/* real tids are smaller */
#define TOO_MUCH	1

struct chrome {
	struct model *m;
	const struct export_options *o;
	struct json j;
	uint64_t limit;
	uint32_t pid;
	uint32_t nr_rows;
	struct thread thread;
	uint32_t sort;			/* position of the thread among the threads, from 1 */
	struct export_lanes lanes[NR_SEGMENT_KINDS];
	uint32_t *rows[NR_SEGMENT_KINDS]; /* tids of the lanes */
	struct export_lanes requests;
	uint32_t *request_rows;
};

static int check(struct chrome *x)
{
	long at = ftell(x->j.f);

	if (ferror(x->j.f))
		return errno ? -errno : -EIO;
	return at > 0 && (uint64_t)at > x->limit ? TOO_MUCH : 0;
}

static void begin_event(struct chrome *x, const char *ph, uint32_t tid)
{
	json_flat(&x->j);
	json_object_begin(&x->j, NULL);
	json_string(&x->j, "ph", ph);
	json_u64(&x->j, "pid", x->pid);
	json_u64(&x->j, "tid", tid);
}

static void put_meta(struct chrome *x, uint32_t tid, const char *what, const char *name)
{
	begin_event(x, "M", tid);
	json_string(&x->j, "name", what);
	json_object_begin(&x->j, "args");
	json_string(&x->j, "name", name);
	json_object_end(&x->j);
	json_object_end(&x->j);
}

static void put_sort(struct chrome *x, uint32_t tid)
{
	begin_event(x, "M", tid);
	json_string(&x->j, "name", "thread_sort_index");
	json_object_begin(&x->j, "args");
	json_u64(&x->j, "sort_index", x->sort);
	json_object_end(&x->j);
	json_object_end(&x->j);
}

/* Returns the tid of the row of the first lane that is free; 0: out of memory. */
static uint32_t row_of(struct chrome *x, struct export_lanes *lanes, uint32_t **rows, int64_t start,
		       int64_t end, const char *name)
{
	uint32_t *at;
	bool is_new;
	int lane = export_lane(lanes, start, end, &is_new);

	if (lane < 0)
		return 0;
	if (!is_new)
		return (*rows)[lane];
	at = reallocarray(*rows, lane + 1, sizeof(*at));
	if (!at)
		return 0;
	*rows = at;
	at[lane] = FIRST_ROW + x->nr_rows++;
	put_meta(x, at[lane], "thread_name", name);
	put_sort(x, at[lane]);
	return at[lane];
}

static void forget_thread(struct chrome *x)
{
	for (int i = 0; i < NR_SEGMENT_KINDS; i++) {
		free(x->lanes[i].ends);
		free(x->rows[i]);
		x->lanes[i] = (struct export_lanes){ 0 };
		x->rows[i] = NULL;
	}
}

static int on_thread(void *arg, const struct thread *t)
{
	struct chrome *x = arg;

	forget_thread(x);
	x->thread = *t;
	x->sort++;
	x->o->result->nr_threads++;
	put_meta(x, t->tid, "thread_name", *t->name ? t->name : "?");
	put_sort(x, t->tid);
	return check(x);
}

static void put_attr(struct json *j, const struct attr *a)
{
	char text[TEXT_ROOM];

	switch (a->type) {
	case ATTR_I64:
		json_i64(j, a->name, (int64_t)a->number);
		break;
	case ATTR_U64:
	case ATTR_REQUEST:
		json_u64(j, a->name, a->number);
		break;
	case ATTR_HEX:
		json_hex(j, a->name, a->number);
		break;
	case ATTR_BOOL:
		json_bool(j, a->name, a->number);
		break;
	case ATTR_PLACE:
		json_string(j, a->name, text_place(a->text, a->number, text));
		break;
	default:
		json_string(j, a->name, a->text);
		break;
	}
}

/* Writes an event that takes time, with its attributes. */
static void put_event(struct chrome *x, uint32_t tid, const char *name, const char *category,
		      int64_t start_ns, int64_t end_ns, const struct attrs *attrs)
{
	begin_event(x, "X", tid);
	json_string(&x->j, "name", name);
	json_string(&x->j, "cat", category);
	json_micros(&x->j, "ts", start_ns);
	json_micros(&x->j, "dur", end_ns - start_ns);
	json_object_begin(&x->j, "args");
	for (size_t i = 0; i < attrs->nr; i++)
		put_attr(&x->j, &attrs->at[i]);
	json_object_end(&x->j);
	json_object_end(&x->j);
}

static void put_flow(struct chrome *x, uint64_t flow, uint32_t tid, const struct segment *s)
{
	char id[24];

	begin_event(x, s->kind == SEGMENT_QUEUE ? "s" : "f", tid);
	json_string(&x->j, "name", "taken out of the queue");
	json_string(&x->j, "cat", "queue");
	snprintf(id, sizeof(id), "0x%llx", (unsigned long long)flow);
	json_string(&x->j, "id", id);
	json_micros(&x->j, "ts", s->start_ns);
	if (s->kind != SEGMENT_QUEUE)
		json_string(&x->j, "bp", "e");
	json_object_end(&x->j);
}

static int on_segment(void *arg, const struct segment *s)
{
	char name[EXPORT_NAME], row[TEXT_ROOM + 64];
	struct chrome *x = arg;
	unsigned group = segment_kinds[s->kind].track;
	uint64_t flow = export_queue_flow(x->o, s);
	uint32_t tid = s->tid;
	struct attrs attrs;

	if (!export_wants_time(x->o, s->start, s->end))
		return 0;
	if (s->kind != SEGMENT_FUNCTION) {
		snprintf(row, sizeof(row), "%s %u: %s", x->thread.name, s->tid,
			 segment_kinds[group].track_words);
		tid = row_of(x, &x->lanes[group], &x->rows[group], s->start_ns, s->end_ns, row);
		if (!tid)
			return -ENOMEM;
	}
	attrs_of_segment(&attrs, x->m, s, false);
	put_event(x, tid, export_name(x->m, s, name), segment_kinds[s->kind].category,
		  s->start_ns, s->end_ns, &attrs);
	if (flow) {
		put_flow(x, flow, tid, s);
		x->o->result->nr_flows += s->kind == SEGMENT_REQUEST;
	}
	export_count(x->o, s);
	return check(x);
}

static int on_request(void *arg, const struct instance *instance)
{
	struct chrome *x = arg;
	int64_t start = ticks_time_ns(x->m->reader, instance->start);
	int64_t end = ticks_time_ns(x->m->reader, instance->end);
	struct attrs attrs;
	uint32_t tid;

	if (!export_wants_instance(x->o, instance))
		return 0;
	x->sort = 0;
	tid = row_of(x, &x->requests, &x->request_rows, start, end, "requests");
	if (!tid)
		return -ENOMEM;
	attrs_of_instance(&attrs, x->m, instance);
	put_event(x, tid, export_class_name(x->m, instance->id, instance->end), "request", start, end,
		  &attrs);
	x->o->result->nr_requests++;
	return check(x);
}

static void put_head(struct chrome *x)
{
	const char *cmdline = reader_meta(x->m->reader, "cmdline");

	x->pid = x->m->pid;
	json_init(&x->j, x->j.f);
	json_object_begin(&x->j, NULL);
	json_string(&x->j, "displayTimeUnit", "ns");
	json_array_begin(&x->j, "traceEvents");
	put_meta(x, x->pid, "process_name", cmdline ? cmdline : "?");
}

int export_chrome(struct model *m, const struct export_options *o, FILE *out, char *err,
		  size_t err_size)
{
	struct chrome x = { .m = m, .o = o, .j = { .f = out } };
	struct tracks_options options = export_tracks(o, true, true);
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .request = on_request, .arg = &x,
	};
	struct tracks_result result;
	int ret;

	x.limit = o->limit_bytes ? o->limit_bytes : LIMIT_BYTES;
	put_head(&x);
	ret = tracks_each(m, &options, &sink, &result);
	json_array_end(&x.j);
	json_object_end(&x.j);
	json_end(&x.j);
	forget_thread(&x);
	free(x.requests.ends);
	free(x.request_rows);
	if (ret == TOO_MUCH) {
		snprintf(err, err_size, "more than %.3g MB of chrome JSON, and its viewers read it "
			 "whole: take perfetto, or a part with --from, --to, --slowest or "
			 "--max-functions (--limit allows more)",
			 (double)x.limit / (1 << 20));
		return -1;
	}
	if (!ret)
		export_take(o, &result);
	return ret;
}
