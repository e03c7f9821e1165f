// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Has pools of threads with the same probes as folly's ThreadPoolExecutor, and with other probes
 * that have semaphores.  Each task spins for some time.  Prints for each task the times that the
 * program itself has measured, before and after each probe, in ns of CLOCK_MONOTONIC:
 *
 *	ID POOL PRODUCER WORKER PUT PUT TAKEN TAKEN DONE DONE
 *
 * and then "semaphores PUT TAKE".
 *
 *	usdt-pool TASKS [SPIN-US [LONG-US]]	every tenth task spins for LONG-US
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "usdt.h"

#define NR_POOLS	2
#define TASKS_MAX	100000

struct task {
	uint64_t id, put[2], taken[2], done[2];		/* times before the probe and after it */
	int pool, producer, worker;
};

static struct pool {
	const char *name;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct task *tasks[TASKS_MAX];
	unsigned nr_put, nr_taken;
	int is_closed;
} pools[NR_POOLS] = {
	{ "CPUPool", PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0, 0 },
	{ "IOPool", PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0, 0 },
};

static struct task tasks[TASKS_MAX];
static pthread_barrier_t are_ready;
static uint64_t spin_ns = 200000, long_ns = 2000000;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

__attribute__((noipa)) void spin(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

USDT_SEMAPHORE(mine_put_semaphore);
USDT_SEMAPHORE(mine_take_semaphore);

/*
 * Each place where this function is inlined has the probe.  The probe with a semaphore has a signed
 * int as argument.
 */
static inline __attribute__((always_inline)) void put(struct pool *p, struct task *t)
{
	uint64_t request = 0;

	t->producer = gettid();
	t->put[0] = now_ns();
	if (mine_put_semaphore)
		USDT_NOTE("mine", "put", "mine_put_semaphore", "-4@%0", USDT_ARG(-(int)t->id));
	USDT_NOTE("folly", "thread_pool_executor_task_enqueued", "0", USDT_4,
		  USDT_ARG(p->name), USDT_ARG(request), USDT_ARG(t->put[0]), USDT_ARG(t->id));
	t->put[1] = now_ns();
	pthread_mutex_lock(&p->lock);
	p->tasks[p->nr_put++] = t;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

__attribute__((noipa)) void enqueue(struct pool *p, struct task *t)
{
	put(p, t);
}

__attribute__((noipa)) void enqueue_third(struct pool *p, struct task *t)
{
	put(p, t);
}

__attribute__((noipa)) struct task *dequeue(struct pool *p)
{
	struct task *t = NULL;

	pthread_mutex_lock(&p->lock);
	while (p->nr_taken == p->nr_put && !p->is_closed)
		pthread_cond_wait(&p->more, &p->lock);
	if (p->nr_taken < p->nr_put)
		t = p->tasks[p->nr_taken++];
	pthread_mutex_unlock(&p->lock);
	return t;
}

__attribute__((noipa)) void run(struct pool *p, struct task *t)
{
	uint64_t request = 0, wait;

	t->worker = gettid();
	t->taken[0] = now_ns();
	wait = t->taken[0] - t->put[0];
	if (mine_take_semaphore)
		USDT_NOTE("mine", "take", "mine_take_semaphore", "-4@%0", USDT_ARG(-(int)t->id));
	USDT_NOTE("folly", "thread_pool_executor_task_dequeued", "0", USDT_5,
		  USDT_ARG(p->name), USDT_ARG(request), USDT_ARG(t->put[0]), USDT_ARG(wait), USDT_ARG(t->id));
	t->taken[1] = now_ns();
	spin(t->id % 10 ? spin_ns : long_ns);
	t->done[0] = now_ns();
	USDT_NOTE("folly", "thread_pool_executor_task_stats", "0", USDT_6,
		  USDT_ARG(p->name), USDT_ARG(request), USDT_ARG(t->put[0]), USDT_ARG(wait),
		  USDT_ARG(t->done[0] - t->taken[0]), USDT_ARG(t->id));
	t->done[1] = now_ns();
}

/* Each worker has run for 2 ms before the first task comes. */
static void *work(void *arg)
{
	struct pool *p = arg;
	struct task *t;

	spin(2000000);
	pthread_barrier_wait(&are_ready);
	while ((t = dequeue(p)))
		run(p, t);
	return NULL;
}

static void print_task(const struct task *t)
{
	printf("%lu %s %d %d", (unsigned long)t->id, pools[t->pool].name, t->producer, t->worker);
	printf(" %lu %lu %lu", (unsigned long)t->put[0], (unsigned long)t->put[1], (unsigned long)t->taken[0]);
	printf(" %lu %lu %lu\n", (unsigned long)t->taken[1], (unsigned long)t->done[0], (unsigned long)t->done[1]);
}

int main(int argc, char **argv)
{
	unsigned nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	pthread_t threads[NR_POOLS];

	if (argc > 2)
		spin_ns = 1000 * strtoul(argv[2], NULL, 10);
	if (argc > 3)
		long_ns = 1000 * strtoul(argv[3], NULL, 10);
	if (nr > TASKS_MAX)
		return 2;
	pthread_barrier_init(&are_ready, NULL, NR_POOLS + 1);
	for (int i = 0; i < NR_POOLS; i++)
		pthread_create(&threads[i], NULL, work, &pools[i]);
	pthread_barrier_wait(&are_ready);
	usleep(5000);
	for (unsigned i = 0; i < nr; i++) {
		tasks[i].id = 1000 + i;
		tasks[i].pool = i % NR_POOLS;
		(i % 3 ? enqueue : enqueue_third)(&pools[tasks[i].pool], &tasks[i]);
		usleep((i % 10 == 1 ? 3 * long_ns / 2 : 0) / 1000);
	}
	for (int i = 0; i < NR_POOLS; i++) {
		pthread_mutex_lock(&pools[i].lock);
		pools[i].is_closed = 1;
		pthread_cond_signal(&pools[i].more);
		pthread_mutex_unlock(&pools[i].lock);
		pthread_join(threads[i], NULL);
	}
	for (unsigned i = 0; i < nr; i++)
		print_task(&tasks[i]);
	printf("semaphores %u %u\n", mine_put_semaphore, mine_take_semaphore);
	return 0;
}
