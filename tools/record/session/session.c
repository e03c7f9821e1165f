// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates the memory shared with the program: a sealed memfd, laid out as in linux/ldb.h.  It is
 * sparse: pages that are never written take no memory.
 *
 * The program may be hostile or faulty, so all offsets and sizes used in this file are those of the
 * private copy of the info page.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "record/session/cpulist.h"
#include "record/session/session.h"

#define RING_ORDER_MIN	10
#define RING_ORDER_MAX	24

/*
 * Returns a number above those of all online CPUs: the number of configured CPUs, or the highest
 * online CPU plus one if that is greater; at most CPULIST_MAX.
 */
unsigned session_count_cpus(void)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	unsigned nr = configured > 0 ? configured : 1;
	unsigned online = cpulist_read("/sys/devices/system/cpu/online", NULL);

	if (online > nr)
		nr = online;
	return nr < CPULIST_MAX ? nr : CPULIST_MAX;
}

static uint64_t ring_stride(unsigned order)
{
	return LDB_RING_HDR_SIZE + (sizeof(struct ldb_rec) << order);
}

unsigned session_order_for(uint64_t ring_bytes, unsigned nr_cpus)
{
	/* The size in bytes is slightly more than a power of two, because of the header. */
	uint64_t bytes = ring_bytes / nr_cpus + LDB_RING_HDR_SIZE;
	unsigned order = RING_ORDER_MIN;

	while (order < RING_ORDER_MAX && ring_stride(order + 1) <= bytes)
		order++;
	return order;
}

static void lay_out(struct ldb_info *i, uint64_t ring_bytes, unsigned nr_scanners)
{
	uint64_t at = LDB_PAGE_SIZE;

	i->magic = LDB_INFO_MAGIC;
	i->abi = LDB_SESSION_ABI;
	i->nr_cpus = session_count_cpus();
	i->nr_scanners = nr_scanners;
	i->nr_rings = i->nr_cpus + nr_scanners;
	i->ring_order = session_order_for(ring_bytes, i->nr_cpus);
	i->scan_ring_order = SESSION_SCAN_ORDER;
	i->max_threads = SESSION_THREADS;
	i->pages_off = at;
	i->page_stride = LDB_PAGE_SIZE;
	at += i->max_threads * i->page_stride;
	i->stacks_off = at;
	i->stack_stride = sizeof(struct ldb_stack);
	at += i->max_threads * i->stack_stride;
	i->rings_off = at;
	i->ring_stride = ring_stride(i->ring_order);
	at += i->nr_cpus * i->ring_stride;
	i->scan_rings_off = at;
	i->scan_ring_stride = ring_stride(i->scan_ring_order);
	at += nr_scanners * i->scan_ring_stride;
	i->total_size = at;
}

int session_open(struct session *s, uint64_t ring_bytes, unsigned nr_scanners, unsigned clock_id,
		 uint64_t clock_hz)
{
	int rc;

	memset(s, 0, sizeof(*s));
	lay_out(&s->info, ring_bytes, nr_scanners);
	s->info.clock_id = clock_id;
	s->info.tsc_hz = clock_hz;
	s->size = s->info.total_size;
	s->fd = memfd_create("ldb-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (s->fd < 0)
		return -errno;
	if (ftruncate(s->fd, s->size) ||
	    fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto err_close;
	s->base = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->fd, 0);
	if (s->base == MAP_FAILED)
		goto err_close;
	memcpy(s->base, &s->info, sizeof(s->info));
	return 0;

err_close:
	rc = -errno;
	close(s->fd);
	s->base = NULL;
	return rc;
}

void session_close(struct session *s)
{
	if (!s->base)
		return;
	munmap(s->base, s->size);
	if (s->kernel_rings)
		munmap(s->kernel_rings, s->kernel_size);
	s->kernel_rings = NULL;
	close(s->fd);
	s->base = NULL;
}

void session_add_kernel_rings(struct session *s, void *rings, uint64_t stride, unsigned order)
{
	s->kernel_rings = rings;
	s->kernel_size = stride * s->info.nr_cpus;
	s->kernel_order = order;
	s->info.kernel_ring_stride = stride;
}

const volatile struct ldb_info *session_info(const struct session *s)
{
	return (const volatile struct ldb_info *)s->base;
}

const struct ldb_page *session_page(const struct session *s, unsigned slot)
{
	return (const void *)(s->base + s->info.pages_off + slot * s->info.page_stride);
}

const struct ldb_stack *session_stack(const struct session *s, unsigned slot)
{
	return (const void *)(s->base + s->info.stacks_off + slot * s->info.stack_stride);
}

const struct ldb_ring_hdr *session_ring(const struct session *s, unsigned ring)
{
	const struct ldb_info *i = &s->info;

	if (ring < i->nr_cpus)
		return (const void *)(s->base + i->rings_off + ring * i->ring_stride);
	ring -= i->nr_cpus;
	if (ring >= i->nr_scanners)
		return (const void *)(s->kernel_rings +
				      (ring - i->nr_scanners) * i->kernel_ring_stride);
	return (const void *)(s->base + i->scan_rings_off + ring * i->scan_ring_stride);
}

const struct ldb_ring_hdr *session_kernel_ring(const struct session *s, unsigned cpu)
{
	return session_ring(s, s->kernel_rings ? s->info.nr_cpus + s->info.nr_scanners + cpu : cpu);
}

unsigned session_ring_order(const struct session *s, unsigned ring)
{
	const struct ldb_info *i = &s->info;

	if (ring < i->nr_cpus)
		return i->ring_order;
	return ring < i->nr_cpus + i->nr_scanners ? i->scan_ring_order : s->kernel_order;
}

unsigned session_nr_rings(const struct session *s)
{
	return s->info.nr_rings + (s->kernel_rings ? s->info.nr_cpus : 0);
}

unsigned session_ring_cpu(const struct session *s, unsigned ring)
{
	return ring < s->info.nr_cpus ? ring : ring - s->info.nr_rings;
}
