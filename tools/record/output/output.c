// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Manages the trace file of a recording.  It is opened when the program to be recorded is known,
 * flushed every second, and closed when nothing writes to the session any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/disk.h"
#include "cli/error.h"
#include "cli/units.h"
#include "record/kernel/device.h"
#include "record/names/map.h"
#include "record/output/rings.h"
#include "record/process/proc.h"
#include "record/run/recording.h"

/* greatest cost of a sample, in a virtual machine: overhead.md */
#define SAMPLE_NS	25000
/* for pack_alloc(): a writer may be preempted after it has made a stamp */
#define SLACK_NS	5000000

bool output_check(const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	disk_folder(path, folder, sizeof(folder));
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		cli_error("cannot write %s: it is a folder", path);
		return false;
	}
	if (!stat(path, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
		cli_error("cannot write %s: it is a pipe or a socket: give a file with -o", path);
		return false;
	}
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return true;	/* a device is not in a directory that must be writable */
	if (access(folder, W_OK | X_OK)) {
		cli_error("cannot write %s: %s: give another place with -o", path, strerror(errno));
		return false;
	}
	if (disk_is_full(path)) {
		cli_error("less than %d %% of the disk of %s is free: give another place with -o",
			  DISK_FREE_PCT, path);
		return false;
	}
	return true;
}

/* Opening */

static void write_clock(struct recording *r)
{
	struct ldb_row_clock row;

	if (!device_clock(&r->session, &row))
		clock_sample(r->clock_id, &row);
	row.tick = recording_tick(r, row.tick);
	writer_add_clock(r->writer, &row);
}

static void flush(void *recording)
{
	output_flush(recording);
}

static void describe(void *recording, bool is_last)
{
	output_describe(recording, is_last);
}

static void copy_scans(void *recording, struct ldb_row_scan *rows)
{
	output_copy_scans(recording, rows);
}

static bool open_flight(struct recording *r, const struct ldb_file_header *h)
{
	const struct record_options *o = r->o;
	const struct flight_recording recording = {
		.output = o->output, .pid = r->pid, .max_bytes = o->max_bytes, .quiet = o->quiet, .verbose = o->verbose,
		.kernel_only = o->kernel_only, .store_names = o->store_names, .end = r->end,
		.flush = flush, .describe = describe, .copy_scans = copy_scans, .arg = r,
	};

	r->flight = flight_open(&o->flight, &recording, h, &r->writer);
	return r->flight;
}

static void connect_flight(struct recording *r)
{
	const struct flight_sources from = {
		.pack = r->pack, .threads = r->threads, .samples = r->samples, .has_made = r->made,
	};

	if (r->flight)
		flight_set_sources(r->flight, &from);
}

static bool open_writer(struct recording *r, uint64_t clock_hz)
{
	struct ldb_file_header h = { .clock_id = r->clock_id, .clock_hz = clock_hz };
	char err[PATH_MAX + 128];

	h.t0 = r->t0;
	h.realtime_ns = r->realtime_ns;
	if (r->o->flight.ns)
		return open_flight(r, &h);
	if (r->o->live)
		r->writer = writer_open_blocks(&h, r->o->live->block, r->o->live->arg, err,
					       sizeof(err));
	else
		r->writer = writer_open(r->o->output, &h, err, sizeof(err));
	if (!r->writer)
		cli_error("%s%s", err, r->o->live ? "" : ": give another place with -o");
	return r->writer;
}

/* Samples */

static void store_row(void *arg, unsigned kind, const void *row)
{
	struct recording *r = arg;

	pack_row(r->pack, kind, row);
}

/*
 * Returns the rate of samples, limited such that their cost for each thread is within the budget.
 */
static unsigned samples_hz(const struct recording *r)
{
	uint64_t most = (uint64_t)r->o->budget_ppm * (1000000000 / SAMPLE_NS) / 1000000;

	return r->o->samples_hz < most ? r->o->samples_hz : most;
}

