// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the analyses of ldb-report on the window of a snapshot. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "analysis/tracks/request-source.h"
#include "base/array.h"
#include "base/sort.h"
#include "facts/rows.h"
#include "facts/ticks.h"
#include "top/top.h"

#define NR_SLOWEST	10

static int open_reader(const struct snapshot *s, bool is_wide, struct reader **reader)
{
	char path[64], err[256];
	int fd = snapshot_file(s, is_wide);

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*reader = reader_open(path, err, sizeof(err));
	close(fd);
	return *reader ? 0 : -ENOMEM;
}

static int build_requests(struct view *v)
{
	struct requests_options options = REQUESTS_OPTIONS_ALL;
	int rc;

	options.nr_slowest = NR_SLOWEST;
	options.ended_from = snapshot_info(v->snapshot)->from;
	rc = requests_build(v->model, &options, &v->requests);
	if (rc)
		return rc;
	return timelines_build(v->model, v->requests.instances, v->requests.nr_instances, &v->timelines);
}

/* Lists only the innermost function of each thread, because the outer ones wait for it. */
static int add_running(void *arg, const void *row)
{
	const struct ldb_row_func *f = row;
	struct view *v = arg;
	struct view_running *r = v->nr_running ? &v->running[v->nr_running - 1] : NULL;

	if (!(f->flags & LDB_FUNC_F_OPEN))
		return 0;
	if (!r || r->tid != f->tid) {
		if (!array_room(&v->running, &v->room_running, v->nr_running, sizeof(*r)))
			return -ENOMEM;
		r = &v->running[v->nr_running++];
	}
	*r = (struct view_running){
		.tid = f->tid, .thread = model_thread(v->model, f->tid, f->start_max),
		.func = symtab_lookup(v->model->symtab, f->pc, f->start_max),
		.site = f->ret ? symtab_lookup_call(v->model->symtab, f->ret, f->start_max) : NULL,
		.ns = ticks_time_ns(v->window, f->end_max) - ticks_time_ns(v->window, f->start_max),
		.is_at_least = f->flags & LDB_FUNC_F_FROM_START,
	};
	return 0;
}

COMPARE(longer_first, struct view_running, DOWN(ns))

static int build(struct view *v, const struct top_options *o)
{
	struct stats_options stats = STATS_OPTIONS_ALL;
	struct locks_options locks = LOCKS_OPTIONS_ALL;
	int rc;

	stats.by = o->by;
	rc = stats_build(&v->window_model, &stats, &v->stats);
	if (rc)
		return rc;
	v->rows = calloc(v->stats.nr + 1, sizeof(*v->rows));
	if (!v->rows)
		return -ENOMEM;
	/* Functions without completed calls have no duration, and are left out. */
	for (size_t i = 0; i < v->stats.nr; i++)
		if (v->stats.entries[i].count)
			v->rows[v->nr_rows++] = &v->stats.entries[i];
	rc = rows_each(v->window, LDB_BLK_FUNC, NULL, add_running, v);
	if (rc)
		return rc;
	sort_by(v->running, v->nr_running, longer_first);
	rc = locks_build(&v->window_model, &locks, &v->locks);
	return rc ? rc : build_requests(v);
}

int view_build(struct view *v, struct snapshot *s, struct symtab *symtab,
	       const struct top_options *o)
{
	char err[256];
	int rc;

	*v = (struct view){ .snapshot = s };
	symtab_forget(symtab);
	rc = open_reader(s, true, &v->wide);
	if (!rc)
		rc = open_reader(s, false, &v->window);
	if (rc)
		goto err_free;
	rc = -ENOMEM;
	v->model = model_open(v->wide, symtab, err, sizeof(err));
	/* The recording's own --request is stored in the trace. */
	if (!v->model || !request_source_open(v->model, NULL, 0, err, sizeof(err)))
		goto err_free;
	v->window_model = *v->model;
	v->window_model.reader = v->window;
	rc = build(v, o);
	if (rc)
		goto err_free;
	view_sort(v, o->sort);
	return 0;

err_free:
	view_free(v);
	return rc;
}

void view_sort(struct view *v, size_t sort)
{
	functions_sort(v->rows, v->nr_rows, functions_sort_key(sort));
}

void view_free(struct view *v)
{
	timelines_free(v->timelines, v->requests.nr_instances);
	requests_free(&v->requests);
	locks_free(&v->locks);
	free(v->rows);
	free(v->running);
	stats_free(&v->stats);
	model_close(v->model);
	reader_close(v->wide);
	reader_close(v->window);
	snapshot_free(v->snapshot);
	*v = (struct view){ 0 };
}
