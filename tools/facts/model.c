// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens a recording, and reads what concerns it as a whole: modules, threads, losses, observation
 * gaps.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sort.h"
#include "classes.h"
#include "notes.h"
#include "counters.h"
#include "flows.h"
#include "model.h"
#include "rows.h"
#include "sched-log.h"
#include "tasks.h"
#include "ticks.h"

#define STRINGS_MAX	(1U << 20)

const char *model_keep_string(struct model *m, const char *text)
{
	const char *kept;

	if (!text || !*text)
		return "";
	kept = intern_text(&m->strings, text);
	return kept ? kept : "";
}

int64_t model_number(const struct model *m, const char *key, int64_t otherwise)
{
	const char *text = reader_meta(m->reader, key);

	return text ? strtoll(text, NULL, 10) : otherwise;
}

static int add_module(void *arg, const void *row)
{
	struct model *m = arg;
	int ret = symtab_add_module(m->symtab, row);

	m->nr_bad_modules += ret && ret != -ENOMEM;
	return ret == -ENOMEM ? ret : 0;
}

/* Adds a program or library whose names the trace contains; invalid rows are ignored. */
static int add_file(void *arg, const void *row)
{
	return symtab_add_file(arg, row) == -ENOMEM ? -ENOMEM : 0;
}

static int add_symbol(void *arg, const void *row)
{
	return symtab_add_symbol(arg, row) == -ENOMEM ? -ENOMEM : 0;
}

static int add_call(void *arg, const void *row)
{
	return symtab_add_call(arg, row) == -ENOMEM ? -ENOMEM : 0;
}

/* Adds the name of a queue from its row of META; other rows and invalid ones are ignored. */
static int add_queue(void *arg, const void *at)
{
	const struct ldb_row_meta *row = at;
	size_t length = strlen(LDB_META_QUEUE);

	if (strncmp(row->key, LDB_META_QUEUE, length))
		return 0;
	return symtab_add_queue(arg, strtoull(row->key + length, NULL, 16), row->value) == -ENOMEM ? -ENOMEM : 0;
}

/* The recorder writes the row of a scanner repeatedly; the last one counts. */
static int add_scanner(void *arg, const void *at)
{
	const struct ldb_row_scan *row = at;
	struct model *m = arg;

	if (row->scanner >= LDB_MAX_SCANNERS)
		return 0;
	m->scanners[row->scanner] = (struct scanner){
		.rounds = row->rounds, .looks = row->looks, .changes = row->changes,
		.scans = row->scans, .invalid = row->invalid, .frames = row->frames,
		.gaps = row->gaps, .gap_ns = ticks_ns(m->reader, row->gap),
		.busy_ns = ticks_ns(m->reader, row->busy),
		.paused_ns = ticks_ns(m->reader, row->paused),
		.moving = row->moving, .pages = row->pages, .handed = row->handed,
		.cost_ns = ticks_ns(m->reader, row->cost),
	};
	if (row->scanner >= m->nr_scanners)
		m->nr_scanners = row->scanner + 1;
	if (m->scanners[row->scanner].paused_ns > m->paused_ns)
		m->paused_ns = m->scanners[row->scanner].paused_ns;
	return 0;
}

static int add_process(void *arg, const void *at)
{
	const struct ldb_row_process *row = at;
	struct model *m = arg;
	bool is_known = row->clock_err < INT64_MAX / 2;

	return array_push(m->processes, m->nr_processes, m->room_processes, {
		.pid = row->pid, .ppid = row->ppid, .name = model_keep_string(m, row->name),
		.host = model_keep_string(m, row->host), .id_base = row->id_base,
		.has_own_clock = row->flags & LDB_PROCESS_F_CLOCK,
		.clock_err_ns = is_known ? ticks_ns(m->reader, row->clock_err) : -1,
	});
}

COMPARE(compare_processes, struct process, UP(pid))

/* Sets for each thread to which process it belongs. */
static void link_processes(struct model *m)
{
	sort_by(m->processes, m->nr_processes, compare_processes);
	for (size_t i = 0; i < m->nr_threads && m->nr_processes; i++) {
		struct thread *t = &m->threads[i];
		size_t n = search_by(m->processes, m->nr_processes, p, p->pid < t->pid);

		if (n < m->nr_processes && m->processes[n].pid == t->pid)
			t->process = &m->processes[n];
	}
}

static int add_thread(void *arg, const void *at)
{
	const struct ldb_row_thread *row = at;
	struct model *m = arg;

	return array_push(m->threads, m->nr_threads, m->room_threads, {
		.tid = row->tid, .creator = row->creator, .pid = row->pid,
		.start = ticks_sane(row->start), .end = ticks_sane(row->end),
		.has_exited = row->flags & LDB_THREAD_F_EXITED,
		.is_unobserved = row->flags & LDB_THREAD_F_UNOBSERVED,
		.made = row->made, .seen = row->seen, .below_threshold = row->below_threshold,
		.scans = row->scans, .invalid = row->invalid, .foreign = row->foreign,
		.too_deep = row->too_deep, .disorder = row->disorder,
		.gap_ns = ticks_ns(m->reader, row->gap),
		.cost_ns = ticks_ns(m->reader, row->cost), .start_routine = row->start_routine,
		.name = model_keep_string(m, row->name),
	});
}

