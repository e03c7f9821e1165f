// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the generator's calls for the device, its memory, and descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/ldb.h>
#include "fuzz.h"

/* The last session that was created with the descriptor of a slot. */
static struct ldb_create made[FUZZ_SLOTS];
/* The info page as it was when the memory in a slot was mapped. */
static struct ldb_info layouts[FUZZ_SLOTS];

static long result(long rc)
{
	return rc < 0 ? -errno : rc;
}

static void keep_fd(uint64_t slot, int fd)
{
	int old = __atomic_exchange_n(&fuzz_fd[slot % FUZZ_SLOTS], fd, __ATOMIC_RELAXED);

	if (old > 2)
		close(old);
}

static long do_open(const uint64_t *a)	/* fd how */
{
	static const int hows[] = { O_RDONLY, O_WRONLY, O_PATH, O_RDWR | O_NONBLOCK };
	int fd = open(LDB_DEVICE, a[1] >= 224 ? hows[a[1] % 4] : O_RDWR | (a[1] & 1 ? O_CLOEXEC : 0));

	if (fd < 0)
		return -errno;
	keep_fd(a[0], fd);
	return 0;
}

static long do_create(const uint64_t *a)	/* fd flags pid events orders threads spoil */
{
	struct ldb_create c = {
		.size = sizeof(c), .flags = a[1] < 240 ? a[1] % 2 : a[1], .pid = fuzz_pid_of(a[2]),
		.events = a[3], .ring_order = a[4] & 0xff, .scan_ring_order = a[4] >> 8 & 0xff,
		.nr_scanners = a[4] >> 16 & 0xff, .max_threads = a[5], .clock_id = a[1] / 2 % 3,
	};
	long rc;

	if (a[6])
		((uint32_t *)&c)[a[6] % (sizeof(c) / 4)] = fuzz_nasty(a[6] >> 8);
	rc = ioctl(fuzz_fd_of(a[0]), LDB_IOC_CREATE, &c);
	if (!rc)
		made[a[0] % FUZZ_SLOTS] = c;
	return result(rc);
}

static long do_create_at(const uint64_t *a)	/* fd pointer */
{
	return result(ioctl(fuzz_fd_of(a[0]), LDB_IOC_CREATE, fuzz_pointer(a[1])));
}

static long do_join(const uint64_t *a)	/* fd */
{
	return result(ioctl(fuzz_fd_of(a[0]), LDB_IOC_JOIN));
}

static long do_reg(const uint64_t *a)	/* fd tid page pointer spoil */
{
	static __thread uint64_t block[8];
	struct ldb_reg r = { .tid = fuzz_tid_of(a[1]), .slot = a[2], .block = a[2] & 0xffff };

	/*
	 * Makes a block with a frame, as the plugin does, or without a frame, or with an invalid
	 * one.
	 */
	block[0] = a[3] & 32 ? (uintptr_t)&block[2] : a[3] & 64 ? fuzz_nasty(a[3] >> 8) : 0;
	block[1] = (5 << 16) | 0x4c44;
	block[3] = (3 << 16) | 0x4c44;
	r.tls = a[3] & 16 ? (uintptr_t)fuzz_pointer(a[3] >> 4) : (uintptr_t)block;
	if (a[4])
		((uint32_t *)&r)[a[4] % (sizeof(r) / 4)] = fuzz_nasty(a[4] >> 8);
	return result(ioctl(fuzz_fd_of(a[0]), LDB_IOC_REG, &r));
}

static long do_unreg(const uint64_t *a)	/* fd tid */
{
	uint32_t tid = fuzz_tid_of(a[1]);

	return result(ioctl(fuzz_fd_of(a[0]), LDB_IOC_UNREG, &tid));
}

static long do_clock(const uint64_t *a)	/* fd pointer */
{
	return result(ioctl(fuzz_fd_of(a[0]), LDB_IOC_CLOCK, fuzz_pointer(a[1])));
}

static long do_stats(const uint64_t *a)	/* fd pointer */
{
	return result(ioctl(fuzz_fd_of(a[0]), LDB_IOC_STATS, fuzz_pointer(a[1])));
}

static long do_pause(const uint64_t *a)	/* fd how */
{
	return result(ioctl(fuzz_fd_of(a[0]), LDB_IOC_PAUSE, a[1] % 16 ? a[1] & 1 : fuzz_nasty(a[1] >> 4)));
}

