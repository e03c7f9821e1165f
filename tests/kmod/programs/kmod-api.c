// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the interface of the device: each ioctl with good and bad input, which process may map
 * which memory, poll().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "dev.h"
#include "tap.h"

#define NOBODY	65534

static int create_with(struct ldb_create c)
{
	struct dev d;
	int rc = dev_open(&d, &c);

	if (!rc)
		dev_close(&d);
	return rc;
}

/* Returns the result of a create with one changed field. */
#define CREATE(field, value) ({			\
	struct ldb_create c_ = dev_default();	\
	c_.field = (value);			\
	create_with(c_);			\
})

static void test_create(void)
{
	struct dev d;
	struct ldb_create c = dev_default();
	int fd = open(LDB_DEVICE, O_RDWR);

	is_int(dev_ioctl(fd, LDB_IOC_ABI, NULL), LDB_DEVICE_ABI, "ABI");
	is_int(dev_ioctl(fd, _IO('L', 99), NULL), -ENOTTY, "an unknown ioctl");
	is_int(dev_ioctl(fd, LDB_IOC_JOIN, NULL), -ENXIO, "JOIN without a session");
	is_int(dev_ioctl(fd, LDB_IOC_CLOCK, NULL), -ENXIO, "CLOCK without a session");
	is_int(dev_ioctl(fd, LDB_IOC_CREATE, (void *)8), -EFAULT, "CREATE from nowhere");
	ok(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == ENXIO,
	   "mmap without a session");
	close(fd);

	is_int(create_with(c), 0, "the defaults");
	is_int(CREATE(size, 44), -EINVAL, "another size");
	is_int(CREATE(flags, 2), -EINVAL, "an unknown flag");
	is_int(CREATE(pid, -1), -EINVAL, "a negative pid");
	is_int(CREATE(pid, 1 << 29), -ESRCH, "a pid that does not exist");
	is_int(CREATE(events, LDB_GROUP_ALL + 1), -EINVAL, "an unknown group");
	is_int(CREATE(events, 0), 0, "no group");
	is_int(CREATE(ring_order, 7), -EINVAL, "a ring that is too small");
	is_int(CREATE(ring_order, 21), -EINVAL, "a ring that is too large");
	is_int(CREATE(ring_order, 0xffffffff), -EINVAL, "the largest ring order");
	is_int(CREATE(nr_scanners, LDB_MAX_SCANNERS + 1), -EINVAL, "too many scanners");
	is_int(CREATE(max_threads, 0), -EINVAL, "max_threads 0");
	is_int(CREATE(max_threads, 4097), -EINVAL, "max_threads too large");
	is_int(CREATE(clock_id, 3), -EINVAL, "an unknown clock");
	is_int(CREATE(clock_id, LDB_CLOCK_MONO), 0, "CLOCK_MONOTONIC");
	is_int(CREATE(pad, 1), -EINVAL, "pad");
	c.nr_scanners = 4;
	c.scan_ring_order = 24;
	is_int(create_with(c), -EDQUOT, "more than max_mb");
	c.scan_ring_order = 25;
	is_int(create_with(c), -EINVAL, "too large a scanner's ring");

	c = dev_default();
	is_int(dev_open(&d, &c), 0, "a session");
	is_int(dev_ioctl(d.fd, LDB_IOC_CREATE, &c), -EBUSY, "a second one on the file");
	ok(d.c.total_size && d.c.clock_id, "CREATE returns the session's size and clock");
	dev_close(&d);
}

