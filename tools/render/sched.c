// SPDX-License-Identifier: GPL-2.0-or-later
/* The report on the kernel events, in all formats. */
#include <inttypes.h>
#include <string.h>

#include "facts/sched.h"
#include "cli/csv.h"
#include "cli/document.h"
#include "cli/units.h"
#include "render/offcpu.h"
#include "render/text.h"
#include "render/wrap.h"

static int name_columns(const struct render *r)
{
	return r->width >= 90 ? 26 : 20;
}

static void put_ns(const struct render *r, int64_t ns)
{
	char buf[UNITS_ROOM];

	fprintf(r->out, " %8s", text_ns(ns, buf));
}

static void put_name(const struct render *r, const struct model *m, const struct sched_entry *e)
{
	char name[TEXT_ROOM], fit[TEXT_ROOM];

	if (!e->tid)
		snprintf(name, sizeof(name), "all threads");
	else if (e->thread)
		text_thread(e->tid, e->thread, name);
	else
		text_party(m, &e->self, name);
	text_cell(r, wrap_numbered(name, name_columns(r), fit), name_columns(r), true);
}

static void put_states(const struct render *r, const struct model *m, const struct sched_entry *e)
{
	put_name(r, m, e);
	put_ns(r, e->on_cpu_ns);
	put_ns(r, e->runnable_ns);
	put_ns(r, e->preempted_ns);
	put_ns(r, e->blocked_ns);
	if (r->width >= 110) {
		put_ns(r, e->disk_ns);
		put_ns(r, e->futex_ns);
	}
	text_count(r, e->voluntary);
	text_count(r, e->involuntary);
	text_count(r, e->migrations);
	fputs(e->is_ldb ? "  *\n" : "\n", r->out);
}

static void put_times(const struct render *r, const struct dist_times *t)
{
	text_count(r, t->count);
	put_ns(r, t->p50_ns);
	put_ns(r, t->p99_ns);
	if (r->width >= 90)
		put_ns(r, t->p999_ns);
	put_ns(r, t->max_ns);
	put_ns(r, t->total_ns);
	fputc('\n', r->out);
}

static void put_delays(const struct render *r, const struct model *m, const struct sched_entry *e)
{
	if (!e->delays.count || e->is_ldb)
		return;
	put_name(r, m, e);
	put_times(r, &e->delays);
	if (!e->wakeups.count || e->wakeups.count == e->delays.count)
		return;
	text_style(r, TEXT_DIM);
	text_cell(r, "    after a wake-up", name_columns(r), true);
	put_times(r, &e->wakeups);
	text_style(r, TEXT_PLAIN);
}

static void put_hits(const struct render *r, const struct model *m, const struct sched_entry *e)
{
	const struct hits *h = &e->hits;

	if (!h->nr_faults && !h->nr_irqs)
		return;
	put_name(r, m, e);
	text_count(r, h->nr_faults);
	text_count(r, h->nr_major);
	text_count(r, h->nr_irqs);
	put_ns(r, h->irq_ns);
	fputc('\n', r->out);
}

static void put_all_hits(const struct render *r, const struct render_sched *s)
{
	const struct schedstats *k = s->stats;

	if (!k->all.hits.nr_faults && !k->all.hits.nr_irqs)
		return;
	text_styled(r, TEXT_BOLD, "\n%-*s %6s %6s %6s %8s\n", name_columns(r), "page faults, interrupts",
		    "faults", "major", "irqs", "total");
	if (k->nr > 1)
		put_hits(r, s->model, &k->all);
	for (size_t i = 0; i < s->nr; i++)
		put_hits(r, s->model, &k->entries[i]);
}

