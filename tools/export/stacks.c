// SPDX-License-Identifier: GPL-2.0-or-later
/* Time by stack; see stacks.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/classes.h"
#include "facts/sched.h"
#include "facts/ticks.h"
#include "export/stacks.h"
#include "render/offcpu.h"

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t mix_text(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = mix(h, (unsigned char)*text);
	return h;
}

/* Strings of symbols are interned: pointers stand for their texts. */
static uint64_t node_hash(const struct stacks *s, const struct stacks_node *n)
{
	uint64_t h = mix(n->is_cause, (uintptr_t)n->parent);

	if (n->is_cause)
		return mix_text(mix(mix(h, n->cause.kind), n->cause.lock), n->cause.who);
	if (!n->func)
		return mix_text(mix_text(h, n->thread), n->class);
	h = mix(h, (uintptr_t)n->func->function);
	if (!s->options.with_sites)
		return h;
	h = mix(mix(h, (uintptr_t)n->func->path), n->func->func_line);
	return n->site ? mix(mix(h, (uintptr_t)n->site->file), n->site->line) : h;
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
	if (a->hash != b->hash || a->parent != b->parent || a->is_cause != b->is_cause)
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

static int grow_buckets(struct stacks *s)
{
	size_t nr = s->nr_buckets ? 2 * s->nr_buckets : 1024;
	struct stacks_node **buckets = calloc(nr, sizeof(struct stacks_node *));

	if (!buckets)
		return -ENOMEM;
	free(s->buckets);
	for (size_t i = 0; i < s->nr_nodes; i++) {
		struct stacks_node **bucket = &buckets[s->nodes[i]->hash & (nr - 1)];

		s->nodes[i]->next = *bucket;
		*bucket = s->nodes[i];
	}
	s->buckets = buckets;
	s->nr_buckets = nr;
	return 0;
}

static int grow_nodes(struct stacks *s)
{
	size_t room = s->room_nodes ? 2 * s->room_nodes : 1024;
	struct stacks_node **nodes = reallocarray(s->nodes, room, sizeof(struct stacks_node *));

	if (!nodes)
		return -ENOMEM;
	s->nodes = nodes;
	s->room_nodes = room;
	return 0;
}

/* NULL: out of memory.  The parent, where there is no room for more. */
static struct stacks_node *get_node(struct stacks *s, struct stacks_node *like)
{
	struct stacks_node *n;

	like->hash = node_hash(s, like);
	if (s->nr_nodes >= s->nr_buckets && grow_buckets(s))
		return NULL;
	for (n = s->buckets[like->hash & (s->nr_buckets - 1)]; n; n = n->next)
		if (same_node(s, n, like))
			return n;
	/* Roots are few: threads by name, and classes. */
	if (s->nr_nodes >= s->options.max_nodes && like->parent)
		return like->parent;
	if (s->nr_nodes == s->room_nodes && grow_nodes(s))
		return NULL;
	n = malloc(sizeof(*n));
	if (!n)
		return NULL;
	*n = *like;
	n->nr = s->nr_nodes;
	n->next = s->buckets[n->hash & (s->nr_buckets - 1)];
	s->buckets[n->hash & (s->nr_buckets - 1)] = n;
	s->nodes[s->nr_nodes++] = n;
	return n;
}

static struct stacks_node *get_root(struct stacks *s)
{
	struct stacks_node root = { .thread = s->name, .class = s->class };

	return get_node(s, &root);
}

/*
 * The node of the innermost function that is open, or the root.  An open function
 * keeps its node, and in text for which class it is right.
 */
static struct stacks_node *get_innermost(struct stacks *s)
{
	struct sweep *w = &s->sweep;
	struct stacks_node *node = NULL;
	size_t i = w->nr_open;

	/* Down to one whose node is known to be right, then up again. */
	for (; i; i--) {
		const struct sweep_open *o = &w->open[i - 1];

		if (o->s.kind != SEGMENT_FUNCTION || !o->node || o->text != s->class)
			continue;
		node = (struct stacks_node *)o->node;
		break;
	}
	if (!node)
		node = get_root(s);
	for (; node && i < w->nr_open; i++) {
		struct sweep_open *o = &w->open[i];
		struct stacks_node like = { .parent = node, .func = o->s.func };

		if (o->s.kind != SEGMENT_FUNCTION)
			continue;
		like.site = s->options.with_sites ? o->s.site : NULL;
		node = get_node(s, &like);
		o->flag = node == like.parent;
		o->node = node;
		o->text = s->class;
	}
	return node;
}

/* Of a wait: who had the CPU and the state are kept in text and nr. */
static struct stacks_cause cause_of(const struct sweep_open *o)
{
	return (struct stacks_cause){
		.kind = o->s.kind, .lock = o->s.lock, .lock_symbol = o->s.lock_symbol,
		.who = o->text, .state = o->nr,
	};
}

struct stacks_cause stacks_cause_of(const struct segment *s)
{
	bool is_runnable = s->kind == SEGMENT_RUNNABLE || s->kind == SEGMENT_PREEMPTED;
	const struct party *who = s->sched && is_runnable ? offcpu_party(s) : NULL;

	return (struct stacks_cause){
		.kind = s->kind, .lock = s->lock, .lock_symbol = s->lock_symbol,
		.who = who && who->kind == PARTY_TASK ? who->name : NULL,
		.state = s->sched && s->kind == SEGMENT_BLOCKED ? s->sched->state :
			 SCHED_STATE_UNKNOWN,
	};
}

bool stacks_is_cause(enum segment_kind kind)
{
	return kind == SEGMENT_LOCK_WAIT || kind == SEGMENT_FUTEX_WAIT ||
	       kind == SEGMENT_BLOCKED || kind == SEGMENT_RUNNABLE || kind == SEGMENT_PREEMPTED;
}

/* The wait that began last; NULL: none. */
static const struct sweep_open *innermost_wait(const struct stacks *s)
{
	for (size_t i = s->sweep.nr_open; i-- > 0;) {
		enum segment_kind kind = s->sweep.open[i].s.kind;

		if (kind != SEGMENT_FUNCTION && kind != SEGMENT_REQUEST)
			return &s->sweep.open[i];
	}
	return NULL;
}

static int pass(void *arg, int64_t from_ns, int64_t to_ns)
{
	struct stacks *s = arg;
	const struct sweep_open *wait = innermost_wait(s);
	struct stacks_node *node;

	if (!wait && !sweep_function(&s->sweep))
		return 0;
	node = get_innermost(s);
	if (node && wait) {
		struct stacks_node like = { .parent = node, .is_cause = true,
					    .cause = cause_of(wait) };

		node = get_node(s, &like);
	}
	if (!node)
		return -ENOMEM;
	ticks_add(&node->self_ns, to_ns - from_ns);
	return 0;
}

/* That of the only request its thread works on. */
static void find_class(struct stacks *s, const struct sweep_open *without)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->sweep.nr_open; i++) {
		const struct sweep_open *o = &s->sweep.open[i];

		if (o->s.kind != SEGMENT_REQUEST || o == without)
			continue;
		s->class = o->text;
		nr++;
	}
	if (nr != 1)
		s->class = "";
}

