// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sorts with a file; see spill.h.  The file contains runs.  A run is a sorted sequence of items; an
 * item is a struct header, followed by the item's data.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "minmax.h"
#include "order.h"
#include "spill.h"

#define RUN_BYTES	(256U << 10)	/* most bytes in a run's buffer, unless an item is larger */
#define FIRST_ROOM	(64U << 10)
#define LARGE		(1U << 20)

struct header {
	uint64_t major;
	int64_t minor;
	uint64_t nr;
	uint32_t size, pad;
};

struct spill_run {
	int64_t at, end;		/* the part of the run in the file that is not read yet */
	char *buffer;
	size_t from, to, room;		/* the part of the buffer that follows `item` */
	struct spill_item item;		/* the next item of the run to be merged */
};

static size_t rounded(uint32_t size)
{
	return ((size_t)size + 7) & ~(size_t)7;
}

static bool is_before(const struct spill_item *a, const struct spill_item *b)
{
	if (a->major != b->major)
		return a->major < b->major;
	if (a->minor != b->minor)
		return a->minor < b->minor;
	return a->nr < b->nr;
}

static int64_t item_major(const void *item)
{
	return order_unsigned(((const struct spill_item *)item)->major);
}

ORDER_KEY(item_minor, struct spill_item, minor)

/* Equal items stay in the order in which they came. */
static int sort_items(struct spill *s)
{
	static const order_key keys[] = { item_major, item_minor };
	int ret = order_sort(&s->items, s->nr_items, sizeof(*s->items), keys, 2);

	s->room_items = s->nr_items;
	return ret;
}

void spill_open(struct spill *s, size_t bytes)
{
	*s = (struct spill){ .fd = -1, .room = bytes < FIRST_ROOM ? FIRST_ROOM : bytes };
}

void spill_close(struct spill *s)
{
	for (size_t i = 0; i < s->nr_runs; i++)
		free(s->runs[i].buffer);
	free(s->runs);
	free(s->heap);
	free(s->items);
	free(s->arena);
	if (s->fd >= 0)
		close(s->fd);
	spill_open(s, 0);
}