static long do_ioctl(const uint64_t *a)	/* fd number pointer */
{
	static const unsigned long cmds[] = {
		LDB_IOC_ABI, LDB_IOC_CREATE, LDB_IOC_JOIN, LDB_IOC_REG, LDB_IOC_UNREG, LDB_IOC_CLOCK, LDB_IOC_STATS,
		LDB_IOC_CALLS, LDB_IOC_CHAINS, LDB_IOC_PAUSE,
	};
	unsigned long cmd = cmds[a[1] % 10];

	/* Changes the command's size, direction or number, or all of them, in half of the cases. */
	switch (a[1] / 10 % 8) {
	case 0: cmd ^= (a[1] >> 8 & 0x3fff) << _IOC_SIZESHIFT; break;
	case 1: cmd ^= (a[1] >> 8 & 3) << _IOC_DIRSHIFT; break;
	case 2: cmd = _IO('L', a[1] >> 8 & 0xff); break;
	case 3: cmd = a[1] >> 8; break;
	}
	return result(ioctl(fuzz_fd_of(a[0]), cmd, fuzz_pointer(a[2])));
}

/* Maps all of the device's memory, or only the writable or the read-only part, or any range. */
static long do_mmap(const uint64_t *a)	/* map fd kind offset length */
{
	const struct ldb_create *c = &made[made[a[1] % FUZZ_SLOTS].total_size ? a[1] % FUZZ_SLOTS : 0];
	uint64_t size = c->total_size ?: 1 << 20, off = 0;
	int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED;
	void *p;

	switch (a[2] % 24) {
	case 8: prot = PROT_READ; break;
	case 9: prot = PROT_READ; off = size; size = 2 * (4096 + (32UL << (c->ring_order & 31))); break;
	case 10: off = size; size = 4096; break;
	case 11: flags = MAP_PRIVATE; break;
	case 12: prot |= PROT_EXEC; break;
	case 13: size += 4096; prot = PROT_READ; break;
	case 14: off = a[3] << 12; size = a[4] % 64 << 12; break;
	case 15: off = fuzz_nasty(a[3]) & ~4095UL; size = a[4]; prot = a[3] & 7; flags = a[4] & 3; break;
	}
	if (size > FUZZ_MAP_SIZE)
		size = FUZZ_MAP_SIZE;
	p = (void *)syscall(SYS_mmap, fuzz_map(a[0]), size, prot, flags | MAP_FIXED, fuzz_fd_of(a[1]), off);
	if (p == MAP_FAILED)
		return -errno;
	if (!off && prot & PROT_READ)
		memcpy(&layouts[a[0] % FUZZ_SLOTS], p, sizeof(layouts[0]));
	return 0;
}

static long do_munmap(const uint64_t *a)	/* map offset length */
{
	uint64_t off = a[1] & 1 ? (a[1] & 0xff) << 12 : 0;

	return result(munmap(fuzz_map(a[0]) + off, a[2] & 1 ? FUZZ_MAP_SIZE - off : ((a[2] & 63) + 1) << 12));
}

static long do_mprotect(const uint64_t *a)	/* map offset protection */
{
	return result(mprotect(fuzz_map(a[0]) + ((a[1] & 0xff) << 12), (a[1] >> 8 & 63) << 12, a[2] & 7));
}

static long do_mremap(const uint64_t *a)	/* map offset map */
{
	uint64_t length = ((a[1] & 63) + 1) << 12;
	void *p;

	if (a[1] & 64)
		p = mremap(fuzz_map(a[0]), length, length * 2, 0);
	else	/* length 0: makes a second mapping of the shared memory */
		p = mremap(fuzz_map(a[0]), a[1] & 128 ? 0 : length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
			   fuzz_map(a[2]));
	return p == MAP_FAILED ? -errno : 0;
}

static long do_madvise(const uint64_t *a)	/* map advice length */
{
	static const int advices[] = {
		MADV_DONTNEED, MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK, MADV_WIPEONFORK, MADV_POPULATE_READ,
		MADV_POPULATE_WRITE, MADV_PAGEOUT, MADV_COLD, MADV_HUGEPAGE, MADV_DODUMP, MADV_FREE,
	};

	return result(madvise(fuzz_map(a[0]), ((a[2] & 1023) + 1) << 12, advices[a[1] % 12]));
}

