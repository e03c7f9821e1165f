// SPDX-License-Identifier: LGPL-2.1-or-later
/* Begins and ends the recording of calls; flows.h explains how calls are followed. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include "arch/cpu.h"
#include "flows.h"
#include "runtime/runtime.h"

static struct raw_lock lock;	/* held while a recording begins, ends, pauses or resumes */
static bool are_patched;	/* the linkage tables contain stubs; a fork child inherits them */
static bool is_paused;		/* the recording is paused, or the next one is to begin so */

/* Returns the time that two readings of the clock measure for a function that does nothing. */
static uint64_t measure_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 64; i++) {
		uint64_t begin = cpu_tsc(), end = cpu_tsc();

		if (end - begin < least)
			least = end - begin;
	}
	return least;
}

/*
 * Keeps the kernel from mapping the pages around each used stub, because few stubs are used.
 */
static void map_few_stubs(void)
{
	uintptr_t lo = ((uintptr_t)flow_entry_stubs + 4095) & ~4095UL;
	uintptr_t hi = ((uintptr_t)flow_slot_stubs + FLOW_SLOTS * FLOW_STUB) & ~4095UL;

	sys(SYS_madvise, lo, hi - lo, MADV_RANDOM);
}

static bool may_begin(void)
{
	return flow_is_mapped() && session_on() && session_page.a.clock_id != LDB_CLOCK_MONO &&
	       !cpu_has_shadow_stack() && !atomic_load(&flow_page.is_on);
}

/*
 * Prepares the tables; new threads get regions from then on.  Returns false if calls cannot be
 * recorded.
 */
static bool prepare(void)
{
	if (!may_begin() || !flow_entry_prepare() || !flow_patch_prepare() || !flow_thread_all())
		return false;
	sys(SYS_madvise, &flow_page, sizeof(flow_page), MADV_WIPEONFORK);
	flow_page.threshold = flow_threshold();
	flow_page.cost = measure_cost();
	flow_info()->nr_apis = 1;
	flow_info()->names_used = 1;
	flow_info()->threshold = flow_page.threshold;
	flow_entry_begin();
	flow_call_prepare();
	return true;
}

/* Begins to count calls. */
static void count(void)
{
	flow_page.begun = session_clock();
	order_flow_base_set(&flow_page.base, (uintptr_t)flow_memory + LDB_FLOW_REGIONS_OFF);
}

/* Ends the counting, and then adds calls in progress to the sums with their time until now. */
static void count_no_more(void)
{
	uint64_t base = order_flow_base(&flow_page.base);

	order_flow_base_set(&flow_page.base, 0);
	flow_slots_close(base, session_clock());
}

/* Starts the recording, when the linkage tables have been patched. */
static void start(void)
{
	flow_info()->nr_followed = flow_nr_entries();
	if (!is_paused)
		count();
	atomic_store(&flow_page.is_on, true);
	flow_info()->magic = LDB_FLOW_MAGIC;
}

static void begin(bool is_running)
{
	raw_lock(&lock);
	if (prepare()) {
		map_few_stubs();
		flow_entry_dlsym = flow_dlsym;
		flow_dlsym_follows = !is_running;
		are_patched = true;
		if (is_running)
			flow_patch_all();
		else
			flow_patch_started();
		start();
	}
	raw_unlock(&lock);
}

static void begin_locked(void)
{
	begin(true);
}

/*
 * In a running program the recorder may give up while the thread that it makes call this function
 * still waits for the loader's lock.  So the thread takes no other lock before it has the loader's.
 */
void flow_begin(bool is_running)
{
	if (is_running)
		flow_patch_running(begin_locked);
	else
		begin(false);
}

void flow_begin_child(void)
{
	raw_lock(&lock);
	if (are_patched && prepare()) {
		flow_slots_reclaim(flow_thread_kept());
		start();
	}
	raw_unlock(&lock);
}

/*
 * Raw thread.  If a thread of the program is just beginning the recording, waits until it has done
 * so.  The linkage tables of modules that may be unloaded still contain stubs after this, which
 * jump to the functions.
 */
void flow_end(void)
{
	raw_lock(&lock);
	if (atomic_load(&flow_page.is_on)) {
		if (order_flow_base(&flow_page.base))
			count_no_more();
		atomic_store(&flow_page.is_on, false);
		flow_thread_end();
		flow_unpatch();
		are_patched = false;
	}
	raw_unlock(&lock);
}

void flow_pause(bool pause)
{
	bool counts;

	raw_lock(&lock);
	is_paused = pause;
	counts = order_flow_base(&flow_page.base);
	if (pause && counts)
		count_no_more();
	else if (!pause && !counts && atomic_load(&flow_page.is_on))
		count();
	raw_unlock(&lock);
}

void flow_stop(void)
{
	order_flow_base_set(&flow_page.base, 0);
	atomic_store(&flow_page.is_on, false);
}

void flow_poll(void)
{
	if (order_flow_base(&flow_page.base))
		flow_slots_note();
}

/* Called by exit(): adds calls in progress to the sums, because they will not return. */
void flow_at_exit(void)
{
	uint64_t base = order_flow_base(&flow_page.base);

	if (base)
		flow_slots_close(base, session_clock());
}

void flow_fork_child(void)
{
	if (atomic_load(&lock.word))
		atomic_store(&lock.word, 0);
	flow_entry_fork_child();
	if (!flow_is_mapped())
		return;
	order_flow_base_set(&flow_page.base, 0);
	atomic_store(&flow_page.is_on, false);
	flow_thread_fork_child();
	flow_unmap();
}
