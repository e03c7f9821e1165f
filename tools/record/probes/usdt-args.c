// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads where arguments are; see usdt-args.h.  The notes may contain operands that the kernel
 * cannot read: addresses with an index, and addresses of variables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/program.h"
#include "record/probes/usdt-args.h"

#define OPERAND_MAX	64
#define STEP_MAX	(1LL << 31)	/* the kernel accepts no greater distance */

/* Returns the kernel's name of a register, or NULL. */
static const char *register_name(const char *name)
{
	static const char *const registers[][PROGRAM_REGISTER_NAMES] = PROGRAM_REGISTERS;

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		for (unsigned k = 1; k < PROGRAM_REGISTER_NAMES; k++)
			if (!strcmp(registers[i][k], name))
				return registers[i][0];
	return NULL;
}

static bool read_number(const char *text, char **end, int64_t *number)
{
	errno = 0;
	*number = strtoll(text, end, 0);
	return !errno && *end != text;
}

/* Parses a register, such as "%rax". */
static bool in_register(const char *operand, struct usdt_arg *arg)
{
	const char *name = register_name(operand);

	if (name)
		snprintf(arg->fetch, sizeof(arg->fetch), "%s", name);
	return name;
}

/* Parses a constant, such as "$5". */
static bool is_constant(const char *operand, struct usdt_arg *arg)
{
	int64_t number;
	char *end;

	if (*operand != '$' || !read_number(operand + 1, &end, &number) || *end)
		return false;
	snprintf(arg->fetch, sizeof(arg->fetch), "\\%" PRId64, number);
	return true;
}

/* Parses an address, such as "-20(%rbp)" or "(%rax)". */
static bool in_memory(char *operand, struct usdt_arg *arg)
{
	char *open = strchr(operand, '('), *close = open ? strchr(open, ')') : NULL, *end = operand;
	int64_t distance = 0;
	const char *base;

	if (!close || close[1] || (open != operand && (!read_number(operand, &end, &distance) || end != open)))
		return false;
	*close = '\0';
	base = register_name(open + 1);
	*close = ')';
	if (!base || distance < -STEP_MAX || distance >= STEP_MAX)
		return false;
	snprintf(arg->fetch, sizeof(arg->fetch), "%+" PRId64 "(%s)", distance, base);
	return true;
}

/* Copies argument nr; returns how many arguments there are. */
static unsigned find_argument(const char *args, unsigned nr, char text[OPERAND_MAX])
{
	unsigned n = 0;

	*text = '\0';
	while (*(args += strspn(args, " "))) {
		size_t length = strcspn(args, " ");

		if (++n == nr)
			snprintf(text, OPERAND_MAX, "%.*s", (int)(length < OPERAND_MAX ? length : OPERAND_MAX), args);
		args += length;
	}
	return n;
}

/* Parses a size; "-4@" means 4 bytes with a sign. */
static bool read_size(const char *text, const char *at, struct usdt_arg *arg)
{
	int64_t size;
	char *end;

	if (!read_number(text, &end, &size) || end != at)
		return false;
	if (size < -8 || size > 8)
		return false;
	arg->is_signed = size < 0;
	arg->size = size < 0 ? -size : size;
	return arg->size == 1 || arg->size == 2 || arg->size == 4 || arg->size == 8;
}

bool usdt_arg_parse(const char *args, unsigned nr, struct usdt_arg *arg, char *why, size_t why_size)
{
	char text[OPERAND_MAX], *at;
	unsigned has = find_argument(args, nr, text);

	*arg = (struct usdt_arg){ 0 };
	if (nr > has) {
		snprintf(why, why_size, "it has %u argument%s, and no number %u", has, has == 1 ? "" : "s", nr);
		return false;
	}
	at = strchr(text, '@');
	if (at && read_size(text, at, arg) &&
	    (in_register(at + 1, arg) || is_constant(at + 1, arg) || in_memory(at + 1, arg)))
		return true;
	snprintf(why, why_size, "its argument %u is %s, which the kernel's probes cannot read", nr, text);
	return false;
}
