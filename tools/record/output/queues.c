// SPDX-License-Identifier: GPL-2.0-or-later
/* Records the items of the program's queues: see queues.h. */
#include <inttypes.h>
#include <stdio.h>
#include "record/output/output.h"

static void store_row(void *output, unsigned kind, const void *row)
{
	struct output *out = output;

	pack_row(out->pack, kind, row);
}

static void store_name(void *output, uint64_t queue, const char *name)
{
	struct output *out = output;
	char key[48];

	snprintf(key, sizeof(key), LDB_META_QUEUE "%" PRIx64, queue);
	writer_add_meta(out->writer, key, name);
}

static void warn(void *output, const char *text)
{
	output_warning(output, text);
}

void output_queues_open(struct output *out)
{
	struct queues_options o = {
		.pid = out->pid, .words = out->o->queues, .nr_words = out->o->nr_queues, .find = out->o->find_probes,
		.clock_id = out->clock_id, .t0 = out->t0, .offset_ns = out->offset_ns,
		.row = store_row, .name = store_name, .warn = warn, .arg = out,
	};

	if (o.nr_words && o.find)
		out->queues = queues_open(&o);
}

void output_queues_poll(struct output *out)
{
	if (out->queues)
		queues_poll(out->queues);
}

void output_queues_finish(struct output *out)
{
	char text[128];

	if (!out->queues)
		return;
	queues_finish(out->queues);
	out->total.has_queues = true;
	out->total.queues = *queues_total(out->queues);
	out->total.nr_queues_lost = queues_lost(out->queues);
	output_meta_number(out, "queue_err_ns", queues_err_ns(out->queues));
	if (out->total.nr_queues_lost) {
		snprintf(text, sizeof(text), "%" PRIu64 " events of queues were lost by the kernel: some items seem not to have waited, or not to end",
			 out->total.nr_queues_lost);
		output_warning(out, text);
	}
	/* A recorder that is killed from here on leaves no probes behind. */
	queues_close(out->queues);
	out->queues = NULL;
}
