// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds memory that several processes share, so that a lock in it is one lock.
 *
 * META rows shared_memory contain the shared mappings of each process; memory that is shared across
 * fork() counts as a file, too.  An address in shared memory becomes that of the first process
 * which has mapped this part of the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/join-private.h"

#define SHARED_MAX	256	/* shared mappings of one trace; a recorder writes no more */

struct file_part {		/* a part of a file, as a process has mapped it */
	/* identifies the machine, because inodes of two machines are not comparable */
	const char *boot;
	unsigned major, minor;
	uint64_t inode, from, to;	/* offsets in the file */
	/* address in the result of the byte at `from`; it contains the number of the process */
	uint64_t address;
};

struct known {			/* parts of files, as the first process has mapped them */
	struct file_part *list;
	size_t nr, room;
};

static bool is_same_file(const struct file_part *a, const struct file_part *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode && !strcmp(a->boot, b->boot);
}

static bool is_within(const struct file_part *f, const struct file_part *in)
{
	return is_same_file(f, in) && f->from >= in->from && f->to <= in->to;
}

/*
 * Returns true if both use the same addresses for different files or offsets.  A mapping that was
 * extended or split does not contradict itself.
 */
static bool contradicts(const struct file_part *a, const struct file_part *b)
{
	return a->address < b->address + (b->to - b->from) && b->address < a->address + (a->to - a->from) &&
	       !(is_same_file(a, b) && a->address - a->from == b->address - b->from);
}

/* Parses "FROM TO MAJOR:MINOR INODE OFFSET", of which all but the inode are hexadecimal. */
static bool parse(const char *text, uint32_t number, struct file_part *f)
{
	uint64_t start, end;

	if (sscanf(text, "%" SCNx64 " %" SCNx64 " %x:%x %" SCNu64 " %" SCNx64, &start, &end, &f->major, &f->minor,
		   &f->inode, &f->from) != 6 ||
	    start >= end || end > JOIN_ADDRESS_MASK || f->from > UINT64_MAX - (end - start))
		return false;
	f->to = f->from + (end - start);
	f->address = start | (uint64_t)number << LDB_ADDRESS_BITS;
	return true;
}

static int add(struct known *known, struct join_space *space, const struct file_part *f)
{
	struct join_shared s = { .start = f->address & JOIN_ADDRESS_MASK };

	s.end = s.start + (f->to - f->from);
	for (size_t i = 0; i < known->nr; i++) {
		const struct file_part *first = &known->list[i];

		if (!is_within(f, first))
			continue;
		s.address = first->address + (f->from - first->from);
		return array_push(space->shared, space->nr_shared, space->room_shared, s);
	}
	return array_push(known->list, known->nr, known->room, *f);
}

/*
 * Adds the shared mappings of a process.  Leaves out addresses at which it had different files at
 * different times, because a lock there may have been two locks.  These addresses stay addresses of
 * this process.
 */
static int add_all(struct known *known, struct join_space *space, const struct file_part *parts, size_t nr)
{
	int rc = 0;

	for (size_t i = 0; i < nr && !rc; i++) {
		size_t k = 0;

		while (k < nr && !contradicts(&parts[i], &parts[k]))
			k++;
		if (k == nr)
			rc = add(known, space, &parts[i]);
	}
	return rc;
}

COMPARE(compare_shared, struct join_shared, UP(start) UP(end))

/*
 * Parts of one mapping may get addresses of different processes.  If parts overlap, but would get
 * different addresses, their addresses stay addresses of this process.
 */
static void sort_shared(struct join_space *space)
{
	size_t nr = 0;

	sort_by(space->shared, space->nr_shared, compare_shared);
	for (size_t i = 0; i < space->nr_shared; i++) {
		struct join_shared s = space->shared[i], *last = nr ? &space->shared[nr - 1] : NULL;

		if (last && last->end > s.start) {
			last->end = max(last->end, s.end);
			if (last->address - last->start != s.address - s.start)
				last->address = 0;
		} else {
			space->shared[nr++] = s;
		}
	}
	space->nr_shared = nr;
}

/* Reads the shared mappings of a process, and returns their number. */
static size_t read_parts(const struct join_part *p, struct file_part *parts)
{
	const char *boot = reader_meta(p->r, "boot");
	const struct ldb_row_meta *rows;
	size_t nr_rows, nr_shared = 0, nr = 0;

	rows = reader_metas(p->r, &nr_rows);
	for (size_t k = 0; boot && k < nr_rows && nr_shared < SHARED_MAX; k++)
		if (!strcmp(rows[k].key, "shared_memory") && ++nr_shared) {
			parts[nr].boot = boot;
			nr += parse(rows[k].value, p->spaces[0].row.number, &parts[nr]);
		}
	return nr;
}

int join_find_shared(struct join *j)
{
	struct file_part parts[SHARED_MAX];
	struct known known = { .nr = 0 };
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++) {
		struct join_part *p = &j->parts[i];

		/*
		 * In a part that is itself a joined trace, addresses in shared memory are converted
		 * already.
		 */
		if (p->nr_spaces != 1)
			continue;
		rc = add_all(&known, &p->spaces[0], parts, read_parts(p, parts));
		sort_shared(&p->spaces[0]);
	}
	free(known.list);
	return rc;
}

uint64_t join_shared_at(const struct join_space *space, uint64_t plain)
{
	size_t n = search_by(space->shared, space->nr_shared, s, s->start <= plain);
	const struct join_shared *s = n ? &space->shared[n - 1] : NULL;

	return s && plain < s->end && s->address ? s->address + (plain - s->start) : 0;
}
