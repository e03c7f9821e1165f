// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints timelines as JSON and CSV: the causes of the latency, and all segments. */
#include "cli/document.h"
#include "cli/wall.h"
#include "facts/sched.h"
#include "facts/ticks.h"
#include "render/chain.h"
#include "render/columns.h"
#include "render/offcpu.h"
#include "render/samples.h"
#include "render/segment.h"

/* What kernel events say about a segment */

#define ROW struct segment_running
static const struct column running_task_columns[] = {
	PART(NULL, who, context_columns), SAME(ns), { 0 }
};
#undef ROW

#define ROW struct segment_sched
static enum segment_kind kind_of(const struct row *row)
{
	return ((const struct segment *)row->in->at)->kind;
}

GET(get_state, text, sched_state_name(e->state))
GET(get_cpu, cpu, e->cpu)
GET(get_from_cpu, cpu, e->from_cpu)
GET(get_to_cpu, cpu, e->to_cpu)
GET(get_true, bool, true)
FROM(preempted_by, context_rows(&e->preempted_by))
FROM(waker, context_rows(&e->waker))
WHEN(if_preempted, kind_of(row) == SEGMENT_PREEMPTED)
WHEN(unless_preempted, !if_preempted(row))
WHEN(if_for_cpu, kind_of(row) == SEGMENT_RUNNABLE || if_preempted(row))
WHEN(unless_for_cpu, !if_for_cpu(row))
WHEN(if_futex, e->has_futex)
WHEN(if_lock_wait, kind_of(row) == SEGMENT_LOCK_WAIT)
WHEN(if_throttled, if_preempted(row) && e->is_throttled)
WHEN(if_lost, e->has_lost)

static const struct column by_columns[] = {
	PART_AT("preempted_by", preempted_by, context_columns, .form = COLUMN_OR_NULL), { 0 }
};

static const struct column waker_columns[] = {
	PART_AT("waker", waker, context_columns, .form = COLUMN_OR_NULL), { 0 }
};

static const struct column running_columns[] = {
	NESTED("running_tasks", running, nr_running, running_task_columns), { 0 }
};

static const struct column sched_columns[] = {
	SELF(NULL, by_columns, .when = if_preempted),
	SELF(NULL, waker_columns, .when = unless_preempted),
	MADE("state", get_state, .when = unless_for_cpu), MADE("cpu", get_cpu),
	MADE("from_cpu", get_from_cpu), MADE("to_cpu", get_to_cpu),
	HEX("futex", futex, .when = if_futex),
	COLUMN("futex_woken", is_futex_woken, .when = if_futex),
	SAME(asleep_ns, .when = if_lock_wait), MADE("throttled", get_true, .when = if_throttled),
	MADE("events_lost", get_true, .when = if_lost),
	SELF(NULL, running_columns, .when = if_for_cpu), { 0 }
};
#undef ROW

/* System calls */

#define ROW struct segment_call
WHEN(if_result, e->has_result)

static const struct column call_columns[] = {
	COLUMN("syscall", name), COLUMN("descriptor", file), SAME(result, .when = if_result),
	HEX("arg0", arg0, .when = if_result), { 0 }
};
#undef ROW

/* Block devices */

#define ROW struct segment_disk
static const struct column disk_columns[] = {
	SAME(device), COLUMN("device_ns", ns), COLUMN("device_bytes", bytes), COLUMN("device_requests", nr),
	{ 0 }
};
#undef ROW

/* Segments */

#define ROW struct segment
static const struct timeline *timeline_of(const struct row *row)
{
	return ((const struct render_timeline *)row->in->at)->timeline;
}

/* Returns offcpu_context() if it is a task, and otherwise NULL. */
static const struct context *task_of(const struct segment *s)
{
	const struct context *p = offcpu_context(s);

	return p && p->kind == CONTEXT_TASK ? p : NULL;
}

