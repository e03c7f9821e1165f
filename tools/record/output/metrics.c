// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the sums for monitoring from time to time, and serves them on request; see metrics.h. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "cli/error.h"
#include "cli/outfile.h"
#include "record/run/recording.h"

#define METRICS_NS	5000000000LL	/* interval between writes */

void output_metrics_open(struct recording *r)
{
	const struct metrics_options o = { .path = r->o->metrics, .explain = r->o->explain };

	if (!o.path && !r->scrape)
		return;
	r->metrics = metrics_alloc(&o, 1e9 / r->session.info.tsc_hz, r->filter);
	r->filter->names_all = r->filter->has_funcs = true;
	pack_set_metrics(r->pack, r->metrics);
	if (r->o->kernel_only && r->metrics)
		/* no pages show which threads are the program's */
		metrics_on_thread(r->metrics, NULL, NULL);
}

static struct metrics_state state_of(const struct recording *r, const struct threads_total *now)
{
	struct metrics_state s = {
		.begin_ns = r->realtime_ns, .calls = now->made, .observed_calls = now->seen,
		.nr_threads = now->nr_threads, .nr_lost = r->nr_lost + r->disk_lost,
	};
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	s.now_ns = real.tv_sec * 1000000000LL + real.tv_nsec;
	return s;
}

static void write_now(struct recording *r, const struct metrics_state *s)
{
	int rc = metrics_write(r->metrics, s);

	if (rc && !r->has_metrics_failed)
		cli_warn("cannot write %s: %s", r->o->metrics, outfile_why(rc));
	r->has_metrics_failed = rc;
}

void output_metrics(struct recording *r)
{
	int64_t now_ns = clock_mono_ns();
	struct threads_total now;
	struct metrics_state s;

	if (!r->metrics || now_ns < r->next_metrics_ns)
		return;
	r->next_metrics_ns = now_ns + METRICS_NS;
	now = threads_now(r->threads);
	s = state_of(r, &now);
	metrics_poll(r->metrics, &s);
	write_now(r, &s);
}

void output_metrics_finish(struct recording *r)
{
	struct metrics_state s;

	if (!r->metrics)
		return;
	s = state_of(r, &r->threads_total);
	naming_finish(&r->naming, r->filter, r->modules, recording_tick(r, clock_now(r->clock_id)));
	metrics_finish(r->metrics, &s);
	write_now(r, &s);
	/* A live recording writes nothing else, so this is a failure. */
	r->failed |= r->o->live && r->has_metrics_failed;
}

int output_metrics_render(void *recording, bool is_openmetrics, char **text, size_t *size)
{
	struct recording *r = recording;
	struct threads_total now;
	struct metrics_state s;

	if (!r->metrics)
		return -EAGAIN;
	now = threads_now(r->threads);
	s = state_of(r, &now);
	metrics_poll(r->metrics, &s);
	return metrics_render(r->metrics, &s, is_openmetrics, text, size);
}
