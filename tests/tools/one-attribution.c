// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks that a trace has one attribution: each of its slowest requests must have the same time in
 * the same state and stack, to the nanosecond, in all outputs.
 *
 *	one-attribution FILE
 *
 * The partition of the whole trace, which ldb-why shows, is compared with the causes of the
 * request's timeline, with folded stacks, pprof and speedscope (--req, --causes), and with the
 * flame graph of ldb-report's page.
 *
 * Where libraries' calls were recorded, the times of states are compared and not the stacks: the
 * partition has these calls as leaves, and the others as frames.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/partition/partition.h"
#include "analysis/report/requests.h"
#include "base/array.h"
#include "base/sort.h"
#include "export/export.h"
#include "export/walk.h"
/* The page has a struct request of its own. */
#define request page_request
#include "page/report-private.h"
#include "partition-file.h"
#undef request

#define NR_REQUESTS	40
#define SHOWN_MAX	8	/* differences of one request that are printed */
#define DEPTH_MAX	64	/* partition-private.h: PATH_DEPTH_MAX */

/* Times by "STATE STACK", of one request and output. */
struct sums {
	struct sum {
		char *key;
		int64_t ns;
	} *at;
	size_t nr, room;
	bool no_stacks;
};

static int sum_compare(const void *a, const void *b)
{
	return strcmp(((const struct sum *)a)->key, ((const struct sum *)b)->key);
}

static void add(struct sums *s, enum leaf_kind kind, const char *stack, int64_t ns)
{
	char *key;

	if (!ns)
		return;
	if (s->no_stacks && kind == LEAF_LIBCALL)
		kind = LEAF_FUNCTION;
	if (asprintf(&key, "%s %s", leaf_kinds[kind].name, s->no_stacks ? "" : stack) < 0 ||
	    array_push(s->at, s->nr, s->room, { key, ns }))
		exit(2);
}

static void merge(struct sums *s)
{
	size_t nr = 0;

	sort_by(s->at, s->nr, sum_compare);
	for (size_t i = 0; i < s->nr; i++) {
		if (nr && !strcmp(s->at[nr - 1].key, s->at[i].key)) {
			s->at[nr - 1].ns += s->at[i].ns;
			free(s->at[i].key);
		} else {
			s->at[nr++] = s->at[i];
		}
	}
	s->nr = nr;
}

static void clear(struct sums *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->at[i].key);
	free(s->at);
	*s = (struct sums){ .no_stacks = s->no_stacks };
}

/* Prints what differs; the sums are merged. */
static bool same(uint64_t req, const char *output, struct sums *want, struct sums *got)
{
	unsigned nr = 0;

	merge(got);
	for (size_t i = 0, k = 0; i < want->nr || k < got->nr;) {
		int order = i == want->nr ? 1 : k == got->nr ? -1 : strcmp(want->at[i].key, got->at[k].key);
		int64_t in_want = order <= 0 ? want->at[i].ns : 0, in_got = order >= 0 ? got->at[k].ns : 0;

		if (in_want != in_got && nr++ < SHOWN_MAX)
			printf("request %" PRIu64 ": %s: %" PRId64 " in the partition, %" PRId64 " in %s\n", req,
			       order <= 0 ? want->at[i].key : got->at[k].key, in_want, in_got, output);
		i += order <= 0;
		k += order >= 0;
	}
	return !nr;
}

/* The partition */

static bool is_in_queue(const struct partition *p, uint32_t path)
{
	for (; path; path = p->paths[path].parent)
		if (path_is_queue(&p->paths[path]))
			return true;
	return false;
}

/* Returns true if it is time of the request's own threads, of which something is known. */
static bool is_own(const struct partition *p, const struct leaf *l)
{
	return (l->kind < LEAF_QUEUE || l->kind == LEAF_LIBCALL) && !is_in_queue(p, l->path);
}

static bool has_libcalls(const struct partition *p, const struct request *r)
{
	for (uint32_t i = 0; i < r->nr_shares; i++)
		if (p->leaves[p->shares[r->first + i].leaf].kind == LEAF_LIBCALL)
			return true;
	return false;
}

static void of_partition(const struct partition *p, const struct request *r, struct sums *sums)
{
	char text[16384];

	for (uint32_t i = 0; i < r->nr_shares; i++) {
		const struct share *s = &p->shares[r->first + i];
		const struct leaf *l = &p->leaves[s->leaf];

		if (is_own(p, l))
			add(sums, l->kind, path_text(p, l->path, text, sizeof(text)), s->ns);
	}
	merge(sums);
}

/* Folded stacks and pprof */

static size_t put_stack(const struct stacks_node *n, char *text, size_t size)
{
	size_t at = n->parent && n->parent->func ? put_stack(n->parent, text, size) : 0;

	if (at < size)
		at += snprintf(text + at, size - at, "%s%s", at ? ";" : "", n->func->function);
	return at;
}

