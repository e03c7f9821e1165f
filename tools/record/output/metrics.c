// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the sums for monitoring from time to time, and serves them on request; see metrics.h. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "cli/error.h"
#include "cli/outfile.h"
#include "record/output/output.h"

#define METRICS_NS	5000000000LL	/* interval between writes */

void output_metrics_open(struct output *out)
{
	const struct metrics_options o = { .path = out->o->metrics, .explain = out->o->explain };

	if (!o.path && !out->o->metrics_listen)
		return;
	out->metrics = metrics_alloc(&o, 1e9 / out->session.info.tsc_hz, out->filter);
	out->filter->names_all = out->filter->has_funcs = true;
	pack_set_metrics(out->pack, out->metrics);
	if (out->o->kernel_only && out->metrics)
		/* no pages show which threads are the program's */
		metrics_on_thread(out->metrics, NULL, NULL);
}

static struct metrics_state state_of(const struct output *out, const struct threads_total *now)
{
	struct metrics_state s = {
		.begin_ns = out->realtime_ns, .calls = now->made, .observed_calls = now->seen,
		.nr_threads = now->nr_threads, .nr_lost = out->total.nr_lost + out->total.disk_lost,
	};
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	s.now_ns = real.tv_sec * 1000000000LL + real.tv_nsec;
	return s;
}

static void write_now(struct output *out, const struct metrics_state *s)
{
	int rc = metrics_write(out->metrics, s);

	if (rc && !out->has_metrics_failed)
		cli_warn("cannot write %s: %s", out->o->metrics, outfile_why(rc));
	out->has_metrics_failed = rc;
}

void output_metrics(struct output *out)
{
	int64_t now_ns = clock_mono_ns();
	struct threads_total now;
	struct metrics_state s;

	if (!out->metrics || now_ns < out->next_metrics_ns)
		return;
	out->next_metrics_ns = now_ns + METRICS_NS;
	now = threads_now(out->threads);
	s = state_of(out, &now);
	metrics_poll(out->metrics, &s);
	write_now(out, &s);
}

void output_metrics_finish(struct output *out)
{
	struct metrics_state s;

	if (!out->metrics)
		return;
	s = state_of(out, &out->total.threads);
	naming_finish(&out->naming, out->filter, out->modules, output_now(out));
	metrics_finish(out->metrics, &s);
	write_now(out, &s);
	/* A live recording writes nothing else, so this is a failure. */
	out->has_failed |= out->o->live && out->has_metrics_failed;
}

int output_metrics_render(void *output, bool is_openmetrics, char **text, size_t *size)
{
	struct output *out = output;
	struct threads_total now;
	struct metrics_state s;

	if (!out->metrics)
		return -EAGAIN;
	now = threads_now(out->threads);
	s = state_of(out, &now);
	metrics_poll(out->metrics, &s);
	return metrics_render(out->metrics, &s, is_openmetrics, text, size);
}
