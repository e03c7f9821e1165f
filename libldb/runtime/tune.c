// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Changes what is recorded while the recording goes on, and pauses it.  (raw thread)
 *
 * During a pause no scanner runs, and the program's threads write nothing about locks and requests;
 * but threads that start and exit get and release their pages, so that none is missing afterwards.
 * For the scanner the pause is an observation gap.  Waits for locks that have ended are written
 * when the pause begins; what else the threads have stored about locks is discarded: see
 * session_active.lock_epoch.
 */
#include "scan/scan.h"

static uint32_t level;		/* the level of detail at which locks are recorded */
static bool is_paused;
/* the recording could not be resumed, because no scanner could be started */
static bool wants_resume;

bool tune_is_paused(void)
{
	return is_paused;
}

static void set(const struct ldb_tune *t)
{
	session_page.a.lock_threshold = session_ticks(t->lock_threshold_ns);
	session_page.a.func_threshold = session_ticks(t->func_threshold_ns);
	session_page.a.is_in_requests_only = t->flags & LDB_TUNE_IN_REQUESTS;
	session_page.a.is_in_sockets = t->flags & LDB_TUNE_SOCKETS;
	session_page.a.has_turns = t->flags & LDB_TUNE_LOOPS;
}

void tune_begin(const struct ldb_msg_attach *a)
{
	level = session_page.a.mutex_level = a->mutex_level;
	is_paused = a->tune.flags & LDB_TUNE_PAUSED;
	wants_resume = false;
	flow_pause(is_paused);
	set(&a->tune);
}

/* Writes the waits that have ended, and would otherwise be written when their lock is released. */
static void flush_locks(void)
{
	uint32_t n;

	raw_lock(&registry_lock);
	n = order_live_count(&nr_live);
	for (uint32_t i = 0; i < n; i++)
		shim_flush(order_live_get(&live[i]));
	raw_unlock(&registry_lock);
}

static void pause_now(void)
{
	is_paused = true;
	session_write_nothing(&session_page.a);
	flow_pause(true);
	scan_stop();
	flush_locks();
	session_page.a.lock_epoch++;	/* flush_locks() must not write these waits again */
}

/* Forgets which threads work on requests; their next tags show it again. */
static void forget_requests(void)
{
	uint32_t n;

	raw_lock(&registry_lock);
	n = order_live_count(&nr_live);
	for (uint32_t i = 0; i < n; i++)
		order_any_store(&order_live_get(&live[i])->in_request, 0);
	raw_unlock(&registry_lock);
}

static int resume_now(void)
{
	int ret;

	schedstat_init();
	ret = scan_resume();
	if (ret)
		return ret;
	is_paused = false;
	forget_requests();
	shim_begin();
	if (session_page.a.is_in_sockets)
		conn_begin();
	uring_begin();
	session_page.a.mutex_level = level;
	session_write(&session_page.a);
	flow_pause(false);
	return 0;
}

int tune(const struct ldb_tune *t)
{
	bool pauses = t->flags & LDB_TUNE_PAUSED;
	int ret;

	set(t);
	if (pauses == is_paused) {
		wants_resume = false;
		return 0;
	}
	if (pauses) {
		wants_resume = false;
		pause_now();
		return 0;
	}
	ret = resume_now();
	wants_resume = ret;
	return ret;
}

void tune_again(void)
{
	if (wants_resume && is_paused)
		wants_resume = resume_now();
}
