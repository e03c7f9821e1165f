// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the texts of a timeline's page: about the recording, and by what the slowest requests were
 * blocked, as in ldb-timeline.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "facts/ticks.h"
#include "page/timeline-private.h"
#include "render/offcpu.h"
#include "render/text.h"

#define HEAD_WIDTH	100
#define EDGES_MAX	300	/* edges of a request; only the longest are written */
#define MARKED_MAX	600	/* marked segments of a request; only the longest are marked */

/* Returns what write() prints as a string, which the caller frees; NULL: out of memory. */
static char *printed(void (*write)(const struct render *r, const void *arg), const void *arg)
{
	struct render r = { .width = HEAD_WIDTH };
	char *text = NULL;
	size_t size;

	r.out = open_memstream(&text, &size);
	if (!r.out)
		return NULL;
	write(&r, arg);
	if (fclose(r.out)) {
		free(text);
		return NULL;
	}
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	return text;
}

static void print_head(const struct render *r, const void *arg)
{
	struct render with = *r;
	const struct timeline_data *d = arg;

	with.is_kernel_only = d->m->is_kernel_only;
	text_head(&with, d->m, NULL);
}

static void print_causes(const struct render *r, const void *arg)
{
	text_explanation(r, arg);
}

static void print_interruptions(const struct render *r, const void *arg)
{
	const struct render_timeline *shown = arg;

	offcpu_interruptions(r, &shown->interruptions);
}

struct one_cause { const struct model *m; const struct timeline_cause *c; };

static void print_cause(const struct render *r, const void *arg)
{
	const struct one_cause *one = arg;

	text_cause(r, one->m, one->c);
}

static void put_printed(struct json *j, const char *key,
			void (*write)(const struct render *r, const void *arg), const void *arg)
{
	char *text = printed(write, arg);

	json_string(j, key, text ? text : "");
	free(text);
}

/* About the recording */

static void put_left_out(struct json *j, const char *what, const struct store *s)
{
	if (!s->nr_dropped)
		return;
	json_object_begin(j, NULL);
	json_string(j, "what", what);
	json_u64(j, "count", s->nr_dropped);
	json_i64(j, "up_to", s->dropped_below);
	json_object_end(j);
}

static void put_losses(struct timeline_data *d, struct json *j)
{
	struct model *m = d->m;
	char damage[1024];

	reader_damage_text(m->reader, damage, sizeof(damage));
	json_string(j, "damage", damage);
	json_u64(j, "lost", m->nr_lost);
	json_u64(j, "unobserved", m->nr_unobserved);
	json_u64(j, "gaps", m->nr_gaps);
	json_i64(j, "gap_ns", m->gap_ns);
	json_u64(j, "thread_gaps", m->nr_thread_gaps);
	json_i64(j, "thread_gap_ns", m->thread_gap_ns);
	json_i64(j, "paused_ns", m->paused_ns);
	json_u64(j, "broken", d->result.nr_broken);
	json_u64(j, "too_deep", d->nr_too_deep);
	json_u64(j, "functions_left_out", d->result.nr_left_out);
	json_i64(j, "functions_min_ns", d->result.min_ns);
	json_array_begin(j, "left_out");
	put_left_out(j, "locks, times off the CPU, interrupts and page faults", &d->others);
	put_left_out(j, "requests", &d->requests);
	put_left_out(j, "runs of tasks", &d->runs);
	put_left_out(j, "gaps", &d->gaps);
	json_array_end(j);
	/* If there are too many wake-ups or migrations, only the latest ones are in the page. */
	json_u64(j, "wakeups_left_out", d->wakeups.nr_dropped);
	json_u64(j, "migrations_left_out", d->migrations.nr_dropped);
	json_array_begin(j, "losses");
	for (size_t i = 0; i < m->nr_losses && i < TIMELINE_PAGE_GAPS; i++)
		json_i64(j, NULL, ticks_time_ns(m->reader, m->losses[i]));
	json_array_end(j);
}

void explanation_about(struct timeline_data *d, struct json *j)
{
	struct model *m = d->m;
	const char *cmdline = reader_meta(m->reader, "cmdline");
	char kernel[TEXT_ROOM];

	json_string(j, "version", LDB_VERSION);
	json_string(j, "cmdline", cmdline ? cmdline : "");
	json_u64(j, "pid", m->pid);
	json_i64(j, "duration_ns", m->duration_ns);
	if (d->o->from != INT64_MIN)
		json_i64(j, "from_ns", ticks_time_ns(m->reader, d->o->from));
	if (d->o->to != INT64_MAX)
		json_i64(j, "to_ns", ticks_time_ns(m->reader, d->o->to));
	json_u64(j, "made", m->made);
	json_u64(j, "seen", m->seen);
	page_put_segment_kinds(j);
	json_bool(j, "has_sched", m->has_sched);
	json_bool(j, "kernel_only", m->is_kernel_only);
	json_string(j, "kernel", text_kernel(m, kernel));
	json_i64(j, "sched_res_ns", m->has_sched ? sched_resolution_ns(m) : 0);
	put_printed(j, "head", print_head, d);
	json_array_begin(j, "states");
	for (unsigned i = 0; i <= SCHED_STATE_UNKNOWN; i++)
		json_string(j, NULL, sched_state_name(i));
	json_array_end(j);
	put_losses(d, j);
}

/* Writes by what the requests were blocked */

static int64_t number_of(struct timeline_data *d, const struct segment *s)
{
	return names_thread(d, s->tid, s->thread);
}

static void put_bar(struct timeline_data *d, struct json *j, const char *key,
		    const struct segment *s)
{
	if (!s)
		return;
	json_array_begin(j, key);
	json_i64(j, NULL, number_of(d, s));
	json_i64(j, NULL, s->start_ns);
	json_i64(j, NULL, s->end_ns);
	json_array_end(j);
}

