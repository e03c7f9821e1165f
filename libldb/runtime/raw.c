// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implements memory, locks and threads without libc.  (raw thread) */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "runtime.h"

#define RAW_STACK_SIZE	(128 * 1024)
#define RAW_TLS_SIZE	(16 * 1024)	/* on either side of the thread pointer */
#define TASK_PATH	64	/* /proc/self/task/4194304/schedstat */
#define LOCK_WAIT_NS	1000000
#define UNCOUNTED_TRIES	1000
#define UNCOUNTED_NS	10000

void *memcpy(void *restrict d, const void *restrict s, size_t n)
{
	cpu_copy(d, s, n);
	return d;
}

void *memset(void *d, int c, size_t n)
{
	cpu_fill(d, c, n);
	return d;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

void raw_strcpy(char *d, const char *s, size_t n)
{
	for (; n > 1 && *s; n--)
		*d++ = *s++;
	if (n)
		*d = 0;
}

bool raw_str_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

char *raw_decimal(char *d, uint64_t v)
{
	char tmp[20];
	int n = 0;

	do {
		tmp[n++] = '0' + v % 10;
		v /= 10;
	} while (v);
	while (n)
		*d++ = tmp[--n];
	*d = 0;
	return d;
}

long raw_number(const char *s)
{
	long n = 0;

	if (!*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || n > INT32_MAX / 10)
			return -1;
		n = n * 10 + *s - '0';
	}
	return n;
}

long raw_map_unlocked(char *base, uint64_t size, int flags, int fd)
{
	long at = sys(SYS_mmap, 0, size, PROT_NONE, flags | MAP_NORESERVE, fd, 0);
	long ret;

	if (at < 0 && at > -4096)
		return at;
	sys(SYS_munlock, at, size);
	ret = sys(SYS_mprotect, at, size, PROT_READ | PROT_WRITE);
	if (!ret && base)
		ret = sys(SYS_mremap, at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, base);
	if (ret < 0 && ret > -4096) {
		sys(SYS_munmap, at, size);
		return ret;
	}
	return base ? (long)base : at;
}

