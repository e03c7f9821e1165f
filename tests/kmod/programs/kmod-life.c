// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests beginnings and ends: exec, vfork, kill, storms of threads and processes, CPUs that go
 * offline and come back, sessions that end while events are written, loading and unloading.
 *
 *	kmod-life [SCALE]	default 1
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "dev.h"
#include "tap.h"

static unsigned scale = 1;
static char *self;

static int poll_now(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) < 0 ? -errno : p.revents;
}

static size_t count(const struct dev *d, unsigned type, unsigned tid, unsigned other)
{
	struct events e = dev_events(d);
	size_t nr = 0;

	for (size_t i = 0; i < e.nr; i++)
		nr += e.v[i].rec.type == type && (!tid || e.v[i].rec.tid == tid) &&
		      (!other || e.v[i].rec.arg2 == other);
	events_free(&e);
	return nr;
}

static void wait_for(pid_t pid)
{
	if (waitpid(pid, NULL, 0) != pid)
		diag("waitpid: %s", strerror(errno));
}

/* Runs fn, which is recorded, in a child that has joined d. */
static pid_t program(struct dev *d, void (*fn)(struct dev *))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The mapping that fork() has copied does not show the session's memory. */
	munmap(d->base, d->c.total_size);
	if (dev_ioctl(d->fd, LDB_IOC_JOIN, NULL) || dev_map(d) || dev_reg(d, gettid_(), 0, 0))
		_exit(99);
	fn(d);
	_exit(0);
}

static void sleep_and_exec(struct dev *d)
{
	msleep(5);
	execl(self, self, "nap", NULL);
}

static void *exec_thread(void *arg)
{
	struct dev *d = arg;

	dev_reg(d, gettid_(), 1, 0);
	msleep(5);
	execl(self, self, "nap", NULL);
	return NULL;
}

static void *pause_thread(void *arg)
{
	struct dev *d = arg;

	if (d)
		dev_reg(d, gettid_(), 2, 0);
	for (;;)
		msleep(1);
	return NULL;
}

static void exec_in_thread(struct dev *d)
{
	pthread_t t;

	pthread_create(&t, NULL, pause_thread, d);
	pthread_create(&t, NULL, exec_thread, d);
	for (;;)
		msleep(1);
}

static void test_exec(const char *what, void (*fn)(struct dev *))
{
	struct ldb_create c = dev_default();
	struct dev d, again;
	uint64_t events;
	pid_t pid;

	if (dev_open(&d, NULL) || dev_map(&d))
		bail_out("no session");
	pid = program(&d, fn);
	is_int(poll_now(d.fd, 10000) & POLLHUP, POLLHUP, what);
	is_int(dev_stats(&d).dead, 1, "the session is dead");
	is_int(dev_stats(&d).threads, 0, "no thread is registered");
	is_int(count(&d, LDB_EV_EXEC, pid, 0), 1, "the exec is recorded");
	events = dev_stats(&d).events;
	msleep(50);
	is_int(dev_stats(&d).events - events, 0, "nothing is recorded after the exec");
	c.pid = pid;
	is_int(dev_open(&again, &c), 0, "the process can be observed again");
	if (!dev_map(&again)) {
		msleep(50);
		ok(count(&again, LDB_EV_SWITCH, pid, 0) > 0,
		   "the new session has events of the process");
	}
	dev_close(&again);
	kill(pid, SIGKILL);
	wait_for(pid);
	dev_close(&d);
}

