// SPDX-License-Identifier: GPL-2.0-or-later
/* Retains the last seconds of a recording and makes dumps of them; see flight.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "cli/disk.h"
#include "cli/error.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "record/flight/dumps.h"
#include "record/flight/flight.h"
#include "record/flight/known.h"
#include "record/flight/marks.h"
#include "record/flight/notes.h"
#include "record/flight/requests.h"
#include "record/flight/ring.h"
#include "record/flight/triggers.h"
#include "record/perf/samples.h"
#include "record/requests/made.h"
#include "record/rows/threads.h"

#define MARK_NS_MIN	1000000000ULL
#define MINUTE_NS	60000000000LL
/* Rows may come so many seconds after the ends of their threads: see chain.h. */
#define LATE_S		2
#define WHYS_MAX	16	/* reasons stored for one dump */
#define WHY_BYTES	512

struct flight {
	const struct flight_options *o;
	struct flight_recording r;
	struct flight_sources from;
	struct ldb_file_header header;
	struct flight_ring *ring;
	struct flight_known *known;
	struct flight_requests *requests;
	struct flight_notes *notes;
	struct flight_triggers *triggers;
	struct flight_dumps *dumps;
	struct writer *writer;		/* the recording's, which delivers its blocks to the ring */
	bool has_begun;			/* the writer has delivered the file's header */
	struct flight_marks marks;
	/* a dump that has been triggered and is not complete yet */
	bool is_pending;
	int64_t triggered_ns, triggered_tick, until_ns;
	char whys[WHYS_MAX][WHY_BYTES];
	unsigned nr_whys;
	uint64_t nr_pending;		/* triggers of this dump */
	/* NULL unless a dump is being made */
	struct writer *sink;
	/* NULL: counters are since the beginning of the recording */
	const struct flight_mark *base;
	int64_t now_tick;
	int64_t *times_ns;		/* times of the last max_per_minute dumps, circular */
	uint64_t nr_times;
	struct flight_total total, reported;	/* reported: values written into the last dump */
	bool has_failed;		/* a dump has failed, and this was reported */
};

/* Marks: the counters, and the number of the next block, at the times at which a dump can begin */

static uint64_t mark_ns(const struct flight *f)
{
	return max(f->o->ns / FLIGHT_MARKS, MARK_NS_MIN);
}

/* Returns the time now as a tick. */
static int64_t tick_of_now(const struct flight *f)
{
	return (int64_t)(clock_now(f->header.clock_id) - f->header.t0);
}

static void add_mark(struct flight *f, int64_t now_ns, int64_t released)
{
	struct threads_total now = threads_now(f->from.threads);
	struct ldb_row_thread *threads = calloc(now.nr_threads + 1, sizeof(*threads));
	struct flight_mark *m;

	if (!threads)
		return;
	m = flight_marks_add(&f->marks);
	m->number = flight_ring_next(f->ring);
	m->ns = now_ns;
	m->tick = released;
	m->threads = threads;
	m->nr_threads = threads_copy(f->from.threads, threads, now.nr_threads);
	f->r.copy_scans(f->r.arg, m->scans);
}

static void second_of_marks(struct flight *f, int64_t now_ns, int64_t released)
{
	const struct flight_marks *m = &f->marks;
	int64_t cut;

	if (m->nr && now_ns - m->at[m->nr - 1].ns < (int64_t)mark_ns(f))
		return;
	/*
	 * A dump begins at a mark, so blocks are retained longer than requested by the time between
	 * two marks: even if the requested time begins between two marks, the dump has all of it.
	 */
	flight_ring_expire(f->ring, now_ns - (int64_t)f->o->ns - (int64_t)mark_ns(f));
	add_mark(f, now_ns, released);
	flight_marks_drop(&f->marks, flight_marks_from(&f->marks, flight_ring_first(f->ring)));
	cut = flight_ring_cut(f->ring);
	if (cut != INT64_MIN)
		flight_known_expire(f->known, cut - LATE_S * (int64_t)f->header.clock_hz);
}

/* Rows and blocks */

/*
 * Sets the observed calls of an exited thread to the number of its rows, if that is known: some
 * rows may not have been read from the rings yet.
 */
