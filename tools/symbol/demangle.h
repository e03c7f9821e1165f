/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes readable names of linker names. */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

/*
 * Cuts the suffixes of the parts and clones that GCC makes of a function (.cold, .part.N, .isra.N,
 * .constprop.N, ...), because all of them are parts of that function.
 */
void demangle_fold(char *name);

/*
 * Returns a malloc'ed name; NULL: out of memory.  It demangles C++ names, without return type
 * and parameters, and copies other names.
 */
char *demangle_name(const char *raw);

#endif
