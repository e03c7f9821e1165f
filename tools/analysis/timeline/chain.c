// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the delays of a request from thread to thread; see chain.h.  blame.c has found which
 * thread caused each delay.
 *
 * For a thread that ended a wait, the longest of its own delays during the wait is a link if it
 * took at least a tenth of that time, and its own causes are followed if it took at least half.  No
 * thread is in a chain twice, so each chain ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/partition/partition-private.h"
#include "base/search.h"
#include "facts/ticks.h"
#include "timeline-private.h"

#define UNCERTAIN_PART	4	/* a time is only likely if its resolution is more than 1/4 of it */

struct walk {
	const struct timeline_build *b;
	struct chain chain;
	uint32_t tids[CHAIN_LINKS_MAX];	/* threads in the chain */
	size_t nr_tids;
};

const char *edge_source_name(enum edge_source s)
{
	static const char *const names[NR_EDGE_SOURCES] = {
		[EDGE_SHIM] = "shim", [EDGE_OWNER] = "owner", [EDGE_FUTEX] = "futex",
		[EDGE_WAKER] = "waker", [EDGE_RUNNING] = "running_task", [EDGE_TAG] = "tag",
		[EDGE_SCANNER] = "scanner", [EDGE_CODE] = "code",
	};

	return names[s];
}

const char *link_kind_name(unsigned kind)
{
	static const char *const names[NR_LINK_KINDS] = {
		[LINK_NONE] = "", [LINK_HELD_BY] = "held_by", [LINK_WOKEN_BY] = "woken_by",
		[LINK_TAKEN_BY] = "taken_by",
		[LINK_CALLS] = "calls", [LINK_REQUEST] = "request", [LINK_PAGE_FAULTS] = "page_faults",
		[LINK_ALL] = "all", [LINK_CLASS] = "class", [LINK_UNEXPLAINED] = "unexplained",
		[LINK_NOT_FOLLOWED] = "not_followed",
	};

	return kind < NR_LEAF_KINDS ? leaf_kinds[kind].name : names[kind];
}

struct chain_link *chain_add(struct chain *chain, unsigned kind, const char *label, int64_t ns,
			     enum edge_source source)
{
	static struct chain_link unseen;
	const struct chain_link *last = chain->nr ? &chain->links[chain->nr - 1] : NULL;
	struct chain_link *link = chain->nr < CHAIN_LINKS_MAX ? &chain->links[chain->nr++] : &unseen;

	*link = (struct chain_link){
		.kind = kind, .label = label, .call = "", .file = "", .thread = "", .ns = ns,
		.source = source,
		.confidence = last && last->ns > ns ? (double)ns / (double)last->ns : 1,
	};
	return link;
}

const struct chain_link *chain_root(const struct chain *chain)
{
	const struct chain_link *first = chain->links, *last = first + chain->nr - 1;
	int64_t most = first->ns;

	/*
	 * For a delay in a queue, the queue itself is the root; the links after it only say what
	 * the thread that took the request out did before.
	 */
	if (chain->nr > 1 && first[1].kind == LINK_TAKEN_BY)
		return first;
	/*
	 * `most` is the time for which the last thread of the chain is to blame; its function may
	 * have taken only a part of that.
	 */
	for (const struct chain_link *l = first + 1; l < last; l++)
		if (l->kind == LINK_HELD_BY || l->kind == LINK_WOKEN_BY)
			most = l->kind == LINK_HELD_BY ? l->ns : l[-1].ns;
	/*
	 * Skips links that cannot be the root: calls that a function may make, wakers about which
	 * nothing is known, what the task that ran instead was executing, and times that are too
	 * short.
	 */
	while (last > first &&
	       (last->source == EDGE_CODE || (last->kind == LINK_WOKEN_BY && !*last->file) ||
		(last[-1].source == EDGE_RUNNING && last->source != EDGE_RUNNING) ||
		(last->kind < NR_LEAF_KINDS && last->kind != LEAF_FUNCTION && 2 * last->ns < most)))
		last--;
	return last;
}

