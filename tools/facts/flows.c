// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ldb/control.h>
#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "flows.h"
#include "rows.h"
#include "symbol/demangle.h"
#include "ticks.h"

#define MAPPED_NEAR	64	/* how many modules mapped below an address are examined */

/* These functions wait.  The time is not work of the library that contains them. */
static const char *const wait_names[] = {
	"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", "_ZNSt6thread4joinEv",
	"clock_nanosleep", "cnd_timedwait", "cnd_wait", "epoll_pwait", "epoll_pwait2", "epoll_wait",
	"io_getevents", "mtx_lock", "nanosleep", "pause", "poll", "ppoll", "pselect",
	"pthread_barrier_wait", "pthread_clockjoin_np", "pthread_cond_clockwait",
	"pthread_cond_timedwait", "pthread_cond_wait", "pthread_join", "pthread_mutex_clocklock",
	"pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_rwlock_clockrdlock",
	"pthread_rwlock_clockwrlock", "pthread_rwlock_rdlock", "pthread_rwlock_timedrdlock",
	"pthread_rwlock_timedwrlock", "pthread_rwlock_wrlock", "pthread_timedjoin_np", "select",
	"sem_clockwait", "sem_timedwait", "sem_wait", "sigsuspend", "sigtimedwait", "sigwait",
	"sigwaitinfo", "sleep", "thrd_join", "thrd_sleep", "usleep", "wait", "wait3", "wait4", "waitid",
	"waitpid",
};

static int compare_name(const void *key, const void *name)
{
	return strcmp(key, *(const char *const *)name);
}

bool flow_is_wait(const char *name)
{
	return bsearch(name, wait_names, sizeof(wait_names) / sizeof(wait_names[0]),
		       sizeof(wait_names[0]), compare_name);
}

static uint32_t component_of_path(struct flows *f, const char *path, int *ret)
{
	const char *name = strrchr(path, '/');
	uint64_t hash = hash_text(path);
	uint32_t n;

	hash_each(&f->by_path, hash, n)
		if (!strcmp(f->components[n].path, path))
			return n;
	*ret = hash_add(&f->by_path, hash, f->nr_components) ? -ENOMEM : array_push(f->components, f->nr_components, f->room_components, {
		.name = model_keep_string(f->m, name && name[1] ? name + 1 : path),
		.path = model_keep_string(f->m, path), .has_records = !f->nr_components,
	});
	return f->nr_components - 1;
}

static int add_module(void *arg, const void *at)
{
	const struct ldb_row_module *row = at;
	struct flows *f = arg;
	struct flow_mapped m = {
		.start = row->start, .end = row->end, .from = row->tick, .to = row->end_tick,
	};
	int ret = 0;

	if (row->start >= row->end)
		return 0;
	m.component = component_of_path(f, row->path, &ret);
	if (!ret)
		f->components[m.component].has_records |= row->flags & LDB_MODULE_F_INSTRUMENTED;
	return ret ? ret : array_push(f->mapped, f->nr_mapped, f->room_mapped, m);
}

uint32_t flows_component_at(const struct flows *f, uint64_t addr, int64_t tick)
{
	size_t above = search_by(f->mapped, f->nr_mapped, m, m->start <= addr);
	uint32_t other = FLOW_NO_COMPONENT;

	for (size_t i = above; i-- > 0 && above - i <= MAPPED_NEAR;) {
		const struct flow_mapped *m = &f->mapped[i];

		if (addr >= m->end)
			continue;
		other = m->component;
		if (tick >= m->from && tick < m->to)
			break;
	}
	return other;
}

COMPARE(mapped_compare, struct flow_mapped, UP(start) UP(from))

/* Addresses outside of all modules belong to a component with an empty path. */
static uint32_t component_or_unknown(struct flows *f, uint64_t addr, int64_t tick, int *ret)
{
	uint32_t component = flows_component_at(f, addr, tick);

	if (component != FLOW_NO_COMPONENT || *ret)
		return component;
	component = component_of_path(f, "", ret);
	if (!*ret)
		f->components[component].name = "code of no file";
	return component;
}

