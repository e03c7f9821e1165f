// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has planted causes for the corpus: requests need a lock, and a thread "keeper" holds
 * it for PLANT_US after each pause of KEEPER_US.  See ../programs/why-load.h.  The cause is a lock
 * and what the keeper does with it:
 *
 *	mutex-	a pthread_mutex_t, data_lock
 *	rwlock-	a pthread_rwlock_t, table_lock: the keeper writes, requests read
 *	reader-	the same lock: the keeper reads, requests write
 *	spin-	a pthread_spinlock_t, slot_lock
 *
 *	-compute	rebuild(), on the CPU
 *	-nap		backoff(), asleep
 *	-io		flush(), writes to a file and waits until it is on the disk
 *	-library	checksum(), in uninstrumented code
 *	-two		need_both() waits for side_lock, which "compactor" holds in compact()
 *	-three		as -two, and "compactor" waits for deep_lock, which "sweeper" holds in
 *			sweep()
 *	-request	store(), for a request of class "put" that the keeper serves
 *
 * A request measures how long it waited for the lock: it is affected if that is at least half of
 * PLANT_US or, if PLANT_US is greater than 1000, at least 500 us.  With "clean" the keeper holds the
 * lock for only 5 us.  WHY_THREADS servers share the requests.
 *
 * The functions have different code: otherwise GCC would merge them into one function.
 */
#include "../programs/why-load.h"
#include <fcntl.h>

#define KEEPER_US	30000
#define PAUSE_US	100
#define LONG_US		1000
#define PUT_ID		90000	/* id of the first request of class "put" */

static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t side_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t deep_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t slot_lock;
static enum { MUTEX, RWLOCK, READER, SPIN } lock_kind;
static sem_t go_compact, side_held, go_sweep, deep_held;
static int disk = -1;

#define INLINE	static inline __attribute__((always_inline))

INLINE void take(bool is_keeper)
{
	switch (lock_kind) {
	case MUTEX:
		pthread_mutex_lock(&data_lock);
		break;
	case RWLOCK:
	case READER:
		if (is_keeper == (lock_kind == RWLOCK))
			pthread_rwlock_wrlock(&table_lock);
		else
			pthread_rwlock_rdlock(&table_lock);
		break;
	case SPIN:
		pthread_spin_lock(&slot_lock);
		break;
	}
}

INLINE void give(void)
{
	if (lock_kind == MUTEX)
		pthread_mutex_unlock(&data_lock);
	else if (lock_kind == SPIN)
		pthread_spin_unlock(&slot_lock);
	else
		pthread_rwlock_unlock(&table_lock);
}

/* Requests */

NAMED double lookup(void)
{
	double waited = now_us();

	take(false);
	waited = now_us() - waited;
	burn(10);
	give();
	return waited;
}

NAMED double serve(void)
{
	double waited;

	parse();
	waited = lookup();
	reply();
	return waited;
}

static void *server(void *arg)
{
	for (long id = (long)arg; id <= nr_requests; id += nr_servers) {
		double waited;

		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		waited = serve();
		ldb_req_end(id);
		if (planted && waited >= (PLANT_US < LONG_US ? PLANT_US : LONG_US) / 2)
			hit(id);
		pause_us(PAUSE_US);
	}
	return NULL;
}

/* What the keeper does with the lock */

NAMED void rebuild(void)
{
	burn(PLANT_US);
}

NAMED void backoff(void)
{
	pause_us(PLANT_US);
}

NAMED void flush(void)
{
	static char block[4096];
	double until = now_us() + PLANT_US;

	do {
		if (pwrite(disk, block, sizeof(block), 0) != sizeof(block))
			die("why.tmp");
		fdatasync(disk);
	} while (now_us() < until);
}

NAMED void checksum(void)
{
	static char from[1 << 16], to[1 << 16];
	double until = now_us() + PLANT_US;

	do
		memcpy(to, from, sizeof(to));
	while (now_us() < until);
	__asm__ volatile("" : : "r"(to) : "memory");
}

