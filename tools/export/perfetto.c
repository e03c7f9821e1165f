// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes Perfetto traces: TrackEvents for threads, requests and counters, and scheduler events.
 * The packets of a thread are one sequence, in order of time.  Of its segments, only the ends of
 * open ones are in memory.
 *
 * Times are those of CLOCK_MONOTONIC, which are declared to be boot times.  A snapshot of clocks
 * enables the viewer to show the time of day.
 */
#include <string.h>

#include "export/perfetto-private.h"
#include "facts/rows.h"

#define SPILL_BYTES	(16UL << 20)

/*
 * Finds the time of CLOCK_MONOTONIC at the start of the recording, so that times match those of
 * other tools.
 */
static int find_base(void *arg, const void *at)
{
	const struct ldb_row_clock *row = at;
	struct perfetto *x = arg;

	x->base_ns = ticks_sane(row->mono_ns) - ticks_time_ns(x->m->reader, row->tick);
	return 1;
}

static void put_clocks(struct perfetto *x)
{
	static const struct { unsigned id; bool is_real; } clocks[] = {
		{ 6, false }, { 3, false }, { 1, true },	/* BOOTTIME, MONOTONIC, REALTIME */
	};
	int64_t real = reader_header(x->m->reader)->realtime_ns;
	size_t snapshot, clock;

	packet_u64(&x->p, PB_SEQUENCE, x->sequence);
	snapshot = packet_begin(&x->p, PB_CLOCK_SNAPSHOT);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		clock = packet_begin(&x->p, 1);
		packet_u64(&x->p, 1, clocks[i].id);
		packet_u64(&x->p, 2, clocks[i].is_real ? (real > 0 ? real : 0) : x->base_ns);
		packet_end(&x->p, clock);
	}
	packet_u64(&x->p, 2, 6);	/* primary: BOOTTIME */
	packet_end(&x->p, snapshot);
	perfetto_put(x);
}

static void put_process(struct perfetto *x)
{
	const char *exe = reader_meta(x->m->reader, "exe");
	const char *cmdline = reader_meta(x->m->reader, "cmdline");
	const char *name = exe ? basename(exe) : NULL;
	size_t descriptor, process;

	packet_u64(&x->p, PB_SEQUENCE, x->sequence);
	descriptor = packet_begin(&x->p, PB_TRACK_DESCRIPTOR);
	packet_u64(&x->p, PB_UUID, perfetto_track(TRACK_PROCESS, 1, 0));
	process = packet_begin(&x->p, PB_PROCESS);
	packet_u64(&x->p, 1, x->pid);
	if (cmdline)
		packet_text(&x->p, 2, cmdline);
	if (name && *name)
		packet_text(&x->p, 6, name);
	packet_end(&x->p, process);
	packet_end(&x->p, descriptor);
	perfetto_put(x);
}

static int put_head(struct perfetto *x)
{
	int ret;

	x->pid = x->m->pid & INT32_MAX;
	if (!x->pid)
		x->pid = x->m->nr_threads ? x->m->threads[0].tid : 1;
	ret = rows_each(x->m->reader, LDB_BLK_CLOCK, NULL, find_base, x);
	if (ret < 0)
		return ret;
	if (x->base_ns < 0)
		x->base_ns = 0;
	perfetto_sequence(x, 0);
	put_clocks(x);
	put_process(x);
	return perfetto_error(x);
}

static void free_all(struct perfetto *x)
{
	perfetto_end_thread(x);
	perfetto_end_requests(x);
	handover_close(&x->handover);
	spill_close(&x->counts);
	spill_close(&x->sched);
	intern_free(&x->texts);
	table_free(&x->names);
	table_free(&x->counted);
	ends_free(&x->ends);
	free(x->p.at);
	free(x->event.at);
	free(x->interned.at);
}

int export_perfetto(struct model *m, const struct export_options *o, FILE *out, char *err,
		    size_t err_size)
{
	struct perfetto x = { .m = m, .o = o, .out = out };
	struct tracks_options options = export_tracks(o, true, true);
	struct tracks_sink sink = {
		.thread = perfetto_on_thread, .segment = perfetto_on_segment,
		.run = perfetto_on_run, .wakeup = perfetto_on_wakeup,
		.request = perfetto_on_request, .arg = &x,
	};
	struct tracks_result result;
	int ret;

	spill_open(&x.handover.spill, 0);
	spill_open(&x.counts, SPILL_BYTES);
	spill_open(&x.sched, SPILL_BYTES);
	ret = put_head(&x);
	if (!ret)
		ret = handover_open(&x.handover, m, o);
	if (!ret)
		ret = tracks_each(m, &options, &sink, &result);
	if (!ret)
		ret = perfetto_end_thread(&x);
	if (!ret)
		ret = perfetto_end_requests(&x);
	if (!ret)
		ret = perfetto_end_counts(&x);
	if (!ret && m->has_sched)
		ret = perfetto_end_sched(&x);
	if (!ret) {
		export_take(o, &result);
		o->result->nr_flows = x.nr_flows;
	}
	free_all(&x);
	return ret;
}
