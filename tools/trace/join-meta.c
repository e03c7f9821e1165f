// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes what concerns the recordings as a whole: META, PROCESS and SCAN rows, and damage. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ldb.h>
#include "base/minmax.h"
#include "trace/join-private.h"

enum rule {
	RULE_FIRST,	/* value of the first part that has the key */
	RULE_SUM,	/* sum of all parts: counters */
	RULE_MOST,	/* greatest value: thresholds, errors */
	/* what was recorded: the least value; left out if a part lacks the key, or has "" or "0" */
	RULE_ALL,
	RULE_EACH,	/* one line for each part, with the process's name */
	RULE_TICK,	/* latest tick */
	/*
	 * left out: shared_memory has addresses that the result does not have, and
	 * join_write_messages() writes the others
	 */
	RULE_NONE,
};

static const struct {
	const char *key;
	enum rule rule;
} rules[] = {
	{ "kernel_err_ns", RULE_MOST }, { "kernel_only", RULE_ALL },
	{ "kernel_faults", RULE_ALL }, { "kernel_irqs", RULE_ALL }, { "kernel_syscalls", RULE_ALL },
	{ "kernel_syscalls_ns", RULE_MOST }, { "kernel_disk", RULE_ALL },
	{ "samples_lost", RULE_SUM }, { "flows_threshold_ns", RULE_MOST },
	{ "flows_no_slot", RULE_SUM }, { "flows_address_taken", RULE_SUM },
	{ "flows_unresolved", RULE_SUM }, { "flows_limit", RULE_SUM },
	{ "flows_lost_threads", RULE_SUM }, { "flows_unknown_calls", RULE_SUM },
	{ "lock_threshold_ns", RULE_MOST }, { "func_threshold_ns", RULE_MOST },
	{ "flight_from", RULE_TICK }, { "flight_cut", RULE_SUM }, { "flight_suppressed", RULE_EACH },
	{ "socket_requests", RULE_SUM }, { "socket_left_busy", RULE_SUM },
	{ "socket_left_table", RULE_SUM }, { "socket_left_unread", RULE_SUM }, { "loop_turns", RULE_MOST },
	{ "uring_rings", RULE_SUM }, { "uring_followed", RULE_SUM }, { "uring_left", RULE_SUM },
	{ "ids", RULE_SUM }, { "ids_lost", RULE_SUM }, { "ids_nowhere", RULE_SUM }, { "ids_err_ns", RULE_MOST },
	{ "messages", RULE_NONE }, { "messages_elsewhere", RULE_NONE }, { "messages_unknown", RULE_NONE },
	{ "messages_refused", RULE_NONE }, { "shared_memory", RULE_NONE }, { "warning", RULE_EACH }, { "damage", RULE_EACH },
};

static enum rule rule_of(const char *key)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!strcmp(rules[i].key, key))
			return rules[i].rule;
	return RULE_FIRST;
}

static int write_number(struct join *j, const char *key, enum rule rule)
{
	int64_t result = 0;
	char text[24];

	for (size_t i = 0; i < j->nr; i++) {
		const char *value = reader_meta(j->parts[i].r, key);
		int64_t n = value ? strtoll(value, NULL, 10) : 0;

		if (rule == RULE_TICK && value)
			n = join_tick(&j->parts[i], n);
		if (rule != RULE_SUM)
			result = max(result, n);
		else if (__builtin_add_overflow(result, n, &result))
			result = INT64_MAX;
	}
	snprintf(text, sizeof(text), "%" PRId64, result);
	return writer_add_meta(j->w, key, text);
}

/*
 * Writes how much was recorded in every part: for example, if the value is "all" in one part and
 * "sleep" in another, writes "sleep".
 */
static int write_if_all(struct join *j, const char *key)
{
	const char *least = NULL;

	for (size_t i = 0; i < j->nr; i++) {
		const char *value = reader_meta(j->parts[i].r, key);

		if (!value || !*value || !strcmp(value, "0"))
			return 0;
		if (!least || strcmp(value, least) > 0)
			least = value;
	}
	return writer_add_meta(j->w, key, least);
}

static const char *name_of(const struct join_part *p)
{
	return *p->spaces[0].row.name ? p->spaces[0].row.name : p->path;
}

static int write_line(struct join *j, const struct join_part *p, const char *key, const char *value)
{
	const struct ldb_row_process *r = &p->spaces[0].row;
	char line[2048];

	if (!j->is_process || p->nr_spaces > 1)
		return writer_add_meta(j->w, key, value);
	snprintf(line, sizeof(line), "%s (pid %u): %s", name_of(p),
		 r->pid & ((1U << LDB_TID_BITS) - 1), value);
	return writer_add_meta(j->w, key, line);
}

