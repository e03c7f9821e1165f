// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Manages the session's memory, and writes into its rings.
 *
 * The address space of a session is never freed.  After a detach it contains scratch memory, so
 * that a thread that is still in ring_write() stores into unused memory and does not fault.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include "runtime.h"
#include "shim/symbol.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif
/*
 * How many bytes of a CPU's ring are mapped ahead of its head: with a call of session_populate()
 * every 20 ms, enough for 100,000 to 400,000 records a second.
 */
#define POPULATE_LEAST	(64UL << 10)
#define POPULATE_MOST	(256UL << 10)
/* the rings of further CPUs are not mapped in advance */
#define POPULATE_CPUS	1024

static struct {
	/*
	 * in bytes: how much of the CPU's ring has been mapped in advance; its head at the last
	 * call; the most that the head has moved between two calls
	 */
	uint64_t end, head, most;
} populated[POPULATE_CPUS];

union session_page session_page __attribute__((aligned(4096)));
struct session session;

struct ldb_info *session_info(void)
{
	return (struct ldb_info *)session.base;
}

struct ldb_page *session_page_of(int slot)
{
	return (struct ldb_page *)(session.base + session.pages_off +
				   slot * session.page_stride);
}

struct ldb_stack *session_stack_of(int slot)
{
	return (struct ldb_stack *)(session.base + session.stacks_off +
				    slot * session.stack_stride);
}

uint64_t session_ticks(uint64_t ns)
{
	return (unsigned __int128)ns * session.hz / 1000000000;
}

/*
 * clock_gettime() of the vDSO.  The function that the linker finds may be a sanitizer's, which
 * would write to thread-local memory that ldb's own threads do not have.
 */
static int (*vdso_clock_gettime)(clockid_t, struct timespec *);
DORMANT_PAGE static const void *vdso;

void session_init(const void *vdso_image)
{
	vdso = vdso_image;
}