static void count_of_exited(const struct flight *f, struct ldb_row_thread *thread)
{
	const struct func_counts *counts = pack_func_counts(f->from.pack);
	uint64_t nr;

	if (!func_counts_of_exited(counts, thread->tid, thread->end, &nr))
		return;
	thread->seen = nr + pack_waiting_count(f->from.pack, thread->tid, true);
	thread->made = max(thread->made, thread->seen);
}

/* Writes a row into the dump that is being made. */
static void sink_row(void *flight, unsigned kind, const void *row)
{
	struct flight *f = flight;
	struct ldb_row_thread thread;
	struct ldb_row_scan scan;

	if (kind == LDB_BLK_THREAD) {
		thread = *(const struct ldb_row_thread *)row;
		if (thread.flags & LDB_THREAD_F_EXITED)
			count_of_exited(f, &thread);
		if (f->base)
			flight_mark_subtract_thread(f->base, &thread);
		if (!(thread.flags & LDB_THREAD_F_EXITED))
			thread.end = max(thread.end, f->now_tick);
		row = &thread;
	} else if (kind == LDB_BLK_SCAN && f->base) {
		scan = *(const struct ldb_row_scan *)row;
		flight_mark_subtract_scan(f->base, &scan);
		row = &scan;
	}
	writer_add(f->sink, kind, row, 1);
}

static bool on_rows(void *flight, unsigned kind, const void *rows, size_t nr)
{
	struct flight *f = flight;
	const struct ldb_row_thread *threads = rows;
	const struct ldb_row_scan *scans = rows;

	if (f->sink) {
		for (size_t i = 0; kind == LDB_BLK_THREAD && i < nr; i++)
			sink_row(f, kind, &threads[i]);
		for (size_t i = 0; kind == LDB_BLK_SCAN && i < nr; i++)
			sink_row(f, kind, &scans[i]);
		if (kind != LDB_BLK_THREAD && kind != LDB_BLK_SCAN)
			writer_add(f->sink, kind, rows, nr);
		return true;
	}
	switch (kind) {
	case LDB_BLK_FUNC:
		return false;
	case LDB_BLK_REQ:
		flight_triggers_starts(f->triggers, rows, nr);
		flight_requests_add(f->requests, rows, nr);
		return false;
	case LDB_BLK_REQNAME:
		flight_requests_name(f->requests, rows, nr);
		return false;
	case LDB_BLK_NOTE:
		flight_notes_add(f->notes, rows, nr);
		return false;
	case LDB_BLK_LOCK:
		flight_triggers_locks(f->triggers, rows, nr);
		return false;
	case LDB_BLK_SYSCALL:
		flight_triggers_calls(f->triggers, rows, nr);
		return false;
	case LDB_BLK_SCHED:
		flight_triggers_sched(f->triggers, rows, nr);
		return flight_known_take(f->known, kind, rows, nr);
	default:
		return flight_known_take(f->known, kind, rows, nr);
	}
}

static int on_block(void *flight, const void *data, size_t size)
{
	struct flight *f = flight;

	if (!f->has_begun) {
		f->has_begun = true;
		return 0;
	}
	return flight_ring_add(f->ring, data, size, clock_mono_ns(), tick_of_now(f));
}

static bool is_of_program(void *flight, uint32_t tid)
{
	const struct flight *f = flight;

	/*
	 * A thread's page shows that the thread is the program's.  Without the runtime there are no
	 * pages, so all threads count.
	 */
	return f->r.kernel_only || (f->from.pack && pack_is_of_program(f->from.pack, tid));
}

static void on_request(void *flight, const struct flight_request *request)
{
	struct flight *f = flight;

	/*
	 * Notes of long requests are retained: they may be needed when the beginning is no longer
	 * in the ring.
	 */
	if (request->end - request->start <= (int64_t)f->header.clock_hz)
		flight_notes_forget(f->notes, request->id);
	if (!f->from.has_made)
		flight_triggers_request(f->triggers, request);
}

void flight_made(struct flight *f, const struct made_request *request, bool is_counted)
{
	struct flight_request done = {
		.start = request->start, .end = request->end, .name = request->name, .tid = request->tid,
	};

	if (is_counted)
		flight_triggers_count(f->triggers, &done);
	else
		flight_triggers_ended(f->triggers, &done);
}

static void on_trigger(void *flight, const char *why)
{
	flight_trigger(flight, why);
}

