// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads many instrumented libraries.  dlopen-main DIR N opens DIR/lib0.so to DIR/lib(N-1).so, calls
 * lib_work(i) in each from the main thread and from a thread that existed before, closes every
 * second library, and prints the sum.  If each library took 64 bytes of initial-exec TLS, there
 * would be none left for the 27th.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_MAX	1000

static int (*work[NR_MAX])(int);
static int nr;
static pthread_barrier_t loaded;

static long call_all(void)
{
	long sum = 0;

	for (int i = 0; i < nr; i++)
		sum += work[i](i);
	return sum;
}

static void *early_thread(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&loaded);
	return (void *)call_all();
}

int main(int argc, char **argv)
{
	void *lib[NR_MAX], *other;
	char path[4096];
	pthread_t thread;
	long sum;

	nr = argc > 2 ? atoi(argv[2]) : 0;
	if (nr < 1 || nr > NR_MAX) {
		fprintf(stderr, "usage: dlopen-main DIR N\n");
		return 2;
	}
	pthread_barrier_init(&loaded, NULL, 2);
	if (pthread_create(&thread, NULL, early_thread, NULL))
		return 1;
	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/lib%d.so", argv[1], i);
		lib[i] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!lib[i]) {
			fprintf(stderr, "dlopen-main: library %d: %s\n", i, dlerror());
			return 1;
		}
		*(void **)&work[i] = dlsym(lib[i], "lib_work");
		if (!work[i])
			return 1;
	}
	sum = call_all();
	pthread_barrier_wait(&loaded);
	pthread_join(thread, &other);
	for (int i = 0; i < nr; i += 2)
		dlclose(lib[i]);
	printf("dlopen-main: %d libraries, sum %ld\n", nr, sum);
	return sum == (long)other ? 0 : 1;
}
