// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a what-if prediction: reads the recording, replays it without changes as a check, and
 * replays it with the changes; see replay.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/sort.h"
#include "replay-private.h"

int replay_refuse(struct replay *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->err, r->err_size, format, args);
	va_end(args);
	r->ret = -EINVAL;
	return r->ret;
}

void *replay_room(struct replay *r, void *array, size_t *nr, size_t *room, size_t size)
{
	void **at = array;

	if (array_room(array, room, *nr, size))
		return (char *)*at + size * (*nr)++;
	r->ret = -ENOMEM;
	return r->spare;
}

/* Refuses recordings that lack what a replay needs. */
static int check_recording(struct replay *r)
{
	const struct model *m = r->m;

	if (m->is_kernel_only)
		return replay_refuse(r, "the recording has no requests: it was made with --kernel-only");
	if (m->nr_lost)
		return replay_refuse(r, "%" PRIu64 " records were lost: what they said is missing in a "
				     "replay (record with a larger --ring-size)", m->nr_lost);
	if (reader_is_damaged(m->reader))
		return replay_refuse(r, "the trace is damaged: what is missing would be missing in a "
				     "replay");
	for (size_t i = 0; i < r->w->nr_changes; i++)
		if (!m->has_sched && (r->w->changes[i].kind == WHATIF_CPUS ||
				      r->w->changes[i].kind == WHATIF_NO_PREEMPT))
			return replay_refuse(r, "'%s' needs kernel events, which this recording does not "
					     "have", r->w->changes[i].text);
	return 0;
}

static int check_names(struct replay *r)
{
	for (size_t i = 0; i < r->w->nr_changes; i++) {
		const struct whatif_change *c = &r->w->changes[i];
		uint32_t about = 0;

		if (c->kind == WHATIF_FUNCTION || c->kind == WHATIF_SELF) {
			if (!c->nr)
				return replay_refuse(r, "'%s': no function of that name was observed: "
						     "ldb-report lists those that were", c->text);
			continue;
		}
		if (c->kind != WHATIF_HOLD && c->kind != WHATIF_SHARDED)
			continue;
		for (size_t k = 0; k < r->nr_locks; k++)
			about |= r->locks[k].changes;
		if (!(about & 1U << i))
			return replay_refuse(r, "'%s': no lock of that name was recorded: ldb-report "
					     "--mutex lists those that were", c->text);
	}
	return 0;
}

/* Classes */

COMPARE_NUMBERS(value_compare, int64_t)

/* Percentiles are computed by nearest rank, as in the other reports. */
static void set_points(int64_t *values, size_t nr, int64_t *points)
{
	static const unsigned per_mille[] = { 500, 900, 990, 999, 1000 };

	qsort(values, nr, sizeof(*values), value_compare);
	for (int i = 0; i < NR_WHATIF_POINTS; i++) {
		size_t rank = (nr * per_mille[i] + 999) / 1000;

		points[i] = nr ? values[rank ? rank - 1 : 0] : 0;
	}
}

/*
 * Collects latencies of a class (NULL: all), as replayed or, if `latency` is NULL, as measured.
 * Returns their number, or -1 if a request did not end in the replay.
 */
static ssize_t collect(const struct replay *r, const char *class, const int64_t *latency,
		       int64_t *values)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_instances; i++) {
		const struct replay_instance *l = &r->instances[i];

		if (!l->is_counted || (class && l->class != class))
			continue;
		if (latency && latency[i] < 0)
			return -1;
		values[nr++] = latency ? latency[i] : l->end - l->start;
	}
	return nr;
}

/* The name of a class is stored once, so pointers are compared. */
static int find_classes(struct replay *r)
{
	struct whatif *w = r->w;
	size_t room = 0;

	for (size_t i = 0; i < r->nr_instances; i++) {
		size_t k = 0;

		if (!r->instances[i].is_counted)
			continue;
		w->all.nr++;
		while (k < w->nr_classes && w->classes[k].name != r->instances[i].class)
			k++;
		if (!array_room(&w->classes, &room, w->nr_classes, sizeof(*w->classes)))
			return -ENOMEM;
		if (k == w->nr_classes)
			w->classes[w->nr_classes++] = (struct whatif_class){ .name = r->instances[i].class };
		w->classes[k].nr++;
	}
	w->all.name = "";
	return 0;
}