const char *chain_certainty(const struct chain_link *l)
{
	bool is_vague = l->source == EDGE_SCANNER && l->resolution_ns * UNCERTAIN_PART > l->ns;

	return l->source == EDGE_CODE ? "possible" : l->is_likely || is_vague ? "likely" : "exact";
}

void chain_set_function(struct model *m, struct chain_link *link, const struct symbol *func)
{
	char text[256];

	link->label = func->function;
	link->func = func;
	if (!*func->func_file)
		return;
	snprintf(text, sizeof(text), "%s:%u", basename(func->func_file), func->func_line);
	link->file = model_keep_string(m, text);
}

static const struct process *process_of(const struct thread *t)
{
	return t ? t->process : NULL;
}

static int64_t length(const struct segment *s)
{
	return s->end_ns - s->start_ns;
}

/* The thread that caused a delay */

/* Returns the edge that overlaps the delay for the longest time; NULL: no thread is known. */
static const struct edge *longest_edge(const struct timeline_build *b, const struct segment *delay)
{
	size_t n = search(b->nr_edges, i, b->edges[i].tid < delay->tid);
	const struct edge *best = NULL;
	int64_t most = 0;

	for (; n < b->nr_edges && b->edges[n].tid == delay->tid && b->edges[n].start < delay->end; n++) {
		const struct edge *e = &b->edges[n];
		int64_t ticks = min(e->end, delay->end) - max(e->start, delay->start);

		if (ticks > most) {
			best = e;
			most = ticks;
		}
	}
	return best;
}

/* Returns which interrupt ended a sleep, as far as the system call shows it. */
static const char *interrupt_words(const struct segment_sched *k, bool *is_likely)
{
	const char *name = k->call.name ? k->call.name : "", *file = k->call.name ? k->call.file : "";
	bool may_time_out = strstr(name, "poll") || strstr(name, "select") || strstr(name, "futex") ||
			    strstr(name, "epoll");

	*is_likely = false;
	if (strstr(name, "nanosleep") || strstr(file, "timerfd"))
		return "a timer";
	*is_likely = true;
	if (strstr(file, "socket") && k->waker.kind == CONTEXT_SOFTIRQ)
		return "the network";
	/* A signal that an interrupt sends is nearly always that of a timer. */
	if ((may_time_out || strstr(file, "signalfd")) && k->waker.kind == CONTEXT_HARDIRQ)
		return "a timer";
	*is_likely = false;
	return context_kinds[k->waker.kind].words;
}

/*
 * Adds the task or interrupt that ended a sleep other than one for I/O, if kernel events name it.
 */
static void add_other_task(struct walk *w, const struct segment *delay, int64_t ns)
{
	const struct segment_sched *k = delay->sched;
	struct chain_link *link;
	bool is_likely;

	if (!k || !k->has_woken || delay->kind == SEGMENT_RUNNABLE || leaf_kind_of(delay) == LEAF_IO)
		return;
	if (k->waker.kind == CONTEXT_TASK && k->waker.tid != delay->tid && k->waker.name && *k->waker.name) {
		link = chain_add(&w->chain, LINK_WOKEN_BY, k->waker.name, ns, EDGE_WAKER);
		link->tid = k->waker.tid;
		link->thread = link->label;
		link->process = process_of(model_thread(w->b->m, k->waker.tid, delay->end));
		link->lock_kind = delay->kind == SEGMENT_LOCK_WAIT ? delay->lock_kind : 0;
	} else if (k->waker.kind == CONTEXT_HARDIRQ || k->waker.kind == CONTEXT_SOFTIRQ) {
		link = chain_add(&w->chain, LINK_WOKEN_BY, interrupt_words(k, &is_likely), ns, EDGE_WAKER);
		link->is_likely = is_likely;
	}
}

/* Links */