static bool had_earlier(const struct join *j, size_t part, const char *key)
{
	for (size_t i = 0; i < part; i++)
		if (reader_meta(j->parts[i].r, key))
			return true;
	return false;
}

static bool is_first_row(const struct ldb_row_meta *rows, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(rows[k].key, rows[i].key))
			return false;
	return true;
}

static int write_metas(struct join *j, size_t part)
{
	struct join_part *p = &j->parts[part];
	const struct ldb_row_meta *rows;
	int rc = 0;
	size_t nr;

	rows = reader_metas(p->r, &nr);
	for (size_t i = 0; i < nr && !rc; i++) {
		const char *key = rows[i].key;
		enum rule rule = rule_of(key);

		if (rule == RULE_NONE && j->nr > 1)
			continue;
		else if (rule == RULE_EACH)
			rc = write_line(j, p, key, rows[i].value);
		else if (had_earlier(j, part, key))
			continue;
		else if (rule == RULE_FIRST || j->nr == 1)
			rc = writer_add_meta(j->w, key, rows[i].value);
		else if (!is_first_row(rows, i))
			continue;
		else if (rule == RULE_ALL)
			rc = write_if_all(j, key);
		else
			rc = write_number(j, key, rule);
	}
	return rc;
}

int join_write_metas(struct join *j)
{
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++)
		rc = write_metas(j, i);
	return rc;
}

int join_write_processes(struct join *j)
{
	int rc = 0;

	for (size_t i = 0; i < j->nr && j->is_process && !rc; i++)
		for (size_t k = 0; k < j->parts[i].nr_spaces && !rc; k++)
			rc = writer_add_process(j->w, &j->parts[i].spaces[k].row);
	return rc;
}

/*
 * Scanners.  A scanner's row contains sums, and is written again from time to time; the last one
 * counts.
 */

#define SCANNERS_MAX	64

struct scanners {
	struct ldb_row_scan last[SCANNERS_MAX];
	bool has[SCANNERS_MAX];
};

static int add_scanners(void *arg, const struct reader_rows *rows)
{
	struct scanners *s = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		uint32_t n = rows->scan[i].scanner;

		if (n >= SCANNERS_MAX)
			continue;
		s->last[n] = rows->scan[i];
		s->has[n] = true;
	}
	return 0;
}

static void sum_scanner(struct ldb_row_scan *sum, const struct ldb_row_scan *r)
{
	sum->rounds += r->rounds;
	sum->looks += r->looks;
	sum->changes += r->changes;
	sum->scans += r->scans;
	sum->invalid += r->invalid;
	sum->frames += r->frames;
	sum->gaps += r->gaps;
	sum->gap += r->gap;
	sum->busy += r->busy;
	sum->paused = max(sum->paused, r->paused);
	sum->moving += r->moving;
	sum->cost += r->cost;
	sum->pages += r->pages;
	sum->handed += r->handed;
}

int join_write_scanners(struct join *j)
{
	struct ldb_row_scan sums[SCANNERS_MAX] = { 0 };
	bool has[SCANNERS_MAX] = { 0 };
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++) {
		struct scanners s = { 0 };

		rc = reader_each(j->parts[i].r, LDB_BLK_SCAN, NULL, add_scanners, &s);
		for (unsigned n = 0; n < SCANNERS_MAX; n++) {
			if (!s.has[n])
				continue;
			join_rows(j, &j->parts[i], LDB_BLK_SCAN, &s.last[n], 1);
			sum_scanner(&sums[n], &s.last[n]);
			has[n] = true;
		}
	}
	for (unsigned n = 0; n < SCANNERS_MAX && !rc; n++) {
		sums[n].scanner = n;
		if (has[n])
			rc = writer_add_scan(j->w, &sums[n]);
	}
	return rc;
}

/* Damage */

static uint64_t nr_bad_rows(const struct reader *r)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < r->nr_blocks; i++)
		nr += r->blocks[i].bad ? r->blocks[i].i.rows : 0;
	/*
	 * Without an index, the number of rows in bad blocks is not known.  Then each bad block
	 * counts as one row.
	 */
	return max(nr, (uint64_t)r->nr_bad);
}

int join_write_damage(struct join *j)
{
	char text[1024];
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++) {
		struct join_part *p = &j->parts[i];
		struct ldb_row_lost lost = { .tick = p->to, .what = LDB_LOST_DISK };

		/*
		 * If a part is itself a joined trace, damage of its own parts is in its META rows,
		 * which are copied.
		 */
		if (!reader_is_file_damaged(p->r))
			continue;
		rc = write_line(j, p, "damage", reader_file_damage_text(p->r, text, sizeof(text)));
		lost.count = nr_bad_rows(p->r);
		if (!rc && lost.count)
			rc = writer_add_lost(j->w, &lost);
	}
	return rc;
}
