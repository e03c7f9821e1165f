// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Begins and ends a recording: gives each thread a page in the session's memory, and notifies the
 * parts of the runtime that write into it.  session.c manages the memory itself.  (raw thread,
 * except for the pages of threads that start and exit, and for exit())
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include "runtime.h"

void recording_count_unobserved(void)
{
	order_any_add_word(&session_info()->unobserved_threads, 1);
}

void recording_count_observed(void)
{
	__u64 *nr = &session_info()->unobserved_threads;

	if (order_any_load_word(nr))
		order_any_add_word(nr, -1);
}

/*
 * Reads a thread's name.  The control thread does this for other threads, with a descriptor in its
 * own file table.  A thread that registers itself has its name already.
 */
static void read_name(struct thread *t)
{
	char line[sizeof(t->name) + 1];
	long n = raw_task_read(t->tid, "comm", line, sizeof(line));

	if (n > 0)
		raw_strcpy(t->name, line, n);	/* without the newline */
}

void recording_assign_page(struct thread *t, bool existing)
{
	struct ldb_page *p;

	t->slot = -1;
	if (!session.nr_free) {
		recording_count_unobserved();
		return;
	}
	t->slot = session.free_slot[session.free_head];
	session.free_head = (session.free_head + 1) % session.max_threads;
	session.nr_free--;
	if (session_info()->pages_used <= (uint64_t)t->slot)
		order_pages_used_set(session_info(), t->slot + 1);
	if (existing && t->tid != (uint32_t)sys(SYS_gettid))
		read_name(t);
	p = session_page_of(t->slot);
	memset(p, 0, 512);
	p->tid = t->tid;
	p->stack_lo = t->stack_lo;
	p->stack_hi = t->stack_hi;
	p->tp = t->tp;
	p->start_tsc = existing ? 0 : t->start_tsc;
	p->start_routine = t->start_routine;
	memcpy(p->name, t->name, sizeof(p->name));
	scan_thread_new(t, existing);
	order_page_state_set(p, LDB_PAGE_LIVE);
}

void recording_release_page(struct thread *t)
{
	if (t->slot < 0)
		return;
	session.free_slot[(session.free_head + session.nr_free) % session.max_threads] = t->slot;
	session.nr_free++;
	t->slot = -1;
}

void recording_begin(void)
{
	struct session_active *a = &session_page.a;
	uint32_t n;

	raw_lock(&registry_lock);
	session.free_head = 0;
	session.nr_free = session.max_threads;
	for (uint32_t i = 0; i < session.max_threads; i++)
		session.free_slot[i] = i;
	a->clock_id = session.clock_id;
	session.attach_tsc = session_clock();
	session_info()->attach_tsc = session.attach_tsc;
	n = order_live_count(&nr_live);
	for (uint32_t i = 0; i < n; i++)
		recording_assign_page(order_live_get(&live[i]), true);
	sys(SYS_madvise, &session_page, sizeof(session_page), MADV_WIPEONFORK);
	shim_begin();
	if (a->is_in_sockets)
		conn_begin();
	uring_begin();
	session_publish(a, tune_is_paused());
	raw_unlock(&registry_lock);
}

void recording_end(void)
{
	uint32_t n;

	raw_lock(&registry_lock);
	order_session_set(&session_page.a.on, 0);
	n = order_live_count(&nr_live);
	for (uint32_t i = 0; i < n; i++) {
		struct thread *t = order_live_get(&live[i]);

		shim_flush(t);
		scan_count_calls(t);
		t->slot = -1;
		t->scan = NULL;
	}
	raw_unlock(&registry_lock);
}

/*
 * At exit(), adds the calls since the scanner's last poll to the counts in the pages.  This does
 * not run after _exit() or a fatal signal.
 */
__attribute__((destructor)) static void recording_at_exit(void)
{
	uint32_t unlocked = 0, n;

	if (session_was_on())
		flow_at_exit();
	/* exit() may be called from a signal handler, so it must not wait here */
	if (!session_was_on() || !atomic_compare_exchange_strong(&registry_lock.word, &unlocked, 1))
		return;
	n = order_live_count(&nr_live);
	for (uint32_t i = 0; session_on() && i < n; i++)
		scan_count_calls(order_live_get(&live[i]));
	raw_unlock(&registry_lock);
}
