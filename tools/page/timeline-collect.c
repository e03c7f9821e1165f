// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes tables of the recording; see timeline-private.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/notes.h"
#include "facts/rows.h"
#include "facts/ticks.h"
#include "page/timeline-private.h"

#define RUNNING_MAX	8	/* running tasks of one wait; only the longest are written */

static int64_t ns_of(const struct timeline_data *d, int64_t tick)
{
	return ticks_time_ns(d->m->reader, tick);
}

/* Returns the number + 1 of the thread that had tid at that time; 0: none. */
static int64_t thread_at(struct timeline_data *d, uint32_t tid, int64_t tick)
{
	return tid ? names_thread(d, tid, model_thread(d->m, tid, tick)) + 1 : 0;
}

static int64_t cpu_of(uint32_t cpu)
{
	return cpu == CPU_UNKNOWN ? -1 : (int64_t)cpu;
}

static int on_thread(void *arg, const struct thread *t)
{
	struct timeline_data *d = arg;

	d->thread = names_thread(d, t->tid, model_thread(d->m, t->tid, t->start));
	d->nr_open = 0;
	return d->thread < 0 ? -ENOMEM : 0;
}

static int64_t flags_of(const struct segment *s)
{
	const struct segment_sched *k = s->sched;

	return (s->is_truncated ? PAGE_F_TRUNCATED : 0) | (s->is_clipped ? PAGE_F_CLIPPED : 0) |
	       (s->is_inferred ? PAGE_F_INFERRED : 0) | (s->has_failed ? PAGE_F_FAILED : 0) |
	       (k && k->is_futex_woken ? PAGE_F_FUTEX_WOKEN : 0) |
	       (k && k->has_lost ? PAGE_F_LOST : 0) | (k && k->is_throttled ? PAGE_F_THROTTLED : 0) |
	       (s->kind == SEGMENT_FAULT && s->fault->is_major ? PAGE_F_MAJOR : 0);
}

/*
 * Adds an invocation.  Its depth counts only the invocations that are in the page, which has a row
 * for each depth.
 */
static int add_function(struct timeline_data *d, const struct segment *s)
{
	int64_t call = names_call(d, s->func, s->site), end = s->end_ns;
	unsigned depth;

	while (d->nr_open && d->open_end[d->nr_open - 1] <= s->start_ns)
		d->nr_open--;
	depth = d->nr_open;
	if (depth > DEPTH_MAX) {
		d->nr_too_deep++;
		return 0;
	}
	if (depth && end > d->open_end[depth - 1])
		end = d->open_end[depth - 1];
	d->open_end[d->nr_open++] = end;
	if (depth > d->depth_max)
		d->depth_max = depth;
	return call < 0 ? -ENOMEM : store_add(&d->spans, (int64_t[]){
		d->thread, depth, s->start_ns, end - s->start_ns, call, s->resolution_ns,
		s->duration_ns - (end - s->start_ns),
		s->duration_resolution_ns - s->resolution_ns, flags_of(s) });
}

static int add_running(struct timeline_data *d, const struct segment_sched *k)
{
	size_t nr = k->nr_running < RUNNING_MAX ? k->nr_running : RUNNING_MAX;

	for (size_t i = 0; i < nr; i++) {
		int64_t context = names_context(d, &k->running[i].who);

		if (context < 0 || store_add(&d->running, (int64_t[]){ context, k->running[i].ns }))
			return -ENOMEM;
	}
	return nr;
}

