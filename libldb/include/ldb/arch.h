/* SPDX-License-Identifier: MIT */
/*
 * This is the part of <ldb/ldb.h> that is not C: the instruction that loads the address of a call,
 * and the assembler directives that make an ELF note.  Only <ldb/ldb.h> includes this file.
 */
#ifndef LDB_ARCH_H
#define LDB_ARCH_H

/* The code address at which the call is inlined; 0 on CPUs that ldb does not know. */
#if defined(__x86_64__)
#define LDB_SITE	__extension__({						\
		void *pc_;							\
		__asm__("lea{q} {0(%%rip), %0|%0, [rip]}" : "=r"(pc_));		\
		(const void *)pc_; })
#else
#define LDB_SITE	((const void *)0)
#endif

/*
 * Makes a note of type 2 (abi.h).  The table's address in it is PC-relative, so that it needs no
 * relocation at run time.
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
