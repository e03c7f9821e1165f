// SPDX-License-Identifier: GPL-2.0-or-later
/* Records the ids that --request reads from arguments of calls; see call-ids.h. */
#include "record/run/recording.h"

static void store_row(void *recording, unsigned kind, const void *row)
{
	struct recording *r = recording;

	pack_row(r->pack, kind, row);
}

static void warn(void *recording, const char *text)
{
	output_warning(recording, text);
}

void output_ids_open(struct recording *r)
{
	struct call_ids_options o = {
		.pid = r->pid, .words = r->o->request, .find = r->o->find_id, .clock_id = r->clock_id, .t0 = r->t0,
		.offset_ns = r->offset_ns, .row = store_row, .warn = warn, .arg = r,
	};

	if (o.find && !r->o->kernel_only && call_ids_are_wanted(o.words))
		r->ids = call_ids_open(&o);
}

/*
 * Writes ids_lost when the first ids are lost, for a flight recorder, whose dumps are written
 * before the end.
 */
void output_ids_poll(struct recording *r)
{
	if (!r->ids)
		return;
	call_ids_poll(r->ids);
	if (!r->nr_ids_lost && call_ids_lost(r->ids)) {
		r->nr_ids_lost = call_ids_lost(r->ids);
		output_meta_number(r, "ids_lost", r->nr_ids_lost);
	}
}

void output_ids_finish(struct recording *r)
{
	if (!r->ids)
		return;
	call_ids_finish(r->ids);
	r->has_ids = true;
	r->nr_ids = call_ids_nr(r->ids);
	r->nr_ids_lost = call_ids_lost(r->ids);
	r->nr_ids_nowhere = call_ids_nowhere(r->ids);
	output_meta_number(r, "ids", r->nr_ids);
	output_meta_number(r, "ids_err_ns", call_ids_err_ns(r->ids));
	output_meta_number(r, "ids_lost", r->nr_ids_lost);
	output_meta_number(r, "ids_nowhere", r->nr_ids_nowhere);
	/*
	 * The source of ids is closed now, so that no probes remain if the recorder is killed
	 * later.
	 */
	call_ids_close(r->ids);
	r->ids = NULL;
}
