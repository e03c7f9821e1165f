/* SPDX-License-Identifier: MIT */
/*
 * ldb: what of <ldb/ldb.h> is not C: the instruction that tells a call's place, and the
 * directives that make an ELF note.  Included by it alone.
 */
#ifndef LDB_ARCH_H
#define LDB_ARCH_H

/* An address in the function the call was written in; 0 where ldb does not know the CPU. */
#if defined(__x86_64__)
#define LDB_SITE	__extension__({						\
		void *pc_;							\
		__asm__("lea{q} {0(%%rip), %0|%0, [rip]}" : "=r"(pc_));		\
		(const void *)pc_; })
#else
#define LDB_SITE	((const void *)0)
#endif

/* A note of type 2 (abi.h).  PC-relative, so that it needs no relocation at run time. */
#define LDB_API_NOTE(table, version)						\
	__asm__(".pushsection .note.ldb.api,\"aGR\",@note," #table "_note,comdat\n" \
		".balign 4\n"							\
		".long 4, 16, 2\n"						\
		".asciz \"LDB\"\n"						\
		"1: .quad " #table " - 1b\n"					\
		".quad " #version "\n"						\
		".popsection\n")

#endif /* LDB_ARCH_H */
