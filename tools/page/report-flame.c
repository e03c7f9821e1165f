// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time by stack, bin and request: at each moment a thread's time belongs to the innermost
 * function it is in, and below that to what it waits for.  Queues, where a request is on
 * no thread, stand beside the functions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/sched.h"
#include "export/stacks.h"
#include "page/report-private.h"
#include "render/offcpu.h"

#define OUTSIDE	"(outside of the functions that were seen)"
#define QUEUED	"[in a queue]"

static int get_child(struct flame *f, uint32_t parent, const char *text, unsigned kind,
		     uint32_t *number)
{
	uint32_t name;
	int ret = flame_name(f, text, &name);

	return ret ? ret : flame_child(f, parent, name, kind, number);
}

static int charge_request(struct flame *f, uint32_t node, const struct request *q, bool is_request,
			  int64_t ns)
{
	struct cell like = { .key = node };

	if (f->marks_requests)
		like.place.is_any = is_request;
	else if (q)
		like.place = report_place(q);
	return like.place.is_any ? cells_add(&f->by_request, &like, ns, 0, false) : 0;
}

static int charge(struct flame *f, uint32_t node, const struct request *q, bool is_request,
		  int64_t from, int64_t to)
{
	struct cell like = { .key = node };
	int ret = 0;

	/* What lies outside of what was asked for is in no cell. */
	if (from < f->bins->edge[0])
		from = f->bins->edge[0];
	if (to > f->bins->edge[f->bins->nr])
		to = f->bins->edge[f->bins->nr];
	if (from < to)
		ret = charge_request(f, node, q, is_request, to - from);
	while (from < to && !ret) {
		int64_t end;

		like.first = bins_at(f->bins, from);
		end = f->bins->edge[like.first + 1] < to ? f->bins->edge[like.first + 1] : to;
		ret = cells_add(&f->by_time, &like, end - from, 0, false);
		from = end;
	}
	return ret;
}

static const struct request *find_request(struct flame *f, const struct segment *s)
{
	const struct request *q;

	if (!s->has_req)
		return NULL;
	q = report_request(f->requests, s->req, s->start, s->end);
	return q && q->is_complete ? q : NULL;
}

/* The only one its thread works on. */
static const struct request *request_now(const struct flame *f, size_t *nr)
{
	const struct request *q = NULL;

	*nr = 0;
	for (size_t i = 0; i < f->sweep.nr_open; i++) {
		if (f->sweep.open[i].s.kind != SEGMENT_REQUEST)
			continue;
		q = f->sweep.open[i].node;
		(*nr)++;
	}
	return *nr == 1 ? q : NULL;
}

/* The one that began last, as in the exports: a sleep inside a wait says more than the wait. */
static const struct sweep_open *wait_now(const struct flame *f)
{
	for (size_t i = f->sweep.nr_open; i-- > 0;) {
		enum segment_kind kind = f->sweep.open[i].s.kind;

		if (kind != SEGMENT_FUNCTION && kind != SEGMENT_REQUEST)
			return &f->sweep.open[i];
	}
	return NULL;
}

static int pass(void *arg, int64_t from, int64_t to)
{
	struct flame *f = arg;
	const struct sweep_open *func = sweep_function(&f->sweep), *wait = wait_now(f);
	size_t nr_requests;
	const struct request *q = request_now(f, &nr_requests);
	uint32_t node = func ? func->nr : 0;
	int ret = 0;

	if (!func && !nr_requests)
		return 0;
	if (!func)
		ret = get_child(f, 0, OUTSIDE, SEGMENT_FUNCTION, &node);
	if (!ret && wait) {
		uint32_t parent = node;

		ret = flame_child(f, parent, wait->nr, wait->s.kind, &node);
	}
	return ret ? ret : charge(f, node, q, nr_requests == 1, from, to);
}

/* The function it was called by was open already. */
static int begin_function(struct flame *f, struct sweep_open *o)
{
	uint32_t parent = 0, node;
	int ret;

	for (struct sweep_open *p = o; p-- > f->sweep.open;)
		if (p->s.kind == SEGMENT_FUNCTION) {
			parent = p->nr;
			break;
		}
	ret = get_child(f, parent, o->s.func->function, SEGMENT_FUNCTION, &node);
	o->nr = ret ? 0 : node;
	return ret;
}

static int begin_wait(struct flame *f, struct sweep_open *o)
{
	const struct party *who = o->s.sched ? offcpu_party(&o->s) : NULL;
	struct stacks_cause cause = {
		.kind = o->s.kind, .lock = o->s.lock, .lock_symbol = o->s.lock_symbol,
		.who = who && who->kind == PARTY_TASK ? who->name : NULL,
		.state = o->s.sched ? o->s.sched->state : SCHED_STATE_UNKNOWN,
	};
	uint32_t name;
	char text[256];
	int ret = flame_name(f, stacks_cause_text(&cause, text, sizeof(text)), &name);

	o->nr = ret ? 0 : name;
	return ret;
}

