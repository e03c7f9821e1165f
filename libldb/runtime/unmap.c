// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handles programs that unmap the memory of a stack, for example one that they have allocated
 * themselves, or that enlarge a guard page.  The scanner must not be reading this memory when it is
 * unmapped, and must not follow a chain of records into it later.
 *
 * During a recording, the wrappers of munmap(), mremap() and mprotect() check the range before they
 * call the real function.  At other times they do not: stacks that were unmapped are found when a
 * recording begins (unmap_find_gone()).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include "runtime.h"
#include "request/request.h"
#include "shim/symbol.h"

/* Raises the lower end of a thread's stack: the memory below it is not read any more. */
static void raise_stack(struct thread *t, uintptr_t lo)
{
	if (lo > t->stack_lo)
		order_stack_raise(&t->stack_lo, lo);
}

/* Called before [lo, hi) becomes unreadable. */
static __attribute__((noinline, cold)) void forget_stacks(uintptr_t lo, uintptr_t hi)
{
	uint32_t n = order_live_count(&nr_live);
	bool overlaps = stack_unregister_within(lo, hi);

	uring_unmapped(lo, hi);
	for (uint32_t i = 0; i < n; i++) {
		struct thread *t = order_live_get(&live[i]);

		if (!t || t->stack_hi <= lo || t->stack_lo >= hi)
			continue;
		overlaps = true;
		raise_stack(t, hi);
	}
	if (overlaps)
		scan_quiesce();
}

/* Finding stacks that were unmapped before the recording began (raw thread) */

struct maps {
	/* run: start of the readable memory that ends with this mapping */
	uint64_t from, to, run;
	bool readable, grows;
};

static void mapping_done(const struct maps *m, void *arg)
{
	uint32_t n = order_live_count(&nr_live);

	(void)arg;
	/* The stack of the first thread is skipped, because it is mapped as it grows. */
	if (!m->readable || m->grows)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct thread *t = order_live_get(&live[i]);

		if (t && t->stack_hi > m->from && t->stack_hi <= m->to)
			raise_stack(t, m->run);
	}
}

/*
 * Parses "from-to rwxp ...  [stack]", a character at a time; *field is the number of the current
 * field, from 0.
 */
static void parse_char(struct maps *m, char c, int *field, int *column)
{
	uint64_t digit = c <= '9' ? c - '0' : c - 'a' + 10;

	if (c == ' ' || (c == '-' && *field == 0)) {
		++*field;
		*column = 0;
		return;
	}
	if (*field == 0)
		m->from = m->from << 4 | digit;
	else if (*field == 1)
		m->to = m->to << 4 | digit;
	else if (*field == 2 && *column == 0)
		m->readable = c == 'r';
	else if (c == '[')
		m->grows = true;
	(*column)++;
}

/* Calls done() for each mapping, in order. */
static void each_mapping(void (*done)(const struct maps *m, void *arg), void *arg)
{
	char buf[4096];
	struct maps m = { 0 }, before = { 0 };
	int field = 0, column = 0;
	long fd = sys(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return;
	while ((n = sys(SYS_read, fd, buf, sizeof(buf))) > 0)
		for (long i = 0; i < n; i++) {
			if (buf[i] != '\n') {
				parse_char(&m, buf[i], &field, &column);
				continue;
			}
			m.run = before.readable && before.to == m.from ? before.run : m.from;
			done(&m, arg);
			before = m;
			m = (struct maps){ 0 };
			field = column = 0;
		}
	sys(SYS_close, fd);
}

void unmap_find_gone(void)
{
	each_mapping(mapping_done, NULL);
}

struct place {
	uintptr_t addr, run;
};

static void find_run(const struct maps *m, void *arg)
{
	struct place *p = arg;

	if (m->readable && p->addr > m->from && p->addr <= m->to)
		p->run = m->run;
}

uintptr_t unmap_run_below(uintptr_t addr)
{
	struct place p = { .addr = addr };

	each_mapping(find_run, &p);
	return p.run;
}

#define NEXT(fn, name) ({							\
		DORMANT_PAGE static void *next_;				\
		(__typeof__(fn) *)symbol_cached(&next_, name);			\
	})

EXPORT int munmap(void *addr, size_t size)
{
	if (session_on())
		forget_stacks((uintptr_t)addr, (uintptr_t)addr + size);
	return NEXT(munmap, "munmap")(addr, size);
}

EXPORT int mprotect(void *addr, size_t size, int prot)
{
	if (session_on() && !(prot & PROT_READ))
		forget_stacks((uintptr_t)addr, (uintptr_t)addr + size);
	return NEXT(mprotect, "mprotect")(addr, size, prot);
}

EXPORT void *mremap(void *addr, size_t old_size, size_t size, int flags, ...)
{
	void *to = NULL;
	va_list ap;

	if (flags & MREMAP_FIXED) {
		va_start(ap, flags);
		to = va_arg(ap, void *);
		va_end(ap);
	}
	if (session_on() && (size < old_size || flags & MREMAP_MAYMOVE))
		forget_stacks((uintptr_t)addr, (uintptr_t)addr + old_size);
	return NEXT(mremap, "mremap")(addr, old_size, size, flags, to);
}
