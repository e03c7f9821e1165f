// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The planted causes of this program make requests wait for a lock.  See why-load.h.
 *
 *	io		its holder is in I/O: flush() writes to the file FILE (default "why.tmp"); if
 *			FILE is a block device, flush() reads from it, without the cache
 *	preempted	its holder is preempted by a thread "hog" of real-time priority
 *	chain		its holder waits for another lock, whose holder is in compact()
 *	own		the lock is the program's own spin lock, whose holder is in compact()
 *	inversion	priority inversion: a requester of high priority, a holder of low
 *			priority and a "hog" between them, on one CPU
 *
 * With "clean" flush() is called without the lock, the hog is woken between two requests,
 * the holder does not wait with the lock, and the lock inherits priorities.  Preempted and
 * inversion are meant for one CPU, and need the privilege to set priorities.
 */
#include "why-load.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static pthread_mutex_t db_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int slot_lock;			/* 1: taken */
static sem_t go, holding, asked, go_log, log_held, go_hog;
static bool is_held;			/* db_lock is taken, and the requester knows this */
static bool is_inversion, has_hog, is_own;
static int disk = -1;
static bool is_device;

/*
 * The background thread does not preempt a request that woke it, but continues when the request
 * waits.  So a delay of the holder delays the request.  (If everything runs at idle priority, this
 * is so anyway.)
 */
static void stay_in_background(void)
{
	if (sched_getscheduler(0) != SCHED_IDLE &&
	    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 }))
		die("sched_setscheduler");
}

static inline bool try_slot(void)
{
	return !__atomic_exchange_n(&slot_lock, 1, __ATOMIC_ACQUIRE);
}

static inline void lock_slot(void)
{
	if (!try_slot()) {
		ldb_lock_wait(&slot_lock);
		while (!try_slot())
			sched_yield();
	}
	ldb_lock_acquired(&slot_lock);
}

static inline void unlock_slot(void)
{
	ldb_lock_released(&slot_lock);
	__atomic_store_n(&slot_lock, 0, __ATOMIC_RELEASE);
}

NAMED void lookup(void)
{
	if (is_held)
		sem_post(&asked);
	if (is_own)
		lock_slot();
	else
		pthread_mutex_lock(&db_lock);
	burn(20);
	if (is_own)
		unlock_slot();
	else
		pthread_mutex_unlock(&db_lock);
}

NAMED void serve(void)
{
	parse();
	lookup();
	reply();
}

static void requests(void)
{
	for (long id = 1; id <= nr_requests; id++) {
		is_held = is_due(id);
		if (is_held) {
			sem_post(&go);
			wait_sem(&holding);
			if (planted)
				hit(id);
		}
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve();
		ldb_req_end(id);
		/* The clean run of an inversion has another lock, and the same hog. */
		if (is_held && has_hog && !planted && !is_inversion)
			sem_post(&go_hog);
		pause_us(20);
	}
}

static void real_time(int priority)
{
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ priority }))
		die("sched_setscheduler");
}

/* io */

static void open_disk(void)
{
	const char *path = file_arg ? file_arg : "why.tmp";
	struct stat st;

	is_device = !stat(path, &st) && S_ISBLK(st.st_mode);
	disk = open(path, is_device ? O_RDONLY | O_DIRECT : O_RDWR | O_CREAT, 0600);
	if (disk < 0)
		die(path);
}

NAMED void flush(void)
{
	static char block[4096] __attribute__((aligned(4096)));
	static off_t at;
	double until;

	wait_sem(&asked);
	until = now_us() + PLANT_US;
	while (now_us() < until) {
		at = (at + sizeof(block)) % (1 << 20);
		if ((is_device ? pread(disk, block, sizeof(block), at) :
				 pwrite(disk, block, sizeof(block), at)) != sizeof(block))
			die("the disk");
		if (!is_device)
			fdatasync(disk);
	}
}

