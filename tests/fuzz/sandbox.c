// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This file simulates the machine for the code under test.  The functions below replace those of
 * libc, for the tools' objects and for the libraries with which they are linked.  So paths in a
 * hostile input do not reach the machine's files, and a run does not depend on these.  Outside of
 * sandbox_enter() ... sandbox_leave() they do what libc's functions do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "fuzz.h"

#define FILES_MAX	8

static struct virtual {
	char name[32];
	int fd;			/* memfd, which is used again for the next input */
	bool is_there;
} files[FILES_MAX];

static bool is_inside;
static int lowest_fd;		/* lowest descriptor that was free when the sandbox was entered */
int64_t sandbox_ns;
ssize_t (*sandbox_recv)(void *buf, size_t size);

static long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			 "r"(r9) : "rcx", "r11", "memory");
	if (ret < 0 && ret > -4096) {
		errno = -ret;
		return -1;
	}
	return ret;
}

void broken(const char *format, ...)
{
	va_list ap;

	is_inside = false;
	va_start(ap, format);
	fputs("broken: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

static int free_fd(void)
{
	int fd = raw(SYS_fcntl, STDIN_FILENO, F_DUPFD, 3, 0, 0, 0);

	raw(SYS_close, fd, 0, 0, 0, 0, 0);
	return fd;
}

void sandbox_enter(void)
{
	sandbox_ns = 1000000000;
	lowest_fd = free_fd();
	is_inside = true;
}

void sandbox_leave(void)
{
	is_inside = false;
	if (free_fd() != lowest_fd)
		broken("a descriptor is left open");
	for (int i = 0; i < FILES_MAX; i++)
		files[i].is_there = false;
}

void sandbox_put(const char *name, const void *data, size_t size)
{
	struct virtual *v = files;

	while (v < files + FILES_MAX && v->is_there)
		v++;
	if (v == files + FILES_MAX)
		broken("too many files in the sandbox");
	if (v->fd <= 0) {
		v->fd = raw(SYS_memfd_create, (long)"fuzz", MFD_CLOEXEC, 0, 0, 0, 0);
		lowest_fd = free_fd();
	}
	snprintf(v->name, sizeof(v->name), "%s", name);
	if (v->fd < 0 || raw(SYS_ftruncate, v->fd, size, 0, 0, 0, 0) ||
	    raw(SYS_pwrite64, v->fd, (long)data, size, 0, 0, 0) != (long)size)
		broken("cannot make a file in memory");
	v->is_there = true;
}

static const struct virtual *find(const char *path)
{
	size_t n = strlen(path), dir = strlen(SANDBOX_DIR);

	for (struct virtual *v = files; v < files + FILES_MAX && v->is_there; v++) {
		size_t end = strlen(v->name + 1);

		if (v->name[0] == '*' ? n >= end && !strcmp(path + n - end, v->name + 1) :
		    !strncmp(path, SANDBOX_DIR, dir) && !strcmp(path + dir, v->name))
			return v;
	}
	return NULL;
}

static int open_inside(const char *path, int flags)
{
	const struct virtual *v = find(path);
	char again[32];

	if ((flags & O_TMPFILE) == O_TMPFILE)
		return raw(SYS_memfd_create, (long)"unnamed", MFD_CLOEXEC, 0, 0, 0, 0);
	if ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC))
		broken("%s is opened for writing", path);
	/* A descriptor that is open already is opened again. */
	if (!strncmp(path, "/proc/self/fd/", 14))
		return raw(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
	if (!v) {
		errno = ENOENT;
		return -1;
	}
	/*
	 * dup() is not sufficient: its descriptor would have the same position, and some callers
	 * read() from the beginning.
	 */
	snprintf(again, sizeof(again), "/proc/self/fd/%d", v->fd);
	return raw(SYS_openat, AT_FDCWD, (long)again, O_RDONLY | O_CLOEXEC, 0, 0, 0);
}

static int open_any(int dir, const char *path, int flags, int mode)
{
	if (is_inside)
		return open_inside(path, flags);
	return raw(SYS_openat, dir, (long)path, flags, mode, 0, 0);
}

#define OPEN(name)							\
	int name(const char *path, int flags, ...);			\
	int name(const char *path, int flags, ...)			\
	{								\
		va_list ap;						\
		int mode;						\
									\
		va_start(ap, flags);					\
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0; \
		va_end(ap);						\
		return open_any(AT_FDCWD, path, flags, mode);		\
	}
OPEN(open)
OPEN(open64)

#define OPENAT(name)							\
	int name(int dir, const char *path, int flags, ...);		\
	int name(int dir, const char *path, int flags, ...)		\
	{								\
		va_list ap;						\
		int mode;						\
									\
		va_start(ap, flags);					\
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0; \
		va_end(ap);						\
		return open_any(dir, path, flags, mode);		\
	}
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)							\
	FILE *name(const char *path, const char *mode)			\
	{								\
		static FILE *(*next)(const char *, const char *);	\
									\
		/* Only libFuzzer opens files for writing: it stores the input of a crash. */ \
		if (is_inside && *mode != 'w') {			\
			errno = ENOENT;					\
			return NULL;					\
		}							\
		if (!next)						\
			next = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, #name); \
		return next(path, mode);				\
	}
