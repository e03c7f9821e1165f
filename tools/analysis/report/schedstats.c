// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes statistics of the kernel events; see schedstats.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "facts/tasks.h"
#include "facts/ticks.h"
#include "schedstats.h"
#include "stats.h"

struct entry_build {
	struct sched_entry e;
	struct dist delays, wakeups;
	bool is_selected;
	bool is_over;		/* the tid belongs to another thread now */
};

struct builder {
	struct model *m;
	const struct schedstats_options *options;
	struct dist_pool pool;
	struct keyed entries;			/* struct entry_build, by tid */
	struct keyed antagonists, wakers;	/* struct sched_context, by tid and name, or kind */
};

static struct entry_build *get_entry(struct builder *b, uint32_t tid, int64_t tick)
{
	uint64_t hash = hash_mix(0, tid);
	struct entry_build *e;

	keyed_each(&b->entries, hash, e)
		if (e->e.tid == tid && !e->is_over)
			return e;
	e = keyed_add(&b->entries, hash, sizeof(*e));
	if (!e)
		return NULL;
	e->e.tid = tid;
	e->e.thread = model_thread(b->m, tid, tick);
	e->e.self = (struct context){ .kind = CONTEXT_TASK, .tid = tid };
	context_identify(b->m, &e->e.self, INT64_MAX);
	e->e.is_ldb = tasks_is_ldb(b->m, tid);
	e->is_selected = model_thread_matches(b->options->thread, tid, e->e.thread);
	dist_init(&e->delays, &b->pool);
	dist_init(&e->wakeups, &b->pool);
	return e;
}

static struct sched_context *get_context(struct keyed *list, const struct context *who)
{
	struct context key = *who;
	struct sched_context *p;
	uint64_t hash;

	if (list->nr >= SCHEDSTATS_CONTEXTS_MAX)
		key = (struct context){ .kind = CONTEXT_NONE, .name = "" };
	hash = key.kind == CONTEXT_NONE ? 0 : hash_mix(key.kind, key.tid);
	keyed_each(list, hash, p)
		/* A task with another name may have the same tid later. */
		if (context_is(&p->who, &key) && !strcmp(p->who.name, key.name))
			return p;
	p = keyed_add(list, hash, sizeof(*p));
	if (p)
		p->who = key;
	return p;
}

static int add_context(struct builder *b, struct keyed *list, const struct context *from,
		     int64_t tick, int64_t ns)
{
	struct context who = *from;
	struct sched_context *p;

	context_identify(b->m, &who, tick);
	p = get_context(list, &who);
	if (!p)
		return -ENOMEM;
	p->count++;
	ticks_add(&p->total_ns, ns);
	p->max_ns = max(p->max_ns, ns);
	return 0;
}

/* A wait is counted once for each task that ran on the CPU during the wait. */
static int add_antagonists(struct builder *b, const struct sched_off *off)
{
	int ret = 0;

	for (unsigned i = 0; i < off->nr_spans && !ret; i++) {
		const struct sched_span *span = &off->spans[i];
		struct context who = { .kind = span->kind, .tid = span->tid };
		int64_t ticks = 0;
		bool is_first = true;

		for (unsigned k = 0; k < off->nr_spans; k++) {
			const struct sched_span *other = &off->spans[k];

			if (other->kind != span->kind || other->tid != span->tid)
				continue;
			is_first &= k >= i;
			ticks_add(&ticks, other->end - other->start);
		}
		if (is_first)
			ret = add_context(b, &b->antagonists, &who, span->start,
					ticks_ns(b->m->reader, ticks));
	}
	return ret;
}

static int64_t between(const struct builder *b, int64_t start, int64_t end)
{
	start = max(start, b->options->from);
	end = min(end, b->options->to);
	return end > start ? ticks_ns(b->m->reader, end - start) : 0;
}

static int add_delay(struct builder *b, struct entry_build *e, const struct sched_off *off)
{
	int64_t ns = ticks_ns(b->m->reader, off->in - off->woken);
	int ret = 0;

	ticks_add(off->is_preempted ? &e->e.preempted_ns : &e->e.runnable_ns,
		  between(b, off->woken, off->in));
	/* Distributions are of waits that were observed from start to end. */
	if (off->has_out && off->has_in && off->has_woken) {
		ret = dist_add(&e->delays, ns);
		if (!ret && !off->is_preempted)
			ret = dist_add(&e->wakeups, ns);
	}
	return ret || e->e.is_ldb ? ret : add_antagonists(b, off);
}

