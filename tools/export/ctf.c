// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes CTF 1.8, for Trace Compass and babeltrace: a stream for each thread, with an event at the
 * beginning and at the end of each segment, and a stream of requests.
 *
 * Each stream is a file with one packet.  The events in it must be in order of time, so ends of
 * segments are stored until all earlier events were written (ends.h).  The file "metadata"
 * describes the layout, in the language of the specification; it is written last.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts/ticks.h"
#include "cli/outfile.h"
#include "export/attrs.h"
#include "export/ends.h"
#include "export/export.h"

/* the recording begins at this time of CTF's clock, because no event may be before time 0 */
#define BASE_NS		3600000000000
#define MAGIC		0xc1fc1fc1

/*
 * The class of requests; the class of a segment is its kind.  The event that begins a segment or a
 * request has the id 2 * class in CTF, and the event at the end has the id 2 * class + 1.
 */
#define REQUEST		NR_SEGMENT_KINDS

/* The beginning of the file of a stream. */
struct head {
	uint32_t magic;
	uint64_t uuid[2];
	uint64_t stream_id, stream_instance_id;
	uint64_t packet_bits, content_bits;
	uint64_t begin, end;
} __attribute__((packed));

struct ctf {
	struct model *m;
	const struct export_options *o;
	int dir;
	int error;			/* first error, -errno */
	struct head head;		/* the head of the current stream */
	FILE *out;			/* NULL: no file is open */
	uint32_t tid;
	const char *thread;		/* the stream's thread; NULL: the stream of requests */
	struct export_ends ends;	/* track: the class of the event */
};

/* Files */

