/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says in which registers a function of C or C++ finds its parameters when it begins, by the System V
 * ABI: what debug information says of registers is only valid later, or not at all without -O.
 */
#ifndef SYMBOL_PASSING_H
#define SYMBOL_PASSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <elfutils/libdw.h>

struct passing {
	bool is_pointer;	/* a struct of which the register has the address */
	bool is_on_stack;
	unsigned place;		/* the register's number, or bytes above the address to which the call returns */
	unsigned nr_floats;	/* so many of its words are in other registers */
};

/*
 * func is the function itself; param one of its formal parameters, of the same entry.  Returns NULL,
 * or why it is not certain.
 */
const char *passing_of(Dwarf_Die *func, Dwarf_Die *param, struct passing *p);

/* Returns the type without its names and qualifiers; false: void, or damaged. */
bool passing_type(Dwarf_Die *of, Dwarf_Die *type);

#endif