static void open_samples(struct recording *r)
{
	struct samples_options o = {
		.pid = r->pid, .hz = samples_hz(r), .may_slow = r->o->may_slow_samples, .cycles_hz = r->session.info.tsc_hz,
		.clock_id = r->clock_id, .t0 = r->t0, .offset_ns = r->offset_ns,
		.modules = r->modules, .row = store_row, .arg = r,
	};
	char text[64];

	r->samples_clock = NULL;
	r->samples_why[0] = '\0';
	if (!r->o->samples_hz)
		return;
	if (o.hz)
		r->samples = samples_open(&o, r->samples_why, sizeof(r->samples_why));
	else
		snprintf(r->samples_why, sizeof(r->samples_why), "--budget has no room for them");
	if (!r->samples)
		return;
	r->samples_clock = samples_clock(r->samples);
	snprintf(text, sizeof(text), "%s %u", r->samples_clock, o.hz);
	writer_add_meta(r->writer, "samples", text);
	if (samples_are_user_only(r->samples))
		writer_add_meta(r->writer, "samples_user", "1");
}

static void finish_samples(struct recording *r)
{
	if (!r->samples)
		return;
	samples_finish(r->samples);
	r->nr_samples = samples_nr(r->samples);
	r->nr_samples_lost = samples_lost(r->samples);
	output_meta_number(r, "samples_lost", r->nr_samples_lost);
}

static void open_flows(struct recording *r)
{
	if (!r->o->flows)
		return;
	if (r->clock_id != LDB_CLOCK_TSC) {
		output_warning(r, "calls between libraries are not followed: that needs a reliable time stamp counter");
		return;
	}
	r->flows = flow_sums_open(r->writer, r->t0);
	if (r->flows)
		output_meta_number(r, "flows_threshold_ns", r->o->flows_threshold_ns);
	else
		output_warning(r, "calls between libraries are not followed: there is no memory for the sums");
}

static void release(struct recording *r)
{
	flight_close(r->flight);
	r->flight = NULL;
	flow_sums_close(r->flows);
	r->flows = NULL;
	samples_close(r->samples);
	r->samples = NULL;
	call_ids_close(r->ids);
	r->ids = NULL;
	queues_close(r->queues);
	r->queues = NULL;
	modules_free(r->modules);
	threads_free(r->threads);
	pack_free(r->pack);
	naming_end(&r->naming);
	metrics_free(r->metrics);
	r->metrics = NULL;
	made_requests_free(r->made);
	r->made = NULL;
	filter_free(r->filter);
	r->filter = NULL;
	map_names_free(r->map_names);
	rings_close(r);
	drain_free(r->drain);
	kernel_close(r);
	session_close(&r->session);
	r->modules = NULL;
	r->threads = NULL;
	r->pack = NULL;
	r->drain = NULL;
}

static void rest(void *recording)
{
	const struct recording *r = recording;

	giveway_rest(r->giveway);
}

static const char *mapping_name(void *recording, uint64_t address)
{
	struct recording *r = recording;

	return map_names_get(r->map_names, address);
}

/*
 * Writes which memory is shared: when the traces of several processes are joined, a lock in this
 * memory is a single lock.
 */
static void tell_shared(void *recording, uint64_t address)
{
	struct recording *r = recording;
	const char *text = map_names_shared(r->map_names, address);

	if (text)
		writer_add_meta(r->writer, "shared_memory", text);
}

/* Opens the filter.  main() has checked the words of the options. */
static void open_filter(struct recording *r)
{
	const struct record_options *o = r->o;

	r->filter = filter_alloc(r->session.info.tsc_hz / 1e9);
	if (!r->filter)
		return;
	r->lock_threshold_ns = r->tune.lock_threshold_ns;
	r->naming = (struct naming){ .lookup = o->lookup, .program = r->pid };
	pack_set_filter(r->pack, r->filter);
	output_metrics_open(r);
	output_made_open(r);
	if (o->functions && !filter_set_functions(r->filter, o->functions))
		writer_add_meta(r->writer, "functions", o->functions);
	if (o->classes && !filter_set_classes(r->filter, o->classes))
		writer_add_meta(r->writer, "classes", o->classes);
}

