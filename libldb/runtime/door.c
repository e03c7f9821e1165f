// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that is not being recorded has no thread or socket of ldb, unless it was started with
 * LDB=listen.  A recorder that wants to attach makes a thread of the program execute the code of
 * this file, which is called the door: see ldb/control.h.
 *
 * door_pass() runs in place of a thread of the program that was stopped anywhere: in malloc(), in
 * the runtime's registry with its lock held, in a signal handler.  So it follows the rules of raw
 * threads, takes no lock and waits for nothing.  (raw thread)
 */
#include <errno.h>
#include "runtime.h"

_Static_assert(LDB_CONTROL_VERSION == 6, "door.S says so too");

#define DOOR_STACK	(32 * 1024)	/* a signal frame contains up to 12 KB of registers */

/* The entry of the door is in arch/, and calls door_pass(). */
void door_entry(void) HIDDEN;
void door_pass(void) HIDDEN;

static char stack[DOOR_STACK] __attribute__((aligned(64)));

HIDDEN struct ldb_door door = {
	.version = LDB_CONTROL_VERSION,
	.stack_size = DOOR_STACK,
	.release = LDB_RELEASE,
};

void door_open(void)
{
	door.late = (uintptr_t)visit_late;
	door.entry = (uintptr_t)door_entry;
	door.stack = (uintptr_t)stack;
	order_door_open(&door.magic, LDB_DOOR_MAGIC);
}

void door_pass(void)
{
	char name[sizeof(door.name)];

	memcpy(name, door.name, sizeof(name));
	name[sizeof(name) - 1] = 0;
	door.result = control_called(name);
}