static void test_layout(void)
{
	struct ldb_create c = dev_default();
	struct ldb_info *i;
	struct dev d;

	c.nr_scanners = 2;
	c.scan_ring_order = 10;
	if (!is_int(dev_open(&d, &c), 0, "with scanners") || !is_int(dev_map(&d), 0, "map it"))
		return;
	i = &d.info;
	ok(i->magic == LDB_INFO_MAGIC && i->abi == LDB_SESSION_ABI, "magic and abi");
	is_int(i->flags, LDB_INFO_F_KERNEL, "flags");
	is_int(i->nr_rings, i->nr_cpus + 2, "rings");
	is_int(i->total_size, d.c.total_size, "total size");
	is_int(i->scan_rings_off + 2 * i->scan_ring_stride, i->total_size, "the last ring ends it");
	is_int(i->rings_off + i->nr_cpus * i->ring_stride, i->scan_rings_off,
	       "rings of CPUs before it");
	is_int(i->clock_id, d.c.clock_id, "clock");
	ok(i->tsc_hz > 1000000, "the clock's frequency");
	ok(i->nr_cpus >= nr_cpus(), "all CPUs");
	/* Checks that each page can be read and written, and is zero except for the info page. */
	bool zero = true;

	for (uint64_t off = 4096; off < i->total_size; off += 4096) {
		zero &= *(uint64_t *)(d.base + off) == 0;
		*(uint64_t *)(d.base + off + 8) = off;
	}
	ok(zero, "the session's memory is zeroed");
	zero = true;
	for (uint64_t off = 4096; off < i->total_size; off += 4096)
		zero &= *(uint64_t *)(d.base + off + 8) == off;
	ok(zero, "the session's pages are different pages");
	dev_close(&d);
}

static sigjmp_buf escape;

static void on_sigbus(int sig)
{
	siglongjmp(escape, sig);
}

/* Returns the signal that an access raises, or 0. */
static int touch(volatile char *p, bool write)
{
	int sig = sigsetjmp(escape, 1);

	if (sig)
		return sig;
	if (write)
		*p = 1;
	else
		(void)*p;
	return 0;
}

static int map_error(int fd, int prot, int flags, uint64_t off)
{
	char *p = mmap(NULL, 4096, prot, flags, fd, off);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, 4096);
	return 0;
}

static void test_mmap(void)
{
	struct ldb_create c = dev_default();
	struct dev d;
	char *p;

	if (!is_int(dev_open(&d, &c), 0, "a session") || !is_int(dev_map(&d), 0, "map it"))
		return;
	is_int(map_error(d.fd, PROT_READ, MAP_PRIVATE, 0), -EINVAL, "a private mapping");
	is_int(map_error(d.fd, PROT_READ | PROT_EXEC, MAP_SHARED, 0), -EPERM,
	       "an executable mapping");
	ok(mprotect(d.base, 4096, PROT_READ | PROT_EXEC) && errno == EACCES,
	   "a mapping that is made executable later");
	is_int(map_error(d.fd, PROT_READ, MAP_SHARED, d.c.total_size / 2 & ~4095ULL), 0,
	       "a mapping of a part");
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, d.fd, d.c.total_size - 4096);
	ok(p != MAP_FAILED, "a mapping that extends beyond the end");
	is_int(touch(p, false), 0, "the last page is there");
	is_int(touch(p + 4096, false), SIGBUS, "access beyond the end raises SIGBUS");
	munmap(p, 8192);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 1ULL << 40);
	is_int(touch(p, false), SIGBUS, "access far beyond the end raises SIGBUS");
	munmap(p, 4096);
	ok(mremap(d.base, 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED, "a mapping does not grow");
	dev_close(&d);
}

static void test_split(void)
{
	struct ldb_create c = dev_default();
	struct dev d;
	struct events e;

	c.flags = LDB_CREATE_F_SPLIT;
	dev_self(&d, &c);
	is_int(d.info.flags, LDB_INFO_F_KERNEL | LDB_INFO_F_SPLIT, "split: flags");
	ok(d.info.kernel_rings_off >= d.c.total_size, "split: the kernel's rings are apart");
	is_int(map_error(d.fd, PROT_READ | PROT_WRITE, MAP_SHARED, d.info.kernel_rings_off), -EPERM,
	       "split: not writable");
	ok(mprotect(d.kernel_rings, 4096, PROT_READ | PROT_WRITE) && errno == EACCES,
	   "split: nor made so");
	is_int(touch(d.kernel_rings + d.info.nr_cpus * d.info.kernel_ring_stride - 1, false), 0,
	       "split: readable");
	msleep(5);
	e = dev_events(&d);
	ok(e.nr > 2 && !e.holes, "split: %zu events in them", e.nr);
	events_free(&e);
	is_int(((struct ldb_ring_hdr *)(d.base + d.info.rings_off))->head, 0,
	       "split: none elsewhere");
	dev_close(&d);
}

