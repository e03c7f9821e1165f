// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes rows that describe other rows, with their current values. */
#include "record/kernel/device.h"
#include "record/output/output.h"

void output_write_clock(struct output *out)
{
	struct ldb_row_clock row;

	if (!device_clock(&out->session, &row))
		clock_sample(out->clock_id, &row);
	row.tick = output_tick(out, row.tick);
	writer_add_clock(out->writer, &row);
}

void output_copy_scans(const struct output *out, struct ldb_row_scan *rows)
{
	for (unsigned i = 0; i < out->session.info.nr_scanners; i++) {
		const volatile struct ldb_scan_stats *s = &session_info(&out->session)->scan[i];

		rows[i] = (struct ldb_row_scan){
			.scanner = i, .rounds = s->rounds, .looks = s->looks, .changes = s->changes,
			.scans = s->scans, .invalid = s->invalid, .frames = s->frames,
			.gaps = s->gaps, .gap = s->gap_tsc, .busy = s->busy_tsc,
			.paused = s->paused_tsc, .moving = s->moving, .cost = s->cost_tsc,
			.pages = s->pages, .handed = s->handed,
		};
	}
}

void output_write_scans(struct output *out)
{
	struct ldb_row_scan rows[LDB_MAX_SCANNERS];

	output_copy_scans(out, rows);
	writer_add_scans(out->writer, rows, out->session.info.nr_scanners);
}

void output_describe(struct output *out, bool is_last)
{
	int64_t now = output_now(out);

	if (!is_last)
		threads_write_counted(out->threads);
	modules_write(out->modules);
	output_write_scans(out);
	/* At the end of the recording, these sums have been written already. */
	if (out->flows && !is_last)
		flow_sums_write(out->flows, now);
	output_write_clock(out);
}

void output_flush(struct output *out)
{
	threads_poll(out->threads);
	output_write_losses(out);
	output_write_outside(out, threads_now(out->threads).outside_requests);
	output_write_clock(out);
	writer_flush(out->writer);
}