/* A session of a pid continues after an exec() by any thread. */
static void test_exec_named(void)
{
	struct ldb_create c = dev_default();
	struct events e;
	struct dev d;
	bool after = false;
	unsigned before = 0;
	int go[2];
	pid_t pid;

	if (pipe(go))
		bail_out("pipe");
	pid = fork();
	if (!pid) {
		pthread_t t;
		char ch;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&t, NULL, pause_thread, NULL);
		if (read(go[0], &ch, 1) != 1)
			_exit(1);
		pthread_create(&t, NULL, (void *(*)(void *))exec_thread, &(struct dev){ .fd = -1 });
		for (;;)
			msleep(1);
	}
	msleep(30);
	c.pid = pid;
	if (!is_int(dev_open(&d, &c), 0, "a session of a pid") || !is_int(dev_map(&d), 0, "map it") ||
	    write(go[1], "", 1) != 1)
		return;
	msleep(300);
	is_int(dev_stats(&d).dead, 0, "a session of a pid survives the exec of a thread");
	e = dev_events(&d);
	for (size_t i = 0; i < e.nr; i++) {
		const struct ldb_rec *r = &e.v[i].rec;

		if (r->type == LDB_EV_EXEC && r->tid == (unsigned)pid)
			before = r->arg2;
		after |= before && r->type == LDB_EV_SWITCH && r->tid == (unsigned)pid;
	}
	ok(before && before != (unsigned)pid, "the thread that called exec had another tid");
	ok(after, "the process is still observed");
	events_free(&e);
	kill(pid, SIGKILL);
	wait_for(pid);
	is_int(poll_now(d.fd, 5000) & POLLHUP, POLLHUP,
	       "the session of a pid ends with the process");
	close(go[0]);
	close(go[1]);
	dev_close(&d);
}

static int clone_vm(void *arg)
{
	struct dev *d = arg;

	for (int i = 0; i < 20; i++)
		msleep(1);
	/* The memory is the same, but the thread group is another. */
	return -dev_reg(d, gettid_(), 9, 0);
}

static void test_relatives(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct dev d;
	int status = 0;
	pid_t pid;

	dev_self(&d, NULL);
	is_int(dev_reg(&d, gettid_(), 0, 0), 0, "registered");
	pid = vfork();
	if (!pid) {
		execl(self, self, "exit", NULL);
		_exit(1);
	}
	wait_for(pid);
	is_int(dev_stats(&d).dead, 0, "vfork and exec of a child end nothing");
	is_int(dev_stats(&d).threads, 1, "vfork and exec of a child do not end a registration");
	is_int(count(&d, LDB_EV_FORK, getpid(), pid), 1, "the child's birth is recorded");
	is_int(count(&d, LDB_EV_EXEC, 0, 0), 0, "the child's exec is not recorded");

	pid = clone(clone_vm, stack + sizeof(stack), CLONE_VM | SIGCHLD, &d);
	waitpid(pid, &status, 0);
	is_int(WEXITSTATUS(status), EPERM, "a process that only shares the memory cannot register");
	is_int(count(&d, LDB_EV_SWITCH, pid, 0) + count(&d, LDB_EV_SWITCH_OUT, pid, 0),
	       count(&d, LDB_EV_SWITCH, pid, getpid()),
	       "a process that only shares the memory is not observed");
	dev_close(&d);
}

static void *busy_thread(void *arg)
{
	struct dev *d = arg;
	static unsigned next = 1;
	unsigned slot = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % 64;

	dev_reg(d, gettid_(), slot, 0);
	for (unsigned i = 0;; i++) {
		if (i % 3 == 0)
			sched_yield();
		else
			usleep(i % 200);
	}
	return NULL;
}

static void be_busy(struct dev *d)
{
	pthread_t t;

	for (int i = 0; i < 8; i++)
		pthread_create(&t, NULL, busy_thread, d);
	for (;;)
		msleep(1);
}

