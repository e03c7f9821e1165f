// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums time by stack; see stacks.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/classes.h"
#include "facts/instances.h"
#include "facts/sched.h"
#include "export/stacks.h"
#include "render/offcpu.h"

static uint64_t mix_text(uint64_t h, const char *text)
{
	return hash_mix(h, hash_text(text ? text : ""));
}

/* Strings of symbols are interned, so comparing pointers is sufficient. */
static uint64_t node_hash(const struct stacks *s, const struct stacks_node *n)
{
	uint64_t h = hash_mix(n->is_cause, (uintptr_t)n->parent);

	if (n->is_cause)
		return mix_text(hash_mix(hash_mix(h, n->cause.kind), n->cause.lock), n->cause.who);
	if (!n->func)
		return mix_text(mix_text(h, n->thread), n->class);
	h = hash_mix(h, (uintptr_t)n->func->function);
	if (!s->options.with_sites)
		return h;
	h = hash_mix(hash_mix(h, (uintptr_t)n->func->path), n->func->func_line);
	return n->site ? hash_mix(hash_mix(h, (uintptr_t)n->site->file), n->site->line) : h;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_site(const struct symbol *a, const struct symbol *b)
{
	if (!a || !b)
		return a == b;
	return a->function == b->function && a->file == b->file && a->line == b->line;
}

static bool same_node(const struct stacks *s, const struct stacks_node *a,
		      const struct stacks_node *b)
{
	if (a->parent != b->parent || a->is_cause != b->is_cause)
		return false;
	if (a->is_cause)
		return a->cause.kind == b->cause.kind && a->cause.lock == b->cause.lock &&
		       a->cause.state == b->cause.state && same_text(a->cause.who, b->cause.who);
	if (!a->func || !b->func)
		return a->func == b->func && same_text(a->thread, b->thread) &&
		       same_text(a->class, b->class);
	if (a->func->function != b->func->function)
		return false;
	return !s->options.with_sites ||
	       (a->func->path == b->func->path && a->func->func_file == b->func->func_file &&
		a->func->func_line == b->func->func_line && same_site(a->site, b->site));
}

/* Returns NULL if there is no memory, and the parent if the limit of nodes is reached. */
static struct stacks_node *get_node(struct stacks *s, struct stacks_node *like)
{
	uint64_t hash = node_hash(s, like);
	struct stacks_node *n;
	uint32_t at;

	hash_each(&s->by_path, hash, at)
		if (same_node(s, s->nodes[at], like))
			return s->nodes[at];
	/* Roots are not limited, because they are few: names of threads, and classes. */
	if (s->nr_nodes >= s->options.max_nodes && like->parent)
		return like->parent;
	if (!array_room(&s->nodes, &s->room_nodes, s->nr_nodes, sizeof(struct stacks_node *)) ||
	    hash_reserve(&s->by_path))
		return NULL;
	n = malloc(sizeof(*n));
	if (!n)
		return NULL;
	*n = *like;
	n->nr = s->nr_nodes;
	hash_put(&s->by_path, hash, s->nr_nodes);
	s->nodes[s->nr_nodes++] = n;
	return n;
}

static struct stacks_node *get_root(struct stacks *s)
{
	struct stacks_node root = { .thread = s->name, .class = s->class };

	return get_node(s, &root);
}

/*
 * Returns the node with the same stack for the class of the current request; NULL: out of memory.
 */
static struct stacks_node *get_in_class(struct stacks *s, const struct stacks_node *node)
{
	struct stacks_node like = *node;

	if (!node->parent)
		return get_root(s);
	like.parent = get_in_class(s, node->parent);
	like.nr_calls = like.nr_open = 0;
	like.self_ns = 0;
	return like.parent ? get_node(s, &like) : NULL;
}

/* Returns the node of an item.  The item stores the node, and in text its class. */
static struct stacks_node *node_of(struct stacks *s, struct attribution_item *item)
{
	if (item->text != s->class) {
		item->node = get_in_class(s, item->node);
		item->text = s->class;
	}
	return item->node;
}

struct stacks_cause stacks_cause_of(const struct attribution_begin *what)
{
	const struct segment *s = what->segment;
	struct stacks_cause cause = { .kind = LEAF_IRQ, .state = SCHED_STATE_UNKNOWN };
	const struct context *who;

	if (what->irq) {
		cause.kind = what->irq->kind;
		cause.who = what->irq->name;
		return cause;
	}
	cause.kind = leaf_kind_of(s);
	cause.lock = s->lock;
	cause.lock_symbol = s->lock_symbol;
	if (s->sched && s->kind == SEGMENT_BLOCKED) {
		cause.state = s->sched->state;
		cause.who = s->sched->call.name;
	}
	if (cause.kind == LEAF_RUNNABLE || cause.kind == LEAF_PREEMPTED) {
		who = offcpu_context(s);
		cause.who = who && who->kind == CONTEXT_TASK ? who->name : NULL;
	}
	return cause;
}

static int spend(void *arg, int64_t start, int64_t end, struct attribution_item *item)
{
	struct stacks *s = arg;
	struct stacks_node *node;
	int64_t from;

	if (!item)
		return 0;
	node = node_of(s, item);
	if (!node)
		return -ENOMEM;
	from = ticks_last_ns(&s->last, s->m->reader, start);
	ticks_add(&node->self_ns, ticks_last_ns(&s->last, s->m->reader, end) - from);
	return 0;
}

/* Finds the class of the request that the thread works on; none if it works on several. */
static int find_class(void *arg)
{
	struct stacks *s = arg;

	s->class = s->attribution.nr_works == 1 ? s->attribution.works[0].text : "";
	return 0;
}

static int end(void *arg, struct attribution_item *item)
{
	struct stacks *s = arg;
	struct stacks_node *node;

	if (item->kind != LEAF_FUNCTION && item->kind != LEAF_LIBCALL)
		return 0;
	node = node_of(s, item);
	if (!node)
		return -ENOMEM;
	if (item->flag)
		s->nr_cut++;
	else if (item->nr)
		node->nr_open++;
	else
		node->nr_calls++;
	return 0;
}

/* Returns the class of the request instance that was open at tick; NULL: out of memory. */
static const char *class_of(struct stacks *s, uint64_t req, int64_t tick)
{
	const struct ldb_row_reqtab *row;

	if (classes_read(s->m) || instances_last(s->m, req, tick, &row))
		return NULL;
	return classes_find(s->m->classes, req, row ? max(row->end, tick) : tick);
}

bool stacks_wants(const struct stacks *s, const struct segment *g)
{
	if (g->kind == SEGMENT_FUNCTION || g->kind == SEGMENT_LIBCALL)
		return true;
	if (g->kind == SEGMENT_REQUEST)
		return s->options.with_classes && g->has_req;
	return s->options.with_causes && leaf_kinds[leaf_kind_of(g)].rank;
}

static int begin(void *arg, const struct attribution_begin *what, struct attribution_item *item)
{
	struct stacks *s = arg;
	const struct segment *g = what->segment;
	struct stacks_node like = { .is_cause = true };

	if (g && g->kind == SEGMENT_REQUEST) {
		item->text = class_of(s, g->req, g->start);
		return item->text ? 0 : -ENOMEM;
	}
	like.parent = what->around ? node_of(s, &s->attribution.functions[item->place - 1]) : get_root(s);
	if (!like.parent)
		return -ENOMEM;
	if (item->kind == LEAF_FUNCTION || item->kind == LEAF_LIBCALL) {
		like.is_cause = false;
		like.func = g->func;
		like.site = s->options.with_sites ? g->site : NULL;
		item->nr = g->is_truncated;
	} else {
		like.cause = stacks_cause_of(what);
	}
	item->node = get_node(s, &like);
	item->text = s->class;
	item->flag = item->node == like.parent;
	return item->node ? 0 : -ENOMEM;
}

void stacks_init(struct stacks *s, struct model *m, const struct stacks_options *options)
{
	*s = (struct stacks){ .m = m, .options = *options, .class = "" };
	if (!options->max_nodes)
		s->options.max_nodes = STACKS_MAX;
	s->attribution = (struct attribution){
		.begin = begin, .end = end, .spend = spend, .work = find_class, .arg = s,
	};
	attribution_start(&s->attribution);
}

void stacks_free(struct stacks *s)
{
	for (size_t i = 0; i < s->nr_nodes; i++)
		free(s->nodes[i]);
	free(s->nodes);
	hash_free(&s->by_path);
	attribution_free(&s->attribution);
	*s = (struct stacks){ 0 };
}

int stacks_finish(struct stacks *s)
{
	return attribution_finish(&s->attribution);
}

int stacks_thread(struct stacks *s, const struct thread *t)
{
	int ret = stacks_finish(s);

	s->name = model_thread_name(t);
	s->class = "";
	return ret;
}

int stacks_segment(struct stacks *s, const struct segment *segment)
{
	return stacks_wants(s, segment) ? attribution_segment(&s->attribution, segment) : 0;
}

const char *stacks_cause_text(const struct stacks_cause *c, char *buf, size_t size)
{
	const char *what = c->kind == LEAF_LOCK ? "lock" : "futex";

	switch (c->kind) {
	case LEAF_LOCK:
	case LEAF_FUTEX:
		if (c->lock_symbol && c->lock_symbol->known)
			snprintf(buf, size, "[%s %s]", what, c->lock_symbol->function);
		else
			snprintf(buf, size, "[%s 0x%" PRIx64 "]", what, c->lock);
		break;
	case LEAF_IO:
	case LEAF_SLEEP:
		snprintf(buf, size, "[%s%s%s]", sched_state_name(c->state), c->who ? " in " : "",
			 c->who ? c->who : "");
		break;
	default:
		snprintf(buf, size, "[%s%s%s]", leaf_kinds[c->kind].name,
			 !c->who || !*c->who ? "" : c->kind == LEAF_IRQ ? " " : " by ", c->who ? c->who : "");
		break;
	}
	return buf;
}