/* Opening */

static bool open_parts(struct flight *f)
{
	struct flight_dumps_options dumps = {
		.ring = f->ring, .name = f->r.output, .header = f->header, .names = f->r.store_names,
		.pid = f->r.pid,
	};

	f->known = flight_known_alloc();
	f->requests = flight_requests_alloc(f->header.clock_hz, on_request, f);
	f->notes = flight_notes_alloc();
	f->triggers = flight_triggers_alloc(f->o->triggers, f->o->nr_triggers, on_trigger, f);
	f->times_ns = calloc(f->o->max_per_minute + 1, sizeof(*f->times_ns));
	if (!f->known || !f->requests || !f->notes || !f->triggers || !f->times_ns)
		return false;
	flight_triggers_on_thread(f->triggers, is_of_program, f);
	flight_triggers_clock(f->triggers, 1e9 / f->header.clock_hz);
	f->dumps = flight_dumps_open(&dumps);
	return f->dumps;
}

static void say_existing(const struct flight *f)
{
	struct flight_files files;

	if (!flight_file_count(f->r.output, &files) && files.nr >= f->o->max_dumps)
		cli_warn("there are %" PRIu64 " dumps named %s.* already, as many as --max-dumps: none is made until you remove some",
			 files.nr, f->r.output);
}

struct flight *flight_open(const struct flight_options *o, const struct flight_recording *r,
			   const struct ldb_file_header *header, struct writer **writer)
{
	struct flight *f = calloc(1, sizeof(*f));
	char err[PATH_MAX + 128] = "out of memory";
	struct writer *w = NULL;

	if (f) {
		f->o = o;
		f->r = *r;
		f->header = *header;
		flight_marks_init(&f->marks);
		f->ring = flight_ring_open(f->o->file, f->o->bytes, err, sizeof(err));
	}
	if (f && f->ring && open_parts(f))
		w = writer_open_blocks(header, on_block, f, err, sizeof(err));
	if (!w) {
		cli_error("%s", err);
		flight_close(f);
		return NULL;
	}
	writer_on_rows(w, on_rows, f);
	flight_file_clean(r->output);
	say_existing(f);
	*writer = f->writer = w;
	return f;
}

void flight_set_sources(struct flight *f, const struct flight_sources *from)
{
	f->from = *from;
}

void flight_close(struct flight *f)
{
	if (!f)
		return;
	flight_dumps_close(f->dumps);
	flight_triggers_free(f->triggers);
	flight_notes_free(f->notes);
	flight_requests_free(f->requests);
	flight_known_free(f->known);
	flight_ring_close(f->ring);
	flight_marks_exit(&f->marks);
	free(f->times_ns);
	free(f);
}

/* Triggers */

static bool is_too_often(const struct flight *f, int64_t now_ns)
{
	uint64_t most = f->o->max_per_minute;

	return f->nr_times >= most && now_ns - f->times_ns[f->nr_times % most] < MINUTE_NS;
}

/* Returns which limit forbids a dump; FLIGHT_NR_LIMITS: none. */
static enum flight_limit limit_of(const struct flight *f, int64_t now_ns)
{
	unsigned nr_hidden, nr = flight_dumps_nr(f->dumps, &nr_hidden);
	struct flight_files files;

	if (is_too_often(f, now_ns))
		return FLIGHT_RATE;
	flight_file_count(f->r.output, &files);
	if (files.nr + nr_hidden >= f->o->max_dumps)
		return FLIGHT_NUMBER;
	/* While names are added to a dump, there are two copies of it on the disk. */
	if (files.bytes + (nr + 1) * flight_ring_bytes(f->ring) > f->r.max_bytes)
		return FLIGHT_SIZE;
	return disk_is_full(f->r.output) ? FLIGHT_DISK : FLIGHT_NR_LIMITS;
}

static void keep_why(struct flight *f, const char *why)
{
	char *to;

	f->nr_pending++;
	if (f->nr_whys == WHYS_MAX)
		return;
	to = f->whys[f->nr_whys];
	snprintf(to, WHY_BYTES, "%s", why);
	/*
	 * Replaces control characters: names come from the program, and the text is shown on a
	 * terminal.
	 */
	for (; *to; to++)
		if ((unsigned char)*to < ' ' || *to == 0x7f)
			*to = '?';
	f->nr_whys++;
}

