// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program uses C11 threads: mtx, cnd, thrd, call_once.  These do not call the pthread
 * functions by name, so the runtime must interpose them, too.  Two threads pass a ball; in every
 * tenth round each holds a second mutex for 2 ms, for which the other may wait.  Usage: c11-threads
 * [ROUNDS]; it prints the number of passes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <ldb/ldb.h>

static mtx_t lock;
static mtx_t busy;
static cnd_t turned;
static int turn, rounds, passes;
static once_flag once = ONCE_FLAG_INIT;

static void set_up(void)
{
	mtx_init(&lock, mtx_plain);
	mtx_init(&busy, mtx_plain);
	cnd_init(&turned);
}

/* The function is not inlined, because a test looks for its name. */
__attribute__((noinline)) void hold_long(void)
{
	mtx_lock(&busy);
	thrd_sleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	mtx_unlock(&busy);
}

__attribute__((noinline)) void pass_ball(int me)
{
	mtx_lock(&lock);
	while (turn != me)
		cnd_wait(&turned, &lock);
	turn = !me;
	passes++;
	cnd_signal(&turned);
	mtx_unlock(&lock);
}

static int player(void *arg)
{
	int me = *(int *)arg;

	call_once(&once, set_up);
	for (int i = 0; i < rounds; i++) {
		ldb_req_start(2 * i + me, NULL);
		pass_ball(me);
		if (i % 10 == 0)
			hold_long();
		ldb_req_end(2 * i + me);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int id[2] = { 0, 1 };
	thrd_t thread[2];

	rounds = argc > 1 ? atoi(argv[1]) : 200;
	for (int i = 0; i < 2; i++)
		if (thrd_create(&thread[i], player, &id[i]) != thrd_success)
			return 1;
	for (int i = 0; i < 2; i++)
		thrd_join(thread[i], NULL);
	printf("c11-threads: %d passes\n", passes);
	return passes == 2 * rounds ? 0 : 1;
}
