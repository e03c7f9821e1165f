// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds memory that several processes share, so that a lock in it is one lock.
 *
 * META shared_memory says where a process has mapped what file; memory that fork() shares is a file,
 * too, for the kernel.  An address in it becomes that of the first process which has mapped this part
 * of the file.
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

#define SHARED_MAX	256	/* in one trace; a recorder writes no more */

struct file_part {		/* a part of a file, as the first process has it that mapped it */
	const char *boot;	/* the machine: the numbers of files are its own */
	unsigned major, minor;
	uint64_t inode, from, to;	/* offsets in the file */
	uint64_t address;	/* of from, in the result */
};

struct known {
	struct file_part *list;
	size_t nr, room;
};

static bool is_within(const struct file_part *f, const struct file_part *in)
{
	return f->major == in->major && f->minor == in->minor && f->inode == in->inode && f->from >= in->from &&
	       f->to <= in->to && !strcmp(f->boot, in->boot);
}

/* "FROM TO MAJOR:MINOR INODE OFFSET", of which all but the inode are hexadecimal */
static bool parse(const char *text, struct join_shared *s, struct file_part *f)
{
	return sscanf(text, "%" SCNx64 " %" SCNx64 " %x:%x %" SCNu64 " %" SCNx64, &s->start, &s->end, &f->major,
		      &f->minor, &f->inode, &f->from) == 6 &&
	       s->start < s->end && s->end <= JOIN_ADDRESS_MASK && f->from <= UINT64_MAX - (s->end - s->start);
}

static int add(struct known *known, const struct join_part *p, struct join_space *space, const char *text)
{
	struct file_part f = { .boot = reader_meta(p->r, "boot") };
	struct join_shared s;

	if (!f.boot || !parse(text, &s, &f))
		return 0;
	f.to = f.from + (s.end - s.start);
	f.address = s.start | (uint64_t)space->row.number << LDB_ADDRESS_BITS;
	for (size_t i = 0; i < known->nr; i++) {
		const struct file_part *first = &known->list[i];

		if (!is_within(&f, first))
			continue;
		s.address = first->address + (f.from - first->from);
		return array_push(space->shared, space->nr_shared, space->room_shared, s);
	}
	return array_push(known->list, known->nr, known->room, f);
}

COMPARE(compare_shared, struct join_shared, UP(start) UP(end))

/* If something else was mapped at a place later, addresses there keep the process's own number. */
static void sort_shared(struct join_space *space)
{
	size_t nr = 0;

	sort_by(space->shared, space->nr_shared, compare_shared);
	for (size_t i = 0; i < space->nr_shared; i++) {
		struct join_shared s = space->shared[i];

		if (nr && space->shared[nr - 1].end > s.start) {
			space->shared[nr - 1].end = max(space->shared[nr - 1].end, s.end);
			space->shared[nr - 1].address = 0;
		} else {
			space->shared[nr++] = s;
		}
	}
	space->nr_shared = nr;
}

int join_find_shared(struct join *j)
{
	struct known known = { .nr = 0 };
	int rc = 0;

	for (size_t i = 0; i < j->nr && !rc; i++) {
		struct join_part *p = &j->parts[i];
		const struct ldb_row_meta *rows;
		size_t nr, nr_shared = 0;

		/* In a trace that was joined this is done. */
		if (p->nr_spaces != 1)
			continue;
		rows = reader_metas(p->r, &nr);
		for (size_t k = 0; k < nr && !rc && nr_shared < SHARED_MAX; k++)
			if (!strcmp(rows[k].key, "shared_memory") && ++nr_shared)
				rc = add(&known, p, &p->spaces[0], rows[k].value);
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
