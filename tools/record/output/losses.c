// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes what is missing in the trace: rows that were lost, and rows that were left out. */
#include "record/output/output.h"

static void write_lost(struct output *out, unsigned ring, uint64_t count, unsigned what)
{
	struct ldb_row_lost row = {
		.tick = output_now(out), .ring = ring, .count = count,
		.what = what,
	};

	if (!count)
		return;
	writer_add_lost(out->writer, &row);
	out->total.nr_lost += count;
}

void output_write_outside(struct output *out, uint64_t all)
{
	struct ldb_row_lost row = {
		.tick = output_now(out), .what = LDB_LEFT_OUTSIDE,
	};

	if (all <= out->outside_reported)
		return;
	row.count = all - out->outside_reported;
	out->outside_reported = out->total.left[LDB_LEFT_OUTSIDE - LDB_LEFT_PAUSE] = all;
	writer_add_lost(out->writer, &row);
}

static void write_left(struct output *out)
{
	struct ldb_row_lost row = { .tick = output_now(out) };

	for (unsigned i = 1; i < FILTER_NR_LEFT; i++) {
		row.what = LDB_LEFT_PAUSE + i;
		row.count = out->filter->left[i];
		out->total.left[i] += row.count;
		out->filter->left[i] = 0;
		if (row.count)
			writer_add_lost(out->writer, &row);
	}
}

static void write_late(struct output *out)
{
	write_lost(out, 0, chains_take_late(pack_chains(out->pack)), LDB_LOST_UNCOMMITTED);
}

void output_write_left(struct output *out)
{
	write_late(out);
	write_left(out);
}

void output_write_losses(struct output *out)
{
	uint64_t unobserved = session_info(&out->session)->unobserved_events;

	for (unsigned ring = 0; ring < drain_nr_rings(out->drain); ring++) {
		struct drain_lost lost = drain_take_lost(out->drain, ring);

		write_lost(out, ring, lost.overrun, LDB_LOST_OVERRUN);
		write_lost(out, ring, lost.uncommitted, LDB_LOST_UNCOMMITTED);
		write_lost(out, ring, lost.torn, LDB_LOST_TORN);
	}
	if (unobserved > out->unobserved_reported) {
		write_lost(out, 0, unobserved - out->unobserved_reported, LDB_LOST_UNOBSERVED);
		out->unobserved_reported = unobserved;
	}
	output_write_left(out);
	out->total.nr_events = output_events(out);
	out->total.disk_lost = writer_lost_rows(out->writer);
	out->total.bytes = writer_bytes(out->writer);
}