static void test_kill(void)
{
	unsigned nr = 20 * scale, bad = 0, no_hup = 0, holes = 0;

	srand(1);
	for (unsigned i = 0; i < nr; i++) {
		struct events e;
		struct dev d;
		pid_t pid;

		if (dev_open(&d, NULL) || dev_map(&d))
			bail_out("no session");
		pid = program(&d, be_busy);
		usleep(rand() % 30000);
		kill(pid, SIGKILL);
		/* Every second session is closed while the program is still exiting. */
		if (i % 2) {
			wait_for(pid);
			no_hup += dev_stats(&d).events && !dev_stats(&d).dead;
			bad += dev_stats(&d).threads != 0;
		}
		e = dev_events(&d);
		holes += e.holes;
		events_free(&e);
		dev_close(&d);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	is_int(bad, 0, "killed at any moment: no thread stays registered");
	is_int(no_hup, 0, "the session is dead");
	is_int(holes, 0, "the kernel's records are whole");
}

static struct dev *storm_dev;

static void *storm_thread(void *arg)
{
	long n = (long)arg;

	/* The threads use each other's pages in turn. */
	dev_reg(storm_dev, gettid_(), 1 + n % 40, 0);
	if (n % 4 == 0)
		sched_yield();
	return NULL;
}

static void test_thread_storm(void)
{
	unsigned nr = 2000 * scale, made = 0;
	struct ldb_create c = dev_default();
	struct events e;
	size_t forks = 0, exits = 0;
	pthread_attr_t attr;
	pthread_t t[20];
	struct dev d;

	c.ring_order = 17;
	c.events = LDB_GROUP_PROCESS;
	dev_self(&d, &c);
	storm_dev = &d;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	dev_reg(&d, gettid_(), 0, 0);
	while (made < nr) {
		unsigned n = 0;

		for (; n < 20; n++)
			if (pthread_create(&t[n], &attr, storm_thread, (void *)(long)(made + n)))
				break;
		made += n;
		while (n)
			pthread_join(t[--n], NULL);
	}
	msleep(20);
	e = dev_events(&d);
	for (size_t i = 0; i < e.nr; i++) {
		forks += e.v[i].rec.type == LDB_EV_FORK;
		exits += e.v[i].rec.type == LDB_EV_EXIT;
	}
	is_int(forks, made, "storm of threads: each thread's creation is recorded");
	is_int(exits, made, "storm of threads: each thread's end is recorded");
	is_int(dev_stats(&d).threads, 1,
	       "storm of threads: only the first thread is still registered");
	events_free(&e);
	dev_close(&d);
}

static void test_fork_storm(void)
{
	unsigned nr = 200 * scale, bad = 0;
	struct dev d;

	dev_self(&d, NULL);
	dev_reg(&d, gettid_(), 0, 0);
	for (unsigned i = 0; i < nr; i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			((volatile char *)d.base)[4096 * (i % 200)] = 1;
			if (i % 10 == 0)
				execl(self, self, "exit", NULL);
			_exit(0);
		}
		if (pid < 0 || (i % 3 == 0 && kill(pid, SIGKILL)))
			bad++;
		waitpid(pid, &status, 0);
	}
	is_int(bad, 0, "storm of children: fork() and kill() succeed");
	is_int(dev_stats(&d).threads, 1,
	       "storm of children: the program's thread is still registered");
	is_int(dev_page(&d, 0)->k_tid, gettid_(),
	       "storm of children: the page is still this thread's");
	dev_close(&d);
}

/* Sessions come and go while the observed threads continue. */
static void test_session_storm(void)
{
	unsigned failed = 0;
	pid_t busy, makers[4];

	busy = fork();
	if (!busy) {
		pthread_t t;
		struct dev none = { .fd = -1 };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 8; i++)
			pthread_create(&t, NULL, busy_thread, &none);
		for (;;)
			msleep(1);
	}
	for (int m = 0; m < 4; m++) {
		makers[m] = fork();
		if (makers[m])
			continue;
		for (unsigned i = 0; i < 25 * scale; i++) {
			struct ldb_create c = dev_default();
			struct dev d;
			int rc;

			c.ring_order = 8;
			c.pid = i % 2 ? busy : 0;
			c.events = i % 8;
			rc = dev_open(&d, &c);
			if (rc == -EEXIST)
				continue;
			if (rc || dev_map(&d))
				_exit(1);
			if (!c.pid && (dev_ioctl(d.fd, LDB_IOC_JOIN, NULL) || dev_reg(&d, gettid_(), i % 64, 0)))
				_exit(2);
			usleep(i * 37 % 3000);
			dev_close(&d);
		}
		_exit(0);
	}
	for (int m = 0; m < 4; m++) {
		int status;

		waitpid(makers[m], &status, 0);
		if (status) {
			diag("maker: status %x", status);
			failed++;
		}
	}
	kill(busy, SIGKILL);
	wait_for(busy);
	is_int(failed, 0, "sessions come and go while events flow");
}