static int reg_with(struct dev *d, unsigned tid, unsigned slot, unsigned block, uint64_t tls, unsigned pad)
{
	struct ldb_reg r = { .tid = tid, .slot = slot, .block = block, .tls = tls, .pad = pad };

	return dev_ioctl(d->fd, LDB_IOC_REG, &r);
}

static void test_reg(void)
{
	unsigned tid = gettid_();
	struct ldb_page *page;
	struct dev d;
	int rc;

	rc = dev_open(&d, NULL);
	if (!is_int(rc, 0, "a session") || !is_int(dev_map(&d), 0, "map it"))
		return;
	is_int(dev_reg(&d, tid, 0, 0), -ENXIO, "REG before JOIN");
	is_int(dev_ioctl(d.fd, LDB_IOC_JOIN, NULL), 0, "JOIN");
	is_int(dev_ioctl(d.fd, LDB_IOC_JOIN, NULL), -EBUSY, "JOIN again");
	is_int(dev_reg(&d, tid, d.c.max_threads, 0), -EINVAL,
	       "the first page index that does not exist");
	is_int(dev_reg(&d, tid, 0xffffffff, 0), -EINVAL, "the largest page index");
	is_int(reg_with(&d, tid, 0, 0x10000, 0, 0), -EINVAL, "a block of more than 16 bits");
	is_int(reg_with(&d, tid, 0, 0, 0, 1), -EINVAL, "pad");
	is_int(reg_with(&d, tid, 0, 0, 0xffffffff81000000ULL, 0), -EINVAL, "a block in the kernel");
	is_int(dev_reg(&d, 1, 0, 0), -ESRCH, "a thread of another process");
	is_int(dev_reg(&d, 0, 0, 0), -ESRCH, "tid 0");
	is_int(dev_ioctl(d.fd, LDB_IOC_REG, (void *)8), -EFAULT, "REG from nowhere");

	page = dev_page(&d, 3);
	is_int(dev_reg(&d, tid, 3, 0), 0, "REG");
	ok(page->k_seq & 1 && page->k_oncpu == 1, "a thread that registers itself is on a CPU");
	is_int(page->k_tid, tid, "its tid");
	is_int(page->k_slot_gen, 1, "the page's first registration");
	is_int(dev_stats(&d).threads, 1, "one thread");
	is_int(dev_reg(&d, tid, 3, 0), 0, "the same REG again");
	is_int(page->k_slot_gen, 2, "the page's second registration");
	is_int(dev_reg(&d, tid, 4, 0), 0, "REG with another page");
	ok(!page->k_tid && !page->k_seq, "the thread's first page is free again");
	is_int(dev_page(&d, 4)->k_tid, tid, "the thread has the other page");
	is_int(dev_stats(&d).threads, 1, "still one thread");
	is_int(dev_ioctl(d.fd, LDB_IOC_UNREG, &tid), 0, "UNREG");
	is_int(dev_ioctl(d.fd, LDB_IOC_UNREG, &tid), -ESRCH, "UNREG again");
	is_int(dev_stats(&d).threads, 0, "no thread");
	ok(!dev_page(&d, 4)->k_tid, "no tid");
	dev_close(&d);
}

/* This thread sleeps until there is a byte in the pipe; then it runs while `spin` is set. */
static int pipe_[2];
static unsigned sleeper_tid;
static volatile bool spin;

static void *sleeper(void *arg)
{
	char c;

	__atomic_store_n(&sleeper_tid, gettid_(), __ATOMIC_RELEASE);
	if (read(pipe_[0], &c, 1) != 1)
		return NULL;
	while (__atomic_load_n(&spin, __ATOMIC_ACQUIRE))
		;
	return NULL;
}

struct saw {
	int rc;
	unsigned seq, oncpu, slot, tid;
};

/*
 * A new session registers the thread that spins.  Returns false if that thread was switched out
 * meanwhile: then the switch has set the state, and not the registration.
 */
