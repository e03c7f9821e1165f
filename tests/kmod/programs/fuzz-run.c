// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs one program, in a process group of its own that is killed at its end.
 *
 * Calls may fault on purpose; a signal handler then jumps out of them.  A program may end
 * itself, or never end; but one that cannot be killed is an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/ldb.h>
#include "dev.h"
#include "fuzz.h"

#define STUCK_MS	1500	/* timeout without a new call */
#define STUCK_TIMES	10
#define KILL_LIMIT_MS	60000

int fuzz_fd[FUZZ_SLOTS];
pid_t fuzz_tid[FUZZ_SLOTS], fuzz_pid[FUZZ_SLOTS];
uint32_t fuzz_words[64];
static const struct fuzz_program *program;
static int my_worker;

static __thread sigjmp_buf *on_fault;
static __thread int fail_fd;

static void faulted(int sig)
{
	if (on_fault)
		siglongjmp(*on_fault, 1);
	_exit(128 + sig);
}

static void nothing(int sig)
{
}

int fuzz_fd_of(uint64_t arg)
{
	switch (arg) {
	case FUZZ_SLOTS: return -1;
	case FUZZ_SLOTS + 1: return fuzz_box[0][0];
	case FUZZ_SLOTS + 2: return 1000000;
	default: return fuzz_fd[arg % FUZZ_SLOTS] < 0 ? fuzz_fd[0] : fuzz_fd[arg % FUZZ_SLOTS];
	}
}

static pid_t odd_pid(uint64_t n)
{
	static const pid_t odd[] = { 0, 1, 2, -1, 0x7fffffff, -0x7fffffff - 1, 99999 };

	return odd[n % (sizeof(odd) / sizeof(*odd))];
}

pid_t fuzz_tid_of(uint64_t arg)
{
	uint64_t n = arg >> 4;

	switch (arg & 15) {
	case 0: case 1: case 2: case 3: return syscall(SYS_gettid);
	case 4: return getpid();
	case 5: return fuzz_pid[n % FUZZ_SLOTS];
	case 6: return fuzz->running[n % FUZZ_WORKERS];
	case 7: return odd_pid(n);
	default: return fuzz_tid[n % FUZZ_SLOTS];
	}
}

pid_t fuzz_pid_of(uint64_t arg)
{
	uint64_t n = arg >> 4;

	switch (arg & 15) {
	case 0: case 1: case 2: case 3: return 0;
	case 4: case 5: case 6: return getpid();
	case 7: case 8: case 9: return fuzz_pid[n % FUZZ_SLOTS];
	case 10: case 11: case 12: return fuzz->running[n % FUZZ_WORKERS];
	case 13: return fuzz_tid[n % FUZZ_SLOTS];
	case 14: return odd_pid(n);
	default: return getppid();
	}
}

/* Returns a value that is mostly one of those likely to do harm. */
uint64_t fuzz_nasty(uint64_t arg)
{
	static const uint64_t values[] = {
		0, 1, 7, 8, 63, 64, 4095, 4096, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		0x7fffffffffff, 0x800000000000, 0x7ffffffff000, 0x00fffffffffff000, 0x0800000000000000,
		0x7fffffffffffffff, 0x8000000000000000, 0xffff888000000000, 0xffffffff81000000,
		0xfffffffffffffff0, 0xffffffffffffffff,
	};

	if (arg % 4 == 0)
		return arg * 0x9e3779b97f4a7c15ULL;
	return values[arg / 4 % (sizeof(values) / sizeof(*values))];
}

/* These are a pair of pages, the second of which is not mapped, and a page that is read-only. */
static char *edge, *read_only;

static void make_pages(void)
{
	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(edge + 4096, 4096);
	read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void *fuzz_pointer(uint64_t arg)
{
	static __thread uint64_t scratch[64];
	uint64_t n = arg >> 4;

	switch (arg & 15) {
	case 8: return NULL;
	case 9: return (void *)fuzz_nasty(n);
	case 10: return fuzz_map(n) + (n >> 3) % 0x40000 * 8;
	case 11: return edge + 4096 - n % 64;
	case 12: return read_only + n % 4096;
	case 13: return fuzz_words + n % 64;
	case 14: return (void *)(0x7ffffffff000 - n % 64);
	default:
		for (unsigned int i = 0; i < 64; i++)
			scratch[i] = n & 1 ? fuzz_nasty(n + i) : 0;
		return scratch;
	}
}

void fuzz_thread_begin(void)
{
	fail_fd = -1;
	fuzz_cover_thread();
}

static void fail_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (fail_fd < 0)
		fail_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_fd >= 0 && pwrite(fail_fd, text, len, 0) != len)
		close(fail_fd);
}

static void call(const struct fuzz_call *c)
{
	const struct fuzz_op *o = fuzz_op(c->op);
	volatile long result = -EFAULT;
	sigjmp_buf jump;

	__atomic_add_fetch(&fuzz->ran[c->op], 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&fuzz->nr_calls, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&fuzz->progress[my_worker], 1, __ATOMIC_RELAXED);
	fuzz_cover_begin();
	if (!sigsetjmp(jump, 1)) {
		on_fault = &jump;
		if (c->fail)
			fail_nth(c->fail);
		result = o->run(c->arg);
	}
	on_fault = NULL;
	if (c->fail)
		fail_nth(0);
	fuzz_cover_end(c->op, result);
	if (result > -FUZZ_ERRORS)
		__atomic_add_fetch(&fuzz->errors[c->op][result < 0 ? -result : 0], 1, __ATOMIC_RELAXED);
}