bool output_open(struct recording *r)
{
	uint64_t hz;

	if (!kernel_open(r, &hz))
		goto err_release;
	if (!open_writer(r, hz))
		goto err_release;
	r->slack = (unsigned __int128)SLACK_NS * hz / 1000000000;
	r->pack = pack_alloc(&r->session, r->writer, r->t0, r->slack,
			     r->o->func_threshold_ns * (r->session.info.tsc_hz / 1e9));
	r->modules = modules_alloc(r->writer, r->t0, output_living(r));
	r->map_names = map_names_alloc(output_living(r));
	if (r->pack && r->map_names) {
		pack_func_counts(r->pack)->is_on = r->flight;
		pack_set_scope(r->pack, output_network(r));
		pack_on_rest(r->pack, rest, r);
		pack_on_mapping(r->pack, mapping_name, r);
		pack_on_lock(r->pack, tell_shared, r);
		rings_open(r);
		/* A program that was launched does not run before the recorder is ready. */
		if (r->launch.pid)
			chains_set_first(pack_chains(r->pack), 0);
		/*
		 * Frames are expected to be read from the first event on: threads may be created
		 * before the offsets of the blocks are known.
		 */
		if (r->o->kernel_frames && !r->o->kernel_only && r->source && r->source->ops->set_blocks)
			chains_expect(pack_chains(r->pack));
		chains_only_scanned(pack_chains(r->pack), r->tune.flags & LDB_TUNE_IN_REQUESTS);
		r->threads = threads_alloc(&r->session, r->writer, r->pack, r->t0);
		open_filter(r);
		r->drain = drain_alloc(&r->session, r->pack, r->source ? r->source->clock : NULL);
	}
	if (!r->modules || !r->threads || !r->drain || !r->filter) {
		cli_error("out of memory");
		writer_close(r->writer);
		r->writer = NULL;
		goto err_release;
	}
	output_write_metas(r);
	open_samples(r);
	connect_flight(r);
	output_ids_open(r);
	output_queues_open(r);
	open_flows(r);
	write_clock(r);
	recording_begin_paused(r);
	writer_flush(r->writer);
	r->begin_ns = clock_mono_ns();
	r->next_second_ns = r->begin_ns + (r->o->live ? (int64_t)r->o->live->period_ns : 1000000000);
	return true;

err_release:
	release(r);
	return false;
}

/* While the recording runs */

unsigned output_drain(struct recording *r)
{
	uint64_t begin = clock_now(r->clock_id);
	unsigned fill, kernel_fill;

	kernel_fill = kernel_poll(r);
	if (r->samples)
		samples_poll(r->samples);
	output_ids_poll(r);
	output_queues_poll(r);
	if (r->flows)
		flow_sums_poll(r->flows);
	fill = drain_pass(r->drain, clock_mono_ns());
	naming_poll(&r->naming, r->filter, r->modules, recording_tick(r, begin), clock_mono_ns());
	pack_release(r->pack, begin);
	if (r->made)
		made_requests_poll(r->made, recording_tick(r, begin));
	r->released_tick = recording_tick(r, begin - r->slack);
	return fill > kernel_fill ? fill : kernel_fill;
}

static void write_lost(struct recording *r, unsigned ring, uint64_t count, unsigned what)
{
	struct ldb_row_lost row = {
		.tick = recording_tick(r, clock_now(r->clock_id)), .ring = ring, .count = count,
		.what = what,
	};

	if (!count)
		return;
	writer_add_lost(r->writer, &row);
	r->nr_lost += count;
}

/* `all`: number of invocations that were only counted, of all threads so far. */
static void write_outside(struct recording *r, uint64_t all)
{
	struct ldb_row_lost row = {
		.tick = recording_tick(r, clock_now(r->clock_id)), .what = LDB_LEFT_OUTSIDE,
	};

	if (all <= r->outside_reported)
		return;
	row.count = all - r->outside_reported;
	r->outside_reported = r->left_total[LDB_LEFT_OUTSIDE - LDB_LEFT_PAUSE] = all;
	writer_add_lost(r->writer, &row);
}

static void write_left(struct recording *r)
{
	struct ldb_row_lost row = { .tick = recording_tick(r, clock_now(r->clock_id)) };

	for (unsigned i = 1; i < FILTER_NR_LEFT; i++) {
		row.what = LDB_LEFT_PAUSE + i;
		row.count = r->filter->left[i];
		r->left_total[i] += row.count;
		r->filter->left[i] = 0;
		if (row.count)
			writer_add_lost(r->writer, &row);
	}
}

