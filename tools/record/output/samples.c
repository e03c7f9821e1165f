// SPDX-License-Identifier: GPL-2.0-or-later
/* Records samples; see perf/samples.h. */
#include <stdio.h>
#include "record/output/output.h"

/* a sample takes at most this long, even in a virtual machine (overhead.md: 22 us) */
#define SAMPLE_NS	25000

static void store_row(void *arg, unsigned kind, const void *row)
{
	struct output *out = arg;

	pack_row(out->pack, kind, row);
}

/*
 * Returns the rate of samples, limited such that their cost for each thread is within the budget.
 */
static unsigned samples_hz(const struct output *out)
{
	uint64_t most = (uint64_t)out->o->budget_ppm * (1000000000 / SAMPLE_NS) / 1000000;

	return out->o->samples_hz < most ? out->o->samples_hz : most;
}

void output_samples_open(struct output *out)
{
	struct samples_options o = {
		.pid = out->pid, .hz = samples_hz(out), .may_slow = out->o->may_slow_samples, .cycles_hz = out->session.info.tsc_hz,
		.clock_id = out->clock_id, .t0 = out->t0, .offset_ns = out->offset_ns,
		.modules = out->modules, .row = store_row, .arg = out,
	};
	char text[64];

	out->total.samples_clock = NULL;
	out->total.samples_why[0] = '\0';
	if (!out->o->samples_hz)
		return;
	if (o.hz)
		out->samples = samples_open(&o, out->total.samples_why, sizeof(out->total.samples_why));
	else
		snprintf(out->total.samples_why, sizeof(out->total.samples_why), "--budget has no room for them");
	if (!out->samples)
		return;
	out->total.samples_clock = samples_clock(out->samples);
	snprintf(text, sizeof(text), "%s %u", out->total.samples_clock, o.hz);
	writer_add_meta(out->writer, "samples", text);
	if (samples_are_user_only(out->samples))
		writer_add_meta(out->writer, "samples_user", "1");
}

void output_samples_finish(struct output *out)
{
	if (!out->samples)
		return;
	samples_finish(out->samples);
	out->total.nr_samples = samples_nr(out->samples);
	out->total.nr_samples_lost = samples_lost(out->samples);
	output_meta_number(out, "samples_lost", out->total.nr_samples_lost);
}