static int add_other(struct timeline_data *d, const struct segment *s)
{
	static const struct segment_sched none = {
		.state = SCHED_STATE_UNKNOWN, .cpu = CPU_UNKNOWN, .from_cpu = CPU_UNKNOWN,
		.to_cpu = CPU_UNKNOWN };
	const struct segment_sched *k = s->sched ? s->sched : &none;
	bool has_name = s->lock || s->kind == SEGMENT_LOCK_WAIT || s->kind == SEGMENT_LOCK_HOLD ||
			s->kind == SEGMENT_IRQ || s->kind == SEGMENT_EVENT || k->call.name;
	int64_t lock = has_name ? names_lock(d, s) : 0;
	int64_t site = names_site(d, s->site), owner = thread_at(d, s->owner, s->start);
	int64_t waker = names_context(d, &k->waker), by = names_context(d, &k->preempted_by);
	int64_t length = s->end_ns - s->start_ns, at = d->running.nr;
	int nr = add_running(d, k);

	if (lock < 0 || site < 0 || waker < 0 || by < 0 || nr < 0)
		return -ENOMEM;
	return store_add(&d->others, (int64_t[]){
		d->thread, s->kind, s->start_ns, length, lock, site, s->resolution_ns,
		s->duration_ns - length, s->duration_resolution_ns - s->resolution_ns, owner,
		flags_of(s), k->state,
		cpu_of(s->kind == SEGMENT_IRQ ? s->irq->cpu : k->cpu), cpu_of(k->from_cpu), cpu_of(k->to_cpu),
		waker, by, nr, k->asleep_ns, at });
}

/* Adds a segment; requests and queues are added with the request instances. */
static int on_segment(void *arg, const struct segment *s)
{
	if (s->kind == SEGMENT_REQUEST || s->kind == SEGMENT_QUEUE)
		return 0;
	return s->kind == SEGMENT_FUNCTION || s->kind == SEGMENT_LIBCALL ? add_function(arg, s) : add_other(arg, s);
}

static int on_migration(void *arg, const struct sched_migration *g)
{
	struct timeline_data *d = arg;
	int64_t thread = thread_at(d, g->tid, g->tick) - 1;

	return thread < 0 ? 0 : store_add(&d->migrations, (int64_t[]){
		ns_of(d, g->tick), thread, cpu_of(g->from), cpu_of(g->to) });
}

static int on_wakeup(void *arg, const struct tracks_wakeup *w)
{
	struct timeline_data *d = arg;
	int64_t thread = names_thread(d, w->tid, w->thread), waker = names_context(d, &w->waker);

	if (thread < 0 || waker < 0)
		return -ENOMEM;
	return store_add(&d->wakeups, (int64_t[]){ ns_of(d, w->tick), thread, waker, cpu_of(w->cpu) });
}

static int on_run(void *arg, const struct tracks_run *r)
{
	struct timeline_data *d = arg;
	int64_t context = names_context(d, &r->who), start = ns_of(d, r->start);

	/* Time in which a CPU was idle is not drawn. */
	if (r->who.kind == CONTEXT_IDLE)
		return 0;
	return context < 0 ? -ENOMEM : store_add(&d->runs, (int64_t[]){
		r->cpu, context, start, ns_of(d, r->end) - start,
		(r->has_start ? 0 : PAGE_F_NO_START) | (r->has_end ? 0 : PAGE_F_NO_END) });
}

static int add_part(struct timeline_data *d, const struct instance_part *p)
{
	struct segment s = { .kind = SEGMENT_QUEUE, .lock = p->queue };
	int64_t thread = thread_at(d, p->tid, p->start), to = thread_at(d, p->to_tid, p->end);
	int64_t queue = 0, site = names_site(d, p->site ?
		symtab_lookup_call(d->m->symtab, p->site, p->end) : NULL), start = ns_of(d, p->start);

	if (p->queue) {
		s.lock_symbol = symtab_lookup_data(d->m->symtab, p->queue, p->start);
		queue = names_lock(d, &s);
	}
	if (queue < 0 || site < 0)
		return -ENOMEM;
	return store_add(&d->parts, (int64_t[]){
		d->nr_requests_seen, thread, to, start, ns_of(d, p->end) - start, queue, site,
		(p->is_queue ? PAGE_F_QUEUE : 0) | (p->is_open ? PAGE_F_OPEN : 0) });
}