static bool reg_running(struct dev *d, struct saw *saw)
{
	struct ldb_page *page;

	dev_self(d, NULL);
	page = dev_page(d, 0);
	saw->rc = dev_reg(d, sleeper_tid, 0, 0);
	saw->seq = __atomic_load_n(&page->k_seq, __ATOMIC_ACQUIRE);
	saw->oncpu = page->k_oncpu;
	saw->slot = dev_ring(d, page->k_cpu)->k_slot;
	saw->tid = dev_ring(d, page->k_cpu)->k_tid;
	return __atomic_load_n(&page->k_seq, __ATOMIC_ACQUIRE) == saw->seq && saw->seq & 1;
}

static void test_reg_others(void)
{
	struct ldb_page *page;
	pthread_t t;
	struct dev d;
	struct saw saw;
	unsigned seq;

	if (pipe(pipe_))
		bail_out("pipe");
	sleeper_tid = 0;
	pthread_create(&t, NULL, sleeper, NULL);
	while (!__atomic_load_n(&sleeper_tid, __ATOMIC_ACQUIRE))
		msleep(1);
	msleep(50);
	dev_self(&d, NULL);
	is_int(dev_reg(&d, sleeper_tid, 0, 0), 0, "REG of a thread that sleeps since before");
	page = dev_page(&d, 0);
	seq = page->k_seq;
	ok(seq && !(seq & 1) && !page->k_oncpu, "it is known to be asleep (k_seq %x)", seq);
	is_int(page->k_tid, sleeper_tid, "its tid");
	spin = true;
	if (write(pipe_[1], "", 1) != 1)
		bail_out("write");
	for (int i = 0; i < 1000 && !(page->k_seq & 1); i++)
		msleep(1);
	ok(page->k_seq & 1 && page->k_seq > seq, "it is known to run after it woke up");
	dev_close(&d);

	/*
	 * The thread spins on: only the registration can set the state.  The test must wait until
	 * the previous session is freed, by a worker that may need the CPU of this thread.
	 */
	if (nr_cpus() > 1) {
		msleep(400);
		for (int i = 0; i < 20; i++) {
			if (i)
				dev_close(&d);
			if (reg_running(&d, &saw))
				break;
		}
		page = dev_page(&d, 0);
		is_int(saw.rc, 0, "REG of a thread that runs since before");
		ok(saw.seq & 1 && saw.oncpu, "a thread that runs is known to run");
		is_int(saw.slot, 1, "the ring of its CPU names its page");
		is_int(saw.tid, sleeper_tid, "the ring of its CPU names its tid");
		is_int(dev_reg(&d, gettid_(), 0, 0), 0, "REG of another thread with the same page");
		is_int(page->k_tid, gettid_(), "the page is that of the other thread");
		is_int(dev_stats(&d).threads, 1, "the first thread is not registered any more");
		spin = false;
		pthread_join(t, NULL);
		is_int(page->k_tid, gettid_(), "the end of the one before does not change it");
		dev_close(&d);
	} else {
		skip(8, "one CPU");
		spin = false;
		pthread_join(t, NULL);
	}
	close(pipe_[0]);
	close(pipe_[1]);
}

/* Runs fn in a forked child and returns its exit status, or minus the signal that killed it. */
static int in_child(int (*fn)(struct dev *), struct dev *d)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn(d));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int child_inherits(struct dev *d)
{
	/* The parent's session must not be visible to the child, and a write must not reach it. */
	for (uint64_t off = 0; off < d->c.total_size; off += 4096 * 7) {
		if (*(volatile uint64_t *)(d->base + off) == 0x1234567)
			return 1;
		*(volatile uint64_t *)(d->base + off) = 0x7654321;
	}
	return 0;
}

static int child_maps(struct dev *d)
{
	return -map_error(d->fd, PROT_READ, MAP_SHARED, 0);
}

static int child_registers(struct dev *d)
{
	return -dev_reg(d, gettid_(), 1, 0);
}

static int child_joins(struct dev *d)
{
	return -dev_ioctl(d->fd, LDB_IOC_JOIN, NULL);
}

static int child_creates(struct dev *d)
{
	struct ldb_create c = dev_default();

	return -dev_ioctl(d->fd, LDB_IOC_CREATE, &c);
}