FOPEN(fopen)
FOPEN(fopen64)

static int stat_any(const char *path, struct stat *st)
{
	const struct virtual *v;

	if (!is_inside)
		return raw(SYS_newfstatat, AT_FDCWD, (long)path, (long)st, 0, 0, 0);
	v = find(path);
	if (v)
		return raw(SYS_fstat, v->fd, (long)st, 0, 0, 0, 0);
	errno = ENOENT;
	return -1;
}

int stat(const char *path, struct stat *st)
{
	return stat_any(path, st);
}

int access(const char *path, int mode)
{
	struct stat st;

	return is_inside ? stat_any(path, &st) : raw(SYS_access, (long)path, mode, 0, 0, 0, 0);
}

ssize_t readlink(const char *path, char *buf, size_t size)
{
	if (is_inside) {
		errno = ENOENT;
		return -1;
	}
	return raw(SYS_readlink, (long)path, (long)buf, size, 0, 0, 0);
}

/*
 * pidfd_open() finds no process; openat2 does what open() does.  The function is not variadic:
 * callers pass as many arguments as the call has.
 */
long sandbox_syscall(long nr, long a, long b, long c, long d, long e, long f) __asm__("syscall");

__attribute__((no_sanitize_address))
long sandbox_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	if (is_inside && nr == SYS_openat2)
		return open_inside((const char *)b, *(const uint64_t *)c);
	if (is_inside && nr == SYS_pidfd_open) {
		errno = ESRCH;
		return -1;
	}
	return raw(nr, a, b, c, d, e, f);
}

/*
 * Inside a run all clocks except CLOCK_REALTIME show sandbox_ns.  libFuzzer uses the real clock to
 * end runs that take too long.
 */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (is_inside && id != CLOCK_REALTIME) {
		*ts = (struct timespec){ sandbox_ns / 1000000000, sandbox_ns % 1000000000 };
		return 0;
	}
	return raw(SYS_clock_gettime, id, (long)ts, 0, 0, 0, 0);
}

/* This reports one CPU, because creating threads takes longer than reading an input. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *cpus)
{
	if (!is_inside)
		return raw(SYS_sched_getaffinity, pid, size, (long)cpus, 0, 0, 0) < 0 ? -1 : 0;
	memset(cpus, 0, size);
	CPU_SET(0, cpus);
	return 0;
}

int poll(struct pollfd *fds, nfds_t nr, int ms)
{
	if (!is_inside)
		return raw(SYS_poll, (long)fds, nr, ms, 0, 0, 0);
	/* Time runs 100 times as fast, so that waits do not take many steps of a millisecond. */
	sandbox_ns += ms > 0 ? ms * 100000000LL : 0;
	for (nfds_t i = 0; i < nr; i++)
		fds[i].revents = 0;
	return 0;
}

ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	if (is_inside && sandbox_recv)
		return sandbox_recv(buf, size);
	return raw(SYS_recvfrom, fd, (long)buf, size, flags, 0, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (is_inside)
		return msg->msg_iov[0].iov_len;
	return raw(SYS_sendmsg, fd, (long)msg, flags, 0, 0, 0);
}

static ssize_t write_nowhere(void *cookie, const char *buf, size_t size)
{
	return size;
}

FILE *sandbox_null(void)
{
	static FILE *null;

	if (!null)
		null = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_nowhere });
	if (!null)
		broken("no memory");
	return null;
}