uint64_t session_clock(void)
{
	struct timespec ts = { 0, 0 };

	if (likely(session_page.a.clock_id != LDB_CLOCK_MONO))
		return cpu_tsc();
	if (!vdso_clock_gettime || vdso_clock_gettime(CLOCK_MONOTONIC, &ts))
		sys(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

uint64_t session_clock_after_stores(void)
{
	if (likely(session_page.a.clock_id != LDB_CLOCK_MONO))
		return cpu_tsc_after_stores();
	order_chain_visible();
	return session_clock();
}

/*
 * Writes slots into a ring.  `shared`: other threads write into it, too.  `mask` is a private copy.
 */
static void ring_put(struct ldb_ring_hdr *hdr, uint64_t mask,
		     struct ldb_rec *slots, unsigned nr, bool shared)
{
	struct ldb_rec *ring = (struct ldb_rec *)((char *)hdr + LDB_RING_HDR_SIZE);
	uint64_t idx;

	idx = shared ? order_ring_reserve(hdr, nr) : order_ring_reserve_own(hdr, nr);
	for (unsigned k = 0; k < nr; k++) {
		struct ldb_rec *s = &ring[(idx + k) & mask];

		s->tsc = slots[k].tsc;
		s->tid = slots[k].tid;
		s->type = slots[k].type;
		s->flags = slots[k].flags;
		s->arg = slots[k].arg;
		s->arg2 = slots[k].arg2;
		order_slot_commit(s, (uint32_t)(idx + k + 1) ^ ldb_rec_hash(&slots[k]));
	}
	/*
	 * The next slots were last written in the previous round of the ring, and are in no near
	 * cache.  A store that misses the cache does not stall the CPU at once, but delays the
	 * program's next locked instruction; this prefetch avoids that.
	 */
	cpu_prefetch_write(&ring[(idx + nr) & mask]);
	cpu_prefetch_write(&ring[(idx + nr + 2) & mask]);
}

void ring_write(struct ldb_rec *slots, unsigned nr)
{
	uint32_t cpu = cpu_number();

	if (unlikely(cpu >= session.nr_cpus))
		cpu = 0;
	ring_put((struct ldb_ring_hdr *)(session.base + session.rings_off +
					 cpu * session.ring_stride),
		 session.ring_mask, slots, nr, true);
}

void ring_write_scan(unsigned scanner, struct ldb_rec *slots, unsigned nr)
{
	ring_put((struct ldb_ring_hdr *)(session.base + session.scan_rings_off +
					 scanner * session.scan_ring_stride),
		 session.scan_ring_mask, slots, nr, false);
}

/*
 * The first write to a page of a ring costs a page fault, which makes some request several
 * microseconds longer, and twice as long in a virtual machine.  So the control thread faults in a
 * part of the ring ahead of its head, until the head has wrapped around once.  The part is four
 * times as long as the head has ever moved between two calls, within limits.  Where the kernel
 * cannot do this (before 5.14), page faults occur as before.
 */
static uint64_t populate_ahead(uint32_t cpu, uint64_t head)
{
	uint64_t went = head - populated[cpu].head;

	populated[cpu].head = head;
	if (went > populated[cpu].most)
		populated[cpu].most = went;
	went = populated[cpu].most * 4;
	return went < POPULATE_LEAST ? POPULATE_LEAST : went > POPULATE_MOST ? POPULATE_MOST : went;
}

void session_populate(void)
{
	for (uint32_t cpu = 0; cpu < session.nr_cpus && cpu < POPULATE_CPUS; cpu++) {
		char *ring = session.base + session.rings_off + cpu * session.ring_stride;
		uint64_t size = LDB_RING_HDR_SIZE + (session.ring_mask + 1) * sizeof(struct ldb_rec);
		uint64_t head = order_any_load_word(&((struct ldb_ring_hdr *)ring)->head);
		uint64_t from = populated[cpu].end, to = size;

		if (head < session.ring_mask) {
			head *= sizeof(struct ldb_rec);
			to = (head + populate_ahead(cpu, head)) & ~4095ULL;
		}
		if (to > size)
			to = size;
		if (to <= from)
			continue;
		populated[cpu].end = to;
		sys(SYS_madvise, ring + from, to - from, MADV_POPULATE_WRITE);
	}
}

static bool region_ok(uint64_t off, uint64_t stride, uint64_t n, uint64_t least,
		      uint64_t size)
{
	return off % 4096 == 0 && stride % 4096 == 0 && stride >= least &&
	       n <= 65536 && stride <= (1ULL << 32) && off <= size &&
	       n * stride <= size - off;
}

/*
 * Copies the info page, and checks it against the size of the file.  Returns NULL, or what is
 * wrong.
 */
static const char *session_copy(const struct ldb_info *in, uint64_t file_size,
				const struct ldb_msg_attach *msg)
{
	struct ldb_info i;

	memcpy(&i, in, sizeof(i));
	if (i.magic != LDB_INFO_MAGIC || i.abi != LDB_SESSION_ABI)
		return "the session memory has another format";
	if (i.total_size > file_size || i.ring_order > 24 || i.scan_ring_order > 28 ||
	    i.ring_order < 4 || i.scan_ring_order < 4 || !i.nr_cpus ||
	    !i.max_threads || i.max_threads > SESSION_THREADS_MAX ||
	    msg->nr_scanners < 1 || msg->nr_scanners > LDB_MAX_SCANNERS ||
	    i.nr_scanners < msg->nr_scanners || !i.tsc_hz ||
	    !region_ok(i.pages_off, i.page_stride, i.max_threads, LDB_PAGE_SIZE, i.total_size) ||
	    !region_ok(i.stacks_off, i.stack_stride, i.max_threads,
		       sizeof(struct ldb_stack), i.total_size) ||
	    !region_ok(i.rings_off, i.ring_stride, i.nr_cpus,
		       LDB_RING_HDR_SIZE + (32ULL << i.ring_order), i.total_size) ||
	    !region_ok(i.scan_rings_off, i.scan_ring_stride, i.nr_scanners,
		       LDB_RING_HDR_SIZE + (32ULL << i.scan_ring_order), i.total_size))
		return "the session memory has a wrong layout";
	vdso_clock_gettime = (int (*)(clockid_t, struct timespec *))
		symbol_vdso(vdso, CPU_VDSO_CLOCK_GETTIME);
	session.nr_cpus = i.nr_cpus;
	session.nr_scanners = msg->nr_scanners;
	session.max_threads = i.max_threads;
	session.ring_mask = (1ULL << i.ring_order) - 1;
	session.scan_ring_mask = (1ULL << i.scan_ring_order) - 1;
	session.pages_off = i.pages_off;
	session.page_stride = i.page_stride;
	session.stacks_off = i.stacks_off;
	session.stack_stride = i.stack_stride;
	session.rings_off = i.rings_off;
	session.ring_stride = i.ring_stride;
	session.scan_rings_off = i.scan_rings_off;
	session.scan_ring_stride = i.scan_ring_stride;
	session.clock_id = i.clock_id;
	session.hz = i.tsc_hz;
	session.budget_ppm = msg->budget_ppm;
	session.scanner_cpu = msg->scanner_cpu;
	session.scan_interval = session_ticks(msg->scan_interval_ns);
	session.is_slow = msg->tune.flags & LDB_TUNE_SLOW;
	session.schedstat_after = session_ticks(msg->schedstat_ns);
	return NULL;
}

/*
 * Returns the size of the recorder's memfd, after checking that the memfd cannot shrink any more;
 * or < 0.  Huge pages are refused, because when none are left the first access to a page would
 * raise SIGBUS in the program.
 */
static long memfd_size(int fd, const char **why)
{
	long ret = sys(SYS_fcntl, fd, F_GET_SEALS, 0);
	struct statfs fs;
	struct stat st;

	*why = "the session memory is not sealed";
	if (ret < 0 || (ret & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
		return -EPERM;
	*why = "the session memory cannot be examined";
	ret = sys(SYS_fstatfs, fd, &fs);
	if (!ret && fs.f_type == HUGETLBFS_MAGIC)
		ret = -EINVAL;
	/*
	 * The size is read after the seals were checked, because the file cannot shrink any more.
	 */
	if (!ret)
		ret = sys(SYS_fstat, fd, &st);
	return ret ? ret : st.st_size;
}

/* Joins the module's session, and returns its size; or < 0. */
static long device_size(int fd, const char **why)
{
	long ret = sys(SYS_ioctl, fd, LDB_IOC_JOIN, 0), at;

	*why = "the kernel module refuses the program: try --kernel none";
	if (ret < 0)
		return ret;
	*why = "the session memory cannot be mapped";
	at = sys(SYS_mmap, 0, LDB_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (at < 0 && at > -4096)
		return at;
	ret = ((struct ldb_info *)at)->total_size;
	sys(SYS_munmap, at, LDB_PAGE_SIZE);
	return ret;
}

int session_map(int fd, const struct ldb_msg_attach *msg, const char **why)
{
	struct stat st;
	uint64_t size;
	long ret;

	ret = sys(SYS_fstat, fd, &st);
	*why = "the session memory cannot be examined";
	if (ret < 0)
		return ret;
	ret = S_ISCHR(st.st_mode) ? device_size(fd, why) : memfd_size(fd, why);
	if (ret < 0)
		return ret;
	size = ret;
	*why = "the session memory is too small";
	if (size < sizeof(struct ldb_info))
		return -EINVAL;
	*why = "the session memory cannot be mapped";
	ret = raw_map_unlocked(session.base && size <= session.mapped_size ? session.base : NULL,
			   size, MAP_SHARED, fd);
	if (ret < 0 && ret > -4096)
		return ret;
	*why = session_copy((struct ldb_info *)ret, size, msg);
	if (*why) {
		if ((char *)ret == session.base)
			session_unmap();
		else
			sys(SYS_munmap, ret, size);
		return -EINVAL;
	}
	if ((char *)ret != session.base) {
		/* an earlier, smaller mapping is not removed: see the head of this file */
		session.base = (char *)ret;
		session.mapped_size = size;
	}
	sys(SYS_madvise, session.base, size, MADV_DONTDUMP);
	memset(populated, 0, sizeof(populated));
	session_populate();
	session.device = S_ISCHR(st.st_mode) ? fd : -1;
	return 0;
}

void session_unmap(void)
{
	if (session.device >= 0)
		sys(SYS_close, session.device);
	session.device = -1;
	if (!session.base)
		return;
	raw_map_unlocked(session.base, session.mapped_size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void session_fork_child(void)
{
	/* needed if the kernel could not zero the page */
	if (session_on())
		order_session_set(&session_page.a.on, 0);
	if (session.device >= 0)
		/* the descriptor belongs to the file table of the parent's control thread */
		session.device = -1;
	session_unmap();
}
