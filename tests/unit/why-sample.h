/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a struct why by hand: the contents of its pictures are known.  Requests of two classes
 * begin every 100 us and take 240 us; some of them have one of five causes, or two.
 */
#ifndef UNIT_WHY_SAMPLE_H
#define UNIT_WHY_SAMPLE_H

#include "analysis/partition/partition-private.h"
#include "analysis/why/why.h"
#include "analysis-sample.h"

#define WHY_REFERENCE_NS	240000

enum { CAUSE_LOCK, CAUSE_BEHIND, CAUSE_PREEMPTED, CAUSE_SLOWER, CAUSE_IO, NR_WHY_CAUSES };

struct why_sample {
	struct made made;
	struct partition p;
	struct why w;
	uint32_t leaves[NR_WHY_CAUSES];
	uint32_t main_path, parse_leaf, lookup_leaf;
	struct chain chain;
};

static const struct symbol why_functions[] = {
	{ .function = "main", .raw = "main", .module = "app", .path = "app", .file = "app.c",
	  .func_file = "app.c", .known = true },
	{ .function = "serve", .raw = "serve", .module = "app", .path = "app", .file = "app.c",
	  .func_file = "app.c", .known = true },
	{ .function = "parse", .raw = "parse", .module = "app", .path = "app", .file = "app.c",
	  .func_file = "app.c", .known = true },
	{ .function = "look_up", .raw = "look_up", .module = "app", .path = "app", .file = "app.c",
	  .func_file = "app.c", .known = true },
};

/* Returns how much of a cause a request has; 0: none. */
TAP_FN int64_t why_sample_ns(size_t i, int cause, unsigned *nr)
{
	*nr = 1;
	switch (cause) {
	case CAUSE_LOCK:
		return i % 400 >= 300 && i % 400 < 320 ? 12000000 - (int64_t)(i % 400 - 300) * 500000 : 0;
	case CAUSE_BEHIND:
		*nr = 1 + i % 4;
		return i % 61 == 5 ? (int64_t)(1 + i % 4) * 700000 : 0;
	case CAUSE_PREEMPTED:
		return i % 97 == 13 ? 3000000 + (int64_t)(i % 7) * 100000 : 0;
	case CAUSE_SLOWER:
		return i % 83 == 3 ? 800000 + (int64_t)(i % 5) * 50000 : 0;
	default:
		return i % 400 == 310 ? 400000 : 0;
	}
}

TAP_FN void why_sample_share(struct why_sample *s, struct request *r, uint32_t leaf, unsigned nr,
			     int64_t ns)
{
	s->p.shares[s->p.nr_shares++] = (struct share){ .leaf = leaf, .nr = nr, .ns = ns };
	r->nr_shares++;
	r->latency_ns += ns;
}

/* Adds a request; its causes among leaves are in the order of the leaves. */
TAP_FN void why_sample_request(struct why_sample *s, size_t i)
{
	struct request *r = &s->p.requests[i];
	unsigned nr;

	*r = (struct request){
		.id = 1000 + i, .start_ns = (int64_t)i * 100000, .start = (int64_t)i * 100000,
		.class = i % 3 == 0, .tid = 11 + i % 3, .first = s->p.nr_shares, .resolution_ns = 500,
	};
	why_sample_share(s, r, s->parse_leaf, 1, 100000);
	why_sample_share(s, r, s->lookup_leaf, 2, WHY_REFERENCE_NS - 100000);
	for (int c = 0; c < NR_WHY_CAUSES; c++) {
		int64_t ns = why_sample_ns(i, c, &nr);

		if (c == CAUSE_SLOWER)
			s->p.shares[r->first].ns += ns;
		else if (ns)
			why_sample_share(s, r, s->leaves[c], nr, ns);
		if (c == CAUSE_SLOWER)
			r->latency_ns += ns;
	}
	r->end = r->start + r->latency_ns;
}