static int on_off(void *arg, const struct sched_off *off)
{
	struct builder *b = arg;
	struct entry_build *e = get_entry(b, off->tid, off->out);
	int64_t asleep = between(b, off->out, off->woken);
	int ret = 0;

	if (!e)
		return -ENOMEM;
	if (!e->is_selected)
		return 0;
	if (off->has_out && !off->is_new) {
		e->e.voluntary += !off->is_preempted;
		e->e.involuntary += off->is_preempted;
	}
	e->e.has_lost += off->has_lost;
	/*
	 * If neither the start of the interval nor the wake-up is known, the thread may have waited
	 * for a CPU or slept.
	 */
	if (off->woken > off->out && (off->has_out || off->has_woken)) {
		ticks_add(&e->e.blocked_ns, asleep);
		if (off->state == LDB_STATE_DISK)
			ticks_add(&e->e.disk_ns, asleep);
		if (off->nr_futexes)
			ticks_add(&e->e.futex_ns, asleep);
	}
	if (off->has_woken && !off->is_preempted && !off->is_new && !e->e.is_ldb)
		ret = add_context(b, &b->wakers, &off->waker, off->woken,
				ticks_ns(b->m->reader, off->woken - off->out));
	/* If the wake-up is not known, the thread may have slept all of the time. */
	return ret || !off->has_woken ? ret : add_delay(b, e, off);
}

static int on_run(void *arg, const struct sched_run *run)
{
	struct builder *b = arg;
	struct entry_build *e = get_entry(b, run->tid, run->start);
	int64_t start = run->start;

	if (!e)
		return -ENOMEM;
	/* A run whose start is not known began, at the earliest, when the thread started. */
	if (!run->has_start && e->e.thread && e->e.thread->start > start)
		start = e->e.thread->start;
	if (e->is_selected)
		ticks_add(&e->e.on_cpu_ns, between(b, start, run->end));
	return 0;
}

static int on_migration(void *arg, const struct sched_migration *migration)
{
	struct builder *b = arg;
	struct entry_build *e = get_entry(b, migration->tid, migration->tick);

	if (!e)
		return -ENOMEM;
	e->e.migrations += e->is_selected;
	return 0;
}

static int on_born(void *arg, uint32_t tid, int64_t tick)
{
	struct builder *b = arg;
	struct entry_build *e;

	keyed_each(&b->entries, hash_mix(0, tid), e)
		e->is_over |= e->e.tid == tid;
	return 0;
}

COMPARE(compare_total_ns, struct sched_entry, UP(is_ldb) DOWN(delays.total_ns) UP(tid))

COMPARE(context_compare, struct sched_context, DOWN(total_ns) UP(who.tid))

static void add_entry(struct sched_entry *to, const struct sched_entry *e)
{
	ticks_add(&to->on_cpu_ns, e->on_cpu_ns);
	ticks_add(&to->runnable_ns, e->runnable_ns);
	ticks_add(&to->preempted_ns, e->preempted_ns);
	ticks_add(&to->blocked_ns, e->blocked_ns);
	ticks_add(&to->disk_ns, e->disk_ns);
	ticks_add(&to->futex_ns, e->futex_ns);
	to->voluntary += e->voluntary;
	to->involuntary += e->involuntary;
	to->migrations += e->migrations;
	to->has_lost += e->has_lost;
}