bool flight_trigger(struct flight *f, const char *why)
{
	int64_t now_ns = clock_mono_ns();
	enum flight_limit limit;

	if (!f || f->sink)
		return false;
	f->total.nr_triggers++;
	if (f->is_pending) {
		f->total.nr_joined++;
		keep_why(f, why);
		return true;
	}
	limit = limit_of(f, now_ns);
	if (limit != FLIGHT_NR_LIMITS) {
		f->total.suppressed[limit]++;
		return false;
	}
	f->times_ns[f->nr_times++ % f->o->max_per_minute] = now_ns;
	f->is_pending = true;
	f->nr_whys = 0;
	f->nr_pending = 0;
	f->triggered_ns = now_ns;
	f->triggered_tick = tick_of_now(f);
	f->until_ns = now_ns + f->o->after_ns;
	keep_why(f, why);
	return true;
}

struct flight_triggers *flight_triggers_of(struct flight *f)
{
	return f ? f->triggers : NULL;
}

void flight_signal(struct flight *f, int signal)
{
	if (f)
		flight_triggers_signal(f->triggers, signal);
}

const char *flight_suppressed(const struct flight_total *total, char *text, size_t size)
{
	static const char *const names[FLIGHT_NR_LIMITS] = {
		[FLIGHT_RATE] = "--max-dumps-per-minute", [FLIGHT_NUMBER] = "--max-dumps",
		[FLIGHT_SIZE] = "--max-size", [FLIGHT_DISK] = "a full disk",
	};
	size_t n = 0;

	*text = '\0';
	for (int i = 0; i < FLIGHT_NR_LIMITS; i++)
		if (total->suppressed[i] && n < size)
			n += snprintf(text + n, size - n, "%s%" PRIu64 " by %s", n ? ", " : "",
				      total->suppressed[i], names[i]);
	return text;
}

/* Making a dump */

static int sink_block(void *dump, const void *data, size_t size)
{
	struct flight_dump *d = dump;

	/* Skips the header: the file has one of its own. */
	if (size == sizeof(struct ldb_file_header) && !d->size)
		return 0;
	if (!array_reserve(&d->blocks, &d->room, d->size + size, 1))
		return -ENOMEM;
	memcpy(d->blocks + d->size, data, size);
	d->size += size;
	return 0;
}

static void meta(struct flight *f, const char *key, const char *value)
{
	writer_add_meta(f->sink, key, value);
}

static double seconds(const struct flight *f, int64_t ticks)
{
	return (double)ticks / f->header.clock_hz;
}

/* Writes how many triggers were suppressed since the previous dump. */
static void write_suppressed(struct flight *f)
{
	struct flight_total since = f->total;
	char text[256];

	for (int i = 0; i < FLIGHT_NR_LIMITS; i++)
		since.suppressed[i] -= f->reported.suppressed[i];
	if (*flight_suppressed(&since, text, sizeof(text)))
		meta(f, "flight_suppressed", text);
	f->reported = f->total;
}

static void write_metas(struct flight *f, int64_t from, uint64_t nr_cut)
{
	char text[64];

	for (unsigned i = 0; i < f->nr_whys; i++)
		meta(f, "trigger", f->whys[i]);
	if (f->nr_pending > f->nr_whys) {
		snprintf(text, sizeof(text), "and %" PRIu64 " more", f->nr_pending - f->nr_whys);
		meta(f, "trigger", text);
	}
	snprintf(text, sizeof(text), "%.6f %.6f", seconds(f, f->triggered_tick - from),
		 seconds(f, f->now_tick - f->triggered_tick));
	meta(f, "flight", text);
	snprintf(text, sizeof(text), "%" PRId64, from);
	meta(f, "flight_from", text);
	snprintf(text, sizeof(text), "%" PRIu64, nr_cut);
	meta(f, "flight_cut", text);
	write_suppressed(f);
	if (!*f->r.end)
		meta(f, "end", "dump");
}

/* Returns the tick from which the dump is complete. */
static int64_t begin_of(const struct flight *f)
{
	int64_t cut = flight_ring_cut(f->ring);

	if (f->base)
		return f->base->tick;
	return cut == INT64_MIN ? 0 : cut;
}

