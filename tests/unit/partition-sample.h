/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes partitions by hand, without a trace, for tests of what is computed from them.  Requests
 * get their shares one after the other, each leaf once.
 */
#ifndef UNIT_PARTITION_SAMPLE_H
#define UNIT_PARTITION_SAMPLE_H

#include "analysis/partition/partition.h"
#include "tap.h"

#define SAMPLE_MAX	64	/* symbols, paths, leaves, classes */

struct hand {
	struct partition p;
	struct symbol symbols[SAMPLE_MAX];
	struct path paths[SAMPLE_MAX];
	struct leaf leaves[SAMPLE_MAX];
	struct leaf_lock locks[SAMPLE_MAX];
	struct path_queue queues[SAMPLE_MAX];
	const char *classes[SAMPLE_MAX];
	size_t nr_symbols, room_requests, room_shares;
};

TAP_FN void hand_open(struct hand *h)
{
	memset(h, 0, sizeof(*h));
	h->p.paths = h->paths;
	h->p.leaves = h->leaves;
	h->p.locks = h->locks;
	h->p.queues = h->queues;
	h->p.classes = h->classes;
	h->p.nr_paths = 1;
}

TAP_FN void hand_close(struct hand *h)
{
	free(h->p.requests);
	free(h->p.shares);
}

TAP_FN uint32_t hand_class(struct hand *h, const char *name)
{
	h->classes[h->p.nr_classes] = name;
	return h->p.nr_classes++;
}

TAP_FN const struct symbol *hand_symbol(struct hand *h, const char *name, const char *file)
{
	struct symbol *s = &h->symbols[h->nr_symbols++];

	*s = (struct symbol){
		.module = "app", .path = "", .function = name, .raw = name, .file = file,
		.func_file = file, .known = true,
	};
	return s;
}

TAP_FN uint32_t hand_path(struct hand *h, uint32_t parent, const char *function, const char *file)
{
	h->paths[h->p.nr_paths] = (struct path){
		.parent = parent, .depth = h->paths[parent].depth + 1,
		.func = hand_symbol(h, function, file),
	};
	return h->p.nr_paths++;
}

TAP_FN uint32_t hand_queue(struct hand *h, uint64_t queue, const char *name)
{
	h->queues[h->p.nr_queues++] = (struct path_queue){ queue, name ? hand_symbol(h, name, "") : NULL };
	h->paths[h->p.nr_paths] = (struct path){ .depth = 1, .queue = h->p.nr_queues };
	return h->p.nr_paths++;
}

TAP_FN uint32_t hand_leaf(struct hand *h, enum leaf_kind kind, uint32_t path, const char *label)
{
	h->leaves[h->p.nr_leaves] = (struct leaf){ .kind = kind, .path = path, .label = label };
	return h->p.nr_leaves++;
}

/* Sets the place of the last leaf's lock. */
TAP_FN void hand_lock_site(struct hand *h, const struct symbol *site)
{
	h->locks[h->p.nr_locks++] = (struct leaf_lock){ .site = site };
	h->leaves[h->p.nr_leaves - 1].lock = h->p.nr_locks;
}

TAP_FN void hand_request(struct hand *h, uint32_t class)
{
	if (h->p.nr_requests == h->room_requests) {
		h->room_requests = h->room_requests ? 2 * h->room_requests : 64;
		h->p.requests = realloc(h->p.requests, h->room_requests * sizeof(*h->p.requests));
		if (!h->p.requests)
			bail_out("out of memory");
	}
	h->p.requests[h->p.nr_requests] = (struct request){
		.id = h->p.nr_requests, .start_ns = h->p.nr_requests * 1000LL, .class = class,
		.first = h->p.nr_shares,
	};
	h->p.nr_requests++;
}

/* Adds a share to the last request. */
TAP_FN void hand_share(struct hand *h, uint32_t leaf, int64_t ns, uint32_t nr)
{
	struct request *r = &h->p.requests[h->p.nr_requests - 1];

	if (h->p.nr_shares == h->room_shares) {
		h->room_shares = h->room_shares ? 2 * h->room_shares : 256;
		h->p.shares = realloc(h->p.shares, h->room_shares * sizeof(*h->p.shares));
		if (!h->p.shares)
			bail_out("out of memory");
	}
	h->p.shares[h->p.nr_shares++] = (struct share){ .leaf = leaf, .ns = ns, .nr = nr };
	r->nr_shares++;
	r->latency_ns += ns;
}

#endif