/* Drops the spans of requests that were dropped. */
static void drop_parts(struct timeline_data *d)
{
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < d->parts.nr; i++) {
		int64_t *row = store_row(&d->parts, i);

		while (at < d->requests.nr && store_row(&d->requests, at)[REQUEST_SEQ] < row[0])
			at++;
		if (at < d->requests.nr && store_row(&d->requests, at)[REQUEST_SEQ] == row[0])
			memmove(store_row(&d->parts, kept++), row,
				d->parts.nr_columns * sizeof(*row));
	}
	d->parts.nr = kept;
}

/* Returns the number of a text with a request's notes; the number of such texts is limited. */
static int64_t noted_of(struct timeline_data *d, const struct instance *instance)
{
	const struct note *found[NOTES_KEYS_MAX];
	size_t nr = notes_of(d->m, instance->id, instance->start, instance->end, found);
	char text[NOTES_ROOM];

	if (nr && d->nr_noted++ >= TIMELINE_PAGE_NOTES)
		return names_string(d, "(not in this page: too many requests have notes)");
	return names_string(d, notes_text(found, nr, text, sizeof(text)));
}

static int on_request(void *arg, const struct instance *instance)
{
	struct timeline_data *d = arg;
	int64_t start = ns_of(d, instance->start), length = ns_of(d, instance->end) - start;
	int64_t class = names_string(d, instance->class), notes = noted_of(d, instance);

	if (class < 0 || notes < 0)
		return -ENOMEM;
	if (d->requests.nr >= 2 * d->requests.max) {
		if (store_prune(&d->requests))
			return -ENOMEM;
		drop_parts(d);
	}
	if (store_add(&d->requests, (int64_t[]){
		d->nr_requests_seen, start, length, class,
		(instance->is_complete ? PAGE_F_COMPLETE : 0) |
		(instance->has_lost_handoff ? PAGE_F_LOST_HANDOFF : 0),
		instance->id >> 32, instance->id & UINT32_MAX, notes }))
		return -ENOMEM;
	for (size_t i = 0; i < instance->nr_parts; i++)
		if (add_part(d, &instance->parts[i]))
			return -ENOMEM;
	d->nr_requests_seen++;
	return 0;
}

static int on_gap(void *arg, const struct thread_interval *g)
{
	struct timeline_data *d = arg;
	int64_t start = ns_of(d, g->start), end = ns_of(d, g->end);

	return end <= start ? 0 :
	       store_add(&d->gaps, (int64_t[]){ thread_at(d, g->tid, g->start), start, end - start });
}

/*
 * Sorts invocations by thread and depth.  Those with the same thread and depth are a track, in
 * which they do not overlap.
 */
static int sort_spans(struct timeline_data *d)
{
	size_t nr_depths = d->depth_max + 1, nr_tracks = d->threads.nr * nr_depths, at = 0;
	size_t *first = calloc(nr_tracks + 1, sizeof(*first));
	unsigned nr_columns = d->spans.nr_columns;
	int64_t *rows = malloc((d->spans.nr + 1) * nr_columns * sizeof(*rows));

	if (!first || !rows) {
		free(first);
		free(rows);
		return -ENOMEM;
	}
	for (size_t i = 0; i < d->spans.nr; i++) {
		const int64_t *row = store_row(&d->spans, i);

		first[row[SPAN_THREAD] * nr_depths + row[SPAN_DEPTH]]++;
	}
	for (size_t i = 0; i < nr_tracks; i++) {
		size_t count = first[i];

		if (count && store_add(&d->tracks, (int64_t[]){
			i / nr_depths, i % nr_depths, count })) {
			free(first);
			free(rows);
			return -ENOMEM;
		}
		first[i] = at;
		at += count;
	}
	for (size_t i = 0; i < d->spans.nr; i++) {
		const int64_t *row = store_row(&d->spans, i);

		memcpy(rows + first[row[SPAN_THREAD] * nr_depths + row[SPAN_DEPTH]]++ * nr_columns, row,
		       nr_columns * sizeof(*row));
	}
	free(first);
	free(d->spans.rows);
	d->spans.rows = rows;
	return 0;
}

