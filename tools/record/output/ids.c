// SPDX-License-Identifier: GPL-2.0-or-later
/* Records the ids that --request reads from arguments of calls; see call-ids.h. */
#include "record/output/output.h"

static void store_row(void *output, unsigned kind, const void *row)
{
	struct output *out = output;

	pack_row(out->pack, kind, row);
}

static void warn(void *output, const char *text)
{
	output_warning(output, text);
}

void output_ids_open(struct output *out)
{
	struct call_ids_options o = {
		.pid = out->pid, .words = out->o->request, .find = out->o->find_id, .clock_id = out->clock_id, .t0 = out->t0,
		.offset_ns = out->offset_ns, .row = store_row, .warn = warn, .arg = out,
	};

	if (o.find && !out->o->kernel_only && call_ids_are_wanted(o.words))
		out->ids = call_ids_open(&o);
}

/*
 * Writes ids_lost when the first ids are lost, for a flight recorder, whose dumps are written
 * before the end.
 */
void output_ids_poll(struct output *out)
{
	if (!out->ids)
		return;
	call_ids_poll(out->ids);
	if (!out->total.nr_ids_lost && call_ids_lost(out->ids)) {
		out->total.nr_ids_lost = call_ids_lost(out->ids);
		output_meta_number(out, "ids_lost", out->total.nr_ids_lost);
	}
}

void output_ids_finish(struct output *out)
{
	if (!out->ids)
		return;
	call_ids_finish(out->ids);
	out->total.has_ids = true;
	out->total.nr_ids = call_ids_nr(out->ids);
	out->total.nr_ids_lost = call_ids_lost(out->ids);
	out->total.nr_ids_nowhere = call_ids_nowhere(out->ids);
	output_meta_number(out, "ids", out->total.nr_ids);
	output_meta_number(out, "ids_err_ns", call_ids_err_ns(out->ids));
	output_meta_number(out, "ids_lost", out->total.nr_ids_lost);
	output_meta_number(out, "ids_nowhere", out->total.nr_ids_nowhere);
	/*
	 * The source of ids is closed now, so that no probes remain if the recorder is killed
	 * later.
	 */
	call_ids_close(out->ids);
	out->ids = NULL;
}
