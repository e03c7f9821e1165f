// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements inject_enter(): makes a thread call the runtime's entry function. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include "cli/error.h"
#include "record/inject/inject.h"
#include "record/inject/private.h"
#include "record/session/session.h"

/*
 * Lets the thread run from system call to system call until it is about to return from the signal
 * frame.  Returns false if it did not get so far.
 */
static bool run_to_end(pid_t tid, const struct inject_call *c)
{
	int64_t until = clock_mono_ns() + INJECT_PASS_NS;

	while (clock_mono_ns() < until && inject_next_call(tid, INJECT_PASS_NS))
		if (inject_regs_leaves(tid, c))
			return true;
	return false;
}

static bool pass(pid_t tid, struct inject_regs *r, const struct image *image)
{
	const struct ldb_door *door = &image->copy;
	struct inject_call c = {
		.id = &image->id,
		.stack = door->stack, .stack_size = door->stack_size, .entry = door->entry,
	};
	bool entered = c.stack_size >= 2 * FPU_MAX && c.stack_size <= 1 << 20 &&
		       inject_regs_enter(tid, r, &c);
	bool ok = entered && run_to_end(tid, &c) && inject_stop_for_return(tid);

	/*
	 * The registers are restored even if the visit failed.  But `tid` may be the first thread
	 * of another program that the process has executed.
	 */
	return image_is(tid, &image->id) && inject_regs_put(tid, r) && ok;
}

static enum inject_outcome visit(const struct inject_task *t, pid_t pid, pid_t tid)
{
	static struct inject_regs r;
	enum inject_outcome outcome = INJECT_MOVED;

	if (!inject_take(pid, tid, &r))
		goto out;
	outcome = INJECT_DONE;
	if (!pass(tid, &r, t->image)) {
		outcome = inject_lost(pid, t, tid);
		if (outcome == INJECT_DONE) {
			cli_error("process %d could not be entered: it continues, and is not recorded", pid);
			outcome = INJECT_REFUSED;
		}
	}
out:
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return outcome;
}

static enum inject_outcome answer(const struct inject_task *t, pid_t pid, pid_t gate)
{
	struct ldb_door door;

	if (!image_peek(gate, t->image->door, &door, sizeof(door)))
		return inject_lost(pid, t, 0) == INJECT_REFUSED ? INJECT_REFUSED : INJECT_REPLACED;
	if (!door.result)
		return INJECT_DONE;
	if (door.result == -EBUSY)
		return INJECT_BUSY;
	cli_error("process %d cannot be recorded: the runtime's thread cannot be started there: %s",
		  pid, strerror(-door.result));
	return INJECT_REFUSED;
}

static bool write_name(const struct inject_task *t, pid_t gate)
{
	char room[sizeof(t->image->copy.name)] = "";

	snprintf(room, sizeof(room), "%s", t->name);
	return image_poke(gate, t->id, t->image->door + offsetof(struct ldb_door, name), room, sizeof(room));
}

enum inject_end inject_enter(pid_t pid, const struct image *image, const char *name)
{
	const struct inject_task task = {
		.prepare = write_name, .visit = visit, .answer = answer,
		.id = &image->id, .image = image, .name = name,
	};

	return inject_run(pid, &task);
}
