// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * fork(): before / parent / child.  A child starts unrecorded: the page that
 * says "on" is wiped by the kernel before the child's first instruction, also
 * after a raw fork system call.  It is as dormant as a program that starts, and a
 * daemon that forks itself into the background can be attached to like any other.
 */
#include <errno.h>
#include <pthread.h>
#include "runtime.h"

/*
 * In the forking thread, from its prepare to its parent or child handler.
 * Handlers of others, ThreadSanitizer's for one, create threads meanwhile: in the
 * child before the registry has been made new.  The lock is not held across the
 * fork, because another library's handler may wait for a thread that needs it.
 */
static TLS_IE bool forking;

bool fork_in_progress(void)
{
	return forking;
}

/*
 * Nobody ever came, and there is no other thread: the child has nothing to make new.
 * This is tested without a write, because a page that is written to before a fork is copied
 * after it.
 */
static bool nothing_to_renew(void)
{
	return !control_ever_ran() && thread_alone();
}

static void fork_before(void)
{
	if (!nothing_to_renew())
		forking = true;
}

static void fork_parent(void)
{
	if (forking)
		forking = false;
}

static void fork_child(void)
{
	int saved;

	if (nothing_to_renew())
		return;
	forking = false;
	saved = errno;
	if (atomic_load(&registry_lock.word))
		atomic_store(&registry_lock.word, 0);
	module_fork_child();
	session_fork_child();
	scan_fork_child();
	shim_fork_child();
	thread_fork_child();
	control_fork_child();
	errno = saved;
}

void fork_init(void)
{
	pthread_atfork(fork_before, fork_parent, fork_child);
}
