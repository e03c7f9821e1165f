// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The door: how a program that nobody records, and that therefore has no thread or
 * socket of ours, learns that somebody wants to.  See ldb/control.h.
 *
 * door_pass() runs in place of a thread of the program that was stopped anywhere at
 * all: in malloc(), in our own registry with its lock held, in a signal handler.  It
 * keeps to the rules of raw threads, takes no lock and waits for nothing.  (raw thread)
 */
#include <errno.h>
#include "runtime.h"

_Static_assert(LDB_CONTROL_VERSION == 2, "door.S says so too");

#define DOOR_STACK	(32 * 1024)	/* a signal frame has up to 12 KB of registers */

/* In arch/: calls door_pass(). */
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
