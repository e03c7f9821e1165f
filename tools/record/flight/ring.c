// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores the blocks of the last seconds; see ring.h.
 *
 * Blocks are stored one after another; a block that does not fit before the end is stored at offset
 * 0.  Older blocks at that position are dropped first, so the oldest block always follows the
 * position of writing.  A lock protects the list of blocks, and is held while one block is copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <ldb/trace-format.h>
#include "base/array.h"
#include "base/minmax.h"
#include "cli/outfile.h"
#include "record/flight/ring.h"

#define ENTRIES_MIN	1024UL	/* a power of two */
#define PAGE_BYTES	4096UL	/* on machines with larger pages, less memory is returned */

struct entry {
	uint64_t offset;
	size_t size;
	int64_t came_ns, tick;	/* tick: of the latest row in the block */
};

struct flight_ring {
	pthread_mutex_t lock;
	int fd;
	char path[PATH_MAX];		/* "": the ring is in memory */
	uint64_t capacity, head, bytes;
	struct entry *entries;		/* circular: block n is at n modulo room */
	size_t room;
	uint64_t first, next;
	int64_t cut;
};

static struct entry *entry_at(const struct flight_ring *r, uint64_t number)
{
	return &r->entries[number & (r->room - 1)];
}

static bool grow(struct flight_ring *r)
{
	size_t room = r->room;

	/* The room doubles: what was at n modulo the old room is now at n modulo the new one. */
	if (!array_reserve(&r->entries, &r->room, room ? room + 1 : ENTRIES_MIN, sizeof(*r->entries)))
		return false;
	for (uint64_t n = r->first; room && n < r->next; n++)
		if (n & room)
			r->entries[n & (r->room - 1)] = r->entries[n & (room - 1)];
	return true;
}

static int open_file(struct flight_ring *r, const char *file)
{
	bool is_regular;
	int fd, again;

	fd = outfile_open(file, OUTFILE_REPLACE, &is_regular);
	if (fd < 0)
		return fd;
	if (!is_regular) {
		close(fd);
		return -EINVAL;
	}
	if (posix_fallocate(fd, 0, r->capacity)) {
		close(fd);
		unlink(file);
		return -ENOSPC;
	}
	snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", fd);
	again = open(r->path, O_RDWR | O_CLOEXEC);
	close(fd);
	snprintf(r->path, sizeof(r->path), "%s", file);
	return again < 0 ? -EIO : again;
}

struct flight_ring *flight_ring_open(const char *file, uint64_t bytes, char *err, size_t err_size)
{
	struct flight_ring *r = calloc(1, sizeof(*r));

	snprintf(err, err_size, "out of memory");
	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	r->capacity = bytes;
	r->cut = INT64_MIN;
	r->fd = file ? open_file(r, file) : memfd_create("ldb-flight", MFD_CLOEXEC);
	if (r->fd < 0) {
		if (file)
			snprintf(err, err_size, "cannot write %s: %s: give another place with --flight-file",
				 file, outfile_why(r->fd));
		free(r);
		return NULL;
	}
	if (grow(r))
		return r;
	flight_ring_close(r);
	return NULL;
}

void flight_ring_close(struct flight_ring *r)
{
	if (!r)
		return;
	if (*r->path)
		unlink(r->path);
	close(r->fd);
	pthread_mutex_destroy(&r->lock);
	free(r->entries);
	free(r);
}

static struct entry *drop_first(struct flight_ring *r)
{
	struct entry *e = entry_at(r, r->first++);

	r->bytes -= e->size;
	r->cut = max(r->cut, e->tick);
	return e;
}

/*
 * Returns the memory of a dropped block to the kernel.  The page in which the block begins is
 * returned as well, unless the newest block ends in this page.
 */
static void free_pages(const struct flight_ring *r, const struct entry *e)
{
	uint64_t from = e->offset & -PAGE_BYTES, to = (e->offset + e->size) & -PAGE_BYTES;

	if (r->head > from && r->head <= e->offset)
		from += PAGE_BYTES;
	if (!*r->path && from < to)
		fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
}

/* Returns true if the oldest block overlaps [from, to). */
static bool is_in_the_way(const struct flight_ring *r, uint64_t from, uint64_t to)
{
	const struct entry *e = entry_at(r, r->first);

	return r->first < r->next && e->offset < to && e->offset + e->size > from;
}

static void make_room(struct flight_ring *r, size_t size)
{
	if (r->head + size > r->capacity) {
		/*
		 * Blocks between head and the end of the ring are older than those at its
		 * beginning.
		 */
		while (is_in_the_way(r, r->head, r->capacity))
			drop_first(r);
		r->head = 0;
	}
	while (is_in_the_way(r, r->head, r->head + size))
		drop_first(r);
}

static int write_at(int fd, const char *data, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t n = pwrite(fd, data, size, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data += n;
		size -= n;
		offset += n;
	}
	return 0;
}

/*
 * Returns the last tick of a block.  A program can write any time stamps, so the result is limited
 * to the tick at which the block was added.
 */
static int64_t last_tick(const void *block, int64_t tick)
{
	struct ldb_block_header h;

	memcpy(&h, block, sizeof(h));
	return h.t_max >= h.t_min ? min(h.t_max, tick) : tick;
}

int flight_ring_add(struct flight_ring *r, const void *block, size_t size, int64_t now_ns, int64_t tick)
{
	int rc;

	if (size > r->capacity)
		return -ENOSPC;
	pthread_mutex_lock(&r->lock);
	rc = r->next - r->first == r->room && !grow(r) ? -ENOMEM : 0;
	if (!rc) {
		make_room(r, size);
		rc = write_at(r->fd, block, size, r->head);
	}
	if (!rc) {
		*entry_at(r, r->next++) = (struct entry){
			.offset = r->head, .size = size, .came_ns = now_ns, .tick = last_tick(block, tick),
		};
		r->head += size;
		r->bytes += size;
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

void flight_ring_expire(struct flight_ring *r, int64_t before_ns)
{
	pthread_mutex_lock(&r->lock);
	while (r->first < r->next && entry_at(r, r->first)->came_ns < before_ns)
		free_pages(r, drop_first(r));
	pthread_mutex_unlock(&r->lock);
}

uint64_t flight_ring_first(const struct flight_ring *r)
{
	return r->first;
}

uint64_t flight_ring_next(const struct flight_ring *r)
{
	return r->next;
}

uint64_t flight_ring_bytes(const struct flight_ring *r)
{
	return r->bytes;
}

int64_t flight_ring_cut(const struct flight_ring *r)
{
	return r->cut;
}

static ssize_t read_at(int fd, char *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, data + done, size - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		done += n;
	}
	return size;
}

ssize_t flight_ring_read(struct flight_ring *r, uint64_t number, void **buffer, size_t *room)
{
	ssize_t rc = 0;

	pthread_mutex_lock(&r->lock);
	if (number >= r->first && number < r->next) {
		const struct entry *e = entry_at(r, number);

		rc = e->size <= *room || buffer_room(buffer, room, e->size) ? 0 : -ENOMEM;
		if (!rc)
			rc = read_at(r->fd, *buffer, e->size, e->offset);
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}
