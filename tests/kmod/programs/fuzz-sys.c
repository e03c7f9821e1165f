// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements the generator's calls that cause the module's events, and end observed threads:
 * threads, futexes, processes, exec, signals, the scheduler, the module itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/futex.h>
#include <linux/ldb.h>
#include "dev.h"
#include "fuzz.h"

#define THREADS_MAX	24

static long result(long rc)
{
	return rc < 0 ? -errno : rc;
}

static void keep_pid(uint64_t slot, pid_t pid)
{
	__atomic_store_n(&fuzz_pid[slot % FUZZ_SLOTS], pid, __ATOMIC_RELAXED);
}

/* Executes this program again, as "kmod-fuzz --child MS", or a file that does not exist. */
static void do_exec(uint64_t how)
{
	char ms[8];

	snprintf(ms, sizeof(ms), "%u", (unsigned int)(how % 8));
	execl(how & 8 ? "/nonexistent" : "/proc/self/exe", "kmod-fuzz", "--child", ms, NULL);
}

/* Describes a thread: what it does, how often, and what it needs. */
struct work {
	uint64_t what, times, slot, fd;
};

static void *fault_pages(void)
{
	char *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned int i = 0; p != MAP_FAILED && i < 16; i++)
		p[i * 4096] = 1;
	munmap(p, 65536);
	return NULL;
}

static void work_once(const struct work *w, unsigned int i)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct timespec ms = { 0, 1000000 };

	switch (w->what) {
	case 0: usleep(i * 13 % 200); break;
	case 1: sched_yield(); break;
	case 2:
		syscall(SYS_futex, &fuzz_words[0], FUTEX_WAIT, 0, &ms, NULL, 0);
		break;
	case 3:
		syscall(SYS_futex, &fuzz_words[0], FUTEX_WAKE, 1, NULL, NULL, 0);
		usleep(1);
		break;
	case 4: fault_pages(); break;
	case 5:
		pthread_mutex_lock(&mutex);
		sched_yield();
		pthread_mutex_unlock(&mutex);
		break;
	case 6:
		for (volatile int spin = 0; spin < 20000; spin++)
			;
		break;
	case 7: fuzz_calls(i, 1); break;
	}
}

static void *worker(void *arg)
{
	struct work w = *(struct work *)arg;

	free(arg);
	fuzz_thread_begin();
	__atomic_store_n(&fuzz_tid[w.slot], syscall(SYS_gettid), __ATOMIC_RELAXED);
	if (w.what & 8) {
		struct ldb_reg r = { .tid = syscall(SYS_gettid), .slot = w.slot, .block = w.slot };

		ioctl(fuzz_fd_of(w.fd), LDB_IOC_REG, &r);
	}
	w.what &= 7;
	for (unsigned int i = 0; i < w.times; i++)
		work_once(&w, i);
	return NULL;
}

static long do_thread(const uint64_t *a)	/* tid fd what times */
{
	static unsigned int nr;
	struct work *w;
	pthread_attr_t attr;
	pthread_t t;
	int rc;

	if (__atomic_fetch_add(&nr, 1, __ATOMIC_RELAXED) >= THREADS_MAX)
		return -EAGAIN;
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	*w = (struct work){ .what = a[2] & 15, .times = a[3] & 1 ? a[3] % 100 : 0, .slot = a[0] % FUZZ_SLOTS, .fd = a[1] };
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&t, &attr, worker, w);
	if (rc)
		free(w);
	return -rc;
}

static long do_exit_thread(const uint64_t *a)	/* what */
{
	/* The other threads continue; the thread may be the leader or not. */
	if (a[0] < 16)
		syscall(SYS_exit, 0);
	return 0;
}

static void *exec_thread(void *arg)
{
	do_exec((uintptr_t)arg);
	return NULL;
}

/* A thread that is not the leader calls exec() while the others work. */
static long do_exec_thread(const uint64_t *a)	/* what */
{
	pthread_t t;

	if (a[0] >= 64)
		return 0;
	if (pthread_create(&t, NULL, exec_thread, (void *)(uintptr_t)a[0]))
		return -EAGAIN;
	pthread_join(t, NULL);
	return 0;
}

struct birth {
	int fd;
	uint64_t map, what;
	bool shares_memory;
};

static int born(void *arg)
{
	const struct birth *b = arg;
	struct ldb_reg r = { .slot = b->what >> 4 & 3 };
	struct ldb_session_stats s;

	if (!b->shares_memory)
		fuzz_thread_begin();
	r.tid = syscall(SYS_gettid);
	switch (b->what & 7) {
	case 0: break;
	case 1: ioctl(b->fd, LDB_IOC_JOIN); break;
	case 2: ioctl(b->fd, LDB_IOC_REG, &r); break;
	case 3: ioctl(b->fd, LDB_IOC_STATS, &s); break;
	case 4: usleep(1000 * (b->what >> 4 & 7)); break;
	case 5: do_exec(b->what >> 4); break;
	case 6:
		if (!b->shares_memory)
			for (unsigned int i = 0; i < 8; i++)
				*(volatile char *)(fuzz_map(b->map) + i * 4096) = 1;
		break;
	case 7:
		if (!b->shares_memory)
			fuzz_calls(b->what >> 4, 6);
		break;
	}
	if (b->what & 8)
		kill(getpid(), SIGKILL);
	syscall(SYS_exit_group, 0);
	return 0;
}

