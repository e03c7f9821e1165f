// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes OTLP in its JSON form: one message for each request, each on a line of its own.  A request
 * is a span in OTLP, and each of its spans on a thread or in a queue is a child span.  The causes of
 * the request's latency are events of its span, biggest first, with the durations of ldb-timeline;
 * the waits in a child span are events of the child span.
 *
 * If no requests are selected, only the slow ones are written: the slowest hundredth of each class,
 * or the slowest thousandth of a class with many requests.  If all requests are written, only the
 * slow ones have causes, because finding these takes milliseconds for each request.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/requests.h"
#include "facts/ticks.h"
#include "analysis/timeline/timeline.h"
#include "export/export.h"
#include "cli/json.h"
#include "facts/links.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

#define MANY		10000	/* a class with more requests than this has many */
#define EVENTS_MAX	64	/* of one span; OpenTelemetry's SDKs permit 128 by default */

enum { SPAN_INTERNAL = 1, SPAN_SERVER = 2 };	/* SpanKind of trace.proto */

struct otlp {
	struct model *m;
	const struct export_options *options;
	FILE *out;
	struct links *links;
	struct requests requests;	/* for the percentiles of the classes */
	struct json j;
	/* the current request */
	const struct instance *instance;
	const struct timeline *t;
	struct interruptions interruptions;	/* interruptions during the work on the request */
	/* t has the request's whole timeline; otherwise only its id, class, times and flags */
	bool has_causes;
	struct link_ids ids;
	uint64_t root;
};

/*
 * In OTLP's JSON form, 64-bit numbers are strings, ids are hexadecimal, and attributes have typed
 * values.
 */

/* Writes a number of type fixed64. */
static void put_u64(struct json *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	json_string(j, key, text);
}

static void put_trace_id(struct json *j, const char *key, const struct link_ids *ids)
{
	char text[40];

	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, ids->trace_hi, ids->trace_lo);
	json_string(j, key, text);
}

static void put_span_id(struct json *j, const char *key, uint64_t span)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, span);
	json_string(j, key, text);
}

static void attr_begin(struct json *j, const char *key)
{
	json_object_begin(j, NULL);
	json_string(j, "key", key);
	json_object_begin(j, "value");
}

static void attr_end(struct json *j)
{
	json_object_end(j);
	json_object_end(j);
}

/* These write elements of an array of attributes.  Texts that are NULL or "" are left out. */
static void attr_text(struct json *j, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	attr_begin(j, key);
	json_string(j, "stringValue", value);
	attr_end(j);
}

static void attr_i64(struct json *j, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	attr_begin(j, key);
	json_string(j, "intValue", text);
	attr_end(j);
}

static void attr_bool(struct json *j, const char *key, bool value)
{
	attr_begin(j, key);
	json_bool(j, "boolValue", value);
	attr_end(j);
}

/* The following functions write parts of a message. */

static uint64_t unix_ns(const struct otlp *o, int64_t ns)
{
	return (uint64_t)reader_header(o->m->reader)->realtime_ns + (uint64_t)ns;
}

static void put_resource(struct otlp *o)
{
	struct reader *r = o->m->reader;
	const char *exe = reader_meta(r, "exe");
	char name[64] = "";

	if (!exe) {
		const char *cmdline = reader_meta(r, "cmdline");

		snprintf(name, sizeof(name), "%.*s", cmdline ? (int)strcspn(cmdline, " ") : 0,
			 cmdline ? cmdline : "");
	}
	json_object_begin(&o->j, "resource");
	json_array_begin(&o->j, "attributes");
	attr_text(&o->j, "service.name", basename(exe ? exe : name));
	attr_text(&o->j, "host.name", reader_meta(r, "host"));
	if (o->m->pid)
		attr_i64(&o->j, "process.pid", o->m->pid);
	attr_text(&o->j, "process.executable.path", exe);
	attr_text(&o->j, "process.command_line", reader_meta(r, "cmdline"));
	attr_text(&o->j, "ldb.kernel_events", o->m->kernel_events);
	attr_i64(&o->j, "ldb.lost_records", (int64_t)o->m->nr_lost);
	json_array_end(&o->j);
	json_object_end(&o->j);
}

