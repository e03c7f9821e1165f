// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has planted causes for the corpus: requests are in a queue, and WHY_THREADS
 * workers take them out.  See ../programs/why-load.h.
 *
 *	scans	all workers are busy with requests "scan" when a "get" is put in
 *	burst	so many requests are put in at once that the last one waits PLANT_US for the others
 *	gc	a worker does collect() for PLANT_US before it takes the next request
 *	nap	a worker sleeps in throttle() for PLANT_US before it takes the next request
 *	slow	a request that was taken out at once takes long in lookup()
 *
 * Other requests come one by one, each when the one before is done.  With "clean" the scans are put
 * in while there is no get, and the workers do nothing between requests.
 */
#include "../programs/why-load.h"

#define ROOM	1024
#define WORK_US	100
#define SCAN_ID	50000

struct item {
	long id;
	bool is_scan, is_slow;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct item items[ROOM];
	unsigned head, tail;
} inbox = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER };

static sem_t served, cleaned;
static volatile bool must_collect, must_throttle;

NAMED void scan_table(void)
{
	burn(PLANT_US);
}

NAMED void lookup(bool is_slow)
{
	burn(is_slow ? PLANT_US : WORK_US - 2 * part_us);
}

NAMED void serve(const struct item *item)
{
	parse();
	if (item->is_scan)
		scan_table();
	else
		lookup(item->is_slow);
	reply();
}

/* If collect() were equal to scan_table(), GCC would merge them, so it takes 1 us more. */
NAMED void collect(void)
{
	burn(PLANT_US + 1);
}

NAMED void throttle(void)
{
	pause_us(PLANT_US);
}

static void put(const struct item *items, int nr)
{
	for (int i = 0; i < nr; i++) {
		ldb_req_start(items[i].id, NULL);
		ldb_req_class(items[i].id, items[i].is_scan ? "scan" : "get");
		ldb_req_block(items[i].id, &inbox);
	}
	pthread_mutex_lock(&inbox.lock);
	for (int i = 0; i < nr; i++)
		inbox.items[inbox.head++ % ROOM] = items[i];
	pthread_cond_broadcast(&inbox.filled);
	pthread_mutex_unlock(&inbox.lock);
}

static void await(int nr)
{
	while (nr > 0)
		if (!sem_wait(&served))
			nr--;
}

static void unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

static struct item take(void)
{
	struct item item;

	pthread_mutex_lock(&inbox.lock);
	/* A thread that is cancelled while it waits holds the lock then. */
	pthread_cleanup_push(unlock, &inbox.lock);
	while (inbox.head == inbox.tail)
		pthread_cond_wait(&inbox.filled, &inbox.lock);
	item = inbox.items[inbox.tail++ % ROOM];
	pthread_cleanup_pop(true);
	ldb_req_start(item.id, &inbox);
	return item;
}

static void *worker(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	for (;;) {
		struct item item = take();
		bool collects = must_collect, throttles = must_throttle;

		serve(&item);
		ldb_req_end(item.id);
		sem_post(&served);
		if (collects || throttles) {
			if (collects)
				collect();
			else
				throttle();
			sem_post(&cleaned);
		}
	}
	return NULL;
}

static void start_workers(void)
{
	sem_init(&served, 0, 0);
	sem_init(&cleaned, 0, 0);
	for (int i = 0; i < nr_servers; i++)
		start_thread(worker);
	pause_us(5000);
}

static void one(long id, bool is_slow)
{
	struct item item = { id, false, is_slow };

	put(&item, 1);
	await(1);
}

static void run_scans(void)
{
	struct item items[MAX_SERVERS + 1];
	long scan = SCAN_ID;

	start_workers();
	for (long id = 1; id <= nr_requests; id++) {
		int nr = 0;

		if (is_due(id))
			for (; nr < nr_servers; nr++)
				items[nr] = (struct item){ scan++, true, false };
		if (nr && !planted) {
			put(items, nr);
			await(nr);
			nr = 0;
		}
		items[nr++] = (struct item){ id, false, false };
		put(items, nr);
		await(nr);
		if (nr > 1)
			hit(id);
	}
}

/* A request is affected if it is behind other requests for half a millisecond or more. */
static void run_burst(void)
{
	struct item items[ROOM];
	int most = (int)(PLANT_US / WORK_US) * nr_servers;

	if (most >= ROOM)
		most = ROOM - 1;
	start_workers();
	for (long id = 1; id <= nr_requests;) {
		int nr = planted && id / due_every % 20 == 10 && is_due(id) ? most : 1;

		for (int i = 0; i < nr; i++) {
			if (i * WORK_US / nr_servers >= 500)
				hit(id);
			items[i] = (struct item){ id++, false, false };
		}
		put(items, nr);
		await(nr);
	}
}

/* The worker that collects or sleeps must take the next request, so there must be one worker. */
static void run_between(volatile bool *must)
{
	start_workers();
	for (long id = 1; id <= nr_requests; id++) {
		bool due = planted && is_due(id);

		*must = due;
		one(id, false);
		*must = false;
		if (!due)
			continue;
		one(++id, false);
		hit(id);
		while (sem_wait(&cleaned))
			;
	}
}

static void run_gc(void)
{
	run_between(&must_collect);
}

static void run_nap(void)
{
	run_between(&must_throttle);
}

static void run_slow(void)
{
	start_workers();
	for (long id = 1; id <= nr_requests; id++) {
		bool due = planted && is_due(id);

		one(id, due);
		if (due)
			hit(id);
	}
}

static const struct cause causes[] = {
	{ "scans", run_scans }, { "burst", run_burst }, { "gc", run_gc },
	{ "nap", run_nap }, { "slow", run_slow },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return why_main(argc, argv, causes);
}
