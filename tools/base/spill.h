/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts items of any size by two numbers.  There may be more items than fit into memory: they are
 * sorted in parts, which are stored in a temporary file (spill_file()) and merged.  Equal items
 * stay in the order in which they were added.
 *
 *	spill_open(&s, bytes);
 *	spill_add(&s, major, minor, data, size); ...
 *	for (ret = spill_sort(&s); !ret && s.has_head; ret = spill_next(&s))
 *		... s.head ...
 *	spill_close(&s);
 */
#ifndef BASE_SPILL_H
#define BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill_item {
	uint64_t major;
	int64_t minor;
	uint64_t nr;		/* its place in the order in which items were added */
	uint32_t size;
	const void *data;	/* aligned to 8 */
};

struct spill_run;

struct spill {
	char *arena;		/* headers and data of items that are not in the file yet */
	size_t used, arena_room;
	size_t room;		/* how many bytes arena and items may take */
	uint64_t nr;		/* items added */
	struct spill_item *items; /* the items of the arena */
	size_t nr_items, room_items, next_item;
	int fd;			/* -1: nothing was spilled */
	int64_t file_end;
	struct spill_run *runs;
	size_t nr_runs;
	size_t *heap;		/* indices of runs; heap[0] is that of the run with the next item */
	size_t nr_heap;
	bool has_head;		/* there is a next item: head */
	struct spill_item head;	/* valid until spill_next() */
};

/*
 * Creates an empty file without a name: in $TMPDIR or, if that is not set, in /var/tmp.  Returns
 * its descriptor, or -errno.
 */
int spill_file(void);

void spill_open(struct spill *s, size_t bytes);
void spill_close(struct spill *s);

/* Returns 0, -ENOMEM, or the -errno of an operation on the file, as do the next two functions. */
int spill_add(struct spill *s, uint64_t major, int64_t minor, const void *data, uint32_t size);

/* Sorts the items that were added, and reads the first one. */
int spill_sort(struct spill *s);

/* Reads the next item; may be called only if has_head is true. */
int spill_next(struct spill *s);

static inline bool spill_is_at(const struct spill *s, uint64_t major)
{
	return s->has_head && s->head.major == major;
}

#endif
