// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides, before rows are merged, how numbers and addresses of the parts become unique: those of
 * processes, of modules at the same address, of threads with the same tid, and of requests.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/join-private.h"

#define NUMBERS_MAX	0x7fffU		/* bit 63 of an address marks the kernel's addresses */
#define MACHINES_MAX	(1U << (32 - LDB_TID_BITS))
#define ID_STEP_MIN	1000
/* for greater ids, ID_SPREAD is used instead of a step */
#define ID_STEP_MAX	1000000000000000ULL
#define ID_SPREAD	0x9e3779b97f4a7c15ULL	/* 2^64 / the golden ratio */
#define THREADS_MAX	(64U << 20)

static const char *keep(struct join *j, const char *text)
{
	const char *kept = text && *text ? intern_text(&j->texts, text) : "";

	return kept ? kept : "";
}

/* Processes */

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static uint32_t meta_number(const struct join_part *p, const char *key)
{
	const char *text = reader_meta(p->r, key);

	return text ? strtoul(text, NULL, 10) : 0;
}

struct reading {
	struct join *j;
	struct join_part *p;
};

static int add_processes(void *arg, const struct reader_rows *rows)
{
	struct reading *to = arg;
	struct join_part *p = to->p;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_process *r = &rows->process[i];
		struct join_space s = { .from = r->number, .row = *r };

		s.row.name = keep(to->j, r->name);
		s.row.cmdline = keep(to->j, r->cmdline);
		s.row.host = keep(to->j, r->host);
		s.row.ended = keep(to->j, r->ended);
		if (array_push(p->spaces, p->nr_spaces, p->room_spaces, s))
			return -ENOMEM;
	}
	return 0;
}

static bool is_end(const char *end)
{
	return !strncmp(end, "exit", 4) || !strncmp(end, "signal", 6) || !strcmp(end, "ended") ||
	       !strcmp(end, "exec");
}

/* Adds the process of a trace that has no PROCESS rows, and is therefore that of one process. */
static int add_own_process(struct join *j, struct join_part *p)
{
	const char *name = reader_meta(p->r, "process"), *end = reader_meta(p->r, "end");
	struct join_space s = { .row = {
		.pid = meta_number(p, "pid"), .ppid = meta_number(p, "ppid"),
		.start = 0, .end = reader_end_tick(p->r),
		.name = keep(j, name && *name ? name : base_name(reader_meta(p->r, "exe"))),
		.cmdline = keep(j, reader_meta(p->r, "cmdline")),
		.host = keep(j, reader_meta(p->r, "host")), .ended = keep(j, end),
	} };

	if (!s.row.pid && p->nr_threads)
		s.row.pid = p->threads[0].tid;
	p->has_ended = is_end(s.row.ended);
	return array_push(p->spaces, p->nr_spaces, p->room_spaces, s);
}

static int find_processes(struct join *j)
{
	size_t nr = 0;
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++) {
		struct reading to = { j, &j->parts[i] };

		rc = reader_each(to.p->r, LDB_BLK_PROCESS, NULL, add_processes, &to);
		if (!rc && !to.p->nr_spaces)
			rc = add_own_process(j, to.p);
		nr += to.p->nr_spaces;
	}
	if (nr > NUMBERS_MAX)
		return -E2BIG;
	j->is_process = nr > 1;
	nr = 0;
	for (size_t i = 0; i < j->nr; i++) {
		struct join_part *p = &j->parts[i];

		for (size_t k = 0; k < p->nr_spaces; k++)
			p->spaces[k].row.number = nr++;
	}
	return rc;
}

/* Modules */

/*
 * A file that is mapped at an address, as in the first process that has mapped it at this address.
 */
struct mapped {
	uint64_t start, end, bias;	/* addresses without the number of the process */
	const char *build_id, *path;	/* texts that belong to the join */
	uint32_t number;
	size_t row;
};