static void put_site(struct otlp *o, const struct symbol *site)
{
	if (!site)
		return;
	attr_text(&o->j, "code.function.name", site->function);
	attr_text(&o->j, "code.file.path", site->file);
	if (site->line)
		attr_i64(&o->j, "code.line.number", site->line);
}

static void put_context(struct otlp *o, const char *key, const struct context *p)
{
	char text[TEXT_ROOM];

	if (p && p->kind != CONTEXT_NONE)
		attr_text(&o->j, key, text_context(o->m, p, text));
}

static void event_begin(struct otlp *o, int64_t at_ns, const char *name)
{
	json_object_begin(&o->j, NULL);
	put_u64(&o->j, "timeUnixNano", unix_ns(o, at_ns));
	json_string(&o->j, "name", name);
	json_array_begin(&o->j, "attributes");
}

static void event_end(struct otlp *o)
{
	json_array_end(&o->j);
	json_object_end(&o->j);
}

static void put_holder(struct otlp *o, const struct timeline_cause *c)
{
	if (c->hold) {
		attr_i64(&o->j, "ldb.holder.tid", c->hold->tid);
		attr_text(&o->j, "ldb.holder.thread", model_thread_name(c->hold->thread));
	}
	if (c->hold_func)
		attr_text(&o->j, "ldb.holder.function", c->hold_func->func->function);
	if (c->hold_off) {
		attr_text(&o->j, "ldb.holder.off_cpu", segment_kinds[c->hold_off->kind].name);
		attr_i64(&o->j, "ldb.holder.off_cpu_ns", c->hold_off_ns);
		put_context(o, "ldb.holder.off_cpu_by", offcpu_context(c->hold_off));
	}
}

/*
 * Writes a cause as an event.  Its time is the start of the longest wait or time off the CPU, or,
 * if there is none, as for a function, the end of the request.
 */
static void put_cause(struct otlp *o, const struct timeline_cause *c)
{
	const struct segment *at = c->wait ? c->wait : c->off;
	char buf[TEXT_ROOM];
	const char *name = timeline_cause_name(c, buf), *queue;

	event_begin(o, at ? at->start_ns : o->t->end_ns, "ldb.cause");
	attr_text(&o->j, "ldb.kind", leaf_kinds[c->kind].name);
	attr_i64(&o->j, "ldb.total_ns", c->ns);
	attr_i64(&o->j, "ldb.count", (int64_t)c->nr);
	if (*name)
		attr_text(&o->j, "ldb.name", name);
	queue = timeline_cause_queue(c, buf);
	if (queue)
		attr_text(&o->j, "ldb.queue", queue);
	if (c->kind == LEAF_FUNCTION || c->off)
		attr_i64(&o->j, "ldb.resolution_ns", c->resolution_ns);
	put_site(o, at ? at->site : NULL);
	put_holder(o, c);
	if (c->off) {
		attr_text(&o->j, "ldb.state", sched_state_name(c->off->sched->state));
		put_context(o, "ldb.by", &c->blocker);
		attr_i64(&o->j, "ldb.by_ns", c->blocker_ns);
	}
	event_end(o);
}

static void put_dropped(struct otlp *o, size_t nr)
{
	if (nr)
		json_u64(&o->j, "droppedEventsCount", nr);
}

static void put_causes(struct otlp *o)
{
	size_t nr = o->t->nr_causes < EVENTS_MAX ? o->t->nr_causes : EVENTS_MAX;

	json_array_begin(&o->j, "events");
	for (size_t i = 0; i < nr; i++)
		put_cause(o, &o->t->causes[i]);
	json_array_end(&o->j);
	put_dropped(o, o->t->nr_causes - nr);
}

