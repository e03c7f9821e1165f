// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulates the machine below the runtime, for the fuzz target.  The runtime's threads are
 * coroutines here: each runs until it waits, so that the same input does the same each time, and a
 * wait costs no time (runtime-threads.c).  System calls that concern the recorder's descriptors are
 * the kernel's own: sockets, the passing of descriptors, sizes, seals and mappings.  Files, clocks,
 * privileges and the device are simulated.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/ldb.h>
#include "fuzz.h"
#include "runtime-machine.h"

#define FDS_MAX		256
#define MAPS_MAX	64

struct machine machine;

static struct fd {
	bool is_open, is_counters;
	const char *text;	/* contents of the simulated file; NULL: the file is a real one */
	size_t left;
} fds[FDS_MAX];
/* half: descriptor of the other end of the last socket that was made */
static int null_fd = -1, half = -1;

static long do_close(long fd)
{
	if (fd < 0 || fd >= FDS_MAX || !fds[fd].is_open)
		broken("descriptor %ld is closed, and is not open", fd);
	fds[fd].is_open = false;
	return close(fd) ? -errno : 0;
}

/* Also called for a new control thread, which has a file table of its own. */
void machine_close_all(void)
{
	for (int i = 0; i < FDS_MAX; i++)
		if (fds[i].is_open)
			do_close(i);
}

/* Descriptors */

static long own(long fd, const char *text, size_t size)
{
	if (fd < 0 || fd >= FDS_MAX)
		broken("too many descriptors");
	fds[fd] = (struct fd){ true, false, text, size };
	return fd;
}

static long own_null(const char *text, size_t size)
{
	return own(fcntl(null_fd, F_DUPFD_CLOEXEC, 3), text, size);
}

unsigned machine_nr_fds(void)
{
	unsigned nr = 0;

	for (int i = 0; i < FDS_MAX; i++)
		nr += fds[i].is_open;
	return nr;
}

static const char loadavg[] = "0.20 0.18 0.12 3/80 11206\n";

unsigned machine_nr_loadavg(void)
{
	unsigned nr = 0;

	for (int i = 0; i < FDS_MAX; i++)
		nr += fds[i].is_open && fds[i].text >= loadavg && fds[i].text < loadavg + sizeof(loadavg);
	return nr;
}

unsigned machine_nr_counters(void)
{
	unsigned nr = 0;

	for (int i = 0; i < FDS_MAX; i++)
		nr += fds[i].is_open && fds[i].is_counters;
	return nr;
}

