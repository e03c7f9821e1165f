// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For each line "CALLS MS" of input, makes a thread, which calls a function of a library CALLS
 * times, sleeps for MS milliseconds, and exits.  Answers with a line.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int calls, ms;

static void *work(void *arg)
{
	for (int i = 0; i < calls; i++)
		if (getppid() == 0)
			abort();
	usleep(ms * 1000);
	return arg;
}

int main(void)
{
	pthread_t t;

	while (scanf("%d %d", &calls, &ms) == 2) {
		if (pthread_create(&t, NULL, work, NULL) || pthread_join(t, NULL))
			return 1;
		puts("done");
		fflush(stdout);
	}
	return 0;
}
