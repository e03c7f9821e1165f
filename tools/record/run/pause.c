// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pauses a recording: the runtime writes nothing, and the kernel reports nothing.  Events that
 * arrive while they are being switched off are dropped.
 *
 * A request that is open when a pause begins may end during the pause, and its id may be used
 * again.  So requests are cut at the start and at the end of a pause (LDB_REQ_OP_CUT).
 */
#include "record/run/recording.h"

int recording_tune(struct recording *r)
{
	union control_message m = { .tune = { .tune = r->tune } };
	int ret;

	r->must_tune = false;
	if (r->pack)
		chains_only_scanned(pack_chains(r->pack), r->tune.flags & LDB_TUNE_IN_REQUESTS);
	if (r->sock < 0 || r->phase < PHASE_ATTACH || r->phase > PHASE_RUNNING)
		return 0;
	ret = control_send(r->sock, &m, LDB_MSG_TUNE, -1);
	r->must_tune = ret;	/* the runtime has not read earlier settings yet */
	return ret;
}

void recording_tune_again(struct recording *r)
{
	if (r->must_tune)
		recording_tune(r);
}

static int64_t now(const struct recording *r)
{
	return recording_tick(r, clock_now(r->clock_id));
}

/*
 * If only kernel events are recorded, they are not switched off: nothing else shows which threads
 * exist.
 */
static void pause_kernel(struct recording *r, bool pause)
{
	if (r->o->kernel_only)
		return;
	kernel_pause(r, pause);
	if (r->samples)
		samples_pause(r->samples, pause);
}

static void begin(struct recording *r, int64_t tick)
{
	r->is_paused = true;
	r->nr_pauses++;
	r->pause_tick = tick;
	r->tune.flags |= LDB_TUNE_PAUSED;
	pack_pause(r->pack, tick);
	/* The runtime is paused first, because switching off kernel events takes longer. */
	recording_tune(r);
	pause_kernel(r, true);
	if (r->ids)
		call_ids_pause(r->ids, true);
	if (r->queues)
		queues_pause(r->queues, true);
}

/* is_observed: the scanner reports the observation gap itself. */
static void end(struct recording *r, int64_t tick, bool is_observed)
{
	struct ldb_row_gap gap = { .begin = r->pause_tick, .end = tick };
	struct ldb_row_lost lost = {
		.tick = tick, .what = LDB_LEFT_PAUSE, .count = tick - r->pause_tick,
	};

	r->is_paused = false;
	r->tune.flags &= ~LDB_TUNE_PAUSED;
	pack_resume(r->pack, tick);
	writer_add_lost(r->writer, &lost);
	if (!is_observed)
		writer_add_gap(r->writer, &gap);
}

void recording_pause(struct recording *r, bool pause)
{
	if (!recording_is_open(r) || r->is_paused == pause || r->phase == PHASE_DETACH)
		return;
	if (pause) {
		begin(r, now(r));
	} else {
		chains_pause(pack_chains(r->pack), now(r));
		pause_kernel(r, false);
		if (r->ids)
			call_ids_pause(r->ids, false);
		if (r->queues)
			queues_pause(r->queues, false);
		end(r, now(r), !recording_is_kernel_only(r));
		recording_tune(r);
	}
}

void recording_begin_paused(struct recording *r)
{
	r->is_paused = false;
	if (r->o->paused)
		begin(r, 0);
}

void recording_end_paused(struct recording *r)
{
	if (r->is_paused)
		end(r, now(r), false);
}
