// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributes blocks to several threads, in any order. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include "trace/crc32c.h"
#include "trace/cursor-private.h"

/* there is a limit because each thread needs memory for a block, and all share one disk */
#define THREADS_MAX	16

unsigned reader_nr_threads(void)
{
	cpu_set_t cpus;
	unsigned nr;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 1;
	nr = CPU_COUNT(&cpus);
	return nr < THREADS_MAX ? nr : THREADS_MAX;
}

struct job {
	pthread_t thread;
	bool is_started;
	int (*run)(struct job *j);
	int rc;
	/* reader_share() */
	struct cursor *cursor;
	int (*work)(void *arg, struct cursor *c);
	void *arg;
	/* reader_check() */
	struct reader *r;
	struct share *share;
};

static void *job_thread(void *arg)
{
	struct job *j = arg;

	j->rc = j->run(j);
	return NULL;
}

/*
 * Runs the first job in the calling thread, and each other job in a new thread.  If a thread cannot
 * be created, the others do its work.
 */
static int run_jobs(struct job *jobs, unsigned nr)
{
	int rc = 0;

	for (unsigned i = 1; i < nr; i++)
		jobs[i].is_started = !pthread_create(&jobs[i].thread, NULL, job_thread, &jobs[i]);
	if (nr)
		job_thread(&jobs[0]);
	for (unsigned i = 0; i < nr; i++) {
		if (jobs[i].is_started)
			pthread_join(jobs[i].thread, NULL);
		if (!rc)
			rc = jobs[i].rc;
	}
	return rc;
}

static int run_work(struct job *j)
{
	return j->work(j->arg, j->cursor);
}

int reader_share(struct reader *r, unsigned kind, const struct reader_filter *filter, unsigned nr,
		 int (*work)(void *arg, struct cursor *c), void *const *args)
{
	struct job *jobs = calloc(nr + 1, sizeof(*jobs));
	struct share share = { 0 };
	int rc = jobs ? 0 : -ENOMEM;

	for (unsigned i = 0; i < nr && !rc; i++) {
		jobs[i] = (struct job){
			.run = run_work, .work = work, .arg = args[i],
			.cursor = cursor_open(r, kind, filter, &share),
		};
		rc = jobs[i].cursor ? 0 : -ENOMEM;
	}
	if (!rc)
		rc = run_jobs(jobs, nr);
	for (unsigned i = 0; jobs && i < nr; i++)
		cursor_close(jobs[i].cursor);
	free(jobs);
	return rc;
}

/* Checking */

#ifndef CHECK_STEP		/* tests/fuzz sets a smaller number */
#define CHECK_STEP	(256U << 10)	/* fits into the CPU's caches */
#endif

static bool is_whole(const struct reader *r, const struct block *b, uint8_t *buf)
{
	struct ldb_block_header h, bare;
	uint64_t offset = b->i.offset + sizeof(h), left;
	uint32_t crc;

	if (!file_read(r, b->i.offset, &h, sizeof(h)) || !header_is_plausible(r, &h, b->i.offset))
		return false;
	bare = h;
	bare.crc = 0;
	crc = crc32c(0, &bare, sizeof(bare));
	for (left = h.bytes; left;) {
		size_t n = left < CHECK_STEP ? left : CHECK_STEP;

		if (!file_read(r, offset, buf, n))
			return false;
		crc = crc32c(crc, buf, n);
		offset += n;
		left -= n;
	}
	return crc == h.crc;
}

static int run_check(struct job *j)
{
	struct reader *r = j->r;
	uint8_t *buf = malloc(CHECK_STEP);
	size_t n;

	if (!buf)
		return -ENOMEM;
	while ((n = atomic_fetch_add(&j->share->next, 1)) < r->nr_blocks) {
		struct block *b = &r->blocks[n];

		if (b->bad || b->is_whole)
			continue;
		if (is_whole(r, b, buf))
			b->is_whole = true;
		else
			block_set_bad(r, b);
	}
	free(buf);
	return 0;
}

/*
 * Returns the number of threads: one if there are few bytes, because creating threads would take
 * longer than checking these.
 */
static unsigned nr_checkers(const struct reader *r)
{
	uint64_t bytes = 0;

	for (size_t n = 0; n < r->nr_blocks; n++)
		bytes += r->blocks[n].is_whole ? 0 : r->blocks[n].i.bytes;
	return bytes < 16 * CHECK_STEP ? 1 : reader_nr_threads();
}

int reader_check(struct reader *r)
{
	struct job jobs[THREADS_MAX];
	struct share share = { 0 };
	unsigned nr = nr_checkers(r);

	for (unsigned i = 0; i < nr; i++)
		jobs[i] = (struct job){ .run = run_check, .r = r, .share = &share };
	return run_jobs(jobs, nr);
}
