// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a ring of perf: the kernel writes data_head, this file writes data_tail.  Records begin at
 * 8-byte boundaries and may wrap around the end.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "record/perf/private.h"
#include "record/session/order.h"

#define RECORD_MAX	65536	/* the size field has 16 bits */

int perf_ring_map(struct perf_ring *r, int fd, unsigned cpu, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	r->cpu = cpu;
	r->size = size;
	r->page = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->page != MAP_FAILED)
		return 0;
	r->page = NULL;
	return -errno;
}

void perf_ring_unmap(struct perf_ring *r)
{
	if (r->page)
		munmap(r->page, sysconf(_SC_PAGESIZE) + r->size);
	r->page = NULL;
}

/* Returns the complete record at pos: in the ring, or in copy if it wraps around. */
static const struct perf_event_header *record_at(const struct perf_ring *r, const char *data,
						 uint64_t pos, size_t size, char *copy)
{
	size_t offset = pos & (r->size - 1), first = r->size - offset;

	if (size <= first)
		return (const void *)(data + offset);
	memcpy(copy, data + offset, first);
	memcpy(copy + first, data, size - first);
	return (const void *)copy;
}

unsigned perf_ring_read(struct perf_ring *r, perf_record_fn *fn, void *arg, uint64_t *bad)
{
	_Alignas(8) static __thread char copy[RECORD_MAX];
	const char *data = (const char *)r->page + sysconf(_SC_PAGESIZE);
	uint64_t head = order_perf_head(r->page);
	uint64_t pos = r->page->data_tail, filled = head - pos;

	while (pos != head) {
		const struct perf_event_header *header =
			(const void *)(data + (pos & (r->size - 1)));
		uint64_t left = head - pos;

		/* The header itself never wraps around: it has 8 bytes, at an 8-byte boundary. */
		if (pos % 8 || left > r->size || left < sizeof(*header) ||
		    header->size < sizeof(*header) || header->size % 8 || header->size > left) {
			(*bad)++;
			break;
		}
		fn(arg, r->cpu, record_at(r, data, pos, header->size, copy));
		pos += header->size;
	}
	order_perf_tail(r->page, head);
	return filled > r->size ? 1000 : filled * 1000 / r->size;
}

unsigned perf_rings_read(struct perf_ring *rings, unsigned nr, perf_record_fn *fn, void *arg,
			 uint64_t *bad)
{
	unsigned fullest = 0;

	for (unsigned i = 0; i < nr; i++) {
		unsigned filled = rings[i].page ? perf_ring_read(&rings[i], fn, arg, bad) : 0;

		fullest = filled > fullest ? filled : fullest;
	}
	return fullest;
}
