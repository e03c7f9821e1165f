// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the rows of names to which other tables refer. */

#include "facts/lockset.h"
#include "export/sqlite-private.h"

int64_t sqlite_thread_of(struct sqlite_export *e, const struct thread *t)
{
	const struct model *m = e->m;
	bool is_new;
	uint64_t nr;

	if (t >= m->threads && t < m->threads + m->nr_threads)
		return t - m->threads + 1;
	/* A thread that is not in the trace gets a row, too. */
	nr = table_get(&e->strangers, t->tid, 0, 0, &is_new);
	if (!nr)
		return 0;
	nr += m->nr_threads;
	if (is_new)
		sqlite_put(e, TABLE_THREAD, V(nr), V(t->tid), V(""));
	return nr;
}

int64_t sqlite_thread(struct sqlite_export *e, uint32_t tid, int64_t tick)
{
	struct thread stranger = { .tid = tid };
	const struct thread *t = tid ? model_thread(e->m, tid, tick) : NULL;

	if (!tid)
		return 0;
	return sqlite_thread_of(e, t ? t : &stranger);
}

/* Strings of symbols are interned, so comparing pointers is sufficient. */
static uint64_t number(struct table *names, struct table *functions, const struct symbol *f,
		       bool *is_new)
{
	uint64_t name = table_get(names, (uintptr_t)f->function, (uintptr_t)f->raw,
				  (uintptr_t)f->path, is_new);

	return table_get(functions, name, (uintptr_t)f->func_file, f->func_line, is_new);
}

int64_t sqlite_function(struct sqlite_export *e, const struct symbol *f)
{
	uint64_t nr;
	bool is_new;

	if (!f)
		return 0;
	nr = number(&e->function_names, &e->functions, f, &is_new);
	if (is_new && nr)
		sqlite_put(e, TABLE_FUNCTION, V(nr), V(f->function), V(f->raw), V(f->module),
			   V(f->path), V(f->func_file), V(f->func_line));
	return nr;
}

int64_t sqlite_site(struct sqlite_export *e, const struct symbol *s)
{
	uint64_t nr;
	bool is_new;

	if (!s)
		return 0;
	nr = number(&e->site_names, &e->site_functions, s, &is_new);
	nr = table_get(&e->sites, nr, (uintptr_t)s->file, s->line, &is_new);
	if (is_new && nr)
		sqlite_put(e, TABLE_SITE, V(nr), V(s->function), V(s->module), V(s->path),
			   V(s->file), V(s->line));
	return nr;
}

int64_t sqlite_lock(struct sqlite_export *e, const struct segment *s)
{
	/* The events of readers and of writers concern the same lock. */
	unsigned group = s->lock_kind == LDB_LOCK_RWLOCK_WR ? LDB_LOCK_RWLOCK_RD : s->lock_kind;
	bool is_new;
	uint64_t nr = table_get(&e->locks, s->lock, group, 0, &is_new);

	if (is_new && nr)
		sqlite_put(e, TABLE_LOCK, V(nr), value_hex(s->lock), V(lock_kind_name(s->lock_kind)),
			   V(s->lock_symbol && s->lock_symbol->known ? s->lock_symbol->function : ""));
	return nr;
}

uint64_t sqlite_request(struct sqlite_export *e, uint64_t req, int64_t start_ns, int64_t end_ns)
{
	sqlite3_stmt *stmt = e->find_request;

	if (e->last_id && e->last_req == req && start_ns <= e->last_end_ns &&
	    end_ns >= e->last_start_ns)
		return e->last_id;
	if (!stmt || !e->nr_requests)
		return 0;
	sqlite_db_bind(stmt, 1, value_u64(req));
	sqlite_db_bind(stmt, 2, value_i64(end_ns));
	sqlite_db_bind(stmt, 3, value_i64(start_ns));
	e->last_id = 0;
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		e->last_req = req;
		e->last_id = sqlite3_column_int64(stmt, 0);
		e->last_start_ns = sqlite3_column_int64(stmt, 1);
		e->last_end_ns = sqlite3_column_int64(stmt, 2);
	}
	sqlite3_reset(stmt);
	return e->last_id;
}