static long do_mlock(const uint64_t *a)	/* map length */
{
	uint64_t length = ((a[1] & 1023) + 1) << 12;

	return result(a[1] & 1024 ? munlock(fuzz_map(a[0]), length) : mlock(fuzz_map(a[0]), length));
}

/*
 * Chooses a place to change: mostly one where this is likely to do harm (info page, k_ fields,
 * heads, commit words), otherwise any place.
 */
static volatile uint64_t *place(uint64_t map, uint64_t offset)
{
	unsigned int slot = layouts[map % FUZZ_SLOTS].total_size ? map % FUZZ_SLOTS : 0;
	const struct ldb_info *i = &layouts[slot];
	char *base = fuzz_map(slot);
	uint64_t n = offset >> 3, at;

	switch (offset & 7) {
	case 0: at = n & 511; at *= 8; break;
	case 1: case 2: at = i->pages_off + (n & 3) * 4096 + 256 + (n >> 2 & 31) * 8; break;
	case 3: at = n * 8 % (i->total_size + 1); break;
	case 4: case 5: at = i->rings_off + (n & 1) * i->ring_stride + (n >> 1 & 15) * 8; break;
	case 6: at = i->rings_off + (n & 1) * i->ring_stride + 4096 + (n >> 1 & 255) * 8; break;
	default: at = n * 8 % (i->total_size + 65536);
	}
	return (void *)(base + at % FUZZ_MAP_SIZE / 8 * 8);
}

static long do_write_memory(const uint64_t *a)	/* map offset value */
{
	*place(a[0], a[1]) = fuzz_nasty(a[2]);
	return 0;
}

static long do_read_memory(const uint64_t *a)	/* map offset */
{
	return *place(a[0], a[1]) & 1;
}

static long do_scribble(const uint64_t *a)	/* map offset value */
{
	uint64_t r = a[1] << 32 | a[2];

	for (unsigned int i = 0; i < 300; i++)
		*place(a[0], (uint32_t)fuzz_rnd(&r) / 8 * 8 + i % 7) = fuzz_nasty(r >> 32);
	return 0;
}

static long do_poll(const uint64_t *a)	/* fd events ms */
{
	struct pollfd p = { .fd = fuzz_fd_of(a[0]), .events = a[1] };

	return result(poll(&p, 1, a[2] % 8));
}

static long do_epoll(const uint64_t *a)	/* fd events ms */
{
	struct epoll_event e = { .events = a[1] & 1 ? EPOLLIN | EPOLLET : EPOLLIN | EPOLLONESHOT };
	int epfd = epoll_create1(EPOLL_CLOEXEC), rc;

	rc = epoll_ctl(epfd, EPOLL_CTL_ADD, fuzz_fd_of(a[0]), &e);
	if (!rc)
		rc = epoll_wait(epfd, &e, 1, a[2] % 8);
	rc = result(rc);
	/* In half of the cases the polled descriptor is closed before epfd. */
	if (a[1] & 2)
		keep_fd(a[0], -1);
	close(epfd);
	return rc;
}

static long do_file(const uint64_t *a)	/* fd what pointer */
{
	int fd = fuzz_fd_of(a[0]);
	struct stat st;

	switch (a[1] % 8) {
	case 0: return result(read(fd, fuzz_pointer(a[2]), 64));
	case 1: return result(write(fd, fuzz_pointer(a[2]), 64));
	case 2: return result(lseek(fd, a[2], SEEK_SET));
	case 3: return result(ftruncate(fd, a[2] % 65536));
	case 4: return result(fcntl(fd, F_SETFL, a[2] & (O_ASYNC | O_NONBLOCK | O_DIRECT | O_APPEND)));
	case 5: return result(fstat(fd, &st));
	case 6: return result(fsync(fd));
	default: return result(fcntl(fd, F_SETFD, a[2] & 1));
	}
}

static long do_dup(const uint64_t *a)	/* fd fd */
{
	int fd = dup(fuzz_fd_of(a[0]));

	if (fd < 0)
		return -errno;
	keep_fd(a[1], fd);
	return 0;
}

static long do_close(const uint64_t *a)	/* fd */
{
	int fd = __atomic_exchange_n(&fuzz_fd[a[0] % FUZZ_SLOTS], -1, __ATOMIC_RELAXED);

	return fd > 2 ? result(close(fd)) : -EBADF;
}

