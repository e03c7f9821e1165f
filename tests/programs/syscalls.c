// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests with one slow system call each, in a function of its own:
 *
 *	syscalls FILE ROUNDS [TRUTH]
 *
 * Requests have the call's name as class.  FILE is written and synchronized; a thread answers on a
 * pair of sockets after 4 ms, and empties a pipe after 6 ms.  Calls that wait for a time wait for
 * 5 ms.  One request makes no system call, but touches pages of FILE.map that are not in memory.
 * With TRUTH, each call's name, begin and length in ns of CLOCK_MONOTONIC go into that file; the
 * clock is read directly before and after the call.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <ldb/ldb.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PIPE_SIZE	65536
#define MAP_SIZE	(32UL << 20)
#define FILE_SIZE	(16UL << 20)
#define FAULT_STEP	(1UL << 20)

static char bytes[PIPE_SIZE], *map;
static int file, mapped, sockets[2], pipes[2], epoll, event, questions;
static int word;
static FILE *truth;

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static void tell(const char *name, long begin)
{
	long end = now_ns();

	if (truth)
		fprintf(truth, "%s %ld %ld\n", name, begin, end - begin);
}

/*
 * A statement follows the call, because otherwise the call would be a jump, and the function would
 * have no record.
 */
#define CALL(name, what)					\
static __attribute__((noinline, noclone)) int do_##name(void)	\
{								\
	long begin = now_ns(), ret = what;			\
								\
	tell(#name, begin);					\
	return ret < 0 ? -errno : 0;				\
}

CALL(fdatasync, fdatasync(file))
CALL(read, read(sockets[0], bytes, 1))
CALL(write, write(pipes[1], bytes, PIPE_SIZE))
CALL(poll, poll(NULL, 0, 5))
CALL(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = 5000000 }, NULL))
CALL(futex, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){ .tv_nsec = 5000000 }) < 0 &&
	    errno != ETIMEDOUT ? -1 : 0)
CALL(epoll_wait, epoll_wait(epoll, &(struct epoll_event){ 0 }, 1, 5))

static __attribute__((noinline, noclone)) int do_mmap(void)
{
	long begin = now_ns();
	void *p = mmap(NULL, MAP_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	tell("mmap", begin);
	return p == MAP_FAILED ? -errno : munmap(p, MAP_SIZE);
}

/* Touches pages of a file, far apart, which are read from a disk if the file is on one. */
static __attribute__((noinline, noclone)) int do_fault(void)
{
	int sum = 0;

	for (size_t i = 0; i < FILE_SIZE; i += FAULT_STEP)
		sum += ((volatile char *)map)[i];
	return sum;
}

static int forget_pages(void)
{
	return madvise(map, FILE_SIZE, MADV_DONTNEED) || posix_fadvise(mapped, 0, 0, POSIX_FADV_DONTNEED);
}

/* Maps a file of zeros. */
static int make_mapped(const char *path)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s.map", path);
	mapped = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (size_t n = 0; n < FILE_SIZE; n += PIPE_SIZE)
		if (write(mapped, bytes, PIPE_SIZE) != PIPE_SIZE)
			return -errno;
	map = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, mapped, 0);
	if (map == MAP_FAILED || fsync(mapped))
		return -errno;
	return madvise(map, FILE_SIZE, MADV_RANDOM);
}

static void sleep_ms(long ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000 };

	nanosleep(&ts, NULL);
}

/* The function of the thread that answers, or empties the pipe, on request. */
static void *peer(void *none)
{
	char what;

	while (read(questions, &what, 1) == 1) {
		if (what == 'r') {
			sleep_ms(4);
			if (write(sockets[1], "x", 1) != 1)
				return NULL;
		} else {
			static char sink[PIPE_SIZE];

			sleep_ms(6);
			for (size_t n = 0; n < 2 * PIPE_SIZE;) {
				ssize_t got = read(pipes[0], sink, PIPE_SIZE);

				if (got <= 0)
					return NULL;
				n += got;
			}
		}
	}
	return NULL;
}

static int ask(int to, char what)
{
	return write(to, &what, 1) == 1 ? 0 : -errno;
}

static void request(const char *class, int (*call)(void))
{
	static long id;

	ldb_req_start(++id, NULL);
	ldb_req_class(id, class);
	if (call())
		fprintf(stderr, "syscalls: %s failed\n", class);
	ldb_req_end(id);
}

static int open_all(const char *path, int *to)
{
	int ends[2];

	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	epoll = epoll_create1(0);
	event = eventfd(0, 0);
	if (file < 0 || epoll < 0 || event < 0 || pipe(pipes) || pipe(ends) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || fcntl(pipes[1], F_SETPIPE_SZ, PIPE_SIZE) < 0)
		return -errno;
	questions = ends[0];
	*to = ends[1];
	return epoll_ctl(epoll, EPOLL_CTL_ADD, event, &(struct epoll_event){ .events = EPOLLIN });
}

static int round_of(int to)
{
	if (pwrite(file, bytes, sizeof(bytes), 0) < 0)
		return -errno;
	request("fdatasync", do_fdatasync);
	request("poll", do_poll);
	request("clock_nanosleep", do_clock_nanosleep);
	request("futex", do_futex);
	request("epoll_wait", do_epoll_wait);
	request("mmap", do_mmap);
	if (forget_pages())
		return -errno;
	request("fault", do_fault);
	if (ask(to, 'r'))
		return -errno;
	request("read", do_read);
	/* After this the pipe is full. */
	if (write(pipes[1], bytes, PIPE_SIZE) < 0 || ask(to, 'w'))
		return -errno;
	request("write", do_write);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int to = -1, ret;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "syscalls FILE ROUNDS [TRUTH]\n");
		return 2;
	}
	truth = argc == 4 ? fopen(argv[3], "w") : NULL;
	ret = make_mapped(argv[1]);
	if (!ret)
		ret = open_all(argv[1], &to);
	if (ret || pthread_create(&thread, NULL, peer, NULL))
		return 1;
	for (int i = 0; i < atoi(argv[2]) && !ret; i++)
		ret = round_of(to);
	close(to);
	pthread_join(thread, NULL);
	if (truth)
		fclose(truth);
	return ret != 0;
}