ORDER_KEY(thread_tid, struct thread, tid)
ORDER_KEY(thread_start, struct thread, start)

static bool is_same_thread(const struct thread *a, const struct thread *b)
{
	return a->tid == b->tid && a->start == b->start;
}

/*
 * The recorder writes the row of a thread repeatedly; the last one counts.  It is also the last one
 * after the sort, which is stable.
 */
static int sort_threads(struct model *m)
{
	static const order_key keys[] = { thread_tid, thread_start };
	size_t nr = 0;

	if (order_sort(&m->threads, m->nr_threads, sizeof(*m->threads), keys, 2))
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_threads; i++) {
		if (nr && is_same_thread(&m->threads[nr - 1], &m->threads[i]))
			nr--;
		m->threads[nr++] = m->threads[i];
	}
	m->nr_threads = nr;
	for (size_t i = 0; i < nr; i++) {
		m->made += m->threads[i].made;
		m->seen += m->threads[i].seen;
		m->below_threshold += m->threads[i].below_threshold;
		m->nr_unobserved += m->threads[i].is_unobserved;
	}
	return 0;
}

/*
 * Returns true if kernel events may be among the lost records.  Rings with numbers beyond those of
 * the CPUs belong to scanners and have no kernel events.
 */
static bool loses_events(const struct model *m, const struct ldb_row_lost *row)
{
	return row->what == LDB_LOST_KERNEL || row->what == LDB_LOST_DISK ||
	       (row->what != LDB_LOST_UNOBSERVED &&
		row->ring < model_number(m, "nr_cpus", UINT32_MAX));
}

/*
 * Context switches in a pause were not recorded, so both ends of a pause count as losses of kernel
 * events.
 */
static int add_pause(struct model *m, const struct ldb_row_lost *row)
{
	int64_t ticks = ticks_sane(row->count < INT64_MAX ? (int64_t)row->count : INT64_MAX);
	int64_t begin = ticks_sane(ticks_sane(row->tick) - ticks);

	m->nr_pauses++;
	m->pauses_ns = ticks_sane(m->pauses_ns + ticks_ns(m->reader, (double)ticks));
	/* Earlier versions of ldb joined traces without the process to which a pause belongs. */
	if ((!m->nr_processes || row->ring) &&
	    intervals_add(&m->pauses, m->nr_processes ? row->ring : 0, begin, ticks_sane(row->tick)))
		return -ENOMEM;
	return array_push(m->losses, m->nr_losses, m->room_losses, begin) ||
	       array_push(m->losses, m->nr_losses, m->room_losses, ticks_sane(row->tick)) ? -ENOMEM : 0;
}

static int add_left(struct model *m, const struct ldb_row_lost *row)
{
	uint32_t kind = row->what - LDB_LEFT_PAUSE;

	if (!kind)
		return add_pause(m, row);
	m->left[kind < MODEL_NR_LEFT ? kind : 0] += row->count;
	m->nr_left += row->count;
	return 0;
}

static int add_lost(void *arg, const void *at)
{
	const struct ldb_row_lost *row = at;
	struct model *m = arg;

	if (row->what >= LDB_LEFT_PAUSE)
		return add_left(m, row);
	m->lost[row->what < MODEL_NR_LOST ? row->what : 0] += row->count;
	m->nr_lost += row->count;
	if (!loses_events(m, row))
		return 0;
	return array_push(m->losses, m->nr_losses, m->room_losses, ticks_sane(row->tick));
}

static int add_gap(void *arg, const struct thread_interval *gap)
{
	struct model *m = arg;
	int64_t ns = ticks_ns(m->reader, (double)gap->end - (double)gap->start);

	if (gap->tid) {
		m->nr_thread_gaps++;
		m->thread_gap_ns = ticks_sane(m->thread_gap_ns + ns);
	} else {
		m->nr_gaps++;
		m->gap_ns = ticks_sane(m->gap_ns + ns);
	}
	return gap->start < gap->end ? intervals_add(&m->gaps, gap->tid, gap->start, gap->end) : 0;
}

COMPARE_NUMBERS(compare_ticks, int64_t)

static const char *meta(const struct model *m, const char *key)
{
	const char *value = reader_meta(m->reader, key);

	return value ? value : "";
}

/*
 * Finds out which kernel events the trace has, without reading SCHED rows, and reads the last names
 * of threads.
 */
