// SPDX-License-Identifier: GPL-2.0-or-later
/* Records the items of the program's queues: see queues.h. */
#include <inttypes.h>
#include <stdio.h>
#include "record/run/recording.h"

static void store_row(void *recording, unsigned kind, const void *row)
{
	struct recording *r = recording;

	pack_row(r->pack, kind, row);
}

static void store_name(void *recording, uint64_t queue, const char *name)
{
	struct recording *r = recording;
	char key[48];

	snprintf(key, sizeof(key), LDB_META_QUEUE "%" PRIx64, queue);
	writer_add_meta(r->writer, key, name);
}

static void warn(void *recording, const char *text)
{
	output_warning(recording, text);
}

void output_queues_open(struct recording *r)
{
	struct queues_options o = {
		.pid = r->pid, .words = r->o->queues, .nr_words = r->o->nr_queues, .find = r->o->find_probes,
		.clock_id = r->clock_id, .t0 = r->t0, .offset_ns = r->offset_ns,
		.row = store_row, .name = store_name, .warn = warn, .arg = r,
	};

	if (o.nr_words && o.find)
		r->queues = queues_open(&o);
}

void output_queues_poll(struct recording *r)
{
	if (r->queues)
		queues_poll(r->queues);
}

void output_queues_finish(struct recording *r)
{
	char text[128];

	if (!r->queues)
		return;
	queues_finish(r->queues);
	r->has_queues = true;
	r->queues_total = *queues_total(r->queues);
	r->nr_queues_lost = queues_lost(r->queues);
	output_meta_number(r, "queue_err_ns", queues_err_ns(r->queues));
	if (r->nr_queues_lost) {
		snprintf(text, sizeof(text), "%" PRIu64 " events of queues were lost by the kernel: some items seem not to have waited, or not to end",
			 r->nr_queues_lost);
		output_warning(r, text);
	}
	/* A recorder that is killed from here on leaves no probes behind. */
	queues_close(r->queues);
	r->queues = NULL;
}