static int child_of_nobody(struct dev *d)
{
	struct ldb_create c = dev_default();

	if (setuid(NOBODY))
		return 0;
	c.pid = getppid();
	return -create_with(c);
}

static int child_has_own(struct dev *d)
{
	struct dev own;

	dev_self(&own, NULL);
	return dev_reg(&own, gettid_(), 0, 0) ? 1 : 0;
}

static void test_fork(void)
{
	struct dev d;
	bool whole = true;

	dev_self(&d, NULL);
	is_int(dev_reg(&d, gettid_(), 0, 0), 0, "registered before fork");
	for (uint64_t off = d.info.stacks_off; off < d.c.total_size; off += 4096)
		*(volatile uint64_t *)(d.base + off + 4088) = 0x1234567;
	for (uint64_t off = 4096 * 7; off < d.info.stacks_off; off += 4096 * 7)
		*(volatile uint64_t *)(d.base + off) = 0x1234567;
	is_int(in_child(child_inherits, &d), 0, "a child reads nothing of the parent's session");
	for (uint64_t off = 0; off < d.c.total_size; off += 4096 * 7)
		whole &= *(volatile uint64_t *)(d.base + off) != 0x7654321;
	ok(whole, "a child changes nothing of the parent's session");
	is_int(in_child(child_maps, &d), EPERM, "a child cannot map the parent's session");
	is_int(in_child(child_registers, &d), EPERM,
	       "a child cannot register with the parent's session");
	is_int(in_child(child_joins, &d), EBUSY, "a child cannot join the parent's session");
	is_int(in_child(child_creates, &d), EBUSY,
	       "a child cannot create a session on the parent's file");
	is_int(in_child(child_has_own, &d), 0, "a child can have a session of its own");
	is_int(in_child(child_of_nobody, &d), EPERM, "a session of a pid needs a privilege");
	dev_close(&d);
}

static void test_one_session_each(void)
{
	struct ldb_create c = dev_default();
	struct dev d, other;

	dev_self(&d, NULL);
	is_int(dev_open(&other, NULL), 0, "a second session can be created");
	is_int(dev_ioctl(other.fd, LDB_IOC_JOIN, NULL), -EEXIST,
	       "the program cannot join a second session");
	dev_close(&other);
	c.pid = getpid();
	is_int(dev_open(&other, &c), -EEXIST, "a second session of the same pid is refused");
	dev_close(&d);
	is_int(dev_open(&other, &c), 0,
	       "a session of this pid is possible after the first one ended");
	is_int(dev_ioctl(other.fd, LDB_IOC_JOIN, NULL), -EBUSY,
	       "a session of a pid cannot be joined");
	is_int(dev_reg(&other, gettid_(), 0, 0), -ENXIO,
	       "a session of a pid takes no registration");
	dev_close(&other);
	c.pid = 2;
	is_int(dev_open(&other, &c), -EINVAL, "a session of a kernel thread is refused");
}

static void test_limits(void)
{
	struct dev d[70];
	unsigned nr = 0;
	int rc = 0;

	while (nr < 70 && !(rc = dev_open(&d[nr], NULL)))
		nr++;
	ok(nr == 64 && rc == -EDQUOT, "64 sessions (%u, %s)", nr, strerror(-rc));
	while (nr)
		dev_close(&d[--nr]);
	is_int(dev_open(&d[0], NULL), 0, "room again at once");
	dev_close(&d[0]);
}

static int poll_now(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) < 0 ? -errno : p.revents;
}

static void test_poll(void)
{
	struct ldb_create c = dev_default();
	struct dev d;
	uint64_t before;
	int fd = open(LDB_DEVICE, O_RDWR), status, rc;
	pid_t pid;

	is_int(poll_now(fd, 0), POLLERR, "poll without a session");
	close(fd);
	c.ring_order = 10;
	dev_self(&d, &c);
	is_int(poll_now(d.fd, 0), 0, "poll: nothing yet");
	before = dev_stats(&d).events;
	pin(0);
	rc = 0;
	for (int i = 0; i < 2000 && !rc; i++) {
		msleep(1);
		rc = poll_now(d.fd, 0);
	}
	is_int(rc, POLLIN, "poll: a quarter of a ring");
	ok(dev_stats(&d).events - before >= 128, "poll: not before (%llu events)",
	   (unsigned long long)(dev_stats(&d).events - before));
	is_int(poll_now(d.fd, 0), 0, "poll: said once");
	dev_close(&d);

	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	c.pid = pid;
	is_int(dev_open(&d, &c), 0, "a session of a child");
	is_int(poll_now(d.fd, 50), 0, "poll: it has not ended");
	is_int(dev_stats(&d).dead, 0, "the session of a child that lives is not dead");
	kill(pid, SIGKILL);
	rc = poll_now(d.fd, 5000);
	is_int(rc & POLLHUP, POLLHUP, "poll: it has ended");
	is_int(dev_stats(&d).dead, 1, "the session of a child that has ended is dead");
	waitpid(pid, &status, 0);
	dev_close(&d);
}

