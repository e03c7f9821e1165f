// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Items become a CTF trace: a graph of libbabeltrace2 with a source of our own,
 * which plays them as messages, and babeltrace's sink.ctf.fs, which writes.
 */
#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "export/ctf-private.h"

struct graph {
	struct ctf *c;
	bt_trace_class *trace_class;
	bt_trace *trace;
	bt_clock_class *clock;
	bt_stream_class *stream_classes[2]; /* threads, requests */
	bt_event_class *event_classes[CTF_NR_CLASSES];
	bt_stream **streams;
	bt_packet **packets;		/* one for each */
	size_t nr_begun, nr_ended;	/* of streams and packets together */
	uint64_t last;			/* the time of the event played last */
	bool is_drained;
};

/* The shape of the trace */

static bt_field_class *field_class(struct graph *g, char type)
{
	bt_field_class *fc;

	switch (type) {
	case 's':
		return bt_field_class_string_create(g->trace_class);
	case 'i':
		fc = bt_field_class_integer_signed_create(g->trace_class);
		break;
	default:
		fc = bt_field_class_integer_unsigned_create(g->trace_class);
		break;
	}
	if (fc)
		bt_field_class_integer_set_field_value_range(fc, 64);
	if (fc && type == 'x')
		bt_field_class_integer_set_preferred_display_base(
			fc, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return fc;
}

static bool append(struct graph *g, bt_field_class *structure, const struct ctf_field *f)
{
	bt_field_class *member = field_class(g, f->type);
	bool ok = member && !bt_field_class_structure_append_member(structure, f->name, member);

	bt_field_class_put_ref(member);
	return ok;
}

/* NULL: out of memory. */
static bt_field_class *structure(struct graph *g, const struct ctf_field *fields)
{
	bt_field_class *fc = bt_field_class_structure_create(g->trace_class);

	for (; fc && fields->name; fields++)
		if (!append(g, fc, fields)) {
			bt_field_class_put_ref(fc);
			return NULL;
		}
	return fc;
}

static bool make_clock(struct graph *g, bt_self_component *self)
{
	int64_t real = reader_header(g->c->m->reader)->realtime_ns - g->c->base_ns;
	int64_t s = real / 1000000000, ns = real % 1000000000;

	if (ns < 0) {
		ns += 1000000000;
		s--;
	}
	g->clock = bt_clock_class_create(self);
	if (!g->clock || bt_clock_class_set_name(g->clock, "recording"))
		return false;
	bt_clock_class_set_frequency(g->clock, 1000000000);
	bt_clock_class_set_offset(g->clock, s, ns);
	bt_clock_class_set_origin_is_unix_epoch(g->clock, BT_TRUE);
	return true;
}

static bool make_stream_class(struct graph *g, bool is_requests)
{
	/* The names that Trace Compass knows. */
	static const struct ctf_field context[] = {
		{ "vtid", 'i' }, { "procname", 's' }, { NULL },
	};
	bt_stream_class *sc = bt_stream_class_create(g->trace_class);
	bt_field_class *fc;
	bool ok;

	g->stream_classes[is_requests] = sc;
	if (!sc || bt_stream_class_set_default_clock_class(sc, g->clock))
		return false;
	/* With times: babeltrace 2.1 cannot read what its own sink writes without. */
	bt_stream_class_set_supports_packets(sc, BT_TRUE, BT_TRUE, BT_TRUE);
	if (is_requests)
		return true;
	fc = structure(g, context);
	ok = fc && !bt_stream_class_set_event_common_context_field_class(sc, fc);
	bt_field_class_put_ref(fc);
	return ok;
}

static bool make_event_class(struct graph *g, unsigned i)
{
	const struct ctf_class *class = &ctf_classes[i];
	bt_event_class *ec = bt_event_class_create(g->stream_classes[i >= CTF_REQUEST_CLASSES]);
	bt_field_class *fc = structure(g, class->fields);
	bool ok;

	g->event_classes[i] = ec;
	ok = ec && fc && !bt_event_class_set_name(ec, class->name) &&
	     !bt_event_class_set_payload_field_class(ec, fc);
	bt_field_class_put_ref(fc);
	return ok;
}

static bool make_stream(struct graph *g, size_t i)
{
	const struct ctf_stream *from = &g->c->streams[i];
	bt_stream *s = bt_stream_create(g->stream_classes[from->is_requests], g->trace);
	char name[64];

	g->streams[i] = s;
	snprintf(name, sizeof(name), from->is_requests ? "requests" : "thread-%u", from->tid);
	if (!s || bt_stream_set_name(s, name))
		return false;
	g->packets[i] = bt_packet_create(s);
	return g->packets[i];
}

static bool make_environment(struct graph *g)
{
	static const char *const keys[] = { "hostname", "host", "cmdline", "cmdline" };
	bt_trace *t = g->trace;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i += 2) {
		const char *value = reader_meta(g->c->m->reader, keys[i + 1]);

		if (value && *value && bt_trace_set_environment_entry_string(t, keys[i], value))
			return false;
	}
	return !bt_trace_set_environment_entry_string(t, "domain", "ust") &&
	       !bt_trace_set_environment_entry_string(t, "tracer_name", "ldb") &&
	       !bt_trace_set_environment_entry_string(t, "tracer_version", LDB_VERSION);
}

