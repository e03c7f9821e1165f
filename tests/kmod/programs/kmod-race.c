// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests bad timing: sessions that end while they are paused and their threads are born (by a user
 * without privileges), ioctls that wait for memory or for probes; and memory that must not be
 * shared.
 *
 *	kmod-race [SECONDS]	how long sessions end, default 4
 *
 * The test of sessions that end is for a kernel with KASAN; in other kernels it mostly shows that
 * nothing hangs.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/userfaultfd.h>
#include "dev.h"
#include "tap.h"

#define BIRTHS	16	/* threads at a time, for each thread that creates them */

static unsigned seconds = 4;
static volatile bool stop;

static void set_disarm_delay(const char *ms)
{
	int fd = open("/sys/module/ldb/parameters/disarm_delay_ms", O_WRONLY);

	if (fd < 0 || write(fd, ms, strlen(ms)) < 0)
		bail_out("disarm_delay_ms");
	close(fd);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int short_life(void *arg)
{
	syscall(SYS_exit, 0);
	return 0;
}

/* Creates threads as fast as possible: without the C library's bookkeeping. */
static void *births(void *arg)
{
	static char stacks[2][BIRTHS][16384] __attribute__((aligned(16)));
	/* the kernel sets this to zero when the stack is free */
	static volatile int tids[2][BIRTHS];
	long me = (long)arg;

	for (unsigned n = 0; !stop; n++) {
		volatile int *tid = &tids[me][n % BIRTHS];

		while (*tid && !stop)
			sched_yield();
		*tid = 1;
		if (clone(short_life, stacks[me][n % BIRTHS] + 16384,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			  CLONE_SYSVSEM | CLONE_CHILD_CLEARTID, NULL, NULL, NULL, (int *)tid) < 0)
			*tid = 0;
	}
	return NULL;
}

static volatile int session_fd = -1;

/* Pauses and resumes the current session. */
static void *pauses(void *arg)
{
	for (unsigned long n = 0; !stop; n++)
		ioctl(session_fd, LDB_IOC_PAUSE, n & 1);
	return NULL;
}

static void end_while_born(void)
{
	struct ldb_create c = dev_default();
	uint64_t end = now_ms() + seconds * 1000;
	unsigned rounds = 0;
	pthread_t t[3];
	struct dev d;

	if (setuid(65534))
		_exit(1);
	c.ring_order = 8;
	c.max_threads = 1;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, births, (void *)i);
	pthread_create(&t[2], NULL, pauses, NULL);
	/* On a busy host a few rounds may take long. */
	while (now_ms() < end || (rounds <= 10 && now_ms() < end + 60000)) {
		if (dev_open(&d, &c) < 0)
			continue;
		session_fd = d.fd;
		rounds += dev_ioctl(d.fd, LDB_IOC_JOIN, NULL) == 0;
		for (volatile unsigned i = rounds * 977 % 20000; i; i--)
			;
		close(d.fd);
	}
	stop = true;
	_exit(rounds > 10 ? 0 : 2);
}

static void test_end_while_born(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		end_while_born();
	waitpid(pid, &status, 0);
	is_int(status, 0, "sessions end while they are paused, and their threads are born and die");
}

static struct dev d;
static void *stuck;	/* the first access to it never returns */

static void *stuck_caller(void *arg)
{
	dev_ioctl(d.fd, LDB_IOC_REG, stuck);
	return NULL;
}

static void on_alarm(int sig)
{
}

/* The function runs in a child, which then need not wait for its thread. */
static void recorder_beside_stuck(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct sigaction sa = { .sa_handler = on_alarm };
	struct ldb_session_stats stats;
	struct ldb_clock_sample clock;
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t t;

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		_exit(77);
	stuck = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	r.range.start = (uintptr_t)stuck;
	r.range.len = 4096;
	if (ioctl(uffd, UFFDIO_REGISTER, &r))
		_exit(1);
	dev_self(&d, NULL);
	pthread_create(&t, NULL, stuck_caller, NULL);
	msleep(100);
	sigaction(SIGALRM, &sa, NULL);
	alarm(5);
	_exit(dev_ioctl(d.fd, LDB_IOC_STATS, &stats) ? 2 :
	      dev_ioctl(d.fd, LDB_IOC_CLOCK, &clock) ? 3 :
	      dev_reg(&d, gettid_(), 0, 0) ? 4 : 0);
}

