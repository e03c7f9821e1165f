// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program executes itself TIMES times.  Each execution computes and makes system calls for 0
 * to 4.2 ms; the last one does so for LAST_MS.
 *
 *	executes TIMES LAST_MS [threads]
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void *other(void *arg)
{
	for (;;)
		usleep(300);
	return arg;
}

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 0, fd = open("/dev/zero", O_RDONLY);
	double until = now_ms() + (left || argc < 3 ? left % 7 * 0.7 : atof(argv[2]));
	char buf[64], number[16];
	pthread_t thread;
	unsigned sum = 1;

	if (argc > 3)
		pthread_create(&thread, NULL, other, NULL);
	do {
		for (int i = 0; i < 20000; i++)
			sum = sum * 1103515245 + 12345;
		if (read(fd, buf, sizeof(buf)) != sizeof(buf) || memcmp(buf, (char[64]){ 0 }, sizeof(buf)))
			return 2;
	} while (now_ms() < until);
	close(fd);
	if (!left) {
		puts("done");
		return !sum;
	}
	snprintf(number, sizeof(number), "%d", left - 1);
	execl("/proc/self/exe", argv[0], number, argv[2], argc > 3 ? argv[3] : NULL, NULL);
	return 3;
}
