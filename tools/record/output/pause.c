// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pauses the writing of rows, and their sources.  A request that is open when a pause begins may
 * end during the pause, and its id may be used again.  So requests are cut at the start and at the
 * end of a pause (LDB_REQ_OP_CUT).
 */
#include "record/output/output.h"

void output_pause(struct output *out, int64_t tick)
{
	out->is_paused = true;
	out->total.nr_pauses++;
	out->pause_tick = tick;
	pack_pause(out->pack, tick);
}

void output_resume(struct output *out, int64_t tick, bool is_observed)
{
	struct ldb_row_gap gap = { .begin = out->pause_tick, .end = tick };
	struct ldb_row_lost lost = {
		.tick = tick, .what = LDB_LEFT_PAUSE, .count = tick - out->pause_tick,
	};

	out->is_paused = false;
	pack_resume(out->pack, tick);
	writer_add_lost(out->writer, &lost);
	if (!is_observed)
		writer_add_gap(out->writer, &gap);
}

/*
 * If only kernel events are recorded, they are not switched off: nothing else shows which threads
 * exist.
 */
static void pause_kernel(struct output *out, bool pause)
{
	if (out->o->kernel_only)
		return;
	kernel_pause(out, pause);
	if (out->samples)
		samples_pause(out->samples, pause);
}

void output_pause_sources(struct output *out, bool pause)
{
	if (!pause)
		chains_pause(pack_chains(out->pack), output_now(out));
	pause_kernel(out, pause);
	if (out->ids)
		call_ids_pause(out->ids, pause);
	if (out->queues)
		queues_pause(out->queues, pause);
}