static FILE *open_file(struct ctf *c, const char *name)
{
	int fd = openat(c->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

static int close_file(struct ctf *c, FILE *f)
{
	int error = ferror(f) ? EIO : 0;

	errno = 0;
	if (fclose(f))
		error = errno ? errno : EIO;
	if (error && !c->error)
		c->error = -error;
	return c->error;
}

static void put_bytes(struct ctf *c, const void *data, size_t nr)
{
	if (fwrite_unlocked(data, 1, nr, c->out) != nr && !c->error)
		c->error = errno ? -errno : -EIO;
}

static void put_u64(struct ctf *c, uint64_t value)
{
	put_bytes(c, &value, sizeof(value));
}

static void put_text(struct ctf *c, const char *text)
{
	put_bytes(c, text, strlen(text) + 1);
}

/* Begins an event, whose fields follow. */
static void begin_event(struct ctf *c, unsigned class, bool is_end, int64_t ns)
{
	uint8_t id = 2 * class + is_end;
	uint64_t at = ns + BASE_NS > 0 ? ns + BASE_NS : 0;

	if (at > c->head.end)
		c->head.end = at;
	put_bytes(c, &id, sizeof(id));
	put_u64(c, c->head.end);
	if (c->thread) {
		put_u64(c, c->tid);
		put_text(c, c->thread);
	}
}

static int on_end(void *arg, const struct export_end *e)
{
	struct ctf *c = arg;

	begin_event(c, e->track, true, e->at);
	return c->error;
}

static int end_stream(struct ctf *c)
{
	int ret = ends_until(&c->ends, INT64_MAX, on_end, c);
	FILE *f = c->out;

	if (!f)
		return ret;
	c->head.packet_bits = c->head.content_bits = 8 * (uint64_t)ftell(f);
	rewind(f);
	put_bytes(c, &c->head, sizeof(c->head));
	c->out = NULL;
	return close_file(c, f);
}

/* Begins the stream of a thread, or, if thread is NULL, the stream of requests. */
static int begin_stream(struct ctf *c, uint32_t tid, const char *thread)
{
	char name[64];
	int ret = end_stream(c);

	if (ret)
		return ret;
	snprintf(name, sizeof(name), thread ? "thread-%u" : "requests", tid);
	c->out = open_file(c, name);
	/* If several threads had this tid, all files but the first get a number. */
	for (unsigned i = 0; !c->out && errno == EEXIST && thread; i++) {
		snprintf(name, sizeof(name), "thread-%u-%u", tid, i);
		c->out = open_file(c, name);
	}
	if (!c->out)
		return c->error = errno ? -errno : -EIO;
	c->tid = tid;
	c->thread = thread;
	c->head.stream_id = !thread;
	c->head.end = 0;
	put_bytes(c, &c->head, sizeof(c->head));
	c->head.stream_instance_id++;
	return c->error;
}

/* The events */

static int on_thread(void *arg, const struct thread *t)
{
	struct ctf *c = arg;

	c->o->result->nr_threads++;
	return begin_stream(c, t->tid, t->name);
}

static void put_attr(struct ctf *c, const struct attr *a)
{
	switch (a->type) {
	case ATTR_NAME:
	case ATTR_TEXT:
	case ATTR_ONCE:
		put_text(c, a->text);
		break;
	case ATTR_PLACE:
		put_text(c, a->text);
		put_u64(c, a->number);
		break;
	case ATTR_REQUEST:
		put_u64(c, a->is_said);
		put_u64(c, a->number);
		break;
	default:
		put_u64(c, a->number);
		break;
	}
}

static int on_segment(void *arg, const struct segment *s)
{
	struct ctf *c = arg;
	char name[EXPORT_NAME];
	struct attrs attrs;
	int ret;

	if (!export_wants_time(c->o, s->start, s->end))
		return 0;
	ret = ends_until(&c->ends, s->start_ns, on_end, c);
	begin_event(c, s->kind, false, s->start_ns);
	put_text(c, export_name(c->m, s, name));
	attrs_of_segment(&attrs, c->m, s, true);
	for (size_t i = 0; i < attrs.nr; i++)
		put_attr(c, &attrs.at[i]);
	export_count(c->o, s);
	if (!ret)
		ret = ends_push(&c->ends, &(struct export_end){ .at = s->end_ns, .track = s->kind });
	return ret ? ret : c->error;
}

static int on_request(void *arg, const struct instance *instance)
{
	struct ctf *c = arg;
	int64_t start = ticks_time_ns(c->m->reader, instance->start);
	int64_t end = ticks_time_ns(c->m->reader, instance->end);
	int ret = 0;

	if (!export_wants_instance(c->o, instance))
		return 0;
	if (!c->out || c->thread)
		ret = begin_stream(c, 0, NULL);
	if (!ret)
		ret = ends_until(&c->ends, start, on_end, c);
	if (ret)
		return ret;
	begin_event(c, REQUEST, false, start);
	put_text(c, export_class_name(c->m, instance->id, instance->end));
	put_u64(c, instance->id);
	put_u64(c, end - start);
	put_u64(c, instance->is_complete);
	c->o->result->nr_requests++;
	ret = ends_push(&c->ends, &(struct export_end){ .at = end, .track = REQUEST });
	return ret ? ret : c->error;
}

/* The metadata */

#define U64	"integer { size = 64; align = 8; }"
#define TIME	"integer { size = 64; align = 8; map = clock.recording.value; }"

static void put_env(struct ctf *c, FILE *f, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(f, "\t%s = \"", key);
	for (; *value; value++)
		if (*value == '"' || *value == '\\' || (unsigned char)*value < ' ')
			fprintf(f, "\\%03o", (unsigned char)*value);
		else
			putc(*value, f);
	fputs("\";\n", f);
}

/*
 * Names begin with '_', because they could be keywords of the language otherwise; readers remove
 * it.
 */
static void put_field(FILE *f, const char *name, enum attr_type type)
{
	if (type == ATTR_NAME || type == ATTR_TEXT || type == ATTR_ONCE)
		fprintf(f, "\t\tstring { encoding = UTF8; } _%s;\n", name);
	else
		fprintf(f, "\t\tinteger { size = 64; align = 8; signed = %d; base = %s; } _%s;\n",
			type == ATTR_I64, type == ATTR_HEX ? "x" : "d", name);
}

static void begin_class(FILE *f, unsigned class, const char *name, bool is_end)
{
	fprintf(f, "event {\n\tname = \"%s_%s\";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n",
		name, is_end ? "end" : "begin", 2 * class + is_end, class == REQUEST);
}

/* The event at an end has no further fields. */
static void end_class(FILE *f, unsigned class, const char *name)
{
	fputs("\t} align(8);\n};\n\n", f);
	begin_class(f, class, name, true);
	fputs("\t} align(8);\n};\n\n", f);
}

static void put_segment_class(struct ctf *c, FILE *f, enum segment_kind kind)
{
	const struct segment any = { .kind = kind };
	const char *name = kind == SEGMENT_REQUEST ? "works_on" : segment_kinds[kind].name;
	struct attrs attrs;

	attrs_of_segment(&attrs, c->m, &any, true);
	begin_class(f, kind, name, false);
	put_field(f, "name", ATTR_TEXT);
	for (size_t i = 0; i < attrs.nr; i++) {
		const struct attr *a = &attrs.at[i];

		if (a->type == ATTR_REQUEST)
			put_field(f, "has_request", ATTR_BOOL);
		if (a->type == ATTR_PLACE)
			put_field(f, "file", ATTR_TEXT);
		put_field(f, a->type == ATTR_PLACE ? "line" : a->name, a->type);
	}
	end_class(f, kind, name);
}

static void put_request_class(FILE *f)
{
	begin_class(f, REQUEST, "request", false);
	put_field(f, "class", ATTR_TEXT);
	put_field(f, "request", ATTR_U64);
	put_field(f, "latency_ns", ATTR_I64);
	put_field(f, "complete", ATTR_BOOL);
	end_class(f, REQUEST, "request");
}

static void put_stream(FILE *f, unsigned id, const char *context)
{
	fprintf(f, "stream {\n\tid = %u;\n\tpacket.context := struct {\n"
		"\t\t" U64 " packet_size;\n\t\t" U64 " content_size;\n"
		"\t\t" TIME " timestamp_begin;\n\t\t" TIME " timestamp_end;\n\t} align(8);\n"
		"\tevent.header := struct {\n\t\tinteger { size = 8; align = 8; } id;\n"
		"\t\t" TIME " timestamp;\n\t} align(8);\n%s};\n\n", id, context);
}

static void put_trace(struct ctf *c, FILE *f)
{
	const unsigned char *u = (const unsigned char *)c->head.uuid;

	fputs("/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"", f);
	for (unsigned i = 0; i < sizeof(c->head.uuid); i++)
		fprintf(f, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
	fputs("\";\n\tbyte_order = le;\n\tpacket.header := struct {\n"
	      "\t\tinteger { size = 32; align = 8; base = x; } magic;\n"
	      "\t\tinteger { size = 8; align = 8; } uuid[16];\n"
	      "\t\t" U64 " stream_id;\n\t\t" U64 " stream_instance_id;\n\t} align(8);\n};\n\n", f);
	fputs("env {\n", f);
	put_env(c, f, "hostname", reader_meta(c->m->reader, "host"));
	put_env(c, f, "cmdline", reader_meta(c->m->reader, "cmdline"));
	put_env(c, f, "domain", "ust");
	put_env(c, f, "tracer_name", "ldb");
	put_env(c, f, "tracer_version", LDB_VERSION);
	fputs("};\n\n", f);
}

static void put_clock(struct ctf *c, FILE *f)
{
	int64_t zero = reader_header(c->m->reader)->realtime_ns - BASE_NS;
	int64_t s = zero / 1000000000, ns = zero % 1000000000;

	if (ns < 0) {
		ns += 1000000000;
		s--;
	}
	fprintf(f, "clock {\n\tname = recording;\n\tfreq = 1000000000;\n\toffset_s = %" PRId64 ";\n"
		"\toffset = %" PRId64 ";\n\tabsolute = true;\n};\n\n", s, ns);
}

static int put_metadata(struct ctf *c)
{
	FILE *f = open_file(c, "metadata");

	if (!f)
		return errno ? -errno : -EIO;
	put_trace(c, f);
	put_clock(c, f);
	/* Trace Compass expects these names. */
	put_stream(f, 0, "\tevent.context := struct {\n"
		   "\t\tinteger { size = 64; align = 8; signed = true; } _vtid;\n"
		   "\t\tstring { encoding = UTF8; } _procname;\n\t} align(8);\n");
	put_stream(f, 1, "");
	for (unsigned i = 0; i < NR_SEGMENT_KINDS; i++)
		put_segment_class(c, f, i);
	put_request_class(f);
	return close_file(c, f);
}

/* The directory */

/*
 * Returns the number of files in the directory, and removes them if `remove` is set; SIZE_MAX: it
 * cannot be read.
 */
static size_t count_files(int dir, bool remove)
{
	DIR *d = fdopendir(dup(dir));
	const struct dirent *e;
	size_t nr = 0;

	if (!d)
		return SIZE_MAX;
	rewinddir(d);
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		nr++;
		if (remove)
			unlinkat(dir, e->d_name, 0);
	}
	closedir(d);
	return nr;
}

/*
 * Creates a directory, or uses an empty one after making it private.  Returns its descriptor, or
 * -1, with one line in err.
 */
static int open_directory(const char *path, bool *is_new, char *err, size_t err_size)
{
	int dir = outfile_folder(path, is_new);

	if (dir < 0) {
		snprintf(err, err_size, "cannot write %s: %s: ctf needs a new or empty directory",
			 path, outfile_why(dir));
		return -1;
	}
	if (!count_files(dir, false) && !fchmod(dir, 0700) && !count_files(dir, false))
		return dir;
	snprintf(err, err_size, "%s is not empty: give a new directory with -o", path);
	close(dir);
	return -1;
}

/*
 * The UUID is derived from the time of the recording, so that parts of a distributed trace differ.
 */
static void make_uuid(struct ctf *c)
{
	const struct ldb_file_header *h = reader_header(c->m->reader);
	uint8_t *u = (uint8_t *)c->head.uuid;

	c->head.uuid[0] = h->t0;
	c->head.uuid[1] = h->realtime_ns;
	u[6] = (u[6] & 0x0f) | 0x80;	/* version 8: defined by the writer */
	u[8] = (u[8] & 0x3f) | 0x80;
}

static int write_all(struct ctf *c)
{
	struct tracks_options options = export_tracks(c->o, true, true);
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .request = on_request, .arg = c,
	};
	struct tracks_result result;
	int ret = tracks_each(c->m, &options, &sink, &result);

	/* Readers refuse a trace without a stream. */
	if (!ret && !c->out)
		ret = begin_stream(c, 0, NULL);
	if (!ret)
		ret = end_stream(c);
	if (!ret)
		export_take(c->o, &result);
	return ret ? ret : put_metadata(c);
}

int export_ctf(struct model *m, const struct export_options *o, const char *path, char *err,
	       size_t err_size)
{
	struct ctf c = { .m = m, .o = o, .head.magic = MAGIC };
	bool is_new;
	int ret;

	c.dir = open_directory(path, &is_new, err, err_size);
	if (c.dir < 0)
		return -1;
	make_uuid(&c);
	ret = write_all(&c);
	if (c.out)
		fclose(c.out);
	if (ret)
		count_files(c.dir, true);
	close(c.dir);
	if (ret && is_new)
		rmdir(path);
	if (c.error) {
		snprintf(err, err_size, "cannot write %s: %s", path, strerror(-c.error));
		ret = -1;
	}
	ends_free(&c.ends);
	return ret;
}
