/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the trace context that a tracing library publishes in a thread-local variable
 * (OpenTelemetry enhancement proposal 4947), to link requests to it.
 *
 * A thread reads only its own variable, which no other thread writes.
 */
#ifndef REQUEST_CONTEXT_H
#define REQUEST_CONTEXT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * The variable's offset from the thread pointer; 0: no module has the variable, or it must not be
 * read.
 */
extern intptr_t context_offset;

/* Returns true if the variable may be read; if not, the functions below need not be called. */
static inline bool context_may_be(void)
{
	return __builtin_expect(context_offset != 0, 0);
}

/*
 * Sets context_offset if this module has the variable, and all threads have the same seccomp
 * filters, because reading the variable takes system calls.  tls is the offset of the module's
 * thread-local memory from the thread pointer; 0: not known.
 */
void context_find(uint64_t bias, const ElfW(Phdr) *phdr, unsigned nr_phdr, intptr_t tls);

/*
 * Forgets the context to which this thread has linked this id, because a request with this id
 * begins or has ended.
 */
void context_forget(uint64_t id);

struct context_ids {
	unsigned char trace[16], span[8];
};

/*
 * Reads the context that is active on the calling thread.  Returns false if there is none that can
 * be read, or if request `id` is already linked to it, or to a context that the program has given
 * by ldb_req_link().
 */
bool context_read(uint64_t id, struct context_ids *ids);
/* Notes that the program has called ldb_req_link() for this request. */
void context_given(uint64_t id);

#pragma GCC visibility pop
#endif