static struct mapped *find_mapped(struct join *j, const struct mapped *m, bool *is_new)
{
	uint64_t hash = hash_mix(hash_mix(hash_mix(0, m->start), m->bias), (uintptr_t)m->path);
	struct mapped *at;

	*is_new = false;
	/* Without a build-id, two files with the same name need not be the same file. */
	keyed_each(&j->mapped, hash, at)
		if (at->start == m->start && at->end == m->end && at->bias == m->bias &&
		    at->build_id == m->build_id && at->path == m->path && *m->build_id)
			return at;
	*is_new = true;
	at = keyed_add(&j->mapped, hash, sizeof(*at));
	if (at)
		*at = *m;
	return at;
}

static struct join_space *space_at(struct join_part *p, uint64_t addr)
{
	for (size_t i = 0; i < p->nr_spaces; i++)
		if (p->spaces[i].from == addr >> LDB_ADDRESS_BITS)
			return &p->spaces[i];
	return NULL;
}

/*
 * Lets process s use the MODULE row of an earlier process for the same code.  This is possible also
 * if the earlier process has ended.
 */
static int share_code(struct join *j, struct join_space *s, const struct mapped *of,
		      const struct ldb_row_module *m)
{
	struct ldb_row_module *row = &j->modules[of->row];

	if (of->number != s->row.number) {
		row->tick = min(row->tick, m->tick);
		row->end_tick = max(row->end_tick, m->end_tick);
	}
	return array_push(s->code, s->nr_code, s->room_code, { of->start, of->end, of->number });
}

static int add_module(struct join *j, struct join_part *p, struct ldb_row_module m)
{
	struct join_space *s = space_at(p, m.start);
	uint64_t more = s ? (uint64_t)s->from << LDB_ADDRESS_BITS : 0;
	struct mapped key, *of;
	bool is_new;

	if (!s || m.start >= m.end)
		return array_push(j->modules, j->nr_modules, j->room_modules, m);
	key = (struct mapped){
		m.start - more, m.end - more, m.bias - more, m.build_id, m.path, s->row.number,
		j->nr_modules,
	};
	more = (uint64_t)s->row.number << LDB_ADDRESS_BITS;
	m.start = key.start + more;
	m.end = key.end + more;
	m.bias = key.bias + more;
	of = find_mapped(j, &key, &is_new);
	if (!of || array_push(j->modules, j->nr_modules, j->room_modules, m))
		return -ENOMEM;
	return share_code(j, s, of, &m);
}

struct modules {
	struct reading to;
	struct ldb_row_module *rows;
	size_t nr, room;
};

static int read_modules(void *arg, const struct reader_rows *rows)
{
	struct modules *m = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++) {
		struct ldb_row_module row = rows->module[i];

		row.tick = join_tick(m->to.p, row.tick);
		row.end_tick = join_tick(m->to.p, row.end_tick);
		row.build_id = keep(m->to.j, row.build_id);
		row.path = keep(m->to.j, row.path);
		rc = array_push(m->rows, m->nr, m->room, row);
	}
	return rc;
}

ORDER_KEY(module_start, struct ldb_row_module, start)
ORDER_KEY(module_tick, struct ldb_row_module, tick)

/*
 * Adds the modules of a part.  A module's row is written again when it is unloaded, and the last
 * row counts.
 */
static int add_modules(struct modules *m)
{
	static const order_key keys[] = { module_start, module_tick };
	int rc = order_sort(&m->rows, m->nr, sizeof(*m->rows), keys, 2);

	for (size_t i = 0; i < m->nr && !rc; i++)
		if (i + 1 == m->nr || m->rows[i + 1].start != m->rows[i].start ||
		    m->rows[i + 1].tick != m->rows[i].tick)
			rc = add_module(m->to.j, m->to.p, m->rows[i]);
	return rc;
}

COMPARE(compare_code, struct join_code, UP(start) UP(end) UP(number))