GET(get_req, u64, timeline_of(row)->req)
GET(get_thread, text, model_thread_name(e->thread))
GET(get_process, text, e->thread->process->name)
GET(get_pid, u64, model_kernel_tid(e->thread->pid))
WHEN(if_process, e->thread && e->thread->process)
GET(get_kind, text, segment_kinds[e->kind].name)
GET(get_name, text, segment_name(e, buf))
GET(get_file, text, segment_place(e).file)
GET(get_line, u64, segment_place(e).line)
GET(get_lock_kind, text, lock_kind_name(e->lock_kind))
GET(get_segment_true, bool, true)
GET(get_by_tid, u64, task_of(e)->tid)
GET(get_by_name, text, offcpu_context(e) ? context_cell(offcpu_context(e)) : "")
GET(get_by_pid, u64, task_of(e)->pid)
GET(get_csv_state, text, e->sched && e->kind != SEGMENT_SYSCALL ? sched_state_name(e->sched->state) : "")
GET(get_csv_cpu, cpu, e->sched ? e->sched->cpu : CPU_UNKNOWN)
GET(get_csv_from, cpu, e->sched ? e->sched->from_cpu : CPU_UNKNOWN)
GET(get_csv_to, cpu, e->sched ? e->sched->to_cpu : CPU_UNKNOWN)
FROM(sched, rows_one(e->kind == SEGMENT_SYSCALL ? NULL : e->sched))
FROM(disk, rows_one(e->sched && e->sched->disk.device ? &e->sched->disk : NULL))
FROM(call, rows_one(e->sched && e->sched->call.name ? &e->sched->call : NULL))
WHEN(if_func, e->func)
WHEN(if_hold, e->kind == SEGMENT_LOCK_HOLD)
WHEN(if_wait, e->kind == SEGMENT_LOCK_WAIT || e->kind == SEGMENT_FUTEX_WAIT)
WHEN(if_lock, if_hold(row) || if_wait(row))
WHEN(if_caller, e->func || if_lock(row) || e->sched)
WHEN(if_level, if_lock(row) || (e->sched && e->level))
WHEN(if_queue, e->kind == SEGMENT_QUEUE)
WHEN(if_blocks, e->blocks_req)
WHEN(if_truncated, e->is_truncated)
WHEN(if_clipped, e->is_clipped)
WHEN(if_address, e->lock)
WHEN(if_task, task_of(e))

static const struct column csv_columns[] = {
	SAME(depth), SAME(resolution_ns), HEX("lock", lock, .when = if_address), SAME(owner),
	SAME(blocks_req), COLUMN("truncated", is_truncated),
	MADE("by_tid", get_by_tid, .when = if_task), MADE("by_name", get_by_name),
	MADE("by_pid", get_by_pid, .when = if_task), MADE("state", get_csv_state),
	MADE("cpu", get_csv_cpu), MADE("from_cpu", get_csv_from), MADE("to_cpu", get_csv_to), { 0 }
};

static const struct column json_columns[] = {
	MADE("process", get_process, .when = if_process), MADE("pid", get_pid, .when = if_process),
	SAME(resolution_ns), SAME(depth), VIA("caller", site, function, .when = if_caller),
	VIA("call_file", site, file, .when = if_func),
	VIA("call_line", site, line, .when = if_func),
	VIA("func_file", func, func_file, .when = if_func),
	VIA("func_line", func, func_line, .when = if_func), HEX("lock", lock, .when = if_lock),
	MADE("lock_kind", get_lock_kind, .when = if_lock), SAME(level, .when = if_level),
	SAME(owner, .when = if_wait), COLUMN("failed", has_failed, .when = if_wait),
	COLUMN("inferred", is_inferred, .when = if_hold), PART_AT(NULL, sched, sched_columns),
	PART_AT(NULL, call, call_columns), PART_AT(NULL, disk, disk_columns),
	HEX("queue", lock, .when = if_queue), SAME(to_tid, .when = if_queue),
	MADE("blocks_req", get_req, .when = if_blocks),
	MADE("truncated", get_segment_true, .when = if_truncated),
	SAME(full_start_ns, .when = if_clipped), SAME(full_end_ns, .when = if_clipped), { 0 }
};

static const struct column segment_columns[] = {
	MADE("req", get_req, .form = COLUMN_ONLY_CSV), SAME(tid), MADE("thread", get_thread),
	MADE("kind", get_kind), SAME(start_ns), SAME(end_ns), MADE("name", get_name),
	VIA("caller", site, function, .form = COLUMN_ONLY_CSV), MADE("file", get_file),
	MADE("line", get_line), SELF(NULL, csv_columns, .form = COLUMN_ONLY_CSV),
	SELF(NULL, json_columns, .form = COLUMN_ONLY_JSON), { 0 }
};
#undef ROW

