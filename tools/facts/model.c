// SPDX-License-Identifier: GPL-2.0-or-later
/* The recording as a whole: modules, threads, losses, gaps. */
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
#include "model.h"
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

static int add_modules(void *arg, const struct reader_rows *rows)
{
	struct model *m = arg;
	int ret;

	for (size_t i = 0; i < rows->nr; i++) {
		ret = symtab_add_module(m->symtab, &rows->module[i]);
		if (ret == -ENOMEM)
			return ret;
		if (ret)
			m->nr_bad_modules++;
	}
	return 0;
}

/* Adds the names that the trace contains; rows that make no sense are left out. */
static int add_names(void *arg, const struct reader_rows *rows)
{
	struct model *m = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && ret != -ENOMEM; i++)
		ret = rows->kind == LDB_BLK_FILE ? symtab_add_file(m->symtab, &rows->file[i]) :
		      rows->kind == LDB_BLK_SYMBOL ? symtab_add_symbol(m->symtab, &rows->symbol[i]) :
						     symtab_add_call(m->symtab, &rows->call[i]);
	return ret == -ENOMEM ? ret : 0;
}

/* A scanner's row is written again once in a while: the last one counts. */
static int add_scanners(void *arg, const struct reader_rows *rows)
{
	struct model *m = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_scan *row = &rows->scan[i];

		if (row->scanner >= LDB_MAX_SCANNERS)
			continue;
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
	}
	return 0;
}

static void set_thread(struct model *m, struct thread *t, const struct ldb_row_thread *row)
{
	*t = (struct thread){
		.tid = row->tid, .creator = row->creator,
		.start = ticks_sane(row->start), .end = ticks_sane(row->end),
		.has_exited = row->flags & LDB_THREAD_F_EXITED,
		.is_unwatched = row->flags & LDB_THREAD_F_UNWATCHED,
		.made = row->made, .seen = row->seen,
		.below_threshold = row->below_threshold, .scans = row->scans, .invalid = row->invalid, .foreign = row->foreign,
		.too_deep = row->too_deep, .disorder = row->disorder,
		.gap_ns = ticks_ns(m->reader, row->gap),
		.cost_ns = ticks_ns(m->reader, row->cost),
		.name = model_keep_string(m, row->name),
	};
}

static int add_threads(void *arg, const struct reader_rows *rows)
{
	struct model *m = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		if (!array_room(&m->threads, &m->room_threads, m->nr_threads, sizeof(*m->threads)))
			return -ENOMEM;
		set_thread(m, &m->threads[m->nr_threads++], &rows->thread[i]);
	}
	return 0;
}

ORDER_KEY(thread_tid, struct thread, tid)
ORDER_KEY(thread_start, struct thread, start)

static bool is_same_thread(const struct thread *a, const struct thread *b)
{
	return a->tid == b->tid && a->start == b->start;
}

/* Rows of one thread are written again and again: the last counts.  The sort is stable. */
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
		m->nr_unwatched += m->threads[i].is_unwatched;
	}
	return 0;
}

/* Can kernel events be among the losses?  Only scanners write to the rings after the CPUs'. */
static int add_loss(struct model *m, const struct ldb_row_lost *row, uint32_t nr_cpus)
{
	if (row->what == LDB_LOST_UNWATCHED ||
	    (row->what != LDB_LOST_KERNEL && row->what != LDB_LOST_DISK && row->ring >= nr_cpus))
		return 0;
	if (!array_room(&m->losses, &m->room_losses, m->nr_losses, sizeof(*m->losses)))
		return -ENOMEM;
	m->losses[m->nr_losses++] = ticks_sane(row->tick);
	return 0;
}

static int add_lost(void *arg, const struct reader_rows *rows)
{
	struct model *m = arg;
	const char *meta = reader_meta(m->reader, "nr_cpus");
	uint32_t nr_cpus = meta ? strtoul(meta, NULL, 10) : UINT32_MAX;

	for (size_t i = 0; i < rows->nr; i++) {
		uint32_t what = rows->lost[i].what;

		if (add_loss(m, &rows->lost[i], nr_cpus))
			return -ENOMEM;

		m->lost[what < MODEL_NR_LOST ? what : 0] += rows->lost[i].count;
		m->nr_lost += rows->lost[i].count;
	}
	return 0;
}