static long do_fork(const uint64_t *a)	/* pid fd map what how */
{
	static const int hows[] = {
		0, 0, 0, CLONE_VM, CLONE_FILES, CLONE_VM | CLONE_VFORK, CLONE_VM | CLONE_FILES, CLONE_PARENT,
	};
	struct birth b = { .fd = fuzz_fd_of(a[1]), .map = a[2], .what = a[3] };
	int how = hows[a[4] % 8];
	pid_t pid;

	b.shares_memory = how & CLONE_VM;
	if (how & CLONE_VM) {
		/* Copy and stack are never freed: a child may still use them. */
		struct birth *copy = malloc(sizeof(b));
		char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (!copy || stack == MAP_FAILED)
			return -ENOMEM;
		*copy = b;
		pid = clone(born, stack + 65536, how | SIGCHLD, copy);
	} else {
		pid = syscall(SYS_clone, how | SIGCHLD, NULL, NULL, NULL, NULL);
		if (!pid)
			born(&b);
	}
	if (pid < 0)
		return -errno;
	keep_pid(a[0], pid);
	if (a[3] & 256)
		waitpid(pid, NULL, __WALL);
	return 0;
}

static long do_wait(const uint64_t *a)	/* what */
{
	return result(waitpid(-1, NULL, __WALL | (a[0] < 240 ? WNOHANG : 0)));
}

static long do_signal(const uint64_t *a)	/* tid signal */
{
	static const int signals[] = { SIGUSR1, SIGUSR1, SIGALRM, SIGSTOP, SIGCONT, SIGCONT, SIGKILL };
	int sig = signals[a[1] % 7];
	pid_t tid = fuzz_tid_of(a[0]);

	/* Signals go only to this process group, and not to the tester's own processes. */
	if (tid <= 2 || getpgid(tid) != getpgid(0) || (sig == SIGSTOP && tid == getpid()))
		return -EPERM;
	return result(syscall(SYS_tkill, tid, sig));
}

static long do_timer(const uint64_t *a)	/* us */
{
	struct itimerval t = { .it_value.tv_usec = 50 + a[0] * 16, .it_interval.tv_usec = a[0] & 1 ? 500 : 0 };

	return result(setitimer(ITIMER_REAL, &t, NULL));
}

static long do_trace(const uint64_t *a)	/* pid */
{
	pid_t pid = fuzz_pid[a[0] % FUZZ_SLOTS];

	if (pid <= 0 || ptrace(PTRACE_SEIZE, pid, 0, 0))
		return pid <= 0 ? -ESRCH : -errno;
	ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	usleep(300);
	waitpid(pid, NULL, __WALL | WNOHANG);
	return result(ptrace(PTRACE_DETACH, pid, 0, 0));
}

