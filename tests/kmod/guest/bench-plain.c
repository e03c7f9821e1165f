// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures what a switch costs with a recorder and without: two threads play ping-pong, and the
 * time stamp counter, which counts instructions in a guest that runs under -icount, measures their
 * round trips.  It also measures page faults, and a loop in which only interrupts occur.
 *
 *	bench-plain WATCH KIND ROUNDS
 *
 * WATCH: none, or the session of the module that it opens for itself: sched (switches, wake-ups,
 * migrations) or all (all groups but LDB_GROUP_CALL_ALL; the two threads have a page and an
 * innermost frame, as with the runtime).  KIND: pipe, futex, fault or irq.  It prints "KIND WATCH
 * ROUNDS INSTRUCTIONS EVENTS".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/ldb.h>
#include <ldb/abi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

struct side {
	int nr;
	_Atomic pid_t tid;
	struct ldb_thread block;
	struct ldb_frame frame;
	int in, out;
	_Atomic unsigned *mine, *other;
};

static int rounds;
static unsigned ring_order = 8;
static bool use_pipe;
static _Atomic int go;
/*
 * This has the layout of a glibc mutex: the futex word and, 8 bytes after it, the owner.  Each has
 * a cache line.
 */
static struct {
	_Alignas(64) _Atomic unsigned word;
	unsigned count, owner;
} lock[2];
static char *area;
static const struct ldb_info *info;
static uint64_t begin_tsc, end_tsc, begin_head, end_head;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct ldb_ring_hdr *ring(void)
{
	return (struct ldb_ring_hdr *)(area + info->rings_off);
}

static void turn_futex(struct side *me)
{
	while (!atomic_load(me->mine))
		syscall(SYS_futex, me->mine, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	atomic_store(me->mine, 0);
	atomic_store(me->other, 1);
	syscall(SYS_futex, me->other, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void turn_pipe(struct side *me)
{
	char c;

	if (read(me->in, &c, 1) != 1 || write(me->out, &c, 1) != 1)
		fail("bench: pipe");
}

static void turns(struct side *me, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (use_pipe)
			turn_pipe(me);
		else
			turn_futex(me);
	}
}

static void *play(void *arg)
{
	struct side *me = arg;

	/* The frame record that an instrumented function would have on its stack. */
	me->block.gen = (5ULL << LDB_GEN_SHIFT) | LDB_CANARY;
	me->frame.gen = me->block.gen;
	me->frame.pc = play;
	me->block.top = &me->frame;
	me->tid = gettid();
	while (!go)
		usleep(1000);
	turns(me, rounds / 10);
	if (me->nr == 0) {
		begin_head = area ? ring()->head : 0;
		begin_tsc = __rdtsc();
	}
	turns(me, rounds);
	if (me->nr == 0) {
		end_tsc = __rdtsc();
		end_head = area ? ring()->head : 0;
	}
	return NULL;
}

static void begin_counting(void)
{
	begin_head = area ? ring()->head : 0;
	begin_tsc = __rdtsc();
}

static void end_counting(void)
{
	end_tsc = __rdtsc();
	end_head = area ? ring()->head : 0;
}

/* Each round touches a page that is not mapped. */
static void touch_pages(void)
{
	size_t size = rounds * 4096UL;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("bench: mmap");
	madvise(p, size, MADV_NOHUGEPAGE);
	for (int warm = 1; warm >= 0; warm--) {
		begin_counting();
		for (int i = 0; i < rounds; i++)
			*(volatile char *)(p + i * 4096UL) = 1;
		end_counting();
		madvise(p, size, MADV_DONTNEED);
	}
}

/* Each round is 50,000 turns of an empty loop. */
static void spin(void)
{
	begin_counting();
	for (long i = 0; i < rounds * 50000L; i++)
		__asm__ volatile("" ::: "memory");
	end_counting();
}

static int open_session(unsigned events)
{
	struct ldb_create create = {
		.size = sizeof(create), .events = events, .ring_order = ring_order, .scan_ring_order = 8,
		.max_threads = 16,
	};
	int fd = open(LDB_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, LDB_IOC_CREATE, &create))
		fail(LDB_DEVICE);
	area = mmap(NULL, create.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (area == MAP_FAILED)
		fail("bench: mmap");
	info = (const struct ldb_info *)area;
	if (ioctl(fd, LDB_IOC_JOIN))
		fail("bench: LDB_IOC_JOIN");
	return fd;
}

static void register_side(int fd, struct side *s)
{
	struct ldb_reg reg = { .tid = s->tid, .slot = s->nr, .tls = (uintptr_t)&s->block };

	if (ioctl(fd, LDB_IOC_REG, &reg))
		fail("bench: LDB_IOC_REG");
}

static unsigned long count_events(void)
{
	const struct ldb_rec *slots;
	unsigned long nr = 0;
	uint64_t i, mask;

	if (!area)
		return 0;
	slots = (void *)((char *)ring() + LDB_RING_HDR_SIZE);
	mask = (1ULL << info->ring_order) - 1;
	if (end_head - begin_head > mask) {
		fprintf(stderr, "bench: too many rounds for the ring\n");
		exit(1);
	}
	for (i = begin_head; i < end_head; i++)
		nr += (slots[i & mask].type & 0xf00) == 0x400;
	return nr;
}

int main(int argc, char **argv)
{
	struct side side[2] = { { .nr = 0 }, { .nr = 1 } };
	pthread_t thread[2];
	int ab[2], ba[2], fd = -1, i;

	if (argc != 4 || (rounds = atoi(argv[3])) < 10) {
		fprintf(stderr, "bench-plain none|sched|all pipe|futex|fault|irq ROUNDS\n");
		return 2;
	}
	/* A round trip takes some 16 slots. */
	while (ring_order < 20 && (1U << ring_order) < rounds * 24U)
		ring_order++;
	use_pipe = !strcmp(argv[2], "pipe");
	if (pipe(ab) || pipe(ba))
		fail("pipe");
	side[0].in = ba[0];
	side[0].out = ab[1];
	side[1].in = ab[0];
	side[1].out = ba[1];
	for (i = 0; i < 2; i++) {
		side[i].mine = &lock[i].word;
		side[i].other = &lock[!i].word;
	}
	atomic_store(&lock[0].word, 1);
	if (write(ba[1], "x", 1) != 1)
		fail("write");

	if (strcmp(argv[1], "none"))
		fd = open_session(strcmp(argv[1], "all") ? LDB_GROUP_SCHED :
				  LDB_GROUP_ALL & ~LDB_GROUP_CALL_ALL);
	if (!strcmp(argv[2], "fault") || !strcmp(argv[2], "irq")) {
		if (*argv[2] == 'f')
			touch_pages();
		else
			spin();
		goto print;
	}
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, play, &side[i]))
			return 1;
	for (i = 0; i < 2; i++) {
		while (!side[i].tid)
			usleep(1000);
		if (!strcmp(argv[1], "all"))
			register_side(fd, &side[i]);
	}
	go = 1;
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
print:
	printf("%s %s %d %" PRIu64 " %lu\n", argv[2], argv[1], rounds, end_tsc - begin_tsc, count_events());
	return 0;
}
