// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CTF 1.8, as Trace Compass and babeltrace read it: a stream for each thread with
 * an event where a segment begins and one where it ends, and a stream of requests.
 *
 * Each stream is a file of one packet.  Its events must be in order of time, which those of
 * a thread are when their ends wait for their turn (ends.h).  What the bytes mean says the
 * file "metadata", which is written last, in the language of the format's specification.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts/lockset.h"
#include "facts/ticks.h"
#include "cli/outfile.h"
#include "export/ends.h"
#include "export/export.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

#define BASE_NS		3600000000000	/* nothing is before the clock's zero */
#define MAGIC		0xc1fc1fc1

/* Letters: s text, i signed, u unsigned, x unsigned in hexadecimal. */
struct field {
	const char *name;
	char type;
};

struct class {
	const char *name;
	struct field fields[14];	/* ends with a name of NULL */
};

#define COMMON									\
	{ "name", 's' }, { "duration_ns", 'i' }, { "resolution_ns", 'i' }, { "open", 'u' }, \
	{ "has_request", 'u' }, { "request", 'u' }, { "file", 's' }, { "line", 'u' }
#define LOCK	{ "lock", 'x' }, { "kind", 's' }, { "held_by", 'u' }, { "failed", 'u' }

/* Of each kind of segment, and of requests: events that one begins; those that one ends say nothing. */
static const struct class classes[NR_SEGMENT_KINDS + 1] = {
	[SEGMENT_REQUEST] = { "works_on", { COMMON } },
	[SEGMENT_FUNCTION] = { "function", { COMMON } },
	[SEGMENT_LOCK_WAIT] = { "lock_wait", { COMMON, LOCK } },
	[SEGMENT_LOCK_HOLD] = { "lock_hold", { COMMON, LOCK } },
	[SEGMENT_QUEUE] = { "queue", { COMMON, { "queue", 'x' }, { "taken_by", 'u' } } },
	[SEGMENT_RUNNABLE] = { "runnable", { COMMON, { "cause", 's' } } },
	[SEGMENT_PREEMPTED] = { "preempted", { COMMON, { "cause", 's' } } },
	[SEGMENT_BLOCKED] = { "blocked", { COMMON, { "cause", 's' } } },
	[SEGMENT_FUTEX_WAIT] = { "futex_wait", { COMMON, LOCK } },
	[NR_SEGMENT_KINDS] = { "request", { { "class", 's' }, { "request", 'u' }, { "latency_ns", 'i' },
					    { "complete", 'u' } } },
};

/* At the beginning of each file. */
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
	int error;			/* the first one, -errno */
	struct head head;		/* of the stream at hand */
	FILE *out;			/* NULL: there is none yet */
	uint32_t tid;
	const char *thread;		/* NULL: it is that of the requests */
	struct export_ends ends;	/* track: the class */
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

/* An event; its fields follow. */
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