/* Selects one of the rows of percentiles of a class. */
enum row { ROW_MEASURED, ROW_REPLAYED, ROW_PREDICTED };

static int64_t *points_of(struct whatif_class *c, enum row row, enum whatif_policy policy)
{
	return row == ROW_MEASURED ? c->measured_ns :
	       row == ROW_REPLAYED ? c->replayed_ns[policy] : c->predicted_ns[policy];
}

static int set_row(struct replay *r, enum row row, enum whatif_policy policy,
		   const int64_t *latency, int64_t *values)
{
	struct whatif *w = r->w;

	for (size_t i = 0; i <= w->nr_classes; i++) {
		struct whatif_class *c = i ? &w->classes[i - 1] : &w->all;
		int64_t *points = points_of(c, row, policy);
		ssize_t nr;

		/* there is only one class, so its row would be the same as that of all requests */
		if (i && w->nr_classes == 1) {
			memcpy(points, points_of(&w->all, row, policy), sizeof(w->all.measured_ns));
			break;
		}
		nr = collect(r, i ? c->name : NULL, latency, values);
		if (nr < 0)
			return -ESRCH;
		set_points(values, nr, points);
	}
	return 0;
}

/* The self-check */

static void add_error(double *worst, int64_t measured, int64_t replayed)
{
	double error = measured ? (double)(replayed - measured) / measured : replayed ? 1 : 0;

	if (error * error > *worst * *worst)
		*worst = error;
}

static void check_policy(struct whatif *w, enum whatif_policy policy)
{
	double *error = &w->error[policy];

	*error = 0;
	for (size_t i = 0; i <= w->nr_classes; i++) {
		const struct whatif_class *c = i ? &w->classes[i - 1] : &w->all;

		if (i && c->nr < WHATIF_CLASS_MIN)
			continue;
		add_error(error, c->measured_ns[WHATIF_P50], c->replayed_ns[policy][WHATIF_P50]);
		add_error(error, c->measured_ns[WHATIF_P99], c->replayed_ns[policy][WHATIF_P99]);
	}
	w->is_good[policy] = *error <= WHATIF_ERROR_MAX && *error >= -WHATIF_ERROR_MAX;
}

static int refuse_replay(struct replay *r)
{
	const struct whatif *w = r->w;
	enum whatif_policy best = 0;

	for (int p = 1; p < NR_WHATIF_POLICIES; p++)
		if (w->error[p] * w->error[p] < w->error[best] * w->error[best])
			best = p;
	return replay_refuse(r, "the replay of the recording as it is is off by %+.1f %% (p50 or p99; at "
			     "most %.0f %% is trusted): no prediction", 100 * w->error[best],
			     100 * WHATIF_ERROR_MAX);
}

/* Requests that change most */

static int64_t change_of(const struct whatif_request *q)
{
	int64_t change = q->lo_ns / 2 + q->hi_ns / 2 - q->before_ns;

	return change < 0 ? -change : change;
}

static void keep_request(struct whatif *w, size_t max, const struct whatif_request *q)
{
	size_t at = w->nr_requests;

	if (!change_of(q) || (at == max && (!max || change_of(&w->requests[max - 1]) >= change_of(q))))
		return;
	if (at < max)
		w->nr_requests++;
	else
		at--;
	for (; at && change_of(&w->requests[at - 1]) < change_of(q); at--)
		w->requests[at] = w->requests[at - 1];
	w->requests[at] = *q;
}

static int list_requests(struct replay *r, int64_t *const *latency)
{
	struct whatif *w = r->w;

	w->requests = calloc(r->o->nr_requests + 1, sizeof(*w->requests));
	if (!w->requests)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_instances; i++) {
		const struct replay_instance *l = &r->instances[i];
		struct whatif_request q = {
			.id = l->id, .class = l->class, .start_ns = l->start,
			.before_ns = l->end - l->start, .lo_ns = INT64_MAX, .hi_ns = 0,
		};

		if (!l->is_counted)
			continue;
		for (int p = 0; p < NR_WHATIF_POLICIES; p++) {
			if (!w->is_good[p])
				continue;
			q.lo_ns = min(q.lo_ns, latency[p][i]);
			q.hi_ns = max(q.hi_ns, latency[p][i]);
		}
		w->nr_changed += !!change_of(&q);
		keep_request(w, r->o->nr_requests, &q);
	}
	return 0;
}

