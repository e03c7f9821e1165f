/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This heap replaces the C library's malloc() and its relatives in a test.  It counts what is not
 * freed, detects writes behind a block when that is freed, fills new memory with a value that is
 * hardly ever right, and fails on request.
 *
 * Each block has a header of 16 bytes, which malloc's alignment requires anyway, and a guard right
 * behind its last byte.  With AddressSanitizer the heap is that of the sanitizer: heap_is_ours is
 * false, and nothing is counted.
 */
#ifndef UNIT_HEAP_H
#define UNIT_HEAP_H

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEAP_GUARD	0x6b
#define HEAP_GUARDS	16
#define HEAP_FILL	65536	/* only this much of a larger block is filled, to save time */
#define HEAP_MAGIC	0x6c646268656170ULL

static _Atomic long heap_nr;		/* number of blocks */
static _Atomic long heap_nr_damaged;
/* number of the allocation from now on that fails; 0: none */
static _Atomic long heap_fail_in;
static _Atomic bool heap_has_failed;

#ifdef __SANITIZE_ADDRESS__
static const bool heap_is_ours;
#else
static const bool heap_is_ours = true;

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *p);
extern void *__libc_memalign(size_t alignment, size_t size);

struct heap_block {
	/* marks a header, combined with the size; blocks of others do not have it */
	uint64_t magic;
	size_t size;
};

/*
 * Allocations of the C library itself do not fail, because without memory qsort() uses another
 * algorithm, and does not report this.
 */
static uintptr_t heap_libc, heap_libc_end;

static int heap_find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (uintptr_t)__libc_malloc - begin < p->p_memsz) {
			heap_libc = begin;
			heap_libc_end = begin + p->p_memsz;
		}
	}
	return 0;
}

__attribute__((constructor)) static void heap_begin(void)
{
	dl_iterate_phdr(heap_find_libc, NULL);
}

static inline bool heap_fails(uintptr_t caller)
{
	if (!atomic_load(&heap_fail_in) || (caller >= heap_libc && caller < heap_libc_end) ||
	    atomic_fetch_sub(&heap_fail_in, 1) != 1)
		return false;
	atomic_store(&heap_has_failed, true);
	errno = ENOMEM;
	return true;
}

static inline void *heap_get(size_t size, void *caller)
{
	struct heap_block *b;

	if (size > PTRDIFF_MAX - 64 || heap_fails((uintptr_t)caller) ||
	    !(b = __libc_malloc(sizeof(*b) + size + HEAP_GUARDS)))
		return NULL;
	b->size = size;
	b->magic = HEAP_MAGIC - size;
	memset(b + 1, 0xa5, size < HEAP_FILL ? size : HEAP_FILL);
	memset((char *)(b + 1) + size, HEAP_GUARD, HEAP_GUARDS);
	atomic_fetch_add(&heap_nr, 1);
	return b + 1;
}

void *malloc(size_t size)
{
	return heap_get(size, __builtin_return_address(0));
}

static inline bool heap_is_block(const struct heap_block *b)
{
	return b->magic == HEAP_MAGIC - b->size;
}

void free(void *p)
{
	struct heap_block *b = (struct heap_block *)p - 1;
	const unsigned char *guard;

	if (!p)
		return;
	if (!heap_is_block(b)) {	/* of memalign() and its relatives, without a header */
		__libc_free(p);
		return;
	}
	guard = (unsigned char *)p + b->size;
	for (unsigned i = 0; i < HEAP_GUARDS; i++)
		if (guard[i] != HEAP_GUARD) {
			atomic_fetch_add(&heap_nr_damaged, 1);
			break;
		}
	b->magic = 0;
	memset(p, 0x5a, b->size < HEAP_FILL ? b->size : HEAP_FILL);
	atomic_fetch_sub(&heap_nr, 1);
	__libc_free(b);
}

void *calloc(size_t nr, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(nr, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	p = heap_get(bytes, __builtin_return_address(0));
	__asm__("" : "+r"(p));	/* otherwise GCC would optimise this to a call of calloc() */
	return p ? memset(p, 0, bytes) : NULL;
}

void *realloc(void *old, size_t size)
{
	const struct heap_block *b = (struct heap_block *)old - 1;
	void *p = heap_get(size, __builtin_return_address(0));

	if (!p || !old)
		return p;
	memcpy(p, old, b->size < size ? b->size : size);
	free(old);
	return p;
}

/* These functions return blocks without a header. */
void *memalign(size_t alignment, size_t size)
{
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	*p = __libc_memalign(alignment, size);
	return *p ? 0 : ENOMEM;
}
#endif

#endif