static bool describe(struct flight *f, struct flight_dump *d, bool is_last)
{
	int64_t from = begin_of(f);
	uint64_t nr_cut;
	char err[128];

	f->now_tick = tick_of_now(f);
	f->sink = writer_open_blocks(&f->header, sink_block, d, err, sizeof(err));
	if (!f->sink)
		return false;
	if (!is_last)
		threads_write_funcs(f->from.threads, f->now_tick);
	flight_known_each(f->known, sink_row, f);
	nr_cut = flight_requests_each(f->requests, from, sink_row, f);
	flight_notes_each(f->notes, from, sink_row, f);
	f->r.describe(f->r.arg, is_last);
	write_metas(f, from, nr_cut);
	d->before_ns = seconds(f, f->triggered_tick - from) * 1e9;
	d->after_ns = seconds(f, f->now_tick - f->triggered_tick) * 1e9;
	return true;
}

static void make_dump(struct flight *f, bool is_last)
{
	struct flight_dump *d = calloc(1, sizeof(*d));
	int rc = -ENOMEM;

	f->is_pending = false;
	/*
	 * Stores which functions are running, before the counters are read, so that the counters
	 * include them.
	 */
	threads_note(f->from.threads);
	if (is_last)
		writer_flush(f->writer);
	else
		f->r.flush(f->r.arg);
	f->base = flight_marks_from(&f->marks, flight_ring_first(f->ring));
	if (d && describe(f, d, is_last)) {
		d->first = f->base ? f->base->number : flight_ring_first(f->ring);
		d->end = flight_ring_next(f->ring);
		d->triggered_ns = f->triggered_ns;
		d->closed_ns = clock_mono_ns();
		d->ksyms = f->from.samples ? samples_kernel_places(f->from.samples) : NULL;
		snprintf(d->why, sizeof(d->why), "%s", f->whys[0]);
		rc = writer_close(f->sink);
	}
	f->sink = NULL;
	f->base = NULL;
	if (!rc) {
		flight_dumps_add(f->dumps, d);
		return;
	}
	f->total.nr_failed++;
	cli_warn("no dump could be made: %s", strerror(-rc));
	flight_dumps_free_one(d);
}

static void report_dump(struct flight *f, const struct flight_dump *d)
{
	char size[UNITS_ROOM], before[UNITS_ROOM], after[UNITS_ROOM];

	progress_clear();
	if (d->bytes < 0) {
		f->total.nr_failed++;
		if (!f->has_failed)
			cli_warn("%s: further failures are only counted", d->err);
		f->has_failed = true;
		return;
	}
	f->total.nr_dumps++;
	if (f->r.quiet)
		return;
	cli_note("ldb-record: %s: %s before and %s after: %s", d->path, units_duration(d->before_ns, before),
		 units_duration(d->after_ns, after), d->why);
	if (f->r.verbose)
		cli_note("  %s, written in %.3f s, %.3f s after its trigger; names took another %.3f s",
			 units_bytes(d->bytes, size), (d->done_ns - d->closed_ns) / 1e9,
			 (d->done_ns - d->triggered_ns) / 1e9, (d->named_ns - d->done_ns) / 1e9);
}

static void report_done(struct flight *f)
{
	struct flight_dump *d;

	while ((d = flight_dumps_done(f->dumps))) {
		report_dump(f, d);
		flight_dumps_free_one(d);
	}
}

void flight_poll(struct flight *f, int64_t released)
{
	if (!f)
		return;
	flight_triggers_pass(f->triggers);
	/* The dump is not made before all events up to the trigger have been written. */
	if (f->is_pending && clock_mono_ns() >= f->until_ns && released >= f->triggered_tick)
		make_dump(f, false);
	report_done(f);
}

void flight_second(struct flight *f, int64_t released)
{
	if (!f)
		return;
	flight_triggers_second(f->triggers);
	second_of_marks(f, clock_mono_ns(), released);
}

void flight_finish(struct flight *f, struct flight_total *total)
{
	if (!f)
		return;
	flight_triggers_pass(f->triggers);
	flight_triggers_end(f->triggers, f->r.end);
	if (f->is_pending)
		make_dump(f, true);
	flight_dumps_wait(f->dumps);
	report_done(f);
	*total = f->total;
}