void *raw_map(size_t size)
{
	long at = raw_map_unlocked(0, size, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

void raw_futex_wait(_Atomic uint32_t *word, uint32_t val, uint64_t timeout_ns)
{
	struct timespec ts = { timeout_ns / 1000000000, timeout_ns % 1000000000 };

	sys(SYS_futex, word, FUTEX_WAIT_PRIVATE, val, timeout_ns ? &ts : NULL);
}

void raw_futex_wake(_Atomic uint32_t *word)
{
	sys(SYS_futex, word, FUTEX_WAKE_PRIVATE, 0x7fffffff);
}

void raw_sleep_ns(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	sys(SYS_nanosleep, &ts, 0);
}

void (*_Atomic raw_on_wait)(void);

static void raise_awaited(void)
{
	void (*raise)(void) = order_any_load(&raw_on_wait);

	if (raise)
		raise();
}

void raw_lock(struct raw_lock *l)
{
	uint32_t v = 0;

	if (atomic_compare_exchange_strong(&l->word, &v, 1))
		return;
	for (bool again = false; atomic_exchange(&l->word, 2); again = true) {
		if (again)
			raise_awaited();
		raw_futex_wait(&l->word, 2, LOCK_WAIT_NS);
	}
}

void raw_unlock(struct raw_lock *l)
{
	if (atomic_exchange(&l->word, 0) == 2)
		sys(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1);
}

static void thread_main(void *p)
{
	struct raw_thread *t = p;
	struct sched_param other = { 0 };

	/*
	 * The thread must not inherit a real-time policy of the program, because then a scanner
	 * would never yield.
	 */
	sys(SYS_sched_setscheduler, 0, SCHED_OTHER, &other);
	sys(SYS_prctl, PR_SET_NAME, t->name);
	t->fn(t->arg);
}

long raw_each_entry(const char *path, raw_entry_fn *fn, void *arg)
{
	char dir[1024] __attribute__((aligned(8)));
	long fd = sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), n = 0;
	bool goes_on = true;

	if (fd < 0)
		return fd;
	while (goes_on && (n = sys(SYS_getdents64, fd, dir, sizeof(dir))) > 0)
		for (long off = 0; off < n && goes_on;) {
			const struct dirent64 *d = (const struct dirent64 *)(dir + off);

			if (d->d_name[0] != '.')
				goes_on = fn(arg, d->d_name, fd);
			off += d->d_reclen;
		}
	sys(SYS_close, fd);
	return n < 0 ? n : 0;
}

static void task_path(char path[TASK_PATH], uint32_t tid, const char *name)
{
	char *end;

	raw_strcpy(path, "/proc/self/task/", TASK_PATH);
	end = raw_decimal(path + strlen(path), tid);
	*end++ = '/';
	raw_strcpy(end, name, path + TASK_PATH - end);
}

long raw_task_open(uint32_t tid, const char *name)
{
	char path[TASK_PATH];

	task_path(path, tid, name);
	return sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

long raw_task_read(uint32_t tid, const char *name, char *buf, size_t size)
{
	long fd = raw_task_open(tid, name), n;

	if (fd < 0)
		return fd;
	n = sys(SYS_read, fd, buf, size - 1);
	sys(SYS_close, fd);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

static bool close_one(void *any, const char *name, long fd)
{
	long number = raw_number(name);

	if (number >= 0 && number != fd)
		*(bool *)any |= !sys(SYS_close, number);
	return true;
}

/* This is used where close_range() is missing (before 5.9) or refused by a container's filter. */
static bool close_each(void)
{
	char path[TASK_PATH];
	bool any;

	task_path(path, sys(SYS_gettid), "fd");
	do {	/* repeated, because closing a descriptor moves the entries after it */
		any = false;
		if (raw_each_entry(path, close_one, &any))
			return false;
	} while (any);
	return true;
}

/*
 * The start of a thread with a copy of the file table, in which all descriptors are closed.  If one
 * stayed open, the reader of a pipe of the program would never find its end; in that case the
 * thread exits.
 */
static void thread_main_own_files(void *p)
{
	if (sys(SYS_close_range, 0, ~0U, 0) && !close_each())
		return;
	sys(SYS_chdir, "/");
	thread_main(p);
}

/*
 * The start of a thread that gives up the program's file table.  Until then it shares the table and
 * has no copies of descriptors, because the thread may be delayed before it runs, and copies would
 * keep pipes open for which another process waits.
 */
static void thread_main_apart(void *p)
{
	if (sys(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE))
		return;
	sys(SYS_chdir, "/");
	thread_main(p);
}

int raw_thread_start(struct raw_thread *t, const char *name,
		     void (*fn)(void *), void *arg, bool own_files)
{
	unsigned long flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD |
			      CLONE_SYSVSEM | CLONE_PARENT_SETTID |
			      CLONE_CHILD_CLEARTID | CLONE_SETTLS;
	void (*main)(void *) = own_files ? thread_main_own_files : thread_main;
	char *tp;
	uint64_t all = ~0ULL, old;
	long ret;

	if (!t->stack) {
		ret = sys(SYS_mmap, 0, RAW_STACK_SIZE + 2 * RAW_TLS_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
		if (ret < 0 && ret > -4096)
			return ret;
		t->stack = (void *)ret;
	}
	/*
	 * This memory serves as thread-local memory.  It is zero, except for what the CPU needs at
	 * the thread pointer, and for rseq's cpu_id, which says that rseq is not registered.
	 */
	tp = (char *)t->stack + RAW_STACK_SIZE + RAW_TLS_SIZE;
	cpu_thread_block_init(tp);
	if (__rseq_size && __rseq_offset > -RAW_TLS_SIZE && __rseq_offset < RAW_TLS_SIZE - 64)
		((struct rseq *)(tp + __rseq_offset))->cpu_id = -1;
	/* The descriptor does not exist: this only tests whether the kernel has the system call. */
	if (own_files && !sys(SYS_close_range, ~0U, ~0U, 0))
		main = thread_main_apart;
	if (main != thread_main_own_files)
		flags |= CLONE_FILES;
	atomic_store(&t->is_raised, 1);
	t->fn = fn;
	t->arg = arg;
	t->name = name;
	sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof(all));
	ret = sys_clone_thread(flags, (char *)t->stack + RAW_STACK_SIZE,
			       (uint32_t *)&t->tid,
			       main, t, tp);
	sys(SYS_rt_sigprocmask, SIG_SETMASK, &old, 0, sizeof(old));
	return ret < 0 ? ret : 0;
}

/*
 * Waits until the kernel has decremented its count of threads, which unshare() and setns() check.
 * The kernel does this a moment after it has cleared the tid.  The wait is limited to about 10 ms.
 */
static void wait_uncounted(uint32_t tid)
{
	for (int i = 0; tid && i < UNCOUNTED_TRIES && !sys(SYS_tgkill, sys(SYS_getpid), tid, 0); i++)
		raw_sleep_ns(UNCOUNTED_NS);
}

bool raw_thread_join(struct raw_thread *t, unsigned tries, uint64_t wait_ns)
{
	struct timespec ts = { wait_ns / 1000000000, wait_ns % 1000000000 };
	uint32_t tid, last = 0;

	for (unsigned i = 0; (tid = atomic_load(&t->tid)) != 0; i++) {
		if (tries && i == tries)
			return false;
		last = tid;
		/* repeated, because the thread may have lowered its priority after the last call */
		raise_awaited();
		/* not private, because the kernel's wake-up for CLONE_CHILD_CLEARTID is not */
		sys(SYS_futex, &t->tid, FUTEX_WAIT, tid, wait_ns ? &ts : NULL);
	}
	wait_uncounted(last);
	return true;
}
