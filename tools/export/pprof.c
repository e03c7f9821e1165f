// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a profile of wall-clock time for pprof and other programs that read its files
 * (profile.proto, gzip).  A sample is a stack, with the number of calls of its innermost function
 * that were observed from start to end, and the self time of this function, or the time of one of
 * its waits, in ns.  The thread, the class of the request, and the object of a wait are labels, so
 * samples are separate for these.
 *
 * Samples are written one after another; in memory are only the stacks and the tables to which
 * samples refer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "facts/rows.h"
#include "facts/ticks.h"
#include "cli/utf8.h"
#include "export/packet.h"
#include "export/walk.h"
#include "base/intern.h"
#include "export/table.h"

/* Fields of profile.proto. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION,
       PROFILE_FUNCTION, PROFILE_STRING, PROFILE_TIME_NS = 9, PROFILE_DURATION_NS = 10,
       PROFILE_COMMENT = 13, PROFILE_DEFAULT_TYPE = 14 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE,
       MAPPING_BUILD_ID, MAPPING_HAS_FUNCTIONS, MAPPING_HAS_FILES, MAPPING_HAS_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

struct pprof {
	struct model *m;
	bool with_causes;	/* waits are frames, and not only labels */
	FILE *out;
	z_stream z;
	struct packet message, part; /* messages that are being encoded */
	struct intern strings;	/* string 0 is "", which is not stored here */
	struct table functions;	/* by name, file, line */
	struct table locations;	/* by function, line, mapping */
	struct table mappings;	/* by path */
	uint64_t *stack;
	size_t room_stack;
	uint64_t nr_samples;
	int error;		/* -errno: nothing more is written */
};

static void write_compressed(struct pprof *p, const void *bytes, size_t nr, int flush)
{
	uint8_t pressed[16384];

	p->z.next_in = (Bytef *)bytes;
	p->z.avail_in = nr;
	do {
		size_t made;

		p->z.next_out = pressed;
		p->z.avail_out = sizeof(pressed);
		deflate(&p->z, flush);
		made = sizeof(pressed) - p->z.avail_out;
		if (made && fwrite(pressed, 1, made, p->out) != made) {
			p->error = errno ? -errno : -EIO;
			return;
		}
	} while (!p->z.avail_out);
}

/* Writes p->message as fields of the profile. */
static void put_fields(struct pprof *p)
{
	if (p->message.has_failed || p->part.has_failed)
		p->error = -ENOMEM;
	if (!p->error)
		write_compressed(p, p->message.at, p->message.nr, Z_NO_FLUSH);
	p->message.nr = 0;
}

/* Writes p->message as a nested message. */
static void put_message(struct pprof *p, unsigned field)
{
	uint8_t bytes[20];
	struct packet head = { .at = bytes, .room = sizeof(bytes) };

	packet_tag(&head, field, PACKET_BYTES);
	packet_varint(&head, p->message.nr);
	if (!p->error)
		write_compressed(p, head.at, head.nr, Z_NO_FLUSH);
	put_fields(p);
}

/* Fields that are 0 are left out, as in proto3. */
static void add_u64(struct packet *m, unsigned field, uint64_t value)
{
	if (value)
		packet_u64(m, field, value);
}

/* Adds p->part to p->message as a nested message. */
static void add_part(struct pprof *p, unsigned field)
{
	packet_bytes(&p->message, field, p->part.at, p->part.nr);
	p->part.nr = 0;
}

static void add_packed(struct pprof *p, unsigned field, const uint64_t *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		packet_varint(&p->part, values[i]);
	add_part(p, field);
}

/* Returns the index of a text, after conversion to UTF-8; 0: "", or p->error is set. */
static uint64_t string(struct pprof *p, const char *text)
{
	int64_t number;
	uint64_t nr;

	if (!text || !*text || p->error)
		return 0;
	if (!utf8_is_valid(text)) {
		char *copy = utf8_copy(text);

		if (!copy)
			p->error = -ENOMEM;
		nr = copy ? string(p, copy) : 0;
		free(copy);
		return nr;
	}
	number = intern_string(&p->strings, text);
	if (number >= 0)
		return number + 1;
	p->error = -ENOMEM;
	return 0;
}

