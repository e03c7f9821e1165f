// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shared-locks N FILE GO: as soon as the file GO exists, a process and its child take the same two
 * mutexes in turns, N times each: one in memory that fork() shares, and one in a file that both map
 * at different addresses.  Each also takes a private mutex, which has the same address in both
 * processes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES	(16 * 4096)

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

static void *map(int flags, int fd)
{
	void *at = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

	if (at == MAP_FAILED)
		exit(2);
	return at;
}

__attribute__((noinline)) static void take(pthread_mutex_t *lock, unsigned us)
{
	pthread_mutex_lock(lock);
	usleep(us);
	pthread_mutex_unlock(lock);
}

static int work(pthread_mutex_t *inherited, pthread_mutex_t *mapped, int nr)
{
	for (int i = 0; i < nr; i++) {
		take(inherited, 500);
		take(mapped, 500);
		take(&own, 100);
	}
	return 0;
}

static void wait_until(const char *go)
{
	while (access(go, F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	int nr = argc > 3 ? atoi(argv[1]) : 0, fd = nr ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1, status;
	pthread_mutex_t *inherited, *mapped;
	pthread_mutexattr_t shared;
	pid_t pid;

	if (fd < 0 || ftruncate(fd, 2 * PAGES))
		return 2;
	inherited = map(MAP_ANONYMOUS, -1);
	mapped = map(0, fd);
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(inherited, &shared);
	pthread_mutex_init(mapped + 1, &shared);
	pid = fork();
	if (!pid) {
		/* The old addresses stay mapped, but without access. */
		pthread_mutex_t *again = map(0, fd);

		if (again == mapped || mprotect(mapped, PAGES, PROT_NONE))
			_exit(2);
		wait_until(argv[3]);
		_exit(work(inherited, again + 1, nr));
	}
	wait_until(argv[3]);
	if (work(inherited, mapped + 1, nr) || waitpid(pid, &status, 0) != pid || status)
		return 1;
	printf("%p %p %p\n", (void *)inherited, (void *)(mapped + 1), (void *)&own);
	return 0;
}