/* Writes the edges of all of the request's chains: blocked thread, blocker, start, end, flags. */
static void put_edges(struct timeline_data *d, struct json *j, const struct timeline *t)
{
	json_array_begin(j, "edges");
	for (size_t i = 0; i < t->nr_edges && i < EDGES_MAX; i++) {
		const struct timeline_edge *e = &t->edges[i];

		json_i64(j, NULL, names_thread(d, e->tid, model_thread(d->m, e->tid, e->start)));
		json_i64(j, NULL, names_thread(d, e->by, model_thread(d->m, e->by, e->start)));
		json_i64(j, NULL, ticks_time_ns(d->m->reader, e->start));
		json_i64(j, NULL, ticks_time_ns(d->m->reader, e->end));
		json_u64(j, NULL, (e->is_wait ? PAGE_F_EDGE_WAIT : 0) | (e->is_held ? PAGE_F_EDGE_HELD : 0));
	}
	json_array_end(j);
	json_u64(j, "edges_left_out", t->nr_edges > EDGES_MAX ? t->nr_edges - EDGES_MAX : 0);
}

static void put_cause(struct timeline_data *d, struct json *j, const struct timeline_cause *c)
{
	struct one_cause one = { d->m, c };

	json_object_begin(j, NULL);
	json_string(j, "kind", leaf_kinds[c->kind].name);
	json_i64(j, "ns", c->ns);
	json_i64(j, "res", c->resolution_ns);
	json_u64(j, "count", c->nr);
	put_printed(j, "text", print_cause, &one);
	if (c->func)
		json_string(j, "func", c->func->function);
	if (c->in_queue)
		json_bool(j, "in_queue", true);
	put_bar(d, j, "wait", c->wait);
	put_bar(d, j, "hold", c->hold);
	put_bar(d, j, "off", c->off);
	json_object_end(j);
}

static int longer(const void *pa, const void *pb)
{
	const struct segment *a = *(const struct segment *const *)pa;
	const struct segment *b = *(const struct segment *const *)pb;
	int64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;

	return x > y ? -1 : x < y;
}

/* Writes the segments of threads that blocked the request: thread, start, end, kind, level. */
static int put_chain(struct timeline_data *d, struct json *j, const struct timeline *t)
{
	const struct segment **chain = calloc(t->nr_segments + 1, sizeof(*chain));
	size_t nr = 0;

	if (!chain)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_segments; i++)
		if (t->segments[i].blocks_req)
			chain[nr++] = &t->segments[i];
	qsort(chain, nr, sizeof(*chain), longer);
	json_array_begin(j, "chain");
	for (size_t i = 0; i < nr && i < MARKED_MAX; i++) {
		json_i64(j, NULL, number_of(d, chain[i]));
		json_i64(j, NULL, chain[i]->start_ns);
		json_i64(j, NULL, chain[i]->end_ns);
		json_i64(j, NULL, chain[i]->kind);
		json_i64(j, NULL, chain[i]->level);
	}
	json_array_end(j);
	json_u64(j, "chain_left_out", nr > MARKED_MAX ? nr - MARKED_MAX : 0);
	free(chain);
	return 0;
}

static int put_causes(struct timeline_data *d, struct json *j, const struct instance *instance)
{
	struct timeline t;
	struct render_timeline shown = { .model = d->m, .timeline = &t, .nth = 1,
		.nr_occurrences = 1, .p50_ns = requests_p50_ns(d->o->requests, instance->class) };
	int ret = timeline_build_siteless(d->m, instance, &t);
	char id[24];

	if (ret)
		return ret;
	ret = timeline_interruptions(d->m, &t, &shown.interruptions);
	if (ret) {
		timeline_free(&t);
		return ret;
	}
	json_object_begin(j, NULL);
	/* The id is a string, because JavaScript's numbers have only 53 bits. */
	snprintf(id, sizeof(id), "%" PRIu64, instance->id);
	json_string(j, "id", id);
	json_i64(j, "start", t.start_ns);
	json_i64(j, "end", t.end_ns);
	json_i64(j, "p50", shown.p50_ns);
	json_i64(j, "left_out_below", t.left_out_ns);
	put_printed(j, "text", print_causes, &shown);
	put_printed(j, "interruptions", print_interruptions, &shown);
	json_array_begin(j, "causes");
	for (size_t i = 0; i < t.nr_causes; i++)
		put_cause(d, j, &t.causes[i]);
	json_array_end(j);
	put_edges(d, j, &t);
	ret = put_chain(d, j, &t);
	json_object_end(j);
	timeline_free(&t);
	return ret;
}

int explanation_write(struct timeline_data *d, struct json *j)
{
	const struct requests *requests = d->o->requests;
	const struct instance *first = d->o->first;
	struct instance *instances = calloc(requests->nr_instances + 1, sizeof(*instances));
	uint32_t *order = NULL;
	size_t nr = 0;
	int ret = 0;

	if (!instances)
		return -ENOMEM;
	if (first)
		instances[nr++] = *first;
	for (size_t i = 0; i < requests->nr_instances; i++) {
		const struct instance *instance = &requests->instances[i];

		if (!first || instance->id != first->id || instance->start != first->start)
			instances[nr++] = *instance;
	}
	/* The page has the requests slowest first, so they are not built in order of time. */
	if (nr)
		order = timelines_begin(d->m, instances, nr);
	if (nr && !order)
		ret = -ENOMEM;
	json_array_begin(j, "stories");
	for (size_t i = 0; i < nr && !ret; i++)
		ret = put_causes(d, j, &instances[i]);
	json_array_end(j);
	timelines_end(d->m);
	free(order);
	free(instances);
	return ret;
}
