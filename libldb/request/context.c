// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implements context.h.  The thread-local variable points to the record of the context that is
 * active on the thread, or is NULL.  The pointer may be invalid, so the kernel is asked whether the
 * record can be read.
 *
 * The functions are async-signal-safe and do not change errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include "arch/cpu.h"
#include "context.h"
#include "internal.h"
#include "runtime/runtime.h"
#include "shim/symbol.h"

#define SYMBOL	"otel_thread_ctx_v1"
#define PAGE	4096UL
#define RECENT	4		/* requests of a thread whose links are remembered */
/* invalid for sigprocmask(), which reads the mask before it fails */
#define NO_HOW	(-1)

struct record {
	struct context_ids ids;
	unsigned char valid;	/* 1; else the record is being changed, or has been detached */
	unsigned char flags;
	uint16_t attributes_size;
};

_Static_assert(sizeof(struct record) == 28, "the layout is fixed");

intptr_t context_offset;

void context_find(uint64_t bias, const ElfW(Phdr) *phdr, unsigned nr_phdr, intptr_t tls)
{
	uint64_t offset;

	for (unsigned i = 0; !context_offset && tls && i < nr_phdr; i++)
		if (phdr[i].p_type == PT_DYNAMIC &&
		    symbol_thread_variable((void *)(bias + phdr[i].p_vaddr), bias, SYMBOL, &offset) &&
		    !priority_filters_differ())
			context_offset = tls + offset;
}

/*
 * The contexts to which this thread has last linked its requests, so that no link is written twice.
 * A checksum of the ids is sufficient, because tracing libraries choose them at random, and it
 * needs less thread-local memory, which each thread of every program with the runtime has.
 */
static TLS_IE struct linked {
	uint64_t id, sum;
	bool is_given;		/* the program has called ldb_req_link() for this request */
	bool is_linked;		/* a link to ids with this sum has been written */
} recent[RECENT];
static TLS_IE unsigned next_recent;

static struct linked *find(uint64_t id)
{
	for (unsigned i = 0; i < RECENT; i++)
		if (recent[i].id == id && (recent[i].is_given || recent[i].is_linked))
			return &recent[i];
	return NULL;
}

static struct linked *take(uint64_t id)
{
	struct linked *l = find(id);

	if (!l)
		l = &recent[next_recent++ % RECENT];
	*l = (struct linked){ .id = id };
	return l;
}

/*
 * Most seccomp filters allow this system call; it fails with EFAULT if the memory cannot be read.
 */
static bool can_read(uintptr_t addr)
{
	return sys(SYS_rt_sigprocmask, NO_HOW, addr, 0, sizeof(uint64_t)) == -EINVAL;
}

static bool can_read_record(uintptr_t at)
{
	uintptr_t end = at + sizeof(struct record) - sizeof(uint64_t);

	return end > at && can_read(at) && (!((at ^ (end + 7)) & ~(PAGE - 1)) || can_read(end));
}

static bool is_zero(const unsigned char *bytes, unsigned size)
{
	unsigned char any = 0;

	for (unsigned i = 0; i < size; i++)
		any |= bytes[i];
	return !any;
}

static uint64_t sum_of(const struct context_ids *ids)
{
	uint64_t word[sizeof(*ids) / 8];

	memcpy(word, ids, sizeof(word));
	return word[0] + 3 * word[1] + 5 * word[2];
}

/* This may run in a signal handler while the thread changes its record. */
static bool read_record(struct record *r)
{
	uintptr_t at = cpu_thread_word(context_offset);
	const volatile unsigned char *from = (const volatile unsigned char *)at;
	unsigned char *to = (unsigned char *)r;

	if (!at || !can_read_record(at))
		return false;
	for (unsigned i = 0; i < sizeof(*r); i++)
		to[i] = from[i];
	return r->valid == 1 && !is_zero(r->ids.trace, sizeof(r->ids.trace));
}

void context_forget(uint64_t id)
{
	struct linked *l = find(id);

	if (l)
		*l = (struct linked){ 0 };
}

void context_given(uint64_t id)
{
	take(id)->is_given = true;
}

bool context_read(uint64_t id, struct context_ids *ids)
{
	struct linked *l = find(id);
	struct record r;
	uint64_t sum;

	if ((l && l->is_given) || !read_record(&r))
		return false;
	sum = sum_of(&r.ids);
	if (l && l->sum == sum)
		return false;
	l = take(id);
	l->sum = sum;
	l->is_linked = true;
	*ids = r.ids;
	return true;
}