static void wait_sem(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

NAMED void sweep(void)
{
	burn(PLANT_US + 1);
}

static void *sweeper(void *arg)
{
	prctl(PR_SET_NAME, "sweeper");
	for (;;) {
		wait_sem(&go_sweep);
		pthread_mutex_lock(&deep_lock);
		sem_post(&deep_held);
		sweep();
		pthread_mutex_unlock(&deep_lock);
	}
	return NULL;
}

static bool has_sweeper;

NAMED void compact(void)
{
	if (has_sweeper)
		pthread_mutex_lock(&deep_lock);
	else
		burn(PLANT_US);
	burn(10);
	if (has_sweeper)
		pthread_mutex_unlock(&deep_lock);
}

static void *compactor(void *arg)
{
	prctl(PR_SET_NAME, "compactor");
	for (;;) {
		wait_sem(&go_compact);
		if (has_sweeper) {
			sem_post(&go_sweep);
			wait_sem(&deep_held);
		}
		pthread_mutex_lock(&side_lock);
		sem_post(&side_held);
		compact();
		pthread_mutex_unlock(&side_lock);
	}
	return NULL;
}

NAMED void need_both(void)
{
	pthread_mutex_lock(&side_lock);
	burn(10);
	pthread_mutex_unlock(&side_lock);
}

NAMED void store(void)
{
	burn(PLANT_US + 2);
}

/* The keeper */

static void (*with_lock)(void);
static bool is_chain, is_request;

NAMED void keep(void)
{
	if (is_chain && planted) {
		sem_post(&go_compact);
		wait_sem(&side_held);
	}
	take(true);
	burn(5);
	if (planted)
		with_lock();
	give();
}

static void *keeper(void *arg)
{
	prctl(PR_SET_NAME, "keeper");
	for (long id = PUT_ID;; id++) {
		pause_us(KEEPER_US);
		if (is_request) {
			ldb_req_start(id, NULL);
			ldb_req_class(id, "put");
		}
		keep();
		if (is_request)
			ldb_req_end(id);
	}
	return NULL;
}

static void run(int kind, void (*what)(void))
{
	pthread_t servers[MAX_SERVERS];

	lock_kind = kind;
	with_lock = what;
	if (what == need_both)
		is_chain = true;
	pthread_spin_init(&slot_lock, PTHREAD_PROCESS_PRIVATE);
	if (is_chain)
		start_thread(compactor);
	if (has_sweeper)
		start_thread(sweeper);
	start_thread(keeper);
	for (long i = 1; i < nr_servers; i++)
		if (pthread_create(&servers[i], NULL, server, (void *)(i + 1)))
			die("pthread_create");
	server((void *)1);
	for (int i = 1; i < nr_servers; i++)
		pthread_join(servers[i], NULL);
}

static void open_disk(void)
{
	disk = open("why.tmp", O_RDWR | O_CREAT, 0600);
	if (disk < 0)
		die("why.tmp");
	unlink("why.tmp");
}

#define WITH(lock, kind)						\
static void run_##lock##_compute(void) { run(kind, rebuild); }		\
static void run_##lock##_nap(void) { run(kind, backoff); }		\
static void run_##lock##_io(void) { open_disk(); run(kind, flush); }	\
static void run_##lock##_library(void) { run(kind, checksum); }		\
static void run_##lock##_two(void) { run(kind, need_both); }		\
static void run_##lock##_three(void) { has_sweeper = true; run(kind, need_both); } \
static void run_##lock##_request(void) { is_request = true; run(kind, store); }

WITH(mutex, MUTEX)
WITH(rwlock, RWLOCK)
WITH(reader, READER)
WITH(spin, SPIN)

#define CAUSES(lock)							\
	{ #lock "-compute", run_##lock##_compute }, { #lock "-nap", run_##lock##_nap }, \
	{ #lock "-io", run_##lock##_io }, { #lock "-library", run_##lock##_library }, \
	{ #lock "-two", run_##lock##_two }, { #lock "-three", run_##lock##_three }, \
	{ #lock "-request", run_##lock##_request }

static const struct cause causes[] = {
	CAUSES(mutex), CAUSES(rwlock), CAUSES(reader), CAUSES(spin),
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	sem_init(&go_compact, 0, 0);
	sem_init(&side_held, 0, 0);
	sem_init(&go_sweep, 0, 0);
	sem_init(&deep_held, 0, 0);
	return why_main(argc, argv, causes);
}
