/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instructions and relocations of the CPU, for flows/patch.c and runtime/late.c. */
#ifndef LDB_ARCH_X86_64_FLOWS_H
#define LDB_ARCH_X86_64_FLOWS_H

#include <elf.h>
#include <emmintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CPU_RELOC_PLT	R_X86_64_JUMP_SLOT
#define CPU_RELOC_GOT	R_X86_64_GLOB_DAT
#define CPU_RELOC_WORD	R_X86_64_64		/* an address in data */

typedef void cpu_reference_fn(void *arg, uint64_t word, bool is_call);

/*
 * Calls fn() for each word in [lo, hi) that the instruction whose ModRM byte is at p may use.
 * There may be several, because it is not known how many bytes follow the address.  `at` is the
 * address of the ModRM byte in the module.
 */
static inline void cpu_one_reference(const uint8_t *p, uint64_t at, uint64_t lo, uint64_t hi,
				     cpu_reference_fn *fn, void *arg)
{
	static const uint8_t immediates[] = { 0, 1, 2, 4 };	/* bytes after the address */
	int32_t distance;
	uint64_t word;
	bool is_call;

	memcpy(&distance, p + 1, sizeof(distance));
	word = at + 5 + distance;
	if (__builtin_expect(word + 4 - lo >= hi + 4 - lo, 1))
		return;
	is_call = p[-1] == 0xff && (p[0] == 0x15 || p[0] == 0x25);
	for (unsigned k = 0; k < (is_call ? 1 : sizeof(immediates)); k++)
		if (word + immediates[k] >= lo && word + immediates[k] < hi)
			fn(arg, word + immediates[k], is_call);
}

/*
 * Finds the places in code that use a word in [lo, hi): call *word(%rip), jmp *word(%rip), or
 * anything else with word(%rip).  A ModRM byte of the form 00xxx101 means that an address relative
 * to the instruction follows.  It is not known where instructions begin, so the search tries each
 * byte; bytes that are not an instruction may look like a use of the word.
 *
 * `code` is a copy of the code at the address `at`; its first byte is only read as an opcode.
 */
static inline void cpu_each_reference(const uint8_t *code, uint64_t at, uint64_t size, uint64_t lo,
				      uint64_t hi, cpu_reference_fn *fn, void *arg)
{
	const __m128i mask = _mm_set1_epi8((char)0xc7), is = _mm_set1_epi8(0x05);
	uint64_t i = 1;

	for (; i + 16 + 4 <= size; i += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(code + i));
		unsigned found = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(bytes, mask), is));

		for (; found; found &= found - 1) {
			unsigned k = __builtin_ctz(found);

			cpu_one_reference(code + i + k, at + i + k, lo, hi, fn, arg);
		}
	}
	for (; i + 5 <= size; i++)
		if ((code[i] & 0xc7) == 0x05)
			cpu_one_reference(code + i, at + i, lo, hi, fn, arg);
}

#endif
