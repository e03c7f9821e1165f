/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declares the functions of request/ that other files call. */
#ifndef REQUEST_REQUEST_H
#define REQUEST_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "internal.h"

#pragma GCC visibility push(hidden)

/* A thread without an entry (raw clone, or about to exit) still has a tid. */
static inline uint32_t request_tid(const struct thread *t)
{
	return t ? t->tid : (uint32_t)syscall(SYS_gettid);
}

/*
 * request.c: these write the records of the functions of <ldb/ldb.h>, also for requests that
 * socket/ derives from connections.
 */
void request_start(uint64_t id, void *queue, const void *site);
void request_arrived(uint64_t id, void *queue, uint64_t age_ns);
void request_block(uint64_t id, void *queue, const void *site);
void request_end(uint64_t id, const void *site);
void request_class(uint64_t id, const char *name);
void request_link(uint64_t id, const void *trace, const void *span);
/* Links the request to the context that the calling thread has published: context.h. */
void request_link_published(uint64_t id);
/* Writes the first START of a request that was derived from a connection. */
void request_start_socket(uint64_t id, uint64_t queue, const void *site);
/*
 * Returns true, and the id, if the calling thread works on exactly one request that the program has
 * tagged, as far as is known.
 */
bool request_tagged(uint64_t *id);
/*
 * Writes that thread tid has stopped working on the request, because the calling thread continues
 * it.
 */
void request_block_of(uint32_t tid, uint64_t id);

/* note.c implements ldb_req_note(), ldb_req_note_u64() and ldb_event() of <ldb/ldb.h>. */
void note_text(uint64_t id, const char *key, const char *value);
void note_number(uint64_t id, const char *key, uint64_t value);
/*
 * Writes a record about a message.  bytes is a payload of LDB_PAYLOAD(3) bytes: see
 * socket/exchange.h.
 */
void note_message(uint64_t id, uint16_t flags, uint64_t at, uint32_t tid, const char *bytes);
void note_event(const char *name, int64_t value);

/* command.c implements ldb_record_start() and its partners. */
void command_start(void);
void command_stop(void);
void command_dump(const char *why);

/* stack.c implements ldb_stack_register() of <ldb/ldb.h> and its partner. */
int stack_register(void *lo, void *hi);
void stack_unregister(void *lo);
/*
 * Called before memory is unmapped: unregisters the stacks in this memory.  Returns true if there
 * were any.
 */
bool stack_unregister_within(uintptr_t lo, uintptr_t hi);

#pragma GCC visibility pop
#endif /* REQUEST_REQUEST_H */