/* thread: NULL: of requests. */
static int begin_stream(struct ctf *c, uint32_t tid, const char *thread)
{
	char name[64];
	int ret = end_stream(c);

	if (ret)
		return ret;
	snprintf(name, sizeof(name), thread ? "thread-%u" : "requests", tid);
	c->out = open_file(c, name);
	/* The kernel gave the number to more than one. */
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

/* What is in them */

static int on_thread(void *arg, const struct thread *t)
{
	struct ctf *c = arg;

	c->o->result->nr_threads++;
	return begin_stream(c, t->tid, t->name);
}

static void put_special(struct ctf *c, const struct segment *s)
{
	char text[TEXT_ROOM];

	switch (s->kind) {
	case SEGMENT_LOCK_WAIT:
	case SEGMENT_LOCK_HOLD:
	case SEGMENT_FUTEX_WAIT:
		put_u64(c, s->lock);
		put_text(c, lock_kind_name(s->lock_kind));
		put_u64(c, s->kind == SEGMENT_LOCK_HOLD ? s->tid : s->owner);
		put_u64(c, s->has_failed);
		break;
	case SEGMENT_QUEUE:
		put_u64(c, s->lock);
		put_u64(c, s->to_tid);
		break;
	case SEGMENT_RUNNABLE:
	case SEGMENT_PREEMPTED:
	case SEGMENT_BLOCKED:
		offcpu_text(c->m, s, text);
		put_text(c, text);
		break;
	default:
		break;
	}
}

static int on_segment(void *arg, const struct segment *s)
{
	struct ctf *c = arg;
	struct place place = segment_place(s);
	char name[EXPORT_NAME];
	int ret;

	if (!export_wants_time(c->o, s->start, s->end))
		return 0;
	ret = ends_until(&c->ends, s->start_ns, on_end, c);
	begin_event(c, s->kind, false, s->start_ns);
	put_text(c, export_name(c->m, s, name));
	put_u64(c, s->duration_ns);
	put_u64(c, s->duration_resolution_ns);
	put_u64(c, s->is_truncated);
	put_u64(c, s->has_req);
	put_u64(c, s->req);
	put_text(c, place.file);
	put_u64(c, place.line);
	put_special(c, s);
	export_count(c->o, s);
	if (!ret)
		ret = ends_push(&c->ends, &(struct export_end){ .at = s->end_ns, .track = s->kind });
	return ret ? ret : c->error;
}

static int on_request(void *arg, const struct life *life)
{
	struct ctf *c = arg;
	int64_t start = ticks_time_ns(c->m->reader, life->start);
	int64_t end = ticks_time_ns(c->m->reader, life->end);
	int ret = 0;

	if (!export_wants_life(c->o, life))
		return 0;
	if (!c->out || c->thread)
		ret = begin_stream(c, 0, NULL);
	if (!ret)
		ret = ends_until(&c->ends, start, on_end, c);
	if (ret)
		return ret;
	begin_event(c, NR_SEGMENT_KINDS, false, start);
	put_text(c, export_class_name(c->m, life->id, life->end));
	put_u64(c, life->id);
	put_u64(c, end - start);
	put_u64(c, life->is_complete);
	c->o->result->nr_requests++;
	ret = ends_push(&c->ends, &(struct export_end){ .at = end, .track = NR_SEGMENT_KINDS });
	return ret ? ret : c->error;
}

/* What they mean */

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

static void put_class(FILE *f, unsigned class, bool is_end)
{
	const struct field *field = classes[class].fields;

	fprintf(f, "event {\n\tname = \"%s_%s\";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n",
		classes[class].name, is_end ? "end" : "begin", 2 * class + is_end,
		class == NR_SEGMENT_KINDS);
	/* Names may be words of the language: readers take one '_' away. */
	for (; !is_end && field->name; field++)
		if (field->type == 's')
			fprintf(f, "\t\tstring { encoding = UTF8; } _%s;\n", field->name);
		else
			fprintf(f, "\t\tinteger { size = 64; align = 8; signed = %d; base = %s; } _%s;\n",
				field->type == 'i', field->type == 'x' ? "x" : "d", field->name);
	fputs("\t} align(8);\n};\n\n", f);
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
	/* The names that Trace Compass knows. */
	put_stream(f, 0, "\tevent.context := struct {\n"
		   "\t\tinteger { size = 64; align = 8; signed = true; } _vtid;\n"
		   "\t\tstring { encoding = UTF8; } _procname;\n\t} align(8);\n");
	put_stream(f, 1, "");
	for (unsigned i = 0; i <= NR_SEGMENT_KINDS; i++) {
		put_class(f, i, false);
		put_class(f, i, true);
	}
	return close_file(c, f);
}

/* The directory */

/* How many files are in it; they may be removed. */
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

/* New, or empty and then made private; open, or -1. */
static int open_directory(const char *path, bool *is_new, char *err, size_t err_size)
{
	int dir = outfile_folder(path, is_new);

	if (dir < 0) {
		snprintf(err, err_size, "cannot write %s: %s: ctf is a directory, a new one", path,
			 outfile_why(dir));
		return -1;
	}
	if (!count_files(dir, false) && !fchmod(dir, 0700) && !count_files(dir, false))
		return dir;
	snprintf(err, err_size, "%s is not empty: give a new directory with -o", path);
	close(dir);
	return -1;
}

/* Told apart by when it was, as the parts of a distributed trace are. */
static void make_uuid(struct ctf *c)
{
	const struct ldb_file_header *h = reader_header(c->m->reader);
	uint8_t *u = (uint8_t *)c->head.uuid;

	c->head.uuid[0] = h->t0;
	c->head.uuid[1] = h->realtime_ns;
	u[6] = (u[6] & 0x0f) | 0x80;	/* version 8: of its maker's own */
	u[8] = (u[8] & 0x3f) | 0x80;
}

static int write_all(struct ctf *c)
{
	struct tracks_options options = export_tracks(c->o);
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .request = on_request, .arg = c,
	};
	struct tracks_result result;
	int ret = tracks_each(c->m, &options, &sink, &result);

	/* Without a stream there would be no trace. */
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