static void test_clock(void)
{
	struct ldb_clock_sample a = {}, b = {};
	struct dev d;
	uint64_t before, after;

	if (!is_int(dev_open(&d, NULL), 0, "a session"))
		return;
	before = dev_now(&d);
	is_int(dev_ioctl(d.fd, LDB_IOC_CLOCK, &a), 0, "CLOCK");
	after = dev_now(&d);
	ok(a.clock >= before && a.clock <= after, "taken between before and after");
	msleep(20);
	is_int(dev_ioctl(d.fd, LDB_IOC_CLOCK, &b), 0, "CLOCK again");
	ok(b.clock > a.clock && b.raw_ns > a.raw_ns && b.real_ns > a.real_ns, "time goes on");
	ok(b.mono_ns - a.mono_ns >= 20000000, "for 20 ms at least");
	ok(b.err < after - before + 100000000, "error bound %llu", (unsigned long long)b.err);
	is_int(dev_ioctl(d.fd, LDB_IOC_CLOCK, (void *)8), -EFAULT, "CLOCK to nowhere");
	is_int(dev_ioctl(d.fd, LDB_IOC_STATS, (void *)8), -EFAULT, "STATS to nowhere");
	dev_close(&d);
}

/* A child that inherits the descriptor is another process, so the call must fail. */
static int calls_of_child(int fd, struct ldb_calls *c)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(-dev_ioctl(fd, LDB_IOC_CALLS, c));
	waitpid(pid, &status, 0);
	return -WEXITSTATUS(status);
}

static void test_chains(void)
{
	struct ldb_chains c = { .nr_blocks = 1, .offset = { 0x7fffffffffffffff } };
	struct dev d;
	int fd = open(LDB_DEVICE, O_RDWR), status, failed = 0;

	is_int(dev_ioctl(fd, LDB_IOC_CHAINS, &c), -ENXIO, "CHAINS without a session");
	close(fd);
	dev_self(&d, NULL);
	is_int(dev_ioctl(d.fd, LDB_IOC_CHAINS, (void *)8), -EFAULT, "CHAINS from nowhere");
	if (!fork())
		_exit(-dev_ioctl(d.fd, LDB_IOC_CHAINS, &c));
	wait(&status);
	is_int(-WEXITSTATUS(status), -EPERM, "CHAINS by another process");
	c.nr_blocks = LDB_CHAIN_BLOCKS_MAX + 1;
	is_int(dev_ioctl(d.fd, LDB_IOC_CHAINS, &c), -EINVAL, "CHAINS of too many blocks");
	/* With these offsets, the module reads at any addresses. */
	c.nr_blocks = LDB_CHAIN_BLOCKS_MAX;
	for (int i = 0; i < 2000; i++) {
		for (unsigned b = 0; b < LDB_CHAIN_BLOCKS_MAX; b++)
			c.offset[b] = (int64_t)rand() * (i % 2 ? 16 : 1LL << 31);
		failed += dev_ioctl(d.fd, LDB_IOC_CHAINS, &c) != 0;
		if (i % 50 == 0)
			usleep(1);
	}
	is_int(failed, 0, "CHAINS with nonsense");
	c.nr_blocks = 0;
	c.tick_ns = ~0ULL;
	c.share = ~0U;
	is_int(dev_ioctl(d.fd, LDB_IOC_CHAINS, &c), 0,
	       "CHAINS no more, with times that no clock has");
	dev_close(&d);
}

