// SPDX-License-Identifier: GPL-2.0-or-later
/* Comma-separated values: one head line, one line per row. */
#include "cli/csv.h"
#include "render/columns.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

static void heads(struct csv *c, const char *const *names)
{
	for (; *names; names++)
		csv_string(c, *names);
	csv_row_end(c);
}

void csv_functions(const struct render *r, const struct render_functions *f)
{
	struct csv c;

	csv_init(&c, r->out);
	for (size_t i = 0; i < nr_function_columns; i++)
		csv_string(&c, function_columns[i].key);
	csv_row_end(&c);
	for (size_t i = 0; i < f->nr; i++) {
		for (size_t k = 0; k < nr_function_columns; k++) {
			struct column_value v = function_columns[k].get(f->rows[i]);

			if (function_columns[k].type == COLUMN_TEXT)
				csv_string(&c, v.text);
			else
				csv_i64(&c, v.number);
		}
		csv_row_end(&c);
	}
}

static void csv_site(struct csv *c, const struct symbol *site)
{
	csv_string(c, site ? site->function : "");
	csv_string(c, site ? site->file : "");
	csv_u64(c, site ? site->line : 0);
}

void csv_locks(const struct render *r, const struct render_locks *l)
{
	static const char *const names[] = {
		"lock", "name", "op", "kind", "caller", "file", "line", "count", "failed", "p50_ns",
		"p99_ns", "max_ns", "mean_ns", "total_ns", "resolution_ns", "resolution_max_ns",
		"exact", NULL
	};
	struct csv c;

	csv_init(&c, r->out);
	heads(&c, names);
	for (size_t i = 0; i < l->nr; i++) {
		const struct lock_entry *e = &l->locks->entries[i];

		for (size_t k = 0; k < e->nr_sites; k++) {
			const struct lock_site *s = &e->sites[k];
			const struct lock_times *t = &s->times;

			csv_hex(&c, e->lock);
			csv_string(&c, e->symbol->known ? e->symbol->function : "");
			csv_string(&c, s->op == LDB_LOCK_OP_WAIT ? "wait" : "hold");
			csv_string(&c, lock_kind_name(s->kind));
			csv_site(&c, s->where);
			csv_u64(&c, t->count);
			csv_u64(&c, t->failed);
			csv_i64(&c, t->p50_ns);
			csv_i64(&c, t->p99_ns);
			csv_i64(&c, t->max_ns);
			csv_i64(&c, t->mean_ns);
			csv_i64(&c, t->total_ns);
			csv_i64(&c, t->resolution_ns);
			csv_i64(&c, t->resolution_max_ns);
			csv_u64(&c, t->is_exact);
			csv_row_end(&c);
		}
	}
}

void csv_requests(const struct render *r, const struct render_requests *q)
{
	static const char *const names[] = {
		"req", "class", "start_ns", "end_ns", "latency_ns", "complete", "threads",
		"lock_wait_ns", "queue_ns", "top_function", "top_function_ns", NULL
	};
	struct csv c;

	csv_init(&c, r->out);
	heads(&c, names);
	for (size_t i = 0; i < q->requests->nr_lives; i++) {
		const struct timeline *t = &q->timelines[i];
		const struct timeline_cause *top = timeline_top_function(t);

		csv_u64(&c, t->req);
		csv_string(&c, t->class);
		csv_i64(&c, t->start_ns);
		csv_i64(&c, t->end_ns);
		csv_i64(&c, t->latency_ns);
		csv_u64(&c, t->is_complete);
		csv_u64(&c, t->nr_tids);
		csv_i64(&c, t->lock_wait_ns);
		csv_i64(&c, t->queue_ns);
		csv_string(&c, top ? top->func->function : "");
		csv_i64(&c, top ? top->ns : 0);
		csv_row_end(&c);
	}
}

static void csv_cpu(struct csv *c, uint32_t cpu)
{
	if (cpu == CPU_UNKNOWN)
		csv_string(c, "");
	else
		csv_u64(c, cpu);
}

/* Who had the CPU, or woke it. */
static void csv_off_cpu(struct csv *c, const struct segment *s)
{
	const struct party *p = offcpu_party(s);
	const struct segment_sched *k = s->sched;

	if (p && p->kind == PARTY_TASK) {
		csv_u64(c, p->tid);
		csv_string(c, p->name);
		csv_u64(c, p->pid);
	} else {
		csv_string(c, "");
		csv_string(c, !p ? "" : p->kind == PARTY_IDLE ? "(idle)" :
			   p->kind == PARTY_HIDDEN ? "(hidden)" :
			   p->kind == PARTY_SOFTIRQ ? "(soft interrupt)" : "(interrupt)");
		csv_string(c, "");
	}
	csv_string(c, k ? sched_state_name(k->state) : "");
	csv_cpu(c, k ? k->cpu : CPU_UNKNOWN);
	csv_cpu(c, k ? k->from_cpu : CPU_UNKNOWN);
	csv_cpu(c, k ? k->to_cpu : CPU_UNKNOWN);
}

static void csv_segment(struct csv *c, const struct timeline *t, const struct segment *s)
{
	struct place place = segment_place(s);
	char name[TEXT_ROOM];

	csv_u64(c, t->req);
	csv_u64(c, s->tid);
	csv_string(c, model_thread_name(s->thread));
	csv_string(c, segment_kind_name(s->kind));
	csv_i64(c, s->start_ns);
	csv_i64(c, s->end_ns);
	csv_string(c, segment_name(s, name));
	csv_string(c, s->site ? s->site->function : "");
	csv_string(c, place.file);
	csv_u64(c, place.line);
	csv_u64(c, s->depth);
	csv_i64(c, s->resolution_ns);
	if (s->lock)
		csv_hex(c, s->lock);
	else
		csv_string(c, "");
	csv_u64(c, s->owner);
	csv_u64(c, s->blocks_req);
	csv_u64(c, s->is_truncated);
	csv_off_cpu(c, s);
	csv_row_end(c);
}

void csv_timeline(const struct render *r, const struct render_timeline *t, size_t nr)
{
	static const char *const names[] = {
		"req", "tid", "thread", "kind", "start_ns", "end_ns", "name", "caller", "file",
		"line", "depth", "resolution_ns", "lock", "owner", "blocks_req", "truncated",
		"by_tid", "by_name", "by_pid", "state", "cpu", "from_cpu", "to_cpu", NULL
	};
	struct csv c;

	csv_init(&c, r->out);
	heads(&c, names);
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < t[i].timeline->nr_segments; k++)
			csv_segment(&c, t[i].timeline, &t[i].timeline->segments[k]);
}
