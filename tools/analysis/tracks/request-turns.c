// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests from the turns of event loops.
 *
 * A system call in which the thread did not sleep has no row, unless all system calls were
 * recorded.  So what seems to be one turn may be several, between which there was always something
 * to do.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/sort.h"
#include "facts/syscalls.h"
#include "request-private.h"
#include "trace/loop-calls.h"

struct wait {
	uint32_t tid, thread;
	int64_t start, end;
};

struct waits {
	struct model *m;
	struct wait *at;
	size_t nr, room;
};

static int on_call(void *arg, const struct syscall *c)
{
	struct waits *w = arg;

	/* The runtime's own threads, whose calls are no turns, are not in the trace. */
	if (!is_loop_call(c->call.name) || (!c->thread && !w->m->is_kernel_only))
		return 0;
	return array_push(w->at, w->nr, w->room, {
		.tid = c->tid, .thread = model_thread_number(w->m, c->tid, c->start), .start = c->start, .end = c->end,
	});
}

COMPARE(by_thread, struct wait, UP(thread) UP(tid) UP(start))

static int64_t thread_end(const struct model *m, const struct wait *w)
{
	int64_t end = reader_end_tick(m->reader);

	return w->thread < m->nr_threads ? min(m->threads[w->thread].end, end) : end;
}

int request_turns(struct made_requests *made)
{
	struct model *m = made->m;
	uint64_t error = max(reader_tick(m->reader, m->kernel_err_ns), (int64_t)0);
	struct waits w = { .m = m };
	int ret = syscalls_each(m, NULL, on_call, &w);

	if (!ret)
		sort_by(w.at, w.nr, by_thread);
	for (size_t i = 0; i < w.nr && !ret; i++) {
		const struct wait *this = &w.at[i], *next = i + 1 < w.nr ? &w.at[i + 1] : NULL;
		bool is_last = !next || next->thread != this->thread || next->tid != this->tid;
		int64_t end = is_last ? thread_end(m, this) : next->start;

		if (!is_last && next->start <= this->end) {
			w.at[i + 1].end = max(this->end, next->end);
			continue;
		}
		if (end <= this->end)
			continue;
		ret = array_push(made->at, made->nr, made->room, {
			.tid = this->tid, .thread = this->thread, .start = this->end, .end = end,
			.is_open = is_last, .resolution = 2 * error, .class = REQUEST_LOOP,
		});
	}
	free(w.at);
	return ret;
}