/* Causes */

#define ROW struct timeline_cause
/* Time outside of all observed functions. */
WHEN(if_unknown, e->kind == LEAF_UNKNOWN)
GET(get_cause_kind, text, leaf_kinds[e->kind].name)
GET(get_cause_name, text, timeline_cause_name(e, buf))
GET(get_cause_queue, text, e->wait ? timeline_cause_queue(e, buf) : "")
GET(get_cause_file, text, segment_place(e->wait).file)
GET(get_cause_line, u64, segment_place(e->wait).line)
GET(get_hold_thread, text, model_thread_name(e->hold->thread))
GET(get_hold_function, text, e->hold_func->func->function)
GET(get_hold_off, text, segment_kinds[e->hold_off->kind].name)
GET(get_off_caller, text, e->off->site ? e->off->site->function : "")
GET(get_off_state, text, sched_state_name(e->off->sched->state))
FROM(hold_off_by, rows_one(e->hold_off ? offcpu_context(e->hold_off) : NULL))
FROM(cause_chain, (struct rows){ .at = e->chain, .nr = 1 })
FROM(split, samples_rows(&e->split))
FROM(cause_disk, rows_one(e->disk.device ? &e->disk : NULL))
FROM(blocker, context_rows(&e->blocker))
WHEN(if_estimated, e->kind == LEAF_FUNCTION || e->off)
WHEN(if_syscalls, e->has_syscalls)
WHEN(if_in_queue, e->in_queue)
WHEN(if_cause_wait, e->wait)
WHEN(if_cause_hold, e->hold)
WHEN(if_hold_func, e->hold_func)
WHEN(if_hold_off, e->hold_off)
WHEN(if_off, e->off)
WHEN(if_chain, e->chain && e->chain->nr > 1)

static const struct column off_columns[] = {
	MADE("caller", get_off_caller), MADE("state", get_off_state),
	PART_AT("by", blocker, context_columns, .form = COLUMN_OR_NULL), COLUMN("by_ns", blocker_ns),
	{ 0 }
};

static const struct column cause_columns[] = {
	MADE("kind", get_cause_kind), MADE("name", get_cause_name), SAME(label),
	COLUMN("total_ns", ns), COLUMN("count", nr),
	COLUMN("unobserved_ns", unobserved_ns, .when = if_unknown),
	SAME(resolution_ns, .when = if_estimated),
	SAME(syscall_ns, .when = if_syscalls), COLUMN("syscalls", nr_syscalls, .when = if_syscalls),
	MADE("queue", get_cause_queue, .when = if_in_queue),
	MADE("file", get_cause_file, .when = if_cause_wait),
	MADE("line", get_cause_line, .when = if_cause_wait),
	VIA("holder", hold, tid, .when = if_cause_hold),
	MADE("holder_thread", get_hold_thread, .when = if_cause_hold),
	MADE("holder_function", get_hold_function, .when = if_hold_func),
	MADE("holder_off_cpu", get_hold_off, .when = if_hold_off),
	COLUMN("holder_off_cpu_ns", hold_off_ns, .when = if_hold_off),
	PART_AT("holder_off_cpu_by", hold_off_by, context_columns),
	PART_AT(NULL, cause_chain, chain_columns, .when = if_chain),
	PART_AT(NULL, cause_disk, disk_columns), PART_AT("samples", split, samples_columns),
	SELF(NULL, off_columns, .when = if_off), { 0 }
};
#undef ROW

/* Timelines */

#define ROW struct timeline_migration
GET(get_migrated, text, model_thread_name(e->thread))
GET(get_migration_req, u64, ((const struct timeline *)row->in->at)->req)
WHEN(if_migration_blocks, e->blocks_req)

static const struct column migration_columns[] = {
	SAME(tid), MADE("thread", get_migrated), SAME(at_ns), SAME(from_cpu), SAME(to_cpu),
	MADE("blocks_req", get_migration_req, .when = if_migration_blocks), { 0 }
};
#undef ROW

#define ROW struct marked
static const struct timeline *marked(const struct row *row)
{
	return ((const struct render_timeline *)row->in->at)->timeline;
}

/* Returns true if the thread worked on the request; otherwise it blocked the request. */
static bool is_own(const struct timeline *t, uint32_t tid)
{
	for (size_t i = 0; i < t->nr_tids; i++)
		if (t->tids[i] == tid)
			return true;
	return false;
}

