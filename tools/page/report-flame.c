// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sums time by stack, bin and request.  attribution.h attributes a thread's time; waits are
 * children of their functions.  Times in queues have nodes at the level of outermost functions.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "export/stacks.h"
#include "page/report-private.h"

#define OUTSIDE	"(outside of observed functions)"
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

	/* Time outside of the selected range is not added. */
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

/*
 * Returns the piece that the thread is in; NULL: it works on no request.  Reduces *until to the tick at
 * which that may change.
 */
static const struct piece *piece_at(struct flame *f, int64_t tick, int64_t *until)
{
	const struct piece *at = f->pieces.at;
	size_t n = f->piece;

	if (n + 1 < f->pieces.nr && at[n].tid == f->tid && at[n].end <= tick)
		n = ++f->piece;
	if (n >= f->pieces.nr || at[n].tid != f->tid || at[n].end <= tick ||
	    (n && at[n - 1].tid == f->tid && at[n - 1].end > tick))
		n = f->piece = pieces_first(&f->pieces, f->tid, tick);
	if (n == f->pieces.nr || at[n].tid != f->tid)
		return NULL;
	*until = min(*until, at[n].start > tick ? at[n].start : at[n].end);
	return at[n].start > tick ? NULL : &at[n];
}

/* Charges time to the node, and to the requests in whose pieces it is. */
static int charge_pieces(struct flame *f, uint32_t node, int64_t start, int64_t end)
{
	int64_t from = ticks_last_ns(&f->last, f->m->reader, start);
	int ret = 0;

	while (start < end && !ret) {
		int64_t until = end, to;
		const struct piece *p = piece_at(f, start, &until);

		to = ticks_last_ns(&f->last, f->m->reader, until);
		ret = charge(f, node, p ? report_request(f->requests, p->req, p->req_start, p->req_start) : NULL,
			     p, from, to);
		start = until;
		from = to;
	}
	return ret;
}

/*
 * item->path is the node of a function.  For an item inside a function, such as a wait, path is the
 * node of that function, and leaf the item's name.
 */
static int spend(void *arg, int64_t start, int64_t end, struct attribution_item *item)
{
	struct flame *f = arg;
	size_t nr_requests = f->attribution.nr_works;
	bool is_cover = item && item->kind != LEAF_FUNCTION && item->kind != LEAF_LIBCALL;
	bool is_inside = item && (!is_cover || item->place);
	uint32_t node = item ? item->path : 0;
	int ret = 0;

	if (!is_inside && !nr_requests)
		return 0;
	if (!is_inside)
		ret = get_child(f, 0, OUTSIDE, LEAF_FUNCTION, &node);
	if (!ret && is_cover)
		ret = flame_child(f, node, item->leaf, item->kind, &node);
	return ret ? ret : charge_pieces(f, node, start, end);
}

/* Returns the node of the item's function. */
static uint32_t node_around(const struct flame *f, const struct attribution_item *item)
{
	size_t place = item->place < f->attribution.depth ? item->place : f->attribution.depth;

	return place ? f->attribution.functions[place - 1].path : 0;
}

static int find_node(struct flame *f, struct attribution_item *item)
{
	return get_child(f, node_around(f, item), item->func->function, item->kind, &item->path);
}

static int begin(void *arg, const struct attribution_begin *what, struct attribution_item *item)
{
	struct flame *f = arg;
	struct stacks_cause cause;
	char text[256];

	if (what->segment && what->segment->kind == SEGMENT_REQUEST)
		return 0;
	if (item->kind == LEAF_FUNCTION || item->kind == LEAF_LIBCALL)
		return find_node(f, item);
	cause = stacks_cause_of(what);
	item->path = node_around(f, item);
	return flame_name(f, stacks_cause_text(&cause, text, sizeof(text)), &item->leaf);
}

/*
 * Merges the thinnest nodes into their parents.  This changes the numbers of nodes, including those
 * of open items.
 */
static int merge_thinnest(struct flame *f)
{
	struct attribution *a = &f->attribution;
	int ret = flame_fold(f);

	for (size_t i = 0; i < a->depth && !ret; i++)
		ret = find_node(f, &a->functions[i]);
	for (size_t i = 0; i < a->nr_covers; i++)
		a->covers[i].path = node_around(f, &a->covers[i]);
	return ret;
}

/*
 * Merges thin frames to make room.  If visible frames would have to be merged, cells_add() widens
 * bins instead.
 */
static int make_room(struct flame *f)
{
	int ret = 0;

	while (!ret && (f->nr_nodes > REPORT_NODES_MAX ||
			(f->nr_nodes > REPORT_NODES_MIN &&
			 (f->by_time.nr > REPORT_ROWS_MAX - 2 * REPORT_BINS ||
			  f->by_request.nr > REPORT_ROWS_MAX - 2 * REPORT_BINS))))
		ret = merge_thinnest(f);
	return ret;
}

void flame_init(struct flame *f, struct model *m, const struct bins *bins,
		const struct report_requests *requests, struct coarse *by_time,
		struct coarse *by_request)
{
	*f = (struct flame){ .m = m, .bins = bins, .requests = requests };
	f->attribution = (struct attribution){ .begin = begin, .spend = spend, .arg = f };
	attribution_start(&f->attribution);
	cells_init(&f->by_time, by_time, false);
	cells_init(&f->by_request, by_request, false);
}

int flame_segment(void *arg, const struct segment *s)
{
	struct flame *f = arg;
	uint32_t node;
	int ret = make_room(f);

	f->tid = s->tid;
	if (ret || s->kind != SEGMENT_QUEUE)
		return ret ? ret : attribution_segment(&f->attribution, s);
	ret = get_child(f, 0, QUEUED, LEAF_QUEUE, &node);
	return ret ? ret : charge(f, node, find_request(f, s), true, s->start_ns, s->end_ns);
}

int flame_finish(struct flame *f)
{
	return attribution_finish(&f->attribution);
}

/* Writes the names of the remaining nodes, with new numbers. */
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
	page_put_states(j);
	json_array_begin(j, "names");
	for (size_t i = 0; i < f->names.nr; i++) {
		if (!numbers[i])
			continue;
		json_string(j, NULL, intern_key(&f->names, i));
		numbers[i] = nr++;
	}
	json_array_end(j);
	page_json_end(p);
	return 0;
}

static int write_nodes(struct flame *f, struct page *p, const char *id, const uint32_t *numbers)
{
	struct store s;

	store_init(&s, "parent+ name kind");
	for (const struct flame_node *n = f->nodes; n < f->nodes + f->nr_nodes; n++)
		store_add(&s, (int64_t[]){ n->parent, numbers[n->name], n->kind });
	return store_finish(&s, p, id);
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
	intern_free(&f->names);
	free(f->nodes);
	hash_free(&f->by_path);
	cells_free(&f->by_time);
	cells_free(&f->by_request);
	pieces_free(&f->pieces);
	attribution_free(&f->attribution);
}
