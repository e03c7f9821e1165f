// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The planted causes of this program are other requests, "scan", which take PLANT_US and are
 * processed first.  See why-load.h.
 *
 *	queue	a thread puts requests into a queue, another takes them out; sometimes a scan and
 *		then a get are put in together
 *	batch	a thread starts eight requests at once, like a server that has read them from one
 *		socket, and works on one after the other; sometimes the sixth is a scan
 *
 * With "clean" the scans are alone: in the queue, or in a batch of their own.
 */
#include "why-load.h"

#define BATCH		8
#define BATCH_DUE	18	/* one batch in this many has a scan */
#define BATCH_SCAN	5

struct item {
	long id;
	bool is_scan;
};

NAMED void scan_table(void)
{
	burn(PLANT_US);
}

NAMED void lookup(void)
{
	burn(40);
}

NAMED void serve(const struct item *item)
{
	parse();
	if (item->is_scan)
		scan_table();
	else
		lookup();
	reply();
}

/* queue */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct item items[16];
	unsigned head, tail;
} inbox = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER };

static sem_t served;

static void put(const struct item *items, int nr)
{
	for (int i = 0; i < nr; i++) {
		ldb_req_start(items[i].id, NULL);
		ldb_req_class(items[i].id, items[i].is_scan ? "scan" : "get");
		ldb_req_block(items[i].id, &inbox);
	}
	pthread_mutex_lock(&inbox.lock);
	for (int i = 0; i < nr; i++)
		inbox.items[inbox.head++ % 16] = items[i];
	pthread_mutex_unlock(&inbox.lock);
	pthread_cond_signal(&inbox.filled);
	while (nr > 0)
		if (!sem_wait(&served))
			nr--;
}

static struct item take(void)
{
	struct item item;

	pthread_mutex_lock(&inbox.lock);
	while (inbox.head == inbox.tail)
		pthread_cond_wait(&inbox.filled, &inbox.lock);
	item = inbox.items[inbox.tail++ % 16];
	pthread_mutex_unlock(&inbox.lock);
	ldb_req_start(item.id, &inbox);
	return item;
}

static void *server(void *arg)
{
	prctl(PR_SET_NAME, "server");
	for (;;) {
		struct item item = take();

		serve(&item);
		ldb_req_end(item.id);
		sem_post(&served);
	}
	return NULL;
}

static void run_queue(void)
{
	sem_init(&served, 0, 0);
	start_thread(server);
	for (long id = 1; id <= nr_requests; id++) {
		struct item pair[2] = { { id, is_due(id) }, { id + 1, false } };

		if (is_due(id) && planted) {
			put(pair, 2);
			hit(++id);
		} else {
			put(pair, 1);
		}
	}
}

/* batch */

NAMED void work_on(const struct item *items, int nr)
{
	for (int i = 0; i < nr; i++) {
		ldb_req_start(items[i].id, NULL);
		ldb_req_class(items[i].id, items[i].is_scan ? "scan" : "get");
	}
	for (int i = 0; i < nr; i++) {
		serve(&items[i]);
		ldb_req_end(items[i].id);
	}
	pause_us(20);
}

static void run_batch(void)
{
	struct item items[BATCH], scan = { 0, true };
	long id = 1;

	for (int batch = 0; id + BATCH < nr_requests; batch++) {
		bool due = batch % BATCH_DUE == BATCH_DUE / 2;

		for (int i = 0; i < BATCH; i++)
			items[i] = (struct item){ id++, due && planted && i == BATCH_SCAN };
		work_on(items, BATCH);
		if (due && planted) {
			for (int i = BATCH_SCAN + 1; i < BATCH; i++)
				hit(items[i].id);
		} else if (due) {
			scan.id = id++;
			work_on(&scan, 1);
		}
	}
}

static const struct cause causes[] = {
	{ "queue", run_queue },
	{ "batch", run_batch },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return why_main(argc, argv, causes);
}