static void put_type(struct pprof *p, const char *type, const char *unit)
{
	add_u64(&p->message, TYPE_TYPE, string(p, type));
	add_u64(&p->message, TYPE_UNIT, string(p, unit));
	put_message(p, PROFILE_SAMPLE_TYPE);
}

static void put_head(struct pprof *p, const struct export_options *o)
{
	const struct ldb_file_header *h = reader_header(p->m->reader);
	const char *cmdline = reader_meta(p->m->reader, "cmdline");
	int64_t from_ns = o->from > 0 ? ticks_time_ns(p->m->reader, o->from) : 0;
	int64_t to_ns = ticks_time_ns(p->m->reader, o->to);

	if (to_ns > p->m->duration_ns)
		to_ns = p->m->duration_ns;
	put_type(p, "count", "count");
	put_type(p, "wall", "nanoseconds");
	add_u64(&p->message, PROFILE_TIME_NS, h->realtime_ns + from_ns);
	add_u64(&p->message, PROFILE_DURATION_NS, to_ns > from_ns ? to_ns - from_ns : 0);
	add_u64(&p->message, PROFILE_DEFAULT_TYPE, string(p, "wall"));
	if (cmdline)
		add_u64(&p->message, PROFILE_COMMENT, string(p, cmdline));
	put_fields(p);
}

static int put_module(void *arg, const void *at)
{
	const struct ldb_row_module *row = at;
	struct pprof *p = arg;
	bool is_new;
	uint64_t nr = table_get(&p->mappings, string(p, row->path), 0, 0, &is_new);

	if (!nr)
		p->error = -ENOMEM;
	if (!nr || !is_new)
		return p->error;
	add_u64(&p->message, MAPPING_ID, nr);
	add_u64(&p->message, MAPPING_START, row->start);
	add_u64(&p->message, MAPPING_LIMIT, row->end);
	add_u64(&p->message, MAPPING_OFFSET, row->start - row->bias);
	add_u64(&p->message, MAPPING_FILE, string(p, row->path));
	add_u64(&p->message, MAPPING_BUILD_ID, string(p, row->build_id));
	add_u64(&p->message, MAPPING_HAS_FUNCTIONS, 1);
	add_u64(&p->message, MAPPING_HAS_FILES, 1);
	add_u64(&p->message, MAPPING_HAS_LINES, 1);
	put_message(p, PROFILE_MAPPING);
	return p->error;
}

static uint64_t mapping(struct pprof *p, const char *path)
{
	return *path ? table_find(&p->mappings, string(p, path), 0, 0) : 0;
}

static uint64_t function(struct pprof *p, const char *name, const struct symbol *f)
{
	uint64_t text = string(p, name), file = f ? string(p, f->func_file) : 0, nr;
	bool is_new;

	nr = table_get(&p->functions, text, file, f ? f->func_line : 0, &is_new);
	if (!nr)
		p->error = -ENOMEM;
	if (!nr || !is_new)
		return nr;
	add_u64(&p->message, FUNCTION_ID, nr);
	add_u64(&p->message, FUNCTION_NAME, text);
	add_u64(&p->message, FUNCTION_SYSTEM_NAME, f && *f->raw ? string(p, f->raw) : text);
	add_u64(&p->message, FUNCTION_FILE, file);
	add_u64(&p->message, FUNCTION_LINE, f ? f->func_line : 0);
	put_message(p, PROFILE_FUNCTION);
	return nr;
}

/*
 * Returns the number of the location in f: at the line of the call to the next function, or, if f
 * is the innermost function, the call is in code that was inlined into f, or its line is not known,
 * at the line of f itself.  0: out of memory.
 */
static uint64_t location(struct pprof *p, const char *name, const struct symbol *f,
			 const struct symbol *call)
{
	bool is_own = f && call && call->function == f->function && call->file == f->func_file;
	unsigned line = is_own && call->line ? call->line : f ? f->func_line : 0;
	uint64_t func = function(p, name, f), nr;
	uint64_t map = f ? mapping(p, f->path) : 0;
	bool is_new;

	nr = table_get(&p->locations, func, line, map, &is_new);
	if (!nr)
		p->error = -ENOMEM;
	if (!nr || !is_new)
		return nr;
	add_u64(&p->part, LINE_FUNCTION, func);
	add_u64(&p->part, LINE_LINE, line);
	add_u64(&p->message, LOCATION_ID, nr);
	add_u64(&p->message, LOCATION_MAPPING, map);
	add_part(p, LOCATION_LINE);
	put_message(p, PROFILE_LOCATION);
	return nr;
}