static void of_stacks(struct model *m, const struct export_options *o, bool is_pprof, struct sums *sums)
{
	struct stacks_options options = {
		.with_causes = true, .with_sites = is_pprof, .with_classes = is_pprof,
	};
	struct stacks s;

	stacks_init(&s, m, &options);
	if (stacks_walk(&s, m, o))
		exit(2);
	for (size_t i = 0; i < s.nr_nodes; i++) {
		const struct stacks_node *n = s.nodes[i], *in = n->is_cause ? n->parent : n;
		char text[16384] = "";

		if (in->func)
			put_stack(in, text, sizeof(text));
		if (n->is_cause || n->func)
			add(sums, n->is_cause ? n->cause.kind : LEAF_FUNCTION, text, n->self_ns);
	}
	stacks_free(&s);
}

/* Speedscope: what it wrote is read again. */

static enum leaf_kind kind_of(const char *name)
{
	static const struct {
		const char *start;
		enum leaf_kind kind;
	} kinds[] = {
		{ "[lock ", LEAF_LOCK }, { "[futex ", LEAF_FUTEX }, { "[disk", LEAF_IO },
		{ "[runnable", LEAF_RUNNABLE }, { "[preempted", LEAF_PREEMPTED },
		{ "[throttled", LEAF_THROTTLED }, { "[stolen", LEAF_STOLEN }, { "[irq", LEAF_IRQ },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(name, kinds[i].start, strlen(kinds[i].start)))
			return kinds[i].kind;
	return *name == '[' ? LEAF_SLEEP : LEAF_FUNCTION;
}

struct read {
	char **names;		/* of frames */
	size_t nr, room;
	unsigned open[4096], depth;
	int64_t since;
};

static void read_names(struct read *r, const char *text)
{
	const char *at = strstr(text, "\"frames\": [");

	while (at && (at = strstr(at, "{\"name\": \""))) {
		const char *end = at += strlen("{\"name\": \"");

		while (*end && (*end != '"' || end[-1] == '\\'))
			end++;
		if (array_push(r->names, r->nr, r->room, strndup(at, end - at)))
			exit(2);
	}
}

static void spend(const struct read *r, int64_t to, struct sums *sums)
{
	char text[16384] = "";
	enum leaf_kind kind = LEAF_FUNCTION;
	size_t at = 0;

	for (unsigned i = 0; i < r->depth && at < sizeof(text); i++) {
		const char *name = r->names[r->open[i]];

		kind = kind_of(name);
		if (kind == LEAF_FUNCTION)
			at += snprintf(text + at, sizeof(text) - at, "%s%s", at ? ";" : "", name);
	}
	if (r->depth)
		add(sums, kind, text, to - r->since);
}

static void of_speedscope(struct model *m, const struct export_options *o, struct sums *sums)
{
	struct read r = { 0 };
	char *text = NULL, type, err[256];
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned frame;
	int64_t tick;

	/* -ENODATA: it says that there was nothing to write. */
	if (!out || (export_speedscope(m, o, out, err, sizeof(err)), fclose(out)))
		exit(2);
	read_names(&r, text);
	for (const char *at = text; (at = strstr(at, "{\"type\": \"")); at++) {
		if (sscanf(at, "{\"type\": \"%c\", \"frame\": %u, \"at\": %" SCNd64, &type, &frame, &tick) != 3)
			continue;
		if (r.since < tick)
			spend(&r, tick, sums);
		r.since = tick;
		if (type == 'O' && r.depth < 4096)
			r.open[r.depth++] = frame;
		else if (type == 'C' && r.depth)
			r.depth--;
	}
	for (size_t i = 0; i < r.nr; i++)
		free(r.names[i]);
	free(r.names);
	free(text);
}

/*
 * The causes of the timeline have no stacks: functions, labels and whether it was in a queue are
 * compared.
 */

static void add_cause(struct sums *sums, enum leaf_kind kind, const struct symbol *func, const char *label,
		      bool in_queue, int64_t ns)
{
	char text[16384];

	snprintf(text, sizeof(text), "%s, %s%s", func ? func->function : "",
		 strcmp(label, PARTITION_UNOBSERVED) ? label : "", in_queue ? ", in a queue" : "");
	add(sums, kind, text, ns);
}

static void of_leaves(const struct partition *p, const struct request *r, struct sums *sums)
{
	for (uint32_t i = 0; i < r->nr_shares; i++) {
		const struct share *s = &p->shares[r->first + i];
		const struct leaf *l = &p->leaves[s->leaf];
		bool in_place = l->kind == LEAF_FUNCTION || l->kind == LEAF_SLEEP || l->kind == LEAF_IO;

		add_cause(sums, l->kind, in_place ? p->paths[l->path].func : NULL, l->label,
			  is_in_queue(p, l->path), s->ns);
	}
	merge(sums);
}

static void of_timeline(struct model *m, const struct instance *instance, struct sums *sums)
{
	struct timeline t;

	if (timeline_build(m, instance, &t))
		exit(2);
	for (size_t i = 0; i < t.nr_causes; i++) {
		const struct timeline_cause *c = &t.causes[i];

		add_cause(sums, c->kind, c->func, c->label, c->in_queue, c->ns);
	}
	timeline_free(&t);
}

