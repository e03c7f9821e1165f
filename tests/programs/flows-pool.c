// SPDX-License-Identifier: GPL-2.0-or-later
/* A library with a slow allocator: see flows-findings.cc. */
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#define SIZE	65536

void *pool_get(size_t size);
void pool_put(void *block);
void pool_return_at_once(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *blocks[256];
static int nr_blocks, is_returned;

void pool_return_at_once(void)
{
	is_returned = 1;
}

/* Spends much time while it holds the lock, as in a search for the best of many blocks. */
static void search(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

void *pool_get(size_t size)
{
	char *block = NULL;

	pthread_mutex_lock(&lock);
	if (!is_returned)
		search();
	if (nr_blocks)
		block = blocks[--nr_blocks];
	pthread_mutex_unlock(&lock);
	if (!block)
		block = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return size <= SIZE && block != MAP_FAILED ? block : NULL;
}

void pool_put(void *block)
{
	if (is_returned)
		madvise(block, SIZE, MADV_DONTNEED);
	pthread_mutex_lock(&lock);
	if (nr_blocks < 256)
		blocks[nr_blocks++] = block;
	pthread_mutex_unlock(&lock);
}
