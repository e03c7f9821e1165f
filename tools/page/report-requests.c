// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the requests of the report page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "page/report-private.h"

static int find_class(struct report_requests *q, const char *name, uint32_t *number)
{
	const char **classes;

	for (*number = 0; *number < q->nr_classes; (*number)++)
		if (!strcmp(q->classes[*number], name))
			return 0;
	classes = reallocarray(q->classes, q->nr_classes + 1, sizeof(*classes));
	if (!classes)
		return -ENOMEM;
	q->classes = classes;
	classes[q->nr_classes++] = name;
	return 0;
}

static int add_cell(struct report *r, const struct request *request)
{
	struct cell like = {
		.key = request->class, .first = request->first, .last = request->last,
		.place.bucket = bins_bucket(request->latency_ns, HEAT_BITS),
	};

	return cells_add(&r->instances.cells, &like, request->latency_ns, 0, !request->is_complete);
}

static int store_request(struct report_requests *q, const struct request *request)
{
	if (q->nr >= REPORT_INSTANCES_MAX) {
		q->nr_not_followed++;
		return 0;
	}
	if (!array_room(&q->at, &q->room, q->nr, sizeof(*q->at)))
		return -ENOMEM;
	q->at[q->nr++] = *request;
	return 0;
}

static int on_instance(void *arg, const struct instance *instance)
{
	struct report *r = arg;
	struct request request = {
		.id = instance->id, .start = instance->start, .end = instance->end,
		.latency_ns = instance_latency_ns(r->m, instance),
		.first = bins_first(&r->bins, instance->start),
		.last = bins_last(&r->bins, instance->start),
		.is_complete = instance->is_complete, .has_lost_handoff = instance->has_lost_handoff,
	};
	int ret;

	if (instance->start < r->o->from || instance->start > r->o->to)
		return 0;
	ret = find_class(&r->instances, instance->class, &request.class);
	if (!ret && !r->instances.is_each)
		ret = add_cell(r, &request);
	return ret ? ret : store_request(&r->instances, &request);
}

COMPARE(by_start, struct request, UP(start) UP(id))

COMPARE(by_id, struct request, UP(id) UP(start))

struct place report_place(const struct request *q)
{
	return (struct place){
		.class = q->class, .first = q->first, .last = q->last, .is_any = true,
		.bucket = bins_bucket(q->latency_ns, HEAT_BITS),
	};
}

int report_requests_read(struct report *r)
{
	uint64_t max = r->o->requests_max ? r->o->requests_max : REPORT_REQUESTS_MAX;
	struct report_requests *q = &r->instances;
	int ret;

	q->is_each = r->requests.all.count + r->requests.all.incomplete <= max;
	cells_init(&q->cells, &r->heat, true);
	ret = pieces_read(r->m, r->o->from, r->o->to, on_instance, r, &r->flame.pieces);
	if (ret || !q->nr)
		return ret;
	qsort(q->at, q->nr, sizeof(*q->at), by_start);
	for (size_t i = 0; i < q->nr; i++)
		q->at[i].number = i;
	qsort(q->at, q->nr, sizeof(*q->at), by_id);
	return 0;
}

const struct request *report_request(const struct report_requests *q, uint64_t id,
				     int64_t from, int64_t to)
{
	size_t lo = search(q->nr, i,
			   q->at[i].id < id || (q->at[i].id == id && q->at[i].start <= to));

	return lo && q->at[lo - 1].id == id && q->at[lo - 1].end >= from ? &q->at[lo - 1] : NULL;
}

/*
 * Writes the requests in order of their numbers.  This destroys the order that is needed to find
 * requests.
 */
static int write_each(struct report *r)
{
	const struct report_requests *q = &r->instances;
	struct store s;

	if (q->nr)
		qsort(q->at, q->nr, sizeof(*q->at), by_start);
	store_init(&s, "id_low+ id_high+ first+ last+ start+ latency class state");
	for (const struct request *at = q->at; at < q->at + q->nr; at++)
		store_add(&s, (int64_t[]){
			at->id & UINT32_MAX, at->id >> 32, coarse_first(&r->heat, at->first),
			coarse_last(&r->heat, at->last), reader_ns(r->m->reader, at->start),
			at->latency_ns, at->class, at->is_complete | at->has_lost_handoff << 1 });
	return store_finish(&s, &r->page, "requests");
}

int report_requests_write(struct report *r)
{
	return r->instances.is_each ? write_each(r) :
	       cells_write(&r->instances.cells, &r->page, "requests", "class_number");
}

void report_requests_free(struct report_requests *q)
{
	cells_free(&q->cells);
	free(q->at);
	free(q->classes);
}
