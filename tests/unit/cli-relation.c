// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests one list of columns as JSON and as CSV. */
#include <stdlib.h>
#include <string.h>

#include "cli/relation.h"
#include "tap.h"

struct leaf {
	uint64_t address;
	int64_t ns;
	bool is_hot;
};

struct branch {
	const char *name;
	char code[8];
	struct leaf best;
	struct leaf *leaves;
	size_t nr_leaves;
	double part;
};

struct tree {
	struct branch *branches;
	size_t nr_branches;
	struct leaf fallen;
};

#define ROW struct leaf
GET(get_half, if, e->ns > 1, value_i64(e->ns / 2))
GET(get_rank, u64, row->nth + 1)

static const struct column leaf_columns[] = {
	HEX("address", address), SAME(ns), COLUMN("hot", is_hot, .form = COLUMN_ONLY_JSON),
	MADE("half_ns", get_half), MADE("rank", get_rank, .form = COLUMN_ONLY_CSV), { 0 }
};
#undef ROW

#define ROW struct branch
static const char *word(const struct row *row, size_t n)
{
	static const char *const words[] = { "a", "b\"", NULL };

	return words[n];
}

static struct rows if_split(const struct row *row)
{
	const ROW *b = row->at;

	return rows_one(b->nr_leaves > 1 ? &b->best : NULL);
}

static const struct column branch_columns[] = {
	SAME(name), SAME(code, .csv = "short"), WORDS("words", word),
	PART_AT("best", if_split, leaf_columns, .form = COLUMN_OR_NULL),
	SAME(part, .form = COLUMN_ONLY_JSON),
	NESTED("leaves", leaves, nr_leaves, leaf_columns, .form = COLUMN_SPREAD | COLUMN_IF_ANY), { 0 }
};
#undef ROW

#define ROW struct leaf
GET(get_place, textf, buf, "%zu of %d", row->nth + 1, 1)

static const struct column fallen_columns[] = {
	MADE("name", get_rank), SAME(ns), MADE("rank", get_place), { 0 }
};
#undef ROW

#define ROW struct tree
static const struct column tree_columns[] = {
	NESTED("branches", branches, nr_branches, branch_columns, .form = COLUMN_SPREAD), { 0 }
};

static struct rows fallen(const struct row *row)
{
	return rows_one(&((const ROW *)row->at)->fallen);
}

static struct rows leaves(const struct row *row)
{
	const ROW *t = row->at;

	return rows_of(t->branches->leaves, t->branches->nr_leaves);
}

static const struct column mixed_columns[] = {
	NESTED_AT(NULL, leaves, leaf_columns, .form = COLUMN_SPREAD),
	NESTED_AT(NULL, fallen, fallen_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

static char *printed_csv(const struct column *columns, const void *at)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	relation_csv(f, columns, at);
	fclose(f);
	return text;
}

static char *printed_json(const struct column *columns, const void *at)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json j;

	json_init(&j, f);
	json_flat(&j);
	json_object_begin(&j, NULL);
	relation_json(&j, columns, at);
	json_object_end(&j);
	json_end(&j);
	fclose(f);
	return text;
}

int main(void)
{
	struct leaf leaves[] = { { 0x1f, 9, true }, { 0x20, 1, false } };
	struct branch branches[] = {
		{ "up", "U", { 7, 4, false }, leaves, 2, 0.5 }, { "down, left", "D", { 0 }, NULL, 0, 0 },
	};
	struct tree tree = { branches, 2, { 1, 5, false } };
	char *json = printed_json(tree_columns, &tree), *csv = printed_csv(tree_columns, &tree);
	char *mixed = printed_csv(mixed_columns, &tree);
	const struct column *by = relation_find(leaf_columns, "ns");
	const struct column *by_part = relation_find(branch_columns, "part");
	const struct branch below[] = { { .part = -0.25 }, { .part = -0.5 } };

	is_str(json, "{\"branches\": [{\"name\": \"up\", \"code\": \"U\", \"words\": [\"a\", \"b\\\"\"], "
	       "\"best\": {\"address\": \"0x7\", \"ns\": 4, \"hot\": false, \"half_ns\": 2}, \"part\": 0.5, "
	       "\"leaves\": [{\"address\": \"0x1f\", \"ns\": 9, \"hot\": true, \"half_ns\": 4}, "
	       "{\"address\": \"0x20\", \"ns\": 1, \"hot\": false}]}, "
	       "{\"name\": \"down, left\", \"code\": \"D\", \"words\": [\"a\", \"b\\\"\"], \"best\": null, "
	       "\"part\": 0}]}\n", "JSON: rows in rows, and what is not there");
	is_str(csv, "name,short,address,ns,half_ns,rank\nup,U,0x1f,9,4,1\nup,U,0x20,1,,2\n",
	       "CSV: a line for each innermost row");
	is_str(mixed, "address,ns,half_ns,rank\n0x1f,9,4,1\n0x20,1,,2\n,5,,1 of 1\n",
	       "CSV: rows of another kind under the same heads");
	ok(by && !strcmp(by->key, "ns"), "a column by its key");
	ok(relation_find(leaf_columns, "half") && !relation_find(leaf_columns, "hal"),
	   "and by its key without the unit");
	ok(column_compare(by, &leaves[0], &leaves[1]) < 0, "the greater number first");
	ok(by_part && column_compare(by_part, &below[0], &below[1]) < 0, "also of negative fractions");
	free(json);
	free(csv);
	free(mixed);
	return done();
}
