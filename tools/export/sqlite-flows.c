// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the components, and for each thread the sums of its calls between them.  The sums cover
 * the whole recording, whatever the options select.
 */
#include <errno.h>

#include "analysis/flows/flowstats.h"
#include "export/sqlite-private.h"

static int put_components(struct sqlite_export *e, const struct flows *f)
{
	int ret = 0;

	for (size_t i = 0; i < f->nr_components && !ret; i++)
		ret = sqlite_put(e, TABLE_COMPONENT, V((uint64_t)i + 1), V(f->components[i].name),
				 V(f->components[i].path));
	return ret;
}

static int put_sum(struct sqlite_export *e, const struct flows *f, const struct flow_sum *sum)
{
	const struct flow_api *api = &f->apis[sum->api];
	struct flow_estimate x = flow_estimate(f, sum);
	struct reader *r = e->m->reader;

	return sqlite_put(e, TABLE_FLOW, NEW_ID, V(api->symbol.function), V(api->symbol.raw),
			  V(api->caller + 1), V(api->callee + 1), V(api->is_wait),
			  V(sqlite_thread_of(e, sum->thread)), V(sum->calls), V(sum->timed),
			  value_i64_or_null(sum->timed, x.ns), value_i64_or_null(sum->timed, flow_error(x.variance)),
			  value_i64_or_null(sum->timed, x.shared_ns),
			  value_i64_or_null(sum->timed, ticks_ns(r, sum->min)),
			  value_i64_or_null(sum->timed, ticks_ns(r, sum->max)), V(x.back_ns));
}

int sqlite_put_flows(struct sqlite_export *e)
{
	const struct flows *f = e->m->has_flows ? flows_of(e->m) : NULL;
	int ret = f ? put_components(e, f) : e->m->has_flows ? -ENOMEM : 0;

	for (size_t i = 0; f && i < f->nr_sums && !ret; i++)
		ret = put_sum(e, f, &f->sums[i]);
	return ret;
}