static int end(void *arg, struct sweep_open *o)
{
	struct stacks *s = arg;
	struct stacks_node *node;

	if (o->s.kind == SEGMENT_REQUEST)
		find_class(s, o);
	if (o->s.kind != SEGMENT_FUNCTION)
		return 0;
	node = get_innermost(s);
	if (!node)
		return -ENOMEM;
	if (o->flag)
		s->nr_cut++;
	else if (o->s.is_truncated)
		node->nr_open++;
	else
		node->nr_calls++;
	return 0;
}

/* The class of the request that this was a part of. */
static const char *class_of(struct stacks *s, uint64_t req, int64_t tick)
{
	const struct ldb_row_reqtab *rows;
	size_t nr, lo = 0, hi;

	if (!s->m->classes)
		s->m->classes = classes_open(s->m);
	if (!s->m->classes || reader_requests(s->m->reader, &rows, &nr))
		return NULL;
	for (hi = nr; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (rows[mid].id < req || (rows[mid].id == req && rows[mid].start <= tick))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && rows[lo - 1].id == req && rows[lo - 1].end > tick)
		tick = rows[lo - 1].end;
	return classes_find(s->m->classes, req, tick);
}

bool stacks_wants(const struct stacks *s, const struct segment *g)
{
	if (g->kind == SEGMENT_FUNCTION)
		return true;
	if (g->kind == SEGMENT_REQUEST)
		return s->options.with_classes && g->has_req;
	return s->options.with_causes && stacks_is_cause(g->kind);
}

static int begin(void *arg, struct sweep_open *o)
{
	struct stacks *s = arg;
	struct stacks_cause cause;

	if (o->s.kind == SEGMENT_REQUEST) {
		o->text = class_of(s, o->s.req, o->s.start);
		if (!o->text)
			return -ENOMEM;
		find_class(s, NULL);
	} else if (o->s.kind != SEGMENT_FUNCTION) {
		cause = stacks_cause_of(&o->s);
		o->text = cause.who;
		o->nr = cause.state;
	}
	return 0;
}

void stacks_init(struct stacks *s, struct model *m, const struct stacks_options *options)
{
	*s = (struct stacks){ .m = m, .options = *options, .class = "" };
	if (!options->max_nodes)
		s->options.max_nodes = STACKS_MAX;
	s->sweep = (struct sweep){ .begin = begin, .end = end, .pass = pass, .arg = s };
}

void stacks_free(struct stacks *s)
{
	for (size_t i = 0; i < s->nr_nodes; i++)
		free(s->nodes[i]);
	free(s->nodes);
	free(s->buckets);
	sweep_free(&s->sweep);
	*s = (struct stacks){ 0 };
}

int stacks_finish(struct stacks *s)
{
	return sweep_finish(&s->sweep);
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
	return stacks_wants(s, segment) ? sweep_segment(&s->sweep, segment) : 0;
}

const char *stacks_cause_text(const struct stacks_cause *c, char *buf, size_t size)
{
	bool is_lock = c->kind == SEGMENT_LOCK_WAIT;

	if (c->kind == SEGMENT_LOCK_WAIT || c->kind == SEGMENT_FUTEX_WAIT) {
		if (c->lock_symbol && c->lock_symbol->known)
			snprintf(buf, size, "[%s %s]", is_lock ? "lock" : "futex",
				 c->lock_symbol->function);
		else
			snprintf(buf, size, "[%s 0x%" PRIx64 "]", is_lock ? "lock" : "futex", c->lock);
	} else if (c->kind == SEGMENT_BLOCKED) {
		snprintf(buf, size, "[%s]", sched_state_name(c->state));
	} else {
		snprintf(buf, size, "[%s%s%s]", c->kind == SEGMENT_PREEMPTED ? "preempted" : "runnable",
			 c->who && *c->who ? " by " : "", c->who ? c->who : "");
	}
	return buf;
}