GET(get_marked, text, model_thread_name(e->thread))
GET(get_mark_ns, i64, ticks_time_ns(row_model(row)->reader, e->tick))
GET(get_mark_req, u64, marked(row)->req)
WHEN(if_mark_blocks, !is_own(marked(row), e->tid))

static const struct column mark_columns[] = {
	SAME(tid), MADE("thread", get_marked), MADE("at_ns", get_mark_ns), SAME(name), SAME(value),
	MADE("blocks_req", get_mark_req, .when = if_mark_blocks), { 0 }
};
#undef ROW

#define ROW struct timeline
static const struct column off_cpu_columns[] = {
	SAME(runnable_ns), SAME(preempted_ns), SAME(blocked_ns), SAME(futex_wait_ns),
	NESTED("migrations", migrations, nr_migrations, migration_columns), { 0 }
};

static const struct column causes_columns[] = {
	NESTED("causes", causes, nr_causes, cause_columns), { 0 }
};
#undef ROW

#define ROW struct render_timeline
FROM(timeline, rows_one(e->timeline))
FROM(notes, (struct rows){ .at = e->timeline->notes, .nr = e->timeline->nr_notes, .are_pointers = true })
FROM(marks, rows_of(e->timeline->marks, e->timeline->nr_marks))
FROM(segments, rows_of(e->timeline->segments, e->timeline->nr_segments))
GET(get_start_time, text, wall_iso(reader_wall_ns(e->model->reader,
						  reader_tick(e->model->reader, e->timeline->start_ns)), buf))
WHEN(if_p50, e->p50_ns >= 0)
WHEN(if_estimate, e->timeline->latency_resolution_ns > 0)
WHEN(if_sched, e->model->has_sched)

static const struct column timeline_columns[] = {
	VIA("req", timeline, req), VIA("class", timeline, class),
	VIA("start_ns", timeline, start_ns), VIA("end_ns", timeline, end_ns),
	MADE("start_time", get_start_time),
	VIA("latency_ns", timeline, latency_ns),
	VIA("latency_resolution_ns", timeline, latency_resolution_ns, .when = if_estimate), SAME(p50_ns, .when = if_p50),
	VIA("complete", timeline, is_complete), VIA("lost_handoff", timeline, has_lost_handoff),
	COLUMN("occurrences", nr_occurrences), SAME(nth),
	VIA("lock_wait_ns", timeline, lock_wait_ns), VIA("queue_ns", timeline, queue_ns),
	VIA("left_out_below_ns", timeline, left_out_ns), PART_AT(NULL, model_rows, made_columns),
	PART_AT("lost", model_rows, lost_columns), PART_AT("left_out", model_rows, left_columns),
	PART_AT(NULL, model_rows, kernel_columns),
	PART_AT(NULL, timeline, off_cpu_columns, .when = if_sched), PART(NULL, interruptions, interruptions_columns),
	NESTED_AT("notes", notes, note_columns, .form = COLUMN_IF_ANY),
	NESTED_AT("events", marks, mark_columns, .form = COLUMN_IF_ANY),
	PART_AT(NULL, timeline, causes_columns), NESTED_AT("segments", segments, segment_columns),
	{ 0 }
};

static const struct column csv_timeline_columns[] = {
	NESTED_AT("segments", segments, segment_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

void json_timelines(const struct render *r, const struct render_timeline *t, size_t nr,
		    bool is_array)
{
	struct json j;

	json_init(&j, r->out);
	if (is_array)
		json_array_begin(&j, NULL);
	for (size_t i = 0; i < nr; i++) {
		document_begin(&j, DOCUMENT_TIMELINE);
		relation_json(&j, timeline_columns, &t[i]);
		json_object_end(&j);
	}
	if (is_array)
		json_array_end(&j);
	json_end(&j);
}

struct timelines {
	const struct render_timeline *at;
	size_t nr;
};

void csv_timeline(const struct render *r, const struct render_timeline *t, size_t nr)
{
#define ROW struct timelines
	static const struct column columns[] = {
		NESTED(NULL, at, nr, csv_timeline_columns, .form = COLUMN_SPREAD), { 0 }
	};
#undef ROW

	relation_csv(r->out, columns, &(struct timelines){ t, nr });
}
