// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests while the recording runs, for the parts that need them at that time; see
 * requests/made.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include "record/run/recording.h"

static void on_made(void *recording, const struct made_request *request, bool is_counted)
{
	struct recording *r = recording;

	if (r->flight)
		flight_made(r->flight, request, is_counted);
	if (r->metrics && is_counted)
		metrics_made(r->metrics, request);
}

void output_made_open(struct recording *r)
{
	struct made_options o = {
		.words = r->o->request, .filter = r->filter, .second = r->session.info.tsc_hz,
		.made = on_made, .arg = r,
		/* Without the runtime, no pages show which threads are the program's. */
		.is_of_program = r->o->kernel_only ? NULL : pack_is_of_program, .thread_arg = r->pack,
	};

	if (!made_requests_are(o.words) || !(r->flight || r->metrics))
		return;
	r->made = made_requests_alloc(&o);
	if (!r->made) {
		output_warning(r, "out of memory: no triggers and no sums of requests");
		return;
	}
	r->filter->names_all = r->filter->has_funcs = true;
	pack_set_made(r->pack, r->made);
}

void output_made_finish(struct recording *r)
{
	char text[128];

	if (!r->made)
		return;
	naming_finish(&r->naming, r->filter, r->modules, recording_tick(r, clock_now(r->clock_id)));
	made_requests_finish(r->made);
	if (!made_requests_forgotten(r->made))
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " calls were no requests for triggers and sums, because names of their functions were not known",
		 made_requests_forgotten(r->made));
	output_warning(r, text);
}