/* Sends the descriptor to any program: the first one that reads the box gets it. */
static long do_send(const uint64_t *a)	/* fd box */
{
	union { char text[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control = {};
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int fd = fuzz_fd_of(a[0]);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return result(sendmsg(fuzz_box[a[1] % FUZZ_BOXES][0], &m, MSG_DONTWAIT));
}

static long do_receive(const uint64_t *a)	/* fd box */
{
	union { char text[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int fd;

	if (recvmsg(fuzz_box[a[1] % FUZZ_BOXES][1], &m, MSG_DONTWAIT) < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -ENOMSG;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	keep_fd(a[0], fd);
	return 0;
}

/* Takes a descriptor of another program, by its number in that program. */
static long do_take(const uint64_t *a)	/* fd tid number */
{
	int pidfd = syscall(SYS_pidfd_open, fuzz_tid_of(a[1]), 0);
	int fd = syscall(SYS_pidfd_getfd, pidfd, 3 + a[2] % 24, 0);
	int rc = result(fd);

	close(pidfd);
	if (fd >= 0)
		keep_fd(a[0], fd);
	return rc < 0 ? rc : 0;
}

const struct fuzz_op fuzz_device_ops[] = {
	{ "open", do_open, 12, true, { FUZZ_FD, FUZZ_BYTE } },
	{ "create", do_create, 12, true, { FUZZ_FD, FUZZ_BYTE, FUZZ_PID, FUZZ_EVENTS, FUZZ_ORDERS, FUZZ_THREADS, FUZZ_SPOIL } },
	{ "create_at", do_create_at, 2, true, { FUZZ_FD, FUZZ_POINTER } },
	{ "join", do_join, 12, true, { FUZZ_FD } },
	{ "reg", do_reg, 20, true, { FUZZ_FD, FUZZ_TID, FUZZ_PAGE_NR, FUZZ_POINTER, FUZZ_SPOIL } },
	{ "unreg", do_unreg, 10, false, { FUZZ_FD, FUZZ_TID } },
	{ "clock", do_clock, 4, false, { FUZZ_FD, FUZZ_POINTER } },
	{ "stats", do_stats, 5, false, { FUZZ_FD, FUZZ_POINTER } },
	{ "pause", do_pause, 5, true, { FUZZ_FD, FUZZ_NUMBER } },
	{ "ioctl", do_ioctl, 3, false, { FUZZ_FD, FUZZ_NUMBER, FUZZ_POINTER } },
	{ "mmap", do_mmap, 12, true, { FUZZ_MAP, FUZZ_FD, FUZZ_BYTE, FUZZ_NUMBER, FUZZ_NUMBER } },
	{ "munmap", do_munmap, 5, false, { FUZZ_MAP, FUZZ_NUMBER, FUZZ_NUMBER } },
	{ "mprotect", do_mprotect, 2, false, { FUZZ_MAP, FUZZ_NUMBER, FUZZ_BYTE } },
	{ "mremap", do_mremap, 3, false, { FUZZ_MAP, FUZZ_NUMBER, FUZZ_MAP } },
	{ "madvise", do_madvise, 3, false, { FUZZ_MAP, FUZZ_BYTE, FUZZ_NUMBER } },
	{ "mlock", do_mlock, 2, false, { FUZZ_MAP, FUZZ_NUMBER } },
	{ "write_memory", do_write_memory, 10, true, { FUZZ_MAP, FUZZ_OFFSET, FUZZ_NUMBER } },
	{ "read_memory", do_read_memory, 6, true, { FUZZ_MAP, FUZZ_OFFSET } },
	{ "scribble", do_scribble, 8, false, { FUZZ_MAP, FUZZ_OFFSET, FUZZ_NUMBER } },
	{ "poll", do_poll, 6, false, { FUZZ_FD, FUZZ_BYTE, FUZZ_BYTE } },
	{ "epoll", do_epoll, 3, false, { FUZZ_FD, FUZZ_BYTE, FUZZ_BYTE } },
	{ "file", do_file, 3, false, { FUZZ_FD, FUZZ_BYTE, FUZZ_POINTER } },
	{ "dup", do_dup, 4, false, { FUZZ_FD, FUZZ_FD } },
	{ "close", do_close, 8, false, { FUZZ_FD } },
	{ "send", do_send, 5, false, { FUZZ_FD, FUZZ_BYTE } },
	{ "receive", do_receive, 8, false, { FUZZ_FD, FUZZ_BYTE } },
	{ "take", do_take, 4, false, { FUZZ_FD, FUZZ_TID, FUZZ_BYTE } },
	{ }
};
