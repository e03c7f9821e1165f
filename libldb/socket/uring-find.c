// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the memory of rings that the program uses by system calls, without liburing.
 *
 * If a ring is created during the recording, its place is known from io_uring_setup() and from the
 * mappings that follow.  The mappings of rings that are older than the recording are read from
 * /proc by the control thread, which has a file table of its own, and so opens no descriptor of the
 * program.  /proc shows the inode of each mapping and not the descriptor.  So when a thread of the
 * program first uses a descriptor, it compares the descriptor's inode with those of the mappings.
 * To find out where the parts of a ring are in a mapping, the control thread creates a ring of its
 * own and asks the kernel.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "runtime/runtime.h"
#include "socket/uring.h"

#define FOUND_MAX	32
/* flags that older versions of linux/io_uring.h lack */
#define SETUP_NO_MMAP	(1U << 14)
#define SETUP_NO_SQARRAY (1U << 16)
#define SETUP_OTHER_SIZES (IORING_SETUP_SQE128 | IORING_SETUP_CQE32)
#define SETUP_MIXED_SIZES (3U << 18)
#define SETUP_SQ_REWIND	(1U << 20)
/* Rings with these flags have another layout, and are not followed. */
#define SETUP_OTHERS (SETUP_OTHER_SIZES | SETUP_MIXED_SIZES | SETUP_SQ_REWIND)
#define CACHE_LINE	64

enum { FOUND_NONE, FOUND_FILLED, FOUND_USED };

struct found {
	_Atomic uint32_t state;
	/* -1: not known yet, because the ring is older than the recording */
	int fd;
	uint64_t inode;
	uint32_t flags;
	struct io_sqring_offsets sq;
	struct io_cqring_offsets cq;
	char *rings;
	size_t rings_size;
	char *sqes;
	size_t sqes_size;	/* 0: not known */
};

static struct found found[FOUND_MAX];
static _Atomic uint32_t now;

uint32_t uring_now(void)
{
	return order_any_load(&now);
}

static void found_remove(struct found *f)
{
	f->fd = -1;
	order_ring_set_found(&f->state, FOUND_NONE);
}

void uring_forget_all(void)
{
	atomic_fetch_add(&now, 1);
	for (uint32_t i = 0; i < FOUND_MAX; i++)
		found_remove(&found[i]);
}

static struct found *found_of(int fd)
{
	for (uint32_t i = 0; i < FOUND_MAX; i++)
		if (order_ring_found(&found[i].state) == FOUND_USED && found[i].fd == fd)
			return &found[i];
	return NULL;
}

static struct found *found_new(void)
{
	for (uint32_t i = 0; i < FOUND_MAX; i++) {
		uint32_t none = FOUND_NONE;

		if (!atomic_compare_exchange_strong(&found[i].state, &none, FOUND_FILLED))
			continue;
		found[i] = (struct found){ .state = FOUND_FILLED, .fd = -1 };
		return &found[i];
	}
	return NULL;
}

void uring_made(int fd, const struct io_uring_params *p)
{
	struct found *f = found_of(fd);

	if (f)
		found_remove(f);
	f = found_new();
	if (!f)
		return;
	f->flags = p->flags;
	f->sq = p->sq_off;
	f->cq = p->cq_off;
	f->fd = fd;
	order_ring_set_found(&f->state, FOUND_USED);
}

void uring_mapped(int fd, uint64_t offset, void *addr, size_t size)
{
	struct found *f = found_of(fd);

	if (!f)
		return;
	if (offset == IORING_OFF_SQ_RING) {
		f->rings_size = size;
		f->rings = addr;
	} else if (offset == IORING_OFF_SQES) {
		f->sqes = addr;
	}
}

/*
 * Returns true if the ring can be read.  Since Linux 5.4 all parts but the SQEs are in one mapping,
 * of which the program may have mapped only a part.
 */
static bool is_whole(const struct found *f)
{
	return f->rings && f->sqes && f->cq.cqes && f->rings_size > f->cq.cqes &&
	       !(f->flags & (SETUP_OTHERS | SETUP_NO_MMAP));
}