static void put_parties(const struct render *r, const struct model *m,
			const struct sched_party *parties, size_t nr, size_t nr_all)
{
	char who[TEXT_ROOM], fit[TEXT_ROOM];

	for (size_t i = 0; i < nr; i++) {
		const struct sched_party *p = &parties[i];

		put_ns(r, p->total_ns);
		text_count(r, p->count);
		put_ns(r, p->max_ns);
		fputs("  ", r->out);
		fputs(wrap_numbered(text_party(m, &p->who, who), r->width - 28, fit), r->out);
		fputc('\n', r->out);
	}
	if (nr < nr_all)
		fprintf(r->out, "%zu more: --top=%zu shows all.\n", nr_all - nr, nr_all);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void put_doubts(const struct render *r, const struct schedstats *s)
{
	if (s->result.nr_broken)
		fprintf(r->out, "Switches without their counterpart: %" PRIu64 "; the time between is in no "
			"column.\n", s->result.nr_broken);
	if (s->all.has_lost)
		fprintf(r->out, "Times off the CPU during which events were lost: %" PRIu64 ".\n",
			s->all.has_lost);
	if (s->result.nr_dropped)
		fprintf(r->out, "Events left out, of more threads than are kept apart: %" PRIu64 ".\n",
			s->result.nr_dropped);
}

static void put_sched_page(const struct render *r, const struct render_sched *s)
{
	const struct schedstats *k = s->stats;
	const struct model *m = s->model;
	char a[UNITS_ROOM];

	text_head(r, m, NULL);
	fprintf(r->out, "Times between two kernel events: +-%s.\n", units_duration(k->resolution_ns, a));
	put_doubts(r, k);
	text_styled(r, TEXT_BOLD, "\n%-*s %8s %8s %8s %8s", name_columns(r), "thread", "on CPU",
		    "runnable", "preempt.", "blocked");
	if (r->width >= 110)
		text_styled(r, TEXT_BOLD, " %8s %8s", "disk", "futex");
	text_styled(r, TEXT_BOLD, " %6s %6s %6s\n", "slept", "preem.", "migr.");
	if (k->nr > 1)
		put_states(r, m, &k->all);
	for (size_t i = 0; i < s->nr; i++)
		put_states(r, m, &k->entries[i]);
	if (s->nr < k->nr)
		fprintf(r->out, "%zu more threads: --top=%zu shows all.\n", k->nr - s->nr, k->nr);
	else if (k->nr && k->entries[k->nr - 1].is_ldb)
		fputs("* ldb's own, in no other number.\n", r->out);
	text_styled(r, TEXT_BOLD, "\n%-*s %6s %8s %8s", name_columns(r), "waits for a CPU", "count", "p50",
		    "p99");
	if (r->width >= 90)
		text_styled(r, TEXT_BOLD, " %8s", "p99.9");
	text_styled(r, TEXT_BOLD, " %8s %8s\n", "max", "total");
	if (k->nr > 1)
		put_delays(r, m, &k->all);
	for (size_t i = 0; i < s->nr; i++)
		put_delays(r, m, &k->entries[i]);
	put_all_hits(r, s);
	text_styled(r, TEXT_BOLD, "\n %8s %6s %8s  who had the CPU meanwhile\n", "total", "waits", "max");
	put_parties(r, m, k->antagonists, least(s->nr_parties, k->nr_antagonists),
		    k->nr_antagonists);
	text_styled(r, TEXT_BOLD, "\n %8s %6s %8s  who woke them, and how long they had slept\n", "total",
		    "wakes", "max");
	put_parties(r, m, k->wakers, least(s->nr_parties, k->nr_wakers), k->nr_wakers);
}

void text_sched(const struct render *r, const struct render_sched *s)
{
	struct wrap w;

	put_sched_page(wrap_begin(&w, r), s);
	wrap_end(&w, 4);
}

/* JSON */

static void json_times(struct json *j, const char *key, const struct dist_times *t,
		       int64_t resolution_ns)
{
	json_flat(j);
	json_object_begin(j, key);
	json_u64(j, "count", t->count);
	json_i64(j, "p50_ns", t->p50_ns);
	json_i64(j, "p99_ns", t->p99_ns);
	json_i64(j, "p999_ns", t->p999_ns);
	json_i64(j, "max_ns", t->max_ns);
	json_i64(j, "mean_ns", t->mean_ns);
	json_i64(j, "total_ns", t->total_ns);
	json_i64(j, "resolution_ns", resolution_ns);
	json_bool(j, "exact", t->is_exact);
	json_object_end(j);
}

static void json_entry(struct json *j, const struct model *m, const struct sched_entry *e,
		       int64_t resolution_ns)
{
	json_i64(j, "on_cpu_ns", e->on_cpu_ns);
	json_i64(j, "runnable_ns", e->runnable_ns);
	json_i64(j, "preempted_ns", e->preempted_ns);
	json_i64(j, "blocked_ns", e->blocked_ns);
	json_i64(j, "disk_ns", e->disk_ns);
	json_i64(j, "futex_ns", e->futex_ns);
	json_u64(j, "voluntary", e->voluntary);
	json_u64(j, "involuntary", e->involuntary);
	json_u64(j, "migrations", e->migrations);
	json_hits(j, m, &e->hits);
	json_bool(j, "ldb", e->is_ldb);
	json_u64(j, "events_lost", e->has_lost);
	json_times(j, "delays", &e->delays, resolution_ns);
	json_times(j, "wakeups", &e->wakeups, resolution_ns);
}

static void json_parties(struct json *j, const char *key, const struct sched_party *parties,
			 size_t nr)
{
	json_array_begin(j, key);
	for (size_t i = 0; i < nr; i++) {
		json_flat(j);
		json_object_begin(j, NULL);
		json_party_keys(j, &parties[i].who);
		json_u64(j, "count", parties[i].count);
		json_i64(j, "total_ns", parties[i].total_ns);
		json_i64(j, "max_ns", parties[i].max_ns);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_sched(struct json *j, const struct render_sched *s)
{
	const struct schedstats *k = s->stats;

	json_kernel(j, s->model);
	json_i64(j, "resolution_ns", k->resolution_ns);
	json_u64(j, "events", k->result.nr_rows);
	json_u64(j, "switches", k->result.nr_switches);
	json_u64(j, "broken", k->result.nr_broken);
	json_object_begin(j, "all");
	json_entry(j, s->model, &k->all, k->resolution_ns);
	json_object_end(j);
	json_array_begin(j, "threads");
	for (size_t i = 0; i < s->nr; i++) {
		const struct sched_entry *e = &k->entries[i];

		json_object_begin(j, NULL);
		json_u64(j, "tid", e->tid);
		json_string(j, "thread", e->thread ? e->thread->name : e->self.name);
		json_entry(j, s->model, e, k->resolution_ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_parties(j, "antagonists", k->antagonists, least(s->nr_parties, k->nr_antagonists));
	json_parties(j, "wakers", k->wakers, least(s->nr_parties, k->nr_wakers));
}

void json_put_sched(struct json *j, const char *key, const struct render_sched *s)
{
	json_object_begin(j, key);
	put_sched(j, s);
	json_object_end(j);
}

void json_sched(const struct render *r, const struct render_sched *s)
{
	struct json j;

	json_init(&j, r->out);
	document_begin(&j, DOCUMENT_REPORT_SCHED);
	put_sched(&j, s);
	json_object_end(&j);
	json_end(&j);
}

/* CSV: rows of three kinds, a column for each number that one of them has. */

static void csv_times(struct csv *c, const struct dist_times *t)
{
	csv_u64(c, t->count);
	csv_i64(c, t->p50_ns);
	csv_i64(c, t->p99_ns);
	csv_i64(c, t->p999_ns);
	csv_i64(c, t->max_ns);
	csv_i64(c, t->mean_ns);
	csv_i64(c, t->total_ns);
}

static void csv_thread(struct csv *c, const struct sched_entry *e, int64_t resolution_ns)
{
	csv_string(c, "thread");
	csv_u64(c, e->tid);
	csv_string(c, e->thread ? e->thread->name : e->self.name);
	csv_u64(c, e->self.pid);
	csv_times(c, &e->delays);
	csv_times(c, &e->wakeups);
	csv_i64(c, resolution_ns);
	csv_i64(c, e->on_cpu_ns);
	csv_i64(c, e->runnable_ns);
	csv_i64(c, e->preempted_ns);
	csv_i64(c, e->blocked_ns);
	csv_i64(c, e->disk_ns);
	csv_i64(c, e->futex_ns);
	csv_u64(c, e->voluntary);
	csv_u64(c, e->involuntary);
	csv_u64(c, e->migrations);
	csv_u64(c, e->hits.nr_faults);
	csv_u64(c, e->hits.nr_major);
	csv_u64(c, e->hits.nr_irqs);
	csv_i64(c, e->hits.irq_ns);
	csv_row_end(c);
}

static void csv_party(struct csv *c, const char *what, const struct sched_party *p,
		      int64_t resolution_ns)
{
	static const char *const names[] = {
		[PARTY_NONE] = "(unknown)", [PARTY_TASK] = "", [PARTY_IDLE] = "(idle)",
		[PARTY_HIDDEN] = "(hidden)", [PARTY_HARDIRQ] = "(interrupt)",
		[PARTY_SOFTIRQ] = "(soft interrupt)",
	};

	csv_string(c, what);
	csv_u64(c, p->who.tid);
	csv_string(c, p->who.kind == PARTY_TASK ? p->who.name : names[p->who.kind]);
	csv_u64(c, p->who.pid);
	csv_u64(c, p->count);
	for (int i = 0; i < 3; i++)
		csv_string(c, "");
	csv_i64(c, p->max_ns);
	csv_string(c, "");
	csv_i64(c, p->total_ns);
	for (int i = 0; i < 7; i++)
		csv_string(c, "");
	csv_i64(c, resolution_ns);
	for (int i = 0; i < 13; i++)
		csv_string(c, "");
	csv_row_end(c);
}

void csv_sched(const struct render *r, const struct render_sched *s)
{
	static const char *const names[] = {
		"what", "tid", "name", "pid", "count", "p50_ns", "p99_ns", "p999_ns", "max_ns",
		"mean_ns", "total_ns", "wakeups", "wakeup_p50_ns", "wakeup_p99_ns",
		"wakeup_p999_ns", "wakeup_max_ns", "wakeup_mean_ns", "wakeup_total_ns",
		"resolution_ns", "on_cpu_ns", "runnable_ns", "preempted_ns", "blocked_ns",
		"disk_ns", "futex_ns", "voluntary", "involuntary", "migrations", "page_faults",
		"major_faults", "interrupts", "interrupt_ns",
	};
	const struct schedstats *k = s->stats;
	struct csv c;

	csv_init(&c, r->out);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		csv_string(&c, names[i]);
	csv_row_end(&c);
	for (size_t i = 0; i < s->nr; i++)
		csv_thread(&c, &k->entries[i], k->resolution_ns);
	for (size_t i = 0; i < s->nr_parties && i < k->nr_antagonists; i++)
		csv_party(&c, "antagonist", &k->antagonists[i], k->resolution_ns);
	for (size_t i = 0; i < s->nr_parties && i < k->nr_wakers; i++)
		csv_party(&c, "waker", &k->wakers[i], k->resolution_ns);
}
