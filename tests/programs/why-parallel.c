// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program plants causes: a request is split among three threads, "part-0" to "part-2", and
 * waits for the last of them; or it waits in a queue, and "worker" takes it out late.  See
 * why-load.h.
 *
 *	join-slow	the parts are threads that end; part-1 is in straggle()
 *	barrier-slow	all parts come to a barrier; part-1 is in straggle()
 *	count-slow	the last one signals a condition; part-1 is in straggle()
 *	barrier-lock	part-1 waits for part_lock, which thread "keeper" holds in keep()
 *	queue-busy	the worker is in rebuild(), which is for no request
 *	queue-late	the worker is woken at once, but a real-time thread, "hog", runs on its CPU
 *
 * With "clean" the same is done while no request waits for it.
 */
#include "why-load.h"

#define PARTS	3
#define LATE	1	/* this part comes last */

enum way { JOIN, BARRIER, COUNT };

static enum way way;
static bool has_keeper, is_hit;
static sem_t go[PARTS], go_keeper, kept, done;
static pthread_barrier_t all;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER, part_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t counted = PTHREAD_COND_INITIALIZER;
static int nr_left;

NAMED void straggle(void)
{
	burn(PLANT_US);
}

NAMED void keep(void)
{
	pthread_mutex_lock(&part_lock);
	sem_post(&kept);
	burn(PLANT_US);
	pthread_mutex_unlock(&part_lock);
}

static void *keeper(void *arg)
{
	prctl(PR_SET_NAME, "keeper");
	for (;;) {
		wait_sem(&go_keeper);
		keep();
	}
	return arg;
}

NAMED void need_lock(void)
{
	pthread_mutex_lock(&part_lock);
	burn(10);
	pthread_mutex_unlock(&part_lock);
}

/* Delays the late part. */
static void plant(void)
{
	if (has_keeper) {
		sem_post(&go_keeper);
		wait_sem(&kept);
		need_lock();
	} else {
		straggle();
	}
	__asm__ volatile("" ::: "memory");
}

static void count_down(void)
{
	pthread_mutex_lock(&count_lock);
	if (!--nr_left)
		pthread_cond_signal(&counted);
	pthread_mutex_unlock(&count_lock);
}

static void count_wait(void)
{
	pthread_mutex_lock(&count_lock);
	while (nr_left)
		pthread_cond_wait(&counted, &count_lock);
	pthread_mutex_unlock(&count_lock);
}

NAMED void work_on_part(int nr)
{
	bool has_plant = is_hit && nr == LATE;

	burn(30);
	/* After this pause the request waits, and the other parts have arrived. */
	if (has_plant && planted) {
		pause_us(300);
		plant();
	}
	if (way == BARRIER)
		pthread_barrier_wait(&all);
	else if (way == COUNT)
		count_down();
	if (has_plant && !planted) {
		plant();
		sem_post(&done);
	}
}

static void set_part_name(int nr)
{
	char name[16];

	snprintf(name, sizeof(name), "part-%d", nr);
	prctl(PR_SET_NAME, name);
}

static void *part(void *arg)
{
	int nr = (int)(intptr_t)arg;

	set_part_name(nr);
	do {
		if (way != JOIN)
			wait_sem(&go[nr]);
		work_on_part(nr);
	} while (way != JOIN);
	return NULL;
}

static void *late_end(void *arg)
{
	plant();
	sem_post(&done);
	return arg;
}

NAMED void join_all(void)
{
	pthread_t at[PARTS];

	for (intptr_t i = 0; i < PARTS; i++)
		if (pthread_create(&at[i], NULL, part, (void *)i))
			die("pthread_create");
	for (int i = 0; i < PARTS; i++)
		pthread_join(at[i], NULL);
}

NAMED void split(void)
{
	nr_left = PARTS;
	if (way == JOIN) {
		join_all();
		return;
	}
	for (int i = 0; i < PARTS; i++)
		sem_post(&go[i]);
	if (way == BARRIER)
		pthread_barrier_wait(&all);
	else
		count_wait();
	__asm__ volatile("" ::: "memory");
}

/*
 * Waits until the work that the clean run does after the request is done: by the part, or, if the
 * part's thread has ended, by another thread.
 */
static void wait_for_late(void)
{
	pthread_t thread;

	if (way == JOIN) {
		if (pthread_create(&thread, NULL, late_end, NULL) || pthread_detach(thread))
			die("pthread_create");
	}
	wait_sem(&done);
}

static void requests(void)
{
	for (long id = 1; id <= nr_requests; id++) {
		bool is_due_now = is_due(id);

		if (is_due_now && planted)
			hit(id);
		is_hit = is_due_now && (planted || way != JOIN);
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		parse();
		split();
		reply();
		ldb_req_end(id);
		if (is_due_now && !planted)
			wait_for_late();
		pause_us(20);
	}
}