/* Threads may have the same tid one after the other; each has its own entry. */
static int count_interruptions(struct builder *b, struct schedstats *s)
{
	struct interruptions_part *parts = calloc(s->nr + 1, sizeof(*parts));
	int ret;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		struct sched_entry *e = &s->entries[i];
		int64_t start = e->thread ? e->thread->start : INT64_MIN;
		int64_t end = e->thread && e->thread->has_exited ? e->thread->end : INT64_MAX;

		parts[i] = (struct interruptions_part){
			e->tid, max(start, b->options->from),
			end < b->options->to ? end : b->options->to, &e->interruptions,
		};
	}
	ret = interruptions_count(b->m, parts, s->nr);
	free(parts);
	for (size_t i = 0; i < s->nr; i++) {
		const struct interruptions *h = &s->entries[i].interruptions;

		if (s->entries[i].is_ldb)
			continue;
		s->all.interruptions.nr_faults += h->nr_faults;
		s->all.interruptions.nr_major += h->nr_major;
		s->all.interruptions.nr_irqs += h->nr_irqs;
		ticks_add(&s->all.interruptions.irq_ns, h->irq_ns);
	}
	return ret;
}

static int fill_entries(struct builder *b, struct schedstats *s)
{
	struct dist delays, wakeups;
	int ret = 0;

	s->entries = calloc(b->entries.nr + 1, sizeof(*s->entries));
	if (!s->entries)
		return -ENOMEM;
	dist_init(&delays, &b->pool);
	dist_init(&wakeups, &b->pool);
	for (size_t i = b->entries.nr; i-- && !ret;) {
		struct entry_build *e = b->entries.at[i];

		if (!e->is_selected)
			continue;
		e->e.delays = dist_times(&e->delays);
		e->e.wakeups = dist_times(&e->wakeups);
		s->entries[s->nr++] = e->e;
		if (e->e.is_ldb)
			continue;
		add_entry(&s->all, &e->e);
		ret = dist_merge(&delays, &e->delays);
		if (!ret)
			ret = dist_merge(&wakeups, &e->wakeups);
	}
	s->all.delays = dist_times(&delays);
	s->all.wakeups = dist_times(&wakeups);
	dist_free(&delays);
	dist_free(&wakeups);
	sort_by(s->entries, s->nr, compare_total_ns);
	return ret;
}

static int fill_contexts(const struct keyed *list, struct sched_context **out, size_t *nr)
{
	*out = calloc(list->nr + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = list->nr; i--;)
		(*out)[(*nr)++] = *(const struct sched_context *)list->at[i];
	sort_by(*out, *nr, context_compare);
	return 0;
}

static void free_builder(struct builder *b)
{
	for (size_t i = 0; i < b->entries.nr; i++) {
		struct entry_build *e = b->entries.at[i];

		dist_free(&e->delays);
		dist_free(&e->wakeups);
	}
	keyed_free(&b->entries);
	keyed_free(&b->antagonists);
	keyed_free(&b->wakers);
}

int schedstats_build(struct model *m, const struct schedstats_options *options,
		     struct schedstats *s)
{
	struct builder b = { .m = m, .options = options };
	struct sched_sink sink = {
		.off = on_off, .run = on_run, .migration = on_migration, .born = on_born, .arg = &b,
	};
	int ret;

	*s = (struct schedstats){ .resolution_ns = sched_resolution_ns(m) };
	ret = sched_each(m, options->from, options->to, &sink, &s->result);
	if (!ret)
		ret = fill_entries(&b, s);
	if (!ret)
		ret = count_interruptions(&b, s);
	if (!ret)
		ret = fill_contexts(&b.antagonists, &s->antagonists, &s->nr_antagonists);
	if (!ret)
		ret = fill_contexts(&b.wakers, &s->wakers, &s->nr_wakers);
	free_builder(&b);
	if (ret)
		schedstats_free(s);
	return ret;
}

void schedstats_free(struct schedstats *s)
{
	free(s->entries);
	free(s->antagonists);
	free(s->wakers);
	*s = (struct schedstats){ 0 };
}

static int compare_by(const void *pa, const void *pb, void *offset)
{
	const struct sched_entry *a = pa, *b = pb;

	if (a->is_ldb != b->is_ldb)
		return a->is_ldb ? 1 : -1;
	return dist_times_compare(&a->delays, &b->delays, *(const int *)offset);
}

int schedstats_sort(struct schedstats *s, const char *key)
{
	int offset = dist_times_offset(key, 999);

	if (!strcmp(key, "total"))
		sort_by(s->entries, s->nr, compare_total_ns);
	else if (offset >= 0 && s->nr)
		qsort_r(s->entries, s->nr, sizeof(*s->entries), compare_by, &offset);
	return offset < 0 ? -EINVAL : 0;
}
