/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a second process that takes the CPU when it is asked to: hog_post() lets it call work()
 * once.  It ends together with the program.
 */
#ifndef TESTS_HOG_H
#define TESTS_HOG_H

#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static sem_t *hog_asked;

static inline void hog_post(void)
{
	sem_post(hog_asked);
}

/*
 * Starts the process, which first calls begin() unless that is NULL.  Returns its pid, or -1 with
 * errno.
 */
static inline pid_t hog_start(void (*begin)(void), void (*work)(void))
{
	pid_t pid;

	hog_asked = mmap(NULL, sizeof(*hog_asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (hog_asked == MAP_FAILED)
		return -1;
	sem_init(hog_asked, 1, 0);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (begin)
		begin();
	for (;;)
		if (!sem_wait(hog_asked))
			work();
}

#endif
