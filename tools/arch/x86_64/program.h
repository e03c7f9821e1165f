/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements arch/program.h for x86-64; only arch/program.h includes this file. */
#ifndef ARCH_X86_64_PROGRAM_H
#define ARCH_X86_64_PROGRAM_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PROGRAM_MACHINE		EM_X86_64
#define PROGRAM_MACHINE_NAME	"x86"

#define PROGRAM_SIZE_MUTEX	40
#define PROGRAM_SIZE_RWLOCK	56
#define PROGRAM_SIZE_SPIN	4
#define PROGRAM_SIZE_COND	48
#define PROGRAM_SIZE_SEM	32
#define PROGRAM_SIZE_BARRIER	32
#define PROGRAM_SIZE_PTHREAD	2304

/*
 * Where a called function finds its parameters (System V ABI): integers and pointers are in these
 * registers, named as in the kernel's probes.  At the function's first instruction, the word on top
 * of the stack is the return address.
 */
#define PROGRAM_PARAMETERS	6
#define PROGRAM_FLOATS		8		/* registers for floating-point parameters */
#define PROGRAM_PARAMETER_NAMES	{ "%di", "%si", "%dx", "%cx", "%r8", "%r9" }
#define PROGRAM_PARAMETER_DWARF	{ 5, 4, 1, 2, 8, 9 }	/* numbers in debug information */
/* Registers: the name in the kernel's probes, and the assembler's names for all or parts of it. */
#define PROGRAM_REGISTER_NAMES	5
#define PROGRAM_REGISTERS_NUMBERED(n)	{ "%r" n, "%r" n, "%r" n "d", "%r" n "w", "%r" n "b" }
#define PROGRAM_REGISTERS { \
	{ "%ax", "%rax", "%eax", "%ax", "%al" }, { "%bx", "%rbx", "%ebx", "%bx", "%bl" }, \
	{ "%cx", "%rcx", "%ecx", "%cx", "%cl" }, { "%dx", "%rdx", "%edx", "%dx", "%dl" }, \
	{ "%si", "%rsi", "%esi", "%si", "%sil" }, { "%di", "%rdi", "%edi", "%di", "%dil" }, \
	{ "%bp", "%rbp", "%ebp", "%bp", "%bpl" }, { "%sp", "%rsp", "%esp", "%sp", "%spl" }, \
	PROGRAM_REGISTERS_NUMBERED("8"), PROGRAM_REGISTERS_NUMBERED("9"), PROGRAM_REGISTERS_NUMBERED("10"), \
	PROGRAM_REGISTERS_NUMBERED("11"), PROGRAM_REGISTERS_NUMBERED("12"), PROGRAM_REGISTERS_NUMBERED("13"), \
	PROGRAM_REGISTERS_NUMBERED("14"), PROGRAM_REGISTERS_NUMBERED("15"), \
}
#define PROGRAM_NOP		((char)0x90)	/* the instruction at the place of a USDT probe */
#define PROGRAM_STACK		"%sp"
#define PROGRAM_RETURN		"+0(%sp)"
#define PROGRAM_WORD		8		/* bytes of a struct that one register contains */
#define PROGRAM_STRUCT_MAX	16		/* greater structs are not passed in registers */
#define PROGRAM_USER_END	(1ULL << 47)	/* addresses of programs are below this */

/* length of the longest call that program_call() decodes; it may read this many bytes */
#define PROGRAM_CALL_BYTES	6
#define PROGRAM_CALL_NEAR	5	/* length of a PROGRAM_CALL_PLT */
#define PROGRAM_PLT_BYTES	11

enum program_call {
	PROGRAM_CALL_NOT,
	PROGRAM_CALL_PLT,	/* to an entry of the PLT, or to a function of the same module */
	PROGRAM_CALL_SLOT,	/* through a word of the GOT (-fno-plt) */
};

static inline uint64_t program_relative(const uint8_t *at, uint64_t next)
{
	int32_t distance;

	memcpy(&distance, at, 4);
	return next + (uint64_t)(int64_t)distance;
}

/*
 * Decodes a call or jmp at addr, direct or through a slot (*slot(%rip)); *to is its target, or the
 * slot's address.
 */
static inline enum program_call program_call(const uint8_t *code, uint64_t addr, uint64_t *to)
{
	if (code[0] == 0xe8 || code[0] == 0xe9) {
		*to = program_relative(&code[1], addr + 5);
		return PROGRAM_CALL_PLT;
	}
	if (code[0] == 0xff && (code[1] == 0x15 || code[1] == 0x25)) {
		*to = program_relative(&code[2], addr + 6);
		return PROGRAM_CALL_SLOT;
	}
	return PROGRAM_CALL_NOT;
}

/* bytes that program_ends_call() reads: the longest call of memory, from its opcode on */
#define PROGRAM_CALL_MAX	7

/*
 * Returns true if the bytes before a return address end with a relative call, or with a call of a
 * register or memory (ff /2, 2 to 7 bytes).
 */
static inline bool program_ends_call(const uint8_t before[PROGRAM_CALL_MAX])
{
	if (before[PROGRAM_CALL_MAX - 5] == 0xe8)
		return true;
	for (unsigned length = 2; length <= PROGRAM_CALL_MAX; length++)
		if (before[PROGRAM_CALL_MAX - length] == 0xff &&
		    (before[PROGRAM_CALL_MAX - length + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* Decodes an entry of the PLT: [endbr64] [bnd] jmp *slot(%rip). */
static inline bool program_plt_entry(const uint8_t *code, uint64_t addr, uint64_t *slot)
{
	unsigned at = 0;

	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at += 4;
	if (code[at] == 0xf2)
		at++;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	*slot = program_relative(&code[at + 2], addr + at + 6);
	return true;
}

#endif