static int begin(void *arg, struct sweep_open *o)
{
	struct flame *f = arg;

	if (o->s.kind == SEGMENT_FUNCTION)
		return begin_function(f, o);
	if (o->s.kind != SEGMENT_REQUEST)
		return begin_wait(f, o);
	o->node = find_request(f, &o->s);
	return 0;
}

/* Folding changes the numbers of nodes, and what has just begun may be among the folded. */
static int fold(struct flame *f)
{
	int ret = flame_fold(f);

	for (size_t i = 0; i < f->sweep.nr_open && !ret; i++)
		if (f->sweep.open[i].s.kind == SEGMENT_FUNCTION)
			ret = begin_function(f, &f->sweep.open[i]);
	return ret;
}

/* A frame that can be seen is worth more than narrow bins; one that is thin is not. */
static int make_room(struct flame *f)
{
	int ret = 0;

	while (!ret && (f->nr_nodes > REPORT_NODES_MAX ||
			(f->nr_nodes > REPORT_NODES_MIN &&
			 (f->by_time.nr > REPORT_ROWS_MAX - 2 * REPORT_BINS ||
			  f->by_request.nr > REPORT_ROWS_MAX - 2 * REPORT_BINS))))
		ret = fold(f);
	return ret;
}

void flame_init(struct flame *f, struct model *m, const struct bins *bins,
		const struct report_requests *requests, struct coarse *by_time,
		struct coarse *by_request)
{
	*f = (struct flame){ .m = m, .bins = bins, .requests = requests };
	f->sweep = (struct sweep){ .begin = begin, .pass = pass, .arg = f };
	cells_init(&f->by_time, by_time, false);
	cells_init(&f->by_request, by_request, false);
}

int flame_segment(struct flame *f, const struct segment *s)
{
	uint32_t node;
	int ret = make_room(f);

	if (ret || s->kind == SEGMENT_LOCK_HOLD)
		return ret;
	if (s->kind != SEGMENT_QUEUE)
		return sweep_segment(&f->sweep, s);
	ret = get_child(f, 0, QUEUED, SEGMENT_QUEUE, &node);
	return ret ? ret : charge(f, node, find_request(f, s), true, s->start_ns, s->end_ns);
}

int flame_finish(struct flame *f)
{
	return sweep_finish(&f->sweep);
}

/* Names of nodes that are still there, numbered anew. */
static int write_names(struct flame *f, struct page *p, const char *prefix, uint32_t *numbers)
{
	uint32_t nr = 0;
	struct json *j;
	char id[32];

	for (size_t i = 0; i < f->nr_nodes; i++)
		numbers[f->nodes[i].name] = 1;
	snprintf(id, sizeof(id), "%.16s_names", prefix);
	j = page_json_begin(p, id);
	json_i64(j, "folded_ns", f->folded_ns);
	json_array_begin(j, "names");
	for (size_t i = 0; i < f->names.nr; i++) {
		if (!numbers[i])
			continue;
		json_string(j, NULL, f->names.at[i]);
		numbers[i] = nr++;
	}
	json_array_end(j);
	page_json_end(p);
	return 0;
}

static int write_nodes(struct flame *f, struct page *p, const char *id, const uint32_t *numbers)
{
	static const char *const names[] = { "parent", "name", "kind" };
	struct columns c = { .nr = 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (columns_add(&c, names[i], i == 0, f->nr_nodes)) {
			columns_free(&c);
			return -ENOMEM;
		}
	for (size_t i = 0; i < f->nr_nodes; i++) {
		c.values[0][i] = f->nodes[i].parent;
		c.values[1][i] = numbers[f->nodes[i].name];
		c.values[2][i] = f->nodes[i].kind;
	}
	return columns_write(&c, p, id);
}

int flame_write(struct flame *f, struct page *p, const char *prefix)
{
	uint32_t *numbers = calloc(f->names.nr + 1, sizeof(*numbers));
	char id[32];
	int ret = numbers ? write_names(f, p, prefix, numbers) : -ENOMEM;

	snprintf(id, sizeof(id), "%.10s_nodes", prefix);
	if (!ret)
		ret = write_nodes(f, p, id, numbers);
	free(numbers);
	cells_sort(&f->by_time);
	cells_sort(&f->by_request);
	snprintf(id, sizeof(id), "%.10s_cells", prefix);
	if (!ret)
		ret = cells_write(&f->by_time, p, id, "node");
	snprintf(id, sizeof(id), "%.10s_request_cells", prefix);
	return ret ? ret : cells_write(&f->by_request, p, id, "node");
}

void flame_free(struct flame *f)
{
	for (size_t i = 0; i < f->names.nr; i++)
		free(f->names.at[i]);
	free(f->names.at);
	free(f->names.slots);
	free(f->nodes);
	free(f->slots);
	cells_free(&f->by_time);
	cells_free(&f->by_request);
	sweep_free(&f->sweep);
}