static int add_api(void *arg, const void *at)
{
	const struct ldb_row_flow_api *row = at;
	struct flows *f = arg;
	int ret = 0;
	struct flow_api api = {
		.id = row->id, .flags = row->flags, .tick = ticks_sane(row->tick), .target = row->target,
		.caller = component_or_unknown(f, row->caller, row->tick, &ret),
		.callee = component_or_unknown(f, row->target, row->tick, &ret),
		.is_wait = flow_is_wait(row->name),
		.symbol = { .raw = model_keep_string(f->m, row->name) },
	};

	return ret ? ret : array_push(f->apis, f->nr_apis, f->room_apis, api);
}

/* Returns the readable name of a C++ function, and for all others the name that the linker uses. */
static const char *demangled(struct model *m, const char *raw)
{
	char *name = symtab_is_demangling(m->symtab) ? demangle_name(raw) : NULL;
	const char *kept = name && *name ? model_keep_string(m, name) : raw;

	free(name);
	return kept;
}

COMPARE(api_compare, struct flow_api, UP(id))

/* Sorts the APIs by id, and drops all but the first of the same id. */
static void sort_apis(struct flows *f)
{
	size_t nr = 0;

	sort_by(f->apis, f->nr_apis, api_compare);
	for (size_t i = 0; i < f->nr_apis; i++)
		if (!nr || f->apis[nr - 1].id != f->apis[i].id)
			f->apis[nr++] = f->apis[i];
		else
			f->nr_bad++;
	f->nr_apis = nr;
	f->first = nr ? TICKS_MAX : INT64_MIN;
	for (size_t i = 0; i < nr; i++)
		f->first = min(f->first, f->apis[i].tick);
	for (size_t i = 0; i < nr; i++) {
		struct flow_api *a = &f->apis[i];

		a->symbol = (struct symbol){
			.module = f->components[a->callee].name, .path = f->components[a->callee].path,
			.function = demangled(f->m, a->symbol.raw), .raw = a->symbol.raw,
			.file = "", .func_file = "", .known = *a->symbol.raw,
		};
	}
}

const struct flow_api *flows_api(const struct flows *f, uint32_t id)
{
	size_t i = search_by(f->apis, f->nr_apis, a, a->id < id);

	return i < f->nr_apis && f->apis[i].id == id ? &f->apis[i] : NULL;
}

static int add_sum(void *arg, const void *at)
{
	const struct ldb_row_flow *row = at;
	struct flows *f = arg;
	int64_t tick = ticks_sane(row->tick);
	const struct flow_api *api = flows_api(f, row->api);
	const struct thread *thread = model_thread(f->m, row->tid, tick);

	if (!api || !thread || row->timed > row->calls) {
		f->nr_bad++;
		return 0;
	}
	return array_push(f->sums, f->nr_sums, f->room_sums, {
		.thread = thread, .api = api - f->apis, .tick = tick, .calls = row->calls,
		.timed = row->timed, .sum = ticks_sane_length(row->sum),
		.shared = ticks_sane_length(row->shared), .min = ticks_sane_length(row->min),
		.max = ticks_sane_length(row->max), .back = ticks_sane_length(row->back),
	});
}

COMPARE(sum_compare, struct flow_sum, UP(thread) UP(api) UP(tick) UP(calls))

/* Sorts the sums by thread and API, and drops all but the last of the same thread and API. */
static void sort_sums(struct flows *f)
{
	size_t nr = 0;

	sort_by(f->sums, f->nr_sums, sum_compare);
	for (size_t i = 0; i < f->nr_sums; i++) {
		if (nr && f->sums[nr - 1].thread == f->sums[i].thread && f->sums[nr - 1].api == f->sums[i].api)
			nr--;
		f->sums[nr++] = f->sums[i];
	}
	f->nr_sums = nr;
}

static int add_length(void *arg, const void *at)
{
	const struct ldb_row_flow_hist *row = at;
	struct flows *f = arg;
	int64_t tick = ticks_sane(row->tick);
	const struct flow_api *api = flows_api(f, row->api);
	const struct thread *thread = model_thread(f->m, row->tid, tick);
	uint32_t a = api ? api - f->apis : 0;
	size_t i = search_by(f->sums, f->nr_sums, s, s->thread < thread || (s->thread == thread && s->api < a));

	if (!api || !thread || row->bucket >= LDB_FLOW_BUCKETS) {
		f->nr_bad++;
		return 0;
	}
	if (i == f->nr_sums || f->sums[i].thread != thread || f->sums[i].api != a || f->sums[i].tick != tick)
		return 0;	/* a later row has replaced the sum that these lengths belong to */
	return array_push(f->lengths, f->nr_lengths, f->room_lengths,
			  { .sum = i, .bucket = row->bucket, .nr = row->count });
}

