// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile program: scribbles over all that it can write while events flow, calls
 * with nonsense, maps at random.  And two users, each of whom sees only what is
 * his own.
 *
 *	kmod-fuzz [SECONDS]	default 4
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include "dev.h"
#include "tap.h"

static unsigned seconds = 4;

static uint64_t random_state;

static uint64_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Values that are more likely to hurt. */
static uint64_t nasty(void)
{
	static const uint64_t values[] = {
		0, 1, 7, 8, 63, 64, 4095, 4096, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		0x7fffffffffff, 0x800000000000, 0x7ffffffff000, 0x00fffffffffff000, 0x0800000000000000,
		0x7fffffffffffffff, 0x8000000000000000, 0xffff888000000000, 0xffffffff81000000,
		0xfffffffffffffff0, 0xffffffffffffffff,
	};

	switch (rnd() % 3) {
	case 0: return rnd();
	case 1: return rnd() % 100;
	default: return values[rnd() % (sizeof(values) / sizeof(*values))];
	}
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static struct dev d;
static volatile bool stop;

/* Makes events: switches, wake-ups, futexes, with a block that points anywhere. */
static void *event_maker(void *arg)
{
	static unsigned word;
	uint64_t block[4] = { 0, 0x4c44 };
	unsigned n = 0;

	while (!stop) {
		if (n++ % 16 == 0)
			dev_reg(&d, gettid_(), (uintptr_t)arg, n % 64 ? (uintptr_t)block : nasty());
		block[0] = n % 5 ? nasty() : (uintptr_t)block;
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
		syscall(SYS_futex, nasty(), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
		if (n % 3)
			usleep(n % 50);
		else
			sched_yield();
	}
	return NULL;
}

static void *scribbler(void *arg)
{
	uint64_t rings = d.info.rings_off, size = d.c.total_size;

	while (!stop) {
		uint64_t at = rnd() % 4 ? rings + rnd() % d.info.nr_cpus * d.info.ring_stride + rnd() % 4 * 8 :
				rnd() % (size - 8);

		if (rnd() % 3 == 0)
			at = d.info.pages_off + rnd() % 64 * 4096 + 256 + rnd() % 32 * 8;
		*(volatile uint64_t *)(d.base + (at & ~7ULL)) = nasty();
	}
	return NULL;
}

static void *caller(void *arg)
{
	static const unsigned long cmds[] = {
		LDB_IOC_ABI, LDB_IOC_CREATE, LDB_IOC_JOIN, LDB_IOC_REG, LDB_IOC_UNREG, LDB_IOC_CLOCK,
		LDB_IOC_STATS,
	};
	uint64_t words[16];

	while (!stop) {
		unsigned long cmd = rnd() % 4 ? cmds[rnd() % 7] : rnd();
		void *p;
		int fd = open(LDB_DEVICE, O_RDWR | O_CLOEXEC);

		for (int i = 0; i < 16; i++)
			words[i] = nasty();
		if (rnd() % 2) {
			struct ldb_create c = dev_default();

			/* Nearly right. */
			((uint32_t *)&c)[rnd() % (sizeof(c) / 4)] = nasty();
			c.max_threads %= 64;
			dev_ioctl(fd, LDB_IOC_CREATE, &c);
		}
		dev_ioctl(rnd() % 2 ? fd : d.fd, cmd, rnd() % 4 ? words : (void *)nasty());
		if (rnd() % 2) {
			struct ldb_reg r = { .tid = rnd() % 2 ? gettid_() : nasty(), .slot = nasty(), .tls = nasty() };

			dev_ioctl(d.fd, LDB_IOC_REG, &r);
		}
		p = mmap(NULL, nasty() % (1 << 24), rnd() % 8, rnd() % 4, rnd() % 2 ? fd : d.fd,
			 nasty() & ~4095ULL);
		if (p != MAP_FAILED)
			munmap(p, 4096);
		close(fd);
	}
	return NULL;
}

/* The program that does all of this at once, as a user without privileges. */
static void hostile(unsigned seed)
{
	pthread_t t[6];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	random_state = seed * 0x9e3779b97f4a7c15ULL | 1;
	if (setuid(65534))
		_exit(1);
	dev_self(&d, NULL);
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, event_maker, (void *)(i + 1));
	pthread_create(&t[3], NULL, scribbler, NULL);
	pthread_create(&t[4], NULL, caller, NULL);
	for (;;)
		pause();
}

static void test_hostile(void)
{
	uint64_t end = now_ms() + seconds * 1000;
	unsigned seed = 1, early = 0;

	while (now_ms() < end) {
		pid_t pid = fork();
		int status;

		if (!pid)
			hostile(seed);
		seed++;
		msleep(400);
		/* Nonsense must not end it: all it wrote to is its own. */
		early += waitpid(pid, &status, WNOHANG) == pid;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	is_int(early, 0, "a hostile program lives as long as it wants");
	diag("%u of them", seed - 1);
}

/* An honest session beside a hostile one has what it should have, and nothing else. */
static void *honest_thread(void *arg)
{
	struct dev *mine = arg;

	dev_reg(mine, gettid_(), 1, 0);
	while (!stop)
		usleep(500);
	return NULL;
}

struct report {
	unsigned events, foreign, names, unhidden, threads, holes;
};

/* What a user without privileges finds in a session of his own. */
static void honest(int out, uid_t uid)
{
	struct report r = {};
	struct events e;
	unsigned tids[2];
	struct dev mine;
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setuid(uid))
		_exit(1);
	dev_self(&mine, NULL);
	dev_reg(&mine, gettid_(), 0, 0);
	pthread_create(&t, NULL, honest_thread, &mine);
	msleep(700);
	stop = true;
	pthread_join(t, NULL);
	tids[0] = gettid_();
	e = dev_events(&mine);
	tids[1] = 0;
	for (size_t i = 0; i < e.nr; i++)
		if (e.v[i].rec.type == LDB_EV_FORK)
			tids[1] = e.v[i].rec.arg2;
	for (size_t i = 0; i < e.nr; i++) {
		const struct ldb_rec *x = &e.v[i].rec;
		bool two = x->type == LDB_EV_SWITCH || x->type == LDB_EV_SWITCH_OUT ||
			   x->type == LDB_EV_WAKING || x->type == LDB_EV_WAKEUP || x->type == LDB_EV_OCCUPANT;

		r.foreign += x->tid && x->tid != tids[0] && x->tid != tids[1];
		r.foreign += two && x->arg2 && x->arg2 != tids[0] && x->arg2 != tids[1];
		r.names += x->type == LDB_EV_TASK && x->tid != tids[0] && x->tid != tids[1];
		/* Watched is who says so, and nobody else. */
		r.unhidden += two && !(x->flags & LDB_SCHED_F_TID) && x->tid;
		r.threads |= (x->tid == tids[0]) | (x->tid == tids[1]) << 1;
	}
	r.events = e.nr;
	r.holes = e.holes;
	if (write(out, &r, sizeof(r)) != sizeof(r))
		_exit(1);
	_exit(0);
}

static void test_two_users(void)
{
	struct report r;
	pid_t pids[3];
	int p[2];

	if (pipe(p))
		bail_out("pipe");
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i])
			honest(p[1], 1000 + i);
	}
	pids[2] = fork();
	if (!pids[2])
		hostile(4711);
	for (int i = 0; i < 2; i++) {
		memset(&r, 0, sizeof(r));
		ok(read(p[0], &r, sizeof(r)) == sizeof(r) && r.events > 100, "user %d: %u events", i, r.events);
		is_int(r.threads, 3, "of both his threads");
		is_int(r.foreign, 0, "and of nobody else");
		is_int(r.names, 0, "no name of others");
		is_int(r.unhidden, 0, "no tid of others");
		is_int(r.holes, 0, "whole");
	}
	for (int i = 0; i < 3; i++) {
		kill(pids[i], i == 2 ? SIGKILL : 0);
		waitpid(pids[i], NULL, 0);
	}
	close(p[0]);
	close(p[1]);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seconds = atoi(argv[1]);
	else if (getenv("LDB_FUZZ_SECONDS"))
		seconds = atoi(getenv("LDB_FUZZ_SECONDS"));
	dev_load("disarm_delay_ms=60000 force_tsc=1");
	test_two_users();
	test_hostile();
	return done();
}