static uint64_t pages(uint64_t size)
{
	return (size + 4095) & ~4095ULL;
}

static bool view_of(const struct found *f, struct uring_view *v)
{
	const char *m = f->rings;
	uint64_t end;

	if (!is_whole(f))
		return false;
	v->fd = f->fd;
	v->sq_mask = *(const uint32_t *)(m + f->sq.ring_mask);
	v->cq_mask = *(const uint32_t *)(m + f->cq.ring_mask);
	v->sq_head = (const _Atomic uint32_t *)(m + f->sq.head);
	v->cq_head = (const _Atomic uint32_t *)(m + f->cq.head);
	v->cq_tail = (const _Atomic uint32_t *)(m + f->cq.tail);
	v->sq_end = order_ring_tail((const _Atomic uint32_t *)(m + f->sq.tail));
	v->sqes = (const struct io_uring_sqe *)f->sqes;
	v->cqes = (const struct io_uring_cqe *)(m + f->cq.cqes);
	end = f->cq.cqes + ((uint64_t)v->cq_mask + 1) * sizeof(*v->cqes);
	v->array = NULL;
	if (end > f->rings_size)
		return false;
	/* The array is behind the CQEs, on a cache line of its own. */
	end = (end + CACHE_LINE - 1) & -CACHE_LINE;
	/*
	 * The flags of a ring that is older than the recording are not known, so its entries may
	 * have another size.
	 */
	if (f->sqes_size && (f->sqes_size > pages(((uint64_t)v->sq_mask + 1) * sizeof(*v->sqes)) ||
			     f->rings_size > pages(end + ((uint64_t)v->sq_mask + 1) * sizeof(uint32_t))))
		return false;
	if (f->flags & SETUP_NO_SQARRAY)
		return true;
	if (f->sq.array)
		end = f->sq.array;
	if (end + ((uint64_t)v->sq_mask + 1) * sizeof(uint32_t) <= f->rings_size)
		v->array = (const uint32_t *)(m + end);
	return true;
}

/* Finds the ring of this descriptor among the rings that are older than the recording. */
static struct found *recognize(int fd)
{
	struct stat st = { .st_ino = 0 };

	for (uint32_t i = 0; i < FOUND_MAX; i++) {
		struct found *f = &found[i];

		if (order_ring_found(&f->state) != FOUND_USED || f->fd >= 0)
			continue;
		/*
		 * The kernel is asked only if there is such a ring; under a seccomp filter there is
		 * none.
		 */
		if (!st.st_ino && sys(SYS_fstat, fd, &st))
			return NULL;
		if (f->inode == st.st_ino) {
			f->fd = fd;
			return f;
		}
	}
	return NULL;
}

bool uring_view_of(int fd, struct uring_view *v)
{
	struct found *f = found_of(fd) ?: recognize(fd);

	return f && view_of(f, v);
}

static bool is_near(const volatile void *part, const void *start)
{
	return (uintptr_t)part - (uintptr_t)start < 4096;
}

/*
 * Returns true if the pointers in this struct agree with the layout of a ring.  They do not if
 * there is no ring, or with liburing.so.1.
 */
static bool is_layout(const struct liburing_ring *r)
{
	return r->sq.ring_ptr && r->cq.ring_ptr && r->sq.sqes && is_near(r->sq.khead, r->sq.ring_ptr) &&
	       is_near(r->sq.kring_mask, r->sq.ring_ptr) && is_near(r->cq.khead, r->cq.ring_ptr) &&
	       is_near(r->cq.ktail, r->cq.ring_ptr) && is_near(r->cq.kring_mask, r->cq.ring_ptr) &&
	       is_near(r->cq.cqes, r->cq.ring_ptr);
}

bool uring_view_of_liburing(const struct liburing_ring *ring, struct uring_view *v)
{
	if (!is_layout(ring) || ring->flags & SETUP_OTHERS)
		return false;
	*v = (struct uring_view){
		.fd = ring->ring_fd, .sq_mask = *ring->sq.kring_mask, .cq_mask = *ring->cq.kring_mask,
		.sq_head = ring->sq.khead, .cq_head = ring->cq.khead, .cq_tail = ring->cq.ktail,
		.sq_end = ring->sq.sqe_tail, .sqes = ring->sq.sqes, .cqes = ring->cq.cqes,
	};
	return true;
}

