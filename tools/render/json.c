// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON.  Keys are a promise to other programs: see cli/document.h. */
#include "cli/document.h"
#include "render/columns.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

void json_put_functions(struct json *j, const char *key, const struct render_functions *f)
{
	json_array_begin(j, key);
	for (size_t i = 0; i < f->nr; i++) {
		json_flat(j);
		json_object_begin(j, NULL);
		for (size_t k = 0; k < nr_function_columns; k++) {
			const struct function_column *col = &function_columns[k];
			struct column_value v = col->get(f->rows[i]);

			if (col->type == COLUMN_TEXT)
				json_string(j, col->key, v.text);
			else if (col->type == COLUMN_BOOL)
				json_bool(j, col->key, v.number);
			else
				json_i64(j, col->key, v.number);
		}
		json_object_end(j);
	}
	json_array_end(j);
}

void json_functions(const struct render *r, const struct render_functions *f)
{
	struct json j;

	json_init(&j, r->out);
	document_begin(&j, DOCUMENT_REPORT_FUNCTIONS);
	json_put_functions(&j, "functions", f);
	json_object_end(&j);
	json_end(&j);
}

static void put_times(struct json *j, const char *key, const struct lock_times *t)
{
	if (key)
		json_object_begin(j, key);
	json_u64(j, "count", t->count);
	json_u64(j, "failed", t->failed);
	json_i64(j, "p50_ns", t->p50_ns);
	json_i64(j, "p99_ns", t->p99_ns);
	json_i64(j, "max_ns", t->max_ns);
	json_i64(j, "mean_ns", t->mean_ns);
	json_i64(j, "total_ns", t->total_ns);
	json_i64(j, "resolution_ns", t->resolution_ns);
	json_i64(j, "resolution_max_ns", t->resolution_max_ns);
	json_bool(j, "exact", t->is_exact);
	if (key)
		json_object_end(j);
}

static void put_site(struct json *j, const struct symbol *site)
{
	json_string(j, "caller", site ? site->function : "");
	json_string(j, "file", site ? site->file : "");
	json_u64(j, "line", site ? site->line : 0);
}

