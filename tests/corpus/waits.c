// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has planted causes for the corpus: requests wait for another thread that does not
 * hold a lock, "helper" in prepare(), or are off the CPU for reasons of their own.  See
 * ../programs/why-load.h.
 *
 *	cond		a condition variable
 *	sem		a semaphore
 *	barrier		a barrier
 *	join		the end of a thread, started for this request
 *	pipe		a byte from a pipe that the helper writes
 *
 *	nap		backoff() sleeps
 *	poll		await_peer() polls a descriptor on which nothing comes
 *	disk		persist() writes and waits for the disk
 *	child		run_filter() reads what a child process writes
 *
 * Requests that are due to be slow wait for PLANT_US; the others wait for a short time, or, with
 * nap, poll and disk, not at all.
 */
#include "../programs/why-load.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#define SHORT_US	10
#define PAUSE_US	20

static bool is_bad;			/* the request that is being served is to be slow */

static double work_us(void)
{
	return is_bad ? PLANT_US : SHORT_US;
}

static void requests(void (*serve)(void))
{
	for (long id = 1; id <= nr_requests; id++) {
		is_bad = planted && is_due(id);
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve();
		ldb_req_end(id);
		if (is_bad)
			hit(id);
		pause_us(PAUSE_US);
	}
}

NAMED void prepare(void)
{
	burn(work_us());
}

static sem_t go, done;

static void wait_sem(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

/* tell(): the helper reports that it is done; await(): a request waits for that. */
static void (*tell)(void);
static void (*await)(void);

static void *helper(void *arg)
{
	prctl(PR_SET_NAME, "helper");
	for (;;) {
		wait_sem(&go);
		prepare();
		tell();
	}
	return NULL;
}

NAMED void serve_helped(void)
{
	parse();
	sem_post(&go);
	await();
	reply();
}

static void run_helped(void (*how)(void), void (*wait)(void))
{
	tell = how;
	await = wait;
	start_thread(helper);
	requests(serve_helped);
}

/* cond */

static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_ready = PTHREAD_COND_INITIALIZER;
static bool ready;

NAMED void tell_cond(void)
{
	pthread_mutex_lock(&state_lock);
	ready = true;
	pthread_cond_signal(&is_ready);
	pthread_mutex_unlock(&state_lock);
}

NAMED void await_cond(void)
{
	pthread_mutex_lock(&state_lock);
	while (!ready)
		pthread_cond_wait(&is_ready, &state_lock);
	ready = false;
	pthread_mutex_unlock(&state_lock);
}

static void run_cond(void)
{
	run_helped(tell_cond, await_cond);
}

/* sem */

NAMED void tell_sem(void)
{
	sem_post(&done);
}

NAMED void await_sem(void)
{
	wait_sem(&done);
}

static void run_sem(void)
{
	run_helped(tell_sem, await_sem);
}

/* barrier */

static pthread_barrier_t both;

NAMED void meet(void)
{
	pthread_barrier_wait(&both);
}

static void run_barrier(void)
{
	pthread_barrier_init(&both, NULL, 2);
	run_helped(meet, meet);
}

/* pipe */

static int ends[2];

NAMED void tell_pipe(void)
{
	if (write(ends[1], "x", 1) != 1)
		die("write");
}

NAMED void await_pipe(void)
{
	char c;

	if (read(ends[0], &c, 1) != 1)
		die("read");
}

static void run_pipe(void)
{
	if (pipe(ends))
		die("pipe");
	run_helped(tell_pipe, await_pipe);
}

/* join */

static void *helper_once(void *arg)
{
	prctl(PR_SET_NAME, "helper");
	prepare();
	return NULL;
}

NAMED void serve_join(void)
{
	pthread_t thread;

	parse();
	if (pthread_create(&thread, NULL, helper_once, NULL))
		die("pthread_create");
	pthread_join(thread, NULL);
	reply();
}

static void run_join(void)
{
	requests(serve_join);
}

/* Off the CPU for reasons of its own */

NAMED void backoff(void)
{
	if (is_bad)
		pause_us(PLANT_US);
	else
		burn(SHORT_US);
}

NAMED void serve_nap(void)
{
	parse();
	backoff();
	reply();
}

static void run_nap(void)
{
	requests(serve_nap);
}

NAMED void await_peer(void)
{
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };

	poll(&fd, 1, is_bad ? (int)(PLANT_US / 1000) : 0);
}

NAMED void serve_poll(void)
{
	parse();
	await_peer();
	reply();
}

static void run_poll(void)
{
	if (pipe(ends))
		die("pipe");
	requests(serve_poll);
}

static int disk;

NAMED void persist(void)
{
	static char block[4096];
	double until = now_us() + PLANT_US;

	do {
		if (pwrite(disk, block, sizeof(block), 0) != sizeof(block))
			die("why.tmp");
		if (is_bad)
			fdatasync(disk);
	} while (is_bad && now_us() < until);
}

NAMED void serve_disk(void)
{
	parse();
	persist();
	reply();
}

static void run_disk(void)
{
	disk = open("why.tmp", O_RDWR | O_CREAT, 0600);
	if (disk < 0)
		die("why.tmp");
	unlink("why.tmp");
	requests(serve_disk);
}

static int to_child[2], from_child[2];

NAMED void run_filter(void)
{
	char c = is_bad;

	if (write(to_child[1], &c, 1) != 1 || read(from_child[0], &c, 1) != 1)
		die("filter");
}

NAMED void serve_child(void)
{
	parse();
	run_filter();
	reply();
}

static void filter(void)
{
	char c;

	prctl(PR_SET_NAME, "filter");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(to_child[0], &c, 1) == 1) {
		burn(c ? PLANT_US : SHORT_US);
		if (write(from_child[1], &c, 1) != 1)
			break;
	}
	_exit(0);
}

static void run_child(void)
{
	pid_t child;

	if (pipe(to_child) || pipe(from_child))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child)
		filter();
	requests(serve_child);
	kill(child, SIGKILL);
}

static const struct cause causes[] = {
	{ "cond", run_cond }, { "sem", run_sem }, { "barrier", run_barrier },
	{ "join", run_join }, { "pipe", run_pipe }, { "nap", run_nap }, { "poll", run_poll },
	{ "disk", run_disk }, { "child", run_child },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	return why_main(argc, argv, causes);
}
