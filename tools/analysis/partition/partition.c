// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the whole partition; see partition.h.  Shares are collected thread by thread,
 * with the number of their request; in the end they are sorted by request.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "partition-private.h"

int64_t partition_ns(struct partition_build *b, int64_t tick)
{
	return ticks_last_ns(&b->last, b->m->reader, tick);
}

void partition_add_share(struct partition_build *b, uint32_t request, uint32_t leaf,
			 const struct spent *s)
{
	struct partition *p = b->p;

	if (leaf == NO_LEAF || array_push(p->shares, p->nr_shares, b->room_shares,
					  { leaf, s->nr, s->ns, s->nr_faults, request, s->error2 }))
		b->ret = -ENOMEM;
}

void partition_add_time(struct partition_build *b, uint32_t request, enum leaf_kind kind,
			uint32_t path, const char *label, int64_t ns, uint32_t nr)
{
	partition_add_share(b, request, partition_leaf(b->p, kind, path, label, NULL),
			    &(struct spent){ .ns = ns, .nr = nr });
}

ORDER_KEY(request_start, struct request, start)
ORDER_KEY(request_end, struct request, end)

/* Sorts requests by start; they were added in the order of their ends. */
static int sort_requests(struct partition_build *b)
{
	static const order_key keys[] = { request_start, request_end };
	struct partition *p = b->p;
	uint32_t *order = order_of(p->requests, p->nr_requests, sizeof(*p->requests), keys, 2);
	uint32_t *to = calloc(p->nr_requests + 1, sizeof(*to));
	struct request *sorted = calloc(p->nr_requests + 1, sizeof(*sorted));

	if (!order || !sorted || !to) {
		free(order);
		free(sorted);
		free(to);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->nr_requests; i++) {
		to[order[i]] = i;
		sorted[i] = p->requests[order[i]];
	}
	free(order);
	free(p->requests);
	p->requests = sorted;
	for (size_t i = 0; i < b->nr_works; i++)
		if (b->works[i].request != NO_REQUEST)
			b->works[i].request = to[b->works[i].request];
	for (size_t i = 0; i < b->nr_queued; i++)
		b->queued[i].request = to[b->queued[i].request];
	for (size_t i = 0; i < p->nr_shares; i++)
		p->shares[i].pad = to[p->shares[i].pad];
	free(to);
	return 0;
}

COMPARE(share_compare, struct share, UP(leaf))

/* Sorts the shares by request in place: each is moved to the next free position of its request. */
static int place_shares(struct partition *p)
{
	uint64_t *next = calloc(p->nr_requests + 1, sizeof(*next)), at = 0;

	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_shares; i++)
		p->requests[p->shares[i].pad].nr_shares++;
	for (size_t r = 0; r < p->nr_requests; r++) {
		p->requests[r].first = at;
		next[r] = at;
		at += p->requests[r].nr_shares;
	}
	for (size_t r = 0; r < p->nr_requests; r++) {
		uint64_t end = p->requests[r].first + p->requests[r].nr_shares;

		while (next[r] < end) {
			struct share s = p->shares[next[r]];

			if (s.pad == r) {
				next[r]++;
				continue;
			}
			p->shares[next[r]] = p->shares[next[s.pad]];
			p->shares[next[s.pad]++] = s;
		}
	}
	free(next);
	return 0;
}

/* Merges the shares that a request has of the same leaf. */
static void merge_shares(struct partition *p)
{
	uint64_t nr = 0;

	for (size_t r = 0; r < p->nr_requests; r++) {
		struct request *req = &p->requests[r];
		struct share *s = &p->shares[req->first];
		uint64_t first = nr;

		if (req->nr_shares > 1)
			qsort(s, req->nr_shares, sizeof(*s), share_compare);
		for (uint32_t i = 0; i < req->nr_shares; i++) {
			struct share *last = nr > first ? &p->shares[nr - 1] : NULL;

			if (last && last->leaf == s[i].leaf) {
				last->ns += s[i].ns;
				last->nr += s[i].nr;
				last->nr_faults += s[i].nr_faults;
				last->error2 += s[i].error2;
			} else {
				p->shares[nr++] = s[i];
				p->shares[nr - 1].pad = 0;
			}
		}
		req->first = first;
		req->nr_shares = nr - first;
	}
	p->nr_shares = nr;
}

/*
 * Drops the shares of requests that are left out: some times between threads were added before this
 * was known.
 */
static void drop_left_out(struct partition *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_shares; i++)
		if (!p->requests[p->shares[i].pad].is_left_out)
			p->shares[nr++] = p->shares[i];
	p->nr_shares = nr;
}

static int cut_all(struct partition_build *b)
{
	struct partition *p = b->p;
	int ret = sort_requests(b);

	if (!ret && b->o->select)
		ret = b->o->select(b->o->select_arg, p);
	if (ret)
		return ret;
	drop_left_out(p);
	if (b->o->only_pieces) {
		partition_find_pieces(b);
		return b->ret;
	}
	partition_sweep(b);
	ret = b->ret ? b->ret : place_shares(p);
	if (!ret)
		merge_shares(p);
	return ret;
}

/*
 * Counts the LOST rows about kernel events while requests were open.  They and the requests are
 * sorted by time, so it is sufficient to know the latest end of the requests so far.
 */
static void count_losses(struct partition *p)
{
	const struct model *m = p->m;
	int64_t reach = INT64_MIN;

	for (size_t i = 0, r = 0; i < m->nr_losses; i++) {
		for (; r < p->nr_requests && p->requests[r].start <= m->losses[i]; r++)
			if (p->requests[r].end > reach)
				reach = p->requests[r].end;
		p->nr_losses += reach >= m->losses[i];
	}
}

static void free_build(struct partition_build *b)
{
	free(b->works);
	free(b->queued);
	free(b->active);
	free(b->by_class);
	free(b->class_at);
	free(b->idle);
	attribution_free(&b->attribution);
	free(b->spent);
	free(b->touched);
	intervals_free(&b->needed);
	free(b->tids);
	free(b->faults);
	free(b->samples);
}

int partition_build(struct model *m, const struct partition_options *o, struct partition *p)
{
	struct partition_build b = { .p = p, .o = o, .m = m };
	int ret;

	*p = (struct partition){
		.m = m, .has_sched = m->has_sched, .has_faults = m->has_faults, .has_irqs = m->has_irqs,
		.has_calls = m->has_calls, .places = { .m = m },
	};
	ret = partition_names_open(p);
	if (!ret) {
		partition_read_instances(&b);
		ret = b.ret;
	}
	if (!ret && p->nr_requests)
		ret = cut_all(&b);
	count_losses(p);
	if (p->names)
		partition_names_settle(p);
	free_build(&b);
	if (ret)
		partition_free(p);
	return ret;
}

void partition_free(struct partition *p)
{
	partition_names_close(p);
	free(p->requests);
	free(p->shares);
	free(p->samples);
	places_free(&p->places);
	free(p->leaves);
	free(p->paths);
	free(p->locks);
	free(p->queues);
	free(p->classes);
	*p = (struct partition){ 0 };
}
