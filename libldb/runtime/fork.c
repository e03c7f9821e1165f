// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implements the fork handlers: prepare, parent, child.  A child starts unrecorded: the kernel
 * zeroes session_page before the child's first instruction, also after a raw fork system call.  The
 * child is then like a program that was started without a recorder, so a recorder can attach to a
 * daemon that has forked itself into the background as to any other program.  If the recorder wants
 * children, too, the child announces itself (children.c), and does not wait for an answer.
 */
#include <errno.h>
#include <pthread.h>
#include "runtime.h"

/*
 * Set in the forking thread, from its prepare handler to its parent or child handler.  Fork
 * handlers of other libraries, such as ThreadSanitizer's, create threads in the child before the
 * registry has been reset.  registry_lock is not held across the fork, because another library's
 * handler may wait for a thread that needs it.
 */
static TLS_IE bool forking;

bool fork_in_progress(void)
{
	return forking;
}

/*
 * Returns true if there was never a recorder, and if no other thread exists: then the child has
 * nothing to reset.  This test writes nothing, because a page that is written to before a fork is
 * copied after it.
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
	if (!forking)
		return;
	forking = false;
	if (session_on())
		order_any_add_word(&session_info()->forks, 1);
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
	conn_fork_child();
	uring_fork_child();
	flow_fork_child();
	thread_fork_child();
	control_fork_child();
	control_announce();
	errno = saved;
}

void fork_init(void)
{
	pthread_atfork(fork_before, fork_parent, fork_child);
}
