// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Manages the trace file of a recording.  It is opened when the program to be recorded is known,
 * flushed every second, and closed when nothing writes to the session any more.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/disk.h"
#include "cli/error.h"
#include "cli/units.h"
#include "record/names/map.h"
#include "record/output/output.h"
#include "record/output/rings.h"

/* for pack_alloc(): a writer may be preempted after it has made a stamp */
#define SLACK_NS	5000000

bool output_check(const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	disk_folder(path, folder, sizeof(folder));
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		cli_error("cannot write %s: it is a directory", path);
		return false;
	}
	if (!stat(path, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
		cli_error("cannot write %s: it is a pipe or a socket: give a file with -o", path);
		return false;
	}
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return true;	/* the directory of a device need not be writable */
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

static bool open_writer(struct output *out, uint64_t clock_hz)
{
	struct ldb_file_header h = { .clock_id = out->clock_id, .clock_hz = clock_hz };
	char err[PATH_MAX + 128];

	h.t0 = out->t0;
	h.realtime_ns = out->realtime_ns;
	if (out->o->flight.ns)
		return output_flight_open(out, &h);
	if (out->o->live)
		out->writer = writer_open_blocks(&h, out->o->live->block, out->o->live->arg, err,
					       sizeof(err));
	else
		out->writer = writer_open(out->o->output, &h, err, sizeof(err));
	if (!out->writer)
		cli_error("%s%s", err, out->o->live ? "" : ": give another place with -o");
	return out->writer;
}

static void open_flows(struct output *out)
{
	if (!out->o->flows)
		return;
	if (out->clock_id != LDB_CLOCK_TSC) {
		output_warning(out, "calls between libraries are not followed: that needs a reliable time stamp counter");
		return;
	}
	out->flows = flow_sums_open(out->writer, out->t0);
	if (out->flows)
		output_meta_number(out, "flows_threshold_ns", out->o->flows_threshold_ns);
	else
		output_warning(out, "calls between libraries are not followed: there is no memory for the sums");
}

static void release(struct output *out)
{
	flight_close(out->flight);
	out->flight = NULL;
	flow_sums_close(out->flows);
	out->flows = NULL;
	samples_close(out->samples);
	out->samples = NULL;
	call_ids_close(out->ids);
	out->ids = NULL;
	queues_close(out->queues);
	out->queues = NULL;
	modules_free(out->modules);
	threads_free(out->threads);
	pack_free(out->pack);
	naming_end(&out->naming);
	metrics_free(out->metrics);
	out->metrics = NULL;
	made_requests_free(out->made);
	out->made = NULL;
	filter_free(out->filter);
	out->filter = NULL;
	map_names_free(out->map_names);
	rings_close(out);
	drain_free(out->drain);
	kernel_close(out);
	session_close(&out->session);
	out->modules = NULL;
	out->threads = NULL;
	out->pack = NULL;
	out->drain = NULL;
}

static const char *mapping_name(void *output, uint64_t address)
{
	struct output *out = output;

	return map_names_get(out->map_names, address);
}

/*
 * If the memory at this address is shared, writes which memory that is: when the traces of several
 * processes are joined, a lock in this memory is a single lock.
 */
static void tell_shared(void *output, uint64_t address)
{
	struct output *out = output;
	const char *text = map_names_shared(out->map_names, address);

	if (text)
		writer_add_meta(out->writer, "shared_memory", text);
}

/* Opens the filter.  main() has checked the words of the options. */
static void open_filter(struct output *out)
{
	const struct record_options *o = out->o;

	out->filter = filter_alloc(out->session.info.tsc_hz / 1e9);
	if (!out->filter)
		return;
	out->naming = (struct naming){ .lookup = o->lookup, .program = out->pid };
	pack_set_filter(out->pack, out->filter);
	output_metrics_open(out);
	output_made_open(out);
	if (o->functions && !filter_set_functions(out->filter, o->functions))
		writer_add_meta(out->writer, "functions", o->functions);
	if (o->classes && !filter_set_classes(out->filter, o->classes))
		writer_add_meta(out->writer, "classes", o->classes);
}

bool output_open(struct output *out)
{
	uint64_t hz;

	if (!kernel_open(out, &hz))
		goto err_release;
	if (!open_writer(out, hz))
		goto err_release;
	out->slack = (unsigned __int128)SLACK_NS * hz / 1000000000;
	out->pack = pack_alloc(&out->session, out->writer, out->t0, out->slack,
			     out->o->func_threshold_ns * (out->session.info.tsc_hz / 1e9));
	out->modules = modules_alloc(out->writer, out->t0, output_living(out));
	out->map_names = map_names_alloc(output_living(out));
	if (out->pack && out->map_names) {
		pack_func_counts(out->pack)->is_on = out->flight;
		pack_set_scope(out->pack, output_network(out));
		pack_on_rest(out->pack, out->rest, out->rest_arg);
		pack_on_mapping(out->pack, mapping_name, out);
		pack_on_lock(out->pack, tell_shared, out);
		rings_open(out);
		/* A program that was launched does not run before the recorder is ready. */
		if (out->is_launched)
			chains_set_first(pack_chains(out->pack), 0);
		/*
		 * Frames are expected to be read from the first event on: threads may be created
		 * before the offsets of the blocks are known.
		 */
		if (out->o->kernel_frames && !out->o->kernel_only && out->kernel.source && out->kernel.source->ops->set_blocks)
			chains_expect(pack_chains(out->pack));
		chains_only_scanned(pack_chains(out->pack), out->is_scanned_in_requests);
		out->threads = threads_alloc(&out->session, out->writer, out->pack, out->t0);
		open_filter(out);
		out->drain = drain_alloc(&out->session, out->pack, out->kernel.source ? out->kernel.source->clock : NULL);
	}
	if (!out->modules || !out->threads || !out->drain || !out->filter) {
		cli_error("out of memory");
		writer_close(out->writer);
		out->writer = NULL;
		goto err_release;
	}
	output_write_metas(out);
	output_samples_open(out);
	output_flight_connect(out);
	output_ids_open(out);
	output_queues_open(out);
	open_flows(out);
	output_write_clock(out);
	out->is_paused = false;
	if (out->o->paused) {
		output_pause(out, 0);
		output_pause_sources(out, true);
	}
	writer_flush(out->writer);
	out->total.begin_ns = clock_mono_ns();
	return true;

err_release:
	release(out);
	return false;
}

/* While the recording runs */

unsigned output_drain(struct output *out)
{
	uint64_t begin = clock_now(out->clock_id);
	unsigned fill, kernel_fill;

	kernel_fill = kernel_poll(out);
	if (out->samples)
		samples_poll(out->samples);
	output_ids_poll(out);
	output_queues_poll(out);
	if (out->flows)
		flow_sums_poll(out->flows);
	fill = drain_pass(out->drain, clock_mono_ns());
	naming_poll(&out->naming, out->filter, out->modules, output_tick(out, begin), clock_mono_ns());
	pack_release(out->pack, begin);
	if (out->made)
		made_requests_poll(out->made, output_tick(out, begin));
	out->released_tick = output_tick(out, begin - out->slack);
	return fill > kernel_fill ? fill : kernel_fill;
}

static void report_live(struct output *out, const struct threads_total *now, const char *end)
{
	struct record_status status = {
		.pid = out->pid, .now_ns = clock_mono_ns(), .begin_ns = out->total.begin_ns,
		.tick = out->released_tick,
		.made = now->made, .seen = now->seen, .nr_threads = now->nr_threads,
		.nr_events = out->total.nr_events, .nr_lost = out->total.nr_lost + out->total.disk_lost, .end = end,
	};

	out->o->live->period(out->o->live->arg, &status);
}

/* Writes rows that describe others again, because the reader drops old rows. */
static void write_anew(struct output *out)
{
	out->o->live->anew(out->o->live->arg);
	threads_write(out->threads, output_now(out));
	modules_write(out->modules);
	output_write_scans(out);
	writer_flush(out->writer);
}

void output_snapshot(struct output *out)
{
	/* Running functions are not written: they would appear a second time when they end. */
	threads_write_known(out->threads);
	modules_write(out->modules);
	if (out->flows)
		flow_sums_write(out->flows, output_now(out));
	output_flush(out);
}

void output_second(struct output *out)
{
	output_flush(out);
	flight_second(out->flight, out->released_tick);
	out->total.bytes = writer_bytes(out->writer);
	out->total.disk_lost = writer_lost_rows(out->writer);
	output_metrics(out);
}

void output_live(struct output *out)
{
	struct threads_total now;

	output_second(out);
	write_anew(out);
	now = threads_now(out->threads);
	report_live(out, &now, NULL);
}

const char *output_must_stop(struct output *out, const char **end)
{
	static char text[PATH_MAX + 128];
	char size[UNITS_ROOM];

	if (out->o->live || out->o->flight.ns)
		return NULL;	/* losses are counted, and recording continues */

	if (writer_lost_rows(out->writer)) {
		*end = "disk";
		snprintf(text, sizeof(text), "cannot write %s, the disk is full or failing: recording stopped",
			 out->o->output);
		return text;
	}
	if (writer_bytes(out->writer) >= out->o->max_bytes) {
		*end = "size";
		snprintf(text, sizeof(text), "%s has reached --max-size (%s): recording stopped",
			 out->o->output, units_bytes(out->o->max_bytes, size));
		return text;
	}
	if (disk_is_full(out->o->output)) {
		*end = "disk";
		snprintf(text, sizeof(text), "less than %d %% of the disk of %s is free: recording stopped",
			 DISK_FREE_PCT, out->o->output);
		return text;
	}
	return NULL;
}

/* Closing */

/*
 * Writes how many requests the runtime has made from connections, and how many reads and writes it
 * ignored; and that turns of event loops were recorded.
 */
static void finish_sockets(struct output *out)
{
	static const char *const keys[LDB_SOCKET_LEFT_NR] = {
		"socket_left_busy", "socket_left_table", "socket_left_unread",
	};

	if (out->o->loop_turns && !out->o->kernel_only)
		output_meta_number(out, "loop_turns", 1);
	if (!out->o->socket_requests)
		return;
	out->total.nr_socket = pack_nr_socket(out->pack);
	output_meta_number(out, "socket_requests", out->total.nr_socket);
	for (unsigned i = 0; i < LDB_SOCKET_LEFT_NR; i++) {
		out->total.socket_left[i] = session_info(&out->session)->socket_left[i];
		output_meta_number(out, keys[i], out->total.socket_left[i]);
	}
	rings_finish(out);
}

void output_close(struct output *out)
{
	uint64_t unobserved = session_info(&out->session)->unobserved_threads;
	char text[128];
	int rc;

	out->total.nr_forks = session_info(&out->session)->forks;

	/*
	 * The queues are finished before kernel events end, because these events say when the
	 * threads ran that put and took items.
	 */
	output_queues_finish(out);
	kernel_finish(out);
	if (out->is_paused)
		output_resume(out, output_now(out), false);
	output_samples_finish(out);
	output_ids_finish(out);
	drain_finish(out->drain, clock_mono_ns());
	if (out->flows)
		flow_sums_finish(out->flows, output_now(out));
	pack_finish(out->pack);
	finish_sockets(out);
	out->total.end_ns = clock_mono_ns();
	output_write_losses(out);
	output_write_clock(out);
	threads_finish(out->threads, output_now(out), &out->total.threads);
	/* Invocations that were still running may have been late or left out, too. */
	output_write_left(out);
	output_write_outside(out, out->total.threads.outside_requests);
	if (unobserved) {
		snprintf(text, sizeof(text), "%" PRIu64 " thread%s unobserved", unobserved,
			 unobserved == 1 ? " was" : "s were");
		output_warning(out, text);
	}
	if (!out->o->live && !out->flight)
		output_write_scans(out);
	writer_add_meta(out->writer, "end", out->end);
	writer_flush(out->writer);
	out->total.disk_lost = writer_lost_rows(out->writer);
	if (out->o->live) {
		write_anew(out);
		out->released_tick = output_now(out);
		report_live(out, &out->total.threads, out->end);
	}
	output_made_finish(out);
	output_metrics_finish(out);
	flight_finish(out->flight, &out->total.flight);
	out->has_failed |= out->total.flight.nr_failed > 0;
	rc = writer_close(out->writer);
	out->writer = NULL;
	if (rc && !out->has_failed && !out->o->live && !out->flight) {
		cli_error("cannot write %s: %s", out->o->output, strerror(-rc));
		out->has_failed = true;
	}
	release(out);
}