/* A number is passed instead of a pointer. */
static int set_paused(int fd, unsigned long how)
{
	return dev_ioctl(fd, LDB_IOC_PAUSE, (void *)how);
}

static int count_types(const struct events *e, uint64_t from, unsigned first, unsigned last)
{
	int count = 0;

	for (size_t i = 0; i < e->nr; i++)
		count += e->v[i].rec.tsc >= from && e->v[i].rec.type >= first && e->v[i].rec.type <= last;
	return count;
}

/* Causes events of most groups. */
static void live(void)
{
	pthread_t t;

	for (int i = 0; i < 20; i++)
		usleep(100);
	sleeper_tid = 0;
	spin = false;
	if (pipe(pipe_))
		bail_out("pipe");
	pthread_create(&t, NULL, sleeper, NULL);
	if (write(pipe_[1], "", 1) != 1)
		bail_out("write");
	pthread_join(t, NULL);
	msleep(50);	/* the thread's exit comes a little later than its end */
	close(pipe_[0]);
	close(pipe_[1]);
}

static int pause_by_child(int fd)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(-set_paused(fd, 1));
	waitpid(pid, &status, 0);
	return -WEXITSTATUS(status);
}

static void test_pause_refused(void)
{
	struct ldb_create c = dev_default();
	struct dev d;
	int fd = open(LDB_DEVICE, O_RDWR);

	is_int(set_paused(fd, 1), -ENXIO, "PAUSE without a session");
	close(fd);
	is_int(dev_open(&d, &c), 0, "a session");
	is_int(set_paused(d.fd, 2), -EINVAL, "PAUSE neither with 0 nor with 1");
	is_int(set_paused(d.fd, -1UL), -EINVAL, "PAUSE with all bits");
	is_int(pause_by_child(d.fd), -EPERM, "PAUSE by another process");
	is_int(set_paused(d.fd, 0), 0, "a resume without a pause");
	is_int(set_paused(d.fd, 1), 0, "a pause before JOIN");
	is_int(set_paused(d.fd, 1), 0, "a second pause");
	is_int(dev_ioctl(d.fd, LDB_IOC_JOIN, NULL), 0, "JOIN in a pause");
	is_int(set_paused(d.fd, 0), 0, "a resume");
	dev_close(&d);
	c.events = 0;
	is_int(dev_open(&d, &c), 0, "a session without events");
	is_int(set_paused(d.fd, 1), 0, "a session without events can be paused");
	is_int(set_paused(d.fd, 0), 0, "a session without events can be resumed");
	dev_close(&d);
}

static void test_pause(void)
{
	uint64_t paused, resumed;
	struct ldb_page *page;
	struct dev d;
	struct events e;
	unsigned seq;

	dev_self(&d, NULL);
	is_int(dev_reg(&d, gettid_(), 0, 0), 0, "REG");
	page = dev_page(&d, 0);
	live();
	is_int(set_paused(d.fd, 1), 0, "PAUSE");
	msleep(10);
	paused = dev_now(&d);
	seq = page->k_seq;
	live();
	e = dev_events(&d);
	ok(count_types(&e, 0, LDB_EV_SWITCH, LDB_EV_SWITCH_OUT) > 0, "there were switches before");
	is_int(count_types(&e, paused, LDB_EV_SWITCH, LDB_EV_SWITCH_OUT), 0,
	       "no switch is recorded in the pause");
	ok(count_types(&e, paused, LDB_EV_FORK, LDB_EV_FORK) == 1 && count_types(&e, paused, LDB_EV_EXIT, LDB_EV_EXIT) == 1,
	   "the begin and the end of a thread are recorded in the pause");
	is_int(count_types(&e, paused, 0, ~0U) - count_types(&e, paused, LDB_EV_FORK, LDB_EV_TASK), 0,
	       "nothing else is recorded in the pause");
	events_free(&e);
	ok(page->k_seq & 1 && page->k_seq > seq, "the page still says that the thread runs");
	resumed = dev_now(&d);
	is_int(set_paused(d.fd, 0), 0, "a resume");
	live();
	e = dev_events(&d);
	ok(count_types(&e, resumed, LDB_EV_SWITCH, LDB_EV_SWITCH_OUT) >= 20,
	   "switches are recorded again");
	ok(!(d.c.events & LDB_GROUP_FUTEX) || count_types(&e, resumed, LDB_EV_FUTEX_WAIT, LDB_EV_FUTEX_WAKE) > 0,
	   "futex calls are recorded again");
	ok(count_types(&e, resumed, LDB_EV_SYSCALL, LDB_EV_SYSCALL_FD) > 0,
	   "system calls are recorded again");
	ok(count_types(&e, resumed, LDB_EV_TASK, LDB_EV_TASK) > 0,
	   "names of threads are recorded again");
	events_free(&e);
	dev_close(&d);
}