static void *flusher(void *arg)
{
	prctl(PR_SET_NAME, "flusher");
	stay_in_background();
	for (;;) {
		wait_sem(&go);
		pthread_mutex_lock(&db_lock);
		burn(20);
		if (!planted)
			pthread_mutex_unlock(&db_lock);
		sem_post(&holding);
		flush();
		if (planted)
			pthread_mutex_unlock(&db_lock);
	}
	return NULL;
}

static void run_io(void)
{
	open_disk();
	start_thread(flusher);
	requests();
	if (!file_arg)
		unlink("why.tmp");
}

/* preempted, inversion */

NAMED void crunch(void)
{
	burn(PLANT_US);
}

static void *hog(void *arg)
{
	prctl(PR_SET_NAME, "hog");
	real_time(20);
	for (;;) {
		wait_sem(&go_hog);
		crunch();
	}
	return NULL;
}

NAMED void reindex(void)
{
	wait_sem(&asked);
	burn(100);
	if (planted || is_inversion)
		sem_post(&go_hog);
	burn(100);
}

static void *indexer(void *arg)
{
	prctl(PR_SET_NAME, "indexer");
	if (is_inversion)
		real_time(10);
	else
		stay_in_background();
	for (;;) {
		wait_sem(&go);
		pthread_mutex_lock(&db_lock);
		sem_post(&holding);
		reindex();
		pthread_mutex_unlock(&db_lock);
	}
	return NULL;
}

static void run_preempted(void)
{
	has_hog = true;
	start_thread(hog);
	start_thread(indexer);
	requests();
}

static void run_inversion(void)
{
	pthread_mutexattr_t attr;

	if (!planted) {
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&db_lock, &attr);
	}
	is_inversion = has_hog = true;
	start_thread(hog);
	start_thread(indexer);
	real_time(30);
	requests();
}

/* chain */

NAMED void compact(void)
{
	wait_sem(&asked);
	burn(PLANT_US);
}

static void *compactor(void *arg)
{
	prctl(PR_SET_NAME, "compactor");
	stay_in_background();
	for (;;) {
		wait_sem(&go_log);
		pthread_mutex_lock(&log_lock);
		sem_post(&log_held);
		compact();
		pthread_mutex_unlock(&log_lock);
	}
	return NULL;
}

NAMED void commit(void)
{
	if (planted)
		pthread_mutex_lock(&db_lock);
	sem_post(&holding);
	pthread_mutex_lock(&log_lock);
	burn(20);
	pthread_mutex_unlock(&log_lock);
	if (planted)
		pthread_mutex_unlock(&db_lock);
}

static void *committer(void *arg)
{
	prctl(PR_SET_NAME, "committer");
	stay_in_background();
	for (;;) {
		wait_sem(&go);
		sem_post(&go_log);
		wait_sem(&log_held);
		commit();
	}
	return NULL;
}

static void run_chain(void)
{
	start_thread(compactor);
	start_thread(committer);
	requests();
}

/* own */

static void *slot_compactor(void *arg)
{
	prctl(PR_SET_NAME, "compactor");
	stay_in_background();
	for (;;) {
		wait_sem(&go);
		lock_slot();
		if (!planted)
			unlock_slot();
		sem_post(&holding);
		compact();
		if (planted)
			unlock_slot();
	}
	return arg;
}

static void run_own(void)
{
	is_own = true;
	start_thread(slot_compactor);
	requests();
}

static const struct cause causes[] = {
	{ "io", run_io },
	{ "preempted", run_preempted },
	{ "chain", run_chain },
	{ "inversion", run_inversion },
	{ "own", run_own },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	sem_init(&go, 0, 0);
	sem_init(&holding, 0, 0);
	sem_init(&asked, 0, 0);
	sem_init(&go_log, 0, 0);
	sem_init(&log_held, 0, 0);
	sem_init(&go_hog, 0, 0);
	return why_main(argc, argv, causes);
}