static struct chain_link *add_delay(struct walk *w, const struct segment *s, int64_t ns,
				    const char *place)
{
	char label[PARTITION_LABEL_MAX];
	enum leaf_kind kind = partition_label(s, label);
	const char *text = model_keep_string(w->b->m, label);
	bool has_call = kind == LEAF_IO || kind == LEAF_SLEEP;
	enum edge_source source = kind == LEAF_LOCK ? EDGE_SHIM : kind == LEAF_FUTEX ? EDGE_FUTEX :
				  has_call ? EDGE_WAKER : EDGE_RUNNING;
	struct chain_link *link;

	link = chain_add(&w->chain, kind, has_call || !*text ? place : text, ns, source);
	link->tid = s->tid;
	link->thread = model_keep_string(w->b->m, model_thread_name(s->thread));
	link->process = process_of(s->thread);
	link->start_ns = s->start_ns;
	link->end_ns = s->end_ns;
	link->resolution_ns = kind == LEAF_LOCK || kind == LEAF_FUTEX ? 0 : s->resolution_ns;
	link->lock_kind = kind == LEAF_LOCK ? s->lock_kind : 0;
	link->call = has_call ? text : "";
	if (kind == LEAF_IO && s->sched)
		link->disk = s->sched->disk;
	return link;
}

/* Adds the thread that held the lock, and what it was executing. */
static void add_holder(struct walk *w, struct chain_link *link, const struct edge *e,
		       const struct segment *in, const struct segment *func)
{
	const struct symbol *taker = e->hold && e->hold->site ? e->hold->site : func ? func->func : NULL;
	struct chain_link *link_func;

	link->resolution_ns = e->hold ? e->hold->resolution_ns : 0;
	if (taker)
		chain_set_function(w->b->m, link, taker);
	if (!func || !strcmp(taker->function, func->func->function))
		return;
	link_func = chain_add(&w->chain, LEAF_FUNCTION, "", segment_overlap_ns(func, in), EDGE_SCANNER);
	chain_set_function(w->b->m, link_func, func->func);
	link_func->tid = link->tid;
	link_func->thread = link->thread;
	link_func->process = link->process;
	link_func->resolution_ns = func->resolution_ns;
}

/*
 * Names the function that a thread was executing: one that was observed (or NULL), or a better one
 * from executed.c.
 */
static void set_executed(struct walk *w, struct chain_link *link, const struct segment *in,
			 const struct segment *func)
{
	struct executed x;

	if (executed_find(w->b, in, &x) &&
	    (!func || (strcmp(func->func->function, x.func->function) &&
		       (func->func->func_in_system || !x.func->func_in_system)))) {
		chain_set_function(w->b->m, link, x.func);
		link->ns = x.ns;
		link->resolution_ns = x.resolution_ns;
	} else if (func) {
		chain_set_function(w->b->m, link, func->func);
		link->ns = segment_overlap_ns(func, in);
		link->resolution_ns = func->resolution_ns;
	} else {
		return;
	}
	link->confidence = length(in) > link->ns ? (double)link->ns / (double)length(in) : 1;
}

/* Adds the thread that ended the delay, or ran meanwhile, and what it was executing. */
static void add_blocker(struct walk *w, const struct segment *delay, const struct edge *e,
			const struct segment *in)
{
	const struct segment *func = blockers_function(w->b->t, in);
	bool is_held = delay->kind == SEGMENT_FUTEX_WAIT ? e->hold || delay->owner :
		       delay->kind == SEGMENT_LOCK_WAIT && lock_kind_is_held(delay->lock_kind) && !e->is_free;
	const char *name = model_keep_string(w->b->m, model_thread_name(in->thread));
	struct chain_link *link;

	if (e->source == EDGE_RUNNING && !func)
		return;
	link = chain_add(&w->chain, e->source == EDGE_RUNNING ? (unsigned)LEAF_FUNCTION : is_held ?
			 (unsigned)LINK_HELD_BY : LINK_WOKEN_BY, *name ? name : "a thread", length(in),
			 e->source == EDGE_RUNNING ? EDGE_SCANNER : e->source);
	link->tid = in->tid;
	link->thread = name;
	link->process = process_of(in->thread);
	link->start_ns = in->start_ns;
	link->end_ns = in->end_ns;
	link->lock_kind = delay->kind == SEGMENT_LOCK_WAIT ? delay->lock_kind : 0;
	link->is_likely = e->is_likely;
	link->is_free = e->is_free;
	if (is_held)
		add_holder(w, link, e, in, func);
	else
		set_executed(w, link, in, func);
}