/*
 * Sorts the ranges of a process's code.  If it had different files at one address, the code there
 * gets the number of this process.
 */
static void sort_code(struct join_space *s)
{
	size_t nr = 0;

	sort_by(s->code, s->nr_code, compare_code);
	for (size_t i = 0; i < s->nr_code; i++) {
		struct join_code c = s->code[i];

		if (nr && s->code[nr - 1].end > c.start) {
			s->code[nr - 1].end = max(s->code[nr - 1].end, c.end);
			if (s->code[nr - 1].number != c.number)
				s->code[nr - 1].number = s->row.number;
		} else {
			s->code[nr++] = c;
		}
	}
	s->nr_code = nr;
}

static int find_modules(struct join *j)
{
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++) {
		struct modules m = { .to = { j, &j->parts[i] } };

		rc = reader_each(m.to.p->r, LDB_BLK_MODULE, NULL, read_modules, &m);
		rc = rc ? rc : add_modules(&m);
		for (size_t k = 0; k < m.to.p->nr_spaces; k++)
			sort_code(&m.to.p->spaces[k]);
		free(m.rows);
	}
	return rc;
}

COMPARE(compare_modules, struct ldb_row_module, UP(tick) UP(start))

int join_write_modules(struct join *j)
{
	sort_by(j->modules, j->nr_modules, compare_modules);
	return writer_add_modules(j->w, j->modules, j->nr_modules);
}

/* Threads */

static int add_threads(void *arg, const struct reader_rows *rows)
{
	struct join_part *p = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc && p->nr_threads < THREADS_MAX; i++)
		rc = array_push(p->threads, p->nr_threads, p->room_threads, rows->thread[i]);
	return rc;
}

COMPARE(compare_threads, struct ldb_row_thread, UP(tid) UP(start) UP(end))

static void sort_threads(struct join_part *p)
{
	size_t nr = 0;

	sort_by(p->threads, p->nr_threads, compare_threads);
	for (size_t i = 0; i < p->nr_threads; i++) {
		if (nr && p->threads[nr - 1].tid == p->threads[i].tid &&
		    p->threads[nr - 1].start == p->threads[i].start)
			nr--;
		p->threads[nr++] = p->threads[i];
	}
	p->nr_threads = nr;
}

static int find_threads(struct join *j)
{
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++) {
		rc = reader_each(j->parts[i].r, LDB_BLK_THREAD, NULL, add_threads, &j->parts[i]);
		sort_threads(&j->parts[i]);
	}
	return rc;
}

/*
 * Returns true if both parts had a thread with the same tid at the same time: then they are of
 * different PID namespaces.
 */
static bool are_at_odds(const struct join_part *a, const struct join_part *b)
{
	for (size_t i = 0; i < a->nr_threads; i++) {
		const struct ldb_row_thread *t = &a->threads[i];
		size_t n = search_by(b->threads, b->nr_threads, u, u->tid < t->tid);

		for (; n < b->nr_threads && b->threads[n].tid == t->tid; n++)
			if (join_tick(a, t->start) < join_tick(b, b->threads[n].end) &&
			    join_tick(b, b->threads[n].start) < join_tick(a, t->end))
				return true;
	}
	return false;
}

static bool is_same_machine(const struct join_part *a, const struct join_part *b)
{
	const char *boot_a = reader_meta(a->r, "boot"), *boot_b = reader_meta(b->r, "boot");

	return a->is_same_clock == b->is_same_clock &&
	       (a->is_same_clock || (boot_a && boot_b && !strcmp(boot_a, boot_b)));
}

/*
 * Returns true if part nr may be of the same PID namespace as part n, and as all other parts of
 * that namespace.
 */
static bool may_share_tids(const struct join *j, size_t n, size_t nr)
{
	if (!is_same_machine(&j->parts[n], &j->parts[nr]))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (j->parts[i].tid_base == j->parts[n].tid_base && are_at_odds(&j->parts[i], &j->parts[nr]))
			return false;
	return true;
}