static int groups_of_anybody(void)
{
	struct dev d;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(65534) || setuid(65534) || dev_open(&d, NULL))
			_exit(255);
		_exit(d.c.events);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int count_calls(const struct events *e, unsigned type, unsigned nr, unsigned flags)
{
	int count = 0;

	for (size_t i = 0; i < e->nr; i++)
		count += e->v[i].rec.type == type && e->v[i].rec.arg2 == nr &&
			 (e->v[i].rec.flags & LDB_SYSCALL_F_SLEEP) == flags;
	return count;
}

static void test_calls(void)
{
	struct ldb_calls c = { .min_ns = 1000000 };
	struct events e;
	struct dev d;
	int fd = open(LDB_DEVICE, O_RDWR), ends[2];
	char bytes[8];

	is_int(dev_ioctl(fd, LDB_IOC_CALLS, &c), -ENXIO, "CALLS without a session");
	close(fd);
	dev_self(&d, NULL);
	is_int(dev_ioctl(d.fd, LDB_IOC_CALLS, (void *)8), -EFAULT, "CALLS from nowhere");
	is_int(calls_of_child(d.fd, &c), -EPERM, "CALLS by another process");
	memset(c.how, 0xff, sizeof(c.how));
	is_int(dev_ioctl(d.fd, LDB_IOC_CALLS, &c), 0, "CALLS with nonsense");
	c.min_ns = ~0ULL;
	is_int(dev_ioctl(d.fd, LDB_IOC_CALLS, &c), 0,
	       "CALLS of a length that is more than a clock has");
	c.min_ns = 1000000;
	is_int(dev_ioctl(d.fd, LDB_IOC_CALLS, &c), 0, "CALLS of a millisecond again");
	/* The first arguments of these calls are not descriptors, although `how` says so. */
	usleep(3000);
	poll((void *)-1, 0, 3);
	if (pipe(ends))
		bail_out("pipe");
	if (!fork()) {
		msleep(5);
		_exit(write(ends[1], "12345678", 8) != 8);
	}
	is_int(read(ends[0], bytes, 8), 8, "a call that sleeps");
	wait(NULL);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	e = dev_events(&d);
	ok(count_calls(&e, LDB_EV_SYSCALL_FD, SYS_read, LDB_SYSCALL_F_SLEEP) >= 1,
	   "the call's sleep is recorded");
	is_int(count_calls(&e, LDB_EV_SYSCALL_FD, SYS_read, 0), 1, "the whole call is recorded");
	ok(count_calls(&e, LDB_EV_SYSCALL, SYS_poll, LDB_SYSCALL_F_SLEEP) >= 1,
	   "a sleep of poll() is recorded");
	is_int(count_calls(&e, LDB_EV_SYSCALL, SYS_getppid, 0), 0, "short calls are only counted");
	events_free(&e);
	dev_close(&d);
	is_int(groups_of_anybody(), LDB_GROUP_ALL & ~LDB_GROUP_CALL_ALL,
	       "without CAP_PERFMON, not the group that makes all programs' calls slower");
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_sigbus };

	sigaction(SIGBUS, &sa, NULL);
	dev_load("disarm_delay_ms=60000");
	test_create();
	test_layout();
	test_mmap();
	test_split();
	test_reg();
	test_reg_others();
	test_fork();
	test_one_session_each();
	test_limits();
	test_poll();
	test_clock();
	test_calls();
	test_chains();
	test_pause_refused();
	test_pause();
	return done();
}