static void write_late(struct recording *r)
{
	write_lost(r, 0, chains_take_late(pack_chains(r->pack)), LDB_LOST_UNCOMMITTED);
}

static void write_losses(struct recording *r)
{
	uint64_t unwatched = session_info(&r->session)->unwatched_events;

	for (unsigned ring = 0; ring < drain_nr_rings(r->drain); ring++) {
		struct drain_lost lost = drain_take_lost(r->drain, ring);

		write_lost(r, ring, lost.overrun, LDB_LOST_OVERRUN);
		write_lost(r, ring, lost.uncommitted, LDB_LOST_UNCOMMITTED);
		write_lost(r, ring, lost.torn, LDB_LOST_TORN);
	}
	if (unwatched > r->unwatched_reported) {
		write_lost(r, 0, unwatched - r->unwatched_reported, LDB_LOST_UNWATCHED);
		r->unwatched_reported = unwatched;
	}
	write_late(r);
	write_left(r);
	r->nr_events = recording_events(r);
	r->disk_lost = writer_lost_rows(r->writer);
	r->bytes = writer_bytes(r->writer);
}

void output_copy_scans(const struct recording *r, struct ldb_row_scan *rows)
{
	for (unsigned i = 0; i < r->session.info.nr_scanners; i++) {
		const volatile struct ldb_scan_stats *s = &session_info(&r->session)->scan[i];

		rows[i] = (struct ldb_row_scan){
			.scanner = i, .rounds = s->rounds, .looks = s->looks, .changes = s->changes,
			.scans = s->scans, .invalid = s->invalid, .frames = s->frames,
			.gaps = s->gaps, .gap = s->gap_tsc, .busy = s->busy_tsc,
			.paused = s->paused_tsc, .moving = s->moving, .cost = s->cost_tsc,
			.pages = s->pages, .handed = s->handed,
		};
	}
}

static void write_scans(struct recording *r)
{
	struct ldb_row_scan rows[LDB_MAX_SCANNERS];

	output_copy_scans(r, rows);
	writer_add_scans(r->writer, rows, r->session.info.nr_scanners);
}

static void report_live(struct recording *r, const struct threads_total *now, const char *end)
{
	struct record_status status = {
		.pid = r->pid, .now_ns = clock_mono_ns(), .begin_ns = r->begin_ns,
		.tick = r->released_tick,
		.made = now->made, .seen = now->seen, .nr_threads = now->nr_threads,
		.nr_events = r->nr_events, .nr_lost = r->nr_lost + r->disk_lost, .end = end,
	};

	r->o->live->period(r->o->live->arg, &status);
}

/* Writes rows that describe others again, because the reader drops old rows. */
static void write_anew(struct recording *r)
{
	r->o->live->anew(r->o->live->arg);
	threads_write(r->threads, recording_tick(r, clock_now(r->clock_id)));
	modules_write(r->modules);
	write_scans(r);
	writer_flush(r->writer);
}

void output_describe(struct recording *r, bool is_last)
{
	int64_t now = recording_tick(r, clock_now(r->clock_id));

	if (!is_last)
		threads_write_counted(r->threads);
	modules_write(r->modules);
	write_scans(r);
	/* At the end of the recording, these sums have been written already. */
	if (r->flows && !is_last)
		flow_sums_write(r->flows, now);
	write_clock(r);
}

void output_flush(struct recording *r)
{
	threads_poll(r->threads);
	write_losses(r);
	write_outside(r, threads_now(r->threads).outside_requests);
	write_clock(r);
	writer_flush(r->writer);
}

void output_snapshot(struct recording *r)
{
	/* Running functions are not written: they would appear a second time when they end. */
	threads_write_known(r->threads);
	modules_write(r->modules);
	if (r->flows)
		flow_sums_write(r->flows, recording_tick(r, clock_now(r->clock_id)));
	output_flush(r);
}

void output_second(struct recording *r)
{
	output_flush(r);
	recording_tune_again(r);
	flight_second(r->flight, r->released_tick);
	r->bytes = writer_bytes(r->writer);
	r->disk_lost = writer_lost_rows(r->writer);
	output_metrics(r);
}