static bool is_in(const struct walk *w, uint32_t tid)
{
	for (size_t i = 0; i < w->nr_tids; i++)
		if (w->tids[i] == tid)
			return true;
	return false;
}

/* Adds a delay, and follows it. */
static void follow(struct walk *w, const struct segment *delay, int64_t ns, const char *place)
{
	const struct timeline_build *b = w->b;

	while (delay && w->nr_tids < CHAIN_LINKS_MAX) {
		const struct edge *e = longest_edge(b, delay);
		struct segment in = { 0 };
		int64_t delay_ns;

		add_delay(w, delay, ns, place);
		w->tids[w->nr_tids++] = delay->tid;
		if (!e)
			add_other_task(w, delay, ns);
		if (!e || is_in(w, e->by))
			return;
		in.tid = e->by;
		in.thread = model_thread(b->m, e->by, e->start);
		in.start = e->start;
		in.end = e->end;
		in.start_ns = ticks_time_ns(b->m->reader, e->start);
		in.end_ns = ticks_time_ns(b->m->reader, e->end);
		add_blocker(w, delay, e, &in);
		if (e->source == EDGE_RUNNING)
			return;
		delay = blockers_delay(b->t->segments, b->t->nr_segments, &in, true, &delay_ns);
		if (!delay || delay_ns < length(&in) / 10)
			return;
		ns = delay_ns;
		place = delay->site ? delay->site->function : w->chain.links[w->chain.nr - 1].label;
		/* A delay of less than half of the time is mentioned, but is not followed. */
		if (2 * delay_ns < length(&in)) {
			add_delay(w, delay, ns, place);
			return;
		}
	}
}

/* Adds the thread that took the request out of the queue, and what delayed it until then. */
static void follow_queue(struct walk *w, const struct timeline_cause *c)
{
	const struct timeline_build *b = w->b;
	const struct segment *delay;
	struct segment in = *c->wait;
	struct chain_link *link;
	int64_t ns;

	link = chain_add(&w->chain, c->kind, model_keep_string(b->m, c->label), c->ns, EDGE_TAG);
	link->process = process_of(c->wait->thread);
	if (c->func && c->kind == LEAF_FUNCTION) {
		chain_set_function(b->m, link, c->func);
		link->source = EDGE_SCANNER;
		link->resolution_ns = c->resolution_ns;
	}
	if (!c->wait->to_tid || c->kind == LEAF_BEHIND)
		return;
	in.tid = c->wait->to_tid;
	in.thread = model_thread(b->m, in.tid, in.end);
	link = chain_add(&w->chain, LINK_TAKEN_BY, "", c->ns, EDGE_TAG);
	link->tid = in.tid;
	link->thread = link->label = model_keep_string(b->m, model_thread_name(in.thread));
	link->process = process_of(in.thread);
	delay = c->kind == LEAF_QUEUE ? blockers_delay(b->all, b->nr_all, &in, true, &ns) : NULL;
	if (!delay || 10. * (double)ns < (double)c->ns)
		return;
	add_delay(w, delay, min(ns, c->ns), delay->site ? delay->site->function : "");
	add_other_task(w, delay, min(ns, c->ns));
}

int chain_build(const struct timeline_build *b, struct timeline_cause *c)
{
	const struct segment *delay = c->wait ? c->wait : c->off;
	struct walk w = { .b = b };

	if (!delay)
		return 0;
	if (c->in_queue)
		follow_queue(&w, c);
	else
		follow(&w, delay, c->ns, c->func ? c->func->function : "");
	if (!c->in_queue && c->kind == LEAF_IO)
		w.chain.links[0].disk = c->disk;
	c->chain = malloc(sizeof(*c->chain));
	if (!c->chain)
		return -ENOMEM;
	*c->chain = w.chain;
	return 0;
}
