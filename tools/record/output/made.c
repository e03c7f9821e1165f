// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests while the recording runs, for the flight recorder and the sums for monitoring; see
 * requests/made.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include "record/output/output.h"

static void on_made(void *output, const struct made_request *request, bool is_counted)
{
	struct output *out = output;

	if (out->flight)
		flight_made(out->flight, request, is_counted);
	if (out->metrics && is_counted)
		metrics_made(out->metrics, request);
}

void output_made_open(struct output *out)
{
	struct made_options o = {
		.words = out->o->request, .filter = out->filter, .second = out->session.info.tsc_hz,
		.made = on_made, .arg = out,
		/* Without the runtime, no pages show which threads are the program's. */
		.is_of_program = out->o->kernel_only ? NULL : pack_is_of_program, .thread_arg = out->pack,
	};

	if (!made_requests_are(o.words) || !(out->flight || out->metrics))
		return;
	out->made = made_requests_alloc(&o);
	if (!out->made) {
		output_warning(out, "out of memory: no triggers and no sums of requests");
		return;
	}
	out->filter->names_all = out->filter->has_funcs = true;
	pack_set_made(out->pack, out->made);
}

void output_made_finish(struct output *out)
{
	char text[128];

	if (!out->made)
		return;
	naming_finish(&out->naming, out->filter, out->modules, output_now(out));
	made_requests_finish(out->made);
	if (!made_requests_forgotten(out->made))
		return;
	snprintf(text, sizeof(text), "triggers and sums lack the requests of %" PRIu64 " calls, because the names of the called functions were not known",
		 made_requests_forgotten(out->made));
	output_warning(out, text);
}