static void set_range(struct whatif *w, struct whatif_class *c)
{
	for (int i = 0; i < NR_WHATIF_POINTS; i++) {
		c->lo_ns[i] = INT64_MAX;
		for (int p = 0; p < NR_WHATIF_POLICIES; p++) {
			if (!w->is_good[p])
				continue;
			c->lo_ns[i] = min(c->lo_ns[i], c->predicted_ns[p][i]);
			c->hi_ns[i] = max(c->hi_ns[i], c->predicted_ns[p][i]);
		}
	}
}

/* Replays */

static int replay_once(struct replay *r, enum whatif_policy policy, bool is_changed,
		       int64_t *latency, int64_t *values)
{
	struct replay_run run = { .policy = policy, .is_changed = is_changed, .latency_ns = latency };
	int ret;

	for (size_t i = 0; i < r->w->nr_changes && is_changed; i++) {
		const struct whatif_change *c = &r->w->changes[i];

		if (c->kind == WHATIF_NO_PREEMPT)
			run.no_preempt = true;
		else if (c->kind == WHATIF_CPUS)
			run.nr_cpus += c->n;
	}
	ret = replay_simulate(r, &run);
	if (!ret)
		ret = set_row(r, is_changed ? ROW_PREDICTED : ROW_REPLAYED, policy, latency, values);
	if (ret == -ESRCH)
		ret = replay_refuse(r, "requests wait for each other for ever in the replay%s: no "
				    "prediction", is_changed ? " of the change" : " of the recording as "
				    "it is");
	return ret;
}

static int replay_all(struct replay *r, int64_t **latency, int64_t *values)
{
	struct whatif *w = r->w;
	int ret = set_row(r, ROW_MEASURED, 0, NULL, values);
	bool any = false;

	for (int p = 0; p < NR_WHATIF_POLICIES && !ret; p++) {
		ret = replay_once(r, p, false, latency[p], values);
		if (!ret)
			check_policy(w, p);
	}
	for (int p = 0; p < NR_WHATIF_POLICIES; p++)
		any |= w->is_good[p];
	if (!ret && !any)
		ret = refuse_replay(r);
	for (int p = 0; p < NR_WHATIF_POLICIES && !ret; p++)
		if (w->is_good[p])
			ret = replay_once(r, p, true, latency[p], values);
	if (ret)
		return ret;
	set_range(w, &w->all);
	for (size_t i = 0; i < w->nr_classes; i++)
		set_range(w, &w->classes[i]);
	return list_requests(r, latency);
}

static int replay_policies(struct replay *r)
{
	int64_t *latency[NR_WHATIF_POLICIES], *values = calloc(r->nr_instances + 1, sizeof(*values));
	bool is_full = values;
	int ret = -ENOMEM;

	for (int p = 0; p < NR_WHATIF_POLICIES; p++) {
		latency[p] = calloc(r->nr_instances + 1, sizeof(*latency[p]));
		is_full &= !!latency[p];
	}
	if (is_full)
		ret = replay_all(r, latency, values);
	for (int p = 0; p < NR_WHATIF_POLICIES; p++)
		free(latency[p]);
	free(values);
	return ret;
}

/*
 * Sorts by start.  The spans are those of requests from outside of the program, which were in a
 * queue before the program tagged them.
 */
static int part_compare(const void *pa, const void *pb, void *arg)
{
	const struct replay *r = arg;
	const struct replay_part *a = &r->parts[*(const uint32_t *)pa];
	const struct replay_part *b = &r->parts[*(const uint32_t *)pb];

	return a->start != b->start ? (a->start < b->start ? -1 : 1) : a < b ? -1 : a > b;
}

struct step *replay_add_step(struct replay *r, enum step_kind kind, uint32_t object, int64_t base)
{
	struct step *at = replay_add(r, r, steps);

	*at = (struct step){ .kind = kind, .object = object, .base = base, .scaled = base };
	return at;
}