static void span_begin(struct otlp *o, uint64_t id, uint64_t parent, const char *name,
		       unsigned kind, int64_t start_ns, int64_t end_ns)
{
	struct json *j = &o->j;

	json_object_begin(j, NULL);
	put_trace_id(j, "traceId", &o->ids);
	put_span_id(j, "spanId", id);
	if (parent)
		put_span_id(j, "parentSpanId", parent);
	json_string(j, "name", name);
	json_u64(j, "kind", kind);
	put_u64(j, "startTimeUnixNano", unix_ns(o, start_ns));
	put_u64(j, "endTimeUnixNano", unix_ns(o, end_ns));
}

static void put_sums(struct otlp *o)
{
	const struct timeline *t = o->t;
	struct json *j = &o->j;

	attr_i64(j, "ldb.lock_wait_ns", t->lock_wait_ns);
	attr_i64(j, "ldb.queue_ns", t->queue_ns);
	if (o->m->has_sched) {
		attr_i64(j, "ldb.runnable_ns", t->runnable_ns);
		attr_i64(j, "ldb.preempted_ns", t->preempted_ns);
		attr_i64(j, "ldb.blocked_ns", t->blocked_ns);
		attr_i64(j, "ldb.futex_wait_ns", t->futex_wait_ns);
	}
	if (o->m->has_faults) {
		attr_i64(j, "ldb.page_faults", (int64_t)o->interruptions.nr_faults);
		attr_i64(j, "ldb.major_faults", (int64_t)o->interruptions.nr_major);
	}
	if (o->m->has_irqs) {
		attr_i64(j, "ldb.interrupts", (int64_t)o->interruptions.nr_irqs);
		attr_i64(j, "ldb.interrupt_ns", o->interruptions.irq_ns);
	}
	if (t->left_out_ns)
		attr_i64(j, "ldb.left_out_below_ns", t->left_out_ns);
}

static void put_notes(struct otlp *o)
{
	const struct note *found[NOTES_KEYS_MAX];
	size_t nr = notes_of(o->m, o->instance->id, o->instance->start, o->instance->end, found);
	char name[32], value[NOTE_ROOM];

	/* OTLP's integers are signed, so numbers above INT64_MAX are written as texts. */
	for (size_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "ldb.note.%s", found[i]->key);
		if (found[i]->text || found[i]->number > INT64_MAX)
			attr_text(&o->j, name, note_value(found[i], value));
		else
			attr_i64(&o->j, name, (int64_t)found[i]->number);
	}
}

static void put_request_attributes(struct otlp *o)
{
	const struct timeline *t = o->t;
	struct json *j = &o->j;
	char id[24];

	/* The id is a string, because OTLP's integers are signed. */
	snprintf(id, sizeof(id), "%" PRIu64, t->req);
	json_array_begin(j, "attributes");
	attr_text(j, "ldb.request.id", id);
	attr_text(j, "ldb.request.class", t->class);
	attr_bool(j, "ldb.request.complete", t->is_complete);
	if (t->has_lost_handoff)
		attr_bool(j, "ldb.request.lost_handoff", true);
	attr_i64(j, "ldb.latency_ns", t->latency_ns);
	if (t->latency_resolution_ns)
		attr_i64(j, "ldb.latency_resolution_ns", t->latency_resolution_ns);
	put_notes(o);
	if (o->has_causes)
		put_sums(o);
	json_array_end(j);
}

static bool is_wait(const struct segment *s)
{
	return s->kind == SEGMENT_LOCK_WAIT || segment_kinds[s->kind].off_cpu;
}

