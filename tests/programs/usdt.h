/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes probes (USDT) in a program's code, in the form of <sys/sdt.h> and of folly's
 * StaticTracepoint.h: a nop, and a note that says where the arguments are at that place.
 *
 *	USDT_NOTE("provider", "name", "0", USDT_4, USDT_ARG(a), USDT_ARG(b), USDT_ARG(c),
 *	USDT_ARG(d))
 *
 * These arguments have 8 bytes; "-4@%0" instead of USDT_1 is an argument of 4 bytes with a sign.
 * With the name of a variable that USDT_SEMAPHORE() has defined, instead of "0", the probe has a
 * semaphore.
 */
#ifndef PROGRAMS_USDT_H
#define PROGRAMS_USDT_H

#define USDT_NOTE(provider, name, semaphore, args, ...)					\
	__asm__ volatile("990: nop\n"							\
		"	.pushsection .note.stapsdt, \"?\", \"note\"\n"			\
		"	.balign 4\n"							\
		"	.4byte 992f - 991f, 994f - 993f, 3\n"				\
		"991:	.asciz \"stapsdt\"\n"						\
		"992:	.balign 4\n"							\
		"993:	.8byte 990b, _.stapsdt.base, " semaphore "\n"			\
		"	.asciz \"" provider "\"\n"					\
		"	.asciz \"" name "\"\n"						\
		"	.asciz \"" args "\"\n"						\
		"994:	.balign 4\n"							\
		"	.popsection\n"							\
		"	.ifndef _.stapsdt.base\n"					\
		"	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
		"	.weak _.stapsdt.base\n"						\
		"	.hidden _.stapsdt.base\n"					\
		"_.stapsdt.base: .space 1\n"						\
		"	.size _.stapsdt.base, 1\n"					\
		"	.popsection\n"							\
		"	.endif\n" : : __VA_ARGS__)

/*
 * The operands of the asm: the constraint is "nor", as in both headers, so that the compiler moves
 * no argument.
 */
#define USDT_ARG(value)	"nor"(value)
#define USDT_1	"8@%0"
#define USDT_4	"8@%0 8@%1 8@%2 8@%3"
#define USDT_5	USDT_4 " 8@%4"
#define USDT_6	USDT_5 " 8@%5"

#define USDT_SEMAPHORE(symbol)								\
	__attribute__((section(".probes"), visibility("hidden"), used)) volatile unsigned short symbol

#endif