static bool make_trace(struct graph *g, bt_self_component *self)
{
	bool ok;

	g->trace_class = bt_trace_class_create(self);
	ok = g->trace_class && make_clock(g, self) && make_stream_class(g, false) &&
	     make_stream_class(g, true);
	for (unsigned i = 0; i < CTF_NR_CLASSES && ok; i++)
		ok = make_event_class(g, i);
	if (ok)
		g->trace = bt_trace_create(g->trace_class);
	ok = ok && g->trace && !bt_trace_set_name(g->trace, "ldb") && make_environment(g);
	g->streams = calloc(g->c->nr_streams + 1, sizeof(bt_stream *));
	g->packets = calloc(g->c->nr_streams + 1, sizeof(bt_packet *));
	ok = ok && g->streams && g->packets;
	for (size_t i = 0; i < g->c->nr_streams && ok; i++)
		ok = make_stream(g, i);
	return ok;
}

static void put_trace(struct graph *g)
{
	for (size_t i = 0; i < g->c->nr_streams && g->packets; i++)
		bt_packet_put_ref(g->packets[i]);
	for (size_t i = 0; i < g->c->nr_streams && g->streams; i++)
		bt_stream_put_ref(g->streams[i]);
	free(g->packets);
	free(g->streams);
	for (unsigned i = 0; i < CTF_NR_CLASSES; i++)
		bt_event_class_put_ref(g->event_classes[i]);
	bt_stream_class_put_ref(g->stream_classes[0]);
	bt_stream_class_put_ref(g->stream_classes[1]);
	bt_clock_class_put_ref(g->clock);
	bt_trace_put_ref(g->trace);
	bt_trace_class_put_ref(g->trace_class);
}

/* Messages */

static bool set_text(bt_field *structure, unsigned i, const char *text)
{
	return !bt_field_string_set_value(
		bt_field_structure_borrow_member_field_by_index(structure, i), text);
}

static void set_number(bt_field *structure, unsigned i, char type, uint64_t value)
{
	bt_field *f = bt_field_structure_borrow_member_field_by_index(structure, i);

	if (type == 'i')
		bt_field_integer_signed_set_value(f, (int64_t)value);
	else
		bt_field_integer_unsigned_set_value(f, value);
}

static bool fill(const struct graph *g, bt_event *e, const struct ctf_item *item)
{
	const struct ctf_field *f = ctf_classes[item->class].fields;
	const struct ctf_stream *s = &g->c->streams[item->stream];
	const char *at = (const char *)(item + 1);
	bt_field *context = bt_event_borrow_common_context_field(e);
	bt_field *payload = bt_event_borrow_payload_field(e);

	if (context) {
		set_number(context, 0, 'i', s->tid);
		if (!set_text(context, 1, s->name))
			return false;
	}
	for (unsigned i = 0; f[i].name; i++) {
		uint64_t value;

		if (f[i].type == 's') {
			if (!set_text(payload, i, at))
				return false;
			at += strlen(at) + 1;
			continue;
		}
		memcpy(&value, at, sizeof(value));
		at += sizeof(value);
		set_number(payload, i, f[i].type, value);
	}
	return true;
}

/* The next event; NULL: g->is_drained, or an error. */
static bt_message *next_event(struct graph *g, bt_self_message_iterator *self)
{
	struct spill_item item;
	const struct ctf_item *from;
	bt_message *msg;
	int ret = spill_next(&g->c->items, &item);

	if (ret <= 0) {
		g->is_drained = !ret;
		g->c->ret = ret;
		return NULL;
	}
	from = item.data;
	/* Collecting was the first half. */
	if (g->c->o->progress && !(++g->c->nr_played & 0xfff))
		g->c->o->progress(g->c->o->progress_arg, "writing",
				  0.5 + 0.5 * g->c->nr_played / g->c->items.nr);
	g->last = item.minor;
	msg = bt_message_event_create_with_packet_and_default_clock_snapshot(
		self, g->event_classes[from->class], g->packets[from->stream], item.minor);
	if (msg && fill(g, bt_message_event_borrow_event(msg), from))
		return msg;
	bt_message_put_ref(msg);
	return NULL;
}

/* Each stream has one packet, and each packet all of the time. */
static bt_message *begin(struct graph *g, bt_self_message_iterator *self, size_t nr)
{
	if (nr % 2)
		return bt_message_packet_beginning_create_with_default_clock_snapshot(
			self, g->packets[nr / 2], 0);
	return bt_message_stream_beginning_create(self, g->streams[nr / 2]);
}

static bt_message *end(struct graph *g, bt_self_message_iterator *self, size_t nr)
{
	if (nr % 2)
		return bt_message_stream_end_create(self, g->streams[nr / 2]);
	return bt_message_packet_end_create_with_default_clock_snapshot(
		self, g->packets[nr / 2], g->last);
}