static void test_stuck(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		recorder_beside_stuck();
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(1, "no userfaultfd");
	else
		is_int(status, 0, "a program that is stuck in an ioctl stops no other caller");
}

static volatile unsigned nr_regs;

static void *registers(void *arg)
{
	while (!stop) {
		if (dev_reg(&d, gettid_(), 1, 0))
			return "failed";
		nr_regs++;
	}
	return NULL;
}

/*
 * Resuming installs the probes again, which takes long; meanwhile a thread must be able to
 * register.
 */
static void test_reg_while_resumed(void)
{
	unsigned most = 0, nr;
	int failed = 0;
	pthread_t t;
	void *why;

	if (nr_cpus() < 2) {
		skip(2, "one CPU");
		return;
	}
	dev_self(&d, NULL);
	set_disarm_delay("300");
	pthread_create(&t, NULL, registers, NULL);
	for (int i = 0; i < 5; i++) {
		failed += dev_ioctl(d.fd, LDB_IOC_PAUSE, (void *)1) != 0;
		msleep(600);
		nr = nr_regs;
		failed += dev_ioctl(d.fd, LDB_IOC_PAUSE, (void *)0) != 0;
		nr = nr_regs - nr;
		most = nr > most ? nr : most;
	}
	stop = true;
	pthread_join(t, &why);
	stop = false;
	set_disarm_delay("60000");
	dev_close(&d);
	is_int(failed || why, 0, "five pauses, while a thread registers");
	ok(most > 20, "it need not wait until probes are armed (%u times in a resume)", most);
}

/* Two children of fork() may be different users, so they must not share the session's memory. */
static void test_brothers(void)
{
	uint64_t off;
	int status, written[2];
	char c;
	pid_t a, b;

	dev_self(&d, NULL);
	off = d.info.rings_off + 4096;
	if (pipe(written))
		bail_out("pipe");
	a = fork();
	if (!a) {
		memset(d.base + off, 0x5a, 4096);
		if (d.base[off + 4095] != 0x5a || write(written[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	if (read(written[0], &c, 1) != 1)
		bail_out("no child");
	b = fork();
	if (!b)
		_exit(d.base[off] == 0x5a || d.base[0] == 0x5a);
	waitpid(b, &status, 0);
	is_int(status, 0, "what a child of fork() writes, its brother cannot read");
	kill(a, SIGKILL);
	waitpid(a, NULL, 0);
	dev_close(&d);
}

/* The creator of the session may see data of other processes that the program must not see. */
static void test_split_is_for_creator(void)
{
	struct ldb_create c = dev_default();
	int status;
	pid_t pid;

	c.flags = LDB_CREATE_F_SPLIT;
	if (dev_open(&d, &c) || dev_map(&d))
		bail_out("no session");
	pid = fork();
	if (!pid) {
		void *p;

		if (dev_ioctl(d.fd, LDB_IOC_JOIN, NULL))
			_exit(1);
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, d.info.kernel_rings_off);
		if (p != MAP_FAILED || errno != EPERM)
			_exit(2);
		/* The child has separate memory, into which the kernel has written nothing. */
		for (unsigned i = 0; i < 100; i++)
			sched_yield();
		if (((struct ldb_ring_hdr *)d.kernel_rings)->head)
			_exit(3);
		p = mmap(NULL, d.c.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, d.fd, 0);
		_exit(p == MAP_FAILED ? 4 : 0);
	}
	waitpid(pid, &status, 0);
	is_int(status, 0, "the program maps all but the kernel's own rings");
	ok(((struct ldb_ring_hdr *)d.kernel_rings)->head |
	   ((struct ldb_ring_hdr *)(d.kernel_rings + (d.info.nr_cpus > 1) * d.info.kernel_ring_stride))->head,
	   "which its creator reads");
	dev_close(&d);
}

int main(int argc, char **argv)
{
	struct ldb_create c = dev_default();

	if (argc > 1)
		seconds = atoi(argv[1]);
	dev_load("disarm_delay_ms=60000");
	/*
	 * Emulated CPUs may miss a change of code that they are executing, so the probes are
	 * installed before.
	 */
	if (!dev_open(&d, &c))
		dev_close(&d);
	test_brothers();
	test_split_is_for_creator();
	test_stuck();
	test_reg_while_resumed();
	test_end_while_born();
	return done();
}