void output_live(struct recording *r)
{
	struct threads_total now;

	output_second(r);
	write_anew(r);
	now = threads_now(r->threads);
	report_live(r, &now, NULL);
}

const char *output_must_stop(struct recording *r, const char **end)
{
	static char text[PATH_MAX + 128];
	char size[UNITS_ROOM];

	if (r->o->live || r->o->flight.ns)
		return NULL;	/* losses are counted, and recording continues */

	if (writer_lost_rows(r->writer)) {
		*end = "disk";
		snprintf(text, sizeof(text), "cannot write %s, the disk is full or failing: recording stopped",
			 r->o->output);
		return text;
	}
	if (writer_bytes(r->writer) >= r->o->max_bytes) {
		*end = "size";
		snprintf(text, sizeof(text), "%s has reached --max-size (%s): recording stopped",
			 r->o->output, units_bytes(r->o->max_bytes, size));
		return text;
	}
	if (disk_is_full(r->o->output)) {
		*end = "disk";
		snprintf(text, sizeof(text), "less than %d %% of the disk of %s is free: recording stopped",
			 DISK_FREE_PCT, r->o->output);
		return text;
	}
	return NULL;
}

/* Closing */

/*
 * Writes how many requests the runtime has made from connections, and how many reads and writes it
 * ignored; and that turns of event loops were recorded.
 */
static void finish_sockets(struct recording *r)
{
	static const char *const keys[LDB_SOCKET_LEFT_NR] = {
		"socket_left_busy", "socket_left_table", "socket_left_unread",
	};

	if (r->o->loop_turns && !r->o->kernel_only)
		output_meta_number(r, "loop_turns", 1);
	if (!r->o->socket_requests)
		return;
	r->nr_socket = pack_nr_socket(r->pack);
	output_meta_number(r, "socket_requests", r->nr_socket);
	for (unsigned i = 0; i < LDB_SOCKET_LEFT_NR; i++) {
		r->socket_left[i] = session_info(&r->session)->socket_left[i];
		output_meta_number(r, keys[i], r->socket_left[i]);
	}
	rings_finish(r);
}

void output_close(struct recording *r)
{
	uint64_t unwatched = session_info(&r->session)->unwatched_threads;
	char text[128];
	int rc;

	r->nr_forks = session_info(&r->session)->forks;

	/*
	 * The queues are finished before kernel events end, because these events say when the
	 * threads ran that put and took items.
	 */
	output_queues_finish(r);
	kernel_finish(r);
	recording_end_paused(r);
	finish_samples(r);
	output_ids_finish(r);
	drain_finish(r->drain, clock_mono_ns());
	if (r->flows)
		flow_sums_finish(r->flows, recording_tick(r, clock_now(r->clock_id)));
	pack_finish(r->pack);
	finish_sockets(r);
	r->end_ns = clock_mono_ns();
	write_losses(r);
	write_clock(r);
	threads_finish(r->threads, recording_tick(r, clock_now(r->clock_id)), &r->threads_total);
	/* Invocations that were still running may have been late or left out, too. */
	write_late(r);
	write_left(r);
	write_outside(r, r->threads_total.outside_requests);
	if (unwatched) {
		snprintf(text, sizeof(text), "%" PRIu64 " thread%s unobserved", unwatched,
			 unwatched == 1 ? " was" : "s were");
		output_warning(r, text);
	}
	if (!r->o->live && !r->flight)
		write_scans(r);
	writer_add_meta(r->writer, "end", r->end);
	writer_flush(r->writer);
	r->disk_lost = writer_lost_rows(r->writer);
	if (r->o->live) {
		write_anew(r);
		r->released_tick = recording_tick(r, clock_now(r->clock_id));
		report_live(r, &r->threads_total, r->end);
	}
	output_made_finish(r);
	output_metrics_finish(r);
	flight_finish(r->flight, &r->flight_total);
	r->failed |= r->flight_total.nr_failed > 0;
	rc = writer_close(r->writer);
	r->writer = NULL;
	if (rc && !r->failed && !r->o->live && !r->flight) {
		cli_error("cannot write %s: %s", r->o->output, strerror(-rc));
		r->failed = true;
	}
	release(r);
}