static bool set_online(unsigned cpu, bool online)
{
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	rc = write(fd, online ? "1" : "0", 1);
	close(fd);
	return rc == 1;
}

static void test_hotplug(void)
{
	struct dev d;
	pid_t pid;
	bool all = true;

	if (nr_cpus() < 2 || !set_online(1, true)) {
		skip(2, "no CPU can be taken away");
		return;
	}
	if (dev_open(&d, NULL) || dev_map(&d))
		bail_out("no session");
	pid = program(&d, be_busy);
	msleep(20);
	for (unsigned i = 0; i < 5 * scale; i++) {
		all &= set_online(1, false);
		msleep(10);
		all &= set_online(1, true);
		msleep(10);
	}
	ok(all, "a CPU is taken offline and online again");
	is_int(dev_stats(&d).dead, 0, "the session continues");
	kill(pid, SIGKILL);
	wait_for(pid);
	dev_close(&d);
}

static int unload_soon(void)
{
	int rc = -EAGAIN;

	for (int i = 0; i < 500 && rc == -EAGAIN; i++) {
		rc = dev_unload();
		if (rc)
			msleep(10);
	}
	return rc;
}

static void test_unload(void)
{
	unsigned nr = 5 * scale, bad = 0;
	struct dev d;
	char *part;

	dev_self(&d, NULL);
	is_int(dev_unload(), -EAGAIN, "the module does not unload with a session");
	part = mmap(NULL, 4096, PROT_READ, MAP_SHARED, d.fd, 0);
	dev_close(&d);
	is_int(dev_unload(), -EAGAIN, "the module does not unload with a mapping");
	ok(part != MAP_FAILED && *(volatile unsigned *)part == LDB_INFO_MAGIC,
	   "the mapping that is left can be read");
	munmap(part, 4096);
	is_int(unload_soon(), 0, "the module unloads without session and mapping");
	for (unsigned i = 0; i < nr; i++) {
		struct ldb_create c = dev_default();

		dev_load(i % 2 ? "disarm_delay_ms=0 force_tsc=1" : "disarm_delay_ms=60000");
		c.events = i % 8;
		dev_self(&d, &c);
		bad += dev_reg(&d, gettid_(), 0, 0) != 0;
		msleep(1);
		dev_close(&d);
		bad += unload_soon() != 0;
	}
	is_int(bad, 0, "loaded and unloaded again and again");
}

int main(int argc, char **argv)
{
	self = "/proc/self/exe";
	if (argc > 1 && !strcmp(argv[1], "nap")) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			msleep(1);
	}
	if (argc > 1 && !strcmp(argv[1], "exit"))
		return 0;
	if (argc > 1)
		scale = atoi(argv[1]);
	else if (getenv("LDB_LIFE_SCALE"))
		scale = atoi(getenv("LDB_LIFE_SCALE"));
	/*
	 * The probes are not removed: QEMU (7.2, several threads) sometimes executes a breakpoint
	 * that a kernel has inserted for patching and removed again, and more patching makes this
	 * more frequent.  test_unload() inserts and removes probes.
	 */
	dev_load("disarm_delay_ms=60000 force_tsc=1");
	test_exec("exec ends the session", sleep_and_exec);
	test_exec("so does that of another thread", exec_in_thread);
	test_exec_named();
	test_relatives();
	test_kill();
	test_thread_storm();
	test_fork_storm();
	test_session_storm();
	test_hotplug();
	test_unload();
	return done();
}