int spill_file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/var/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Not every file system can make a file without a name. */
	snprintf(path, sizeof(path), "%s/ldb.XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static int open_file(struct spill *s)
{
	s->fd = spill_file();
	return s->fd < 0 ? s->fd : 0;
}

static int write_all(struct spill *s, const char *data, size_t size)
{
	while (size) {
		ssize_t n = pwrite(s->fd, data, size, s->file_end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		size -= n;
		s->file_end += n;
	}
	return 0;
}

/* Sorts the items in the arena, and writes them to the file as a run. */
static int spill(struct spill *s)
{
	struct spill_run *runs = reallocarray(s->runs, s->nr_runs + 1, sizeof(*runs));
	char *buffer = malloc(RUN_BYTES);
	int64_t start = s->file_end;
	size_t used = 0;
	int ret = 0;

	if (runs)
		s->runs = runs;
	if (!runs || !buffer)
		ret = -ENOMEM;
	if (!ret && s->fd < 0)
		ret = open_file(s);
	if (!ret)
		ret = sort_items(s);
	for (size_t i = 0; i < s->nr_items && !ret; i++) {
		const struct spill_item *item = &s->items[i];
		size_t size = sizeof(struct header) + rounded(item->size);

		if (used && used + size > RUN_BYTES) {
			ret = write_all(s, buffer, used);
			used = 0;
		}
		/* An item's header is in front of its data. */
		if (!ret && size > RUN_BYTES) {
			ret = write_all(s, (const char *)item->data - sizeof(struct header), size);
		} else if (!ret) {
			memcpy(buffer + used, (const char *)item->data - sizeof(struct header),
			       size);
			used += size;
		}
	}
	if (!ret && used)
		ret = write_all(s, buffer, used);
	free(buffer);
	if (ret)
		return ret;
	s->runs[s->nr_runs++] = (struct spill_run){ .at = start, .end = s->file_end };
	s->used = 0;
	s->nr_items = 0;
	return 0;
}

/*
 * Enlarges the arena to at least `need` bytes.  While it moves, items have offsets instead of
 * addresses.
 */
static int enlarge(struct spill *s, size_t need)
{
	size_t more = !s->arena_room ? FIRST_ROOM : s->arena_room < LARGE ? 4 * s->arena_room : s->room;
	char *arena;

	if (need <= s->arena_room)
		return 0;
	more = max(need, min(more, s->room));
	for (size_t i = 0; i < s->nr_items; i++)
		s->items[i].data = (void *)((const char *)s->items[i].data - s->arena);
	arena = realloc(s->arena, more);
	s->arena = arena ? arena : s->arena;
	s->arena_room = arena ? more : s->arena_room;
	for (size_t i = 0; i < s->nr_items; i++)
		s->items[i].data = s->arena + (uintptr_t)s->items[i].data;
	return arena ? 0 : -ENOMEM;
}

static int make_room(struct spill *s, size_t size)
{
	int ret;

	if (s->nr_items && s->used + size + s->nr_items * sizeof(*s->items) > s->room) {
		ret = spill(s);
		if (ret)
			return ret;
	}
	s->room = max(s->room, size);
	ret = enlarge(s, s->used + size);
	if (ret)
		return ret;
	if (s->nr_items == s->room_items) {
		size_t room = s->room_items ? 2 * s->room_items : 1024;
		struct spill_item *items = reallocarray(s->items, room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		s->items = items;
		s->room_items = room;
	}
	return 0;
}

int spill_add(struct spill *s, uint64_t major, int64_t minor, const void *data, uint32_t size)
{
	size_t bytes = sizeof(struct header) + rounded(size);
	struct header h = { .major = major, .minor = minor, .nr = s->nr, .size = size };
	int ret = make_room(s, bytes);
	char *at;

	if (ret)
		return ret;
	at = s->arena + s->used;
	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), data, size);
	memset(at + sizeof(h) + size, 0, rounded(size) - size);
	s->items[s->nr_items++] = (struct spill_item){
		.major = major, .minor = minor, .nr = s->nr++, .size = size,
		.data = at + sizeof(h),
	};
	s->used += bytes;
	return 0;
}

/* Merging */

static int fill(struct spill *s, struct spill_run *r, size_t want)
{
	if (r->to - r->from >= want)
		return 0;
	memmove(r->buffer, r->buffer + r->from, r->to - r->from);
	r->to -= r->from;
	r->from = 0;
	if (want > r->room) {
		char *buffer = realloc(r->buffer, want);

		if (!buffer)
			return -ENOMEM;
		r->buffer = buffer;
		r->room = want;
	}
	while (r->to < r->room && r->at < r->end) {
		size_t size = r->room - r->to;
		ssize_t n;

		if ((int64_t)size > r->end - r->at)
			size = r->end - r->at;
		n = pread(s->fd, r->buffer + r->to, size, r->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r->to += n;
		r->at += n;
	}
	return r->to - r->from >= want ? 0 : -EIO;
}

/* Returns 1 if r->item is now the next item of the run, 0 if there is no other, or -errno. */
static int run_next(struct spill *s, struct spill_run *r)
{
	struct header h;
	int ret;

	if (r->from == r->to && r->at == r->end)
		return 0;
	ret = fill(s, r, sizeof(h));
	if (ret)
		return ret;
	memcpy(&h, r->buffer + r->from, sizeof(h));
	ret = fill(s, r, sizeof(h) + rounded(h.size));
	if (ret)
		return ret;
	r->item = (struct spill_item){
		.major = h.major, .minor = h.minor, .nr = h.nr, .size = h.size,
		.data = r->buffer + r->from + sizeof(h),
	};
	r->from += sizeof(h) + rounded(h.size);
	return 1;
}

static bool is_run_before(const struct spill *s, const size_t *a, const size_t *b)
{
	return is_before(&s->runs[*a].item, &s->runs[*b].item);
}

HEAP(runs, size_t, const struct spill *, is_run_before, heap_moved_none)

static void set_head(struct spill *s)
{
	s->has_head = s->nr_runs ? s->nr_heap : s->next_item < s->nr_items;
	if (s->has_head)
		s->head = s->nr_runs ? s->runs[s->heap[0]].item : s->items[s->next_item];
}

/* Begins to merge the runs in the file. */
static int start_runs(struct spill *s)
{
	size_t each;
	int ret = 0;

	if (s->nr_items)
		ret = spill(s);
	free(s->items);
	free(s->arena);
	s->items = NULL;
	s->arena = NULL;
	s->arena_room = 0;
	s->nr_items = 0;
	/*
	 * The buffers of all runs together may take as much memory as arena and items could, but
	 * each has at least 4 KiB.
	 */
	each = s->room / s->nr_runs & ~(size_t)7;
	each = each > RUN_BYTES ? RUN_BYTES : each < 4096 ? 4096 : each;
	s->heap = calloc(s->nr_runs, sizeof(*s->heap));
	if (!ret && !s->heap)
		ret = -ENOMEM;
	for (size_t i = 0; i < s->nr_runs && !ret; i++) {
		struct spill_run *r = &s->runs[i];

		r->room = each;
		r->buffer = malloc(each);
		ret = r->buffer ? run_next(s, r) : -ENOMEM;
		if (ret > 0) {
			runs_up(s, s->heap, s->nr_heap++, i);
			ret = 0;
		}
	}
	return ret;
}

int spill_sort(struct spill *s)
{
	int ret = s->nr_runs ? start_runs(s) : sort_items(s);

	if (!ret)
		set_head(s);
	return ret;
}

int spill_next(struct spill *s)
{
	int ret;

	s->has_head = false;
	if (!s->nr_runs) {
		s->next_item++;
	} else {
		ret = run_next(s, &s->runs[s->heap[0]]);
		if (ret < 0)
			return ret;
		if (!ret)
			s->heap[0] = s->heap[--s->nr_heap];
		if (s->nr_heap)
			runs_down(s, s->heap, s->nr_heap, 0, s->heap[0]);
	}
	set_head(s);
	return 0;
}
