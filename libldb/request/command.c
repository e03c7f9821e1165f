// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implements the control of the recording by the program: pause, continue, dump.  A call stores the
 * command in memory, and the control thread sends it to the recorder when it wakes next.  So the
 * functions make no system call, never wait, are async-signal-safe and leave errno alone.
 *
 * Of several commands to pause or to continue, only the last one is sent.  If a dump has not been
 * sent yet, further calls of ldb_record_dump() are only counted, and the first reason is sent.
 */
#include <string.h>
#include <ldb/ldb.h>
#include "runtime/runtime.h"
#include "request.h"

enum { DUMP_NONE, DUMP_WRITING, DUMP_WANTED };

static struct {
	_Atomic uint32_t state;		/* LDB_COMMAND_START or _STOP, not sent yet; else 0 */
	_Atomic uint32_t dump;		/* DUMP_* */
	_Atomic uint32_t nr_more;	/* further calls that the dump represents */
	char why[LDB_DUMP_WHY_MAX + 1];
} wish;

_Static_assert(sizeof(((struct ldb_msg_command *)0)->text) == sizeof(wish.why), "it fits");

void command_start(void)
{
	atomic_store(&wish.state, LDB_COMMAND_START);
}

void command_stop(void)
{
	atomic_store(&wish.state, LDB_COMMAND_STOP);
}

void command_dump(const char *why)
{
	uint32_t none = DUMP_NONE;
	char text[LDB_DUMP_WHY_MAX + 1] = "";

	/*
	 * The text is read before anything is changed: if the pointer is invalid, the program may
	 * handle the fault and never return here.
	 */
	for (unsigned n = 0; why && n < LDB_DUMP_WHY_MAX && why[n]; n++)
		text[n] = why[n];
	if (!atomic_compare_exchange_strong(&wish.dump, &none, DUMP_WRITING)) {
		atomic_fetch_add(&wish.nr_more, 1);
		return;
	}
	memcpy(wish.why, text, sizeof(text));
	atomic_store(&wish.dump, DUMP_WANTED);
}

/* Forgets commands, also one that a thread of the parent was storing when it called fork(). */
void command_forget(void)
{
	atomic_store(&wish.state, 0);
	atomic_store(&wish.nr_more, 0);
	atomic_store(&wish.dump, DUMP_NONE);
}

bool command_next(struct ldb_msg_command *m)
{
	memset(m, 0, sizeof(*m));
	/* A dump is sent before a pause, because it is about the time before. */
	if (atomic_load(&wish.dump) == DUMP_WANTED) {
		m->command = LDB_COMMAND_DUMP;
		memcpy(m->text, wish.why, sizeof(m->text) - 1);
		m->nr = 1 + atomic_exchange(&wish.nr_more, 0);
		atomic_store(&wish.dump, DUMP_NONE);
		return true;
	}
	m->command = atomic_exchange(&wish.state, 0);
	m->nr = 1;
	return m->command;
}