static void put_lock(struct json *j, const struct lock_entry *e)
{
	json_object_begin(j, NULL);
	json_hex(j, "lock", e->lock);
	json_string(j, "name", e->symbol->known ? e->symbol->function : "");
	json_string(j, "kind", lock_kind_name(e->kind));
	json_flat(j);
	put_times(j, "waits", &e->waits);
	json_flat(j);
	put_times(j, "holds", &e->holds);
	json_array_begin(j, "sites");
	for (size_t i = 0; i < e->nr_sites; i++) {
		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "op", e->sites[i].op == LDB_LOCK_OP_WAIT ? "wait" : "hold");
		json_string(j, "kind", lock_kind_name(e->sites[i].kind));
		put_site(j, e->sites[i].where);
		put_times(j, NULL, &e->sites[i].times);
		json_object_end(j);
	}
	json_array_end(j);
	json_array_begin(j, "holders");
	for (size_t i = 0; i < e->nr_owners; i++) {
		const struct lock_owner *o = &e->owners[i];

		json_flat(j);
		json_object_begin(j, NULL);
		json_u64(j, "tid", o->tid);
		json_string(j, "thread", model_thread_name(o->thread));
		json_u64(j, "holds", o->holds);
		json_i64(j, "hold_ns", o->hold_ns);
		json_u64(j, "waits", o->waits);
		json_i64(j, "wait_ns", o->wait_ns);
		json_u64(j, "wakes", o->wakes);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void json_put_locks(struct json *j, const char *key, const struct render_locks *l)
{
	json_array_begin(j, key);
	for (size_t i = 0; i < l->nr; i++)
		put_lock(j, &l->locks->entries[i]);
	json_array_end(j);
}

void json_locks(const struct render *r, const struct render_locks *l)
{
	struct json j;

	json_init(&j, r->out);
	document_begin(&j, DOCUMENT_REPORT_LOCKS);
	json_put_locks(&j, "locks", l);
	json_object_end(&j);
	json_end(&j);
}

static void put_class(struct json *j, const struct request_class *c, bool is_all)
{
	if (is_all)
		json_null(j, "class");
	else
		json_string(j, "class", c->name);
	json_u64(j, "count", c->count);
	json_u64(j, "incomplete", c->incomplete);
	json_u64(j, "lost_handoffs", c->lost_handoffs);
	json_i64(j, "p50_ns", c->p50_ns);
	json_i64(j, "p99_ns", c->p99_ns);
	json_i64(j, "p999_ns", c->p999_ns);
	json_i64(j, "p9999_ns", c->p9999_ns);
	json_i64(j, "max_ns", c->max_ns);
	json_i64(j, "mean_ns", c->mean_ns);
	json_i64(j, "total_ns", c->total_ns);
	json_bool(j, "exact", c->is_exact);
}

static void put_request(struct json *j, const struct model *m, const struct timeline *t)
{
	const struct timeline_cause *top = timeline_top_function(t);

	json_flat(j);
	json_object_begin(j, NULL);
	json_u64(j, "req", t->req);
	json_string(j, "class", t->class);
	json_i64(j, "start_ns", t->start_ns);
	json_i64(j, "end_ns", t->end_ns);
	json_i64(j, "latency_ns", t->latency_ns);
	json_i64(j, "lock_wait_ns", t->lock_wait_ns);
	json_i64(j, "queue_ns", t->queue_ns);
	json_string(j, "top_function", top ? top->func->function : "");
	json_i64(j, "top_function_ns", top ? top->ns : 0);
	json_array_begin(j, "threads");
	for (size_t i = 0; i < t->nr_tids; i++) {
		const struct thread *thread = model_thread(m, t->tids[i],
							   reader_tick(m->reader, t->start_ns));

		json_object_begin(j, NULL);
		json_u64(j, "tid", t->tids[i]);
		json_string(j, "thread", model_thread_name(thread));
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void json_put_requests(struct json *j, const char *key, const struct render_requests *q)
{
	const struct requests *requests = q->requests;

	json_array_begin(j, key);
	/* The first element is all classes together. */
	for (size_t i = 0; requests->nr_classes && i <= requests->nr_classes; i++) {
		json_object_begin(j, NULL);
		put_class(j, i ? &requests->classes[i - 1] : &requests->all, !i);
		json_array_begin(j, "slowest");
		for (size_t k = 0; k < requests->nr_lives; k++)
			if (!i || requests->lives[k].class == requests->classes[i - 1].name)
				put_request(j, q->model, &q->timelines[k]);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

void json_requests(const struct render *r, const struct render_requests *q)
{
	struct json j;

	json_init(&j, r->out);
	document_begin(&j, DOCUMENT_REPORT_REQUESTS);
	json_put_requests(&j, "requests", q);
	json_object_end(&j);
	json_end(&j);
}

const char *const lost_names[MODEL_NR_LOST] = {
	"other", "overrun", "uncommitted", "torn", "disk", "unwatched", "kernel",
};

static void put_lost(struct json *j, const struct model *m)
{
	json_flat(j);
	json_object_begin(j, "lost");
	json_u64(j, "total", m->nr_lost);
	for (size_t i = 0; i < MODEL_NR_LOST; i++)
		if (lost_names[i])
			json_u64(j, lost_names[i], m->lost[i]);
	json_object_end(j);
}

static void put_thread(struct json *j, const struct model *m, const struct thread *t)
{
	json_flat(j);
	json_object_begin(j, NULL);
	json_u64(j, "tid", t->tid);
	json_string(j, "name", t->name);
	json_u64(j, "made", t->made);
	json_u64(j, "seen", t->seen);
	json_u64(j, "below_threshold", t->below_threshold);
	json_i64(j, "start_ns", reader_ns(m->reader, t->start));
	json_i64(j, "end_ns", reader_ns(m->reader, t->end));
	json_bool(j, "exited", t->has_exited);
	json_bool(j, "unwatched", t->is_unwatched);
	json_u64(j, "creator", t->creator);
	json_u64(j, "scans", t->scans);
	json_u64(j, "invalid", t->invalid);
	json_u64(j, "foreign", t->foreign);
	json_u64(j, "too_deep", t->too_deep);
	json_u64(j, "disorder", t->disorder);
	json_i64(j, "gap_ns", t->gap_ns);
	json_i64(j, "cost_ns", t->cost_ns);
	json_object_end(j);
}

static void put_recording(struct json *j, const struct model *m)
{
	char text[TEXT_ROOM];
	const struct ldb_row_meta *metas;
	size_t nr;

	metas = reader_metas(m->reader, &nr);
	json_object_begin(j, "recording");
	json_i64(j, "duration_ns", m->duration_ns);
	json_i64(j, "realtime_ns", reader_header(m->reader)->realtime_ns);
	json_bool(j, "damaged", reader_is_damaged(m->reader));
	json_string(j, "damage", reader_damage_text(m->reader, text, sizeof(text)));
	json_array_begin(j, "meta");
	for (size_t i = 0; i < nr; i++) {
		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "key", metas[i].key);
		json_string(j, "value", metas[i].value);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void put_scanner(struct json *j, const struct scanner *s)
{
	json_flat(j);
	json_object_begin(j, NULL);
	json_u64(j, "rounds", s->rounds);
	json_u64(j, "looks", s->looks);
	json_u64(j, "changes", s->changes);
	json_u64(j, "scans", s->scans);
	json_u64(j, "invalid", s->invalid);
	json_u64(j, "frames", s->frames);
	json_u64(j, "gaps", s->gaps);
	json_i64(j, "gap_ns", s->gap_ns);
	json_i64(j, "busy_ns", s->busy_ns);
	json_i64(j, "paused_ns", s->paused_ns);
	json_u64(j, "moving", s->moving);
	json_i64(j, "cost_ns", s->cost_ns);
	json_u64(j, "pages", s->pages);
	json_u64(j, "handed", s->handed);
	json_object_end(j);
}

static void put_summary(struct json *j, const struct render_summary *s)
{
	const struct model *m = s->model;

	json_u64(j, "made", m->made);
	json_u64(j, "seen", m->seen);
	json_u64(j, "below_threshold", m->below_threshold);
	if (s->stats) {
		json_u64(j, "complete", s->stats->count);
		json_u64(j, "open", s->stats->open);
		json_i64(j, "resolution_ns", s->stats->resolution_ns);
		json_i64(j, "seen_95pct_from_ns", s->stats->seen_from_ns);
	}
	put_lost(j, m);
	json_u64(j, "gaps", m->nr_gaps);
	json_i64(j, "gap_ns", m->gap_ns);
	json_u64(j, "thread_gaps", m->nr_thread_gaps);
	json_i64(j, "thread_gap_ns", m->thread_gap_ns);
	json_u64(j, "unwatched_threads", m->nr_unwatched);
	json_u64(j, "bad_modules", m->nr_bad_modules);
	json_kernel(j, m);
	json_array_begin(j, "threads");
	for (size_t i = 0; i < m->nr_threads; i++)
		put_thread(j, m, &m->threads[i]);
	json_array_end(j);
	json_array_begin(j, "scanners");
	for (size_t i = 0; i < m->nr_scanners; i++)
		put_scanner(j, &m->scanners[i]);
	json_array_end(j);
	put_recording(j, m);
}

void json_put_summary(struct json *j, const char *key, const struct render_summary *s)
{
	json_object_begin(j, key);
	put_summary(j, s);
	json_object_end(j);
}

void json_summary(const struct render *r, const struct render_summary *s)
{
	struct json j;

	json_init(&j, r->out);
	document_begin(&j, DOCUMENT_REPORT_SUMMARY);
	put_summary(&j, s);
	json_object_end(&j);
	json_end(&j);
}

static void put_function(struct json *j, const struct segment *s)
{
	json_string(j, "caller", s->site ? s->site->function : "");
	json_string(j, "call_file", s->site ? s->site->file : "");
	json_u64(j, "call_line", s->site ? s->site->line : 0);
	json_string(j, "func_file", s->func->func_file);
	json_u64(j, "func_line", s->func->func_line);
}

static void put_lock_segment(struct json *j, const struct segment *s)
{
	json_string(j, "caller", s->site ? s->site->function : "");
	json_hex(j, "lock", s->lock);
	json_string(j, "lock_kind", lock_kind_name(s->lock_kind));
	json_u64(j, "level", s->level);
	if (s->kind != SEGMENT_LOCK_HOLD) {
		json_u64(j, "owner", s->owner);
		json_bool(j, "failed", s->has_failed);
	} else {
		json_bool(j, "inferred", s->is_inferred);
	}
}

static void put_segment(struct json *j, const struct timeline *t, const struct segment *s)
{
	struct place place = segment_place(s);
	char name[TEXT_ROOM];

	json_flat(j);
	json_object_begin(j, NULL);
	json_u64(j, "tid", s->tid);
	json_string(j, "thread", model_thread_name(s->thread));
	json_string(j, "kind", segment_kind_name(s->kind));
	json_i64(j, "start_ns", s->start_ns);
	json_i64(j, "end_ns", s->end_ns);
	json_string(j, "name", segment_name(s, name));
	json_string(j, "file", place.file);
	json_u64(j, "line", place.line);
	json_i64(j, "resolution_ns", s->resolution_ns);
	json_u64(j, "depth", s->depth);
	if (s->func)
		put_function(j, s);
	if (s->kind == SEGMENT_LOCK_WAIT || s->kind == SEGMENT_LOCK_HOLD ||
	    s->kind == SEGMENT_FUTEX_WAIT)
		put_lock_segment(j, s);
	else if (s->sched)
		json_string(j, "caller", s->site ? s->site->function : "");
	if (s->sched && s->level && s->kind != SEGMENT_LOCK_WAIT && s->kind != SEGMENT_FUTEX_WAIT)
		json_u64(j, "level", s->level);
	json_segment_sched(j, s);
	if (s->kind == SEGMENT_QUEUE) {
		json_hex(j, "queue", s->lock);
		json_u64(j, "to_tid", s->to_tid);
	}
	if (s->blocks_req)
		json_u64(j, "blocks_req", t->req);
	if (s->is_truncated)
		json_bool(j, "truncated", true);
	if (s->is_clipped) {
		json_i64(j, "full_start_ns", s->full_start_ns);
		json_i64(j, "full_end_ns", s->full_end_ns);
	}
	json_object_end(j);
}

static void put_link(struct json *j, const struct timeline_link *k)
{
	char name[TEXT_ROOM];

	json_object_begin(j, NULL);
	json_u64(j, "tid", k->wait->tid);
	json_string(j, "kind", segment_kind_name(k->wait->kind));
	json_string(j, "name", segment_name(k->wait, name));
	json_i64(j, "wait_ns", k->wait->end_ns - k->wait->start_ns);
	json_u64(j, "holder", k->hold->tid);
	json_string(j, "holder_thread", model_thread_name(k->hold->thread));
	if (k->func)
		json_string(j, "holder_function", k->func->func->function);
	if (k->off) {
		const struct party *p = offcpu_party(k->off);

		json_string(j, "holder_off_cpu", segment_kind_name(k->off->kind));
		json_i64(j, "holder_off_cpu_ns", k->off_ns);
		if (p)
			json_party(j, "holder_off_cpu_by", p);
	}
	json_object_end(j);
}

static void put_cause(struct json *j, const struct timeline_cause *c)
{
	char name[TEXT_ROOM];

	json_flat(j);
	json_object_begin(j, NULL);
	/* Time outside of all functions that were seen. */
	json_string(j, "kind", c->kind == SEGMENT_REQUEST ? "other" : segment_kind_name(c->kind));
	json_i64(j, "total_ns", c->ns);
	json_u64(j, "count", c->nr);
	if (c->kind == SEGMENT_REQUEST)
		json_i64(j, "not_watched_ns", c->unwatched_ns);
	if (c->func) {
		json_string(j, "name", c->func->function);
		json_i64(j, "resolution_ns", c->resolution_ns);
	}
	if (c->wait) {
		struct place place = segment_place(c->wait);

		json_string(j, "name", segment_name(c->wait, name));
		json_string(j, "file", place.file);
		json_u64(j, "line", place.line);
	}
	if (c->hold) {
		json_u64(j, "holder", c->hold->tid);
		json_string(j, "holder_thread", model_thread_name(c->hold->thread));
	}
	if (c->hold_func)
		json_string(j, "holder_function", c->hold_func->func->function);
	if (c->hold_off) {
		const struct party *p = offcpu_party(c->hold_off);

		json_string(j, "holder_off_cpu", segment_kind_name(c->hold_off->kind));
		json_i64(j, "holder_off_cpu_ns", c->hold_off_ns);
		if (p)
			json_party(j, "holder_off_cpu_by", p);
	}
	if (c->nr_links) {
		json_array_begin(j, "chain");
		for (size_t i = 0; i < c->nr_links; i++)
			put_link(j, &c->links[i]);
		json_array_end(j);
	}
	if (c->off) {
		json_string(j, "caller", c->off->site ? c->off->site->function : "");
		json_string(j, "state", sched_state_name(c->off->sched->state));
		json_party(j, "by", &c->culprit);
		json_i64(j, "by_ns", c->culprit_ns);
		if (c->waker_func)
			json_string(j, "by_function", c->waker_func->func->function);
		json_i64(j, "resolution_ns", c->resolution_ns);
	}
	json_object_end(j);
}

static void put_off_cpu(struct json *j, const struct timeline *t)
{
	json_i64(j, "runnable_ns", t->runnable_ns);
	json_i64(j, "preempted_ns", t->preempted_ns);
	json_i64(j, "blocked_ns", t->blocked_ns);
	json_i64(j, "futex_wait_ns", t->futex_wait_ns);
	json_array_begin(j, "migrations");
	for (size_t i = 0; i < t->nr_migrations; i++) {
		const struct timeline_migration *m = &t->migrations[i];

		json_flat(j);
		json_object_begin(j, NULL);
		json_u64(j, "tid", m->tid);
		json_string(j, "thread", model_thread_name(m->thread));
		json_i64(j, "at_ns", m->at_ns);
		json_u64(j, "from_cpu", m->from_cpu);
		json_u64(j, "to_cpu", m->to_cpu);
		if (m->blocks_req)
			json_u64(j, "blocks_req", t->req);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_timeline(struct json *j, const struct render_timeline *rt)
{
	const struct timeline *t = rt->timeline;
	const struct model *m = rt->model;

	document_begin(j, DOCUMENT_TIMELINE);
	json_u64(j, "req", t->req);
	json_string(j, "class", t->class);
	json_i64(j, "start_ns", t->start_ns);
	json_i64(j, "end_ns", t->end_ns);
	json_i64(j, "latency_ns", t->latency_ns);
	if (rt->p50_ns >= 0)
		json_i64(j, "p50_ns", rt->p50_ns);
	json_bool(j, "complete", t->is_complete);
	json_bool(j, "lost_handoff", t->has_lost_handoff);
	json_u64(j, "occurrences", rt->nr_occurrences);
	json_u64(j, "nth", rt->nth);
	json_i64(j, "lock_wait_ns", t->lock_wait_ns);
	json_i64(j, "queue_ns", t->queue_ns);
	json_i64(j, "left_out_below_ns", t->left_out_ns);
	json_u64(j, "made", m->made);
	json_u64(j, "seen", m->seen);
	put_lost(j, m);
	json_kernel(j, m);
	if (m->has_sched)
		put_off_cpu(j, t);
	json_hits(j, m, &rt->hits);
	json_array_begin(j, "causes");
	for (size_t i = 0; i < t->nr_causes; i++)
		put_cause(j, &t->causes[i]);
	json_array_end(j);
	json_array_begin(j, "segments");
	for (size_t i = 0; i < t->nr_segments; i++)
		put_segment(j, t, &t->segments[i]);
	json_array_end(j);
	json_object_end(j);
}

void json_timelines(const struct render *r, const struct render_timeline *t, size_t nr,
		    bool is_array)
{
	struct json j;

	json_init(&j, r->out);
	if (is_array)
		json_array_begin(&j, NULL);
	for (size_t i = 0; i < nr; i++)
		put_timeline(&j, &t[i]);
	if (is_array)
		json_array_end(&j);
	json_end(&j);
}