static long do_futex(const uint64_t *a)	/* pointer operation value pointer */
{
	struct timespec soon = { 0, 200000 * (1 + a[2] % 5) };
	uint32_t op = a[1] % 13, *word = a[1] & 16 ? fuzz_pointer(a[0]) : &fuzz_words[a[0] / 16 % 2];
	uint32_t *other = a[1] & 32 ? fuzz_pointer(a[3]) : &fuzz_words[2 + a[3] / 16 % 2];
	uint32_t val = a[2] & 32 ? a[2] >> 8 : a[2] & 1;

	if (op == FUTEX_FD)
		op = FUTEX_WAIT_BITSET;
	if (a[1] & 64)
		op |= FUTEX_PRIVATE_FLAG;
	/*
	 * These operations take an absolute time.  This one has passed for those that use
	 * CLOCK_REALTIME, and is far in the future for those that use CLOCK_MONOTONIC.
	 */
	if ((op & FUTEX_CMD_MASK) == FUTEX_LOCK_PI || (op & FUTEX_CMD_MASK) == FUTEX_WAIT_REQUEUE_PI ||
	    (op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
		clock_gettime(CLOCK_REALTIME, &soon);
	return result(syscall(SYS_futex, word, op, val, &soon, other, a[2] & 2 ? 0xffffffff : val));
}

static long do_waitv(const uint64_t *a)	/* pointer number pointer */
{
	struct futex_waitv v[12] = {};
	struct timespec soon;
	unsigned int nr = a[1] % 12;

	clock_gettime(CLOCK_MONOTONIC, &soon);
	soon.tv_nsec = (soon.tv_nsec + 300000) % 1000000000;
	for (unsigned int i = 0; i < nr; i++) {
		v[i].uaddr = (uintptr_t)(a[1] & 16 ? fuzz_pointer(a[0] + i * 16) : &fuzz_words[i]);
		v[i].flags = FUTEX_32;
	}
	return result(syscall(SYS_futex_waitv, a[1] & 32 ? fuzz_pointer(a[2]) : v, nr, 0, &soon, CLOCK_MONOTONIC));
}

static long do_faults(const uint64_t *a)
{
	fault_pages();
	return 0;
}

static long do_sleep(const uint64_t *a)	/* us */
{
	return result(usleep(a[0] * 4));
}

static long do_spin(const uint64_t *a)	/* times */
{
	for (volatile uint64_t i = 0; i < a[0] * 500; i++)
		;
	return 0;
}

static long do_yield(const uint64_t *a)	/* times */
{
	for (uint64_t i = 0; i < a[0] % 32; i++)
		sched_yield();
	return 0;
}

static long do_affinity(const uint64_t *a)	/* tid cpus */
{
	unsigned long mask = 1 + a[1] % 3;

	return result(syscall(SYS_sched_setaffinity, fuzz_tid_of(a[0]), sizeof(mask), &mask));
}

static long do_nice(const uint64_t *a)	/* value */
{
	return result(setpriority(PRIO_PROCESS, 0, a[0] % 20));
}

static long do_name(const uint64_t *a)	/* value */
{
	char name[17];

	memset(name, 'a' + a[0] % 26, sizeof(name));
	name[a[0] % 17] = 0;
	name[16] = 0;
	return result(prctl(PR_SET_NAME, name));
}

static long do_become(const uint64_t *a)	/* who */
{
	if (a[0] >= 64)
		return 0;
	return result(a[0] & 1 ? setuid(65534) : unshare(a[0] & 2 ? CLONE_NEWPID : CLONE_FILES));
}

static long write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	long rc = fd < 0 ? -1 : write(fd, text, strlen(text));

	rc = result(rc);
	close(fd);
	return rc < 0 ? rc : 0;
}

static long do_parameter(const uint64_t *a)	/* which value */
{
	static const struct { const char *name, *values[3]; } p[] = {
		{ "irq_min_ns", { "0", "1000", "4294967295" } },
		{ "max_mb", { "8", "8", "1" } },
		{ "max_sessions", { "24", "24", "4" } },
		{ "max_user_sessions", { "16", "16", "2" } },
		{ "force_tsc", { "Y", "Y", "N" } },
	};
	unsigned int n = a[0] % 5;
	char path[96];

	snprintf(path, sizeof(path), "/sys/module/ldb/parameters/%s", p[n].name);
	return write_file(path, p[n].values[a[1] % 3]);
}

/*
 * This is done rarely, because it removes all probes, and the kernel's code is patched for each of
 * them.
 */
static long do_unload(const uint64_t *a)	/* us */
{
	int rc = fuzz_unload();

	usleep(a[0] * 8);
	if (!rc || fuzz->gone)
		fuzz_load();
	return rc;
}

const struct fuzz_op fuzz_system_ops[] = {
	{ "thread", do_thread, 14, true, { FUZZ_TID, FUZZ_FD, FUZZ_BYTE, FUZZ_BYTE } },
	{ "exit_thread", do_exit_thread, 2, false, { FUZZ_BYTE } },
	{ "exec_thread", do_exec_thread, 3, false, { FUZZ_BYTE } },
	{ "fork", do_fork, 9, true, { FUZZ_PID, FUZZ_FD, FUZZ_MAP, FUZZ_NUMBER, FUZZ_BYTE } },
	{ "wait", do_wait, 3, false, { FUZZ_BYTE } },
	{ "signal", do_signal, 5, false, { FUZZ_TID, FUZZ_BYTE } },
	{ "timer", do_timer, 3, false, { FUZZ_BYTE } },
	{ "trace", do_trace, 2, false, { FUZZ_PID } },
	{ "futex", do_futex, 10, false, { FUZZ_POINTER, FUZZ_BYTE, FUZZ_BYTE, FUZZ_POINTER } },
	{ "waitv", do_waitv, 4, false, { FUZZ_POINTER, FUZZ_BYTE, FUZZ_POINTER } },
	{ "faults", do_faults, 3, false, { } },
	{ "sleep", do_sleep, 5, false, { FUZZ_BYTE } },
	{ "spin", do_spin, 4, false, { FUZZ_BYTE } },
	{ "yield", do_yield, 4, false, { FUZZ_BYTE } },
	{ "affinity", do_affinity, 4, false, { FUZZ_TID, FUZZ_BYTE } },
	{ "nice", do_nice, 1, false, { FUZZ_BYTE } },
	{ "name", do_name, 2, false, { FUZZ_BYTE } },
	{ "become", do_become, 1, false, { FUZZ_BYTE } },
	{ "parameter", do_parameter, 1, false, { FUZZ_BYTE, FUZZ_BYTE } },
	{ "unload", do_unload, 1, false, { FUZZ_BYTE } },
	{ }
};