static void put_wait(struct otlp *o, const struct segment *s)
{
	char name[TEXT_ROOM], key[64];

	snprintf(key, sizeof(key), "ldb.%s", segment_kinds[s->kind].name);
	event_begin(o, s->start_ns, key);
	attr_i64(&o->j, "ldb.duration_ns", s->end_ns - s->start_ns);
	attr_i64(&o->j, "ldb.resolution_ns", s->resolution_ns);
	if (s->lock)
		attr_text(&o->j, "ldb.name", segment_name(s, name));
	if (s->owner)
		attr_i64(&o->j, "ldb.owner.tid", s->owner);
	put_site(o, s->site);
	if (s->sched)
		put_context(o, "ldb.by", offcpu_context(s));
	if (s->sched && s->sched->is_throttled)
		attr_bool(&o->j, "ldb.throttled", true);
	event_end(o);
}

static void put_waits(struct otlp *o, const struct instance_part *p)
{
	int64_t start_ns = ticks_time_ns(o->m->reader, p->start);
	int64_t end_ns = ticks_time_ns(o->m->reader, p->end);
	size_t nr = 0;

	json_array_begin(&o->j, "events");
	for (size_t i = 0; i < o->t->nr_segments; i++) {
		const struct segment *s = &o->t->segments[i];

		if (s->tid != p->tid || s->blocks_req || !is_wait(s) || s->start_ns < start_ns ||
		    s->start_ns >= end_ns)
			continue;
		if (nr++ < EVENTS_MAX)
			put_wait(o, s);
	}
	json_array_end(&o->j);
	put_dropped(o, nr > EVENTS_MAX ? nr - EVENTS_MAX : 0);
}

static void put_part(struct otlp *o, size_t nth)
{
	const struct instance_part *p = &o->instance->parts[nth];
	const struct thread *thread = model_thread(o->m, p->tid, p->start);
	int64_t end = p->end < o->instance->end ? p->end : o->instance->end;
	const struct symbol *queue = NULL;
	char name[TEXT_ROOM], address[32];

	if (end < p->start)
		return;
	if (p->is_queue && p->queue)
		queue = symtab_lookup_data(o->m->symtab, p->queue, p->start);
	snprintf(address, sizeof(address), "0x%" PRIx64, p->queue);
	if (p->is_queue)
		snprintf(name, sizeof(name), "queue%s%s", p->queue ? " " : "",
			 !p->queue ? "" : queue->known ? queue->function : address);
	else
		text_thread(p->tid, thread, name);
	span_begin(o, links_make_span(o->links, o->instance, nth + 1), o->root, name, SPAN_INTERNAL,
		   ticks_time_ns(o->m->reader, p->start), ticks_time_ns(o->m->reader, end));
	json_array_begin(&o->j, "attributes");
	attr_text(&o->j, "ldb.part", p->is_queue ? "queue" : "thread");
	attr_i64(&o->j, "thread.id", p->tid);
	attr_text(&o->j, "thread.name", model_thread_name(thread));
	if (p->queue)
		attr_text(&o->j, "ldb.queue", address);
	if (p->is_queue && p->to_tid)
		attr_i64(&o->j, "ldb.to_thread.id", p->to_tid);
	if (p->is_open)
		attr_bool(&o->j, "ldb.open", true);
	put_site(o, p->site ? symtab_lookup_call(o->m->symtab, p->site, p->start) : NULL);
	json_array_end(&o->j);
	if (!p->is_queue)
		put_waits(o, p);
	json_object_end(&o->j);
}

static void put_spans(struct otlp *o)
{
	const struct timeline *t = o->t;

	json_array_begin(&o->j, "spans");
	span_begin(o, o->root, o->ids.span, *t->class ? t->class : "request", SPAN_SERVER,
		   t->start_ns, t->end_ns);
	put_request_attributes(o);
	put_causes(o);
	json_object_end(&o->j);
	for (size_t i = 0; i < o->instance->nr_parts; i++)
		put_part(o, i);
	json_array_end(&o->j);
}