/* Makes nr calls, beginning with number `from`; after the last call comes the first one. */
void fuzz_calls(unsigned int from, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		call(&program->call[(from + i) % program->nr]);
}

static void *collider(void *arg)
{
	fuzz_thread_begin();
	fuzz_calls((uintptr_t)arg, program->nr);
	return NULL;
}

/*
 * Makes some of the calls first, because others need them, and then all calls in one to three
 * threads at the same time.
 */
static void collide(void)
{
	pthread_t t[3];
	unsigned int nr = 1 + program->nr % 3;

	fuzz_calls(0, program->split % 8 < program->nr ? program->split % 8 : program->nr);
	for (unsigned int i = 0; i < nr; i++)
		if (pthread_create(&t[i], NULL, collider, (void *)(uintptr_t)(i * program->split)))
			return;
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
}

static void in_processes(void)
{
	pid_t pid;

	fuzz_calls(0, program->split);
	pid = fork();
	if (!pid)
		fuzz_thread_begin();
	fuzz_calls(program->split, program->nr - program->split);
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void become(void)
{
	static const rlim_t limits[] = { RLIM_INFINITY, 0, 65536, 1 << 20, 8 << 20 };
	rlim_t limit = limits[program->memlock % 5];
	pid_t pid;

	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ limit, limit });
	switch (program->who) {
	case FUZZ_NOBODY:
		if (setgid(65534) || setuid(65534))
			_exit(1);
		break;
	case FUZZ_USERNS:
		if (setgid(65534) || setuid(65534) || unshare(CLONE_NEWUSER))
			_exit(1);
		break;
	case FUZZ_PIDNS:
		if (unshare(CLONE_NEWPID))
			_exit(1);
		pid = fork();
		if (pid) {
			waitpid(pid, NULL, 0);
			_exit(0);
		}
	}
}

static __attribute__((noreturn)) void run_child(void)
{
	struct sigaction sa = { .sa_handler = faulted, .sa_flags = SA_NODEFER };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	become();
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	sa.sa_handler = nothing;
	sa.sa_flags = 0;
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	make_pages();
	for (unsigned int i = 0; i < FUZZ_SLOTS; i++)
		fuzz_fd[i] = -1;
	fuzz_thread_begin();
	switch (program->way) {
	case FUZZ_COLLIDE: collide(); break;
	case FUZZ_PROCESSES: in_processes(); break;
	default: fuzz_calls(0, program->nr);
	}
	_exit(0);
}

/*
 * Waits for the end of the process, for STUCK_MS and longer as long as it makes calls, but not for
 * more than STUCK_TIMES as long.  Returns true if the process has ended.
 */
static bool ends(pid_t pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned int before, times = 0;
	bool ended;

	do {
		before = fuzz->progress[my_worker];
		ended = fd < 0 || poll(&p, 1, STUCK_MS) == 1;
	} while (!ended && before != fuzz->progress[my_worker] && ++times < STUCK_TIMES);
	close(fd);
	return ended;
}

/*
 * Kills and reaps all processes that the program left behind: this process is their subreaper.
 * Returns false if some remain.
 */
static bool reap(pid_t pgid)
{
	for (int ms = 0; ms < KILL_LIMIT_MS; ms++) {
		pid_t pid;

		kill(-pgid, SIGKILL);
		do
			pid = waitpid(-1, NULL, WNOHANG | __WALL);
		while (pid > 0);
		if (pid < 0)
			return true;
		msleep(1);
	}
	return false;
}

void fuzz_run(const struct fuzz_program *p, int worker)
{
	pid_t pid;

	program = p;
	my_worker = worker;
	pid = fork();
	if (!pid)
		run_child();
	if (pid < 0) {
		msleep(10);
		return;
	}
	setpgid(pid, pid);
	fuzz->running[worker] = pid;
	if (!ends(pid))
		__atomic_add_fetch(&fuzz->nr_timeouts, 1, __ATOMIC_RELAXED);
	if (!reap(pid))
		__atomic_add_fetch(&fuzz->nr_unkillable, 1, __ATOMIC_RELAXED);
	fuzz->running[worker] = 0;
	__atomic_add_fetch(&fuzz->nr_programs, 1, __ATOMIC_RELAXED);
}

bool fuzz_load(void)
{
	const char *ko = getenv("LDB_KO");
	int fd = ko ? open(ko, O_RDONLY | O_CLOEXEC) : -1;
	/*
	 * Sessions are few and small, because a guest has little memory.  Probes stay for a minute
	 * after their last use, because the kernel's code is patched for each change.
	 */
	const char *params = "mode=0666 force_tsc=1 max_mb=8 max_sessions=24 disarm_delay_ms=60000";
	long rc = fd < 0 ? -1 : syscall(SYS_finit_module, fd, params, 0);

	if (rc && errno == EEXIST)
		rc = 0;
	close(fd);
	if (!rc) {
		fuzz_cover_base();
		fuzz->gone = 0;
	}
	return !rc;
}

int fuzz_unload(void)
{
	int rc = dev_unload();

	if (!rc) {
		fuzz->gone = 1;
		__atomic_add_fetch(&fuzz->nr_unloads, 1, __ATOMIC_RELAXED);
	}
	return rc;
}
