/* SPDX-License-Identifier: MIT */
/*
 * This is the part of <ldb/ldb.h> that is not C: the instruction that returns a call's address,
 * and the directives that make an ELF note.  No other file includes it.
 */
#ifndef LDB_ARCH_H
#define LDB_ARCH_H

/* This is an address in the function the call was written in; 0 where ldb does not know the CPU. */
#if defined(__x86_64__)
#define LDB_SITE	__extension__({						\
		void *pc_;							\
		__asm__("lea{q} {0(%%rip), %0|%0, [rip]}" : "=r"(pc_));		\
		(const void *)pc_; })
#else
#define LDB_SITE	((const void *)0)
#endif

/*
 * Makes a note of type 2 (abi.h).  It is PC-relative, so that it needs no relocation at run
 * time.
 */
#define LDB_API_NOTE(table, version)						\
	__asm__(".pushsection .note.ldb.api,\"aGR\",@note," #table "_note,comdat\n" \
		".balign 4\n"							\
		".long 4, 16, 2\n"						\
		".asciz \"LDB\"\n"						\
		"1: .quad " #table " - 1b\n"					\
		".quad " #version "\n"						\
		".popsection\n")

#endif /* LDB_ARCH_H */
