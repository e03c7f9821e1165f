/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the trace context that a tracing library publishes in a variable of each thread, as
 * OpenTelemetry's enhancement proposal 4947 has it: for requests, which are linked to it.
 *
 * A thread reads only its own variable, which no other thread writes.
 */
#ifndef REQUEST_CONTEXT_H
#define REQUEST_CONTEXT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Of the variable, from the thread pointer; 0: no module of the program has one. */
extern intptr_t context_offset;

/* Are there any?  Else the functions below need not be called. */
static inline bool context_may_be(void)
{
	return __builtin_expect(context_offset != 0, 0);
}

/*
 * Does this module have the variable?  tls is where its thread-local memory is, from the thread
 * pointer; 0: that is not known.
 */
void context_find(uint64_t bias, const ElfW(Phdr) *phdr, unsigned nr_phdr, intptr_t tls);

/* A request begins or has ended: what this thread has linked to its id was of another one. */
void context_forget(uint64_t id);

struct context_ids {
	unsigned char trace[16], span[8];
};

/*
 * Reads what the calling thread has published now.  Returns false if there is nothing, or the
 * request is linked to it already.
 */
bool context_read(uint64_t id, struct context_ids *ids);
/* The program has said itself to which context the request belongs. */
void context_given(uint64_t id);

#pragma GCC visibility pop
#endif