static void put_message(struct otlp *o)
{
	struct json *j = &o->j;

	json_init(j, o->out);
	json_flat(j);
	json_object_begin(j, NULL);
	json_array_begin(j, "resourceSpans");
	json_object_begin(j, NULL);
	put_resource(o);
	json_array_begin(j, "scopeSpans");
	json_object_begin(j, NULL);
	json_object_begin(j, "scope");
	json_string(j, "name", "ldb");
	json_string(j, "version", LDB_VERSION);
	json_object_end(j);
	put_spans(o);
	json_object_end(j);
	json_array_end(j);
	json_object_end(j);
	json_array_end(j);
	json_object_end(j);
	json_end(j);
}

static int put_instance(struct otlp *o, const struct instance *instance, bool with_causes)
{
	struct timeline t = {
		.req = instance->id, .class = instance->class, .is_complete = instance->is_complete,
		.has_lost_handoff = instance->has_lost_handoff,
		.start_ns = ticks_time_ns(o->m->reader, instance->start),
		.end_ns = ticks_time_ns(o->m->reader, instance->end),
		.latency_ns = instance_latency_ns(o->m, instance),
			.latency_resolution_ns = ticks_ns(o->m->reader, instance->resolution),
	};
	int ret = links_find(o->links, instance, &o->ids);

	if (!ret && with_causes)
		ret = timeline_build(o->m, instance, &t);
	if (ret)
		return ret;
	o->interruptions = (struct interruptions){ 0 };
	if (with_causes)
		ret = timeline_interruptions(o->m, &t, &o->interruptions);
	if (ret) {
		timeline_free(&t);
		return ret;
	}
	o->instance = instance;
	o->t = &t;
	o->has_causes = with_causes;
	o->root = links_make_span(o->links, instance, 0);
	/*
	 * A parent's span id without its trace id is not written, because viewers could not find
	 * the span.
	 */
	if (!o->ids.trace_hi && !o->ids.trace_lo) {
		links_make_trace(o->links, instance, &o->ids);
		o->ids.span = 0;
	}
	put_message(o);
	timeline_free(&t);
	o->options->result->nr_requests++;
	if (o->options->progress)
		o->options->progress(o->options->progress_arg, "requests",
				     (double)ticks_time_ns(o->m->reader, instance->end) /
				     (o->m->duration_ns + 1));
	return ferror(o->out) ? -EIO : 0;
}

/* Returns true if the request is one of the slow ones of its class. */
static bool is_slow(const struct otlp *o, const struct instance *instance)
{
	for (size_t i = 0; i < o->requests.nr_classes; i++) {
		const struct request_class *c = &o->requests.classes[i];

		if (!strcmp(c->name, instance->class))
			return instance->is_complete && instance_latency_ns(o->m, instance) >=
			       (c->count > MANY ? c->p999_ns : c->p99_ns);
	}
	return false;
}

static int on_instance(void *arg, struct instance *instance)
{
	struct otlp *o = arg;
	bool is_tail;

	if (instance->start < o->options->from || instance->start > o->options->to)
		return 0;
	is_tail = is_slow(o, instance);
	return is_tail || o->options->all_requests ? put_instance(o, instance, is_tail) : 0;
}

static int put_by_time(struct otlp *o)
{
	struct requests_options options = REQUESTS_OPTIONS_ALL;
	struct instances_result result;
	int ret;

	options.from = o->options->from;
	options.to = o->options->to;
	ret = requests_build(o->m, &options, &o->requests);
	if (!ret)
		ret = instances_each(o->m, on_instance, o, &result);
	requests_free(&o->requests);
	return ret;
}

int export_otlp(struct model *m, const struct export_options *options, FILE *out, char *err,
		size_t err_size)
{
	struct otlp o = { .m = m, .options = options, .out = out, .links = links_open(m) };
	int ret = o.links ? 0 : -ENOMEM;

	if (!ret && !options->has_instances)
		ret = put_by_time(&o);
	for (size_t i = 0; options->has_instances && i < options->nr_instances && !ret; i++)
		ret = put_instance(&o, &options->instances[i], true);
	links_close(o.links);
	return ret;
}
