/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes readable names of linker names. */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

/*
 * Cuts what GCC appends to the parts and copies it makes of a function (.cold, .part.N, .isra.N,
 * .constprop.N, ...): all of them are that function.
 */
void demangle_fold(char *name);

/*
 * Returns a malloc'ed name; NULL: out of memory.  It demangles C++ names, without return type
 * and parameters, and copies other names.
 */
char *demangle_name(const char *raw);

#endif