/*
 * Returns the number of machine numbers that a part uses; there may be several if it was joined
 * itself.
 */
static uint32_t nr_machines_of(const struct join_part *p)
{
	uint32_t last = p->nr_threads ? p->threads[p->nr_threads - 1].tid : 0;

	return (last >> LDB_TID_BITS) + 1;
}

static int choose_tids(struct join *j)
{
	uint32_t nr_used = 0;

	for (size_t i = 0; i < j->nr; i++) {
		struct join_part *p = &j->parts[i];
		size_t n = 0;

		while (n < i && !may_share_tids(j, n, i))
			n++;
		if (n < i) {
			p->tid_base = j->parts[n].tid_base;
		} else {
			if (nr_used + nr_machines_of(p) > MACHINES_MAX)
				return -E2BIG;
			p->tid_base = nr_used << LDB_TID_BITS;
			nr_used += nr_machines_of(p);
		}
	}
	return 0;
}

/* Requests */

static int last_id(const struct join_part *p, uint64_t *id)
{
	const struct ldb_row_reqtab *rows;
	size_t nr;
	int rc;

	for (size_t i = 0; p->r->has_index && i < p->r->nr_blocks; i++)
		if (p->r->blocks[i].i.kind == LDB_BLK_REQTAB)
			*id = max(*id, p->r->blocks[i].i.id_max);
	if (*id)
		return 0;
	rc = reader_requests(p->r, &rows, &nr);
	if (!rc && nr)
		*id = max(*id, rows[nr - 1].id);
	return rc;
}

/*
 * Chooses how request ids become unique.  If all ids are below 1000, id 17 of part 3 (counted from
 * 0) becomes 3017, so that people can read them.
 */
static int choose_ids(struct join *j)
{
	uint64_t step = ID_STEP_MIN, last = 0;
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++) {
		uint64_t id = 0;

		rc = last_id(&j->parts[i], &id);
		last = max(last, id);
	}
	while (step <= last && step < ID_STEP_MAX)
		step *= 10;
	j->id_step = last < step && j->nr < UINT64_MAX / step ? step : 0;
	for (size_t i = 0; i < j->nr; i++)
		j->parts[i].id_base = i * (j->id_step ? j->id_step : ID_SPREAD);
	return rc;
}

/* Fills in the PROCESS rows, after all decisions. */
static void fill_processes(struct join *j)
{
	for (size_t i = 0; i < j->nr; i++) {
		struct join_part *p = &j->parts[i];

		for (size_t k = 0; k < p->nr_spaces; k++) {
			struct ldb_row_process *r = &p->spaces[k].row;

			r->start = join_tick(p, r->start);
			r->end = join_tick(p, r->end);
			r->pid = r->pid ? r->pid + p->tid_base : 0;
			r->ppid = r->ppid ? r->ppid + p->tid_base : 0;
			r->id_base += p->id_base;
			r->clock_err = r->flags & LDB_PROCESS_F_CLOCK ? join_ticks(p, r->clock_err) : 0;
			if (p->is_same_clock)
				continue;
			r->flags |= LDB_PROCESS_F_CLOCK;
			if (__builtin_add_overflow(r->clock_err, p->clock_err, &r->clock_err))
				r->clock_err = UINT64_MAX;
		}
	}
}

int join_plan(struct join *j, char *err, size_t err_size)
{
	int rc = find_threads(j);

	if (!rc)
		rc = find_processes(j);
	if (!rc)
		rc = join_find_shared(j);
	if (!rc)
		rc = find_modules(j);
	if (!rc)
		rc = choose_ids(j);
	if (!rc)
		rc = choose_tids(j);
	if (!rc)
		fill_processes(j);
	if (rc == -E2BIG)
		snprintf(err, err_size, "these are too many processes or machines to join");
	else if (rc)
		snprintf(err, err_size, "out of memory");
	return rc;
}