COMPARE(length_compare, struct flow_length, UP(sum) UP(bucket))

static void sort_lengths(struct flows *f)
{
	size_t at = 0;

	sort_by(f->lengths, f->nr_lengths, length_compare);
	for (size_t i = 0; i < f->nr_sums; i++) {
		f->sums[i].first_length = at;
		while (at < f->nr_lengths && f->lengths[at].sum == i)
			at++;
	}
}

static uint64_t count_of(const struct model *m, const char *key)
{
	int64_t nr = model_number(m, key, 0);

	return nr > 0 ? nr : 0;
}

static void add_losses(struct flows *f)
{
	f->threshold_ns = count_of(f->m, "flows_threshold_ns");
	f->nr_no_slot = count_of(f->m, "flows_no_slot");
	f->nr_address_taken = count_of(f->m, "flows_address_taken");
	f->nr_unresolved = count_of(f->m, "flows_unresolved");
	f->nr_limit = count_of(f->m, "flows_limit");
	f->nr_lost_threads = count_of(f->m, "flows_lost_threads");
	f->nr_unknown_calls = count_of(f->m, "flows_unknown_calls");
}

struct flows *flows_open(struct model *m)
{
	struct flows *f = calloc(1, sizeof(*f));
	const char *exe = reader_meta(m->reader, "exe");
	int ret = 0;

	if (!f)
		return NULL;
	f->m = m;
	f->has_flows = m->has_flows;
	component_of_path(f, exe ? exe : "", &ret);
	if (!ret && f->has_flows)
		ret = rows_each(m->reader, LDB_BLK_MODULE, NULL, add_module, f);
	if (!ret)
		sort_by(f->mapped, f->nr_mapped, mapped_compare);
	if (!ret)
		ret = rows_each(m->reader, LDB_BLK_FLOW_API, NULL, add_api, f);
	if (ret)
		goto err_free;
	sort_apis(f);
	ret = rows_each(m->reader, LDB_BLK_FLOW, NULL, add_sum, f);
	if (ret)
		goto err_free;
	sort_sums(f);
	ret = rows_each(m->reader, LDB_BLK_FLOW_HIST, NULL, add_length, f);
	if (ret)
		goto err_free;
	sort_lengths(f);
	add_losses(f);
	return f;

err_free:
	flows_close(f);
	return NULL;
}

struct flows *flows_of(struct model *m)
{
	if (!m->flows)
		m->flows = flows_open(m);
	return m->flows;
}

void flows_close(struct flows *f)
{
	if (!f)
		return;
	free(f->components);
	free(f->mapped);
	hash_free(&f->by_path);
	free(f->apis);
	free(f->sums);
	free(f->lengths);
	free(f);
}

bool flow_has_place(const struct flows *f, const struct flow_api *api)
{
	return f->components[api->caller].has_records;
}

struct sink {
	const struct flows *f;
	int (*call)(void *arg, const struct flow_call *c);
	void *arg;
};

static int on_call(void *arg, const void *at)
{
	const struct ldb_row_flow_call *row = at;
	const struct sink *sink = arg;
	int64_t start = ticks_sane(row->start), end = ticks_sane(row->end);
	const struct flow_api *api = flows_api(sink->f, row->api);

	if (!api)
		return 0;
	return sink->call(sink->arg, &(struct flow_call){
		.tid = row->tid, .thread = model_thread(sink->f->m, row->tid, start), .start = start,
		.end = end > start ? end : start, .api = api, .gen = row->gen,
		.site = flow_has_place(sink->f, api) ? row->site : 0,
		.nr_later = row->nr_later, .is_open = row->flags & LDB_FLOW_CALL_F_OPEN,
		.was_left = row->flags & LDB_FLOW_CALL_F_LEFT,
	});
}

int flow_calls_each(const struct flows *f, const struct reader_filter *filter,
		    int (*call)(void *arg, const struct flow_call *c), void *arg)
{
	struct sink sink = { .f = f, .call = call, .arg = arg };

	return rows_each(f->m->reader, LDB_BLK_FLOW_CALL, filter, on_call, &sink);
}
