// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pauses and resumes a recording: see recording_pause().  Events that arrive while they are being
 * switched off are dropped.
 */
#include "record/run/recording.h"

int recording_tune(struct recording *r)
{
	union control_message m = { .tune = { .tune = r->tune } };
	int ret;

	r->must_tune = false;
	if (r->out.pack)
		chains_only_scanned(pack_chains(r->out.pack), r->tune.flags & LDB_TUNE_IN_REQUESTS);
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

void recording_pause(struct recording *r, bool pause)
{
	if (!recording_is_open(r) || r->out.is_paused == pause || r->phase == PHASE_DETACH)
		return;
	if (pause) {
		r->tune.flags |= LDB_TUNE_PAUSED;
		output_pause(&r->out, output_now(&r->out));
		/* The runtime is paused first, because switching off kernel events takes longer. */
		recording_tune(r);
		output_pause_sources(&r->out, true);
	} else {
		output_pause_sources(&r->out, false);
		r->tune.flags &= ~LDB_TUNE_PAUSED;
		output_resume(&r->out, output_now(&r->out), !recording_is_kernel_only(r));
		recording_tune(r);
	}
}
