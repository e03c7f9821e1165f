// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes FLOW_API, KSYM and FILE rows, whose ids other rows contain, and SYMBOL and CALL rows,
 * which contain ids of FILE rows.  If two parts have a row for the same thing, the result has one
 * row with one id, so that calls of one function by two workers are one row of a report, and names
 * are stored once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "trace/join-private.h"

#define IDS_MAX		(1U << 24)	/* only damaged traces have greater ids, which stay */

uint32_t join_id(const struct join_ids *ids, uint32_t id)
{
	return id < ids->nr && ids->to[id] ? ids->to[id] : id;
}

static int set_id(struct join_ids *ids, uint32_t id, uint32_t to)
{
	size_t room = ids->nr;

	if (id >= IDS_MAX)
		return 0;
	if (id >= ids->nr) {
		if (!array_reserve(&ids->to, &room, id + 1, sizeof(*ids->to)))
			return -ENOMEM;
		memset(ids->to + ids->nr, 0, (room - ids->nr) * sizeof(*ids->to));
		ids->nr = room;
	}
	ids->to[id] = to;
	return 0;
}

struct keyed_text {		/* identifies a row: rows with equal keys become one row */
	char *bytes;
	size_t size, room;
};

static int key_add(struct keyed_text *k, const void *bytes, size_t size)
{
	if (!array_reserve(&k->bytes, &k->room, k->size + size, 1))
		return -ENOMEM;
	memcpy(k->bytes + k->size, bytes, size);
	k->size += size;
	return 0;
}

static int key_text(struct keyed_text *k, const char *text)
{
	return key_add(k, text, strlen(text) + 1);
}

struct table {
	struct join *j;
	struct join_part *p;
	struct keyed_text key;
};

/* Returns the number of the key, counted from 0, or -ENOMEM. */
static int64_t key_end(struct table *t, struct intern *known, int rc, bool *is_new)
{
	int64_t n = rc ? -1 : intern_get(known, t->key.bytes, t->key.size, is_new);

	t->key.size = 0;
	return n < 0 ? -ENOMEM : n;
}

static int add_apis(void *arg, const struct reader_rows *rows)
{
	struct table *t = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++) {
		struct ldb_row_flow_api r = rows->flow_api[i];
		bool is_new = false;
		uint32_t id = r.id;
		int64_t n;

		join_rows(t->j, t->p, LDB_BLK_FLOW_API, &r, 1);
		rc = key_add(&t->key, &r.caller, sizeof(r.caller)) ||
		     key_add(&t->key, &r.target, sizeof(r.target)) || key_text(&t->key, r.name);
		n = key_end(t, &t->j->apis, rc, &is_new);
		if (n < 0)
			return n;
		r.id = n + 1;
		rc = set_id(&t->p->apis, id, r.id);
		if (!rc && is_new)
			rc = writer_add_flow_api(t->j->w, &r);
	}
	return rc;
}

static int add_ksyms(void *arg, const struct reader_rows *rows)
{
	struct table *t = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++) {
		struct ldb_row_ksym r = rows->ksym[i];
		bool is_new = false;
		uint32_t id = r.id;
		int64_t n = key_end(t, &t->j->ksyms, key_text(&t->key, r.name), &is_new);

		if (n < 0)
			return n;
		r.id = n + 2;
		if (id >= 2)
			rc = set_id(&t->p->ksyms, id, r.id);
		if (!rc && is_new)
			rc = writer_add_ksym(t->j->w, &r);
	}
	return rc;
}

static int add_files(void *arg, const struct reader_rows *rows)
{
	struct table *t = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++) {
		struct ldb_row_file r = rows->file[i];
		bool is_new = false;
		uint32_t id = r.id;
		int64_t n;

		rc = key_text(&t->key, r.build_id) || key_text(&t->key, r.path);
		n = key_end(t, &t->j->files, rc, &is_new);
		if (n < 0)
			return n;
		r.id = n + 1;
		rc = set_id(&t->p->files, id, r.id);
		if (!rc && is_new)
			rc = writer_add_file(t->j->w, &r);
	}
	return rc;
}

static int add_symbols(void *arg, const struct reader_rows *rows)
{
	struct table *t = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++) {
		struct ldb_row_symbol r = rows->symbol[i];
		bool is_new = false;
		int64_t n;

		r.file = join_id(&t->p->files, r.file);
		rc = key_add(&t->key, &r.file, sizeof(r.file)) ||
		     key_add(&t->key, &r.ask, sizeof(r.ask)) ||
		     key_add(&t->key, &r.addr, sizeof(r.addr));
		n = key_end(t, &t->j->symbols, rc, &is_new);
		if (n < 0)
			return n;
		if (is_new)
			rc = writer_add_symbol(t->j->w, &r);
	}
	return rc;
}

static int add_calls(void *arg, const struct reader_rows *rows)
{
	struct table *t = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++) {
		struct ldb_row_call r = rows->call[i];
		bool is_new = false;
		int64_t n;

		r.file = join_id(&t->p->files, r.file);
		rc = key_add(&t->key, &r.file, sizeof(r.file)) || key_text(&t->key, r.caller) ||
		     key_text(&t->key, r.callee);
		n = key_end(t, &t->j->calls, rc, &is_new);
		if (n < 0)
			return n;
		if (is_new)
			rc = writer_add_call(t->j->w, &r);
	}
	return rc;
}

int join_write_ids(struct join *j)
{
	static const struct {
		unsigned kind;
		int (*batch)(void *arg, const struct reader_rows *rows);
	} tables[] = {		/* FILE comes before the tables that refer to it */
		{ LDB_BLK_FLOW_API, add_apis }, { LDB_BLK_KSYM, add_ksyms }, { LDB_BLK_FILE, add_files },
		{ LDB_BLK_SYMBOL, add_symbols }, { LDB_BLK_CALL, add_calls },
	};
	struct table t = { .j = j };
	int rc = 0;

	for (size_t k = 0; k < sizeof(tables) / sizeof(tables[0]); k++) {
		for (size_t i = 0; i < j->nr && !rc; i++) {
			t.p = &j->parts[i];
			rc = reader_each(t.p->r, tables[k].kind, NULL, tables[k].batch, &t);
		}
	}
	free(t.key.bytes);
	return rc;
}
