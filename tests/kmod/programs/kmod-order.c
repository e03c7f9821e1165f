// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that there is one clock: stamps of the program and of the kernel, taken in turn, never
 * decrease on one CPU, and decrease from one CPU to another by no more than ldb_clock_sample.err.
 *
 *	kmod-order [ROUNDS]	default 20000; three stamps each, the second by the kernel
 */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/futex.h>
#include "dev.h"
#include "tap.h"

static unsigned long rounds = 20000;
static struct dev d;

/* Causes a kernel event and returns its stamp; 0: the event is not the last one in the ring. */
static uint64_t kernel_stamp(unsigned cpu, unsigned *word, uint64_t *expected)
{
	const struct ldb_ring_hdr *ring = dev_ring(&d, cpu);
	const struct ldb_rec *slots = (const void *)((const char *)ring + LDB_RING_HDR_SIZE);
	uint64_t head;

	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
	/* Only futex events are recorded, and only this thread runs here. */
	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	if (head == *expected || slots[(head - 1) & ((1ULL << d.c.ring_order) - 1)].arg != (uintptr_t)word)
		return 0;
	*expected = head;
	return slots[(head - 1) & ((1ULL << d.c.ring_order) - 1)].tsc;
}

static void test_one_cpu(void)
{
	static unsigned word;
	unsigned long back = 0, none = 0;
	uint64_t last = 0, head = 0;

	pin(0);
	for (unsigned long i = 0; i < rounds; i++) {
		uint64_t before = dev_now(&d), kernel = kernel_stamp(0, &word, &head);
		uint64_t after = dev_now(&d);

		none += !kernel;
		back += before < last || kernel < before || after < kernel;
		last = after;
	}
	is_int(none, 0, "each event is there");
	is_int(back, 0, "no stamp goes back on one CPU");
	diag("%lu stamps", rounds * 3);
}

/* Two threads on two CPUs take turns: each compares its stamps with the last one of the other. */
static uint64_t passed __attribute__((aligned(64)));
static unsigned long turn __attribute__((aligned(64)));
static uint64_t worst, none_there;

static void take_turns(unsigned me, uint64_t *worst_back, uint64_t *none)
{
	static unsigned words[2][16];
	uint64_t head = 0;

	pin(me);
	for (unsigned long i = me; i < rounds; i += 2) {
		uint64_t stamp[3], last;

		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != i)
			;
		last = passed;
		stamp[0] = dev_now(&d);
		stamp[1] = kernel_stamp(me, words[me], &head);
		stamp[2] = dev_now(&d);
		*none += !stamp[1];
		for (int n = 0; n < 3; n++) {
			if (stamp[n] < last && last - stamp[n] > *worst_back)
				*worst_back = last - stamp[n];
			last = stamp[n];
		}
		passed = last;
		__atomic_store_n(&turn, i + 1, __ATOMIC_RELEASE);
	}
}

static void *other_cpu(void *arg)
{
	take_turns(1, &worst, &none_there);
	return NULL;
}

static void test_two_cpus(void)
{
	uint64_t mine = 0, none = 0, bound = 0;
	struct ldb_clock_sample s;
	pthread_t t;

	if (nr_cpus() < 2) {
		skip(2, "one CPU");
		return;
	}
	passed = turn = worst = none_there = 0;
	if (!dev_ioctl(d.fd, LDB_IOC_CLOCK, &s))
		bound = s.err;
	pthread_create(&t, NULL, other_cpu, NULL);
	take_turns(0, &mine, &none);
	pthread_join(t, NULL);
	if (mine > worst)
		worst = mine;
	is_int(none + none_there, 0, "each event is there");
	ok(worst <= bound, "none goes back from one CPU to another by more than the bound (%llu, %llu)",
	   (unsigned long long)worst, (unsigned long long)bound);
}

static void test_clock(unsigned clock, const char *name)
{
	struct ldb_create c = dev_default();
	int rc;

	c.events = LDB_GROUP_FUTEX;
	c.clock_id = clock;
	rc = dev_open(&d, &c);
	if (rc == -EINVAL) {
		skip(4, "no such clock here");
		return;
	}
	dev_close(&d);
	diag("clock: %s", name);
	dev_self(&d, &c);
	test_one_cpu();
	test_two_cpus();
	dev_close(&d);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 0);
	else if (getenv("LDB_ORDER_ROUNDS"))
		rounds = strtoul(getenv("LDB_ORDER_ROUNDS"), NULL, 0);
	/* QEMU's TSC is the same on all its CPUs, although no kernel relies on that. */
	dev_load("disarm_delay_ms=60000 force_tsc=1");
	test_clock(LDB_CLOCK_TSC, "TSC");
	test_clock(LDB_CLOCK_MONO, "CLOCK_MONOTONIC");
	return done();
}
