// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests system calls among the segments of a thread, more than fit into a window: each call comes
 * once and in order, and each sleep has the call that it was in.
 */
#include <string.h>

#include "analysis/tracks/tracks.h"
#include "analysis-sample.h"

#define NR_CALLS	30000
#define PERIOD		10000

static const char *const names[] = { "read", "write", "fsync", "poll", "recvfrom" };

static const char *name_of(int64_t tick)
{
	return names[tick / PERIOD % 5];
}

static void make(struct made *t, bool has_sleeps)
{
	made_begin(t, has_sleeps ? "sleeps" : "calls");
	writer_add_meta(t->w, "kernel_events", "bpf");
	writer_add_meta(t->w, "kernel_syscalls", "all");
	made_task(t, 1, 1, "one");
	made_thread(t, 1, "one", 0, (NR_CALLS + 2) * PERIOD);
	made_switch(t, .tick = 100, .next = 1);
	for (int64_t i = 1; i <= NR_CALLS; i++) {
		int64_t at = i * PERIOD;

		made_switch(t, .tick = at + 1000, .prev = 1, .state = LDB_STATE_SLEEPING);
		made_waking(t, .tick = at + 5000, .flags = LDB_SCHED_F_HARDIRQ, .woken = 1);
		made_wakeup(t, .tick = at + 5000, .woken = 1);
		made_switch(t, .tick = at + 5000, .next = 1);
		if (has_sleeps)
			made_call(t, .tid = 1, .start = at + 1000, .name = name_of(at), .file = "");
		made_call(t, .tid = 1, .start = at, .end = at + 6000, .name = name_of(at), .file = "");
	}
	made_open(t);
}

static unsigned nr_calls, nr_sleeps, nr_wrong, nr_late;
static int64_t last_start;

static int on_segment(void *arg, const struct segment *s)
{
	const struct segment_call *c = s->sched ? &s->sched->call : NULL;

	nr_late += s->start < last_start;
	last_start = s->start;
	if (s->kind != SEGMENT_SYSCALL && s->kind != SEGMENT_BLOCKED)
		return 0;
	nr_wrong += !c || !c->name || strcmp(c->name, name_of(s->start)) ||
		    c->has_result != (s->kind == SEGMENT_SYSCALL);
	if (s->kind == SEGMENT_SYSCALL)
		nr_calls++;
	else
		nr_sleeps++;
	return 0;
}

static void check(bool has_sleeps, bool with_calls, const char *what)
{
	const struct tracks_sink sink = { .segment = on_segment };
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_result result;
	struct made t;

	nr_calls = nr_sleeps = nr_wrong = nr_late = 0;
	last_start = INT64_MIN;
	o.memory = 1 << 20;
	o.with_calls = with_calls;
	make(&t, has_sleeps);
	is_int(tracks_each(t.model, &o, &sink, &result), 0, what);
	is_int(nr_calls, with_calls ? NR_CALLS : 0, "each call once");
	is_int(nr_sleeps, NR_CALLS, "each sleep once");
	is_int(nr_wrong, 0, "with the call that it was in");
	is_int(nr_late, 0, "in order");
	made_close(&t);
}

int main(void)
{
	check(true, true, "calls, and sleeps with rows of their own");
	check(true, false, "sleeps alone");
	check(false, true, "sleeps without rows, in calls");
	return done();
}