static long do_socket(void)
{
	int sv[2];

	if (half >= 0)
		close(half);
	half = -1;
	if (machine_fails() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return -EAFNOSUPPORT;
	half = sv[1];
	return own(sv[0], NULL, 0);
}

static void recorder_is(int fd)
{
	if (machine.recorder >= 0)
		close(machine.recorder);
	machine.recorder = fd;
}

static long do_connect(void)
{
	if (machine.deaf)
		return -ECONNREFUSED;
	recorder_is(half);
	half = -1;
	return 0;
}

/*
 * If a recorder is connected, the runtime refuses a second one, so the second one's end of the
 * socket is not used.
 */
static long do_accept(void)
{
	long fd;

	if (!machine.nr_callers)
		broken("a connection is waited for without a limit in time");
	machine.nr_callers--;
	fd = do_socket();
	if (fd >= 0 && machine.recorder < 0) {
		recorder_is(half);
		half = -1;
	}
	return fd;
}

static long do_recvmsg(int fd, struct msghdr *msg, int flags)
{
	long n = recvmsg(fd, msg, flags | MSG_DONTWAIT);
	struct cmsghdr *c;

	if (n < 0 && errno == EAGAIN)
		broken("a message is waited for without a limit in time");
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(msg);
	for (size_t i = 0; c && c->cmsg_len >= CMSG_LEN((i + 1) * sizeof(int)); i++) {
		int got;

		memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
		own(got, NULL, 0);
	}
	return n;
}

static long do_sendto(int fd, const void *m, size_t size)
{
	if (fd < 0 || fd >= FDS_MAX || !fds[fd].is_open)
		return -EBADF;
	machine_sent(m, size);
	return machine.recorder < 0 ? -EPIPE : (long)size;
}

/* Returns true if the descriptor has input, or its other end is closed. */
static bool has_come(int fd)
{
	char one;

	return fd >= 0 && (recv(fd, &one, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN);
}

/* p is one descriptor, the listener, or three: connection, listener, kick. */
static long do_poll(struct pollfd *p, long nr)
{
	long ready = 0;

	machine.ns += 20000000;
	machine_polls(nr > 1);
	machine_yield();
	for (long i = 0; i < nr; i++)
		p[i].revents = 0;
	if (nr > 1 && has_come(p[0].fd))
		p[0].revents = POLLIN;
	if (p[nr > 1].fd >= 0 && machine.nr_callers)
		p[nr > 1].revents = POLLIN;
	for (long i = 0; i < nr; i++)
		ready += p[i].revents != 0;
	return ready;
}

/* Files of /proc and /sys */

static struct linux_dirent64 {
	uint64_t ino, off;
	unsigned short reclen;
	unsigned char type;
	char name[5];
} tasks[] = {
	{ 1, 1, sizeof(tasks[0]), DT_DIR, "." }, { 1, 2, sizeof(tasks[0]), DT_DIR, ".." },
	{ 1, 3, sizeof(tasks[0]), DT_DIR, "1" }, { 1, 4, sizeof(tasks[0]), DT_DIR, "2" },
	{ 1, 5, sizeof(tasks[0]), DT_DIR, "3" },
};

static long do_open(const char *path)
{
	static const char *const status[] = {
		"Name:\tUid:\nUid:\t1\t1\t1\t1\nGroups:\t\nSeccomp:\t0\n",
		"Name:\tUid:\nUid:\t2\t2\t2\t2\nGroups:\t\nSeccomp:\t0\n",
		"", "Uid:", "Seccomp_filters:\t1\n\n\nU\n",
	};
	static const char maps[] = "00400000-00401000 r-xp 00000000 00:00 0\n"
		"00401000-00402000 ---p 00000000 00:00 0 [stack]\n00402000-zz [";
	const char *s = status[machine.identity % (sizeof(status) / sizeof(status[0]))];
	size_t n = strlen(path);
	long fd;

	if (machine_fails())
		return -EMFILE;
	if (!strcmp(path, "/proc/self/status") ||
	    (n > 7 && !strncmp(path, "/proc/self/task/", 16) && !strcmp(path + n - 7, "/status")))
		return own_null(s, strlen(s));
	if (!strcmp(path, "/proc/self/maps"))
		return own_null(maps, sizeof(maps) - 1);
	if (!strcmp(path, "/proc/loadavg"))
		return own_null(loadavg, sizeof(loadavg) - 1);
	if (!strcmp(path, "/proc/self/task"))
		return own_null((const char *)tasks, sizeof(tasks));
	if (!strncmp(path, "/sys/devices/system/cpu/", 24)) {
		static const char *const lists[] = { "\n", "0-3,8\n", "(null)\n", "1-,-,9999999999999-3", "7" };

		s = lists[machine.identity % (sizeof(lists) / sizeof(lists[0]))];
		return own_null(s, strlen(s));
	}
	if (n > 10 && !strcmp(path + n - 10, "/schedstat")) {
		static const char *const counters[] = { "3989064 4567610 2\n", "1 2 99999999999999999999\n", "", "1 2" };

		s = counters[machine.identity % (sizeof(counters) / sizeof(counters[0]))];
		fd = own_null(s, strlen(s));
		fds[fd].is_counters = true;
		return fd;
	}
	if (!strncmp(path, "/proc/self/net/tcp", 18)) {
		static const char *const ports[] = {
			"  sl  local_address rem_address   st\n   0: 0100007F:1F90 00000000:0000 0A\n",
			"", ": : : 0A", "0: 00:FFFFFFFFFFFFFFFFF 0 0A\n1: X:Y Z:0 0A\n",
		};

		s = ports[machine.identity % (sizeof(ports) / sizeof(ports[0]))];
		return own_null(s, strlen(s));
	}
	if (n > 5 && !strcmp(path + n - 5, "/comm"))
		return own_null("worker\n", 7);
	broken("%s is opened", path);
}

/* /proc/self may be this process, no process, or another one. */
static long do_readlink(char *to, size_t size)
{
	static const char *const links[] = { "77", "", "78", "self" };
	const char *s = links[machine.identity % (sizeof(links) / sizeof(links[0]))];

	if (machine_fails())
		return -ENOENT;
	size = strlen(s) < size ? strlen(s) : size;
	memcpy(to, s, size);
	return size;
}

static long do_read(long fd, void *buf, size_t size, bool again)
{
	struct fd *f = &fds[fd];

	if (fd < 0 || fd >= FDS_MAX || !f->is_open || !f->text)
		broken("descriptor %ld is read", fd);
	size = size < f->left ? size : f->left;
	memcpy(buf, f->text, size);
	if (!again) {
		f->text += size;
		f->left -= size;
	}
	return size;
}

/* The session's memory */

static struct {
	char *at;
	size_t size;
} maps[MAPS_MAX];

static int map_of(const void *at)
{
	for (int i = 0; i < MAPS_MAX; i++)
		if (maps[i].at == at)
			return i;
	broken("too many mappings, or an address that is not mapped");
}

static bool is_device(const struct stat *st)
{
	return machine.device && st->st_ino == machine.device;
}

static long do_fstat(int fd, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	if (is_device(st))
		st->st_mode = S_IFCHR | 0600;
	return 0;
}

static long do_ioctl(int fd, unsigned long request)
{
	struct stat st;

	if (fstat(fd, &st) || !is_device(&st))
		return -ENOTTY;
	if (request != LDB_IOC_JOIN && request != LDB_IOC_REG)
		broken("the device is asked for %lx", request);
	return machine.refuses ? -EPERM : 0;
}

static long do_mmap(void *at, size_t size, int prot, int flags, int fd)
{
	struct stat st;
	char *p;

	if (machine_fails())
		return -ENOMEM;
	/* The module maps no more than the size of its memory. */
	if (fd >= 0 && !fstat(fd, &st) && is_device(&st) && size > (size_t)st.st_size)
		return -EINVAL;
	p = mmap(at, size, prot, flags, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	if (!(flags & MAP_STACK)) {
		int i = map_of(NULL);

		maps[i].at = p;
		maps[i].size = size;
	}
	if (flags & MAP_SHARED)
		machine.session_size = size;
	return (long)p;
}

static long do_mremap(char *at, size_t old_size, size_t size, int flags, char *to)
{
	if (machine_fails())
		return -ENOMEM;
	if (maps[map_of(to)].size < size)
		broken("more is mapped than there is room");
	if (mremap(at, old_size, size, flags, to) == MAP_FAILED)
		return -errno;
	maps[map_of(at)].at = NULL;
	return (long)to;
}

static long do_munmap(void *at, size_t size)
{
	int i = map_of(at);

	maps[i].at = NULL;
	return munmap(at, size) ? -errno : 0;
}

/*
 * Does nothing, but checks the range: it must be memory that the runtime has mapped, or its
 * variables.
 */
static long do_madvise(const char *at, size_t size)
{
	extern const char __data_start, _end;

	if (at >= &__data_start && at < &_end && size <= (size_t)(&_end - at))
		return 0;
	for (int i = 0; i < MAPS_MAX; i++)
		if (maps[i].at && at >= maps[i].at && at <= maps[i].at + maps[i].size &&
		    size <= (size_t)(maps[i].at + maps[i].size - at))
			return 0;
	broken("madvise() of memory that is not the runtime's");
}

void machine_give_back(const void *keep, const void *keep_too)
{
	for (int i = 0; i < MAPS_MAX; i++) {
		if (maps[i].at == keep || maps[i].at == keep_too)
			continue;
		if (maps[i].at)
			munmap(maps[i].at, maps[i].size);
		maps[i].at = NULL;
	}
}

static long session_call(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	switch (nr) {
	case SYS_fstat:
		ret = do_fstat(a, (struct stat *)b);
		break;
	case SYS_fstatfs:
		ret = fstatfs(a, (struct statfs *)b) ? -errno : 0;
		break;
	case SYS_fcntl:
		ret = fcntl(a, b, c);
		ret = ret < 0 ? -errno : ret;
		break;
	case SYS_mmap:
		ret = do_mmap((void *)a, b, c, d, e);
		break;
	case SYS_mprotect:
		ret = machine_fails() ? -ENOMEM : mprotect((void *)a, b, c) ? -errno : 0;
		break;
	case SYS_mremap:
		ret = do_mremap((char *)a, b, c, d, (char *)e);
		break;
	case SYS_munmap:
		ret = do_munmap((void *)a, b);
		break;
	case SYS_madvise:
		ret = do_madvise((char *)a, b);
		break;
	case SYS_ioctl:
		ret = do_ioctl(a, b);
		break;
	default:
		broken("system call %ld is made", nr);
	}
	if (machine.after[EVENT_SESSION] && !--machine.after[EVENT_SESSION])
		machine_session_event();
	return ret;
}

long machine_call(long nr, long a, long b, long c, long d, long e, long f)
{
	switch (nr) {
	case SYS_getpid:
		return 77;
	case SYS_gettid:
		return machine.tid;
	case SYS_tgkill:
		if (c)
			broken("a signal is sent");
		return -ESRCH;		/* the thread has ended */
	case SYS_geteuid:
		return 1000;
	case SYS_prctl:
		return a == PR_GET_DUMPABLE ? !machine.undumpable : 0;
	case SYS_sched_getaffinity:
		memset((void *)c, 0xff, 8);
		return 8;
	case SYS_capset:
	case SYS_sched_yield:
	case SYS_getpriority:
	case SYS_setpriority:
	case SYS_prlimit64:
	case SYS_sched_setscheduler:
	case SYS_sched_getattr:
	case SYS_sched_setattr:
	case SYS_sched_setaffinity:
	case SYS_rt_sigprocmask:
	case SYS_chdir:
	case SYS_munlock:
	case SYS_write:
		return 0;
	case SYS_close_range:
		/*
		 * The call of raw.c that only tests whether close_range() works fails, as on
		 * systems where it is refused.
		 */
		return (uint32_t)a == ~0U ? -ENOSYS : 0;
	case SYS_stat:
		return -ENOENT;
	case SYS_clock_gettime:
		*(struct timespec *)b = (struct timespec){ machine_tick() / 1000000000, machine.ns % 1000000000 };
		return 0;
	case SYS_nanosleep:
		return machine_sleep((const struct timespec *)a);
	case SYS_futex:
		return machine_futex((uint32_t *)a, b, c, (const struct timespec *)d);
	case SYS_close:
		return do_close(a);
	case SYS_socket:
		return do_socket();
	case SYS_connect:
		return do_connect();
	case SYS_bind:
	case SYS_listen:
		return machine_fails() ? -EADDRINUSE : 0;
	case SYS_accept4:
		return do_accept();
	case SYS_getsockopt:
		*(struct ucred *)d = (struct ucred){ 1, machine.uid ? machine.uid : 1000, 1000 };
		return 0;
	case SYS_recvmsg:
		return do_recvmsg(a, (struct msghdr *)b, c);
	case SYS_sendto:
		return do_sendto(a, (const void *)b, c);
	case SYS_poll:
		return do_poll((void *)a, b);
	case SYS_eventfd2:
		return own_null(NULL, 0);
	case SYS_openat:
		return do_open((const char *)b);
	case SYS_readlinkat:
		return do_readlink((char *)c, d);
	case SYS_read:
	case SYS_getdents64:
		return do_read(a, (void *)b, c, false);
	case SYS_pread64:
		return do_read(a, (void *)b, c, true);
	}
	return session_call(nr, a, b, c, d, e);
}

/* No io_uring is followed here: socket/uring.c is not compiled for the machine. */
void uring_unmapped(uintptr_t lo, uintptr_t hi)
{
	(void)lo;
	(void)hi;
}

void machine_reset(void)
{
	if (null_fd < 0)
		null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	machine_close_all();
	if (half >= 0)
		close(half);
	half = -1;
	if (machine.recorder > 0)
		close(machine.recorder);
	machine_threads_gone();
	machine = (struct machine){ .ns = 1000000000, .tid = 1, .recorder = -1 };
}