/*
 * The page: its flame graph has times by stack and class of the request; here each request has a
 * class of its own.
 */
static int on_thread(void *arg, const struct thread *t)
{
	(void)t;
	return flame_finish(arg);
}

static void make_flame(struct report *r)
{
	struct tracks_options options = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = { .thread = on_thread, .segment = flame_segment, .arg = &r->flame };
	struct tracks_result result;

	options.with_irqs = true;
	bins_init(&r->bins, r->m, r->o->from, r->o->to);
	r->instances.is_each = true;
	flame_init(&r->flame, r->m, &r->bins, &r->instances, &r->coarse, &r->request_coarse);
	if (report_requests_read(r))
		exit(2);
	for (size_t i = 0; i < r->instances.nr; i++)
		r->instances.at[i].class = i;
	if (tracks_each(r->m, &options, &sink, &result) || flame_finish(&r->flame))
		exit(2);
}

static size_t put_frames(const struct flame *f, const struct flame_node *n, char *text, size_t size)
{
	const char *name = intern_key(&f->names, n->name);
	size_t at = n->parent ? put_frames(f, &f->nodes[n->parent], text, size) : 0;

	if (n->kind == LEAF_FUNCTION && *name != '(' && at < size)
		at += snprintf(text + at, size - at, "%s%s", at ? ";" : "", name);
	return at;
}

static void of_page(const struct report *r, const struct instance *instance, struct sums *sums)
{
	const struct flame *f = &r->flame;
	const struct page_request *q = report_request(&r->instances, instance->id, instance->start, instance->start);

	for (size_t i = 0; q && i < f->by_request.nr; i++) {
		const struct cell *c = &f->by_request.cells[i];
		const struct flame_node *n = &f->nodes[c->key];
		char text[16384] = "";

		if (!c->place.is_any || c->place.class != q->class || n->kind == LEAF_QUEUE)
			continue;
		put_frames(f, n, text, sizeof(text));
		if (n->kind != LEAF_FUNCTION || *text)
			add(sums, n->kind, text, c->sum);
	}
}

static const struct request *request_of(const struct partition *p, const struct instance *instance)
{
	for (size_t r = 0; r < p->nr_requests; r++)
		if (p->requests[r].id == instance->id && p->requests[r].start == instance->start)
			return &p->requests[r];
	return NULL;
}

static bool check(const struct partition *p, const struct instance *instance, const struct report *page)
{
	const struct request *r = request_of(p, instance);
	struct export_result result = { 0 };
	struct export_options o = {
		.from = instance->start, .to = instance->end, .has_instances = true, .instances = instance,
			.nr_instances = 1,
		.with_causes = true, .result = &result,
	};
	struct sums want = { 0 }, got = { 0 };
	bool ok = true;

	if (!r) {
		printf("request %" PRIu64 ": not in the partition\n", instance->id);
		return false;
	}
	want.no_stacks = got.no_stacks = has_libcalls(p, r);
	of_partition(p, r, &want);
	of_stacks(p->m, &o, false, &got);
	ok &= same(instance->id, "folded", &want, &got);
	clear(&got);
	of_stacks(p->m, &o, true, &got);
	ok &= same(instance->id, "pprof", &want, &got);
	clear(&got);
	of_speedscope(p->m, &o, &got);
	ok &= same(instance->id, "speedscope", &want, &got);
	clear(&got);
	of_page(page, instance, &got);
	ok &= same(instance->id, "page", &want, &got);
	clear(&got);
	clear(&want);
	want.no_stacks = got.no_stacks = false;
	of_leaves(p, r, &want);
	of_timeline(p->m, instance, &got);
	ok &= same(instance->id, "timeline", &want, &got);
	clear(&got);
	clear(&want);
	return ok;
}

static int check_all(const struct partition *p)
{
	struct report_options report_options = { .from = INT64_MIN, .to = INT64_MAX };
	struct report page = { .m = p->m, .o = &report_options };
	struct requests_options options = REQUESTS_OPTIONS_ALL;
	struct requests slowest;
	size_t nr_wrong = 0;

	options.nr_slowest = NR_REQUESTS;
	if (requests_build(p->m, &options, &slowest))
		return 2;
	make_flame(&page);
	for (size_t i = 0; i < slowest.nr_instances; i++)
		nr_wrong += !check(p, &slowest.instances[i], &page);
	printf("%zu requests, %zu not the same\n", slowest.nr_instances, nr_wrong);
	flame_free(&page.flame);
	report_requests_free(&page.instances);
	requests_free(&slowest);
	return nr_wrong != 0;
}

static int fail(const char *text)
{
	fprintf(stderr, "one-attribution: %s\n", text);
	return 2;
}

int main(int argc, char **argv)
{
	struct partition_file f;
	int status;

	if (argc < 2)
		return fail("usage: one-attribution FILE");
	if (!partition_file_open(&f, argv[1], "one-attribution"))
		return 2;
	status = check_all(&f.p);
	partition_file_close(&f);
	return status;
}