/*
 * The tables of the page.  If a table has a limit, the rows with the greatest values in the column
 * number `weight` remain.
 */
static const struct table {
	const char *id;
	size_t offset;			/* in struct timeline_data */
	const char *columns;
	unsigned weight;
	size_t max;			/* 0: no limit */
} tables[] = {
#define TABLE(name)	#name, offsetof(struct timeline_data, name)
	{ TABLE(spans), "thread- depth- start+ length call res extra dres flags", 0, 0 },
	{ TABLE(tracks), "thread+ depth+ count", 0, 0 },
	{ TABLE(others), "thread+ kind start+ length lock site res extra dres owner flags state cpu from to"
			 " waker by running asleep running_at+", 3, TIMELINE_PAGE_OTHERS },
	{ TABLE(running), "context ns", 0, 0 },
	{ TABLE(runs), "cpu context start+ length flags", 3, TIMELINE_PAGE_RUNS },
	{ TABLE(wakeups), "at+ thread waker cpu", 0, TIMELINE_PAGE_RUNS },
	{ TABLE(migrations), "at+ thread from to", 0, TIMELINE_PAGE_RUNS },
	{ TABLE(requests), "seq+ start+ length class flags id_high+ id_low+ notes", REQUEST_LENGTH,
	  TIMELINE_PAGE_REQUESTS },
	{ TABLE(parts), "seq+ thread to_thread start+ length queue site flags", 0, 0 },
	{ TABLE(gaps), "thread+ start+ length", 2, TIMELINE_PAGE_GAPS },
#undef TABLE
};

#define NR_TABLES	(sizeof(tables) / sizeof(tables[0]))

static struct store *store_of(struct timeline_data *d, const struct table *t)
{
	return (struct store *)((char *)d + t->offset);
}

static void init_stores(struct timeline_data *d)
{
	for (const struct table *t = tables; t < tables + NR_TABLES; t++) {
		store_init(store_of(d, t), t->columns);
		if (t->max)
			store_limit(store_of(d, t), t->weight, t->max);
	}
}

static int prune(struct timeline_data *d)
{
	for (const struct table *t = tables; t < tables + NR_TABLES; t++)
		if (store_prune(store_of(d, t)))
			return -ENOMEM;
	drop_parts(d);
	return 0;
}

int collect_write(struct timeline_data *d, struct page *p)
{
	int ret = 0;

	for (const struct table *t = tables; t < tables + NR_TABLES && !ret; t++)
		ret = store_write(store_of(d, t), p, t->id);
	return ret;
}

int collect(struct timeline_data *d)
{
	struct tracks_options options = TRACKS_OPTIONS_ALL;
	struct reader_filter gaps = ROWS_WITHIN(d->o->from, d->o->to);
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .migration = on_migration,
		.wakeup = on_wakeup, .run = on_run, .request = on_request, .arg = d,
	};
	int ret = names_init(d);

	init_stores(d);
	options.from = d->o->from;
	options.to = d->o->to;
	options.with_irqs = options.with_faults = options.with_calls = true;
	options.with_marks = true;
	options.max_functions = d->o->max_functions ? d->o->max_functions : TIMELINE_PAGE_FUNCTIONS;
	/* Each thread has a row, even if it has no segments. */
	for (size_t i = 0; i < d->m->nr_threads && !ret; i++)
		if (names_thread(d, d->m->threads[i].tid, &d->m->threads[i]) < 0)
			ret = -ENOMEM;
	if (!ret)
		ret = tracks_each(d->m, &options, &sink, &d->result);
	if (!ret)
		ret = gaps_each(d->m->reader, &gaps, on_gap, d);
	if (!ret)
		ret = prune(d);
	return ret ? ret : sort_spans(d);
}

void collect_free(struct timeline_data *d)
{
	for (const struct table *t = tables; t < tables + NR_TABLES; t++)
		store_free(store_of(d, t));
	names_free(d);
}
