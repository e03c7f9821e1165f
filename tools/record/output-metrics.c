// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the sums of a recording into a file for monitoring, now and then: see metrics.h. */
#include <string.h>
#include <time.h>
#include "cli/error.h"
#include "cli/outfile.h"
#include "record/recording.h"

#define METRICS_NS	5000000000LL	/* between two writings */

void output_metrics_now(struct recording *r, const struct threads_total *now)
{
	struct metrics_state s = { .begin_ns = r->realtime_ns };
	struct timespec real;
	int rc;

	clock_gettime(CLOCK_REALTIME, &real);
	s.now_ns = real.tv_sec * 1000000000LL + real.tv_nsec;
	s.calls = now->made;
	s.observed_calls = now->seen;
	s.nr_threads = now->nr_threads;
	s.nr_lost = r->nr_lost + r->disk_lost;
	rc = metrics_write(r->metrics, &s);
	if (rc && !r->has_metrics_failed)
		cli_warn("cannot write %s: %s", r->o->metrics, outfile_why(rc));
	r->has_metrics_failed = rc;
}

void output_metrics(struct recording *r)
{
	int64_t now_ns = clock_mono_ns();
	struct threads_total now;

	if (!r->metrics || now_ns < r->next_metrics_ns)
		return;
	r->next_metrics_ns = now_ns + METRICS_NS;
	now = threads_now(r->threads);
	output_metrics_now(r, &now);
}
