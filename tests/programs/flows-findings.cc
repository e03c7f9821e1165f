// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has one of six performance problems that the calls between components show.  It is
 * not compiled for ldb.
 *
 *	flows-findings map		a std::map of strings: its time is in comparing them
 *	flows-findings blocks		a file is copied in blocks of 16 bytes
 *	flows-findings madvise		an allocator returns each block to the kernel at once
 *	flows-findings pipeline		four stages of two threads; the last has 100 times the work
 *	flows-findings lock		threads allocate from an allocator with one lock
 *	flows-findings dry		workers wait at a queue that its producer fills slowly
 *
 * The allocator is a library, flows-pool.c.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

extern "C" {
void *pool_get(size_t size);
void pool_put(void *block);
void pool_return_at_once(void);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void in_map(void)
{
	std::map<std::string, unsigned> words;
	char key[64];
	unsigned sum = 0;

	for (unsigned i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "a long prefix that all of the keys have, %u", i * 7919 % 20000);
		words[key] = i;
	}
	for (unsigned i = 0; i < 40000; i++) {
		snprintf(key, sizeof(key), "a long prefix that all of the keys have, %u", i % 20000);
		sum += words.find(key)->second;
	}
	printf("%zu words, %u\n", words.size(), sum);
}

#define BLOCK	16
#define BLOCKS	8192

static void in_blocks(void)
{
	char block[BLOCK];
	int from = open("/dev/zero", O_RDONLY), to = open("copy", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (from < 0 || to < 0)
		die("open");
	for (int i = 0; i < BLOCKS; i++)
		if (read(from, block, BLOCK) != BLOCK || write(to, block, BLOCK) != BLOCK)
			die("copy");
	printf("%d blocks\n", BLOCKS);
}

static void by_madvise(void)
{
	pool_return_at_once();
	for (int i = 0; i < 4000; i++) {
		void *block = pool_get(65536);

		memset(block, i, 65536);
		pool_put(block);
	}
	puts("4000 blocks");
}

/* Computes without calling any function. */
static void work(unsigned rounds)
{
	volatile unsigned x = 1;

	for (unsigned i = 0; i < rounds * 20000; i++)
		x = x * 1103515245 + 12345;
}

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int nr, nr_putters;
};

static struct queue queues[4] = {
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 }, { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 },
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 }, { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 },
};

static void put(struct queue *q, int nr, int nr_putters)
{
	pthread_mutex_lock(&q->lock);
	q->nr += nr;
	q->nr_putters += nr_putters;
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->lock);
}

/* Returns false if no further item will come. */
static bool take(struct queue *q)
{
	bool is_taken;

	pthread_mutex_lock(&q->lock);
	while (!q->nr && q->nr_putters)
		pthread_cond_wait(&q->more, &q->lock);
	is_taken = q->nr;
	q->nr -= is_taken;
	pthread_mutex_unlock(&q->lock);
	return is_taken;
}

struct stage {
	const char *name;
	int number;
	unsigned rounds;
};

static const struct stage stages[4] = {
	{ "seg", 0, 1 }, { "extract", 1, 1 }, { "vec", 2, 1 }, { "rank", 3, 100 },
};

static void *run_stage(void *arg)
{
	const struct stage *s = (const struct stage *)arg;

	pthread_setname_np(pthread_self(), s->name);
	while (take(&queues[s->number])) {
		work(s->rounds);
		if (s->number < 3)
			put(&queues[s->number + 1], 1, 0);
	}
	if (s->number < 3)
		put(&queues[s->number + 1], 0, -1);
	return NULL;
}

#define THREADS	2	/* threads of each stage */

static void in_pipeline(void)
{
	pthread_t threads[4][THREADS];

	for (int s = 0; s < 4; s++)
		queues[s].nr_putters = s ? THREADS : 1;
	for (int s = 0; s < 4; s++)
		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&threads[s][i], NULL, run_stage, (void *)&stages[s]))
				die("pthread_create");
	put(&queues[0], 60, -1);
	for (int s = 0; s < 4; s++)
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[s][i], NULL);
	puts("60 items");
}

static void *allocate(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "allocates");
	for (int i = 0; i < 300; i++)
		pool_put(pool_get(1000));
	return NULL;
}

static void by_lock(void)
{
	pthread_t threads[4];

	for (pthread_t &t : threads)
		if (pthread_create(&t, NULL, allocate, NULL))
			die("pthread_create");
	for (pthread_t &t : threads)
		pthread_join(t, NULL);
	puts("1200 blocks");
}

static void *consume(void *arg)
{
	pthread_setname_np(pthread_self(), "consumes");
	while (take(&queues[0]))
		work(1);
	return arg;
}

static void run_dry(void)
{
	pthread_t threads[3];

	queues[0].nr_putters = 1;
	for (pthread_t &t : threads)
		if (pthread_create(&t, NULL, consume, NULL))
			die("pthread_create");
	for (int i = 0; i < 50; i++) {
		usleep(20000);
		put(&queues[0], 1, 0);
	}
	put(&queues[0], 0, -1);
	for (pthread_t &t : threads)
		pthread_join(t, NULL);
	puts("50 items");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{ "map", in_map }, { "blocks", in_blocks }, { "madvise", by_madvise },
		{ "pipeline", in_pipeline }, { "lock", by_lock }, { "dry", run_dry },
	};

	for (auto &way : ways)
		if (argc == 2 && !strcmp(argv[1], way.name)) {
			way.run();
			return 0;
		}
	fputs("usage: flows-findings map|blocks|madvise|pipeline|lock|dry\n", stderr);
	return 2;
}
