// SPDX-License-Identifier: GPL-2.0-or-later
/* Connects a flight recorder with the recording. */
#include "record/output/output.h"

static void flush(void *output)
{
	output_flush(output);
}

static void describe(void *output, bool is_last)
{
	output_describe(output, is_last);
}

static void copy_scans(void *output, struct ldb_row_scan *rows)
{
	output_copy_scans(output, rows);
}

bool output_flight_open(struct output *out, const struct ldb_file_header *h)
{
	const struct record_options *o = out->o;
	const struct flight_recording what = {
		.output = o->output, .pid = out->pid, .max_bytes = o->max_bytes, .quiet = o->quiet, .verbose = o->verbose,
		.kernel_only = o->kernel_only, .store_names = o->store_names, .end = out->end,
		.flush = flush, .describe = describe, .copy_scans = copy_scans, .arg = out,
	};

	out->flight = flight_open(&o->flight, &what, h, &out->writer);
	return out->flight;
}

void output_flight_connect(struct output *out)
{
	const struct flight_sources from = {
		.pack = out->pack, .threads = out->threads, .samples = out->samples, .has_made = out->made,
	};

	if (out->flight)
		flight_set_sources(out->flight, &from);
}