static void put_label(struct pprof *p, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	add_u64(&p->part, LABEL_KEY, string(p, key));
	add_u64(&p->part, LABEL_TEXT, string(p, text));
	add_part(p, SAMPLE_LABEL);
}

static bool push(struct pprof *p, size_t nr, uint64_t location)
{
	if (!array_room(&p->stack, &p->room_stack, nr, sizeof(*p->stack)))
		return false;
	p->stack[nr] = location;
	return true;
}

/*
 * Returns true if the node is written as a sample: it has time or complete calls, and is not a wait
 * outside of all functions (unless waits are frames).
 */
static bool is_sample(const struct pprof *p, const struct stacks_node *n)
{
	if (n->is_cause && !n->parent->func && !p->with_causes)
		return false;
	return n->self_ns || n->nr_calls;
}

static int put_sample(struct pprof *p, const struct stacks_node *n)
{
	const uint64_t values[2] = { n->nr_calls, (uint64_t)n->self_ns };
	const struct stacks_node *at = n->is_cause ? n->parent : n;
	const struct symbol *call = NULL;
	char cause[512];
	size_t nr = 0;

	if (n->is_cause)
		stacks_cause_text(&n->cause, cause, sizeof(cause));
	/* Frames are written innermost first. */
	if (n->is_cause && p->with_causes &&
	    !push(p, nr++, location(p, cause, NULL, NULL)))
		return -ENOMEM;
	for (; at && at->func; call = at->site, at = at->parent)
		if (!push(p, nr++, location(p, at->func->function, at->func, call)))
			return -ENOMEM;
	add_packed(p, SAMPLE_LOCATION, p->stack, nr);
	add_packed(p, SAMPLE_VALUE, values, 2);
	put_label(p, "thread", at ? at->thread : NULL);
	put_label(p, "class", at ? at->class : NULL);
	if (n->is_cause)
		put_label(p, "cause", cause);
	put_message(p, PROFILE_SAMPLE);
	p->nr_samples++;
	return p->error;
}

static void put_strings(struct pprof *p)
{
	packet_bytes(&p->message, PROFILE_STRING, "", 0);
	put_fields(p);
	for (size_t i = 0; i < p->strings.nr; i++) {
		const char *text = intern_key(&p->strings, i);

		packet_bytes(&p->message, PROFILE_STRING, text, strlen(text));
		put_fields(p);
	}
}

static void pprof_free(struct pprof *p)
{
	intern_free(&p->strings);
	table_free(&p->functions);
	table_free(&p->locations);
	table_free(&p->mappings);
	free(p->stack);
	free(p->message.at);
	free(p->part.at);
}

int export_pprof(struct model *m, const struct export_options *o, FILE *out, char *err,
		 size_t err_size)
{
	struct stacks_options options = {
		.with_sites = true, .with_classes = true, .with_causes = true,
	};
	struct pprof p = { .m = m, .out = out, .with_causes = o->with_causes };
	struct stacks s;
	int ret;

	stacks_init(&s, m, &options);
	ret = stacks_walk(&s, m, o);
	/* 15 bits of window are usual; adding 16 selects the gzip format. */
	if (!ret && deflateInit2(&p.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
				 Z_DEFAULT_STRATEGY) != Z_OK)
		ret = -ENOMEM;
	if (!ret) {
		put_head(&p, o);
		ret = rows_each(m->reader, LDB_BLK_MODULE, NULL, put_module, &p);
		for (size_t i = 0; i < s.nr_nodes && !ret; i++)
			if (is_sample(&p, s.nodes[i]))
				ret = put_sample(&p, s.nodes[i]);
		put_strings(&p);
		if (!p.error)
			write_compressed(&p, NULL, 0, Z_FINISH);
		deflateEnd(&p.z);
		ret = ret ? ret : p.error;
	}
	o->result->nr_samples = p.nr_samples;
	pprof_free(&p);
	stacks_free(&s);
	return ret;
}