static int add_gaps(void *arg, const struct reader_rows *rows)
{
	struct model *m = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_gap *gap = &rows->gap[i];
		int64_t ns = ticks_ns(m->reader, (double)gap->end - (double)gap->begin);

		if (!gaps_add(&m->gaps, gap->tid, ticks_sane(gap->begin), ticks_sane(gap->end)))
			return -ENOMEM;
		if (gap->tid) {
			m->nr_thread_gaps++;
			m->thread_gap_ns = ticks_sane(m->thread_gap_ns + ns);
		} else {
			m->nr_gaps++;
			m->gap_ns = ticks_sane(m->gap_ns + ns);
		}
	}
	return 0;
}

COMPARE_NUMBERS(compare_ticks, int64_t)

static int find_sched(void *arg, const struct reader_rows *rows)
{
	return 1;
}

static bool meta_is_set(const struct model *m, const char *key)
{
	const char *value = reader_meta(m->reader, key);

	return value && !strcmp(value, "1");
}

/* Finds what is known of the kernel events before they are read. */
static int add_kernel(struct model *m)
{
	const char *err = reader_meta(m->reader, "kernel_err_ns");
	const char *events = reader_meta(m->reader, "kernel_events");
	const char *why = reader_meta(m->reader, "kernel_why");
	const char *only = reader_meta(m->reader, "kernel_only");
	int ret;

	m->has_faults = meta_is_set(m, "kernel_faults");
	m->has_irqs = meta_is_set(m, "kernel_irqs");
	m->kernel_events = events ? events : "";
	m->kernel_why = why ? why : "";
	m->is_kernel_only = only && strcmp(only, "0");
	m->kernel_err_ns = err ? strtoll(err, NULL, 10) : 0;
	if (m->kernel_err_ns < 0 || m->kernel_err_ns > 1000000000)
		m->kernel_err_ns = 1000000000;
	sort_by(m->losses, m->nr_losses, compare_ticks);
	ret = reader_each(m->reader, LDB_BLK_SCHED, NULL, find_sched, m);
	if (ret < 0)
		return ret;
	m->has_sched = ret;
	m->tasks = tasks_open(m);
	if (!m->tasks)
		return -ENOMEM;
	/* A thread may have been renamed after its start: the kernel knows its last name. */
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
	if (reader_each(reader, LDB_BLK_MODULE, NULL, add_modules, m) ||
	    reader_each(reader, LDB_BLK_FILE, NULL, add_names, m) ||
	    reader_each(reader, LDB_BLK_SYMBOL, NULL, add_names, m) ||
	    reader_each(reader, LDB_BLK_CALL, NULL, add_names, m) ||
	    reader_each(reader, LDB_BLK_THREAD, NULL, add_threads, m) || sort_threads(m) ||
	    reader_each(reader, LDB_BLK_SCAN, NULL, add_scanners, m) ||
	    reader_each(reader, LDB_BLK_LOST, NULL, add_lost, m) ||
	    reader_each(reader, LDB_BLK_GAP, NULL, add_gaps, m) || add_kernel(m))
		goto err_free;
	gaps_sort(&m->gaps);
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
	tasks_close(m->tasks);
	gaps_free(&m->gaps);
	free(m->losses);
	intern_free(&m->strings);
	free(m->threads);
	free(m);
}

const struct thread *model_thread(const struct model *m, uint32_t tid, int64_t tick)
{
	/* The last thread with this tid that had started; else the first with it. */
	size_t lo = search_by(m->threads, m->nr_threads, t,
			      t->tid < tid || (t->tid == tid && t->start <= tick));

	if (lo > 0 && m->threads[lo - 1].tid == tid)
		return &m->threads[lo - 1];
	if (lo < m->nr_threads && m->threads[lo].tid == tid)
		return &m->threads[lo];
	return NULL;
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