static void add_arrivals(struct replay *r)
{
	uint32_t *order = calloc(r->nr_parts + 1, sizeof(*order)), actor;
	size_t nr = 0, first = r->nr_steps;

	if (!order)
		r->ret = -ENOMEM;
	for (size_t i = 0; i < r->nr_parts && order; i++)
		if (r->parts[i].is_queue && r->parts[i].actor == NONE && r->parts[i].pool != NONE)
			order[nr++] = i;
	if (nr)
		qsort_r(order, nr, sizeof(*order), part_compare, r);
	for (size_t i = 0; i < nr; i++) {
		const struct replay_part *p = &r->parts[order[i]];

		replay_add_step(r, STEP_UNTIL, NONE, p->start);
		if (p->is_first)
			replay_add_step(r, STEP_BEGIN, p->instance, 0);
		replay_add_step(r, STEP_PUT, order[i], 0);
	}
	free(order);
	replay_add_step(r, STEP_EXIT, NONE, 0);
	actor = replay_new_actor(r, 0);
	if (r->ret)
		return;
	r->actors[actor].first_step = first;
	r->actors[actor].nr_steps = r->nr_steps - first;
}

static int make_steps(struct replay *r)
{
	r->takes = malloc((r->nr_parts + 1) * sizeof(*r->takes));
	if (!r->takes)
		return -ENOMEM;
	memset(r->takes, 0xff, r->nr_parts * sizeof(*r->takes));
	replay_join_waits(r);
	replay_make_steps(r);
	/* The items are not needed after their steps are made. */
	free(r->items);
	r->items = NULL;
	r->nr_items = 0;
	if (!r->ret)
		replay_set_delays(r);
	add_arrivals(r);
	return r->ret;
}

static void describe(struct replay *r)
{
	const char *threshold = reader_meta(r->m->reader, "lock_threshold_ns");
	const char *mutex = reader_meta(r->m->reader, "mutex");
	struct whatif *w = r->w;

	w->model = r->m;
	w->has_sched = r->m->has_sched;
	w->has_functions = replay_wants_funcs(r);
	w->mutex = mutex ? mutex : "";
	w->has_holds = mutex && !strcmp(mutex, "hold");
	w->lock_threshold_ns = threshold ? strtoll(threshold, NULL, 10) : 0;
	w->nr_steps = r->nr_steps;
	w->nr_locks = r->nr_locks;
	w->nr_queues = r->nr_pools;
	for (size_t i = 0; i < r->nr_actors; i++)
		w->nr_threads += r->actors[i].nr_steps > 1;
}

static void free_all(struct replay *r)
{
	free(r->instances);
	free(r->parts);
	free(r->actors);
	free(r->pools);
	free(r->locks);
	hash_free(&r->by_address);
	free(r->items);
	free(r->pieces);
	free(r->steps);
	free(r->takes);
	free(r->passes);
}

int whatif_build(struct model *m, const struct whatif_options *o, struct whatif *w, char *err,
		 size_t err_size)
{
	struct replay r = { .m = m, .o = o, .w = w, .err = err, .err_size = err_size };
	int ret;

	*w = (struct whatif){ .nr_changes = o->nr_changes };
	err[0] = '\0';
	if (o->nr_changes > WHATIF_CHANGES_MAX)
		return replay_refuse(&r, "more than %d changes at once", WHATIF_CHANGES_MAX);
	if (o->nr_changes)
		memcpy(w->changes, o->changes, o->nr_changes * sizeof(*o->changes));
	ret = check_recording(&r);
	if (!ret) {
		replay_read(&r);
		ret = r.ret;
	}
	/* Damage is found only when blocks are read. */
	if (!ret)
		ret = check_recording(&r);
	if (!ret)
		ret = check_names(&r);
	if (!ret)
		ret = make_steps(&r);
	if (!ret)
		ret = find_classes(&r);
	if (!ret && !w->all.nr)
		ret = replay_refuse(&r, "no request ended in %s", o->class || o->from > INT64_MIN ||
				    o->to < INT64_MAX ? "this selection" : "this recording");
	if (!ret)
		ret = replay_policies(&r);
	describe(&r);
	free_all(&r);
	if (ret)
		whatif_free(w);
	return ret;
}

void whatif_free(struct whatif *w)
{
	free(w->classes);
	free(w->requests);
	w->classes = NULL;
	w->requests = NULL;
	w->nr_classes = 0;
	w->nr_requests = 0;
}
