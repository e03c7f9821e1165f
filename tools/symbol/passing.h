/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds in which registers the parameters of a C or C++ function are at its first instruction, by
 * the rules of the System V ABI.  The locations in debug information are valid only later or,
 * without -O, are not registers.
 */
#ifndef SYMBOL_PASSING_H
#define SYMBOL_PASSING_H

#include <stdbool.h>
#include <elfutils/libdw.h>

struct passing {
	bool is_pointer;	/* the address of a struct is passed */
	bool is_on_stack;
	/* number of the register; on the stack: bytes above the return address */
	unsigned place;
	unsigned nr_floats;	/* how many of its words are in floating point registers */
};

/*
 * param is a DW_TAG_formal_parameter among the children of func.  Returns NULL, or why it is not
 * certain how it is passed.
 */
const char *passing_of(Dwarf_Die *func, Dwarf_Die *param, struct passing *p);

/*
 * Finds the type of an entry, without typedefs and qualifiers; false: the type is void, or the
 * debug information is damaged.
 */
bool passing_type(Dwarf_Die *of, Dwarf_Die *type);

#endif