static void run_split(enum way how, bool has_lock)
{
	way = how;
	has_keeper = has_lock;
	pthread_barrier_init(&all, NULL, PARTS + 1);
	if (has_lock)
		start_thread(keeper);
	for (intptr_t i = 0; i < PARTS && way != JOIN; i++)
		if (pthread_create(&threads[nr_threads++], NULL, part, (void *)i))
			die("pthread_create");
	requests();
}

static void run_join(void)
{
	run_split(JOIN, false);
}

static void run_barrier(void)
{
	run_split(BARRIER, false);
}

static void run_count(void)
{
	run_split(COUNT, false);
}

static void run_lock(void)
{
	run_split(BARRIER, true);
}

/* The queue */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	long items[16];
	unsigned head, tail;
} inbox = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER };

static sem_t served, go_hog, hog_runs, rebuilding;
static bool is_late;

NAMED void rebuild(void)
{
	sem_post(&rebuilding);
	burn(PLANT_US);
}

/*
 * The hog runs on the worker's CPU, which is the last one, and the requests come from another CPU
 * (WHY_CPU).
 */
static cpu_set_t allowed;

static void stay_on_last_cpu(void)
{
	cpu_set_t last;

	CPU_ZERO(&last);
	for (int cpu = CPU_SETSIZE; cpu-- > 0 && !CPU_COUNT(&last);)
		if (CPU_ISSET(cpu, &allowed))
			CPU_SET(cpu, &last);
	if (sched_setaffinity(0, sizeof(last), &last))
		die("sched_setaffinity");
}

static void *hog(void *arg)
{
	struct sched_param param = { .sched_priority = 20 };

	prctl(PR_SET_NAME, "hog");
	stay_on_last_cpu();
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	for (;;) {
		wait_sem(&go_hog);
		sem_post(&hog_runs);
		burn(PLANT_US);
		sem_post(&done);
	}
	return arg;
}

static void put(long id)
{
	ldb_req_start(id, NULL);
	ldb_req_class(id, "get");
	ldb_req_block(id, &inbox);
	pthread_mutex_lock(&inbox.lock);
	inbox.items[inbox.head++ % 16] = id;
	pthread_cond_signal(&inbox.filled);
	pthread_mutex_unlock(&inbox.lock);
}

/* Puts an item without a number into the inbox: it is work for no request. */
static void put_work(void)
{
	pthread_mutex_lock(&inbox.lock);
	inbox.items[inbox.head++ % 16] = 0;
	pthread_cond_signal(&inbox.filled);
	pthread_mutex_unlock(&inbox.lock);
}

static long take(void)
{
	long id;

	pthread_mutex_lock(&inbox.lock);
	while (inbox.head == inbox.tail)
		pthread_cond_wait(&inbox.filled, &inbox.lock);
	id = inbox.items[inbox.tail++ % 16];
	pthread_mutex_unlock(&inbox.lock);
	return id;
}

static void *worker(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	if (is_late)
		stay_on_last_cpu();
	for (;;) {
		long id = take();

		if (!id) {
			rebuild();
			continue;
		}
		ldb_req_start(id, &inbox);
		parse();
		reply();
		ldb_req_end(id);
		sem_post(&served);
	}
	return arg;
}

static void begin_late(void)
{
	if (is_late) {
		sem_post(&go_hog);
		wait_sem(&hog_runs);
	} else {
		put_work();
		wait_sem(&rebuilding);
	}
}

static void run_queue(void)
{
	if (is_late)
		start_thread(hog);
	start_thread(worker);
	for (long id = 1; id <= nr_requests; id++) {
		if (is_due(id) && planted) {
			begin_late();
			hit(id);
		}
		put(id);
		wait_sem(&served);
		if (is_late && is_due(id) && planted)
			wait_sem(&done);
		if (is_due(id) && !planted) {
			begin_late();
			pause_us(2 * PLANT_US);
			if (is_late)
				wait_sem(&done);
		}
		pause_us(100);
	}
}

static void run_late(void)
{
	is_late = true;
	run_queue();
}

static const struct cause causes[] = {
	{ "join-slow", run_join }, { "barrier-slow", run_barrier }, { "count-slow", run_count },
	{ "barrier-lock", run_lock }, { "queue-busy", run_queue }, { "queue-late", run_late },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return 1;
	for (int i = 0; i < PARTS; i++)
		sem_init(&go[i], 0, 0);
	sem_init(&go_keeper, 0, 0);
	sem_init(&kept, 0, 0);
	sem_init(&done, 0, 0);
	sem_init(&served, 0, 0);
	sem_init(&go_hog, 0, 0);
	sem_init(&hog_runs, 0, 0);
	sem_init(&rebuilding, 0, 0);
	return why_main(argc, argv, causes);
}