static bt_message *next_message(struct graph *g, bt_self_message_iterator *self)
{
	if (g->nr_begun < 2 * g->c->nr_streams)
		return begin(g, self, g->nr_begun++);
	if (!g->is_drained) {
		bt_message *msg = next_event(g, self);

		if (msg || !g->is_drained)
			return msg;
	}
	if (g->nr_ended < 2 * g->c->nr_streams)
		return end(g, self, g->nr_ended++);
	return NULL;
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *self,
							 bt_message_array_const messages,
							 uint64_t capacity, uint64_t *count)
{
	struct graph *g = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));

	for (*count = 0; *count < capacity; ++*count) {
		bt_message *msg = next_message(g, self);

		if (!msg)
			break;
		messages[*count] = msg;
	}
	if (*count)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	return g->is_drained ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END :
			       BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_source *source, bt_self_component_source_configuration *config,
	   const bt_value *params, void *data)
{
	bt_self_component *self = bt_self_component_source_as_self_component(source);

	bt_self_component_set_data(self, data);
	if (!make_trace(data, self) ||
	    bt_self_component_source_add_output_port(source, "out", NULL, NULL))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* The graph */

static const bt_component_source *add_source(bt_graph *graph, struct graph *g)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(next);
	bt_component_class_source *class = iterator ?
		bt_component_class_source_create("ldb", iterator) : NULL;
	const bt_component_source *source = NULL;

	if (class && !bt_component_class_source_set_initialize_method(class, initialize) &&
	    bt_graph_add_source_component_with_initialize_method_data(
		    graph, class, "ldb", NULL, g, BT_LOGGING_LEVEL_NONE, &source))
		source = NULL;
	bt_component_class_source_put_ref(class);
	bt_message_iterator_class_put_ref(iterator);
	return source;
}

/* From 2.1 on babeltrace writes CTF 2 unless it is told not to; before it knows no such word. */
static bool has_ctf2(void)
{
	return bt_version_get_major() > 2 || bt_version_get_minor() >= 1;
}

/* *is_missing: there is no such plugin. */
static const bt_component_sink *add_sink(bt_graph *graph, const char *path, bool *is_missing)
{
	const bt_component_class_sink *class = NULL;
	const bt_component_sink *sink = NULL;
	const bt_plugin *plugin = NULL;
	bt_value *params = bt_value_map_create();

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_FALSE, BT_FALSE, &plugin))
		plugin = NULL;
	if (plugin)
		class = bt_plugin_borrow_sink_component_class_by_name_const(plugin, "fs");
	*is_missing = !class;
	if (!class || !params || bt_value_map_insert_string_entry(params, "path", path) ||
	    bt_value_map_insert_bool_entry(params, "assume-single-trace", BT_TRUE) ||
	    bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE) ||
	    (has_ctf2() && bt_value_map_insert_string_entry(params, "ctf-version", "1")) ||
	    bt_graph_add_sink_component(graph, class, "fs", params, BT_LOGGING_LEVEL_NONE, &sink))
		sink = NULL;
	bt_value_put_ref(params);
	bt_plugin_put_ref(plugin);
	return sink;
}

static bool connect_and_run(bt_graph *graph, const bt_component_source *source,
			    const bt_component_sink *sink)
{
	return !bt_graph_connect_ports(
		       graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
		       bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) &&
	       !bt_graph_run(graph);
}

/* babeltrace's own text is about its parts; the system's reason is not in it. */
static void describe_error(const struct ctf *c, const char *path, char *err, size_t err_size)
{
	struct statvfs fs;

	bt_current_thread_clear_error();
	if (c->ret)
		snprintf(err, err_size, "cannot sort in a temporary file: %s", strerror(-c->ret));
	else if (!statvfs(path, &fs) && !fs.f_bavail)
		snprintf(err, err_size, "cannot write %s: %s", c->shown, strerror(ENOSPC));
	else
		snprintf(err, err_size, "cannot write %s: babeltrace gave up: is there room for it?",
			 c->shown);
}

int ctf_write(struct ctf *c, const char *path, char *err, size_t err_size)
{
	struct graph g = { .c = c };
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source = graph ? add_source(graph, &g) : NULL;
	bool is_missing = false;
	const bt_component_sink *sink = source ? add_sink(graph, path, &is_missing) : NULL;
	int ret = 0;

	if (is_missing) {
		bt_current_thread_clear_error();
		snprintf(err, err_size, "babeltrace's ctf plugin is not there: install libbabeltrace2");
		ret = -1;
	} else if (!sink || !connect_and_run(graph, source, sink)) {
		describe_error(c, path, err, err_size);
		/*
		 * Left where it is, for ldb-export ends now: the sink of 2.0.4 and 2.1.1 crashes
		 * when it is taken down in the middle of a packet.
		 */
		return -1;
	}
	put_trace(&g);
	bt_graph_put_ref(graph);
	return ret;
}