void uring_found_unmapped(uintptr_t lo, uintptr_t hi)
{
	for (uint32_t i = 0; i < FOUND_MAX; i++) {
		struct found *f = &found[i];
		uintptr_t rings = (uintptr_t)f->rings, sqes = (uintptr_t)f->sqes;

		if (order_ring_found(&f->state) != FOUND_USED)
			continue;
		if ((rings < hi && rings + f->rings_size > lo) || (sqes >= lo && sqes < hi))
			found_remove(f);
	}
}

/* The beginning of a recording (raw thread) */

/* "from-to rw-s offset 00:10 inode anon_inode:[io_uring]", a character at a time. */
struct line {
	uint64_t field[5];	/* from, to, (rights), offset, (device) */
	uint64_t inode;
	unsigned nr, nr_name;
	char name[32];
};

static void line_char(struct line *l, char c)
{
	unsigned digit = c <= '9' ? c - '0' : c - 'a' + 10;

	if (l->nr < 6 && (c == ' ' || (c == '-' && l->nr == 0)))
		l->nr++;
	else if (l->nr < 5)
		l->field[l->nr] = l->field[l->nr] << 4 | digit;
	else if (l->nr == 5)
		l->inode = l->inode * 10 + digit;
	else if (c != ' ' && l->nr_name < sizeof(l->name) - 1)
		l->name[l->nr_name++] = c;
}

static void line_ends(const struct line *l)
{
	uint64_t offset = l->field[3];
	struct found *f = NULL;

	if (!raw_str_equal(l->name, "anon_inode:[io_uring]"))
		return;
	for (uint32_t i = 0; i < FOUND_MAX && !f; i++)
		if (order_any_load(&found[i].state) && found[i].inode == l->inode)
			f = &found[i];
	f = f ? f : found_new();
	if (!f)
		return;
	f->inode = l->inode;
	/*
	 * Before Linux 5.16 all rings have the same inode, so it is not known which mappings belong
	 * to one ring.
	 */
	if ((offset == IORING_OFF_SQ_RING && f->rings) || (offset == IORING_OFF_SQES && f->sqes))
		f->flags = SETUP_NO_MMAP;
	if (offset == IORING_OFF_SQ_RING) {
		f->rings = (char *)l->field[0];
		f->rings_size = l->field[1] - l->field[0];
	} else if (offset == IORING_OFF_SQES) {
		f->sqes = (char *)l->field[0];
		f->sqes_size = l->field[1] - l->field[0];
	}
	order_ring_set_found(&f->state, FOUND_USED);
}

static void read_maps(void)
{
	struct line l = { .nr = 0 };
	char buf[4096];
	long fd = sys(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return;
	while ((n = sys(SYS_read, fd, buf, sizeof(buf))) > 0)
		for (long i = 0; i < n; i++) {
			if (buf[i] != '\n') {
				line_char(&l, buf[i]);
				continue;
			}
			line_ends(&l);
			l = (struct line){ .nr = 0 };
		}
	sys(SYS_close, fd);
}

/* Creates a ring to ask the kernel where the parts of a ring are. */
static void find_parts(void)
{
	struct io_uring_params p = { .flags = 0 };
	long fd;

	fd = sys(SYS_io_uring_setup, 1, &p);
	if (fd < 0)
		return;
	sys(SYS_close, fd);
	p.sq_off.array = 0;	/* depends on the ring's size */
	for (uint32_t i = 0; i < FOUND_MAX; i++) {
		found[i].sq = p.sq_off;
		found[i].cq = p.cq_off;
	}
}

void uring_begin(void)
{
	bool any = false;

	uring_forget_all();
	if (priority_any_filter())
		return;
	read_maps();
	for (uint32_t i = 0; i < FOUND_MAX; i++)
		any = any || order_any_load(&found[i].state);
	if (any)
		find_parts();
}