static int add_kernel(struct model *m)
{
	const char *only = reader_meta(m->reader, "kernel_only");
	int ret;

	m->pid = model_number(m, "pid", 0);
	m->has_faults = !strcmp(meta(m, "kernel_faults"), "1");
	m->has_irqs = !strcmp(meta(m, "kernel_irqs"), "1");
	m->kernel_events = meta(m, "kernel_events");
	m->kernel_why = meta(m, "kernel_why");
	m->has_calls = *meta(m, "kernel_syscalls");
	m->has_call_lengths = !strcmp(meta(m, "kernel_syscalls"), "all");
	m->call_min_ns = max(model_number(m, "kernel_syscalls_ns", 0), (int64_t)0);
	m->has_flows = reader_meta(m->reader, "flows_threshold_ns");
	m->has_disks = !strcmp(meta(m, "kernel_disk"), "1");
	m->samples = meta(m, "samples");
	m->has_user_samples = !strcmp(meta(m, "samples_user"), "1");
	m->nr_lost_samples = max(model_number(m, "samples_lost", 0), (int64_t)0);
	m->is_kernel_only = only && strcmp(only, "0");
	m->kernel_err_ns = model_number(m, "kernel_err_ns", 0);
	if (m->kernel_err_ns < 0 || m->kernel_err_ns > 1000000000)
		m->kernel_err_ns = 1000000000;
	sort_by(m->losses, m->nr_losses, compare_ticks);
	ret = reader_exists(m->reader, LDB_BLK_SCHED);
	if (ret < 0)
		return ret;
	m->has_sched = ret;
	if (!m->has_sched && counters_open(&m->counters, m->reader))
		return -ENOMEM;
	m->has_sched |= m->counters != NULL;
	m->unplaced_ns = m->counters ? counters_unplaced_ns(m->counters) : 0;
	m->tasks = tasks_open(m);
	if (!m->tasks)
		return -ENOMEM;
	/* A thread may have been renamed after its start; the TASK rows have its last name. */
	for (size_t i = 0; i < m->nr_threads; i++) {
		struct thread *t = &m->threads[i];
		const struct task *task = tasks_find(m->tasks, t->tid, t->end);

		if (task && *task->name && task->tick <= t->end)
			t->name = task->name;
	}
	return 0;
}

struct model *model_open(struct reader *reader, struct symtab *symtab, char *err, size_t err_size)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		goto err_memory;
	m->reader = reader;
	m->symtab = symtab;
	m->strings.max = STRINGS_MAX;
	m->duration_ns = ticks_time_ns(reader, reader_end_tick(reader));
	m->from_ns = ticks_time_ns(reader, model_number(m, "flight_from", 0));
	if (rows_each(reader, LDB_BLK_MODULE, NULL, add_module, m) ||
	    rows_each(reader, LDB_BLK_FILE, NULL, add_file, symtab) ||
	    rows_each(reader, LDB_BLK_SYMBOL, NULL, add_symbol, symtab) ||
	    rows_each(reader, LDB_BLK_CALL, NULL, add_call, symtab) ||
	    rows_each(reader, LDB_BLK_META, NULL, add_queue, symtab) ||
	    rows_each(reader, LDB_BLK_THREAD, NULL, add_thread, m) || sort_threads(m) ||
	    rows_each(reader, LDB_BLK_PROCESS, NULL, add_process, m) ||
	    rows_each(reader, LDB_BLK_SCAN, NULL, add_scanner, m) ||
	    rows_each(reader, LDB_BLK_LOST, NULL, add_lost, m) ||
	    gaps_each(reader, NULL, add_gap, m) || intervals_merge(&m->gaps) ||
	    intervals_merge(&m->pauses) || add_kernel(m))
		goto err_free;
	link_processes(m);
	return m;

err_free:
	model_close(m);
err_memory:
	snprintf(err, err_size, "out of memory");
	return NULL;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	classes_close(m->classes);
	notes_close(m->notes);
	free(m->requests_of);
	flows_close(m->flows);
	counters_close(m->counters);
	tasks_close(m->tasks);
	sched_log_end(m);
	intervals_free(&m->gaps);
	intervals_free(&m->pauses);
	free(m->losses);
	intern_free(&m->strings);
	free(m->threads);
	free(m->processes);
	free(m);
}

const struct thread *model_thread(const struct model *m, uint32_t tid, int64_t tick)
{
	/*
	 * Finds the last thread with this tid that had started by the tick, or else the first one
	 * with this tid.
	 */
	size_t lo = search_by(m->threads, m->nr_threads, t,
			      t->tid < tid || (t->tid == tid && t->start <= tick));

	if (lo > 0 && m->threads[lo - 1].tid == tid)
		return &m->threads[lo - 1];
	if (lo < m->nr_threads && m->threads[lo].tid == tid)
		return &m->threads[lo];
	return NULL;
}

uint32_t model_thread_number(const struct model *m, uint32_t tid, int64_t tick)
{
	const struct thread *t = model_thread(m, tid, tick);

	return t ? t - m->threads : UINT32_MAX;
}

uint64_t model_thread_order(const struct model *m, uint32_t tid, int64_t tick)
{
	uint32_t nr = model_thread_number(m, tid, tick);

	return nr == UINT32_MAX ? 1ULL << 32 | tid : nr;
}

const char *model_thread_name(const struct thread *thread)
{
	return thread ? thread->name : "";
}

bool model_thread_matches(const char *thread, uint32_t tid, const struct thread *t)
{
	char *end;
	unsigned long nr;

	if (!thread)
		return true;
	nr = strtoul(thread, &end, 10);
	if (end != thread && !*end)
		return nr == tid;
	return t && !fnmatch(thread, t->name, 0);
}