TAP_FN int why_sample_compare(const void *pa, const void *pb)
{
	const struct why_amount *a = pa, *b = pb;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

TAP_FN int why_sample_compare_targets(const void *pa, const void *pb)
{
	const struct why_target *a = pa, *b = pb;

	if (a->request->latency_ns != b->request->latency_ns)
		return a->request->latency_ns > b->request->latency_ns ? -1 : 1;
	return a->request < b->request ? -1 : 1;
}

/* The amounts are never freed, because the program ends soon. */
TAP_FN void why_sample_target(struct why_sample *s, size_t i)
{
	struct why_target *t = &s->w.targets[s->w.nr_targets];
	struct why_amount *amounts = calloc(NR_WHY_CAUSES, sizeof(*amounts));
	unsigned nr;

	*t = (struct why_target){ .request = &s->p.requests[i], .amounts = amounts, .coverage = 1 };
	for (int c = 0; c < NR_WHY_CAUSES; c++) {
		int64_t ns = why_sample_ns(i, c, &nr);

		if (ns)
			amounts[t->nr_amounts++] = (struct why_amount){ .cause = c, .nr_more = nr, .ns = ns };
	}
	if (!t->nr_amounts)
		return;
	qsort(amounts, t->nr_amounts, sizeof(*amounts), why_sample_compare);
	t->deviation_ns = t->request->latency_ns - WHY_REFERENCE_NS;
	if (amounts[0].cause == CAUSE_LOCK)
		amounts[0].chain = t->chain = &s->chain;
	t->root = t->chain ? LEAF_IO : LEAF_FUNCTION;
	t->root_label = t->chain ? "fsync" : "parse";
	s->w.nr_targets++;
}

TAP_FN void why_sample_chain(struct why_sample *s)
{
	static const struct chain_link links[] = {
		{ .kind = LEAF_LOCK, .label = "db_lock", .file = "", .tid = 11, .thread = "worker",
		  .ns = 12000000, .source = EDGE_SHIM, .confidence = 1 },
		{ .kind = LINK_HELD_BY, .label = "", .file = "", .tid = 21, .thread = "flusher",
		  .ns = 11000000, .source = EDGE_SHIM, .confidence = 1 },
		{ .kind = LEAF_FUNCTION, .label = "flush", .file = "app.c:120", .tid = 21,
		  .thread = "flusher", .ns = 11000000, .resolution_ns = 500, .source = EDGE_SCANNER,
		  .confidence = 0.98 },
		{ .kind = LEAF_IO, .label = "fsync", .file = "", .tid = 21, .thread = "flusher",
		  .ns = 10000000, .source = EDGE_WAKER, .confidence = 0.9 },
	};

	memcpy(s->chain.links, links, sizeof(links));
	s->chain.nr = sizeof(links) / sizeof(links[0]);
	for (size_t i = 0; i < s->chain.nr; i++) {
		struct chain_link *l = &s->chain.links[i];

		l->call = l->call ? l->call : "";
		l->file = l->file ? l->file : "";
		l->thread = l->thread ? l->thread : "";
	}
}

TAP_FN void why_sample_leaves(struct why_sample *s)
{
	struct partition *p = &s->p;
	uint32_t serve, parse, look_up, queue;

	s->main_path = partition_path(p, 0, &why_functions[0]);
	serve = partition_path(p, s->main_path, &why_functions[1]);
	parse = partition_path(p, serve, &why_functions[2]);
	look_up = partition_path(p, serve, &why_functions[3]);
	queue = partition_queue_path(p, 0x1000, 0);
	s->parse_leaf = partition_leaf(p, LEAF_FUNCTION, parse, "", NULL);
	s->lookup_leaf = partition_leaf(p, LEAF_FUNCTION, look_up, "", NULL);
	s->leaves[CAUSE_LOCK] = partition_leaf(p, LEAF_LOCK, look_up, "db_lock",
					       &(struct leaf_lock){ .address = 0x2000 });
	s->leaves[CAUSE_BEHIND] = partition_leaf(p, LEAF_BEHIND, queue, "PUT", NULL);
	s->leaves[CAUSE_PREEMPTED] = partition_leaf(p, LEAF_PREEMPTED, parse, "hog", NULL);
	s->leaves[CAUSE_SLOWER] = s->parse_leaf;
	s->leaves[CAUSE_IO] = partition_leaf(p, LEAF_IO, look_up, "", NULL);
}

TAP_FN void why_sample_causes(struct why_sample *s)
{
	static const char *const labels[] = { "db_lock", "PUT", "hog", "parse()", "" };
	static const enum anomaly anomalies[] = {
		ANOMALY_GAP, ANOMALY_OVERLAP, ANOMALY_CONTEXT, ANOMALY_SLOWER, ANOMALY_GAP,
	};
	struct why *w = &s->w;

	w->nr_causes = NR_WHY_CAUSES;
	w->causes = calloc(w->nr_causes, sizeof(*w->causes));
	for (uint32_t c = 0; c < w->nr_causes; c++) {
		struct why_cause *cause = &w->causes[c];
		const struct leaf *leaf = &s->p.leaves[s->leaves[c]];

		*cause = (struct why_cause){
			.anomaly = anomalies[c], .kind = leaf->kind, .path = leaf->path,
			.leaf = s->leaves[c], .label = labels[c], .advice = "",
			.category = c == CAUSE_LOCK || c == CAUSE_IO ? "Storage" : "",
			.reference_ns = c == CAUSE_SLOWER ? 100000 : 0,
			.call = "", .chain = c == CAUSE_LOCK ? &s->chain : NULL,
		};
		for (size_t i = 0; i < w->nr_targets; i++)
			for (size_t k = 0; k < w->targets[i].nr_amounts; k++)
				if (w->targets[i].amounts[k].cause == c) {
					cause->nr_requests++;
					cause->nr_first += !k;
					cause->total_ns += w->targets[i].amounts[k].ns;
				}
	}
}

TAP_FN void why_sample_classes(struct why_sample *s)
{
	struct why *w = &s->w;

	w->classes = calloc(s->p.nr_classes, sizeof(*w->classes));
	for (size_t c = 0; c < s->p.nr_classes; c++)
		w->classes[c] = (struct why_class){
			.name = s->p.classes[c], .reference_ns = WHY_REFERENCE_NS,
			.reference_lo_ns = WHY_REFERENCE_NS, .reference_hi_ns = WHY_REFERENCE_NS,
			.target_lo_ns = 2 * WHY_REFERENCE_NS, .target_hi_ns = 12640000,
		};
	for (size_t i = 0; i < s->p.nr_requests; i++)
		w->classes[s->p.requests[i].class].nr++;
	for (size_t i = 0; i < w->nr_targets; i++)
		w->classes[w->targets[i].request->class].nr_targets++;
	for (size_t c = 0; c < s->p.nr_classes; c++)
		w->classes[c].nr_reference = w->classes[c].nr - w->classes[c].nr_targets;
}

/*
 * Begins the trace for the struct why; kernel events are written between begin and end.
 */
TAP_FN void why_sample_begin(struct why_sample *s)
{
	*s = (struct why_sample){ 0 };
	made_begin(&s->made, "why-sample.data");
}

TAP_FN void why_sample_end(struct why_sample *s, size_t nr)
{
	made_open(&s->made);
	s->p.m = s->made.model;
	if (partition_names_open(&s->p))
		bail_out("partition_names_open");
	s->p.requests = calloc(nr, sizeof(*s->p.requests));
	s->p.shares = calloc(nr * (NR_WHY_CAUSES + 2), sizeof(*s->p.shares));
	s->p.nr_requests = nr;
	partition_class(&s->p, "GET");
	partition_class(&s->p, "PUT");
	why_sample_leaves(s);
	why_sample_chain(s);
	for (size_t i = 0; i < nr; i++)
		why_sample_request(s, i);
	s->w.p = &s->p;
	s->w.targets = calloc(nr, sizeof(*s->w.targets));
	for (size_t i = 0; i < nr; i++)
		why_sample_target(s, i);
	qsort(s->w.targets, s->w.nr_targets, sizeof(*s->w.targets), why_sample_compare_targets);
	why_sample_causes(s);
	why_sample_classes(s);
	s->w.coverage_min = s->w.coverage_median = 1;
}

#endif
