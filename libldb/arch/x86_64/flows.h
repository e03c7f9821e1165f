/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This is what flows/patch.c must know of the CPU's code and relocations. */
#ifndef LDB_ARCH_X86_64_FLOWS_H
#define LDB_ARCH_X86_64_FLOWS_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CPU_RELOC_PLT	R_X86_64_JUMP_SLOT
#define CPU_RELOC_GOT	R_X86_64_GLOB_DAT

typedef void cpu_reference_fn(void *arg, uint64_t word, bool is_call);

/*
 * Finds the places in code that use a word in [lo, hi): call *word(%rip), jmp *word(%rip), or
 * anything else with word(%rip).  Code has no marks where instructions begin, so each byte is
 * tried; what is no instruction may be taken for one that uses the word otherwise.
 */
static inline void cpu_each_reference(const uint8_t *code, uint64_t size, uint64_t lo, uint64_t hi,
				      cpu_reference_fn *fn, void *arg)
{
	static const uint8_t immediates[] = { 0, 1, 2, 4 };	/* bytes of the instruction behind */

	for (uint64_t i = 2; i + 4 <= size; i++) {
		int32_t distance;
		uint64_t word;
		bool is_call;

		memcpy(&distance, code + i, sizeof(distance));
		word = (uint64_t)(uintptr_t)code + i + 4 + distance;
		if (__builtin_expect(word + 4 - lo >= hi + 4 - lo, 1) || (code[i - 1] & 0xc7) != 0x05)
			continue;
		is_call = code[i - 2] == 0xff && (code[i - 1] == 0x15 || code[i - 1] == 0x25);
		for (unsigned k = 0; k < (is_call ? 1 : sizeof(immediates)); k++)
			if (word + immediates[k] >= lo && word + immediates[k] < hi)
				fn(arg, word + immediates[k], is_call);
	}
}

#endif
